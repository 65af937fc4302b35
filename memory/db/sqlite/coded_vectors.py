"""Unit vectors in memory: of each number a coarse byte, which a search compares, and two fine ones.

A coarse cosine is wrong by at most a bound that is known (the lengths of what rounding dropped, by
Cauchy-Schwarz), so the best rows are found with certainty: those whose coarse cosine comes within the bound
of the true one of the k-th best are compared again, with all three bytes. That is as exact as float32.

What is coded is the way from a center to the vector, v = c + w, and q = c + p. Of q·v = q·c + c·w + p·w only
the last part is coarse: where all vectors stand around one direction, p and w are short, and so is the bound.
"""

import mmap
from collections.abc import Iterator
from math import prod

import numkong
import numpy as np

BLOCK = 8192  # vectors in a block; blocks never move, so growth copies nothing
PAIRS = 4096  # compared again at a time: 6 MB of floats at 384 dimensions
PACKED_QUERIES = 16  # from so many on, a block is arranged for a product of matrices first
MIN_CENTERED = 256  # vectors that come at once, from which on their mean is a center
MAX_CODE = 127
FINE = 2 * (2**15 - 1)  # fine steps in a coarse one
ROUNDING = 1e-5  # of float32 sums, added to each bound


class Codes:
    """Vectors of shape (n, d) around a center, as coarse and fine numbers, with the size of a coarse step and
    the inner product with the center of each.
    """

    def __init__(
        self, coarse: np.ndarray, fine: np.ndarray, steps: np.ndarray, offsets: np.ndarray, center: np.ndarray
    ) -> None:
        self.coarse, self.fine, self.steps, self.offsets = coarse, fine, steps, offsets
        self.center = center
        self.error = self.length = 0.0  # the highest length of what coarse bytes leave out, and of all

    @classmethod
    def empty(cls, size: int, center: np.ndarray) -> "Codes":
        shape = (size, len(center))
        steps, offsets = np.empty((2, size), dtype="f4")
        return cls(allocate_pages(shape, "i1"), allocate_pages(shape, "i2"), steps, offsets, center)

    @classmethod
    def encode(cls, vectors: np.ndarray, center: np.ndarray | None = None) -> "Codes":
        """Return vectors of finite numbers as codes: any other one would make the bound of all too small."""
        center = np.zeros(vectors.shape[1], dtype="f4") if center is None else center
        vectors = vectors - center
        highest = np.maximum(vectors.max(axis=1), -vectors.min(axis=1))
        steps = np.where(highest > 0, highest / MAX_CODE, 1).astype("f4")
        rest = vectors / steps[:, None]
        coarse = np.rint(rest)
        rest -= coarse
        squares = np.einsum("ij,ij->i", rest, rest) * steps**2
        rest *= FINE
        fine = np.rint(rest, out=rest).astype("i2")
        made = cls(coarse.astype("i1"), fine, steps, inner_products(vectors, center), center)
        made.error = float(np.sqrt(squares.max(initial=0)))
        made.length = float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0)))
        return made

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, at: np.ndarray | slice) -> "Codes":
        part = Codes(self.coarse[at], self.fine[at], self.steps[at], self.offsets[at], self.center)
        part.error, part.length = self.error, self.length
        return part

    def fill(self, start: int, codes: "Codes") -> None:
        """Write other codes of the same center from a position on."""
        end = start + len(codes)
        # First: a reader may compare the new ones at once.
        self.error, self.length = max(self.error, codes.error), max(self.length, codes.length)
        self.coarse[start:end], self.fine[start:end] = codes.coarse, codes.fine
        self.steps[start:end], self.offsets[start:end] = codes.steps, codes.offsets

    def estimate(self, query: "Query") -> np.ndarray:
        """Return the coarse cosines with each vector of the query, of shape (m, n)."""
        return query.estimate(self.center, self.coarse, self.steps, self.offsets)

    def estimate_at(self, at: np.ndarray, query: "Query") -> np.ndarray:
        """Return the same with the vectors at these positions."""
        return query.estimate(self.center, self.coarse[at], self.steps[at], self.offsets[at])

    def bound_error(self, query: "Query") -> float:
        """Return by how much a coarse cosine may be wrong."""
        coded = query.encode_around(self.center)
        return coded.error * (self.length + self.error) + coded.length * self.error + ROUNDING

    def decode(self, at: np.ndarray | slice) -> np.ndarray:
        """Return the vectors at these positions as float32."""
        floats = self.fine[at].astype("f4")
        floats /= FINE
        floats += self.coarse[at]
        floats *= self.steps[at][:, None]
        floats += self.center
        return floats


class Query:
    """One or several unit vectors, of shape (m, d), to compare with coded ones."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = np.ascontiguousarray(np.atleast_2d(vectors), dtype="f4")
        self._coded: Codes | None = None

    def __getitem__(self, part: slice) -> "Query":
        return Query(self.vectors[part])

    def encode_around(self, center: np.ndarray) -> Codes:
        """Return the vectors as codes around a center; those of the last one are kept."""
        if self._coded is None or self._coded.center is not center:
            self._coded = Codes.encode(self.vectors, center)
        return self._coded

    def estimate(
        self, center: np.ndarray, coarse: np.ndarray, steps: np.ndarray, offsets: np.ndarray
    ) -> np.ndarray:
        """Return the coarse cosines of each vector with coded ones, of shape (m, n)."""
        if not len(steps):
            return np.empty((len(self.vectors), 0), dtype="f4")
        coded = self.encode_around(center)
        cosines = multiply(coded.coarse, coarse) * coded.steps[:, None] * steps
        cosines += offsets
        cosines += inner_products(self.vectors, center)[:, None]
        return cosines


class CodedVectors:
    """Vectors in blocks. Positions follow the order of appending.

    Reading may run while another thread appends: existing vectors never move.
    """

    def __init__(self) -> None:
        self.size = 0
        self._blocks: list[Codes] = []

    @classmethod
    def wrap_blocks(cls, blocks: list[Codes], size: int) -> "CodedVectors":
        """Return vectors that begin with these blocks, all of them full but the last."""
        vectors = cls()
        vectors._blocks, vectors.size = list(blocks), size
        return vectors

    def list_blocks(self) -> list[Codes]:
        return list(self._blocks)

    def replace_blocks(self, blocks: list[Codes]) -> None:
        """Take the same blocks from elsewhere; the last one may have grown, and stays."""
        self._blocks[: len(blocks) - 1] = blocks[:-1]

    @property
    def dimensions(self) -> int:
        return int(self._blocks[0].coarse.shape[1]) if self._blocks else 0

    def append(self, vectors: np.ndarray) -> np.ndarray:
        """Append float32 vectors of shape (m, d); return their positions."""
        center = self._blocks[0].center if self._blocks else choose_center(vectors)
        first, codes = self.size, Codes.encode(vectors, center)
        while len(codes):
            start = self.size % BLOCK
            if start == 0:
                self._blocks.append(Codes.empty(BLOCK, center))
            part = codes[: BLOCK - start]
            self._blocks[-1].fill(start, part)
            self.size, codes = self.size + len(part), codes[len(part) :]
        return np.arange(first, self.size)

    def bound_error(self, query: Query) -> float:
        """Return by how much the coarse cosine with any vector may be wrong."""
        return max((block.bound_error(query) for block in self._blocks), default=0.0)

    def estimate(self, at: np.ndarray, query: Query) -> np.ndarray:
        """Return the coarse cosine of one vector with each at the positions ``at``."""
        size = self.size
        if len(at) * 4 > size:
            return self._estimate_all(query, size)[at]
        cosines = np.empty(len(at), dtype="f4")
        for block, part in self.split_positions(at):
            cosines[part] = block.estimate_at(at[part] % BLOCK, query)[0]
        return cosines

    def _estimate_all(self, query: Query, size: int) -> np.ndarray:
        cosines = np.empty(size, dtype="f4")
        for number, start in enumerate(range(0, size, BLOCK)):
            part = cosines[start : start + BLOCK]
            part[:] = self._blocks[number][: len(part)].estimate(query)[0]
        return cosines

    def split_positions(self, at: np.ndarray) -> Iterator[tuple[Codes, np.ndarray]]:
        """Yield each block with some of the positions ``at``, and the indexes of these in ``at``.

        The indexes are in the order of the positions.
        """
        if not len(at):
            return
        order = np.argsort(at, kind="stable")
        numbers, starts = np.unique(at[order] // BLOCK, return_index=True)
        for number, indexes in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
            yield self._blocks[number], indexes

    def dot(self, at: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """Return the inner product of ``vector`` with each vector at the positions ``at``."""
        products = np.empty(len(at), dtype="f4")
        for block, indexes in self.split_positions(at):
            for start in range(0, len(indexes), PAIRS):
                part = indexes[start : start + PAIRS]
                products[part] = inner_products(block.decode(at[part] % BLOCK), vector)
        return products


def allocate_pages(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return an array of zeros in pages of its own, which go back to the system as soon as it is dropped.

    The heap would keep them: a block is dropped for a mapped file while newer allocations lie behind it.
    """
    size = prod(shape) * np.dtype(dtype).itemsize
    pages = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, dtype, prod(shape)).reshape(shape)


def choose_center(vectors: np.ndarray) -> np.ndarray:
    """Return the mean of the first vectors, or no center for few: any is right, a near one is quick."""
    if len(vectors) < MIN_CENTERED:
        return np.zeros(vectors.shape[1], dtype="f4")
    return vectors.mean(axis=0, dtype="f8").astype("f4")


def multiply(queries: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the inner products of two arrays of bytes, of shapes (m, d) and (n, d), as (m, n) floats."""
    if len(queries) < PACKED_QUERIES:
        return np.asarray(numkong.cdist(queries, codes, "dot", out_dtype="f32"))
    return np.asarray(numkong.dots_packed(queries, numkong.dots_pack(codes))).astype("f4")


def inner_products(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Compute each row's inner product in the calling thread.

    A BLAS library would wake a thread on each core and wait for all: many times slower where other searches
    or writes use the cores.
    """
    product: np.ndarray = np.einsum("ij,j->i", rows, vector)
    return product
