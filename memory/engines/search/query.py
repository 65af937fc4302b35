"""A query made ready to be asked. The provider is asked here, before any transaction or snapshot."""

import logging

import numpy as np

from memory.engines.candidates import Question
from memory.engines.embedding import model_in_force
from memory.exceptions import Invalid, ProviderUnavailable, QueryTooLong
from memory.providers.embedding import read_query
from memory.words import keywords

QUERY = 8000  # characters
logger = logging.getLogger(__name__)


def ask(query: str, vector: np.ndarray | None = None, search_type: str = "hybrid") -> Question:
    """The words and vectors of a query. Without an embedder, or when it fails, the words alone.

    ``vector`` takes the place of the embedder's. Raises QueryTooLong, Invalid for what is no text.
    """
    text = check_query(query)
    words = keywords(text)
    model = model_in_force() or ""  # none either where the settings cannot be followed
    if vector is not None or search_type == "keyword" or not model or not text.strip():
        return Question(text, words, vector, None, model)
    try:
        read = read_query(text)
    except ProviderUnavailable as error:
        logger.warning("search without vectors: %s", error)
        read = None
    vector, word_vectors = read or (None, None)
    return Question(text, words, vector, word_vectors, model)


def check_query(query: str) -> str:
    """The query, fit for every database: half surrogate pairs and NULs are dropped, they match nothing."""
    if not isinstance(query, str):
        raise Invalid("{field} must be a text.", field="query")
    if len(query) > QUERY:
        raise QueryTooLong(limit=QUERY, length=len(query), field="query")
    return query.replace("\x00", " ").encode("utf-8", "ignore").decode()
