"""The sentences of a message's prose: what its author typed. Pure functions, no database.

People paste into prompts what programs print, code, and documents of many pages. None of it is their word.
"""

import re
from collections.abc import Iterator

from memory.patterns import lazy_pattern
from memory.texts import NO_ABBREVIATION, count_dense

MIN_SENTENCE_LENGTH, MAX_SENTENCE_LENGTH = 10, 400  # characters of a sentence
MIN_PART_LENGTH = 2  # of a sentence of a prompt: an answer may be one word
MIN_COUNTED = 2  # items of a list within a line
MAX_TYPED_LINES, MAX_TYPED_LENGTH = 24, 2500  # of a prompt; what is longer has something pasted in it
MAX_EDGE_LINES, MAX_EDGE_LENGTH = 4, 600  # of what a person writes before and behind it

CODE_BLOCK = lazy_pattern(r"^[^\S\n]*(```|~~~).*?(?:^[^\S\n]*\1|\Z)", re.S | re.M)
QUOTE = lazy_pattern(r"^[^\S\n]*(?:>|//|/\*|<!--).*$", re.M)  # of a message, or of code
MARK = lazy_pattern(r"^[^\S\n]*(?:[-*+•]|\d+[.)]|#+)[^\S\n]+", re.M)
# A list within a line: "1. … 2. … 3. …", "1) …, 2) …".
COUNTED = lazy_pattern(r"(?:^|(?<=[\s,;:，；：。(]))(\d{1,2})(?:[.)]\s+|[、．）]\s*)(?=\D)")
END = lazy_pattern(rf"(?<=[.!?]){NO_ABBREVIATION}\s+|(?<=[。！？])|\n+")
LOG_LINE = lazy_pattern(r"^\W*(?:\d{2,4}[-:/]\d\d\b|(?:WARN(?:ING)?|ERROR|INFO|DEBUG|FATAL)\b)")
PARAGRAPHS = lazy_pattern(r"\n[^\S\n]*\n\s*")
OUTPUT = lazy_pattern(  # how a line looks that a program printed, or that is code
    r"""(?:
    # of a log
    [A-Z][a-z]{2}\ +\d{1,2}\ \d\d:\d\d|\[[A-Z]\w+(?:\ *:\ [\w\ ]+)?\]\ \S|\|\w{4,5}\||[✓✔✗✘×✅❌⚠►▶→⎿●]
    |(?:Uncaught\ )?(?:[\w.]+(?:Error|Exception|Warning)|[Ee]rror|[Ww]arning):\ |Caused\ by:|Traceback\ \(
    # a place in a file
    |[\w./\\-]+\.[A-Za-z]{1,5}(?::\d+[:)\s]|\(\d+,\d+\))|[\w.-]+:\d+\ \W|[a-z]\w*:\d+\ [A-Z]\w
    |at\ \S+(?:\ \(|:\d)|File\ ".*",\ line\ \d|\S+\ @\ \S+:\d
    # of a shell, ls and git
    |[$%➜]\ |>>>\ |PS\ [A-Z]:|[\w.-]+@[\w.-]+[:\ ]\S*[$\#]\ |-{1,2}\w[\w-]*\ ['"]|exit\ (?:code|status)\ \d+$
    |[-dlscbp](?:[r-][w-][xsStT-]){3}[.+@]?\ |total\ \d+$|remote:\ |(?:create|delete)\ mode\ \d
    |\d+\ files?\ changed|diff\ --git|@@\ |index\ [0-9a-f]{6}|[+]\S
    # markup, a place on a page, tables, rules
    |(?:HTML\ Element|DOM\ Path|React\ Component|Position):\ 
    |</?[A-Za-z][\w-]*(?:\s[^>]*)?>(?!-)|[├└│─═║╔╚┌┐|]|[=*~_-]{3,}
    # code
    |import\ [\w.]+;?$|from\ [\w.]+\ import\ |import\ .*\ from\ ["']|(?:const|let|var)\ [\w{\[].*=
    |(?:async\ )?(?:def|function)\ \w*\(|class\ \w+.*[:{(]$|(?:throw|return)\ .*;$|await\ \S+\(
    |(?:export|public|private|protected)\ \w+\ .*[({;=]
    |(?i:create|alter|drop)\ (?i:table|policy|index|function|or)\ |(?i:insert)\ (?i:into)\b
    |(?i:select|update|delete)\ (?=.*=).*\ (?i:from|set)\b
    |[\[{].*[\]}],?$|"[\w.-]+"\ ?:|[\w.-]+:\ ?[\[{"']|(?=[\w$]*[._$\[])[\w.$\[\]]+\ [-+|:]?=\ 
    |\w+\ [-+|:]=(?=\ )
    )|.*(?:[{\\]|=>|\);|/>)$|(?=.*;$).*[=(]""",
    re.X,
)


def sentences(text: str, min_length: int = MIN_SENTENCE_LENGTH) -> Iterator[str]:
    """Yield the sentences of a message's prose: no code, no output, no quotations, none too short or long."""
    for part in END.split(MARK.sub("", drop_output(break_lists(text)))):
        line = " ".join(part.replace("**", "").split())
        if LOG_LINE.match(part):
            continue
        if len(line) <= MAX_SENTENCE_LENGTH and measure_length(line) >= min_length:
            yield line


def break_lists(text: str) -> str:
    """Return a text in which each item of a list within a line has a line of its own."""
    return "\n".join(map(break_list, text.split("\n")))


def break_list(line: str) -> str:
    marks = list(COUNTED.finditer(line))
    if len(marks) < MIN_COUNTED or [int(one[1]) for one in marks] != list(range(1, len(marks) + 1)):
        return line
    starts = [0, *(one.start() for one in marks), len(line)]
    return "\n".join(
        part.strip().rstrip(",;，；、").strip()
        for part in map(line.__getitem__, map(slice, starts, starts[1:]))
        if part.strip()
    )


def drop_output(text: str) -> str:
    """Return a text without code and what programs printed; a paragraph that is half of that goes whole."""
    kept = []
    for paragraph in PARAGRAPHS.split(QUOTE.sub("", CODE_BLOCK.sub("\n", text))):
        lines = paragraph.splitlines()
        prose = [line for line in lines if not OUTPUT.match(line.strip())]
        if len(prose) * 2 > len(lines):
            kept += ["\n".join(prose)]
    return "\n\n".join(kept)


def keep_typed(text: str) -> str:
    """Return what a person typed of a prompt: of one that is too long, what stands around what was pasted."""
    typed = QUOTE.sub("", CODE_BLOCK.sub("\n", text)).strip()
    if typed.count("\n") < MAX_TYPED_LINES and measure_length(typed) <= MAX_TYPED_LENGTH:
        return text
    first, *middle = PARAGRAPHS.split(typed)
    edges = [first, *middle[-1:]]
    return "\n\n".join(edge for edge in edges if is_edge(edge))


def is_edge(text: str) -> bool:
    return text.count("\n") < MAX_EDGE_LINES and measure_length(text) <= MAX_EDGE_LENGTH


def measure_length(text: str) -> int:
    """Return the number of characters; one of a script without spaces counts as three."""
    return len(text) + 2 * count_dense(text)
