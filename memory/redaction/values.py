"""What makes a text behind the name of a secret a secret: no placeholder, no code, no word of a sentence."""

import re
from itertools import groupby, pairwise

from memory.patterns import lazy_pattern
from memory.redaction.names import NAME
from memory.redaction.random_tokens import measure_words

MIN_SPOKEN, MIN_DRAWN = 6, 8  # characters of a secret in a sentence, and of one that nothing announces
MIN_LETTERS, MIN_ODD_PAIRS = 16, 3  # of a secret of letters alone
MIN_CHANGES = 3  # between small and capital letters, digits and signs
MAX_DIGITS = 16  # of a secret that is a number
MAX_WORDED = 0.7  # the share of words in a secret after a common word
MAX_MIXED_WORDED = 0.6  # and in one that nothing announces

# Values after such a name, in code and prose, that are not secrets.
NO_VALUE = lazy_pattern(
    r"(?i)(?:.*(?:…|\.\.\.)|\d{4}_[a-z]\w*|\?.*|true|false|null|none|nil|undefined|(?:string|str|int|bool|text)\??"
    r"|optional\b.*|required|changeme|change[-_ ]?me|tbd"
    r"|[-x*.•●…_#?+=~]{3,}|\$.*|%.*|\{.*|<.*|#\{.*|process\.env.*|os\.(?:environ|getenv).*|env[.(\[].*"
    r"|self\..*|this\..*"
    r"|settings\..*|config\..*|args?\..*|request\..*|get\w*\(.*|input\(.*|\[redacted.*|\(?(?:redacted"
    r"|hidden|masked|omitted|removed)\)?"
    r"|example|your[-_ ].*|my[-_ ]?\w+|(?:\.{0,2}|~)/[\w./-]*|[a-z]{2,12}:/.*|arn:.*|(?:env|vault|file"
    r"|ref|secretref|ssm|sm|op):.*"
    r"|[:@!&][\w.]*|:\w+:.*|enter[-_ ].*|insert[-_ ].*|placeholder.*|dummy.*|\[.*\]?)"
)
CODE = lazy_pattern(
    r"[A-Za-z_](?:\w*(?:[.(\[]|->|::).*|[^\W_]*_\w*)"
)  # unquoted: an attribute, call or variable
WORD = lazy_pattern(r"[^\W\d]+(?:[-/.'’][^\W\d]+)*[.!?:]?")
# Words of sentences and of labels: a text in quotes that has one is a message, not a secret.
SENTENCE = lazy_pattern(
    r"(?i)(?:^|\s)(?:the|a|an|your|is|are|was|to|for|of|and|or|not|must|please|enter|with|new|no|in|on"
    r"|this|der|die|das|ihr|le|la|les|el|su)\s"
)
# Where to find a password, whom to ask for it, and what it has to be like: no password either.
HINT = lazy_pattern(
    r"(?i)(?<!\w)(?:(?:see|ask|siehe|voir|ver|véase|vedi|zie|vraag|zobacz|patrz|см|viz|bkz|min|mín|max|máx|como"
    r"|comme|wie|als|jak|как|au moins|al menos|pelo menos|ao menos|co najmniej|od|от|fra|från)(?!\w)"
    r"|(?:contact|consult|frag|steht|liegt|demand|pregunt|pergunt|chied|zapyta|спрос|обратит|запрос"
    r"|m[ií]nim|m[aá]xim|mindest|minst|almeno|tối thiểu|не менее|не короче"
    r"|charact|zeichen|carat?[ct]|teken|tecken|karakter|znak|знак|символ|letter|buchstab|digit|ziffer|chiffre"
    r"|cifr|цифр|required|obligat|erforderlich|verplicht|wymagan|обязател|richiest|requerid"
    r"|expir|abgelaufen|scadut|verlopen|wygas|истек))"
)
WIDE = lazy_pattern("[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
WIDE_HINT = lazy_pattern(
    "[请請您你見见看问問找查位个個須须]|联系|聯絡|聯繫|至少|以上|以内|以內|必填|字符|字元|字母|数字|數字|管理|保险|保險"
    "|[ぁ-ん]|参照|文字|必須|참조|문의|이상|이하|필수|하세요|최소|관리|숫자|금고|[0-9]자"
)
# What has letters and digits, but is a name of something.
NO_SECRET = lazy_pattern(
    r"(?i)(?:\d{1,4}[-_. ]?[a-z]{1,14}|v?\d+(?:[.:/,_-]\d+)+\w*|(?:sha|md|base|utf|aes|argon|pbkdf|oauth"
    r"|[rhep]s|x|ed|rsa|http|ipv|oidc|saml|uuid)[-_]?\d.*"
    r"|[a-z]+[-_]?\d{1,2}|\w+(?:[-/]\w+)*\.[a-z]{2,4}|[A-Z]{2,9}[-/](?:[A-Z]{1,6})?\d+|#\d+"
    r"|[^@\s]+@[^@\s]+\.[a-z]{2,}|0x[0-9a-f]{1,8}|[a-z_]\w*\(.*|.*[({\[<>\\].*)"
)
NUMBERED = lazy_pattern(r"[a-z]{3,}[0-9]{1,2}")  # a secret only where one is announced: hunter2
NO_DRAWN = lazy_pattern(r"[0-9a-fA-F:-]+|\d{4}-\d\d-\d\d.*|.*[/\\].*|\W.*")  # numbers, ids, times, paths
LETTER, DIGIT, SIGN = lazy_pattern(r"[^\W\d_]"), lazy_pattern(r"\d"), lazy_pattern(r"[!@#$%^&*+=?~](?=.)")
# Pairs of letters that words of the languages in Latin letters hardly have.
ODD_PAIR = lazy_pattern(
    "(?=a[q]|b[cdfghkpqvwxz]|c[bdfgmpqvwx]|d[bchpqwx]|f[bcdghjkmnpqsvwxyz]|g[bcfkpqvwxz]|"
    "h[bcfghpqvwxz]|i[w]|j[bcfghjmpqrvwxyz]|k[bdfgpqxz]|l[qrwxz]|m[cfghkqrvwxz]|n[pqwx]|o[qx]|"
    "p[bdfjkmqvwxz]|q[abcdefghijklmnopqrstvwxyz]|r[qx]|s[x]|t[dqx]|u[q]|v[bcdfghjmpqtvwxz]|"
    "w[bcdfgjklmpqtuvwxz]|x[abdfghjklmnoqrsuvwxyz]|y[qx]|z[fhjqrx])"
)
IDENTIFIER, MAX_IDENTIFIER = lazy_pattern(r"[^\W\d][^\W\d.\-]*(?:[.-][^\W\d]+)*\d{0,2}"), 60
YEAR = lazy_pattern(r"(?:19|20)\d\d")
NUMBER_NAME = lazy_pattern(r"(?:^|[_. -])(?:code|pin)")  # names of numbers


def is_literal(value: str) -> bool:
    """Return whether a value is no placeholder, no reference, no name of a secret and no message."""
    return not (NO_VALUE.fullmatch(value) or is_name(value) or is_message(value))


def is_name(value: str) -> bool:
    """Return whether a value is itself the name of a secret, such as password or new_password."""
    if len(value) > MAX_IDENTIFIER or not IDENTIFIER.fullmatch(value):
        return False
    return any(found.start() == 0 or found.end() == len(value) for found in NAME.finditer(value.lower()))


def is_message(value: str) -> bool:
    """Return whether a text is a sentence, a label, or tells where a secret is or how it has to be."""
    words = value.split()
    if WIDE.search(value):
        return bool(WIDE_HINT.search(value)) and not any(map(looks_secret, re.findall("[!-~]+", value)))
    if any(map(looks_mixed, words)):
        return False
    if any(map(looks_secret, words)) or not (len(words) > 1 or value.isalpha()):
        return len(words) > 1 and bool(SENTENCE.search(value))
    if HINT.match(value) or (len(words) > 1 and (SENTENCE.search(value) or HINT.search(value))):
        return True
    return len(words) > 1 and value[0].isupper() and all(map(WORD.fullmatch, words))


def is_number(value: str, name: str, *, sure: bool) -> bool:
    """Return whether a number is a secret, such as a PIN."""
    is_short = value.isdecimal() and 4 <= len(value) <= MAX_DIGITS
    if not is_short or NUMBER_NAME.search(name):
        return is_short
    return sure and "key" not in name and not YEAR.fullmatch(value)


def has_mixture(value: str) -> bool:
    """Return whether a word has letters, and digits or signs."""
    return bool(" " not in value and LETTER.search(value) and (DIGIT.search(value) or SIGN.search(value)))


def looks_secret(value: str, *, quoted: bool = False) -> bool:
    """Return whether a word of a sentence has letters and digits or signs, as no word of a language has."""
    if len(value) < MIN_SPOKEN or NO_SECRET.fullmatch(value) or (not quoted and CODE.fullmatch(value)):
        return False
    return has_mixture(value) or is_unreadable(value)


def is_unreadable(value: str) -> bool:
    """Return whether letters are in an order that no words have: ``qkzvhwmxtrbnplcj``."""
    if len(value) < MIN_LETTERS or not (value.isascii() and value.isalpha()):
        return False
    return len(ODD_PAIR.findall(value.lower())) >= MIN_ODD_PAIRS


def looks_drawn(value: str, name: str = "") -> bool:
    """Return whether a value after a common word, such as token, is one that nobody would write otherwise."""
    if NUMBER_NAME.search(name) and value.isdecimal():
        return 4 <= len(value) <= MAX_DIGITS
    if is_unreadable(value):
        return True
    letters, digits = len(LETTER.findall(value)), len(DIGIT.findall(value))
    if len(value) < MIN_DRAWN or digits < 2 or letters < 2 or " " in value or NO_SECRET.fullmatch(value):
        return False
    return not CODE.fullmatch(value) and is_wordless(value)


def is_wordless(value: str, limit: float = MAX_WORDED) -> bool:
    """Return whether little of a value could be words."""
    return measure_words(value) < limit or len(ODD_PAIR.findall(value.lower())) >= MIN_ODD_PAIRS - 1


def looks_mixed(value: str, max_worded: float = MAX_MIXED_WORDED) -> bool:
    """Return whether letters, digits and signs change so often that nothing has to announce a secret."""
    if len(value) < MIN_DRAWN or NO_DRAWN.fullmatch(value) or not looks_secret(value):
        return False
    return count_changes(value) >= MIN_CHANGES and is_wordless(value, max_worded)


def count_changes(value: str) -> int:
    """Count where small letters, capitals, digits and signs follow each other, other than Aa."""
    kinds = filter(None, map(sort_sign, value))
    return sum(pair != ("A", "a") for pair in pairwise(kind for kind, _ in groupby(kinds)))


def sort_sign(sign: str) -> str:
    """Return the kind of a sign, or "" for those that join words."""
    if sign.isalpha():
        return "A" if sign.isupper() else "a"
    return "0" if sign.isdigit() else "" if sign in "-_./:" else "!"
