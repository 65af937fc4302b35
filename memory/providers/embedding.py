"""Which model makes the vectors: read from the settings, one instance for the whole process."""

import os
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeGuard

from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

from memory.conf import Conf, conf
from memory.providers.onnx_minilm import OnnxMiniLM
from memory.providers.openai_compat import OpenAICompatible
from memory.providers.vectors import Vectors
from memory.providers.word_vectors import Codes

QUERIES_KEPT = 256  # vectors of the latest queries, 400 kB


class EmbeddingProvider(Protocol):
    """A model that turns texts into vectors. Safe to use from several threads."""

    @property
    def model(self) -> str:
        """The name kept with each vector; vectors of two names are never compared."""

    @property
    def dimensions(self) -> int | None:
        """How many numbers a vector has; None until the first answer tells."""

    def embed(self, texts: list[str]) -> Vectors:
        """Shape (n, d), float32, rows of length one, in the order of the texts; [] gives shape (0, d).

        ProviderUnavailable when trying later may help, ProviderNonsense when the answer is unusable.
        Never call it inside a transaction: it can take seconds.
        """

    def query_words(self, text: str) -> tuple[Vectors, Vectors | None]:
        """The vector of a query, shape (d,), and those of its words, shape (words, d), where it tells them.

        Somebody waits for it: it gives up sooner than ``embed``, and raises the same.
        """


class WordProvider(EmbeddingProvider, Protocol):
    """A model that also tells how the words of a text stand in it: they can be matched one by one."""

    def embed_words(self, texts: list[str]) -> tuple[Vectors, list[Codes]]:
        """The vectors as ``embed`` gives them, and for each text the codes of its words, b"" for none."""

    def query_words(self, text: str) -> tuple[Vectors, Vectors]:
        """As above, always with the words."""


def tells_words(provider: EmbeddingProvider) -> TypeGuard[WordProvider]:
    return hasattr(provider, "embed_words")


def get_provider() -> EmbeddingProvider | None:
    """The provider that the settings name; None when embedding is off.

    ImproperlyConfigured when they name a model file that does not exist, or OpenAI without a key.
    """
    with _lock:  # lru_cache alone lets two threads build two, with two copies of the weights
        return _provider_for(conf())


def warm_up() -> None:
    """Load a model that runs in this process, so that the first text does not wait for it."""
    provider = get_provider()
    if isinstance(provider, OnnxMiniLM):
        provider.load()


def read_query(text: str) -> tuple[Vectors, Vectors | None] | None:
    """The vector of a query and those of its words (None from a model that does not tell them), read-only.

    None when embedding is off. The latest queries are answered from memory. Raises what
    ``EmbeddingProvider.embed`` raises.
    """
    provider = get_provider()
    return None if provider is None else _query_vector(provider.model, text)


@lru_cache(maxsize=QUERIES_KEPT)
def _query_vector(model: str, text: str) -> tuple[Vectors, Vectors | None] | None:
    provider = get_provider()
    if provider is None:
        return None
    vector, words = provider.query_words(text)
    for shared in (vector, words):  # many callers share them
        if shared is not None:
            shared.setflags(write=False)
    return vector, words


@lru_cache(maxsize=8)
def _provider_for(settings: Conf) -> EmbeddingProvider | None:
    match settings.embedder:
        case "off":
            return None
        case "openai":
            return _openai(settings)
        case "minilm":
            return _local(None)
        case path:
            return _local(_model_file(path))


@cache
def _local(path: Path | None) -> OnnxMiniLM:
    """One instance for all settings that differ elsewhere: the weights are 200 MB in memory."""
    return OnnxMiniLM(path)


def _model_file(embedder: str) -> Path:
    path = Path(embedder).expanduser()
    if not path.is_file():
        raise ImproperlyConfigured(
            f"DAY1['embedder'] is {embedder!r}, which is neither minilm, openai, off nor a file that exists."
        )
    return path


def _openai(settings: Conf) -> OpenAICompatible:
    if not settings.embedding_api_key.strip():
        raise ImproperlyConfigured(
            "DAY1['embedder'] is openai, but DAY1['embedding_api_key'] is empty. "
            "A server of your own that asks for no key takes any word."
        )
    return OpenAICompatible(
        base_url=settings.embedding_base_url,
        api_key=settings.embedding_api_key,
        model=settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        timeout=settings.embedding_timeout,
        query_timeout=settings.query_timeout,
        batch=settings.embedding_batch,
    )


def _after_fork() -> None:
    """A child must not share its parent's connections, nor wait for a lock that a lost thread holds.

    ``_local`` is kept: its models know their process.
    """
    global _lock
    _lock = Lock()
    _provider_for.cache_clear()


def _forget_queries(*, setting: str, **_: Any) -> None:
    if setting == "DAY1":  # another server may give other vectors under the same model name
        _query_vector.cache_clear()


_lock = Lock()
os.register_at_fork(after_in_child=_after_fork)
setting_changed.connect(_forget_queries, dispatch_uid="day1.embedding")
