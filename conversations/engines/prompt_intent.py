"""What a prompt is about and what it is for: the words that name a subject, and the evidence that it needs.

Work may break a rule that was laid down, so a memory that is near enough comes with it. A look at what is
there ("show me git log", "run the tests") breaks none: there a memory has to be about the same. The evidence
of each was measured with bench/crowd.py and bench/decisions.py.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from memory.db.index_tokens import search_phrases
from memory.engines.search.answer_boost import ASKS
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.evidence import is_telling
from memory.engines.statements.personal_facts import PERSONAL
from memory.evidence import MIN_EVIDENCE
from memory.models import Fact
from memory.patterns import lazy_pattern
from memory.texts import count_dense
from memory.word_forms import WORD_PATTERN
from memory.words import STOP_WORDS, extract_keywords, list_phrases

MAX_PROMPTS = 16  # whose words are kept
MIN_STEM_LENGTH = 3
# Words of any prompt to an agent, in its languages: they name no subject.
COMMON = frozenset(
    """
        why run rerun runs show open lists print display explain describe summarise summarize tell give get
    go going goes     look looks see check find try start stop restart continue resume wait undo redo
    revert push pull commit commits     fetch checkout stash diff git install uninstall add write create
    make makes do does did done use want wants need     needs fix change changes changed edit modify
    rename put set read help know think mean means work works working     fail fails failed take let keep
    say says said ask     test tests file files folder directory function functions method variable
    variables line lines code thing things     stuff bit way part example project repo repository branch
    branches traceback trace stack output result results     readme typo todo todos comment comments
    dependency dependencies package packages version versions status error     errors temporary src app
    py     please thanks thank ok okay yes no good great nice fine cool right wrong sure maybe again now
    then next last     first second new old one two three four five ten another more less here there
    today time times back still just     also really much many long like well anything something
    everything nothing nobody somebody someone anyone people     us me everyone shorter better quick
    quickly simple proper     bitte danke zeig zeige mir führe aus die der das den dem ein eine einen und
    ist mach mache noch mal nochmal datei     dateien zeile zeilen fehler letzte letzten was warum weiter
    gut ja nein     montre lance exécute moi le la les un une des et est fichier fichiers ligne lignes
    erreur merci encore oui non     muestra ejecuta el los las una y es archivo archivos línea líneas
    gracias por favor otra vez sí     mostra executa o os as um uma e é arquivo arquivos linha linhas
    obrigado de novo sim não     运行 测试 显示 打开 文件 代码 一下 继续 谢谢 看看 错误 提交
    """.split()
)
# Words of other languages than English that connect others; none of them is an English word.
CONNECTING = frozenset(
    """
        der das dem den des ein eine einen einem einer eines und oder aber nicht kein keine mit für von
    vom zu zum zur im auf aus bei nach vor über unter ohne ist sind wird werden wurde haben hat wir ich
    du ihr sie er es uns mich mir dir sich dass wie wo wer wann warum wieso welche welcher welches
    diese dieser dieses noch schon auch nur wenn als bis macht mach le la les un une de et ou mais ne
    pas est sont ce cet cette ces que qu qui quoi quel quelle dont où dans par pour avec sans sur sous
    au aux il elle ils elles nous vous je tu moi toi se sa ses mon mes votre notre leur comment
    pourquoi quand l c n el los las una unos unas del al lo qué cuál quién cómo cuándo dónde por para
    con sin sobre entre desde hasta son está están ser hay este esta esto estos estas ese esa su sus mi
    mis nos como si cuando os um uma umas da dos na nas em ao à às não com sem é são foi isto isso esse
    essa seu sua meu minha qual quem onde porque
    """.split()
)
# The same in other scripts, and what people greet and thank with.
CONNECTING_ELSEWHERE = """
        где когда кто что как почему какой какая какие на в и с у по для из не Πού πότε ποιος ποια τι πώς
        γιατί και το τα η ο της του των στην στο για με أين متى من ما هل كيف لماذا في على إلى عن هذا هذه
        איפה מתי מי מה איך למה של על את זה עם कहाँ कब कौन क्या कैसे क्यों किस का की के को में पर से है हैं और
        bạn tôi của và là ở gì đâu khi nào ai thế có không được với cho này 어디 언제 누가 무엇 왜 어떻게
"""
GREETINGS = """
        hello hi hey morning night guten gute morgen nacht abend tag hallo vielen geht bonjour bonsoir salut
        bonne nuit ça va buenos buenas días noches tardes hola muchas qué tal bom dia boa noite olá obrigada
        ciao buongiorno grazie привет спасибо доброе утро спокойной ночи дела большое Γεια ευχαριστώ καλημέρα
        καληνύχτα κάνεις مرحبا شكرا صباح الخير تصبح حالك שלום תודה בוקר טוב לילה שלומך नमस्ते धन्यवाद शुभ रात्रि
        xin chào cảm ơn khỏe chúc ngủ ngon buổi sáng nhiều
"""
HIRAGANA = lazy_pattern("[\u3041-\u309f ]+")
POLITE = (
    r"(?:(?:ok(?:ay)?|please|now|and|then|hey|hm+|so|can you|could you|just|also|yes|no|right|well|next"
    r"|let'?s|bitte|et|y|e)[,.:;! ]+)*"
)
# Verbs of making in other languages, and of looking, with which an order of the moment begins.
_MAKING = (
    r"füge?|schreib\w*|erstelle?|baue?|implementier\w*|änder\w*|korrigier\w*|beheb\w*|ajoute[rz]?|écri[st]"
    r"|crée[rz]?|implémente[rz]?|fais|corrige\w*|añad[ae]|agrega|escrib[ae]|cre[ae]|implementa|haz|arregl[ae]"
    r"|adicion[ae]|escreva|crie|implemente|faça|faz|corrij[ao]"
)
_LOOKING = (
    r"zeig\w*|führ\w*|start\w*|lösch\w*|öffn\w*|erklär\w*|schau\w*|prüf\w*|such\w*|warum|was|montre\w*"
    r"|lance\w*|exécute\w*|explique\w*|ouvr\w*|supprime\w*|cherche\w*|regarde\w*|pourquoi|muestra\w*|muéstra\w*"
    r"|ejecut\w*|corre|explica\w*|abr[ea]|borra\w*|busca\w*|mira\w*|mostra\w*|roda|rode|executa\w*|apaga\w*"
    r"|procura\w*|olha"
)
_ARTICLE = r"(?:de[rnms]|die|das|eine?[nrms]?|les?|la|une?|el|los|las|una|os?|as?|uma?|mir|moi|me)\b|l'"
# One that is done when it is done; "schreib Commits auf Englisch" is a rule.
ORDERED_ABROAD = lazy_pattern(
    rf"^\W*(?:bitte|por favor)?\W*(?:(?:{_LOOKING})\b|(?:{_MAKING}|mach\w*) (?:\w+ ){{0,2}}(?:{_ARTICLE})"
    r"|(?:danke|merci|gracias|obrigad[oa])\b|ありがとう)|を(?!使)[^、。を]{1,8}て(?:ください)?\W*$",
    re.I,
)
WORK = lazy_pattern(
    rf"{POLITE}(?:add|write|implement|create|build|set up|setup|make|handle|support|migrate|refactor|improve"
    r"|tighten|design|prepare|draft|extend|integrate|validate|configure|move|replace|send|cache|hide|return|log"
    r"|store|save|use"
    r"|change|update|put|generate|define|introduce|switch|upgrade|allow|limit|schedule|document|encrypt|hash|sort"
    r"|filter|import|export|publish|deploy|release|roll|reformat|format|fix|wire|plan|order"
    r"|clean|repair|style|pass|port|rewrite|convert|adapt|extract|expose|include|enable|disable|prototype|render"
    r"|display|parse|track|count|compute|calculate|protect|secure|connect|hook|swap|split|wrap|rework|redesign"
    r"|cover|call|label|choose|pick|model|seed|provision|spin up|resize|paginate|notify|remind|charge"
    r"|host|scale|monitor|instrument"
    r"|(?:we|i) (?:need|want|have)|how (?:(?:do|can|will) we|(?:should|may|shall|must) (?:we|i))"
    r"|(?:\w+ ){1,3}(?:wants?|needs?|should|must)"
    rf"|{_MAKING})\b"
    r"|.{0,200}\b(?:can|may|shall|should|must|could) (?:we|it|they|one)\b"
    r"|.{0,4}(?:添加|增加|写|实现|创建|改|做)",
    re.I | re.S,
)
CLAUSE_END = lazy_pattern(r"[,;.:!–-]\s+|\s(?:so|and|then)\s")
GLANCE = lazy_pattern(
    rf"{POLITE}(?:run|rerun|show|open|list|print|explain|describe|summari[sz]e|tell|install|start|stop|restart|undo"
    r"|push|pull|find|look|try|go|continue|wait|thanks?|git|what|why|where|who|when|whose|is|are|did|does|was|were"
    r"|how (?:long|many|much|did|come)|nice|good|great|hold|read|check|delete|commit|translate|rename"
    rf"|{_LOOKING})\b"
    r"|.{0,2}(?:运行|显示|打开|看|解释|为什么|继续)",
    re.I,
)
ENDINGS = (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("en", ""), ("s", ""), ("e", ""))
SHARE_WEIGHT = 0.5
# Of the share alone, in scripts without spaces: of their pairs of characters half are no word.
DENSE_WEIGHT = 2.0
FOREIGN_SHARE = 0.2  # that a question needs in a language of which the model knows the letters alone
MIN_SUBJECTS = 2  # of a prompt that names so many, nearness alone may be evidence
RICH_SUBJECTS = 5


class Least(NamedTuple):
    """Evidence that a prompt's kind needs: with how many of its subjects, and by nearness alone.

    Where the prompt names many subjects, less nearness says as much.
    """

    evidence: float
    subjects: int
    cosine: float
    rich_cosine: float


NEEDED_FOR_WORK = Least(0.2, 1, 0.2, 0.2)
NEEDED_TO_GLANCE = Least(0.4, 2, 0.45, 0.45)
NEEDED_ELSE = Least(0.35, 1, 0.4, 0.33)
# How such a prompt begins says little of what it is for.
NEEDED_WITHOUT_SPACES = Least(0.25, 1, 0.4, 0.4)


@dataclass(frozen=True)
class Request:
    """A prompt: the stems of its words, those among them that name a subject, and what it needs.

    Of a prompt in another language than English nearness alone says little: the built-in model finds that
    two texts are in one language.
    """

    words: frozenset[str]
    subjects: frozenset[str]
    least: Least
    is_english: bool = True
    is_question: bool = False

    @property
    def is_lone(self) -> bool:
        """Return whether it asks about one thing, in few words: "where is staging?"."""
        return self.is_question and len(self.subjects) == 1

    def share_words(self, stems: Collection[str]) -> float:
        return len(self.words.intersection(stems)) / len(self.words) if self.words else 0.0

    def count_subjects(self, stems: Collection[str]) -> int:
        return len(self.subjects.intersection(stems))


@lru_cache(maxsize=MAX_PROMPTS)  # one prompt is compared with many texts
def read_request(text: str, words: tuple[str, ...]) -> Request:
    """Read a prompt with its keywords."""
    phrases = split_words(words) - CONNECTING - read_phrases(CONNECTING_ELSEWHERE)
    subjects = [word for word in phrases if is_subject(word)]
    least, is_question = find_least(text.strip()), bool(ASKS.search(text))
    return Request(stem_words(phrases), stem_words(subjects), least, is_english(text), is_question)


def is_subject(word: str) -> bool:
    """Return whether a word names what a prompt is about: hiragana is mostly grammar."""
    is_common = word in COMMON or word in read_phrases(GREETINGS)
    return not (is_common or word.isdigit() or HIRAGANA.fullmatch(word))


@cache
def read_phrases(words: str) -> frozenset[str]:
    """Return words as searches look for them; not with the module, which would load their stemmers."""
    return frozenset(list_phrases(words))


def find_least(text: str) -> Least:
    if WORK.match(text) or ends_with_work(text):
        return NEEDED_FOR_WORK
    if GLANCE.match(text):
        return NEEDED_TO_GLANCE
    return NEEDED_WITHOUT_SPACES if is_dense(text) else NEEDED_ELSE


def ends_with_work(text: str) -> bool:
    """Return whether a prompt says what is the matter, and then what to do: "dogs pay twice, fix it"."""
    last = CLAUSE_END.split(text)[-1]
    return last != text and not last.endswith("?") and bool(WORK.match(last))


def is_english(text: str) -> bool:
    """Return whether no more words of a text connect others in another language than do in English, and fewer
    than one in four has another letter than those of English.
    """
    words = WORD_PATTERN.findall(text.lower())
    if sum(not word.isascii() for word in words) * 4 > len(words):
        return False
    return sum(word in CONNECTING for word in words) <= sum(word in STOP_WORDS for word in words)


def is_plainly_english(text: str) -> bool:
    """Return whether more words of a text connect others in English than in another language."""
    words = WORD_PATTERN.findall(text.lower())
    return sum(word in STOP_WORDS for word in words) > sum(word in CONNECTING for word in words)


def is_dense(text: str) -> bool:
    """Return whether a text is written without spaces, which the built-in model does not read."""
    return count_dense(text) * 4 > len(text)


def split_words(words: Iterable[str]) -> set[str]:
    return {phrase for word in words for phrase in search_phrases(word)}


def stem_words(words: Iterable[str]) -> frozenset[str]:
    """Return the words without their endings: a memory of payments is one of a payment."""
    return frozenset(cut_ending(cut_ending(word)) for word in words)


def cut_ending(word: str) -> str:
    for ending, rest in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM_LENGTH:
            return word.removesuffix(ending) + rest
    return word


# ---- evidence ----------------------------------------------------------------------------------------

# It is the cosine plus half of the share of the prompt's words. How much is needed depends on what the prompt
# is for; bench/decisions.py and bench/crowd.py measure both.


def weigh(question: PreparedQuery, text: str, cosine: float | None) -> float:
    """Return the evidence that a prompt needs a text; 0 where it is too little."""
    request, stems = get_request(question), read_stems(text)
    share, subjects = request.share_words(stems), request.count_subjects(stems)
    if question.is_foreign and question.vector is not None and request.is_question:
        return share if share >= FOREIGN_SHARE and is_telling(request.subjects & set(stems)) else 0.0
    if is_dense(question.text) or is_dense(text):
        evidence, cosine = DENSE_WEIGHT * share, None
    elif cosine is None or question.is_foreign or not is_calibrated(question):
        evidence, cosine = share, None
    else:
        evidence = max(cosine, 0.0) + SHARE_WEIGHT * share
    return evidence if is_enough(request, evidence, subjects, cosine) else 0.0


def is_enough(request: Request, evidence: float, subjects: int, cosine: float | None) -> bool:
    """Return whether a text is about a subject of the prompt, by its words or by nearness alone."""
    least = request.least
    if not request.subjects:
        return False
    if evidence >= least.evidence and subjects >= (1 if request.is_lone else least.subjects):
        return True
    if cosine is None or not request.is_english or len(request.subjects) < MIN_SUBJECTS:
        return False
    return cosine >= (least.rich_cosine if len(request.subjects) >= RICH_SUBJECTS else least.cosine)


# What a person may not eat, and where they live, are needed by prompts that share no word with it.
FOOD = lazy_pattern(
    r"(?i)\b(?:recipes?|cook(?:ing)?|bak(?:e|ing)|eat(?:ing)?|dinner|lunch|breakfast|supper|meals?|snacks?"
    r"|dish(?:es)?|restaurants?|groceries|grocery|shopping list|picnic|barbecue|rezepte?|kochen?|\w*essen"
    r"|frühstück|recettes?|cuisiner?|dîner|déjeuner|repas|manger|recetas?|cocin\w+|cena|comida|almuerzo"
    r"|desayuno|receitas?|cozinh\w+|jantar|almoço)\b|做饭|菜谱|食谱|[晚午早]饭|吃什么|餐厅|レシピ|料理|夕食|昼食|食べ"
)
UNEATEN = lazy_pattern(
    r"(?i)\b(?:vegetari\w+|vegan\w*|végétari\w+|allergi\w+|alérgi\w+|intoleran\w+|gluten|la[ck]tose|kosher"
    r"|halal|diabetic|coeliac|celiac)\b|(?:\b(?:not|pas|no|não)|n't) (?:eat|drink|mange|bois|como|bebo)\b"
    r"|\b(?:esse|trinke) kein|吃素|过敏|不吃|アレルギー|ベジタリアン|食べない"
)
NEARBY = lazy_pattern(
    r"(?i)\bnear(?:by| me| home| here| us)\b|\baround here\b|\bweather\b|\bin der nähe\b|\bwetter\b|\bmétéo\b"
    r"|\bprès de chez\b|\bcerca de (?:casa|mí|aquí)\b|\bperto de (?:casa|mim)\b|附近|天气|近くの|天気"
)
MATTER_EVIDENCE = 0.5


def weigh_fact(question: PreparedQuery, fact: Fact, cosine: float | None) -> float:
    """Return the evidence that a prompt needs a fact: by its words, or by what a person's life is about."""
    is_food = fact.category in PERSONAL and UNEATEN.search(fact.essence) and FOOD.search(question.text)
    is_near = fact.category == "home" and NEARBY.search(question.text)
    is_needed = bool(is_food or is_near) and not get_request(question).is_lone  # "what time is dinner?"
    return max(weigh(question, fact.essence, cosine), MATTER_EVIDENCE * is_needed)


def is_calibrated(question: PreparedQuery) -> bool:
    """Return whether the least evidence was measured with this embedder: each has a scale of its own."""
    return question.model in MIN_EVIDENCE


def get_request(question: PreparedQuery) -> Request:
    return read_request(question.text, tuple(question.words))


def share_words(question: PreparedQuery, text: str) -> float:
    """Return the share of the prompt's words that the text has."""
    return get_request(question).share_words(read_stems(text))


def read_stems(text: str) -> Collection[str]:
    return stem_words(split_words(extract_keywords(text)))
