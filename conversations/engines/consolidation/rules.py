"""Rules that find decisions and preferences in messages. Pure functions, no database.

What a person lays down is found by a score of the prompt's words; an agent's message needs a phrase that
names a decision. The rules favour precision over recall: what asks, doubts, denies or passes is no decision.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conversations.engines.consolidation.approvals import (
    CHOSEN,
    MAX_QUESTION_LENGTH,
    find_question,
    read_approval,
)
from conversations.engines.consolidation.hearsay import (
    OBLIGES,
    REPORTED,
    SARCASTIC,
    SUGGESTED,
    is_documented,
    is_hearsay,
)
from conversations.engines.consolidation.lasting import asks_choice, is_at_work, is_passing, is_report, lasts
from conversations.engines.consolidation.sentence_score import score_prompt
from conversations.engines.consolidation.sentences import (
    MIN_PART_LENGTH,
    keep_typed,
    measure_length,
    sentences,
)
from conversations.engines.consolidation.withdrawals import is_withdrawal, list_instead
from conversations.engines.prompt_intent import GLANCE, ORDERED_ABROAD
from memory.engines.search.answer_boost import ASKS
from memory.engines.statements.claims import split_claims
from memory.engines.statements.personal_facts import read_personal
from memory.models.hashes import normalise_text
from memory.patterns import lazy_pattern

MIN_SCORE = 0.0  # of a person's prompt
MIN_ALONE_SCORE = 1.0  # of a sentence of another prompt, which says so among orders and questions
MIN_OWN_SCORE = -1.0  # of a sentence of such a prompt that stands by itself
MIN_PART_SCORE = -4.0  # of another sentence of it
MAX_PARTS = 8  # sentences that are scored together
MIN_CLAUSE_LENGTH = 8
CLAUSE = lazy_pattern(  # after which another clause of a chat begins
    r"(?i)[,;:?，；：]\s*|\s[-–—]\s"
    r"|\s+(?:and|but|so|because|btw|und|aber|weil|y|pero|porque|et|mais|e|mas) (?:also )?"
    r"(?=(?:i|we|my|our|ich|wir|mein|yo|mi|je|j'|mon|ma|eu|meu|minha)\b)"
)
SHORT_LENGTH = 30  # characters of a sentence that means little alone
ANSWERS = "(to: {})"
LETTER = lazy_pattern(r"[^\W\d_]")

DECIDED = lazy_pattern(
    r"(?i)\b(?:we|i)(?:'ve| have|'re| are)?\s+(?:now\s+|finally\s+|just\s+)?(?:decided|agreed|chose|chosen"
    r"|settled|picked|opted|going to go with|went with|standardi[sz]ed on)\b|^(?:\W*)(?:decision|decided"
    r"|agreed|resolution)\s*[:—–-]|\blet(?:'|’)?s (?:use|go with|stick (?:with|to)|switch to|adopt"
    r"|keep(?! (?:work|going|moving))|move to|settle on)\b"
    r"|\b(?:we|i)(?:'ll| will) (?:use|go with|stick (?:with|to)|switch to|adopt|keep using)\b"
    r"|\bwe (?:use|switched to|moved to|keep) \S.{2,120}\b(?:instead of|rather than|because"
    r"|not)\b|\b(?:using|went with|chose|picked|switched to) \S.{2,120}\b(?:instead of|rather than|over)\b"
    r"|^\W*(?:ok(?:ay)?|alright|fine|right|good|so)\b,? (?:\S+ ){1,3}it is\b|\b(?:the )?decision is\b"
    r"|\bfrom now on\b|\bgoing forward\b|\b(?:wir (?:nehmen|nutzen|benutzen|verwenden|setzen auf|bleiben bei"
    r"|haben (?:beschlossen|entschieden))|ab (?:jetzt|sofort|heute)|nehmen wir|künftig|on (?:utilise|garde"
    r"|prend|passe à|a décidé)|nous utilisons|désormais|dorénavant|à partir de maintenant|(?:usamos|decidimos"
    r"|acordamos|quedamos en|a partir de ahora)|(?:agora usamos|decidimos|combinamos|a partir de agora))\b"
    r"|(?:に(?:する|します|決め|統一)|を使う(?:こと)?|を使います)。?$|(?:决定|确定|商定|约定|统一)(?:了|使用"
    r"|用|采用|改用|为)?|(?:改用|采用|以后(?:都|一律)?用|我们(?:就)?用)"
)
_ALWAYS = r"(?:al+wa?ys|alwasy|never|nevr|do(?:n['’]?t| not) ever)"
# "Use tabs in this repository", unless it is to find something there.
_SCOPE = (
    r"(?:(?:in|for|across) (?:this|our) (?:repo(?:sitory)?|project|code ?base)|in (?:diesem|unserem)"
    r" (?:repo(?:sitory)?|projekt)|dans ce (?:dépôt|repo|projet)|en este (?:repo(?:sitorio)?|proyecto)"
    r"|neste (?:repo(?:sitório)?|projeto))"
)
_USES = r"(?:use|prefer|stick (?:to|with)|nimm|nutze?|benutze?|verwende|utilise[zs]?|usa|usen?)"
PREFERRED = lazy_pattern(
    rf"(?i)^\W*(?:(?:please|bitte|por favor)\W+)?(?:{_USES} (?!.*\bto \w)\S.{{1,80}} {_SCOPE}\W*$"
    rf"|{_SCOPE}\W+{_USES} (?!.*\bto \w))|"
    rf"^\W*(?:(?:please|pls|in|on|for|at) (?:[\w-]+ ){{0,4}})?{_ALWAYS} (?!mind\b)\w+"
    r"|^\W*we (?:always|never) (?!g[eo]t\b|ha[vd]|see\b"
    r"|saw\b|hit\b|end\b|run into|forget|talk|sa[iy]|did\b|agreed|decided|kn[eo]w|\w+ed\b|dealt|went|came\b"
    r"|made|took|found|wrote)\w+|\bi (?:always |really )?(?:prefer|want you to always|never want)\b"
    r"|^\W*(?:bitte )?nie(?:mals)? \w|\b(?:ich bevorzuge|je préfère|prefiero|prefiro)\b"
    r"|(?:我(?:更)?喜欢|总是|从不|不要再)|所有.{1,20}(?:都要|都得|都用|必须|一律)|\b(?:wir|bitte|man)\b.{0,40}\bimmer"
    r"\b(?! noch| wieder)|^\W*(?:nobody|no one) (?!knows|likes|thinks|said|was|has"
    r"|seems|cares|does|talks|told|wants|forget|forgets)\w+|\bi(?:'d| would) like (?:us|you) to (?:always"
    r"|never|keep|use)\b|\b(?:bitte immer|immer nur|niemals|nie mehr|nie wieder|nur noch|toujours|(?:ne"
    r"|n')\s?\w+ jamais|n'utilis\w+ (?:pas|plus)|jamais de|siempre|nunca|sempre)\b|(?:必ず|常に|絶対に"
    r"|決して).{2,40}(?:する|して|ください|しない|ない|こと)"
)
# What a person puts right: what holds, and what does not.
CORRECTED = lazy_pattern(
    r"(?i)\bstop using \S.{0,60}[,;] ?(?:and )?use\b|\btold you (?:not|never) to\b(?!.*\b(?:yet|now)\b)"
    r"|\btold you (?:already|before|\w+ times)[:,]"
    r"|^\W*(?:please )?(?:(?:remember|keep in mind)(?: that\b|:)|(?:merke? dir|denk daran|vergiss nicht)\b"
    r"|recuerda que|no olvides que|n['’]oublie[zs]? pas que|souviens-toi que|retiens que|覚えて(?:おいて)?"
    r"|lembre(?:-se)? (?:de )?que|não (?:te )?esqueças? (?:de )?que)|^\W*(?:记住|记好了?|记得)[:：,，]"
    r"|应该?(?:是|用|放|写).{1,60}[,，]\s*(?:而)?不(?:是|该|用|要|放|写)"
)
# A bound, which holds each time; not what took so long once.
_COUNT = r"(?:\d[\d.,]*|an?(?= (?:hour|day|week|month|year))|two|three|four|five|six|ten|twelve)"
LIMITED = lazy_pattern(
    r"(?i)^(?!.*\b(?:was|were|took|ha[sd]|got|did|it|this|that|they|there|seems?|i|out of|\w+ed(?= \d))\b)"
    r"(?=.*(?:\b"
    rf"(?:after|every|within|at (?:most|least)|up to|no (?:more|less|longer|fewer) than)\s{_COUNT}\b"
    rf"|\b{_COUNT} times\b|\b{_COUNT}\s?\w* max\b|最多|至少|每\s?\d|\d\s?次))"
)
NOT_DECIDED = lazy_pattern(
    r"(?i)\?\s*$|？\s*$|^\W*(?:if|should|could|would|can|maybe|perhaps|what if|whether)\b"
    r"|\b(?:haven't|have not|hasn't|not yet|didn't|did not|never|yet to|before we|until we|once we|unless)"
    r"\s+(?:\w+\s+)?(?:decided?|agreed?|chosen?|choose|settled?)\b"
    r"|\b(?:might|may|could|should we|do we|not sure|undecided)\b|(?:还没|尚未|没有)决定|是否|要不要"
)

INTENT = lazy_pattern(r"(?i)^\W*(?:i(?:'|’)ll|i will)\b")
# In a chat what a person picks now, unless it is to last, and what people say to be polite.
IN_PASSING = lazy_pattern(
    r"(?i)^\W*(?:(?:ok(?:ay)?|right|alright|fine|well|so|hm+|yes|yeah|sure|then|i (?:think|guess))\W+)*"
    r"(?:i(?:'|’)ll|i will)\b(?!.*\b(?:always|never|every|each|from now on|any ?more)\b)"
    r"|\b(?:no (?:worries|problem|rush)|take your time|you(?:'|’)re welcome|good luck|see you"
    r"|(?:sounds|looks) (?:good|great|fine|lovely)|have a (?:nice|good|great|lovely)|talk (?:soon|later))\b"
)
# How a person wants to be treated by whom they talk to.
REQUESTED = lazy_pattern(
    r"(?i)\bi(?:'|’)?(?:d| would) rather\b|\b(?:please|bitte|por favor|s'il (?:te|vous) pla[iî]t)\b"
    r"|\b(?:give|call|send|tell|show|remind|answer|write)(?: to)? me\b"
)

# What a person says of itself or its team.
OWN = lazy_pattern(
    r"(?i)\b(?:we|i|us|let(?:'|’)?s|decision|agreed|from now on|going forward|it is|wir|uns|ich|künftig"
    r"|ab jetzt|ab sofort|on (?:utilise|garde|prend|passe)|nous|je|désormais|dorénavant|nosotros|usamos"
    r"|decidimos|a partir de|nós|combinamos)\b|我|咱|以后|决定|に(?:する|します|決め|統一)|を使"
)
QUOTE_SIGN = lazy_pattern(r'["“”„«»「『]')
# What a prompt begins with to speak of it.
QUOTED = lazy_pattern(r'["“„«「『][^"”“»」』]{10,}["”“»」』]')
# What ends with the task, and what was so elsewhere: no phrase makes a decision of it.
PASSING = lazy_pattern(
    r"(?i)\b(?:for (?:now|the time being|this (?:one|run|once|time|task|pr|screenshot|demo))"
    r"|(?:just|only) (?:this )?once|one time|temporar(?:y|ily)|for a (?:minute|moment|sec|bit)"
    r"|(?:last|previous|old|former) (?:company|job|employer|team))\b"
    r"|^\W*(?:we|i)(?:'ve| have)? (?:once )?tried\b[^,;]{0,80}\b(?:once|before"
    r"|years ago)\b(?!.*\b(?:so|but|use|never|stick|stay|don'?t|no)\b)|暂时|临时|这次先|先这样"
    r"|先[不别][动管改做弄]\W*$|回头再|上家"
    r"|前公司|上一家"
)

# What goes wrong, which nobody wants so.
FAULTY = lazy_pattern(
    r"(?i)\brepro\b|\bnot a bug\b|\bcrash(?:e[sd]|ing)?\b|\bgoes (?:blank|black)\b|\bfalls thr?u|\b(?:is|are)"
    r" (?:bricked|broken)\b|\bbroke the\b|\bscreenshot (?:is )?(?:attached|in)\b|\bhappens \d|崩溃|闪退"
)

# An order of the moment that the score takes for more.
ORDERED = lazy_pattern(
    r"(?i)^\W*(?:跑(?!了)|看一?下|帮我|打开|删掉|解释)|(?:看一?下|改一?下|查一?下|修一?下)\W*$"
    r"|^\W*[\u4e00-\u9fff]{1,2}一下(?:就[行好]|吧|哈)?(?:\W|$)|^\W*请(?!求|勿|不|一律|都|统一|始终|务必|尽量|总)"
    r"|^\W*please \w+ (?:the|this|that|these|those) .*\bagain\b"
    r"|^\W*(?:please )?(?:explain|describe|summari[sz]e|tell me|show me)\b|\b(?:do it|go ahead)\W*$"
)

# A question without its mark.
QUESTION = lazy_pattern(
    r"(?i)^\W*(?:(?:ok(?:ay)?|alright|and|so|but|right|hm+)\W+)*(?:why (?!not\b)|what(?:'s| is| are| does"
    r"| do)\b|who (?:did|is|has)\b|(?:is|are) there\b|how (?:come|do|does|is|are|many|much)\b"
    r"|wie (?:spät|viele?|oft|lange)\b|was (?:ist|kostet)\b|wo ist |(?:warum|pourquoi) (?!nicht|pas)"
    r"|combien\b|quelle heure\b|où (?:est|sont)\b|qué hora\b|cuánt[oa]s?\b|dónde\b|que horas\b|onde (?:está"
    r"|fica)\b)|(?:呀|吗|呢|么|行不行|好不好|对不对|是不是)\W*$|^\W*(?:要不要|是不是|能不能|有没有|为什么"
    r"|为啥)|([\u4e00-\u9fff])不\1[^，。,]{0,3}(?:[啊呀呢]|\W*$)"
)
# How a person feels, and how its day ends.
MOOD = lazy_pattern(
    r"(?i)\boh my (?:god|gosh|goodness)\b|\b(?:going|off) (?:home|to bed)\b"
    r"|\b(?:going|want) to (?:scream|cry)\b"
    r"|\bi(?:'|’)?m (?:so |really |dead )?(?:tired|exhausted|knackered|starving|hungry)(?! of)\b"
    r"|\bich bin (?:so )?(?:müde|fertig|platt)\b|\bje suis (?:crevée?|fatiguée?|épuisée?)\b"
    r"|\b(?:estoy|estou) (?:cansad|agotad|muert|mort)[oa]\b|疲れた|眠い"
    r"|^\W*(?:我)?(?:累死|困死|笑死|饿死|烦死|气死|头疼|下班(?:[了\W]|$)|眼睛都?花)"
)
# What is only supposed, and what says that nothing was decided.
SUPPOSED = lazy_pattern(
    r"(?i)^\W*(?:(?:if|when|once) (?:we|i|you|they) ever|suppos(?:e|ing)|imagine|let(?:'|’)?s say)\b"
    r"|\b(?:decided|agreed|settled)(?: on)? nothing\b|\bnothing (?:is|was) (?:decided|agreed|settled)\b"
    r"|\b(?:(?:have|has|did|was|is|are)(?:n't| not)|not|never)(?: yet| really)? (?:been )?(?:decided?|settled"
    r"|agreed)\b|\b(?:keep|still) going back and forth\b|\bmerit in both\b|保留意见"
    r"|\b(?:undecided|torn between|still (?:arguing|fighting|discussing))\b|还在(?:吵|讨论|商量"
    r"|纠结)|还没(?:讨论|定|想好|商量)|\bnoch nicht (?:entschieden|beschlossen)\b|\bpas encore (?:décidé"
    r"|tranché)\b|\b(?:todavía no|ainda não) (?:hemos|está|decid)\w*|\b(?:keine ahnung|aucune idée|ni idea"
    r"|sem ideia)\b|^\W*(?:假如|假设|要是哪天)"
)


@dataclass(frozen=True)
class Lesson:
    """A sentence worth storing, with its category."""

    text: str
    category: str


def lessons(
    text: str, spoken_by_user: bool, previous: str = "", is_chat: bool = False, answers: Sequence[str] = ()
) -> Iterator[Lesson]:
    """Yield what a message lays down, each text once; ``previous`` is what the other side said before it,
    ``answers`` what else it said around it, and a chat belongs to no repository.

    An agent's message needs a phrase of the rules; a person's is scored by its words, and while the agent
    works a sentence needs the form of what holds on.
    """
    is_working = is_at_work(text, is_chat, (previous, *answers))
    found = read_prompt(text, previous, is_chat, is_working) if spoken_by_user else read_answer(text)
    seen: set[str] = set()
    for lesson in found:
        if normalise_text(lesson.text) not in seen:
            seen.add(normalise_text(lesson.text))
            yield lesson


def read_rest(text: str, learned: Iterable[str], is_working: bool = False) -> Iterator[str]:
    """Yield the other sentences of a prompt that may state something, orders of the moment included.

    While the agent works only those that have the form of what holds on, or take something back.
    """
    known = " ".join(learned)
    parts = list(sentences(keep_typed(text)))
    if any(QUOTE_SIGN.search(part) for part in parts):
        return
    for part in parts:
        is_idle = ASKS.search(part) or PASSING.search(part) or (is_hearsay(part) and not OBLIGES.search(part))
        if not is_idle and part not in known and (not is_working or may_hold(part)):
            yield part


def may_hold(text: str) -> bool:
    """Return whether a sentence may change what was laid down, and is no step of work."""
    return holds_on(text, "") or any(one.topic or one.given_up for one in split_claims(text))


def read_answer(text: str) -> Iterator[Lesson]:
    """Yield the sentences in which a phrase names a decision; none of an answer that reports work."""
    if is_report(text):
        return
    for sentence in sentences(text):
        if names_decision(sentence) and not is_intent(sentence):
            yield Lesson(sentence, "decision")


def is_intent(sentence: str) -> bool:
    """Return whether an agent only says in a few words what it does next: "I will use Kafka."."""
    return bool(INTENT.match(sentence)) and measure_length(sentence) < SHORT_LENGTH


def read_prompt(prompt: str, previous: str, is_chat: bool, is_working: bool) -> Iterator[Lesson]:
    """Yield what a person lays down, with the question that a short text answers."""
    text = keep_typed(prompt)
    if SARCASTIC.search(text):
        return
    if (approved := read_approval(text, previous)) is not None:
        yield from (Lesson(one, "decision") for one in approved if not (is_working and is_passing(one)))
        return
    question = find_question(previous)
    parts = list(sentences(text, MIN_PART_LENGTH))
    personal = [one for one in read_life(parts, is_chat) if not (is_working and is_passing(one.text))]
    yield from personal
    parts = [part for part in parts if not any(one.text in part for one in personal)]
    parts = [part for part in parts if not (is_chat and IN_PASSING.search(part))]
    for start in range(0, len(parts), MAX_PARTS):
        batch = parts[start : start + MAX_PARTS]
        for joined in join_parts(batch, choose_parts(batch, question)):
            if not is_working or holds_on(joined, question):
                yield Lesson(add_question(joined, question), name_category(joined, is_chat))
        question = ""


def name_category(text: str, is_chat: bool) -> str:
    """Return the category of what is laid down; in a chat it is a decision only where a phrase says so."""
    if prefers(text) or (is_chat and REQUESTED.search(text)):
        return "preference"
    return "decision" if not is_chat or has_phrase(text) else "personal"


def choose_parts(parts: Sequence[str], question: str) -> list[int]:
    """Return the positions of the sentences of a prompt that lay something down."""
    whole = score_prompt(parts, question)
    telling = [at for at, part in enumerate(parts) if not is_idle(part)]
    scores = {at: score_prompt([parts[at]], question) for at in telling}
    if whole < MIN_SCORE:
        own = [at for at in telling if stands_out(parts, at, scores[at])]
        is_list = len(own) > 1  # among requests
        return [at for at in telling if at in own or (is_list and scores[at] >= MIN_SCORE)]
    own = [at for at in telling if scores[at] >= MIN_OWN_SCORE or has_phrase(parts[at])]
    is_quoting = any(QUOTED.match(part) for part in parts)
    if is_quoting or (not own and len(telling) < len(parts)):  # what is left says little without the rest
        return [at for at in own if has_phrase(parts[at])]
    return [at for at in telling if at in own or belongs(at, parts, scores, own)]


def is_idle(part: str) -> bool:
    """Return whether a sentence asks, passes, supposes, or only tells what others say."""
    if any(
        one.search(part) for one in (ASKS, QUESTION, PASSING, SUPPOSED, SUGGESTED, FAULTY, MOOD)
    ) or is_withdrawal(part):
        return True
    is_ordered = ORDERED.search(part) or ORDERED_ABROAD.search(part)
    if is_ordered and not (DECIDED.search(part) or PREFERRED.search(part)):
        return True
    return is_documented(part) or (bool(REPORTED.search(part)) and not OWN.search(part))


def read_life(parts: Iterable[str], is_chat: bool) -> Iterator[Lesson]:
    """Yield the plain facts of the person's life; in a chat also those that stand in the middle of a request:
    "i'm from Manila, where can I eat cheaply?".
    """
    for part in parts:
        if category := find_personal(part, is_chat):
            yield Lesson(part, category)
        elif is_chat:
            clauses = (clause.strip() for clause in CLAUSE.split(part))
            found = ((one, find_personal(one, is_chat)) for one in clauses if len(one) >= MIN_CLAUSE_LENGTH)
            yield from (Lesson(clause, category) for clause, category in found if category)


def find_personal(part: str, is_chat: bool = False) -> str:
    """Return the category of a plain fact of the person's life, "" for any other sentence."""
    found = read_personal(part, is_chat)
    if not found or names_decision(part) or prefers(part) or is_hearsay(part) or QUOTE_SIGN.search(part):
        return ""
    return found.category


def holds_on(text: str, question: str) -> bool:
    """Return whether what is said has the form of what holds on, or a phrase of it and is no next step, or
    chooses in few words what a question asks for.
    """
    is_short = measure_length(text) < SHORT_LENGTH and LETTER.search(text) and not CHOSEN.match(text)
    is_answer = bool(is_short) and asks_choice(question)
    is_lasting = any(lasts(one) or has_phrase(one) for one in (text, *list_instead(text)))
    return not is_passing(text) and (is_answer or is_lasting)


def stands_out(parts: Sequence[str], at: int, score: float) -> bool:
    """Return whether a sentence lays something down in a prompt that, as a whole, does not."""
    if len(parts) > 1 and score >= MIN_ALONE_SCORE:
        return True
    return has_phrase(parts[at]) and not any(QUOTE_SIGN.search(part) for part in parts)


def belongs(at: int, parts: Sequence[str], scores: Mapping[int, float], own: Sequence[int]) -> bool:
    """Return whether a sentence that says little alone belongs to what a prompt lays down.

    A short one belongs to one beside it that lays something down; where none does, all that are no orders.
    """
    is_neighbour = measure_length(parts[at]) < SHORT_LENGTH and not {at - 1, at + 1}.isdisjoint(own)
    return scores[at] >= MIN_PART_SCORE and (is_neighbour or not own)


def join_parts(parts: Sequence[str], chosen: Iterable[int]) -> Iterator[str]:
    """Yield the chosen sentences; a short one together with the one beside it."""
    joined, last = "", 0
    for at in chosen:
        short = min(measure_length(joined), measure_length(parts[at])) < SHORT_LENGTH
        if joined and not (short and at == last + 1):
            yield joined
            joined = ""
        joined, last = f"{joined} {parts[at]}".strip(), at
    if joined:
        yield joined


def add_question(text: str, question: str) -> str:
    """Return the text; one that means little alone with the question that it answers."""
    if not question or measure_length(text) >= SHORT_LENGTH:
        return text
    return f"{text} {ANSWERS.format(question[:MAX_QUESTION_LENGTH])}"


def has_phrase(sentence: str) -> bool:
    """Return whether a phrase names a decision or a preference of the person, not of another."""
    decided = names_decision(sentence) and bool(OWN.search(sentence))
    is_bound = bool(LIMITED.search(sentence)) and not GLANCE.match(sentence)
    return not is_hearsay(sentence) and (decided or is_bound or prefers(sentence) or corrects(sentence))


def names_decision(sentence: str) -> bool:
    """Return whether a phrase names a decision that holds on."""
    idle = (NOT_DECIDED, PASSING, SUPPOSED)
    return not any(one.search(sentence) for one in idle) and bool(DECIDED.search(sentence))


def prefers(sentence: str) -> bool:
    return not DECIDED.search(sentence) and bool(PREFERRED.search(sentence))


def corrects(sentence: str) -> bool:
    """Return whether a person puts right what the agent did or said."""
    return bool(CORRECTED.search(sentence)) and not any(one.search(sentence) for one in (PASSING, SUPPOSED))
