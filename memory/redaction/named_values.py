"""Values that stand behind the name of a secret: assignments, options, sentences, forms, the next line."""

import re

from memory.redaction.names import NAME, SHORT_WORDS, find_names, is_sure_name
from memory.redaction.random_tokens import measure_words
from memory.redaction.spans import NAMED, Spans

MAX_LINE = 200  # characters of a line before a name
MIN_SPOKEN, MIN_DRAWN = 6, 8  # characters of a secret in a sentence, and of one after a common word
MAX_DIGITS = 16  # of a secret that is a number
MAX_WORDED = 0.7  # the share of words in a secret after a common word
QUOTE, NO_QUOTE = r"\\{0,3}[\"'`]", r"(?:\\{0,3}[\"'`]\]?|[*_]{1,2})?"
IN_QUOTES = r"\\{0,3}(?:\"(?P<d>[^\"\n]{4,})\"|'(?P<q>[^'\n]{4,})'|`(?P<b>[^`\s]{4,200})`)"
BARE = r"(?P<s>[^\s\"'`,;&|)}\]<>({\[]{4,})"
# password = x, "password": "x", **Password:** x, password: str = "x"
ASSIGNED = re.compile(
    rf"{NO_QUOTE}(?P<sep>\s{{0,20}}(?:=>|:=|\?=|={{1,3}}|:(?:[ ]?[A-Za-z_.]{{1,30}}[ ]?=)?"
    rf"|(?<=[a-z])\[\]=)[*_]{{0,2}}[ \t]{{0,20}})"
    rf"(?:(?:\n[ \t]{{0,40}})?[bfruBFRU]{{0,2}}{IN_QUOTES}|{BARE})"
)
# {"name": "PASSWORD", "value": "x"}, <add key="password" value="x">
PAIRED = re.compile(
    rf"(?:{QUOTE})?\s{{0,20}},?\s{{0,20}}(?:{QUOTE})?value(?:{QUOTE})?[ ]?[:=][ ]?(?:{IN_QUOTES}|{BARE})"
)
# <password>x</password>, define("PASSWORD", "x"), setPassword("x")
ENCLOSED = re.compile(rf">(?P<x>[^<>\n]{{4,200}})</|(?:{QUOTE}\s?,|\()\s?{IN_QUOTES}\s?\)")
VERBS = (
    r"is|was|are|be|will be|has been|now|still|set to|changed to|reset to|equals|ist|lautet|war|jetzt|est"
    r"|était|es|era|ahora|è|é|ora|agora"
    r"|är|er|on|jest|je|to|это|теперь|adalah|ialah|là|है|هو|هي|היא|הוא|คือ|->|→|–|—|-"
)
OF = r"for|of|on|to|from|in|at|für|von|vom|zum|pour|du|de|del|para|per|da|do|di|voor|för|til|для|от"
# The password for the server is x; 密码是x; | password | x |
SPOKEN = re.compile(
    rf"{NO_QUOTE}(?:[ ](?:{OF})(?:[ ][^\s:=\"',;()]{{1,24}}){{1,4}}?|[ ]?\([^()\n]{{1,40}}\))?"
    rf"(?:(?:[ ]{{1,3}}(?:{VERBS})){{1,3}}(?:[ ]{{1,3}}|:[ ]{{0,3}})|(?<=[^\x00-\x7f])[ ]{{1,3}}|[ ]?(?:は"
    rf"|が|是|为|為|就是|改为|改成|设为|設為|은|는|이|가)[ :]?"
    r"|[*_]{0,2}[ ]?[:=][*_]{0,2}[ ]{0,3}|[ ]{0,20}[|\t][ \t]{0,20}|[ ]{1,3}(?=[\"'`]))"
    r"[\"'`“”„«»「『‘’*(]{0,2}(?P<v>[!#-&*+\-./0-9:=?-Z^_a-z~]{4,200})"
)
# On the next line that is not empty, alone there.
NEXT_LINE = re.compile(
    r"[\"'`*_]{0,3}[ \t]{0,5}[:=]?[*_]{0,2}[ \t]{0,5}(?:(?:\r?\n|\\r\\n"
    r"|\\n)[ \t>]{0,40}){1,3}[`\"']?(?P<v>[!#-&*+\-./0-9:=?-Z^_a-z~]{4,200}?)[`\"']?[ \t]{0,5}"
    r"(?=\r?\n|\\r\\n|\\n|\Z)"
)
OPTION = re.compile(rf"(?:[ \t]{{1,3}}|=)(?:{IN_QUOTES}|(?P<s>[^\s\"'`$<>\[{{(|;&-][^\s\"'`<>|;&]{{3,200}}))")
SET_BEFORE = re.compile(r"(?:^|\s)(?:ENV|ARG|setenv|setx|set -[gUx]{1,3})\s{1,5}\w{0,100}$")

# Values after such a name, in code and prose, that are not secrets.
NO_VALUE = re.compile(
    r"(?i)(?:.*(?:…|\.\.\.)|\d{4}_[a-z]\w*|\?.*|true|false|null|none|nil|undefined|string|str|int|bool"
    r"|text|optional\b.*|required|changeme|change[-_ ]?me|tbd"
    r"|[-x*.•●…_#?+=~]{3,}|\$.*|%.*|\{.*|<.*|#\{.*|process\.env.*|os\.(?:environ|getenv).*|env[.(\[].*"
    r"|self\..*|this\..*"
    r"|settings\..*|config\..*|args?\..*|request\..*|get\w*\(.*|input\(.*|\[redacted.*|\(?(?:redacted"
    r"|hidden|masked|omitted|removed)\)?"
    r"|example|your[-_ ].*|my[-_ ]?\w+|(?:\.{0,2}|~)/[\w./-]*|[a-z]{2,12}:/.*|arn:.*|(?:env|vault|file"
    r"|ref|secretref|ssm|sm|op):.*"
    r"|[:@!&][\w.]*|:\w+:.*|enter[-_ ].*|insert[-_ ].*|placeholder.*|dummy.*|\[.*\]?)"
)
CODE = re.compile(
    r"[A-Za-z_](?:\w*(?:[.(\[]|->|::).*|[^\W_]*_\w*)"
)  # unquoted: an attribute, call or variable
WORD = re.compile(r"[^\W\d]+(?:[-/.'’][^\W\d]+)*[.!?:]?")
# Words of sentences and of labels: a text in quotes that has one is a message, not a secret.
SENTENCE = re.compile(
    r"(?i)(?:^|\s)(?:the|a|an|your|is|are|was|to|for|of|and|or|not|must|please|enter|with|new|no|in|on"
    r"|this|der|die|das|ihr|le|la|les|el|su)\s"
)
# What has letters and digits, but is a name of something.
NO_SECRET = re.compile(
    r"(?i)(?:\d{1,4}[-_. ]?[a-z]{1,14}|v?\d+(?:[.:/,_-]\d+)+\w*|(?:sha|md|base|utf|aes|argon|pbkdf|oauth"
    r"|[rhep]s|x|ed|rsa|http|ipv|oidc|saml|uuid)[-_]?\d.*"
    r"|[a-z]+[-_]?\d{1,2}|\w+(?:[-/]\w+)*\.[a-z]{2,4}|[A-Z]{2,9}[-/](?:[A-Z]{1,6})?\d+|#\d+"
    r"|[^@\s]+@[^@\s]+\.[a-z]{2,}|0x[0-9a-f]{1,8}|[a-z_]\w*\(.*|.*[({\[<>\\].*)"
)
LETTER, DIGIT, SIGN = re.compile(r"[A-Za-z]"), re.compile(r"\d"), re.compile(r"[!@#$%^&*+=?~](?=.)")
TRAILING = ".,;:!?)]}>»”’\"'`*|"
IDENTIFIER, MAX_IDENTIFIER = re.compile(r"[^\W\d][^\W\d.\-]*(?:[.-][^\W\d]+)*\d{0,2}"), 60
NUMBER_NAME = re.compile(r"(?:^|[_. -])(?:code|pin)")  # names of numbers
# A text without any of these has no value that could be a secret: most prose is done with here.
WITNESS = re.compile(r"[\d=:'\"`!@#$%^&*+?~]")
# What stands behind a name that has a value: all patterns begin so.
FOLLOWING = re.compile(r"[\s\\\"'`*_=:?\[>(,|はが是为為就改设設은는이가]")
Place = tuple[int, int]


def find_named(text: str, folded: str, spans: Spans) -> None:
    """Add the values that stand behind names of secrets."""
    for name in find_names(folded) if WITNESS.search(text) else ():
        if not FOLLOWING.match(text, name.end()):
            continue
        if starts_name(text, name) and (place := find_value(text, name)):
            spans.add(*place, NAMED)


def starts_name(text: str, name: re.Match[str]) -> bool:
    """Return whether a name is a word, or the last part of one such as DB_PASS or dbPass."""
    if name["name"] not in SHORT_WORDS and is_sure_name(name["name"]):
        return True
    start = name.start()
    before = text[start - 1 : start]
    return not before.isalnum() or (before.islower() and text[start].isupper())


def is_sure(text: str, name: re.Match[str]) -> bool:
    """Return whether what follows is a secret unless it looks like code or prose: DB_PASS, but not a pass."""
    if is_sure_name(name["name"]):
        return True
    before = text[max(0, name.start() - 1) : name.start()]
    return name["name"] == "pass" and (before == "_" or before.islower())


def find_value(text: str, name: re.Match[str]) -> Place | None:
    """Return where the secret behind a name is."""
    sure, end = is_sure(text, name), name.end()
    if found := ASSIGNED.match(text, end):
        if is_assigned(text, name, found, sure=sure):
            return place_value(found)
    elif found := find_option(text, name):
        return place_value(found) if is_argument(found, sure=sure) else None
    elif found := PAIRED.match(text, end):
        return (
            place_value(found)
            if sure and is_literal(found["d"] or found["q"] or found["b"] or found["s"])
            else None
        )
    elif found := ENCLOSED.match(text, end):
        return place_value(found) if sure and is_enclosed_secret(found, name["name"]) else None
    return find_spoken(text, name, sure=sure)


def is_enclosed_secret(match: re.Match[str], name: str) -> bool:
    value = match[match.lastgroup or 0]
    is_call = match[0].startswith("(")  # of a function such as first_pass("a1")
    return not (name == "pass" and is_call) and has_mixture(value) and is_literal(value)


def place_value(match: re.Match[str]) -> Place:
    """Return where a value is, without the backslash that escapes its quote."""
    group = match.lastgroup or "s"
    return match.start(group), match.start(group) + len(match[group].rstrip("\\"))


def find_option(text: str, name: re.Match[str]) -> re.Match[str] | None:
    """Return what follows --password, or the name of a variable that a command sets."""
    start = name.start()
    before = text[max(0, start - MAX_LINE) : start]
    return (
        OPTION.match(text, name.end()) if before.endswith(("-", "/")) or SET_BEFORE.search(before) else None
    )


def is_assigned(text: str, name: re.Match[str], match: re.Match[str], *, sure: bool) -> bool:
    """Return whether what stands behind = or : is a secret."""
    value = match[match.lastgroup or "s"].rstrip("\\")
    if match.lastgroup == "s" and is_expression(text, name, match):
        return False
    return is_literal(value) if sure else is_literal(value) and looks_drawn(value, name["name"])


def is_literal(value: str) -> bool:
    """Return whether a value is no placeholder, no reference, no name of a secret and no message."""
    return not (NO_VALUE.fullmatch(value) or is_name(value) or is_message(value))


def is_name(value: str) -> bool:
    """Return whether a value is itself the name of a secret, such as password or new_password."""
    if len(value) > MAX_IDENTIFIER or not IDENTIFIER.fullmatch(value):
        return False
    return any(found.start() == 0 or found.end() == len(value) for found in NAME.finditer(value.lower()))


def is_message(value: str) -> bool:
    """Return whether a text in quotes is a sentence or a label."""
    words = value.split()
    if len(words) < 2:
        return False
    return bool(SENTENCE.search(value)) or (value[0].isupper() and all(map(WORD.fullmatch, words)))


def is_expression(text: str, name: re.Match[str], match: re.Match[str]) -> bool:
    """Return whether an unquoted value after a name is an expression or a word of prose."""
    value, spaced, after = (
        match["s"],
        match["sep"].strip() != match["sep"],
        text[match.end() : match.end() + 1],
    )
    if CODE.fullmatch(value) or after in ("(", "[", "{"):
        return True
    if not WORD.fullmatch(value):
        return False
    argument = after in (",", ")") or text[max(0, name.start() - 1)] in "(,"
    return spaced or (argument and text[name.start()].islower())


def is_argument(match: re.Match[str], *, sure: bool) -> bool:
    """Return whether what follows an option such as --password is a secret."""
    value, quoted = match[match.lastgroup or "s"].rstrip("\\"), match.lastgroup != "s"
    if " " in value or not is_literal(value) or (not quoted and CODE.fullmatch(value)):
        return False
    return looks_drawn(value) or (sure and (quoted or has_mixture(value)))


def find_spoken(text: str, name: re.Match[str], *, sure: bool) -> Place | None:
    """Return the place of a value in a sentence, a table, or on the next line: it must look like a secret."""
    for pattern in (SPOKEN, NEXT_LINE):
        if match := pattern.match(text, name.end()):
            value = match["v"].rstrip(TRAILING)
            if is_literal(value) and is_spoken_secret(value, name["name"], sure=sure):
                return match.start("v"), match.start("v") + len(value)
    return None


def is_spoken_secret(value: str, name: str, *, sure: bool) -> bool:
    if value.isdecimal():
        return 4 <= len(value) <= MAX_DIGITS and (
            bool(NUMBER_NAME.search(name)) or (sure and "key" not in name)
        )
    return looks_secret(value) if sure else looks_drawn(value, name)


def has_mixture(value: str) -> bool:
    """Return whether a word has letters, and digits or signs."""
    return bool(" " not in value and LETTER.search(value) and (DIGIT.search(value) or SIGN.search(value)))


def looks_secret(value: str) -> bool:
    """Return whether a word of a sentence has letters and digits or signs, as no word of a language has."""
    if len(value) < MIN_SPOKEN or NO_SECRET.fullmatch(value) or CODE.fullmatch(value):
        return False
    return has_mixture(value)


def looks_drawn(value: str, name: str = "") -> bool:
    """Return whether a value after a common word, such as token, is one that nobody would write otherwise."""
    if NUMBER_NAME.search(name) and value.isdecimal():
        return 4 <= len(value) <= MAX_DIGITS
    letters, digits = len(LETTER.findall(value)), len(DIGIT.findall(value))
    if len(value) < MIN_DRAWN or digits < 2 or letters < 2 or " " in value or NO_SECRET.fullmatch(value):
        return False
    return not CODE.fullmatch(value) and measure_words(value) < MAX_WORDED
