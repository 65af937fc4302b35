"""Growable arrays: the columns of cached rows."""

import numpy as np


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
