"""Checked unit vectors, float32, which every provider returns."""

from typing import Any

import numpy as np
import numpy.typing as npt

from memory.exceptions import ProviderNonsense

Vectors = npt.NDArray[np.float32]

MIN_NORM = 1e-9  # a row below this has no direction


def unit_rows(rows: npt.NDArray[Any]) -> Vectors:
    """Scale each row of shape (n, d) to length one. Raises ProviderNonsense if one has no direction."""
    wide = rows.astype(np.float64)  # squares of large float32 values would overflow
    if not np.isfinite(wide).all():
        raise ProviderNonsense(reason="a vector holds NaN or infinity")
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if (lengths < MIN_NORM).any() or not np.isfinite(lengths).all():
        raise ProviderNonsense(reason="a vector has no length")
    return (wide / lengths).astype(np.float32)
