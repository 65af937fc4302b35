"""Redaction of secrets before storage; other text stays, character by character."""

import hashlib
import json
import random
import re
import secrets
import string
import sys
import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.redaction import (
    FORMATS,
    NAMED,
    NAMED_HINTS,
    compile_format,
    count_marks,
    fold_case,
    has_hint,
    make_replacer,
    redact_all,
    redact_text,
)

DRAW = random.Random(7)


def drawn(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(DRAW.choice(alphabet) for _ in range(count))


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
PEM = (
    "-----BEGIN {0}PRIVATE KEY-----\n"
    + "\n".join(drawn(64) for _ in range(5))
    + "\n-----END {0}PRIVATE KEY-----"
)

# The secrets are put together at run time, so that no scanner takes this file for a leak.
SECRETS = [
    "AKIA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "ASIA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "ghp_" + drawn(36),
    "gho_" + drawn(36),
    "ghs_" + drawn(36),
    "github_pat_" + drawn(22) + "_" + drawn(59),
    "glpat-" + drawn(20),
    "glrt-" + drawn(20),
    "xoxb-" + drawn(12, string.digits) + "-" + drawn(24),
    "xapp-1-" + drawn(20),
    "sk_live_" + drawn(24),
    "rk_test_" + drawn(24),
    "whsec_" + drawn(32),
    "sk-proj-" + drawn(48) + "-" + drawn(20),
    "sk-" + drawn(48),
    "sk-svcacct-" + drawn(40),
    "sk-ant-api03-" + drawn(90) + "AA",
    "sk-or-v1-" + drawn(64, HEX),
    "AIza" + drawn(35),
    "ya29." + drawn(60),
    "GOCSPX-" + drawn(28),
    "eyJ" + drawn(30) + ".eyJ" + drawn(60) + "." + drawn(43),
    "npm_" + drawn(36),
    "pypi-AgEIcHlwaS5vcmc" + drawn(60),
    "rubygems_" + drawn(48, HEX),
    "dckr_pat_" + drawn(27),
    "hf_" + drawn(34, string.ascii_letters),
    "SK" + drawn(32, HEX),
    "SG." + drawn(22) + "." + drawn(43),
    "key-" + drawn(32, HEX),
    drawn(32, HEX) + "-us12",
    "123456789:AA" + drawn(33),
    "shpat_" + drawn(32, HEX),
    "dop_v1_" + drawn(64, HEX),
    "hvs." + drawn(30),
    "dapi" + drawn(32, HEX),
    "AGE-SECRET-KEY-1" + drawn(58, UPPER),
    "sbp_" + drawn(40, HEX),
    "pul-" + drawn(40, HEX),
    "pat" + drawn(14) + "." + drawn(64, HEX),
    "NRAK-" + drawn(27, UPPER),
    "ATATT3xFfGF0" + drawn(180),
    "day1_" + drawn(8) + "_" + drawn(43),
    "abc8Q~" + drawn(34),
    secrets.token_urlsafe(0) + drawn(40) + "9aB3xY7z",
    *(PEM.format(kind) for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ")),
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:12])
@pytest.mark.parametrize("around", ["{}", "use {} now", '{{"value": "{}"}}', "line\n{}\nline"])
def test_formats(secret, around):
    text = around.format(secret)
    found = redact_text(text)
    before, after = around.format("\0").split("\0")
    assert found.startswith((before + "[redacted: ", "[redacted: "))
    assert found.endswith(after)
    assert secret[-16:] not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=hunter2", "password=[redacted: named secret]"),
        ("数据库密码：Sup3rS3cret!99，别外传", "数据库密码：[redacted: named secret]"),
        ("密码: 以后再说", "密码: 以后再说"),
        ("DB_PASSWORD='s3cret pass'", "DB_PASSWORD='[redacted: named secret]'"),
        ('{"api_key": "abcd-1234"}', '{"api_key": "[redacted: named secret]"}'),
        ("client_secret: q8r!x", "client_secret: [redacted: named secret]"),
        ("passwd = abc123;", "passwd = [redacted: named secret];"),
        ("postgres://app:pa55word@db/x", "postgres://app:[redacted: password]@db/x"),
        ("https://me:tok-en1@github.com/a.git", "https://me:[redacted: password]@github.com/a.git"),
        ("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [redacted: bearer]"),
        ("authorization: Basic dXNlcjpwYXNzd29yZA==", "authorization: Basic [redacted: bearer]"),
        ("curl -u me:s3cret https://x.y", "curl -u me:[redacted: curl password] https://x.y"),
        ("AccountKey=" + "Ab1/" * 21 + "==;E", "AccountKey=[redacted: Azure key];E"),
        ("https://a.b/c?x=1&sig=" + "a1B2%2F" * 6, "https://a.b/c?x=1&sig=[redacted: Azure signature]"),
        (
            "//registry.npmjs.org/:_authToken=abcdef-12345",
            "//registry.npmjs.org/:_authToken=[redacted: npm auth]",
        ),
        (
            "machine a.b login me password hunter2x\nmachine c",
            "machine a.b login me password [redacted: netrc password]\nmachine c",
        ),
        ("aws_secret_access_key = " + "/aB3" * 10, "aws_secret_access_key = [redacted: AWS secret]"),
        (
            "set-cookie: sessionid=abcdefghijkl9; Path=/",
            "set-cookie: sessionid=[redacted: session cookie]; Path=/",
        ),
        (
            "https://hooks.slack.com/services/" + "T1/B2/abcdefghijkl34",
            "https://hooks.slack.com/services/[redacted: Slack webhook]",
        ),
    ],
)
def test_what_is_beside_a_secret_stays(text, expected):
    assert redact_text(text) == expected


@pytest.mark.parametrize("secret", SECRETS[:40], ids=lambda secret: secret[:12])
@pytest.mark.parametrize("end", ["\\n", "\\r\\n", "\\t", "\\u000a", "\\x0a"])
def test_behind_and_before_an_escaped_line_end(secret, end):
    """Surround a secret with escaped line ends, as in JSON within JSON."""
    found = redact_text(f"a{end}{secret}{end}b")
    assert found.startswith(f"a{end}[redacted: ")
    assert secret[-16:] not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://app:p@ss/w0rd@db:5432/x", "postgres://app:[redacted: password]@db:5432/x"),
        ("postgres://u:p'x@host/db", "postgres://u:[redacted: password]@host/db"),
        ("redis://:a@b@c@cache/0", "redis://:[redacted: password]@cache/0"),
        (
            "amqp://u:p/1@h1,amqp://u:p@2@h2",
            "amqp://u:[redacted: password]@h1,amqp://u:[redacted: password]@h2",
        ),
        ("mysql://u:pa55@h/d?mail=a@b.c", "mysql://u:[redacted: password]@h/d?mail=a@b.c"),
        ("https://example.com:8443/@scope/pkg", "https://example.com:8443/@scope/pkg"),
        ("file://C:/Users/me@home/x", "file://C:/Users/me@home/x"),
        ("ssh://git@host:22/a@v1", "ssh://git@host:22/a@v1"),
    ],
)
def test_passwords_in_addresses(text, expected):
    assert redact_text(text) == expected


def test_marks_are_counted():
    found = redact_all({"a": ["password=hunter2", {"token": "abcd"}], "b": 1})
    assert (count_marks(found), count_marks("nothing")) == (2, 0)


def test_what_is_nested_deeply_is_redacted_as_text():
    value: object = "password=hunter2"
    for _ in range(600):
        value = [value]
    found = json.dumps(redact_all(value))
    assert "hunter2" not in found
    assert found.count("[") == 600 + 1  # the mark has one


def test_a_key_whose_beginning_or_end_was_cut_off():
    head, tail = PEM.format("RSA ")[:150], PEM.format("RSA ")[-150:]
    assert redact_text(f"a {head}") == "a [redacted: private key]"
    assert redact_text(f"cut …\n{tail} b") == "cut …[redacted: private key] b"


LETTERS = st.text(string.ascii_lowercase, min_size=1, max_size=12)
WORD = LETTERS | LETTERS.map(str.title)
INNER = st.none() | st.booleans() | st.integers() | st.text(max_size=9)
HARMLESS = [
    "9fceb02d0ae598e95dc970b74767f19372d61af8",
    hashlib.sha256(b"x").hexdigest(),
    hashlib.sha512(b"x").hexdigest(),
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main)",
    str(uuid.UUID(int=7)),
    uuid.UUID(int=2**100).hex,
    '"integrity": "sha512-' + drawn(86) + '=="',
    "sha256:" + hashlib.sha256(b"y").hexdigest(),
    "h1:" + drawn(43) + "=",
    "![x](data:image/png;base64,iVBORw0KGgo" + drawn(120) + "=)",
    "/static/img/" + drawn(40) + ".png",
    "node_modules/.pnpm/" + drawn(40) + "/index.js",
    "https://cdn.example.com/" + drawn(44),
    "AbstractSingletonProxyFactoryBeanConfigurationTest2",
    "test_that_a_very_long_function_name_holds_2_numbers",
    "ThisIsARatherLongIdentifierWithManyWords1And2More",
    "--a-very-long-option-name-that-nobody-types-by-hand",
    "password: please enter",
    "token=settings.TOKEN",
    "password=password",
    "def login(user, password: str) -> None:",
    "api_key=os.environ['KEY']",
    "password = get_password(user)",
    "The secret: never deploy on Fridays.",
    "PASSWORD=${DB_PASSWORD}",
    "sk-learn and sk-image",
    "toolu_01A09q90qw90lq917835lq9",
    "2026-11-22T05:48:30.123456Z",
    "Pneumonoultramicroscopicsilicovolcanoconiosis",
    "keyboard: qwerty",
    "tokens: 4096",
    "monkey=banana",
]


@pytest.mark.parametrize("text", HARMLESS, ids=lambda text: text[:30])
def test_what_is_no_secret_stays(text):
    assert redact_text(text) == text


@given(
    st.lists(WORD, max_size=40),
    st.sampled_from([" ", "_", "-", "/", "\n"]),
)
def test_words_stay_however_they_are_joined(words, by):
    text = by.join(word for word in words if word.lower() not in ("pwd", "secret"))
    assert redact_text(text) == text


@given(st.binary(min_size=16, max_size=64))
def test_hashes_and_ids_stay(data):
    for text in (data.hex(), hashlib.sha1(data).hexdigest(), str(uuid.UUID(bytes=data[:16]))):
        assert redact_text(f"see {text}.") == f"see {text}."


COMPILED = {kind: (hints, compile_format(pattern)) for kind, (hints, pattern) in FORMATS.items()}
HINTS = sorted({hint for hints, _pattern in COMPILED.values() for hint in hints})
PIECES = sorted({piece for hint in HINTS for at in range(len(hint)) for piece in (hint[at:], hint[: at + 1])})


def lists_hint(text: str) -> bool:
    """Return whether a format lists a hint that is in the text, each looked for by itself."""
    return any(has_one_of(hints, pattern, text) for hints, pattern in COMPILED.values())


def has_one_of(hints: tuple[str, ...], pattern: re.Pattern[str], text: str) -> bool:
    return any(hint in (fold_case(text) if pattern.flags & re.I else text) for hint in hints)


@given(st.lists(st.sampled_from(PIECES), max_size=5).map("".join) | st.text(max_size=300))
def test_the_grouped_hints_are_those_of_the_formats(text):
    assert has_hint(text, fold_case(text)) == lists_hint(text)


@pytest.mark.parametrize("hint", HINTS)
def test_each_hint_is_found_within_a_word(hint):
    assert has_hint(f"x{hint}y", fold_case(f"x{hint}y"))


@pytest.mark.parametrize("kind", COMPILED)
@settings(max_examples=15)
@given(data=st.data())
def test_no_format_is_left_out_where_its_pattern_would_take_a_secret(kind, data):
    hints, pattern = COMPILED[kind]
    text = data.draw(st.from_regex(pattern))
    if pattern.sub(make_replacer(kind), text) != text:
        assert has_one_of(hints, pattern, text)


@given(st.from_regex(NAMED))
def test_no_name_of_a_secret_is_left_out(text):
    assert any(hint in fold_case(text) for hint in NAMED_HINTS)


def test_letters_fold_as_patterns_read_them():
    """For each letter of a hint that ignores case: whatever a pattern reads as this letter folds to it."""
    ignoring = [hints for hints, pattern in COMPILED.values() if pattern.flags & re.I]
    letters = {letter for hint in [*sum(ignoring, ()), *NAMED_HINTS] for letter in hint if letter.isalpha()}
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    for letter in sorted(letters):
        assert {fold_case(one) for one in re.findall(f"(?i){letter}", every)} == {letter}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COOKIE: sid=0123456789ab", "COOKIE: sid=[redacted: session cookie]"),
        ("bearer\t0123456789abcdef", "bearer\t[redacted: bearer]"),
        ("Authorization: TOKEN 0123456789abcdef", "Authorization: TOKEN [redacted: bearer]"),
        (f"awskey: {'Ab1c' * 10}", "awskey: [redacted: AWS secret]"),
        (f"ACCOUNTKEY={'Ab1/' * 10}==", "ACCOUNTKEY=[redacted: Azure key]"),
        ("paſſword: kq7Xz2v9", "paſſword: [redacted: named secret]"),
    ],
)
def test_case_and_spaces_hide_no_secret(text, expected):
    assert redact_text(text) == expected


@given(st.text(max_size=300))
def test_any_text_goes_through_and_twice_is_once(text):
    once = redact_text(text)
    assert redact_text(once) == once


@given(
    st.recursive(
        INNER,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
        max_leaves=9,
    )
)
def test_the_shape_of_a_value_stays(value):
    assert json.dumps(redact_all(value)) == json.dumps(value)


def test_a_value_under_a_secret_name():
    given = {"env": {"DB_PASSWORD": "abcd", "token": "none", "n": 5}, "list": [{"secret": "xyzzy"}]}
    hidden = "[redacted: named secret]"
    assert redact_all(given) == {
        "env": {"DB_PASSWORD": hidden, "token": "none", "n": 5},
        "list": [{"secret": hidden}],
    }


def test_most_drawn_tokens_are_seen():
    tokens = [drawn(43, string.ascii_letters + string.digits + "-_") for _ in range(1000)]
    assert sum("redacted" in redact_text(f"x {token} y") for token in tokens) > 980


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ-",
        "a.",
        "://a:",
        "curl ",
        "cookie:",
        "A" * 20 + "\n",
        "-----BEGIN PRIVATE KEY-----",
        "password",
        "sk-",
        "_",
    ],
)
def test_hostile_texts_take_no_time_that_grows_with_their_square(piece):
    """Double the text: the time about doubles; four times would be quadratic."""

    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size] + "-----END PRIVATE KE"
        start = time.process_time()
        redact_text(text)
        return time.process_time() - start

    seconds(1000)
    short = min(seconds(20_000) for _ in range(3))
    assert min(seconds(160_000) for _ in range(2)) < 40 * short + 0.5


@pytest.mark.parametrize("before", ["", "x ", "x\\n", "x\\t", "\\r", "x\\u000A", "\\x0d"])
def test_a_jwt_is_found_whole_behind_an_escaped_line_end(before: str) -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
    assert redact_text(f"{before}{token}") == f"{before}[redacted: JWT]"
