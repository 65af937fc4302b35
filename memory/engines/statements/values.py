"""Numbers in statements, with the kinds of what they count: times, sizes, shares. Pure functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.engines.statements.change_words import FUNCTION_WORDS
from memory.patterns import lazy_pattern
from memory.texts import count_dense

# How many seconds, bytes and so on a unit has; what is not named counts things.
_TIMES = {
    0.001: "ms msec millisecond milliseconds millis millisekunden millisecondes milisegundos 毫秒 ミリ秒",
    1: "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒 秒钟 秒間",
    60: "m min mins minute minutes minuten minuto minutos 分钟 分 分間",
    3600: "h hr hrs hour hours std stunde stunden heure heures hora horas 小时 時間",
    86400: "d day days tag tage tagen jour jours día días dia dias 天 日 日間",
    604800: "w week weeks woche wochen semaine semaines semana semanas 周 週間",
    2592000: "month months monat monate monaten mois mes meses mês 个月 ヶ月 か月",
    31536000: "y year years jahr jahre jahren an ans année années año años ano anos 年 年間",
}
_SIZES = {1: "b byte bytes", 1e3: "kb kib", 1e6: "mb mib", 1e9: "gb gib", 1e12: "tb tib"}
UNIT_FACTORS: dict[str, tuple[str, float]] = {
    unit: (kind, float(factor))
    for kind, units in (
        ("time", _TIMES),
        ("size", _SIZES),
        ("share", {1: "% percent prozent"}),
        ("clock", {1: "uhr am pm 点 时 時"}),
        ("length", {1: "px pt em rem"}),
        ("place", {1: "st nd rd th"}),
        ("count", {1: "mal fois veces vezes 次 回 个 個"}),
    )
    for factor, names in units.items()
    for unit in names.split()
}
_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve",
    "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "un deux trois quatre cinq six sept huit neuf dix onze douze",
    "un dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "um dois três quatro cinco seis sete oito nove dez onze doze",
)
# What begins a phrase as well ("no one", "eine Tabelle") is no number here.
NUMBER_WORDS = {
    word: at for names in _NUMBERS for at, word in enumerate(names.split(), 1) if at > 1 and word != "once"
}

MEASURES = ("time", "clock", "size", "share")  # kinds of values of which a thing has mostly one
COUNTED = ("count", 1.0)  # the kind of a number without a known unit
DENSE_UNIT = "|".join(sorted((unit for unit in UNIT_FACTORS if count_dense(unit)), key=len, reverse=True))
NUMBER = lazy_pattern(
    rf"(?<![a-z\d_.])(?<!\d,)[$€£]?(\d+(?:[.,]\d+)*)(?!\w*[a-z]\d|[.]?x)(?:\s?(%|{DENSE_UNIT}"
    rf"|[^\W\d_\u3040-\u9fff]+))?"
)
CLOCK = lazy_pattern(r"\b([01]?\d|2[0-3]):([0-5]\d)\b")
ONE = lazy_pattern(
    r"\b(?:one|(?:(?<=to )|(?<=is )|(?<=for )|(?<=after ))an?)(?=\s(?:second|minute|hour|day|week|month"
    r"|year)\b)|^one(?=\s(?!of|more|thing|last|other|day)\w)|\beine?[nrms]?(?=\s(?:sekunde|minute|stunde|tag"
    r"|woche|monat|jahr)\b)|\bune?(?=\s(?:seconde|minute|heure|jour|semaine|mois|an)\b)|\buna?(?=\s(?:segundo"
    r"|minuto|hora|día|semana|mes|año)\b)|\buma?(?=\s(?:segundo|minuto|hora|dia|semana|mês|ano)\b)"
)
PERIODS = {
    word: unit
    for unit, words in {
        "hour": "hourly stündlich",
        "day": "daily täglich quotidien diario diariamente",
        "week": "weekly wöchentlich hebdomadaire semanal semanalmente",
        "month": "monthly monatlich mensuel mensual mensualmente mensal mensalmente",
        "year": "yearly annually jährlich annuel anual anualmente",
    }.items()
    for word in words.split()
}
_UNITS = "|".join(unit for unit, (kind, _) in UNIT_FACTORS.items() if kind == "time" and len(unit) > 2)
PERIOD = lazy_pattern(
    rf"\b(?:(?:an?|eine?n?|une?|una?|uma?)\s({_UNITS})|({'|'.join(PERIODS)}))(?=\W*$|[,;.]|\s(?:now|instead)\b)"
)
ONCE = lazy_pattern(r"\b(?:once|twice|times|per|einmal|zweimal|une fois|una vez|uma vez)\b")
HALF = lazy_pattern(r"半个?小时")
NUMBER_WORD = lazy_pattern(
    rf"\b({'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})\b(?=\s[^\W\d_]+|\W*$)"
)
# Before a number that counts what the one before it does: "7 days instead of the three".
INSTEAD = lazy_pattern(
    r"(?:\b(?:instead of|rather than|not|statt|nicht|au lieu de|pas|en vez de|no|em vez de|não)\s"
    r"(?:the |der |die |den |les |las |los |os )?|(?:而不是|不是)\s?)$"
)


@dataclass(frozen=True)
class Value:
    """A number with the kind of what it counts; times are in seconds."""

    kind: str
    number: float


def write_numbers(text: str) -> str:
    """Return a text with the words for one of a unit as digits; a period at its end, "monthly" or "a week",
    only where the text has no other number.
    """
    plain = HALF.sub(" 30 分钟", ONE.sub("1", text))
    if any(map(str.isdigit, plain)) or ONCE.search(plain):
        return plain
    return PERIOD.sub(lambda match: f"1 {PERIODS.get(match[2], match[1])}", plain)


def keep_noun(match: re.Match[str]) -> str:
    """Return the noun that a number counts, which belongs to the subject; "" for a unit."""
    noun = match.group(2) or ""
    return " " if noun in UNIT_FACTORS else f" {noun} "


def find_values(plain: str) -> Iterator[Value]:
    """Yield the numbers of a text, with the kinds of what they count."""
    for hour, minute in CLOCK.findall(plain):
        yield Value("clock", int(hour) + int(minute) / 60)
    words = NUMBER_WORD.sub(lambda match: str(NUMBER_WORDS[match.group(1)]), CLOCK.sub(" ", plain))
    before = COUNTED
    for match in NUMBER.finditer(words):
        number, unit = match.groups()
        is_bare = not unit or unit in FUNCTION_WORDS  # "every 10 seconds is too often, 60 is plenty"
        is_same = is_bare and (before[0] in MEASURES or INSTEAD.search(words[: match.start()]))
        kind, factor = before = before if is_same else UNIT_FACTORS.get(unit, COUNTED)
        yield Value(kind, read_number(number) * factor)


def read_number(digits: str) -> float:
    """Return the value of written digits; a version's are read as one long number."""
    whole, *rest = re.split(r"[.,]", digits)
    return float(f"{whole}.{''.join(rest)}" if rest else whole)


def differ(new: tuple[Value, ...], old: tuple[Value, ...]) -> bool:
    """Return whether the newer values have one of a kind of the older ones that those have not."""
    kinds = {value.kind for value in old}
    return any(value.kind in kinds for value in set(new) - set(old))
