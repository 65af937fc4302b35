"""Whether a newer statement takes the place of an older one. Pure functions, English and Chinese, no model.

Precision counts more than recall: a statement on another subject must never hide this one. So every word
that is neither the value nor a common verb has to be in both.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from memory.db.index_tokens import space_characters
from memory.engines.support.similarity import count_negations, extract_names, extract_numbers, lowercase_stems
from memory.patterns import lazy_pattern, lazy_patterns
from memory.texts import NO_ABBREVIATION, count_dense
from memory.words import STOP_WORDS

MAX_LENGTH = 400  # characters of a statement: longer ones have more than one subject
MIN_SUBJECT_WORDS = 2  # that two statements share, where no word says that something changed
MAX_VALUE_WORDS = 3
CACHE_SIZE = 8192  # statements: what a session says in one commit, with all that it is compared with

# Common verbs and words of change: they say nothing about the subject.
FILLERS = frozenset(
    """use uses used using run runs running have has need needs go goes going set sets stay stays keep put
    live lives listen listens let make makes please now new always currently already still again fine ok okay
    allowed may might want wants get gets like actually instead rather longer anymore more switch change move
    migrate bump raise lower increase decrease reduce extend shorten update replace replaces revert return
    stop drop back up down out gone via through per never cannot cant dont doesnt isnt arent wont today
    onwards sorry decide decided decision agree agreed
    """.split()
)
PLAIN = (STOP_WORDS | FILLERS) - {"below", "above", "under", "over", "most", "before", "after", "own", "only"}
ARTICLES = frozenset({"a", "an", "the", "our", "your"})
SLOTS = frozenset("to with by through via use uses used using is are".split())  # before a value
# Of these many may hold: one more takes nobody's place.
ADDITIVE = lazy_pattern(
    r"\b(?:supports?|tests?|accepts?|allow|block|ban|ignore|include|exclude|handle|works?|add|log|skip"
    r"|retry on|alert)\b|支持|允许|屏蔽|忽略|测试|接受"
)
CHANGED = lazy_pattern(
    r"\b(?:now|from now on|going forward|no longer|no more|any ?more|instead|rather than|switch|chang"
    r"|mov(?:e|ing)|migrat|bump|raise|lower|increas|decreas|reduc|replac|revert|back to|again|actually"
    r"|upgrad|downgrad)"
    r"|改|换|不再|现在|以后|今后|升级|提高|降|调整|迁移|切换"
)
# What is given up stands behind these, and in front of those.
_PHRASE = r"([\w.'-]+(?: [\w.'-]+){0,4})"
GIVEN_UP = lazy_patterns(
    rf"\b(?:instead of|rather than|in place of|no longer|no more|replaces?)\s(?!than\b){_PHRASE}",
    rf"[,;]\s?(?:and\s)?not\s(?!only\b|just\b){_PHRASE}",
    rf"\b(?:switch|move|moving|migrat|chang)\w*\s[^,;.]{{0,80}}?\bfrom\s{_PHRASE}",
    rf"\b(?:mov|switch|migrat|com|get|gett)\w*\s(?:off(?: of)?|away from)\s{_PHRASE}",
    r"(?:^|[,;]\s?)([\w.-]+) (?:is|are) (?:out|gone|dropped|history)\b",
    r"(?:不再|而不是|弃用|停用|不用|不是)(?:使用|用|是|由|放在|放到)?([^,;。了]{1,30})",
    r"从([^,;。到改换迁切]{1,30})(?:到|改|换|迁|切)",
)
# Given up without saying what comes instead.
DROPPED = lazy_pattern(
    r"\b(?:(?:ditch|abandon|retir)ed|dropped|got rid of|stopped using|(?:are|'re) done with|decided against"
    rf"|moved (?:[^,;.]{{1,40}}? )?(?:off(?: of)?|away from))\s{_PHRASE}"
    r"|(?:放弃|去掉|撤掉)了?([^,;。了做]{1,30})"
)
UNSURE = lazy_pattern(
    r"\b(?:should|could|would|may|might|maybe|if|until|unless|almost|never|not)\b|n't\b|[?？吗]|没|如果"
)
END_OF_VALUE = lazy_pattern(r"\b(?:for|in|on|to|with|by|at|any|anymore|now|of|because|please)\b")
UNITS = {
    "time": "ms s sec second min minute h hour d day week month year 毫秒 秒钟 秒 分钟 小时 天 周 个月 月 年",
    "size": "b byte kb mb gb tb kib mib gib",
    "share": "% percent",
    "length": "px pt em rem",
}
UNIT_CLASSES = {unit: name for name, units in UNITS.items() for unit in units.split()}
_UNIT_WORDS = "|".join(sorted(map(re.escape, UNIT_CLASSES), key=len, reverse=True))
# A number that names its noun is a part of the subject.
NUMBERED = lazy_pattern(
    r"\b(?:phase|step|stage|sprint|milestone|ticket|issue|pr|adr|rfc|chapter|section|level|tier|shard|server"
    r"|host|team|line|item|option|week|day|room|table|page|part|pin|slot|zone|rack|column|row|field|case"
    r"|environment|cluster|instance|replica|device|channel|lane|gate|dock|number|nr|q)s? ?#?\d"
    r"|#\d|(?:第|服务器|阶段|节点|机房|任务|工单|步骤|引脚) ?\d"
    r"|^(?:(?:a|an|the)\s)?(?!1\s)\d+(?:\.\d+)*\s(?!(?:" + _UNIT_WORDS + r")s?\b)"
)
NAMED_BY_NUMBER = lazy_pattern(r"^\W*(?:(?:a|an|the|all|our) )?[a-z]+\d[\w.]*\b")  # GPIO12 stays, v1 is
ATTRIBUTES = frozenset(
    """default primary owner host name delimit separator encod format languag timezon region licens colour
    color them databas framework branch editor linter formatter""".split()
)
UNIT = lazy_pattern(rf"(?<=\d)\s?({_UNIT_WORDS})(?:s\b|(?![a-z]))")
BOUND = lazy_pattern(r"\b(?:no (?:more|less|fewer|longer) than|not only|not just)\b", re.I)
CLOCK = lazy_pattern(r"\b\d{1,2}:\d\d\b")
NUMERALS = {
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
COUNTED = lazy_pattern(
    r"([一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
    r"(?=\s?(?:次|折|天|小时|分钟|秒|个|条|位|周|年|份|台|人|倍|%))"
)
CHINESE_FILLERS = lazy_pattern(
    "从现在起|我们|咱们|决定|商定|约定|以后|今后|现在|目前|一律|统一|不再|不要|不用|不能|不是|不得|禁止|升级|提高|降低|调整|迁移|切换"
    "|使用|采用|可以|应该|必须|改|换|成|用|放|是|为|由|在|上|的|了|把|将|从|到|能|要|请|都|不|别|没|勿|而|降|调"
)
CHINESE_SLOT = lazy_pattern("[用到由是为成在]$")
CONTRACTION = lazy_pattern(r"['’](?:s|ll|re|ve|d|m)$")  # of a common word: it's, we'll, that's
WORD = lazy_pattern(r"[^\W_]+(?:[-'’_./][^\W_]+)*|[,;]")
CLAUSE_END = lazy_pattern(
    r"\s*[,;]\s+|\s+[—–-]\s+|\s+(?:because|since|so that)\s+"
    r"|(?<=[\u3400-\u9fff\w])[,;]\s*(?=[\u3400-\u9fff])"
)
SCRIPT_CHANGE = lazy_pattern(r"(?<=[\u3400-\u9fff])(?=[a-zA-Z\d])|(?<=[a-zA-Z\d])(?=[\u3400-\u9fff])")
SENTENCE_END = lazy_pattern(rf"(?<=[.!?]){NO_ABBREVIATION}\s+|(?<=[。！？])")
# A further clause that begins like this narrows the statement: it stays.
NARROWS = lazy_pattern(
    r"(?:for|on|in|at|when|while|if|unless|except|only|but|and|or|with|without|during|until|per|from|under|to|as)\b"
    r"|.*\b(?:only|except|unless)\b|仅|只|除|当|如果|但"
)
# One that names what is not chosen does not: its words are no part of the subject.
TURNS_DOWN = lazy_pattern(
    r"(?:(?:and|but|so) )?(?:please )?(?:(?:leave|keep|let) .+ (?:alone|aside|out of it)|not)\b"
)
# A correction begins with these, and says then what holds.
REFUTES = lazy_pattern(
    r"^(?:(?:no|nope|sorry|actually|that's (?:wrong|not right)|不对|错了|不是这样的?|说错了)[,;:!]\s*)+", re.I
)
BUILT = lazy_pattern(r"\b(we|we'll|we will|let's) build\b", re.I)  # it is used; a build is something else


def revises(newer: str, older: str) -> bool:
    """Return whether the newer statement says of the same subject something else than the older one."""
    if not (is_short(newer) and is_short(older)):
        return False
    old = read_statement(older)
    return any(takes_place(read_statement(part), old) for part in SENTENCE_END.split(newer) if part)


def may_revise(text: str) -> bool:
    """Return whether a statement has what a rule needs: a number, a negation or a word of change."""
    if not is_short(text):
        return False
    one = read_statement(text)
    return bool(one.numbers or one.negated or one.changed or DROPPED.search(one.text))


def share_words(newer: str, older: str) -> float:
    """Return the share of their words that two statements have in common."""
    one, other = (read_statement(unify(text[:MAX_LENGTH])[:MAX_LENGTH]).words for text in (newer, older))
    return len(one & other) / max(len(one | other), 1)


@lru_cache(CACHE_SIZE)
def is_short(text: str) -> bool:
    """Return whether a text may be one statement, also written out: a ligature may stand for 18 letters."""
    return len(text) <= MAX_LENGTH and (text.isascii() or len(unify(text)) <= MAX_LENGTH)


def unify(text: str) -> str:
    """Return the text with one form of each character."""
    return unicodedata.normalize("NFKC", text)


def takes_place(new: "Statement", old: "Statement") -> bool:
    """Return whether one of the rules finds that a statement takes the place of another."""
    if new.words.isdisjoint(old.words):
        return False
    return any(rule(new, old) for rule in (gives_up, drops, flips, renumbers, renames))


# ---- statements --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """A statement as its words in runs, which common words divide, and what decides whether it holds."""

    text: str
    runs: tuple[tuple[str, ...], ...]
    slots: frozenset[int]  # runs in the place of a value
    given_up: tuple[frozenset[str], ...]
    numbers: tuple[str, ...]
    units: tuple[str, ...]
    names: frozenset[str]
    negated: bool
    changed: bool

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(self.runs))

    @cached_property
    def subject(self) -> frozenset[str]:
        """Return the words without digits."""
        return frozenset(re.sub(r"\d+", "#", word) for word in self.words)


@lru_cache(CACHE_SIZE)
def read_statement(text: str) -> Statement:
    """Read a statement; further clauses that give reasons are left out, but for what they give up."""
    whole = REFUTES.sub("", BUILT.sub(r"\1 use", normalise(text)))
    main = " , ".join(keep_clauses(whole))
    runs, slots = split_runs(main)
    negated = count_negations(BOUND.sub(" ", main)) + len(re.findall(r"\b(?:stop|drop)\b", main.lower()))
    plain = UNIT.sub(" ", main)
    return Statement(
        text=main.lower(),
        runs=runs,
        slots=slots,
        given_up=tuple(find_given_up(whole.lower())),
        numbers=tuple(extract_numbers(plain)),
        units=tuple(find_units(main.lower())),
        names=frozenset(map(stem, extract_names(main, lowercase_stems(main)))),
        negated=negated % 2 == 1,
        changed=bool(CHANGED.search(whole.lower())),
    )


def normalise(text: str) -> str:
    """Return the text with counted Chinese numerals as digits, one spelling of commas, and no full stop."""
    plain = unify(text).replace("、", ",").replace("’", "'")
    plain = COUNTED.sub(lambda match: str(read_numeral(match.group())), plain)
    return " ".join(SCRIPT_CHANGE.sub(" ", plain).strip(" .!。").split())


def read_numeral(text: str) -> int:
    """Return the value of a Chinese numeral below a hundred."""
    tens, ten, ones = text.rpartition("十")
    return (10 * NUMERALS[tens or "一"] if ten else 0) + NUMERALS.get(ones, 0)


def keep_clauses(text: str) -> Iterator[str]:
    """Yield the first clause, and those that narrow it."""
    first, *rest = CLAUSE_END.split(text)
    yield first
    plain = (clause for clause in rest if not TURNS_DOWN.match(clause.lower()))
    yield from (clause for clause in plain if NARROWS.match(clause.lower()))


def split_runs(text: str) -> tuple[tuple[tuple[str, ...], ...], frozenset[int]]:
    """Return the words of a text in runs that common words divide, and which runs follow a word of SLOTS."""
    runs: list[tuple[str, ...]] = []
    slots: set[int] = set()
    run: list[str] = []
    before, opened = "", ""
    for word in [*list_words(UNIT.sub(" ", text)), "|"]:
        plain = CONTRACTION.sub("", word)
        is_plain = word[0] in "|,;" or plain in PLAIN or stem(plain) in STEMS or word.endswith("n't")
        if not is_plain:
            opened = before if not run else opened
            run.append(stem(word))
        elif word not in ARTICLES or run:
            if run:
                if opened in SLOTS or CHINESE_SLOT.search(opened):
                    slots.add(len(runs))
                runs.append(tuple(run))
                run = []
            before = word
    return tuple(runs), frozenset(slots)


def list_words(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case; numbers are left out, Chinese fillers are marked by "|"."""
    spaced = CHINESE_FILLERS.sub(lambda match: f" \x01{match.group()}\x01 ", text.lower())
    for part in re.split(r"(\x01[^\x01]+\x01)", spaced):
        if part.startswith("\x01"):
            yield "|" + part.strip("\x01")
            continue
        for match in WORD.finditer(space_characters(part)):
            if not re.fullmatch(r"[\d.,:/-]+", match.group()):
                yield match.group()


def stem(word: str) -> str:
    """Return a word without the common endings of English."""
    word = re.sub(r"'s?$", "", word.lower())
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 3 else word


def find_given_up(text: str) -> Iterator[frozenset[str]]:
    """Yield the words of each value that a text says to hold no more."""
    for pattern in GIVEN_UP:
        for match in pattern.finditer(text):
            phrase = END_OF_VALUE.split(match.group(1).strip())[0]
            if words := find_words(phrase):
                yield words


def find_units(text: str) -> Iterator[str]:
    """Yield the kinds of the units of a text's numbers."""
    yield from (UNIT_CLASSES[match.group(1)] for match in UNIT.finditer(text))
    yield from ("clock" for _ in CLOCK.finditer(text))


STEMS = frozenset(map(stem, FILLERS))


# ---- rules ---------------------------------------------------------------------------------------------


def gives_up(new: Statement, old: Statement) -> bool:
    """Return whether the newer statement names what the older one says as given up, of the same subject."""
    for words in new.given_up:
        added = new.words - old.words
        is_subject = words <= old.words <= new.words | words and has_subject(old.words)
        if is_subject and not old.negated and fits_value(new, added):
            return True
    return False


def drops(new: Statement, old: Statement) -> bool:
    """Return whether the newer statement says, and nothing else, that the older one's value was dropped."""
    found = DROPPED.search(new.text)
    if not found or old.negated or DROPPED.search(old.text) or UNSURE.search(new.text):
        return False
    verb = find_words(found.group()[: found.start(found.lastindex or 0) - found.start()])
    value = find_words(END_OF_VALUE.split(found[found.lastindex or 0].strip())[0])
    is_whole = new.words - verb == old.words - verb and new.numbers == old.numbers
    return is_whole and bool(value) and value < old.words and has_subject(old.words)


def find_words(text: str) -> frozenset[str]:
    """Return the words of a phrase that are neither common nor words of change."""
    return frozenset(chain.from_iterable(split_runs(text)[0]))


def flips(new: Statement, old: Statement) -> bool:
    """Return whether one of two statements with the same words is negated."""
    same = new.words == old.words and new.numbers == old.numbers
    return same and new.negated != old.negated and has_subject(new.words)


def renumbers(new: Statement, old: Statement) -> bool:
    """Return whether two statements with the same words and units have other numbers."""
    if new.subject != old.subject or new.negated != old.negated or new.units != old.units:
        return False
    if len(new.numbers) != len(old.numbers) or new.numbers == old.numbers:
        return False
    if any(is_numbered(one.text) for one in (new, old)):
        return False
    return may_replace(new) and (new.changed or has_subject(new.subject))


def renames(new: Statement, old: Statement) -> bool:
    """Return whether a statement of a change has another value in the place of the older one's."""
    common, lost, added = new.words & old.words, old.words - new.words, new.words - old.words
    if not (new.changed and common and lost and added) or new.negated != old.negated:
        return False
    places = [find_run(one, words) for one, words in ((new, added), (old, lost))]
    in_slots = all(at in one.slots for at, one in zip(places, (new, old), strict=True))
    both_named = is_named(new, added) and is_named(old, lost)
    return in_slots and may_replace(old) and (both_named or is_single(common, lost))


def is_single(common: Collection[str], lost: Collection[str]) -> bool:
    """Return whether a subject has one value at a time; in Chinese the place of the value says so."""
    return not ATTRIBUTES.isdisjoint(common) or count_dense("".join(lost)) > 0


def is_named(one: Statement, words: Collection[str]) -> bool:
    """Return whether a value is a name; in a Chinese text, a Latin word."""
    return set(words) <= one.names or (count_dense(one.text) > 0 and all(word.isascii() for word in words))


def is_numbered(text: str) -> bool:
    """Return whether a number of the text belongs to its subject."""
    return bool(NUMBERED.search(text) or NAMED_BY_NUMBER.match(text))


def may_replace(one: Statement) -> bool:
    return one.changed or not ADDITIVE.search(one.text)


def has_subject(words: Collection[str]) -> bool:
    return len(words) >= MIN_SUBJECT_WORDS


def fits_value(new: Statement, added: Collection[str]) -> bool:
    """Return whether the words that only the newer statement has are no more than its value."""
    return not added or find_run(new, added) is not None


def find_run(one: Statement, words: Collection[str]) -> int | None:
    """Return the run that has all of the words, side by side."""
    for at, run in enumerate(one.runs):
        if set(words) <= set(run) and len(words) <= MAX_VALUE_WORDS:
            return at
    return None
