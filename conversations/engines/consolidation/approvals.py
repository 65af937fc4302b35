"""What a person approves: the agent's proposal, in its words, with what the person changes of it.

Pure functions, no database. A proposal is what the agent's last message ends with; one that only asks whether
to do something now ("Shall I rerun it?") lays nothing down, whoever approves it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from conversations.engines.consolidation.sentence_score import score_prompt
from conversations.engines.consolidation.sentences import CODE_BLOCK, END, MARK, measure_length
from memory.engines.search.answer_boost import ASKS
from memory.engines.statements.claims import list_roots
from memory.engines.statements.revision_rules import normalise
from memory.engines.statements.values import NUMBER, find_values
from memory.patterns import lazy_pattern
from memory.texts import count_dense

MIN_LASTING = -3.0  # log-odds of a proposal as if the person had said it
MIN_ACTION_LASTING = 0.0  # of one that offers to do something
MAX_REPLY_LENGTH = 120  # characters of an answer that approves
MAX_REFUSAL_LENGTH = 30  # of one that only turns down
MAX_PROPOSAL_LENGTH = 300
MIN_PROPOSAL_WORDS = 2  # roots and values
MAX_QUESTION_LENGTH = 200  # characters of a question that is kept with its answer
CLEAR_LENGTH = 60  # characters of a question that says what it is about: "Which one?" does not

_YES = (
    r"y(?:es|ep|eah|up)?|ya|sure(?: thing)?|ok(?:ay)?|k|go ahead|go for it|go|do it|do that|do so|please do"
    r"|please|sounds? good|sounds? right|good(?: idea| plan)?|great|fine(?: by me| with me)?|agreed|perfect"
    r"|exactly|right|correct|let's do (?:it|that|this)|let's go(?: with (?:it|that|this))?|make it so"
    r"|approved|lgtm|works for me|that works|absolutely|definitely|of course|yes please|👍|✅|nice|cool"
    r"|love it|makes sense|thanks|ja|jo|jep|genau|mach(?: das|s| es)?(?: so)?|machen wir(?: so)?"
    r"|passt(?: so)?|gerne?|einverstanden|klar|gut|bitte|oui|ouais|d'accord|vas-y|allez-y|parfait|très bien"
    r"|bien sûr|fais(?: ça|-le)|on fait ça|ça marche|s[ií]|vale|dale|hazlo|adelante|de acuerdo|claro|perfecto"
    r"|bien|está bien|me parece bien|por favor|sim|pode(?: ser| fazer)?|beleza|faz(?: isso)?|manda ver"
    r"|perfeito|está bom|tá bom|com certeza|好(?:的|啊|吧)?|可以(?:的)?|行(?:吧)?|对(?:的)?|嗯+|是(?:的)?"
    r"|没问题|同意|就这样(?:吧)?|就这么(?:办|定|做)(?:吧)?|那就这样|はい|うん|ええ|お願いします?|いいですね"
    r"|それで(?:お願いします|いい(?:です)?)?|そうして(?:ください)?|了解(?:です)?|いいよ"
)
YES = lazy_pattern(rf"^\W*(?:(?:{_YES})(?![\w'])[\s,.!;:–—，。！、-]*)+", re.I)
NO = lazy_pattern(
    r"^\W*(?:no(?:pe|t|ne)?|nah|don't|dont|do not|please don't|nein|nicht|lieber nicht|noch nicht|non|pas"
    r"|não|nao|nunca|不|别|先不|不用|いいえ|いや|やめ|だめ)\b|^\W*[不别]",
    re.I,
)
# No and nothing else, and a question that proposes something: what is refused is no decision.
REFUSAL = lazy_pattern(
    r"\W*(?:no(?:pe|t now)?|nah|don't|dont|nein|lieber nicht|noch nicht|non|não|nao"
    r"|不[要用]?了?|别|いいえ|いや)(?:\W+(?:please|thanks?|thank you|danke|merci|gracias|obrigad[oa]))?\W*",
    re.I,
)
PROPOSES = lazy_pattern(
    r"\b(?:(?:should|shall|can|could|do|may|must) (?:we|i)|want (?:me|to)|would you like|(?:soll(?:en|ten)?"
    r"|wollen|nehmen|können) (?:wir|ich)|\w+[aei]mos|on (?:\w+ )?\w+|dois-je|faut-il|devrait-on|posso)\b"
    r"|要不要|是否|ましょうか|べき",
    re.I,
)
# Neither yes nor no, or yes to nothing that lasts.
UNSURE = lazy_pattern(
    r"\b(?:let me (?:think|see|check|ask)|think about it|later|not (?:yet|now|sure)|ask me|maybe|perhaps"
    r"|hold on|wait|first|for now|this time|just once|why|depends|überleg|später|vielleicht|moment|réfléchi"
    r"|peut-être|plus tard|luego|después|quizás?|tal vez|déjame|depois|talvez|deixa eu)\b|考虑|想想|再说"
    r"|这次|一下|考え|あとで|後で",
    re.I,
)
BUT = lazy_pattern(
    r"^\W*(?:(?:but|only|just|except|though|with|make (?:it|that)|aber|nur|mais|pero|mas|só)\b|但(?:是)?|不过"
    r"|でも|ただ)[\s,:]*(?:(?:make (?:it|that)|with|use|take|do|change it to|set it to|mach|nimm|mets|hazlo"
    r"|pon|con|mit|avec|com)\b)?[\s,:]*",
    re.I,
)
_OPTION = (
    r"(?:option|variant|choice|alternative|number|no\.?|#|variante|nummer|opción|opção|方案|选项?|第)?\s*"
)
_ORDINALS = (
    r"first|1st|erste\w*|premi[eè]re?|primer[ao]?|primeir[ao]|一",
    r"second|2nd|zweite\w*|deuxi[eè]me|second[eo]?|segund[ao]|二",
    r"third|3rd|dritte\w*|troisi[eè]me|tercer[ao]?|terceir[ao]|三",
    r"fourth|4th|vierte\w*|quatri[eè]me|cuart[ao]|quart[ao]|四",
)
CHOSEN = lazy_pattern(
    rf"^\W*(?:(?:{_YES}|let's|take|use|go with|i(?:'d| would)? (?:prefer|like|take|go with)|wir nehmen|nimm"
    rf"|prends)\W+)*(?:the |die |der |das |la |le |el |o |a |den )?{_OPTION}(?:([1-9]|[a-d])|"
    + "|".join(f"({names})" for names in _ORDINALS)
    + r")\W*(?:(?:one|option|variant|please|bitte|thanks|个|番目?|号)\W*)*$",
    re.I,
)
# What points at a row of a table or list, of an agent that proposes it or a person who takes it.
POINTS = lazy_pattern(
    rf"^\W*(?:(?:{_YES}|let's|take|use|go with|pick|choose|wir nehmen|nimm|nehmen|prends|toma|usa|用|选)\W+)*"
    r"(?:the |die |der |das |den |la |le |el |o |a )?(?:bold(?:ed|face)?|highlighted|fett(?:gedruckt)?\w*"
    r"|markiert\w*|hervorgehoben\w*|加粗|粗体|太字)\W*(?:(?:one|row|line|option|variant|entry|zeile|nehmen|的|那|个|行|项)"
    r"\W*)*$|^\W*(?:(?:take|use|prends|toma|usa) )?(?:(?:the|la|le|el|o|a) )?(?:\w+ )?(?:en (?:gras|negrita)"
    r"|em negrito)\W*$",
    re.I,
)
ROW = lazy_pattern(r"^\s*(?:[-*+]\s|\d+[.)]\s|\|).*\*\*.+$", re.M)
BOLD = lazy_pattern(r"\*\*([^*\n]+)\*\*")
EITHER = lazy_pattern(r",?\s+(?:or|oder|ou|o|u)\s+(?:to\s+)?|[,，]?\s?还是", re.I)
MARKED = lazy_pattern(r"(?:^|(?<=\s))(?:option|variant|方案|选项)?\s*([1-9]|[A-Da-d])\s?[.):：、]\s+", re.I)
CONSENT = lazy_pattern(
    r"\b(?:(?:shall|should|may|can|could|do|must) (?:i|we)|want (?:me|that|it|this)|do you (?:want|agree)"
    r"|would you like|ok(?:ay)?|fine|alright|agreed?|sound\w*|go ahead|does that|is (?:that|this|it)"
    r"|any objections|soll(?:en)? (?:ich|wir)|einverstanden|passt|recht so|darf ich|je le fais|dois-je"
    r"|d'accord|ça te|on (?:fait|y va)|lo hago|te parece|de acuerdo|quieres|posso|faço|pode ser|devo)\b"
    r"|[吗嘛好行][?？]|いいですか|ましょうか|どうです|でしょうか|(?:そう|それで|これで)しますか",
    re.I,
)
LEADS = lazy_pattern(
    r"^\W*(?:(?:so|then|in that case|alternatively|otherwise|for this|therefore|ok(?:ay)?)[,:]?\s+)?(?:(?:i"
    r"|we)(?:'d| would)(?: rather| then| also| prefer to| like to| suggest(?: that)? (?:we|to|i)| propose to"
    r"| recommend to)?|(?:i|we) (?:could|can|'ll|will|suggest(?: that)?(?: we| to| i)?"
    r"|propose(?: that)?(?: we| to| i)?|recommend(?: that)?(?: we| to| i)?)|my (?:suggestion|proposal"
    r"|recommendation)(?: is| would be)?(?: to)?:?|let's|how about(?: we)?|what about|(?:shall|should|may"
    r"|can|could) (?:i|we)|(?:do you )?want me to|would you like me to|is it ok(?:ay)? (?:if i|to)"
    r"|ok(?:ay)? if i|you want me to|soll(?:en|ten)? (?:ich|wir)|ich kann"
    r"|wir können|je peux|on peut|¿?(?:puedo|podemos)|posso)\s+",
    re.I,
)
FOREIGN_LEADS = lazy_pattern(
    r"^\W*(?:ich (?:würde|schlage|könnte|empfehle)|wir (?:könnten|sollten)|soll(?:en)? (?:ich|wir)|vorschlag"
    r"|je (?:propose|suggère|\w+rais)|on pourrait|(?:yo )?(?:propongo|sugiero|recomiendo|\w+ría)|podríamos"
    r"|(?:eu )?(?:proponho|sugiro|recomendo|\w+ria)|poderíamos|我?建议|我(?:会|想|打算|准备)|可以(?:把|用|改)"
    r"|提案)|(?:のはどう|しましょう|するのが|提案します|と思います)",
    re.I,
)
OFFERS = lazy_pattern(
    r"^\W*(?:(?:i|we) (?:can|could|'ll|will)|(?:shall|may|can|could) (?:i|we)|(?:do you )?want me to"
    r"|would you like me to|you want me to|(?:is it )?ok(?:ay)? (?:if i|to)|should i|soll(?:en)? (?:ich"
    r"|wir)|ich kann|wir können|je peux|on peut|puedo|podemos|posso)\b",
    re.I,
)
POLICY = lazy_pattern(r"^\W*(?:should|can|could|do|may|must|shall) we\b", re.I)
# What is done now and over then; the second where it is only offered.
MOMENTARY = lazy_pattern(
    r"^\W*(?:also |just |now |first |quickly )?(?:re-?run|run|retry|commit|push|merge|squash|rebase|open"
    r"|close|show|list|look|check|fix|investigate|rename|revert|restart|continue|proceed|start|stop|explain"
    r"|draft|apply|install|try|read|search|print|dump|clean|kill|download|upload|send|post|tag|release"
    r"|deploy|bisect|profile|debug|inspect|open a|create a (?:branch|pr|ticket|issue)|file|write (?:a"
    r"|the) (?:test|commit|summary|message|pr)|summari[sz]e|update the (?:lock|snapshot)|regenerate"
    r"|rebuild)\b",
    re.I,
)
RECURS = lazy_pattern(r"\b(?:nightly|hourly|daily|weekly|monthly|every|each|always)\b", re.I)
CHORE = lazy_pattern(
    r"^\W*(?:delete|remove|build|rewrite|refactor|split|extract|move|write|add|update|create)\b", re.I
)
THIS = lazy_pattern(
    r"^\W*(?:do|try|set|build|implement|make|change|go|apply|add|write|use)?\s*(?:that|this|it|so|like that"
    r"|ahead)?\b(?: (?:up|in|like|so|that|this|way|for you|now|then|ahead))*\W*$",
    re.I,
)


class Proposal(NamedTuple):
    """What an agent proposes, as an order, and whether it only offers to do something."""

    text: str
    is_offer: bool
    # Who says no to it lays down as much as who says yes: "Should we accept cheques?"
    is_policy: bool = False


def read_approval(text: str, previous: str) -> list[str] | None:
    """Return what a person's answer to a proposal lays down; None where it answers no proposal."""
    plain = " ".join(text.split())
    if not previous or len(plain) > MAX_REPLY_LENGTH or ASKS.search(plain):
        return None
    if (chosen := CHOSEN.match(plain)) and (option := find_option(previous, chosen)):
        return None if MOMENTARY.match(option) else [option]
    if POINTS.match(plain):
        return [row] if (row := find_bold(previous)) else None
    proposal = find_proposal(previous)
    if REFUSAL.fullmatch(plain) and (proposal or PROPOSES.search(find_question(previous))):
        return []
    if proposal is None:
        return None
    if NO.match(plain) or UNSURE.search(plain):
        return None if proposal.is_policy or len(plain) > MAX_REFUSAL_LENGTH else []
    agreed = YES.match(plain)
    found = read_changes(proposal, plain[agreed.end() :]) if agreed else None
    if found and lasts(proposal, is_bound=gives_bound(found, proposal)):
        return found
    return [] if found == [proposal.text] and proposal.is_offer else None


def read_changes(proposal: Proposal, rest: str) -> list[str] | None:
    """Return a proposal with what a person changes of it; None for an answer that says more."""
    amended = BUT.match(rest)
    change = rest[amended.end() if amended else 0 :].strip(" .!,;")
    if not change or (
        not set(list_roots(change.lower())) - set(list_roots(proposal.text.lower())) and not amended
    ):
        return [proposal.text]
    if not amended or len(END.split(change)) > 1:
        return None
    text, but = proposal.text.rstrip(".。"), "，但" if count_dense(change) else ", but "
    return [replace_value(proposal.text, change) or f"{text}{but}{change}."]


def gives_bound(found: Sequence[str], proposal: Proposal) -> bool:
    """Return whether a person puts a number of its own in a proposal."""
    return list(find_values(found[0].lower())) != list(find_values(proposal.text.lower()))


def replace_value(text: str, change: str) -> str:
    """Return a text with another number in the place of the one that counts the same; "" where none is."""
    found = list(NUMBER.finditer(change))
    if len(found) != 1 or list_roots(NUMBER.sub(" ", change.lower())):
        return ""
    values = list(find_values(normalise(change).lower()))
    kind = values[0].kind if len(values) == 1 else ""  # "dos o 12 horas" are two
    spots = [spot for spot in NUMBER.finditer(text) if kind and counts_same(spot.group().lower(), kind)]
    if len(spots) != 1:
        return ""
    [spot] = spots
    number, unit = found[0].group(1), found[0].group(2) or spot.group(2) or ""
    gap = " " if " " in spot.group() else ""
    return f"{text[: spot.start()]}{number}{gap if unit else ''}{unit}{text[spot.end() :]}"


def counts_same(text: str, kind: str) -> bool:
    return any(value.kind == kind or kind == "count" for value in find_values(text))


def find_question(text: str) -> str:
    """Return the question that a text ends with, a short one with the sentence before it; "" for none."""
    parts = [part for part in map(str.strip, END.split(text)) if part]
    if not parts or not ASKS.search(parts[-1]):
        return ""
    *before, last = parts
    both = f"{before[-1]} {last}" if before else last
    is_clear = measure_length(last) >= CLEAR_LENGTH or len(both) > MAX_QUESTION_LENGTH
    return last if is_clear else both


def find_proposal(previous: str) -> Proposal | None:
    """Return what an agent's message proposes at its end."""
    parts = split_parts(previous)
    if not parts:
        return None
    *before, last = parts
    if not ASKS.search(last):
        return read_proposal(last) if LEADS.match(last) and not OFFERS.match(last) else None
    if not CONSENT.search(last) or re.search(r"\bor\b|\boder\b|还是", last):
        return None
    own = read_proposal(last)
    found = own or next((one for part in reversed(before[-3:]) if (one := read_proposal(part))), None)
    if found and POINTS.match(FOREIGN_LEADS.sub("", found.text)):
        return found._replace(text=row, is_offer=False) if (row := find_bold(previous)) else None
    return found


def split_parts(previous: str) -> Sequence[str]:
    prose = CODE_BLOCK.sub("\n", previous)
    parts = (" ".join(MARK.sub("", part).replace("**", "").split()) for part in END.split(prose))
    return [part for part in parts if part]


def read_proposal(part: str) -> Proposal | None:
    """Return a sentence that proposes something; None for another, or one that says what in no words."""
    lead = LEADS.match(part)
    if not lead and not FOREIGN_LEADS.search(part):
        return None
    content = part[lead.end() if lead else 0 :].strip()
    words = [*list_roots(content.lower()), *find_values(content.lower())]
    if THIS.match(content) or len(words) < MIN_PROPOSAL_WORDS:
        return None
    text = content[:1].upper() + content[1:]
    text = ASKS.sub(".", text).strip() if ASKS.search(text) else text
    if len(text) > MAX_PROPOSAL_LENGTH:
        return None
    return Proposal(text, bool(OFFERS.match(part)), bool(POLICY.match(part)))


def find_option(previous: str, chosen: re.Match[str]) -> str:
    """Return the option of a message that an answer names, "" for none."""
    mark, *ordinals = chosen.groups()
    at = next((number for number, name in enumerate(ordinals, 1) if name), 0)
    names = {mark.lower()} if mark else {str(at), " abcd"[at]}
    prose = CODE_BLOCK.sub("\n", previous)
    marks = list(MARKED.finditer(prose))
    ends = [*(one.start() for one in marks[1:]), len(prose)]
    for one, end in zip(marks, ends, strict=False):
        if len(marks) > 1 and one.group(1).lower() in names:
            return read_option(prose[one.end() : end])
    return find_alternative(split_parts(previous), at) if at and len(marks) < 2 else ""


def find_bold(previous: str) -> str:
    """Return the one row of a message's tables and lists that is bold, of its cells the longest; else ""."""
    rows = [BOLD.findall(row) for row in ROW.findall(CODE_BLOCK.sub("\n", previous))]
    cells = [max(cells, key=len) for cells in rows if cells]
    return cells[0].strip(" .;,:")[:MAX_PROPOSAL_LENGTH] if len(cells) == 1 else ""


def find_alternative(parts: Sequence[str], at: int) -> str:
    """Return one of what the last sentence that proposes has beside each other: "I could …, or …"."""
    for part in (part.rpartition("; ")[2] for part in reversed(parts[-3:])):
        lead = LEADS.match(part) or FOREIGN_LEADS.match(part)
        options = EITHER.split(part[lead.end() :]) if lead else []
        if 1 < len(options) >= at:
            option = ASKS.sub("", options[at - 1]).strip(" .,;?:")
            return option[:1].upper() + option[1:]
    return ""


def read_option(text: str) -> str:
    """Return an option without the question behind it."""
    first = text.strip().split("\n")[0]
    parts = [part for part in END.split(first) if part.strip() and not ASKS.search(part)]
    return " ".join(parts).strip().removesuffix(",").removesuffix(" or").strip(" ;,")[:MAX_PROPOSAL_LENGTH]


def lasts(proposal: Proposal, *, is_bound: bool = False) -> bool:
    """Return whether a proposal lays something down, and is not over when it is done; a bound of the person's
    does.
    """
    is_once = MOMENTARY.match(proposal.text) and not RECURS.search(proposal.text)
    if is_once or (proposal.is_offer and CHORE.match(proposal.text)):
        return False
    return is_bound or score_prompt([proposal.text]) >= (
        MIN_ACTION_LASTING if proposal.is_offer else MIN_LASTING
    )
