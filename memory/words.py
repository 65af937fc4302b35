"""Keywords of a query, without stop words."""

import re
from collections.abc import Collection

from memory.db.index_tokens import search_phrases
from memory.word_forms import MARKS, WORD_PATTERN, fold_text

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are aren as at be because been before being between both
    but by can could couldn d did didn do does doesn doing don during each for from further had hadn has
    hasn have haven having he her here hers herself him himself his how i if in into is isn it its
    itself just ll m ma me more most my myself no nor not now o of off on once only or other our ours
    ourselves out over own re s same she should shouldn so some such t than that the their theirs them
    themselves then there these they this those through to too under until up ve very was wasn we were
    weren what when where which while who whom whose why will with won would wouldn y you your yours
    yourself yourselves
    """.split()
)
TOKEN = re.compile(
    rf"[\u3400-\u9fff]|(?:[^\W\u3400-\u9fff]|[{MARKS}])+"
)  # an ideograph is a word: no space divides them
# A query of nothing else asks for no memory, though chats are full of it.
SMALL_TALK = frozenset(
    """
    hi hello hey good morning evening night afternoon thanks thank great cool ok okay nice bye goodbye see
    later soon today doing fine well welcome sure yes sorry wow awesome lol haha perfect bonjour salut merci
    hallo danke tschüss hola gracias adiós ciao grazie olá obrigado obrigada
    """.split()
)
MAX_KEYWORDS = 64  # a query of 8,000 characters has more; the first ones carry its topic


def is_small_talk(words: Collection[str]) -> bool:
    """Return whether a query has words, and none that asks for a memory."""
    return bool(words) and all(word in SMALL_TALK or word in STOP_WORDS for word in words)


def list_phrases(text: str) -> list[str]:
    """Return the words of a text as they are looked for: pairs of units in scripts without spaces."""
    return [phrase for word in WORD_PATTERN.findall(fold_text(text)) for phrase in search_phrases(word)]


def list_words(text: str) -> set[str]:
    """Return the words of a text, of scripts without spaces the pairs of characters, without numbers."""
    return {form for form in list_phrases(text) if not form.isdigit()}


def extract_keywords(query: str) -> list[str]:
    """Return the query's words, folded, without stop words (all words if none is left), without repeats.

    A name like ``auth_token`` is returned whole, which matches it as a phrase, and in its parts.
    """
    words = list(dict.fromkeys(WORD_PATTERN.findall(fold_text(query.replace("\x00", " ")))))
    words = [word for word in words if word not in STOP_WORDS] or words
    parts = (part for word in words for part in (word, *word.split("_")))
    return [part for part in dict.fromkeys(parts) if part.strip("_")][:MAX_KEYWORDS]
