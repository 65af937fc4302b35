"""What the client does that is longer than a request of the REST API."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from day1site.cli.transport.rest import Answer

Export = tuple[int, Iterator[tuple[Answer, list[Answer]]]]
NumberedLines = Sequence[tuple[int, Any]]


class Importer(Protocol):
    """One run over a file; an outcome has ``number``, ``state`` (new, known, broken) and ``reason``."""

    def apply_lines(self, lines: NumberedLines) -> list[Any]: ...

    def preview_lines(self, lines: NumberedLines) -> list[Any]: ...

    def list_unresolved(self) -> list[Any]: ...


class Streams(Protocol):
    """What is longer than a request."""

    def open_importer(self, branch: str, message: str) -> Importer: ...

    def export_facts(self, branch: str, at: str | None, private: bool, **whose: str) -> Export: ...

    def carry_out(self, task: str, row_id: str) -> None:
        """Carry out a queued task on a row where no server does."""

    def write_observations(self, branch: str, observations: list[Answer]) -> None: ...
