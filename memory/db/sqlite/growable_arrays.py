"""Growable arrays: the columns of cached rows, and the vectors in blocks."""

from collections.abc import Iterator

import numpy as np

BLOCK = 8192  # vectors in a block; blocks never move, so growth copies nothing


class Columns:
    """Parallel arrays of equal length, appended to in bulk. ``self[name]`` is the filled part."""

    def __init__(self, **dtypes: str) -> None:
        self.size = 0
        self._arrays = {name: np.empty(1024, dtype=dtype) for name, dtype in dtypes.items()}

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name][: self.size]

    def append(self, **values: np.ndarray | list) -> np.ndarray:
        """Append rows, one value of every column for each; return their positions."""
        more = len(next(iter(values.values())))
        start, self_size = self.size, self.size + more
        for name, array in self._arrays.items():
            if self_size > len(array):
                array = np.resize(array, max(self_size, len(array) * 3 // 2))
                self._arrays[name] = array
            array[start:self_size] = values[name]
        self.size = self_size
        return np.arange(start, self_size)


class Blocks:
    """Unit vectors of shape (n, d), in blocks. Positions follow the order of appending."""

    def __init__(self) -> None:
        self.size = 0
        self._blocks: list[np.ndarray] = []

    def append(self, vectors: np.ndarray) -> np.ndarray:
        """Append float32 vectors of shape (m, d); return their positions."""
        start = self.size
        while len(vectors):
            offset = self.size % BLOCK
            if offset == 0:
                self._blocks.append(np.empty((BLOCK, vectors.shape[1]), dtype="f4"))
            batch = vectors[: BLOCK - offset]
            self._blocks[-1][offset : offset + len(batch)] = batch
            self.size, vectors = self.size + len(batch), vectors[len(batch) :]
        return np.arange(start, self.size)

    @property
    def dimensions(self) -> int:
        return self._blocks[0].shape[1] if self._blocks else 0

    def split_positions(self, at: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
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
        """Return the inner product of ``vector`` with each vector at the positions ``at``.

        May run while another thread appends: existing vectors never move.
        """
        size, blocks = self.size, self._blocks
        if len(at) * 4 > size:
            every = np.empty(size, dtype="f4")
            for number, start in enumerate(range(0, size, BLOCK)):
                part = every[start : start + BLOCK]
                inner_products(blocks[number][: len(part)], vector, part)
            return every[at]
        scores = np.empty(len(at), dtype="f4")
        block_numbers = at // BLOCK
        for number in np.unique(block_numbers):
            in_block = block_numbers == number
            scores[in_block] = inner_products(blocks[number][at[in_block] % BLOCK], vector)
        return scores


def inner_products(rows: np.ndarray, vector: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Compute each row's inner product in the calling thread.

    A BLAS library would wake a thread on each core and wait for all: no faster for one search, since memory
    is the limit, and many times slower where other searches or writes use the cores.
    """
    product: np.ndarray = np.einsum("ij,j->i", rows, vector, out=out)
    return product
