"""Report: figures with their bounds."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Figure:
    """Measurement with its baseline and its bound."""

    name: str
    value: float
    unit: str
    bound: float
    bound_says: str
    reference: float | None = None
    reference_says: str = ""
    least: bool = False  # the bound is a lower one

    @property
    def kept(self) -> bool:
        return self.value >= self.bound if self.least else self.value <= self.bound

    @property
    def ratio(self) -> float | None:
        return self.value / self.reference if self.reference else None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio, "kept": self.kept}


def times(name: str, value: float, reference: float, most: float, says: str, unit: str = "ms") -> Figure:
    """Return a figure bounded by a multiple of its reference."""
    return Figure(name, value, unit, most * reference, f"≤ {most:g} × reference", reference, says)


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Run the work and return its milliseconds; of the processor with ``time.process_time``."""
    started = clock()
    work()
    return (clock() - started) * 1000


def p50(values: Sequence[float]) -> float:
    return float(np.median(values))


def p95(values: Sequence[float]) -> float:
    return float(np.quantile(values, 0.95))


def table(figures: Sequence[Figure]) -> str:
    heads = ("figure", "measured", "reference", "ratio", "bound", "")
    rows = [heads, *(_row(figure) for figure in figures)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(heads))]
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (
        cell.rjust(width) if at in (1, 3) else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()


def _row(figure: Figure) -> tuple[str, ...]:
    reference = f"{figure.reference:.2f} ({figure.reference_says})" if figure.reference is not None else "–"
    return (
        figure.name,
        f"{figure.value:.2f} {figure.unit}",
        reference,
        f"{figure.ratio:.2f}" if figure.ratio else "–",
        figure.bound_says,
        "ok" if figure.kept else "MISSED",
    )
