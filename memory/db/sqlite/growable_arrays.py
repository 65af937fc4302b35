"""Growable arrays: the columns of cached rows, and the positions of hashes."""

from collections.abc import Iterable, Mapping

import numpy as np


class Columns:
    """Parallel arrays of equal length, appended to in bulk. ``self[name]`` is the filled part."""

    def __init__(self, **dtypes: str) -> None:
        self.size = 0
        self._arrays = {name: np.empty(1024, dtype=dtype) for name, dtype in dtypes.items()}

    @classmethod
    def wrap_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Columns":
        """Return columns that begin with these arrays, of equal length; they are copied when they grow."""
        columns = cls()
        columns._arrays = dict(arrays)
        columns.size = len(next(iter(arrays.values())))
        return columns

    def list_columns(self) -> list[tuple[str, np.ndarray]]:
        return [(name, self[name]) for name in self._arrays]

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


class HashPositions:
    """Position of the vector of each hash: those of two arrays, and those that came since."""

    def __init__(self, keys: np.ndarray | None = None, positions: np.ndarray | None = None) -> None:
        self._keys = np.empty(0, dtype="i8") if keys is None else keys  # rising
        self._positions = np.empty(0, dtype="i8") if positions is None else positions
        self._new: dict[int, int] = {}

    def __contains__(self, key: int) -> bool:
        return self.get(key) >= 0

    def get(self, key: int) -> int:
        """Return the position of a hash, -1 where it is not known."""
        if (found := self._new.get(key, -1)) >= 0 or not len(self._keys):
            return found
        at = int(np.searchsorted(self._keys, key))
        return int(self._positions[at]) if at < len(self._keys) and self._keys[at] == key else -1

    def update(self, pairs: Iterable[tuple[int, int]]) -> None:
        self._new.update(pairs)

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all hashes in rising order, and their positions."""
        new = np.array(list(self._new.items()), dtype="i8").reshape(-1, 2)
        keys = np.concatenate([self._keys, new[:, 0]])
        positions = np.concatenate([self._positions, new[:, 1]])
        order = np.argsort(keys, kind="stable")
        return keys[order], positions[order]
