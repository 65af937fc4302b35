"""Redaction of secrets before text is stored: known formats, named values, and random-looking tokens.

Each secret becomes ``[redacted: kind]``. All other text stays as it is, character by character.
"""

import json
import math
import re
import string
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

MAX_NAME = 200  # characters of a name before a secret
MAX_LINE = 500  # characters between a word such as curl and the secret that it announces
MAX_DEPTH = 50  # levels of a JSON value; deeper values are stored as their JSON text
MARK = "[redacted: "
MAX_RECENT = 500  # redacted texts that a thread remembers, by length and hash
# A secret may start after an escaped line end or sign, as in JSON within JSON.
AFTER_ESCAPE = r"(?<=\\[nrt])|(?<=\\x[0-9a-fA-F]{2})|(?<=\\u[0-9a-fA-F]{4})"

# Every pattern takes linear time: a match starts where no other match can start within it, or
# has a bounded length.
# kind -> (hints: substrings of which one must occur, so that most patterns are never run; pattern). The hints
# of a pattern that ignores case are looked for in the folded text. Where a pattern has a group named s, only
# that group is the secret.
FORMATS: dict[str, tuple[tuple[str, ...], str]] = {
    "private key": (
        ("PRIVATE KEY",),
        # Without an end it reaches to the end of the text, which may have been cut.
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----.*?"
        r"(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    "AWS key id": (("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    "AWS secret": (
        ("key",),
        r"(?i)aws_?(?:secret)?_?(?:access)?_?key[\"']?\s*[=:]\s*[\"']?(?P<s>[A-Za-z0-9/+=]{40})\b",
    ),
    "GitHub token": (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b",
    ),
    "GitLab token": (
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glsoat-"),
        r"\bgl(?:pat|dt|rt|ptt|cbt|ft|soat)-[A-Za-z0-9_.=-]{20,200}",
    ),
    "Slack token": (("xox", "xapp-"), r"\b(?:xox[abeoprs]-|xapp-\d-)[A-Za-z0-9-]{10,255}"),
    "Slack webhook": (
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9/_-]{20,})",
    ),
    "Discord webhook": (
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/\d+/(?P<s>[A-Za-z0-9_-]{40,})",
    ),
    "Stripe key": (
        ("k_live_", "k_test_", "whsec_"),
        r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,})",
    ),
    "Anthropic key": (("sk-ant-",), r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    "OpenAI key": (
        ("sk-",),
        r"\bsk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})(?![A-Za-z0-9_-])",
    ),
    "OpenRouter key": (("sk-or-",), r"\bsk-or-v\d-[0-9a-f]{40,}"),
    "Google key": (("AIza",), r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    "Google token": (("ya29.", "GOCSPX-"), r"\b(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28})"),
    "JWT": (
        ("eyJ",),
        rf"(?:(?<![A-Za-z0-9_-])|{AFTER_ESCAPE})"
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    ),
    "npm token": (("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    "npm auth": (("_auth",), r"\b_auth(?:Token)?\s*=\s*[\"']?(?P<s>[^\s\"'$]{8,})"),
    "PyPI token": (("pypi-",), r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    "RubyGems key": (("rubygems_",), r"\brubygems_[0-9a-f]{48}\b"),
    "Docker token": (("dckr_",), r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    "Hugging Face token": (("hf_",), r"\bhf_[A-Za-z]{34}\b"),
    "Azure key": (
        ("key=",),
        r"(?i)(?:Account|SharedAccess)Key=(?P<s>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    "Azure signature": (("sig=",), r"[?&]sig=(?P<s>[A-Za-z0-9%+/=_-]{30,})"),
    "Azure client secret": (("Q~",), r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    "Twilio key": (("SK", "AC"), r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    "SendGrid key": (("SG.",), r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    "Mailgun key": (("key-",), r"\bkey-[0-9a-f]{32}\b"),
    "Mailchimp key": (("-us",), r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    "Telegram token": ((":AA",), r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    "Shopify token": (("shp",), r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    "DigitalOcean token": (("_v1_",), r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    "Vault token": (("hvs.", "hvb."), r"\bhv[sb]\.[A-Za-z0-9_-]{24,}"),
    "Databricks token": (("dapi",), r"\bdapi[0-9a-f]{32}\b"),
    "Supabase token": (("sbp_",), r"\bsbp_[0-9a-f]{40}\b"),
    "Pulumi token": (("pul-",), r"\bpul-[0-9a-f]{40}\b"),
    "Airtable token": (("pat",), r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    "New Relic key": (("NRAK-",), r"\bNRAK-[A-Z0-9]{27}\b"),
    "Atlassian token": (("ATATT3", "ATCTT3"), r"\bAT[AC]TT3[A-Za-z0-9_=-]{50,}"),
    "netrc password": (
        ("machine",),
        r"\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(?P<s>\S{3,})",
    ),
    "age key": (("AGE-SECRET-KEY-",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b"),
    "Day1 key": (("day1_",), r"\bday1_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{20,}"),
    "bearer": (
        ("bearer", "author"),
        r"(?i)\b(?:bearer|(?<=authorization: )(?:basic|token))\s+(?P<s>[A-Za-z0-9._~+/-]{16,}=*)",
    ),
    "password": (
        ("://",),
        # A password may contain @ and /, up to the last @; after a port or a drive follows a path.
        r"://(?<=[A-Za-z0-9]://)[^\s/:@\"'<>]{0,200}:(?:(?!/|\d{1,5}[/?#])"
        r"(?P<s>(?:(?!://)[^\s\"'<>?#]){3,200})@|(?P<t>[^\s/@\"<>]{3,200})@)",
    ),
    "curl password": (
        ("curl",),
        rf"(?<=\s)(?:-u|--user)[ =]?[\"']?[^\s:\"']{{1,{MAX_NAME}}}:(?P<s>[^\s\"']{{3,}})",
    ),
    "session cookie": (
        ("cook",),
        rf"(?i)\b(?:session\w{{0,{MAX_NAME}}}|sid|auth\w{{0,{MAX_NAME}}}|token)=(?P<s>[^\s;\"']{{12,}})",
    ),
}
# kind -> pattern that must precede the secret in the same line
ANNOUNCED = {"curl password": re.compile(r"\bcurl\b"), "session cookie": re.compile(r"(?i)\bcookie:")}
NAMES = (
    r"pass(?:word|wd|phrase|code)|\bpwd|secret|api[_-]?key|apikey|access[_-]?key|auth[_-]?token|access[_-]?token"
    r"|refresh[_-]?token|client[_-]?secret|secret[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key|密码|口令|密钥|令牌"
)
NAMED = re.compile(
    rf"(?i)(?:{NAMES})[\"']?(?P<sep>\s{{0,20}}(?:=>|:=|[=:：])\s{{0,20}})"
    r"(?:\"(?P<d>[^\"\n]{4,})\"|'(?P<q>[^'\n]{4,})'|(?P<s>[^\s\"'`,;&|)}\]<>({\[]{4,}))"
)
NAMED_HINTS = ("pass", "pwd", "secret", "key", "token", "密码", "口令", "密钥", "令牌")
NAME_OF_SECRET = re.compile(rf"(?i)(?:^|[_.-])(?:{NAMES}|token|credentials?|authorization)$")
# Values after such a name, in code and prose, that are not secrets.
NO_VALUE = re.compile(
    r"(?i)(?:true|false|null|none|nil|undefined|string|str|int|bool|text|optional\b.*|required|changeme|x{3,}"
    r"|\*{3,}|\.{3,}|\$.*|%.*|\{.*|<.*|process\.env.*|os\.(?:environ|getenv).*|env[.(\[].*|self\..*|this\..*"
    r"|settings\..*|config\..*|args?\..*|request\..*|get\w*\(.*|input\(.*|\[redacted.*|example|your[-_ ].*)"
)
CODE = re.compile(r"[A-Za-z_](?:\w*[.(\[].*|[^\W_]*_\w*)")  # unquoted: an attribute, call or variable
WORD = re.compile(r"[^\W\d]+[.!?]?")

# Before it may be a backslash of a path; the n of an escaped line end is not part of the token.
MIN_TOKEN = 32  # characters
LONG_WORD = re.compile(rf"\S{{{MIN_TOKEN}}}")
TOKEN = re.compile(
    rf"(?:{AFTER_ESCAPE}|(?<![A-Za-z0-9_+\\-]))[A-Za-z0-9_+-]{{{MIN_TOKEN},128}}(?![A-Za-z0-9_+-])={{0,2}}"
)
ESCAPED_ENDS = ("\\n", "\\r", "\\t", '\\"')
BEFORE_HASH = re.compile(r"(?i)sha\d{1,3}[-:=]|h1:|md5[-:=]|integrity|checksum|digest|base64,")
HASH = re.compile(r"(?i)(?:sha\d{1,3}|md5|h1)[-_]")
END_OF_KEY = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
KEY_LETTERS = string.ascii_letters + string.digits + "+/=\\ \r\n"
WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z][a-z]\b")
MIN_ENTROPY = 4.0  # bits a character


def compile_format(pattern: str) -> re.Pattern[str]:
    """Compile a format; a secret may also start after an escape."""
    start = rf"(?:\b|{AFTER_ESCAPE})"
    return re.compile(re.sub(r"\A((?:\(\?i\))?)\\b", lambda found: found[1] + start, pattern), re.S)


_compiled = {kind: (hints, compile_format(pattern)) for kind, (hints, pattern) in FORMATS.items()}
RARE_CHARACTERS = "_-:~/=.KAS"  # characters of hints that most texts are without, the best first


def group_hints(hints: Collection[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the hints by a rare character that each of them has, and by "" those of common letters alone.

    A hint that has another one within it is left out: where it is, the other is too.
    """
    groups: dict[str, list[str]] = {}
    for hint in sorted(set(hints)):
        if not any(other != hint and other in hint for other in hints):
            groups.setdefault(next((one for one in RARE_CHARACTERS if one in hint), ""), []).append(hint)
    return [(rare, tuple(group)) for rare, group in sorted(groups.items())]


def list_hints(*, folded: bool) -> list[str]:
    """Return the hints of the formats that ignore case, or of the others."""
    chosen = (hints for hints, pattern in _compiled.values() if bool(pattern.flags & re.I) == folded)
    return [hint for hints in chosen for hint in hints]


_hint_groups, _folded_hints = group_hints(list_hints(folded=False)), list_hints(folded=True)


class Recent(threading.local):
    """The texts that a thread redacted last, each by its length and hash."""

    def __init__(self) -> None:
        self.texts: set[tuple[int, int]] = set()


_recent = Recent()


def redact_text(text: str) -> str:
    """Return the text without its secrets.

    A recent result is returned as it is: hooks redact texts before they cut them, and the engines redact
    every text again.
    """
    recent = _recent.texts
    if (len(text), hash(text)) in recent:
        return text
    found = redact_tokens(text)
    if len(recent) >= MAX_RECENT:
        recent.clear()
    recent.add((len(found), hash(found)))
    return found


def redact_tokens(text: str) -> str:
    folded = fold_case(text)
    if has_hint(text, folded):
        text = _redact_formats(text)
    if any(map(folded.__contains__, NAMED_HINTS)):
        text = NAMED.sub(redact_named, text)
    return TOKEN.sub(redact_token, text) if LONG_WORD.search(text) else text


def fold_case(text: str) -> str:
    """Return a text in which a hint is found however a pattern that ignores case would read it."""
    lower = text.lower()
    return lower if lower.isascii() else lower.replace("ſ", "s")


def has_hint(text: str, folded: str) -> bool:
    """Return whether a text has a hint of any format; most have none, and few of the rare characters."""
    if any(map(folded.__contains__, _folded_hints)):
        return True
    contains = text.__contains__
    return any(rare in text and any(map(contains, hints)) for rare, hints in _hint_groups)


def _redact_formats(text: str) -> str:
    for kind, (hints, pattern) in _compiled.items():
        searched = fold_case(text) if pattern.flags & re.I else text
        if any(map(searched.__contains__, hints)):
            text = pattern.sub(make_replacer(kind), text)
    return _redact_key_ends(text)


def _redact_key_ends(text: str) -> str:
    """Redact private keys whose beginning was cut off: the text before a key's end line."""
    *before, rest = END_OF_KEY.split(text)
    return "".join([f"{part.rstrip(KEY_LETTERS)}{MARK}private key]" for part in before] + [rest])


def redact_all(value: Any, depth: int = 0) -> Any:
    """Redact every string of a JSON value; any string under a name such as password is a secret.

    Values nested deeper than MAX_DEPTH become their JSON text.
    """
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping | list | tuple) and depth >= MAX_DEPTH:
        return redact_text(json_text(value))
    if isinstance(value, Mapping):
        return {
            redact_text(str(name)): redact_value(str(name), part, depth + 1) for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_all(part, depth + 1) for part in value]
    return value


def limit_depth(value: Any, depth: int = 0) -> Any:
    """Return a JSON value whose parts deeper than MAX_DEPTH are replaced with their JSON text."""
    if isinstance(value, Mapping | list | tuple) and depth >= MAX_DEPTH:
        return json_text(value)
    if isinstance(value, Mapping):
        return {name: limit_depth(part, depth + 1) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [limit_depth(part, depth + 1) for part in value]
    return value


def is_deep(value: Any, depth: int = 0) -> bool:
    """Return whether a JSON value is nested deeper than MAX_DEPTH."""
    if not isinstance(value, Mapping | list | tuple):
        return False
    parts = value.values() if isinstance(value, Mapping) else value
    return depth >= MAX_DEPTH or any(is_deep(part, depth + 1) for part in parts)


def json_text(value: Any) -> str:
    """Return the JSON of a value, or a marker where it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "[nested too deeply]"


def count_marks(value: Any) -> int:
    """Count the secrets that were redacted in a text or JSON value."""
    if isinstance(value, str):
        return value.count(MARK)
    if isinstance(value, Mapping):
        return sum(name.count(MARK) + count_marks(part) for name, part in value.items())
    return sum(map(count_marks, value)) if isinstance(value, list) else 0


def redact_value(name: str, value: Any, depth: int) -> Any:
    secret = isinstance(value, str) and len(value) >= 4 and NAME_OF_SECRET.search(name)
    return (
        "[redacted: named secret]" if secret and not NO_VALUE.fullmatch(value) else redact_all(value, depth)
    )


def make_replacer(kind: str) -> Callable[[re.Match], str]:
    announced = ANNOUNCED.get(kind)

    def replace_match(match: re.Match) -> str:
        groups = match.groupdict()
        whole, secret = match[0], groups.get("s") or groups.get("t") or match[0]
        if announced and not announced.search(_line_before(match)):
            return whole
        return whole if secret.startswith("[redacted") else whole.replace(secret, f"[redacted: {kind}]")

    return replace_match


def _line_before(match: re.Match) -> str:
    """Return the text before a match in its line, at most MAX_LINE characters."""
    before: str = match.string[max(0, match.start() - MAX_LINE) : match.start()]
    return before.rpartition("\n")[2]


def redact_named(match: re.Match) -> str:
    quoted = match["d"] or match["q"]
    value = quoted or match["s"]
    if NO_VALUE.fullmatch(value) or (not quoted and _is_code(match)):
        return match[0]
    start = match.start("d" if match["d"] else "q" if match["q"] else "s") - match.start()
    return f"{match[0][:start]}[redacted: named secret]{match[0][start + len(value) :]}"


def _is_code(match: re.Match) -> bool:
    """Return whether an unquoted value after a name is an expression or a word of prose."""
    value, spaced = match["s"], match["sep"].strip() != match["sep"]
    if NAME_OF_SECRET.search(value) or CODE.fullmatch(value):
        return True
    return spaced and bool(WORD.fullmatch(value))


def redact_token(match: re.Match) -> str:
    text = match.string
    before = text[max(0, match.start() - 120) : match.start()]
    after = text[match.end() : match.end() + 2]
    word = "" if not before or before[-1].isspace() else before.split()[-1]
    hashed = BEFORE_HASH.search(word) or HASH.match(match[0])
    in_path = before.endswith(("/", "@")) or (after[:1] in ("/", "\\") and after not in ESCAPED_ENDS)
    return match[0] if hashed or in_path or not looks_random(match[0]) else "[redacted: high entropy]"


def looks_random(token: str) -> bool:
    """Return whether a token of 32 characters or more looks random.

    Its mixture of upper case, lower case and digits is one that words and hexadecimal numbers do not have.
    """
    body = token.rstrip("=")
    upper, lower = sum(c.isupper() for c in body), sum(c.islower() for c in body)
    digits = sum(c.isdigit() for c in body)
    if min(upper, lower) < 4 or digits < 2:
        return False
    worded = sum(len(word) for word in WORDS.findall(body)) / len(body)
    return worded < 0.55 and text_entropy(body) >= MIN_ENTROPY


def text_entropy(text: str) -> float:
    """Return the Shannon entropy of a text, in bits per character."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values())
