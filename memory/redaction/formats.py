"""Secrets that are known by what is around them: private keys, addresses, headers, commands."""

import base64
import binascii
import re
import string
from collections.abc import Callable

from memory.patterns import lazy_pattern
from memory.redaction.commands import COMMANDS, MAX_NAME, VALUE, WORD
from memory.redaction.random_tokens import looks_random
from memory.redaction.spans import Spans, is_start
from memory.redaction.values import has_mixture, is_literal, looks_mixed

MAX_LINE = 500  # characters between a word such as curl and the secret that it announces
# A secret may start after an escaped line end or sign, as in JSON within JSON.
DASHED_START = r"(?:(?<![A-Za-z0-9_-])|\\[nrt]|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2})"
START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt])|(?<=\\x[0-9a-fA-F]{2})|(?<=\\u[0-9a-fA-F]{4}))"
# A password that ends before the @ of an address.
VALUE_IN_ADDRESS = VALUE.replace("&-]", "&@-]").replace("|;&]{2", "|;&@]{2")

# Every pattern takes linear time: a match starts where no other match can start within it, or
# has a bounded length.
# kind -> (hints: parts of the folded text of which one must occur, so that most patterns are never run;
# pattern).
# Where a pattern has groups, the last one that matched is the secret.
TEXTS: dict[str, tuple[tuple[str, ...], str]] = {
    "private key": (
        ("private key",),
        # Without an end it reaches to the end of the text, which may have been cut.
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----.*?"
        r"(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    "PuTTY key": (
        ("private-lines:",),
        r"Private-Lines: \d{1,3}\s{1,2}(?P<s>(?:[A-Za-z0-9+/=]{4,80}\s{0,2})+)",
    ),
    "AWS secret": (
        ("aws",),
        r"(?i)aws_?(?:secret)?_?(?:access)?_?key[\"']?\s{0,20}[=:]\s{0,20}[\"']?(?P<s>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+])",
    ),
    "npm auth": (("_auth",), r"(?<![A-Za-z0-9_])_auth(?:Token)?\s{0,20}=\s{0,20}[\"']?(?P<s>[^\s\"'$]{8,})"),
    "Docker login": (
        ("auth",),
        r"\\{0,3}\"auth\\{0,3}\"\s{0,20}:\s{0,20}\\{0,3}\"(?P<s>[A-Za-z0-9+/]{8,}={0,2})\\{0,3}\"",
    ),
    "netrc password": (
        ("login",),
        rf"{START}machine\s{{1,20}}\S{{1,200}}\s{{1,20}}login\s{{1,20}}\S{{1,200}}\s{{1,20}}password\s{{1,20}}(?P<s>\S{{3,}})",
    ),
    "pgpass password": (
        (":543", ":6432:", ":*:"),
        r"(?m)^[A-Za-z0-9_.*/-]{1,100}:(?:543\d|6432|\*):[A-Za-z0-9_.*-]{1,64}:[A-Za-z0-9_.*@-]{1,64}:(?P<s>[^\s:]{4,})$",
    ),
    "bearer": (
        ("bearer", "authorization"),
        rf"(?i){START}(?:bearer|(?<=authorization: )(?:basic|token|apikey|api-key|digest|negotiate|key))"
        r"(?:\s{1,20}|%20|\+)(?P<s>[A-Za-z0-9._~+/-]{16,}=*)",
    ),
    "authorization": (
        ("authorization",),
        r"(?i)authorization\\{0,3}[\"']?\s{0,5}[:=,]\s{0,5}\\{0,3}[\"']?"
        r"(?:(?:bearer|basic|token|digest|api-?key)\s{1,5}(?P<t>[A-Za-z0-9._~+/-]{4,15}=*)(?![\w.~+/=({<$-])"
        r"|(?P<s>[A-Za-z0-9._~+/-]{16,}=*)(?![A-Za-z0-9._~+/=(\[ -]))",
    ),
    # auth=("name", "x"), HTTPBasicAuth("name", "x"), "auth": ["name", "x"], 'auth' => ['name', 'x']
    "login": (
        ("auth=", "auth =", "auth:", 'auth"', "auth'", "auth\\", "auth("),
        r"[Aa](?:uth|UTH)(?:(?<!OAuth)\\{0,3}[\"']?\s{0,5}(?:=>|[=:])\s{0,5}"
        r"|(?:(?<=[Bb]asicAuth)|(?<=[Dd]igestAuth)|(?<=basic_auth)|(?<=digest_auth)))"
        r"(?P<open>[(\[])\s{0,40}[bru]?\\{0,3}[\"'][^\"'\\\n]{0,100}\\{0,3}[\"']\s{0,5},\s{0,40}"
        r"[bru]?\\{0,3}[\"'](?P<s>[^\"'\\\n]{3,200})\\{0,3}[\"'],?\s{0,40}[)\]]",
    ),
    "password": (
        ("://",),
        # A password may contain @ and /, up to the last @; after a port or a drive follows a path.
        r"://(?<=[A-Za-z0-9]://)[^\s/:@\"'<>]{0,200}:(?:(?!/|\d{1,5}[/?#])"
        r"(?P<s>(?:(?!://)[^\s\"'<>?#]){3,200})@|(?P<t>[^\s/@\"<>]{3,200})@)",
    ),
    "session cookie": (
        ("cookie:",),
        rf"(?i){START}(?:session\w{{0,{MAX_NAME}}}|sid|auth\w{{0,{MAX_NAME}}}|token)=(?P<s>[^\s;\"']{{12,}})",
    ),
    "SQL password": (
        ("identified", "password '"),
        r"(?i)(?:(?:(?:user|grant|role|create|alter)\b[^\n;]{0,200}?\sidentified"
        r"|(?-i:IDENTIFIED))\s{1,5}(?:with\s{1,5}\S{1,40}\s{1,5})?by|(?:with"
        r"|encrypted)\s{1,5}password)\s{1,5}"
        r"'(?P<s>[^'\n]{4,200})'",
    ),
    "set password": (
        ("set password",),
        r"(?i)set\s{1,5}password\s{1,5}(?:for\s{1,5}[^\n=;]{1,200}?)?(?:=|to)\s{0,5}(?:password\()?'(?P<s>[^'\n]{4,200})'",
    ),
    # Programs that take a password as a word of its own.
    "password argument": (
        (
            "rclone obscure",
            "wpa_passphrase",
            "rabbitmqctl",
            "bw unlock",
            "bw login",
            "sqlplus",
            "lftp",
            "mysqladmin",
            "nmcli",
            "iwconfig",
            "mkpasswd",
            "slappasswd",
        ),
        rf"(?<![\w./-])(?:rclone obscure|wpa_passphrase {WORD}|rabbitmqctl [a-z]+_(?:user|password) {WORD}"
        rf"|bw unlock|bw login {WORD}|sqlplus (?:-\w{{1,9}} ){{0,3}}[\w$]{{1,60}}(?=/)"
        rf"|lftp [^\n]{{0,100}}?-u {WORD}(?=,)|(?:mysqladmin|nmcli) [^\n]{{0,200}}?password"
        rf"|iwconfig {WORD} key|mkpasswd(?: -m {WORD})?|slappasswd -s)[ ,/](?=\S*\d){VALUE_IN_ADDRESS}",
    ),
    "remote login": (
        ("freerdp", "winrs", "schtasks"),
        rf"(?:freerdp\d?|winrs|schtasks)(?:\.exe)?\s[^\n]{{0,{MAX_LINE}}}?\s[-/]r?p[: ]{VALUE}",
    ),
    "vault login": (("vault login",), rf"(?<=vault login[ ])(?=[^\s=]{{0,60}}\d){VALUE}(?!\S)"),
    "redis setting": (
        ("requirepass", "masterauth", "rediscli_auth", "acl setuser"),
        rf"(?:(?:requirepass|masterauth)[ \t]{{1,5}}(?=\S*\d)|REDISCLI_AUTH="
        rf"|ACL SETUSER [^\n>]{{1,99}}>){VALUE}",
    ),
    "piped password": (
        ("--password-stdin", "sudo -S", "chpasswd", "cryptsetup", "--stdin"),
        r"(?:echo|printf)[ ](?:-n[ ])?(?:\"(?P<s>[^\"\n$]{3,200})\"|'(?P<t>[^'\n]{3,200})'"
        r"|(?P<u>[^\s\"'$|]{3,200}))[ ]?\|"
        r"[ ]?(?:(?:sudo[ ])?(?:chpasswd|cryptsetup)"
        r"|(?:sudo|docker|podman|helm|passwd)[^\n|]{0,200}?(?:-S\b|-stdin|chpasswd))",
    ),
    "openssl password": (("pass:",), r"openssl\s[^\n]{0,200}?[\s\"'=]pass:(?P<s>[^\s\"'$]{3,200})"),
    "keystore password": (("storepass", "keypass"), rf"-(?:storepass|keypass)[ \t]{{1,5}}{VALUE}"),
    # net use \\server\share x /user:me; net use … /user:me x; net user me x /add
    "Windows password": (
        ("net use",),
        rf"(?i)(?<![\w.-])net(?:\.exe)?[ ]{{1,5}}(?:use[ ](?:[^\n|&]{{0,300}}?/user:\S{{1,{MAX_NAME}}}"
        rf"|[^\n|&]{{0,20}}?(?:\\{{2,8}}|https?://)\S{{1,{MAX_NAME}}})|user[ ]{{1,5}}\S{{1,64}}"
        rf"(?=[ ]{{1,5}}\S{{1,{MAX_NAME}}}[ ]{{1,5}}/[a-z]))[ ]{{1,5}}(?![/*])"
        r"(?:\\{0,3}\"(?P<s>[^\"\\\n]{3,200})|(?P<t>[^\s\"'%$<>|&\\][^\s\"'<>|&\\]{2,200}))",
    ),
    "PowerShell password": (
        ("convertto-securestring",),
        r"(?i)(?:(?<![^\s=(])\\{0,3}[\"'](?P<q>[^\"'$\\\n][^\"'\\\n]{2,200})\\{0,3}[\"']\s{0,5}\|\s{0,5}"
        r"ConvertTo-SecureString(?=[^\n]{0,200}-AsPlainText)"
        r"|ConvertTo-SecureString(?=[^\n]{0,300}-AsPlainText)(?:\s{1,5}-[a-z]{1,20}){0,4}\s{1,5}"
        r"(?:\\{0,3}\"(?P<s>(?!\$[\w({])[^\"\\\n]{3,200})|\\{0,3}'(?P<t>[^'\\\n]{3,200})"
        r"|(?P<u>[^\s\"'$(<>|;\\-][^\s\"'<>|;\\)]{2,200})))",
    ),
}
# The same for secrets in words of 32 characters and more, which most texts are without.
WORD_TEXTS: dict[str, tuple[tuple[str, ...], str]] = {
    "Slack webhook": (
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9/_+-]{20,})",
    ),
    "Discord webhook": (
        ("/webhooks/",),
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{1,20}/(?P<s>[A-Za-z0-9_-]{40,})",
    ),
    "Teams webhook": (("webhook.office.com",), r"webhook\.office\.com/webhookb2/(?P<s>[A-Za-z0-9@/-]{40,})"),
    "Zapier webhook": (("hooks.zapier.com",), r"hooks\.zapier\.com/hooks/catch/(?P<s>[A-Za-z0-9/]{10,})"),
    "JWT": (
        ("eyj",),
        rf"{DASHED_START}(?P<s>eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]*)",
    ),
    "Discord token": (
        (".",),
        rf"{DASHED_START}(?P<s>[A-Za-z0-9_-]{{23,28}}\.[A-Za-z0-9_-]{{6,7}}\.[A-Za-z0-9_-]{{27,38}})(?![A-Za-z0-9_-])",
    ),
    "Telegram token": ((":",), r"(?P<n>\d{8,10}):(?P<s>[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])"),
    "Azure key": (
        ("accountkey=", "accesskey="),
        r"(?i)(?:Account|SharedAccess)Key=(?P<s>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    "Azure signature": (("sig=",), r"(?:[?&;]|%26|%3F)sig=(?P<s>[A-Za-z0-9%+/=_-]{30,})"),
    "Azure function key": (
        ("code=",),
        r"azurewebsites\.net/[^\s?]{0,200}\?code=(?P<s>[A-Za-z0-9%+/=_-]{30,})",
    ),
    "Azure registry password": (
        ("+acr",),
        rf"{DASHED_START}(?P<s>[A-Za-z0-9+/]{{42}}\+ACR[A-Za-z0-9]{{6}})(?![A-Za-z0-9])",
    ),
    "Azure client secret": (
        ("q~",),
        rf"{DASHED_START}(?P<s>[A-Za-z0-9_~.-]{{3}}\dQ~[A-Za-z0-9_~.-]{{31,34}})",
    ),
    "Terraform token": (
        (".atlasv1.",),
        rf"{DASHED_START}(?P<s>[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,70}})",
    ),
    "Mailchimp key": (("-us",), rf"{DASHED_START}(?P<s>[0-9a-f]{{32}}-us\d{{1,2}})(?![A-Za-z0-9_])"),
    "New Relic licence": (("nral",), rf"{DASHED_START}(?P<s>[0-9a-zA-Z]{{36}}NRAL)(?![A-Za-z0-9_])"),
    "MaxMind key": (
        ("_mmk",),
        rf"{DASHED_START}(?P<s>[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk)(?![A-Za-z0-9_])",
    ),
}
END_OF_KEY = lazy_pattern(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
KEY_LETTERS = string.ascii_letters + string.digits + "+/=\\ \r\n"

Check = Callable[[re.Match[str], str], bool]


def is_bot_token(match: re.Match[str], secret: str) -> bool:
    """Return whether a token has several letters of both cases, as one that was drawn has."""
    start = match.start()
    if not is_start(match.string, start) and match.string[max(0, start - 3) : start] != "bot":
        return False
    return min(sum(map(str.isupper, secret)), sum(map(str.islower, secret))) >= 4


def is_login(match: re.Match[str], secret: str) -> bool:
    """Return whether a text in Base64 is a name and a password."""
    try:
        return b":" in base64.b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        return False


def is_drawn(match: re.Match[str], secret: str) -> bool:
    """Return whether a value has a digit, and is no name of a variable."""
    return bool(re.search(r"\d", secret)) and not VARIABLE.fullmatch(secret)


def is_authorization(match: re.Match[str], secret: str) -> bool:
    """Return whether a header's value is drawn; a short one stands behind a scheme."""
    if match.lastgroup == "t":
        is_token = is_drawn(match, secret) or looks_mixed(secret) or "-" in secret.strip("-")
        return is_login(match, secret) or (is_token and is_literal(secret))
    return is_drawn(match, secret)


def is_pair(match: re.Match[str], secret: str) -> bool:
    """Return whether the second of a pair is a password: a list may have the kinds of logins instead."""
    return is_literal(secret) and (match["open"] == "(" or has_mixture(secret))


def is_in_cookie(match: re.Match[str], secret: str) -> bool:
    return bool(COOKIE.search(line_before(match)))


VARIABLE = lazy_pattern(r"[A-Za-z_]\w*(?:[.(\[].*|_\w*)|\d+")
COOKIE = lazy_pattern(r"(?i)\bcookie:")
CHECKS: dict[str, Check] = {
    "Telegram token": is_bot_token,
    "Discord token": lambda match, secret: looks_random(secret),
    "Docker login": is_login,
    "session cookie": is_in_cookie,
    "authorization": is_authorization,
    "login": is_pair,
    "npm auth": is_drawn,
}
PLACEHOLDER = lazy_pattern(r"(?i)[-x*.…_]{3,}|pass(?:word|wd)?|your[-_]?\w*|\$.*|%.*%|\{.*")
# A part of a pattern that is found sooner than the whole.
FIRST = {
    "Discord token": lazy_pattern(r"\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27}"),
    "Azure function key": lazy_pattern("code="),  # the address before it may have other letters
}
OPTION = lazy_pattern(r"\s-[A-Za-z-]")
ANNOUNCED = {
    kind: lazy_pattern(rf"(?<![\w.-]){before}(?:\.exe)?(?=\s)")
    for kind, (_, before, _) in COMMANDS.items()
    if before
}
Table = dict[str, tuple[tuple[str, ...], re.Pattern[str]]]
_texts: Table = {kind: (hints, lazy_pattern(pattern, re.S)) for kind, (hints, pattern) in TEXTS.items()}
_word_texts: Table = {kind: (hints, lazy_pattern(pattern)) for kind, (hints, pattern) in WORD_TEXTS.items()}
_commands: Table = {kind: (hints, lazy_pattern(pattern)) for kind, (hints, _, pattern) in COMMANDS.items()}


SHARED = ("pass", "auth", "login", ":", "-")  # parts of many hints, which are looked for first
Hints = dict[str, list[tuple[str, str]]]


def group_hints(table: Table) -> Hints:
    """Return the hints with their kinds, by the part that they share with others."""
    groups: Hints = {}
    for hint, kind in ((hint.lower(), kind) for kind, (hints, _) in table.items() for hint in hints):
        groups.setdefault(next((part for part in SHARED if part in hint), hint), []).append((hint, kind))
    return groups


def list_hinted(table: Table, groups: Hints, text: str) -> list[str]:
    """Return the kinds of which a hint occurs, in the order of their table."""
    found = {kind for part, hints in groups.items() if part in text for hint, kind in hints if hint in text}
    return [kind for kind in table if kind in found] if found else []


_hints, _word_hints, _command_hints = map(group_hints, (_texts, _word_texts, _commands))


def find_formats(text: str, letters: str, words: str, spans: Spans) -> None:
    """Add the secrets that are known by what is around them.

    ``letters`` are the small letters and signs of ASCII in the text, ``words`` the longest words of them.
    """
    for kind in list_hinted(_word_texts, _word_hints, words.lower()) if words else ():
        if FIRST.get(kind, _word_texts[kind][1]).search(words):
            add_matches(kind, _word_texts[kind][1], text, spans)
    for kind in list_hinted(_texts, _hints, letters):
        add_matches(kind, _texts[kind][1], text, spans)
    if "-" in text and OPTION.search(text):
        for kind in list_hinted(_commands, _command_hints, letters):
            add_matches(kind, _commands[kind][1], text, spans)
    if "-----END " in text:
        add_key_ends(text, spans)


def add_matches(kind: str, pattern: re.Pattern[str], text: str, spans: Spans) -> None:
    check, announcing = CHECKS.get(kind, is_no_placeholder), ANNOUNCED.get(kind)
    for match in pattern.finditer(text):
        group = match.lastgroup or 0
        if check(match, match[group]) and (not announcing or announcing.search(line_before(match))):
            spans.add(*match.span(group), kind)


def is_no_placeholder(match: re.Match[str], secret: str) -> bool:
    return not secret.startswith("[redacted") and not PLACEHOLDER.fullmatch(secret)


def line_before(match: re.Match[str]) -> str:
    """Return the text before a match in its line, at most MAX_LINE characters."""
    before: str = match.string[max(0, match.start() - MAX_LINE) : match.start()]
    return before.replace("\\\n", " ").rpartition("\n")[2]


def add_key_ends(text: str, spans: Spans) -> None:
    """Add private keys whose beginning was cut off: the text before a key's end line."""
    last = 0
    for found in END_OF_KEY.finditer(text):
        start = last + len(text[last : found.start()].rstrip(KEY_LETTERS))
        spans.add(start, found.end(), "private key")
        last = found.end()
