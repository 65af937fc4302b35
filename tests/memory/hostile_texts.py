"""Program of ``test_linear_time``: prints which function takes more than linear time for which text.

Its argument says how many shares there are of the kinds of text, of which it takes today's.

It is a process of its own, since a regular expression blocks the interpreter until it is done.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import django

django.setup()

from conversations.capture import text_cleaning  # noqa: E402
from conversations.engines.consolidation import rules  # noqa: E402
from memory.engines.sessions import briefing, tool_calls  # noqa: E402
from memory.engines.statements import revision_rules  # noqa: E402
from memory.engines.support import similarity, validation  # noqa: E402
from memory.exceptions import Day1Error  # noqa: E402
from memory.models.hashes import normalise_text  # noqa: E402
from memory.redaction import redact_text  # noqa: E402
from tests.amounts import TODAY  # noqa: E402

MIB = 1024 * 1024
LONG_CHARACTERS, FACT_CHARACTERS = MIB // 4, MIB // 16  # a fact's text is never longer
SHORT_SECONDS, LONG_SECONDS = 0.5, 0.125  # never reached in linear time; below it no ratio is taken
QUICK_SECONDS = LONG_SECONDS / 20  # of a quarter: even quadratic time, 16 times this, is below LONG_SECONDS
MAX_RATIO = 7  # of four times the text: 4 when linear, 16 when quadratic
SHARE = TODAY % int(sys.argv[1])  # of those that are taken in turn
TRIES = 3  # one that is not slow counts: another process may have been in the way
TOKEN = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4h"

PATTERNS: dict[str, tuple[str, str, str]] = {  # name -> (start, repeated piece, end)
    "line ends": ("a", "\n", "b"),
    "carriage returns": ("a", "\r", "b"),
    "line separators": ("a", "\u2028", "b"),
    "blanks": ("a", " ", "b"),
    "one word": ("", "A", ""),
    "underscores behind a name": ("password=", "_", "!"),
    "blanks behind a name": ("password=", " ", ""),
    "names": ("", "password= ", ""),
    "open quotes": ("", "api_key='" + "a" * 90 + "\n", ""),
    "one open quote": ('api_key="', "a", ""),
    "dollars": ("secret: ", "$", ""),
    "no values": ("", "password: optional" + "b" * 400 + "\n", ""),
    "curl": ("curl " * 100 + "curl -u", "A", ""),
    "commands as lists": ('"-', '","mysql","-pa1b', ""),
    "open lists": ("'-", "'a', \"b\\\\", ""),
    "curls": ("", "curl -u ", ""),
    "curls with names": ("", "curl -uAAA:", ""),
    "curl with options": ("curl", " -ua:bcd", ""),
    "cookie": ("cookie:" * 71 + " session", "a", ""),
    "cookies": ("", "cookie: session", ""),
    "cookies with values": ("", "cookie: sid=abcdefghijklm ", ""),
    "machines": ("", "machine ", ""),
    "machine": ("machine x", " ", ""),
    "tokens": ("", TOKEN + " ", ""),
    "tokens behind data": ("", "base64," * 17 + TOKEN + " ", ""),
    "schemes": ("", "a://", ""),
    "addresses": ("", "ab://" + "x" * 195 + ":" + "y" * 195, ""),
    "passwords": ("", "a://:bcd@", ""),
    "at signs": ("", "a://u:" + "@" * 190, ""),
    "key ends": ("", "tests/key.pem:-----END PRIVATE KEY-----\n", ""),
    "keys cut": ("", "AAAA\n-----END PRIVATE KEY-----", ""),
    "half key ends": ("", "-----END A ", ""),
    "key beginnings": ("", "-----BEGIN A ", ""),
    "web tokens": ("", "eyJ" + "a" * 20 + ".", ""),
    "sk": ("sk-", "A", "_"),
    "many sk": ("", "sk-", ""),
    "tokens of apps": ("", "ghs_1_eyJ", ""),
    "tokens of apps in pieces": ("", "-ghs_1_eyJaaaaaaaa", ""),
    "bots": ("", "123456789:", ""),
    "parts of bots": ("", "a" * 24 + "." + "b" * 6 + "." + "c" * 20 + " ", ""),
    "names in prose": ("", "password for the ", ""),
    "names alone": ("", "key", ""),
    "names and line ends": ("", "password\n", ""),
    "names in heads of tables": ("", "|password|\n|---|\n", ""),
    "names and lists": ("", "password:\n- ", ""),
    "names and blocks": ("", "password is\n```\n", ""),
    "names and words with digits": ("", "password a1 b2 ", ""),
    "a name and words with digits": ("password", " a1", ""),
    "a name and wide letters": ("a1b2 密码", "是", ""),
    "names and wide letters": ("", "密码已经改成了", "a1b2"),
    "hints of names": ("a1b2", "api", ""),
    "long words": ("", "A" * 17 + " ", ""),
    "names and blanks": ("", "password" + " " * 60, ""),
    "names that are": ("", "password is now ", ""),
    "names and values": ("", '"password", "value": ', ""),
    "names in Chinese": ("", "密码是", ""),
    "values before names": ("", "a1b2c3D4 is the password. ", ""),
    "words before names": ("a1", " is for as", " password."),
    "blanks before names": ("", "a1 " + " " * 60 + "password.\n", ""),
    "names in tags": ("", "<password>" + "a" * 190, ""),
    "commands": ("mysql", " -pabc", ""),
    "commands in a line": ("", "mysql -p ", ""),
    "shares": ("", r"net use \\a /user:", ""),
    "users of shares": (r"net use \\a", " /user:b *", ""),
    "secure strings": ("", "ConvertTo-SecureString -a ", ""),
    "hidden characters": ("", "a\u200b", ""),
    "full width": ("", "ｐａｓｓ：", ""),
    "colours": ("", "\x1b[1m", ""),
    "backslashes": ("", "\\", ""),
    "escaped nul": ("", "\\u0000", ""),
    "private": ("", "<private", ""),
    "private ends": ("<private>", "</private", ""),
    "private end with blanks": ("<private></private", " ", ""),
    "fences": ("", "<day1-memory ", ""),
    "fence ends": ("<day1-memory>", "</day1-memory", ""),
    "brackets": ("", "<", ""),
    "bracket with blanks": ("<", " ", ""),
    "brackets and blanks": ("", "< ", ""),
    "data nearly long": ("", "A" * 1999 + " ", ""),
    "quotations": ("", "> \n", ""),
    "code": ("", "```\n", ""),
    "code of two kinds": ("", "~~~\n```\n", ""),
    "digits": ("", "1", "x"),
    "numbers": ("", "1.1,", "x"),
    "headings": ("", "#", ""),
    "sentences": ("", "! ", ""),
    "decisions": ("", "We decided 0123456\n", ""),
    "half decisions": ("", "we use " * 50 + ". ", ""),
    "not found": (": command not found", " ", "x"),
    "uncaught": ("uncaught ", "a", ""),
    "possessives": ("", "A's ", ""),
}
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "redact": redact_text,
    "lessons": lambda text: list(rules.lessons(text, spoken_by_user=True)),
    "remove_private": text_cleaning.remove_private,
    "strip_injected": text_cleaning.strip_injected,
    "strip_prompt": text_cleaning.strip_prompt,
    "read_output": text_cleaning.read_output,
    "detect_outcome": tool_calls.detect_outcome,
    "summarize_call": lambda text: tool_calls.summarize_call("Bash", {"command": text}, text),
    "line of the start context": briefing.fenced_line,
    "json_object": lambda text: validation.json_object(8 * MIB)("metadata", {"text": text}),
    "normalise": normalise_text,
}
OF_FACTS: dict[str, Callable[[str], object]] = {
    "numbers": similarity.extract_numbers,
    "negations": similarity.count_negations,
    "statements": revision_rules.read_statement.__wrapped__,
}


def hostile(size: int) -> Iterator[tuple[str, str]]:
    """Yield every kind of text, of about so many characters."""
    for name, (start, piece, end) in PATTERNS.items():
        yield name, start + piece * (size // len(piece)) + end


def seconds(function: Callable[[str], object], text: str) -> float:
    """Return the processor time of one call; refused texts count as well."""
    began = time.process_time()
    with suppress(Day1Error):
        function(text)
    return time.process_time() - began


def is_slow(function: Callable[[str], object], text: str, long: str) -> bool:
    """Tell whether a text takes more than linear time, measured by a longer one of its kind."""
    short = seconds(function, text)
    if short <= QUICK_SECONDS or short > SHORT_SECONDS:
        return short > SHORT_SECONDS
    whole = seconds(function, long)
    return whole > LONG_SECONDS and whole > MAX_RATIO * short


def list_slow(functions: dict[str, Callable[[str], object]], characters: int) -> Iterator[str]:
    """Yield each function with the kind of text for which it is slow."""
    long = dict(hostile(characters))
    for name, text in list(hostile(characters // 4))[SHARE :: int(sys.argv[1])]:
        for label, function in functions.items():
            if all(is_slow(function, text, long[name]) for _ in range(TRIES)):
                yield f"{label}: {name}"


def main() -> None:
    for line in [*list_slow(FUNCTIONS, LONG_CHARACTERS), *list_slow(OF_FACTS, FACT_CHARACTERS)]:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write("done\n")


main()
