"""Secrets taken out of text before it is stored: known formats, named values, and what looks like a key.

Each secret becomes ``[redacted: kind]``. What is no secret stays as it is, character by character.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

# kind -> (a text of which one must be there, so that most rules cost nothing; pattern). Where a pattern has
# a group named s, only that part is the secret.
FORMATS: dict[str, tuple[tuple[str, ...], str]] = {
    "private key": (
        ("PRIVATE KEY",),
        # Without an end it goes on to the end of the text, which may have been cut.
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----.*?"
        r"(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    "AWS key id": (("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    "AWS secret": (
        ("secret", "SECRET", "Secret"),
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
    "JWT": (("eyJ",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    "npm token": (("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    "npm auth": (("_auth",), r"\b_auth(?:Token)?\s*=\s*[\"']?(?P<s>[^\s\"'$]{8,})"),
    "PyPI token": (("pypi-",), r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    "RubyGems key": (("rubygems_",), r"\brubygems_[0-9a-f]{48}\b"),
    "Docker token": (("dckr_",), r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    "Hugging Face token": (("hf_",), r"\bhf_[A-Za-z]{34}\b"),
    "Azure key": (
        ("AccountKey", "SharedAccessKey", "accountkey", "sharedaccesskey"),
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
        ("earer ", "EARER ", "asic ", "oken "),
        r"(?i)\b(?:bearer|(?<=authorization: )(?:basic|token))\s+(?P<s>[A-Za-z0-9._~+/-]{16,}=*)",
    ),
    "password": (
        ("://",),
        r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,200}:(?P<s>[^\s/@\"'<>]{3,200})@",
    ),
    "curl password": (
        ("curl",),
        r"\bcurl\b[^\n]{0,500}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:(?P<s>[^\s\"']{3,})",
    ),
    "session cookie": (
        ("ookie:",),
        r"(?i)\b(?:set-)?cookie:[^\n]{0,500}?\b(?:session\w*|sid|auth\w*|token)=(?P<s>[^\s;\"']{12,})",
    ),
}
NAMES = (
    r"pass(?:word|wd|phrase|code)|\bpwd|secret|api[_-]?key|apikey|access[_-]?key|auth[_-]?token|access[_-]?token"
    r"|refresh[_-]?token|client[_-]?secret|secret[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key"
)
NAMED = re.compile(
    rf"(?i)(?:{NAMES})[\"']?(?P<sep>\s{{0,20}}(?:=>|:=|=|:)\s{{0,20}})"
    r"(?:\"(?P<d>[^\"\n]{4,})\"|'(?P<q>[^'\n]{4,})'|(?P<s>[^\s\"'`,;&|)}\]<>({\[]{4,}))"
)
NAMED_HINTS = ("pass", "pwd", "secret", "key", "token")
NAME_OF_SECRET = re.compile(rf"(?i)(?:^|[_.-])(?:{NAMES}|token|credentials?|authorization)$")
# What stands after such a name in code and prose, and is no secret.
NO_VALUE = re.compile(
    r"(?i)(?:true|false|null|none|nil|undefined|string|str|int|bool|text|optional\b.*|required|changeme|x{3,}"
    r"|\*{3,}|\.{3,}|\$.*|%.*|\{.*|<.*|process\.env.*|os\.(?:environ|getenv).*|env[.(\[].*|self\..*|this\..*"
    r"|settings\..*|config\..*|args?\..*|request\..*|get\w*\(.*|input\(.*|\[redacted.*|example|your[-_ ].*)"
)
CODE = re.compile(r"[A-Za-z_]\w*(?:[.(\[].*|_\w*)")  # unquoted: an attribute, call or variable
WORD = re.compile(r"[^\W\d]+[.!?]?")

TOKEN = re.compile(r"(?<![A-Za-z0-9_+-])[A-Za-z0-9_+-]{32,128}(?![A-Za-z0-9_+-])={0,2}")
BEFORE_HASH = re.compile(
    r"(?i)(?:sha\d{1,3}[-:=]|h1:|md5[-:=]|integrity|checksum|digest|base64,[A-Za-z0-9+/=]*)\S*$"
)
HASH = re.compile(r"(?i)(?:sha\d{1,3}|md5|h1)[-_]")
END_OF_KEY = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
KEY_LETTERS = string.ascii_letters + string.digits + "+/=\\ \r\n"
WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z][a-z]\b")
LEAST_ENTROPY = 4.0  # bits a character

_compiled = {kind: (hints, re.compile(pattern, re.S)) for kind, (hints, pattern) in FORMATS.items()}


def redact(text: str) -> str:
    """The text without its secrets."""
    for kind, (hints, pattern) in _compiled.items():
        if any(hint in text for hint in hints):
            text = pattern.sub(_replacing(kind), text)
    if (end := END_OF_KEY.search(text)) and end[0]:  # its beginning was cut off
        text = f"{text[: end.start()].rstrip(KEY_LETTERS)}[redacted: private key]{redact(text[end.end() :])}"
    lower = text.lower()
    if any(hint in lower for hint in NAMED_HINTS):
        text = NAMED.sub(_named, text)
    return TOKEN.sub(_token, text)


def redact_all(value: Any) -> Any:
    """The same in every text of a JSON value; under a name such as password any text is a secret."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(name)): _under(str(name), part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [redact_all(part) for part in value]
    return value


def _under(name: str, value: Any) -> Any:
    secret = isinstance(value, str) and len(value) >= 4 and NAME_OF_SECRET.search(name)
    return "[redacted: named secret]" if secret and not NO_VALUE.fullmatch(value) else redact_all(value)


def _replacing(kind: str) -> Callable[[re.Match], str]:
    def replace(match: re.Match) -> str:
        whole, secret = match[0], match.groupdict().get("s") or match[0]
        return whole if secret.startswith("[redacted") else whole.replace(secret, f"[redacted: {kind}]")

    return replace


def _named(match: re.Match) -> str:
    quoted = match["d"] or match["q"]
    value = quoted or match["s"]
    if NO_VALUE.fullmatch(value) or (not quoted and _is_code(match)):
        return match[0]
    start = match.start("d" if match["d"] else "q" if match["q"] else "s") - match.start()
    return f"{match[0][:start]}[redacted: named secret]{match[0][start + len(value) :]}"


def _is_code(match: re.Match) -> bool:
    """Whether what stands unquoted behind a name is an expression, or goes on in prose."""
    value, spaced = match["s"], match["sep"].strip() != match["sep"]
    if NAME_OF_SECRET.search(value) or CODE.fullmatch(value):
        return True
    return spaced and bool(WORD.fullmatch(value))


def _token(match: re.Match) -> str:
    text = match.string
    before = text[max(0, match.start() - 120) : match.start()]
    after = text[match.end() : match.end() + 1]
    hashed = BEFORE_HASH.search(before) or HASH.match(match[0])
    in_path = before.endswith(("/", "\\", "@")) or after in ("/", "\\")
    return match[0] if hashed or in_path or not looks_random(match[0]) else "[redacted: high entropy]"


def looks_random(token: str) -> bool:
    """Whether a token of 32 characters or more was drawn rather than written: upper case, lower case and
    digits in a mixture that neither words nor hexadecimal numbers have."""
    body = token.rstrip("=")
    upper, lower = sum(c.isupper() for c in body), sum(c.islower() for c in body)
    digits = sum(c.isdigit() for c in body)
    if min(upper, lower) < 4 or digits < 2:
        return False
    worded = sum(len(word) for word in WORDS.findall(body)) / len(body)
    return worded < 0.55 and entropy(body) >= LEAST_ENTROPY


def entropy(text: str) -> float:
    """Bits a character."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values())
