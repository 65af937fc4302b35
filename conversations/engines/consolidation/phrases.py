"""Phrases by which a sentence names a decision, or shows that it lays nothing down. Pure functions.

The rules favour precision over recall: what asks, doubts, denies or passes is no decision.
"""

from conversations.engines.consolidation.hearsay import (
    REPORTED,
    SUGGESTED,
    is_documented,
    is_hearsay,
)
from conversations.engines.consolidation.sentences import measure_length
from conversations.engines.consolidation.withdrawals import is_withdrawal
from conversations.engines.prompt_intent import GLANCE, ORDERED_ABROAD
from memory.engines.search.answer_boost import ASKS
from memory.patterns import lazy_pattern

SHORT_LENGTH = 30  # characters of a sentence that means little alone

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
# "I want short answers", "answer in German"
_ANSWERED = (
    r"^\W*(?:please |bitte |por favor,? )?(?:always )?(?:answer|reply|respond|talk|speak|antworte|sprich"
    r"|réponds|parle|responde|habla|fala)(?: (?:me|to me|mir|mit mir|moi))?,? (?:in|auf|en|em)"
    r" (?!th|this|a\b)[^\W\d_]{4,}\W*$"
    r"|^\W*(?:actually,? )?(?:i (?:want|like|need)|ich (?:mag|will|möchte)|je veux|j'aime|quiero|me gustan"
    r"|quero|gosto de) (?!the |d[ei][er] |les? |las? )(?:\S+ ){0,3}(?:answers|replies|explanations"
    r"|antworten|erklärungen|réponses|explications|respuestas|explicaciones|respostas|explicações)"
    r"(?=\W*$|,| (?:with|in|mit|auf|avec|en|con|com|em)\b)"
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
    rf"|{_ANSWERED}"
)
# What a person puts right: what holds, and what does not.
CORRECTED = lazy_pattern(
    rf"(?i)^\W*(?:(?:please|pls|bitte|ok|so|and) )*(?:{_USES}|go with) (?!(?:the|an?|this|that|these|my|your"
    r"|it|de[rnm]|die|das|une?|la|le|el|los|ein\w*)\b)\S.{1,70}?[,;] ?(?:and |und |et |y |e )?(?:do(?:n['’]?t"
    r"| not)|never|not?|nie(?:mals)?|nicht|kein\w*|pas|jamais|nunca|não)\b"
    r"|\bstop using \S.{0,60}[,;] ?(?:and )?use\b|\btold you (?:not|never) to\b(?!.*\b(?:yet|now)\b)"
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
    rf"|\b{_COUNT} times\b|\b{_COUNT}\s?\w* max\b|最多|至少|每\s?\d|\d\s?次"
    r"|\b(?:maximal|höchstens|mindestens|maximum|au (?:plus|moins)|máximo|mínimo|como mucho|pelo menos) \d"
    r"|\d\S* \w+ (?:maximal|maximum|máximo)\W*$))"
)
# What holds of each, how something is written, and where it belongs.
SHAPED = lazy_pattern(
    r"(?i)^\W*(?:each|every|all|any|jede[rsnm]?|alle|chaque|tou(?:s|tes)|cada|tod[oa]s)\b[^?]{2,60}\b(?:must"
    r"|needs?|ha(?:s|ve) to|muss|müssen|braucht|doit|doivent|deben?|necesitan?|devem?|precisam?)\b"
    r"|^(?!.*\b(?:this|that|it|the)\b)[^?]{3,50}\bin (?:\S+ ){1,2}(?:style|format|notation|case)"
    r"(?: please)?\W*$|^\W*(?:the |our |all )?(?:[\w-]+ ){1,3}(?:lives?|go(?:es)?|lands?|belongs?|stays?)"
    r" (?:in|under|to|into|at|on) \S*[/._]\S+"
)
# A setting by its name: "default model: claude-sonnet".
SETTING = lazy_pattern(
    r"(?i)^(?!\W*(?:\w+ )?(?:errors?|fail\w*|warn\w*|note|todo|fixme|questions?|re|fyi|ps|btw|updates?|status"
    r"|results?|tests?|problems?|bugs?|issues?|examples?|options?|hints?|ideas?|output|now|next|but|and|ok"
    r"|plan|goal|step|task|https?|line|file|function|here|this|that|it)\b)[^\W\d_][\w/-]{2,}(?: [\w/-]+){1,2}"
    r": [^\s\"'“”,;:!?]+(?: [^\s\"'“”,;:!?]+){0,2}$"
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
    r"|前公司|上一家|以前公司|前の会社"
    r"|\b(?:im|in (?:der|meiner|meinem)|beim|bei meinem) (?:alten|letzten|vorigen|früheren)"
    r" (?:projekt|firma|job|team|arbeitgeber)\b|\bdans (?:mon|notre|l') ?(?:ancien(?:ne)?|dernière?) \w+"
    r"|\ben (?:mi|nuestr[oa]|el|la) (?:(?:anterior|antigu[oa]|últim[oa]) \w+|\w+ anterior)\b"
    r"|\bna (?:outra|antiga|última) empresa\b|\bno (?:antigo|último) (?:emprego|projeto)\b"
)

# What goes wrong, which nobody wants so.
FAULTY = lazy_pattern(
    r"(?i)\brepro\b|\bnot a bug\b|\bcrash(?:e[sd]|ing)?\b|\bgoes (?:blank|black)\b|\bfalls thr?u|\b(?:is|are)"
    r" (?:bricked|broken)\b"
    r"|^\W*(?:(?:the|all|die|der|les?|la) )?(?:tests?|build|ci|pipeline) (?:is|are|ist|sind|est|sont)"
    r" (?:\w+ ){0,2}(?:green|red|rot|grün|rouges?|verts?)\b|\bbroke the\b"
    r"|\bscreenshot (?:is )?(?:attached|in)\b|\bhappens \d|崩溃|闪退"
    r"|^\W*(?:(?:das|es|ça|cela|isso|ya|todavía|ainda|it|that) )?(?:no funciona|(?:funktioniert|geht)"
    r" (?:immer )?(?:noch )?nicht|(?:ne )?marche (?:pas|plus)|não funciona|(?:still )?does(?:n't|nt| not)"
    r" work)\b"
)

# An order of the moment that the score takes for more.
ORDERED = lazy_pattern(
    r"(?i)^\W*(?:跑(?!了)|看一?下|帮我|打开|删掉|解释)|(?:看一?下|改一?下|查一?下|修一?下)\W*$"
    r"|^\W*[\u4e00-\u9fff]{1,2}一下(?:就[行好]|吧|哈)?(?:\W|$)|^\W*请(?!求|勿|不|一律|都|统一|始终|务必|尽量|总)"
    r"|^\W*please \w+ (?:the|this|that|these|those) .*\bagain\b"
    r"|^\W*(?:please )?(?:explain|describe|summari[sz]e|tell me|show me)\b|\b(?:do it|go ahead)\W*$"
    r"|^\W*(?:\w*[áéíóú]\w*(?:me|nos)(?:l[oa]s?)?|dime|dame|hazme|\w+[esz]-moi|me (?:mostra|manda|passa|diz)"
    r"|(?:zeige?|gib|schicke?|sage?|erkläre?|nenne?) mir)\b"
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
    r"|^\W*(?:ich geh\w*|je vais|on va|voy a|vou)\b.{0,12}\b(?:mittag|essen|schlafen|heim|déjeuner|manger"
    r"|dormir|café|comer|almorzar|almoçar)\b|お昼|我(?:总是|老是?)忘"
    r"|^\W*(?:i always|ich \w+ (?:das )?immer|je \w+ toujours|siempre|sempre)\b.{0,8}"
    r"\b(?:forget|vergesse|oublie|olvid[ao]|esqueço)\b"
    r"|\b(?:veu(?:t|lent)|demandent?|quieren?|piden?|quer(?:em)?|w[io]ll(?:en)?)"
    r" (?:toujours|siempre|sempre|immer)\b"
    r"|\b(?:estoy|estou) (?:cansad|agotad|muert|mort)[oa]\b|疲れた|眠い"
    r"|^\W*(?:我)?(?:累死|困死|笑死|饿死|烦死|气死|头疼|下班(?:[了\W]|$)|眼睛都?花)"
)
# What is only supposed, and what says that nothing was decided.
SUPPOSED = lazy_pattern(
    r"(?i)^\W*(?:(?:if|when|once) (?:we|i|you|they) ever|suppos(?:e|ing)|imagine|let(?:'|’)?s say)\b"
    r"|\b(?:decided|agreed|settled)(?: on)? nothing\b|\bnothing (?:is|was) (?:decided|agreed|settled)\b"
    r"|\b(?:(?:have|has|did|was|is|are)(?:n't| not)|not|never)(?: yet| really)? (?:been )?(?:decided?|settled"
    r"|agreed)\b|\b(?:keep|still) going back and forth\b|\bmerit in both\b|保留意见"
    r"|^\W*(?:vielleicht|eventuell|evtl|peut-être|quizás?|tal vez|talvez|也许|可能哪天|もしかし)"
    r"|\b(?:devrait|devrions|deberíamos|deveríamos|sollten) (?:peut-être|quizás?|talvez|vielleicht|mal)\b"
    r"|\b(?:irgendwann|algún día|un jour|um dia|some day|someday|at some point)\b|そのうち|いつか"
    r"|\b(?:no sé|não sei|je (?:ne )?sais pas|weiß (?:noch )?nicht|not sure|no idea|noch offen)\b"
    r"|(?:分か|わか)ら(?:ない|ん)|不知道|不确定"
    r"|\b(?:undecided|torn between|still (?:arguing|fighting|discussing))\b|还在(?:吵|讨论|商量"
    r"|纠结)|还没(?:讨论|定|想好|商量)|\bnoch nicht (?:entschieden|beschlossen)\b|\bpas encore (?:décidé"
    r"|tranché)\b|\b(?:todavía no|ainda não) (?:hemos|está|decid)\w*|\b(?:keine ahnung|aucune idée|ni idea"
    r"|sem ideia)\b|^\W*(?:假如|假设|要是哪天)"
)


def is_intent(sentence: str) -> bool:
    """Return whether an agent only says in a few words what it does next: "I will use Kafka."."""
    return bool(INTENT.match(sentence)) and measure_length(sentence) < SHORT_LENGTH


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


def has_phrase(sentence: str) -> bool:
    """Return whether a phrase names a decision or a preference of the person, not of another."""
    decided = names_decision(sentence) and bool(OWN.search(sentence))
    forms = (LIMITED, SETTING, SHAPED)
    is_formed = any(one.search(sentence) for one in forms) and not GLANCE.match(sentence)
    return not is_hearsay(sentence) and (decided or is_formed or prefers(sentence) or corrects(sentence))


def names_decision(sentence: str) -> bool:
    """Return whether a phrase names a decision that holds on."""
    idle = (NOT_DECIDED, PASSING, SUPPOSED)
    return not any(one.search(sentence) for one in idle) and bool(DECIDED.search(sentence))


def prefers(sentence: str) -> bool:
    return not DECIDED.search(sentence) and bool(PREFERRED.search(sentence))


def corrects(sentence: str) -> bool:
    """Return whether a person puts right what the agent did or said."""
    return bool(CORRECTED.search(sentence)) and not any(one.search(sentence) for one in (PASSING, SUPPOSED))
