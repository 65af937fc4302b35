"""Graphiti: its graph as JSON (nodes and edges by their models), a list of episodes or lines of them."""

from pathlib import Path

from conversations.capture.transcripts.records import Report
from day1site.cli.errors import CliError
from day1site.cli.importing.products import zep
from day1site.cli.importing.products.records import Found, read_jsonl

KUZU = b"KUZU"
NO_GRAPH = (
    "{name} is a graph database, which only its own program reads. Write its nodes and edges as JSON first,"
    " see docs/import.md."
)


def read(path: Path, report: Report) -> Found:
    """Yield the facts, entities and episodes of a graph."""
    if path.is_file():
        with path.open("rb") as stream:
            if stream.read(4) == KUZU:
                raise CliError("invalid", NO_GRAPH.format(name=path.name))
    if path.is_file() and path.suffix == ".jsonl":
        for _number, row in read_jsonl(path, report):
            found = list(zep.read_row(row, {}))
            report.skip("lines without a text", not found)
            yield from found
        return
    yield from zep.read_graphs(path, report, "graphiti")
