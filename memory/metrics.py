"""Figures for operators, in Prometheus' form. Counted while a server runs; before ``start`` nothing is.

They are kept in files that the processes of a server share, so that any of them answers for all.
"""

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any

from django.db import transaction

from memory.processes import is_running

logger = logging.getLogger(__name__)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # read by the library when it is imported
SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# Name: kind, help, labels.
METRICS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "day1_http_requests": ("Counter", "Requests answered.", ("method", "route", "status")),
    "day1_http_request_seconds": ("Histogram", "Time to the end of the answer.", ("route",)),
    "day1_search_part_seconds": ("Histogram", "Time of a part of a search.", ("part",)),
    "day1_commits": ("Counter", "Commits made by this server's processes.", ("kind",)),
    "day1_gates": ("Counter", "Checks of merge requests, by what they said.", ("gate", "result")),
    "day1_model_calls": ("Counter", "Requests to model servers; refused: no budget was left.", ("state",)),
    "day1_model_tokens": ("Counter", "Tokens of these, estimated where no server told them.", ("direction",)),
    "day1_streams": ("Gauge", "Streams that are open.", ("route",)),
}
# Of a process's files. The library maps them into memory: one that a full disk cannot take ends the process.
FILE_BYTES = {"counter": 2**21, "histogram": 2**21, "gauge_livesum": 2**16}
_metrics: dict[str, Any] = {}
_reserved: set[int] = set()  # processes that have their files
_reserving = Lock()


def start(folder: Path) -> None:
    """Count from now on, in files of this folder; those of a server before are deleted."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
    except OSError as error:
        logger.warning("Nothing is counted: %s", error)
        return
    os.environ[FOLDER] = str(folder)
    import prometheus_client as prometheus  # only a server needs it

    for name, (kind, text, labels) in METRICS.items():
        traits: dict[str, Any] = {
            "Histogram": {"buckets": SECONDS},
            "Gauge": {"multiprocess_mode": "livesum"},
        }
        _metrics[name] = getattr(prometheus, kind)(name, text, labels, registry=None, **traits.get(kind, {}))


def add(name: str, amount: float = 1, **labels: object) -> None:
    """Add to a counter or gauge."""
    if metric := find_metric(name):
        metric.labels(**labels).inc(amount)


def count_commit(kind: str) -> None:
    """Count a commit once its transaction has ended well."""
    if _metrics:
        transaction.on_commit(partial(add, "day1_commits", kind=kind))


def observe(name: str, seconds: float, **labels: object) -> None:
    if metric := find_metric(name):
        metric.labels(**labels).observe(seconds)


def find_metric(name: str) -> Any:
    """Return a metric; None where nothing is counted."""
    if _metrics and os.getpid() not in _reserved:
        reserve_files()
    return _metrics.get(name)


def reserve_files() -> None:
    """Fill this process's files with zeros; without room for them it counts nothing."""
    with _reserving:
        if (process := os.getpid()) in _reserved:
            return
        try:
            for kind, size in FILE_BYTES.items():
                reserve_file(Path(os.environ[FOLDER], f"{kind}_{process}.db"), size)
        except OSError as error:
            logger.warning("Process %s counts nothing: %s", process, error)
            _metrics.clear()
        _reserved.add(process)


def reserve_file(path: Path, size: int) -> None:
    """Fill a file with zeros, unless a process of the same number, which has ended, has left one."""
    if path.exists():
        return
    new = path.with_suffix(".new")  # under its name it is read at once
    try:
        new.write_bytes(bytes(size))
        new.rename(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


@contextmanager
def timed(name: str, **labels: object) -> Iterator[None]:
    """Observe how long the block takes, or the function that this decorates."""
    started = perf_counter()
    try:
        yield
    finally:
        observe(name, perf_counter() - started, **labels)


@dataclass(frozen=True)
class Present:
    """Figures of the present by name, help and value, as a collector."""

    figures: Iterable[tuple[str, str, float]]

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        for name, text, value in self.figures:
            yield GaugeMetricFamily(f"day1_{name}", text, value=value)


def render(present: Iterable[tuple[str, str, float]]) -> tuple[bytes, str]:
    """Return what the processes have counted, with figures of the present, and its content type."""
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.exposition import CONTENT_TYPE_LATEST
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    if folder := os.environ.get(FOLDER):
        forget_ended(Path(folder))
        MultiProcessCollector(registry, path=folder)
    registry.register(Present(present))
    return generate_latest(registry), CONTENT_TYPE_LATEST


def forget_ended(folder: Path) -> None:
    """Delete the gauges of processes that have ended; what they counted stays."""
    for file in folder.glob("gauge_live*.db"):
        try:
            runs = is_running(int(file.stem.rpartition("_")[2]))
        except PermissionError:  # somebody else's of the same number
            runs = False
        if not runs:
            with suppress(FileNotFoundError):
                file.unlink()
