"""Query preparation. The provider is called here, before any transaction or snapshot."""

import logging

import numpy as np

from memory.engines.embedding.engine import model_in_force
from memory.engines.search.candidates import PreparedQuery
from memory.exceptions import Invalid, ProviderUnavailable, QueryTooLong
from memory.providers.embedding import get_floor, read_query, share_known
from memory.words import STOP_WORDS, extract_keywords, list_phrases

MAX_QUERY_LENGTH = 8000  # characters
MIN_KNOWN, MIN_ENGLISH = 0.78, 0.3  # letters in words that the model knows, words that connect others
logger = logging.getLogger(__name__)


def build_query(query: str, vector: np.ndarray | None = None, search_type: str = "hybrid") -> PreparedQuery:
    """Prepare a query's words and vectors. Without an embedder, when it fails, and of a query that it cannot
    read, the words alone; of the last two only a failure keeps the model's name.

    ``vector`` replaces the embedder's. Raises QueryTooLong, Invalid for a query that is no text.
    """
    text = check_query(query)
    words = extract_keywords(text)
    model = model_in_force() or ""  # none either with unusable settings
    floor = get_floor() if model else 0.0
    if vector is not None or search_type == "keyword" or not model or not text.strip():
        return PreparedQuery(text, words, vector, None, model, floor)
    try:
        read = read_query(text)
    except ProviderUnavailable as error:
        logger.warning("search without vectors: %s", error)
        return PreparedQuery(text, words, None, None, model, floor)
    if not read:
        return PreparedQuery(text, words, is_foreign=True)
    return PreparedQuery(text, words, *read, model, floor, is_foreign(text))


def is_foreign(text: str) -> bool:
    """Return whether few words of a query are known to the model, and few connect others in English: it finds
    texts of one language near whatever they say.
    """
    words = [word for word in list_phrases(text) if word.isalpha() and len(word) > 1]
    english = sum(word in STOP_WORDS for word in words)
    return len(words) > 1 and english < MIN_ENGLISH * len(words) and share_known(text) < MIN_KNOWN


def check_query(query: str) -> str:
    """Return a query that every database accepts: lone surrogates and NULs match nothing and are removed."""
    if not isinstance(query, str):
        raise Invalid("{field} must be a text.", field="query")
    if len(query) > MAX_QUERY_LENGTH:
        raise QueryTooLong(limit=MAX_QUERY_LENGTH, length=len(query), field="query")
    return query.replace("\x00", " ").encode("utf-8", "ignore").decode()
