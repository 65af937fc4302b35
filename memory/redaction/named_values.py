"""Values that stand behind the name of a secret: assignments, options, sentences, forms, the next line."""

import re
from collections.abc import Iterator

from memory.patterns import lazy_pattern
from memory.redaction import values
from memory.redaction.names import SHORT_WORDS, find_names, is_sure_name
from memory.redaction.spans import NAMED, Spans

MAX_LINE = 200  # characters of a line before a name
MAX_BARE = 400  # characters of a value without quotes that are judged
MAX_TABLE = 2000  # characters of a table behind its head
MAX_TRIES = 3  # words with digits behind a name of which one may be its value
QUOTE, NO_QUOTE = r"\\{0,3}[\"'`]", r"(?:\\{0,3}[\"'`]\]?|[*_]{1,2})?"
IN_QUOTES = r"\\{0,3}(?:\"(?P<d>[^\"\n]{4,})\"|'(?P<q>[^'\n]{4,})'|`(?P<b>[^`\s]{4,200})`)"
QUOTES = "\"'`“”„‟«»‹›「」『』《》〈〉【】〝〞‘’‚‛"
UNQUOTED = rf"[^\s,;&|)}}\]<>({{\[{QUOTES}]"
# What is longer is judged by its beginning, so that a text of names takes linear time.
BARE = rf"(?P<s>{UNQUOTED}{{4,{MAX_BARE}}}+)"
REST = lazy_pattern(f"{UNQUOTED}*")
# password = x, "password": "x", **Password:** x, password: str = "x"
ASSIGNED = lazy_pattern(
    rf"{NO_QUOTE}(?P<sep>\s{{0,20}}(?:=>|:=|\?=|={{1,3}}|:(?:[ ]?[A-Za-z_.]{{1,30}}[ ]?=)?"
    rf"|(?<=[a-z])\[\]=)[*_]{{0,2}}[ \t]{{0,20}}\*{{0,2}}+)"
    rf"(?:(?:\n[ \t]{{0,40}})?[bfruBFRU]{{0,2}}{IN_QUOTES}|{BARE})"
)
# {"name": "PASSWORD", "value": "x"}, <add key="password" value="x">
PAIRED = lazy_pattern(
    rf"(?:{QUOTE})?\s{{0,20}},?\s{{0,20}}(?:{QUOTE})?value(?:{QUOTE})?[ ]?[:=][ ]?(?:{IN_QUOTES}|{BARE})"
)
# <password>x</password>, define("PASSWORD", "x"), setPassword("x")
ENCLOSED = lazy_pattern(rf">(?P<x>[^<>\n]{{4,200}})</|(?:{QUOTE}\s?,|\()\s?{IN_QUOTES}\s?\)")
# Letters of a password in a sentence: those of ASCII without brackets, and those of languages with blanks.
LETTERS = r"!#-&*+\-./0-9:=?-Z^_a-z~\u00c0-\u024f\u0370-\u052f"
VERBS = (
    r"is|was|are|be|will be|has been|now|still|equals|ist|lautet|war|jetzt|nun|est|était|es|era|ahora"
    r"|è|é|ora|agora|luidt|brzmi|är|er|on|jest|je|to|это|теперь|adalah|ialah|là|olarak|है|هو|هي|היא|הוא|คือ|->|→|–|—|-"
    # changed to, in the order of the words of each language
    r"|(?:has been |wurde |a été |est |ha sido |foi |è stat[ao] |is |werd |został[oa] |был )?"
    r"(?:changed|set|reset|updated|geändert|gesetzt|zurückgesetzt|changé|modifié|défini|réinitialisé|cambiad[oa]"
    r"|modificad[oa]|alterad[oa]|mudad[oa]|redefinid[oa]|cambiat[oa]|modificat[oa]|impostat[oa]|gewijzigd|veranderd"
    r"|ingesteld|zmienion[eoy]|ustawion[eoy]|изменён|изменен|сброшен|установлен|змінено|ändrat|endret|ændret)"
    r" (?:to|auf|in|zu|à|en|par|a|por|para|naar|op|na|на|till|til|ke|menjadi)"
)
# "for the server", "(root)", "of the new site:"
OF = (
    r"(?:[ ](?:for|of|on|to|from|in|at|für|von|vom|zum|pour|du|de|del|para|per|da|do|di|voor|van|för|til"
    r"|für|для|от|к|на)"
    r"(?:[ ][^\s:=\"',;()]{1,24}){1,4}?|[ ]?\([^()\n]{1,40}\)|(?:[ ][^\W\d_]{1,20}){1,4}(?=[ ]?:))?"
)
WIDE_ADVERBS = "[已经經就现現在被刚剛都也先暂暫時时]"
WIDE_CHANGES = "[改换換设設变變更置重]{1,3}[为為成了到]{1,3}"
WIDE_VERBS = rf"{WIDE_ADVERBS}{{0,4}}(?:{WIDE_CHANGES}|是|为|為)|[はがを은는이가을를]"
# What tells without doubt that a value follows.
CLEAR = lazy_pattern(
    r"[:=\n是为為成はが은는]|(?<!\w)(?:is|was|ist|lautet|war|est|es|è|é|jest|är|là|luidt|brzmi|это)(?!\w)"
)
BREAK = r"(?:\r?\n|\\r\\n|\\n)"
# The end of a line, with the mark of a list, a quotation or a block of code.
GAP = (
    rf"[ \t]{{0,5}}(?:{BREAK}[ \t>]{{0,40}}(?:(?:`{{3,9}}|~{{3,9}})\w{{0,15}}{BREAK}[ \t]{{0,40}})?){{1,3}}"
    rf"(?:(?:[-*+]|\d{{1,2}}[.)])[ \t]{{1,5}}|[•・‣▪][ \t]{{0,5}})?[{QUOTES}]{{0,2}}[ \xa0\u202f]?"
)
ALONE = rf"(?=[ \xa0\u202f]?[{QUOTES}.。]{{0,2}}[ \t]{{0,5}}(?:{BREAK}|\Z))"
# The password for the server is x; 密码是x; | password | x |
SPOKEN = lazy_pattern(
    rf"{NO_QUOTE}{OF}"
    rf"(?:(?:[ ]{{1,3}}(?:{VERBS})){{1,3}}(?:[ ]{{1,3}}|:[ ]{{0,3}})|(?<=[^\x00-\x7f])[ ]{{1,3}}"
    rf"|[ ]?(?:{WIDE_VERBS}|→|->)[ :]?"
    rf"|[*_]{{0,2}}[ ]?[:=][*_]{{0,2}}[ ]{{0,3}}|[ ]{{0,20}}[|\t][ \t]{{0,20}}|[ ]{{0,3}}(?=[{QUOTES}]))"
    rf"[{QUOTES}*(]{{0,2}}[ \xa0\u202f]?(?P<v>[{LETTERS}]{{4,200}})"
)
# On the next line that is not empty, alone there.
NEXT_LINE = lazy_pattern(
    rf"[\"'`*_]{{0,3}}{OF}(?:[ ](?:{VERBS}))?[ ]{{0,5}}(?:{WIDE_VERBS})?[:=]?[*_]{{0,2}}{GAP}"
    rf"(?P<v>[{LETTERS}]{{4,200}}?){ALONE}"
)
LATER_LINE = lazy_pattern(rf"[^\n\\\d;。！？{{}}<>=|]{{0,80}}+{GAP}(?P<v>[{LETTERS}]{{8,200}}?){ALONE}")
TO_DIGIT = lazy_pattern(r"[^\n\d;。！？{}<>=|\[\]]{1,80}+\d")
WORD_SIGNS = "".join(map(chr, range(ord("!"), ord("~") + 1))).translate(
    dict.fromkeys(map(ord, "\"'`,;(){}[]<>|\\"))
)
MIXED_WORD = lazy_pattern(rf"[{LETTERS}]{{1,200}}(?![{LETTERS}])")
# x is the password; use "x" as password; x (the password); x是密码
LINKS = (
    "is|was|as|for|ist|war|als|für|est|était|comme|pour|es|era|como|para|è|come|per|é|foi|luidt|voor|to|jest|jako"
    "|är|som|för|er|on|это|как|для|adalah|sebagai|là|olarak"
)
BEFORE = lazy_pattern(
    rf"(?<![{LETTERS}])(?P<v>[{LETTERS}]{{6,80}})[{QUOTES}*]{{0,2}}"
    rf"(?:,?[ ](?:[^\W\d_]{{1,12}}[ ]){{0,2}}?(?P<link>{LINKS})[ ](?:[^\W\d_]{{1,12}}['’ ]){{0,3}}"
    rf"|,?[ ]\((?:[^\W\d_]{{1,12}}[ ]){{0,3}}|[ ]?(?:{WIDE_VERBS})[^\W\d_a-zA-Z]{{0,6}})$"
)
ANY_WORDED = 1.1  # however much of a value could be words
MAX_BEFORE = 140  # characters before a name in which its value may stand
# The name is the last word of what it says, so that "x is the password policy" has none.
ENDS = lazy_pattern(
    rf"[{QUOTES}*]{{0,2}}\s{{0,3}}(?:\Z|\n|[.,;:!?)]{{1,3}}(?=[\s{QUOTES}]|\Z)|[。、，！；）]|です|だ|でした"
    r"|(?:for|of|on|to|from|in|at|and|für|von|vom|zum|und|pour|du|et|de|del|para|y|per|di|e|da|do|voor|van|för|till"
    r"|для|от|и)\s)"
)
KEY = lazy_pattern("key|secret")  # names of what is drawn, not chosen
# The rest of a table's head, and the line below it.
TABLE_HEAD = lazy_pattern(r"[*_`]{0,3}[ \t]{0,20}(?:\|[^\n]{0,300})?\n[ \t]{0,5}[|:-][-:| \t]{2,300}\n")
OPTION = lazy_pattern(
    rf"(?:[ \t]{{1,3}}|=)(?:{IN_QUOTES}|(?P<s>[^\s\"'`$<>\[{{(|;&-][^\s\"'`<>|;&]{{3,200}}))"
)
SET_BEFORE = lazy_pattern(r"(?:^|\s)(?:ENV|ARG|setenv|setx|set -[gUx]{1,3})\s{1,5}\w{0,100}$")

TRAILING = ".,;:!?)]}>»”’」』›«\"'`*|"
BEHIND = TRAILING.replace("!", "")  # a password sooner ends with it than a sentence that shows one
# A text without any of these, and without long words, has no value that could be a secret: most prose is done
# with here. A digit counts in a word of four characters, a colon or a sign where a word goes on behind it.
IN_WORD = r"[!-~\u00c0-\u024f\u0370-\u052f]"
WITNESS = lazy_pattern(
    rf"[!-'*+0-:=?@^`~](?:(?<=[=\"`])|(?<=[:!@#$%^&*+?~])(?={IN_WORD})|(?<![A-Za-z]')(?<=')"
    rf"|(?<=\d)(?:(?={IN_WORD}{{3}})|(?<={IN_WORD}{{2}})(?={IN_WORD}{{2}})|(?<={IN_WORD}{{3}})(?={IN_WORD})"
    rf"|(?<={IN_WORD}{{4}})))"
)
# What stands behind a name that has a value: all patterns begin so.
FOLLOWING = lazy_pattern(rf"[\s\\\"'`*_=:?\[>(,|]|[^\x00-\x7f]{{1,16}}+(?:[{LETTERS}]|[\"'`(]|\s)")
Place = tuple[int, int]


def has_value(text: str) -> bool:
    """Return whether a text has anything that a value of a name could be."""
    return WITNESS.search(text) is not None


def find_named(text: str, folded: str, letters: str, spans: Spans) -> None:
    """Add the values that stand behind names of secrets."""
    end = 0
    for name in find_names(folded, letters):
        if name.start() < end or not starts_name(text, name):
            continue
        place = find_value(text, name) if FOLLOWING.match(text, name.end()) else None
        if place := place or find_before(text, name):
            spans.add(*place, NAMED)
            end = place[1]
        elif (head := TABLE_HEAD.match(text, name.end())) and is_sure(text, name):
            for place in find_in_column(text, name.start(), head.end()):
                spans.add(*place, NAMED)


def find_in_column(text: str, name_start: int, start: int) -> Iterator[Place]:
    """Yield the places of secrets in the column of a Markdown table that has the name in its head."""
    column = text[max(0, name_start - MAX_LINE) : name_start].rpartition("\n")[2].count("|")
    for row in text[start : start + MAX_TABLE].split("\n"):
        cells = row.split("|")
        if len(cells) < max(2, column + 1):
            return
        value = cells[column].strip(" \t`*_")
        if values.is_literal(value) and values.looks_secret(value):
            place = start + len("|".join([*cells[:column], ""])) + cells[column].index(value)
            yield place, place + len(value)
        start += len(row) + 1


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
    if text[end : end + 1] > "~":  # a sentence
        return find_spoken(text, name, sure=sure)
    if found := ASSIGNED.match(text, end):
        if is_assigned(text, name, found, sure=sure):
            return place_value(found)
    elif found := find_option(text, name):
        return place_value(found) if is_argument(found, sure=sure) else None
    elif found := PAIRED.match(text, end):
        return (
            place_value(found)
            if sure and values.is_literal(found["d"] or found["q"] or found["b"] or found["s"])
            else None
        )
    elif found := ENCLOSED.match(text, end):
        return place_value(found) if sure and is_enclosed_secret(found, name["name"]) else None
    return find_spoken(text, name, sure=sure)


def is_enclosed_secret(match: re.Match[str], name: str) -> bool:
    value = match[match.lastgroup or 0]
    is_call = match[0].startswith("(")  # of a function such as first_pass("a1")
    return not (name == "pass" and is_call) and values.has_mixture(value) and values.is_literal(value)


def place_value(match: re.Match[str]) -> Place:
    """Return where a value is, without the backslash that escapes its quote."""
    group = match.lastgroup or "s"
    value = match[group]
    if group == "s" and len(value) == MAX_BARE and (rest := REST.match(match.string, match.end())):
        return match.start(group), rest.end()
    return match.start(group), match.start(group) + len(value.rstrip("\\"))


def find_option(text: str, name: re.Match[str]) -> re.Match[str] | None:
    """Return what follows --password, or the name of a variable that a command sets."""
    if not (found := OPTION.match(text, name.end())):
        return None
    before = text[max(0, name.start() - MAX_LINE) : name.start()]
    return found if before.endswith(("-", "/")) or SET_BEFORE.search(before) else None


def is_assigned(text: str, name: re.Match[str], match: re.Match[str], *, sure: bool) -> bool:
    """Return whether what stands behind = or : is a secret."""
    value = match[match.lastgroup or "s"].rstrip("\\")
    if match.lastgroup == "s" and is_expression(text, name, match):
        return False
    return (
        values.is_literal(value)
        if sure
        else values.is_literal(value) and values.looks_drawn(value, name["name"])
    )


def is_expression(text: str, name: re.Match[str], match: re.Match[str]) -> bool:
    """Return whether an unquoted value after a name is an expression or a word of prose."""
    value, spaced, after = (
        match["s"],
        any(map(str.isspace, match["sep"])),
        text[match.end() : match.end() + 1],
    )
    if values.CODE.fullmatch(value) or after in ("(", "[", "{"):
        return True
    if values.WIDE.search(value) and ":" in match["sep"]:  # a sentence, as such a language has no blanks
        return True
    if not values.WORD.fullmatch(value.rstrip("*")) or values.is_unreadable(value):
        return False
    argument = after in (",", ")") or text[max(0, name.start() - 1)] in "(,"
    return spaced or (argument and text[name.start()].islower())


def is_argument(match: re.Match[str], *, sure: bool) -> bool:
    """Return whether what follows an option such as --password is a secret."""
    value, quoted = match[match.lastgroup or "s"].rstrip("\\"), match.lastgroup != "s"
    if " " in value or not values.is_literal(value) or (not quoted and values.CODE.fullmatch(value)):
        return False
    return values.looks_drawn(value) or (sure and (quoted or values.has_mixture(value)))


def find_spoken(text: str, name: re.Match[str], *, sure: bool) -> Place | None:
    """Return the place of a value in a sentence, a table, or on the next line: it must look like a secret."""
    for pattern in (SPOKEN, NEXT_LINE):
        if (match := pattern.match(text, name.end())) and is_announced(match, name["name"], sure=sure):
            return match.start("v"), match.start("v") + len(match["v"].rstrip(BEHIND))
    return find_mixed(text, name.end()) if sure and text[name.end() : name.end() + 1] != "_" else None


def is_announced(match: re.Match[str], name: str, *, sure: bool) -> bool:
    """Return whether what a sentence, a table or a line shows behind a name is a secret."""
    value, text = match["v"].rstrip(TRAILING), match.string
    if not values.is_literal(value) or text[match.end() : match.end() + 1] in tuple("(["):
        return False
    if value.isdecimal():
        return values.is_number(value, name, sure=sure)
    if not sure:
        return values.looks_drawn(value, name)
    if values.looks_secret(value, quoted=text[match.start("v") - 1] in QUOTES[3:]):
        return True
    is_clear = not KEY.search(name) and CLEAR.search(text, match.start(), match.start("v"))
    return bool(is_clear and values.NUMBERED.fullmatch(value))


def find_before(text: str, name: re.Match[str]) -> Place | None:
    """Return the place of a value that stands before its name in a sentence."""
    if not ENDS.match(text, name.end()) or not is_sure(text, name):
        return None
    start = max(0, name.start() - MAX_BEFORE)
    before = text[start : name.start()].rpartition("\n")[2]
    if not values.DIGIT.search(before) or not (found := BEFORE.search(before)):
        return None
    value = found["v"].strip(TRAILING)
    place = name.start() - len(before) + found.start("v") + found["v"].index(value)
    is_quoted = text[place - 1 : place] in tuple(QUOTES)
    if not values.looks_mixed(value, ANY_WORDED) and not (
        is_quoted and values.looks_secret(value, quoted=True)
    ):
        return None
    return (place, place + len(value)) if values.is_literal(value) else None


def find_mixed(text: str, start: int) -> Place | None:
    """Return the place of a word that looks mixed, in the rest of the sentence or alone on the next line."""
    if found := LATER_LINE.match(text, start):
        place = found.span("v")
        return place if values.looks_mixed(found["v"]) else None
    for _ in range(MAX_TRIES):
        if not (found := TO_DIGIT.match(text, start)):
            return None
        before = found[0].rstrip(WORD_SIGNS)
        word = MIXED_WORD.match(text, start + len(before))
        if not word or not before:
            return None
        value = word[0].rstrip(TRAILING)
        if values.looks_mixed(value):
            return word.start(), word.start() + len(word[0].rstrip(BEHIND))
        start = word.end()
    return None
