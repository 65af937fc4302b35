"""Whether a sentence lays something down for good by its form. Pure functions, no database.

While an agent works, its person reports what it sees and orders the next step; one prompt in twenty lays
something down. There words alone do not tell, so a sentence needs the form of a rule, a choice or a
definition, and must be no report, no order of the moment and no reference to a place in a file.
"""

from collections.abc import Iterable

from conversations.engines.consolidation.sentences import measure_length
from memory.patterns import lazy_pattern

MAX_TALK_LENGTH = 250  # characters of an agent's answer; a longer one reports or explains its work
MAX_STATEMENT_LENGTH = 430  # characters of a prompt; a longer one is a request with all that belongs to it

# A rule, a choice or a refusal, whatever else the sentence tells.
RULED = lazy_pattern(
    r"""(?ix)
    \blet['’]?s\ (?:use|go\ with|stick|keep(?!\ (?:work|going|moving))|have|call|not|always|never|drop|bake
      |just\ be\ sure|do\ (?!it|this|that|the|a\ |both)|make\ (?:\w+\ ){1,2}\w+(?:ed|er|al|ly|ble))\b
    |\bi(?:['’]d|\ would)\ (?:prefer|rather)\b|\bnot\ willing\ to\b
    |\bwe\ (?:removed|only|want|use
      |don['’]?t\ (?:need|use|want|care|call|even|have|support)(?!\ (?:to|it|this|that|these|them)\b))\b
    |\bwe(?:['’]re|\ are)\ not\ (?!ready|sure|going)
    |\b(?:from\ now\ on|going\ forward|for\ future\ reference|on\ purpose|whenever|each\ time)\b
    |^\W*(?:please\ )?(?:always|never)\b|\balways\W*$|\bnot?\ \w+\ (?:\w+\ )?ever\b|\bmust(?:n['’]t)?\b
    |\b(?:siempre|nunca|sempre|jamais|toujours|immer|niemals)\b|必ず|一律|以后
    |(?:を使います|を使う|とします|にします|に統一)。?$|改用|采用|统一用
    """
)
# What holds of a thing, where the sentence reports nothing.
DEFINED = lazy_pattern(
    r"""(?ix)
    ^\W*(?:no\W+|but\ )?(?:don['’]?t|do\ not|no|never|not)
      \ (?!worries|problem|need|idea|i\b|we\b|you\b|it\b|that\b|not\b|dont|don['’]t|sure|yet)\w+
    |\b(?:refer\ to\ it|call(?:ed)?\ (?:it|the)|rename[sd]?|to\ be\ treated\ as)\b
    |^\W*(?:the|our|all|every|each|full|public|default|el|la|los|las)\b.*
      \b(?:is|are|has|goes?|stays?|appl(?:y|ies)|lives?|tiene)\b
    |^\W*(?:y(?:es|eah)?\W+)?if\b.*,\ (?:then|just|always|never|don['’]t|use|update|show|refuse|it\ should)\b
    |^\W*when\ (?:we|you)\b.*\b(?:can|must|should)\b
    |^\W*(?:we|wir|nous|nosotros)\ (?:need|support|keep|store|call|ship|group|have|do)\b|\bwe\ up\w+
    |\b(?:is|are|ha(?:s|ve)|go(?:es)?|uses?|stays?)\b.*,\ (?:not?|never)
      \ (?!sure|idea|problem|need|longer|matter)\w+
    |\bdebe[ns]?\b|^\W*no\ (?:permitas|intentes|uses)\b|を表示します|を想定します|只能|都要
    |^\W*(?:store|favou?r|prefer|keep)\ |\bis\ a\ good\b|\bedge\ case\b
    """
)
# A place in a file, a heading, a question, a fault, a wish, and the next step.
PASSES = lazy_pattern(
    r"""(?ix)
    @[\w./\\-]+|:\d{2,}|https?:|[A-Z]:\\|/\w+/\w+/\w+|\bline\ \d|[:?]\W*$|^\W*why\b
    |\b(?:errors?|fail(?:s|ed|ing|ures?)?|bugs?|issues?|broken|wrong|problem|severity|weird|flake?y|warning
      |incorrect\w*|doesn['’]t\ (?:work|look|make)|isn['’]t\ (?:showing|working|really))\b
    |\b(?:can|could|would)\ (?:you|we)\b|\bpor\ favor\b|\bi\ want\ (?:you\ )?to\b
    |^\W*(?:(?:ok|okay|also|and|then|yes|no|so|now|just|but|say|please)\W+)*(?:add|explain|write|implement|create|build
      |move|replace|fix|check|update|change|delete|remove|run|start|edit|analy[sz]e|read|look|put|give
      |suggest|consider|say|inspect|double\ check|dont\ forget|stop|make\ sure|proceed|quiero|necesito
      |ajusta|cambia|mejora|agrega|analiza|revisa|haz|implementa|elimina|utili[sz]e|execute|avalie|inicie
      |planejar|divida|atualize)\b
    |\blet['’]?s\ (?:just\ )?(?:move|start|debug|fix|update|check|address|handle|flag|see|look)\b
    |\bi\ (?:do\ |really\ |also\ )?(?:like|love|know)\b|\bmakes\ (?:\w+\ )?sense\b
    |\bbefore\ (?:you|we)\b|^\W*(?:\w+\W+)?if\ we\b
    |\bthere\b(?!\ (?:is|are|was|must|should)|['’]s)|\bi\ (?:checked|tried|tested|saw|looked|noticed)\b
    |\bthat['’]?s\ (?:ok|okay|fine|good|nice|new)\b|\band\ see\b|\boption\ \d\b|\bdrop\ it\b
    |\bthis\ (?:pr|branch|task|plan|pass|commit|error|specific)\b
    |\b(?:we|you)(?:\ are|['’]re)\ (?:\w+\ )?(?:trying|looking|taking|focused|going|starting|back|now|on|in)\b
    """
)
# What was so, is so now, or seems to be.
REPORTS = lazy_pattern(
    r"""(?ix)
    \b(?:was|were|did|got|had|tried|ran|seems?|probably|hopefully|now|still|currently|at\ the\ moment|yet
      |again|ahora|todavía|agora)\b|现在|\bi['’]?m\b
    |\bi(?:['’]ve|\ have)?\ (?:see|get|figure|feel|kept|added|think|mean|understand|ended)\b
    |^(?!\W*when\b).*\b(?:is|are)\ (?:\w+\ )?\w+ing\b|\bbut\b
    |\btoo\ \w+|\w\(\)|\bcaus(?:es?|ing)\b|\bas\ a\ result\b|^\W*any\ \w+:
    |\b(?:remains?|unchanged|hidden|shown?|displayed|visible|found|same\ as|offset|empty|black|missing)\b
    """
)
# A question of what is wanted, and one of what is done next.
CHOICE = lazy_pattern(
    r"(?i)\b(?:which|what|should|prefer|or|welche[rs]?|soll|oder|quel(?:le)?|cuál|qué|qual)\b|哪|还是|どの|どちら"
)
NEXT = lazy_pattern(
    r"(?i)\b(?:now|next|continue|proceed|start|jetzt|maintenant|ahora|contin[uú]o|agora)\b|现在|今"
)


def is_report(answer: str) -> bool:
    """Return whether an agent's answer is so long that it reports or explains work."""
    return len(answer) > MAX_TALK_LENGTH or measure_length(answer) > MAX_TALK_LENGTH


def is_at_work(text: str, is_chat: bool, answers: Iterable[str]) -> bool:
    """Return whether a prompt belongs to work: it is long, or one of the agent's ``answers``, the last before
    it and that to it, is a report. A chat is none.
    """
    return not is_chat and (measure_length(text) > MAX_STATEMENT_LENGTH or any(map(is_report, answers)))


def is_passing(text: str) -> bool:
    """Return whether a sentence orders the next step, asks, or tells of a fault."""
    return bool(PASSES.search(text))


def asks_choice(question: str) -> bool:
    """Return whether a question asks for a choice, and not whether to do the next step."""
    return bool(CHOICE.search(question)) and not NEXT.search(question)


def lasts(text: str) -> bool:
    """Return whether a sentence has the form of what holds on."""
    if is_passing(text):
        return False
    return bool(RULED.search(text) or (DEFINED.search(text) and not REPORTS.search(text)))
