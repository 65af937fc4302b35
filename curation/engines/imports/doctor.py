"""What is wrong with a memory of another product, by its text and what is known of it. Pure functions.

Each finding is a guess that a person reads: a record is flagged by it, never left out.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from conversations.capture.text_cleaning import strip_injected
from curation.engines.fields.imports import ECHO, HOSTILE, JUNK, SECRET, STALE, UNSOURCED
from memory.patterns import lazy_pattern
from memory.words import TOKEN

SOURCES = ("author", "session", "user_id", "origin")
MIN_WORDS = 2
MIN_LETTERS = 0.4  # share of letters in what is not white space
MAX_READ = 20_000  # characters of a text that are looked at


def join_patterns(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that any of several fits, in whatever case."""
    return lazy_pattern("|".join(patterns), re.IGNORECASE | re.MULTILINE | flags)


SMALL_TALK = lazy_pattern(
    r"\W*(?:hi|hello|hey|yo|thanks?(?: you)?(?: (?:so|very) much)?|ok(?:ay)?|yes|no|sure|bye|great|cool"
    r"|nice"
    r"|good ?(?:bye|morning|night|evening)|got it|sounds good|你好|谢谢|好的|再见)"
    r"(?: there| everyone| so much)?\W*",
    re.IGNORECASE,
)
PLACEHOLDER = join_patterns(
    r"\A\W*(?:none|null|undefined|nan|n/?a|unknown|tbd|todo|test|asdf+|\[object object\]|no_?reply)\W*\Z",
    r"\A\W*(?:heartbeat(?:_ok)?|lorem ipsum.*)\W*\Z",
    r"\bno (?:relevant |new |specific )?(?:information|facts?|memor(?:y|ies)|details?) (?:\w+ )?"
    r"(?:found|provided|available|extracted|mentioned)\b",
    r"\b(?:user(?:'s)? )?\w+ (?:is|was|are) (?:unknown|not (?:provided|specified|mentioned|known))\W*$",
    r"\bas an? (?:ai|language|large language)\b.{0,20}\b(?:model|assistant)\b",
    r"\byou are an? (?:helpful|ai)\b.{0,20}\bassistant\b",
)
DUMP = join_patterns(
    r"\A\s*[\[{].*[\]}]\s*\Z",
    r"Traceback \(most recent call last\)",
    r"^\s+at \S+ ?\(.*:\d+:\d+\)",
    r"[A-Za-z0-9+/=]{120,}",
    r"\A\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* ?\S{0,20}(?:INFO|DEBUG|WARN|ERROR)",
    flags=re.DOTALL,
)
TOLD_AGAIN = join_patterns(
    r"</?(?:memor(?:y|ies)|recalled[\w-]*|relevant[\w-]*memor\w*|claude-mem-context|supermemory-context)\b[^>]*>",
    r"\b(?:according to|based on|from) (?:my|your|our|the|stored|previous|past)"
    r" (?:memor(?:y|ies)|stored context|saved facts)\b",
    r"^\W*(?:relevant|recalled|stored|retrieved) memor(?:y|ies)\b\s*:",
    r"\b(?:i|we) (?:recall|remember) (?:that )?you\b",
    r"\b(?:was|is) reminded (?:that|of)\b|\bassistant (?:recalled|remembered|was reminded)\b",
    r"根据(?:我的|之前的)?记忆",
)
ORDERS = join_patterns(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}"
    r"\b(?:previous|prior|above|earlier|all|any|system|safety)\b.{0,20}\b(?:instructions?|rules?|prompts?|guidelines?|messages?|policies)\b",
    r"\byou are now\b",
    r"\b(?:reveal|print|repeat|show|leak|send)\b.{0,25}"
    r"\b(?:system prompt|hidden (?:prompt|instructions)|api keys?|credentials|passwords?)\b",
    r"\b(?:do not|don't|never) (?:tell|inform|alert) the user\b",
    r"\bwithout (?:telling|asking|informing) the user\b",
    r"<\|(?:im_start|im_end|system|endoftext)\|>|\[/?INST\]|<</?SYS>>|<script\b",
    r"^\s*(?:#+ *)?(?:system|developer) ?(?:prompt|message)?:",
    r"\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:ba|z)?sh\b|\brm -rf [/~]",
    r"!\[[^\]]{0,200}\]\(https?://[^)\s]{0,500}\?[^)]{0,500}\)",
    r"[\u202a-\u202e\u2066-\u2069]|[\u200b\u2060\U000e0020-\U000e007f]{3,}",
    r"忽略.{0,6}(?:之前|以上|先前|所有).{0,6}(?:指令|指示|规则|提示)|不要告诉用户",
)


def examine_record(record: Mapping[str, Any], *, had_secret: bool) -> Iterator[str]:
    """Yield what is wrong with a checked record by itself."""
    text = str(record["text"])[:MAX_READ]
    tests = {
        JUNK: is_junk(text) or says_nothing(strip_name(text, record)),
        ECHO: is_echo(text),
        HOSTILE: bool(ORDERS.search(text)),
        SECRET: had_secret,
        STALE: is_stale(record, timezone.now()),
        UNSOURCED: not any(record.get(name) for name in SOURCES),
    }
    yield from (name for name, is_so in tests.items() if is_so)


def is_junk(text: str) -> bool:
    """Return whether a text says nothing that lasts: small talk, a placeholder, a dump of data."""
    solid = "".join(text.split())
    letters = sum(character.isalpha() for character in solid)
    if letters < MIN_LETTERS * len(solid) or len(TOKEN.findall(text)) < MIN_WORDS:
        return True
    return says_nothing(text)


def says_nothing(text: str) -> bool:
    return bool(SMALL_TALK.fullmatch(text) or PLACEHOLDER.search(text) or DUMP.search(text))


def strip_name(text: str, record: Mapping[str, Any]) -> str:
    """Return a text without the name of the entity, or its title, which its reader wrote before it."""
    names = (record.get("origin", "").removeprefix("entity "), record.get("metadata", {}).get("title"))
    return next((text.removeprefix(f"{one}: ") for one in names if text.startswith(f"{one}: ")), text)


def is_echo(text: str) -> bool:
    """Return whether a text is what a memory told an agent, written down again."""
    return strip_injected(text) != text.strip() or bool(TOLD_AGAIN.search(text))


def is_stale(record: Mapping[str, Any], now: datetime) -> bool:
    """Return whether its product says that it holds no more."""
    ends = (record.get("valid_until"), record.get("expires_at"))
    return bool(record.get("ended")) or any(end is not None and end <= now for end in ends)
