"""What a reader of a product finds goes to the store in portions: a second time adds nothing."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report
from day1site.cli.client import Client
from day1site.cli.errors import CliError
from day1site.cli.importing.products import (
    basic_memory,
    claude_mem,
    engrava,
    graphiti,
    langgraph,
    letta,
    mcp_memory,
    mem0,
    zep,
)
from day1site.cli.importing.products.records import Found, Memory, Relation
from day1site.cli.output import note, progress
from day1site.cli.transport.rest import Answer
from memory.texts import clean_value

PRODUCTS: dict[str, Callable[[Path, Report], Found]] = {
    "mem0": mem0.read,
    "zep": zep.read,
    "graphiti": graphiti.read,
    "letta": letta.read,
    "mcp-memory": mcp_memory.read,
    "claude-mem": claude_mem.read,
    "basic-memory": basic_memory.read,
    "engrava": engrava.read,
    "langgraph": langgraph.read,
}
Edge = tuple[str, dict[str, Any]]  # "relations" or "links", and the one that goes there
BATCH_SIZE = 500  # records in one request, and in one commit
ANSWER_SECONDS = 600.0  # for one request, on a server that is busy with others
BATCH_BYTES = 2 * 1024 * 1024
MAX_EDGES = 1000  # relations or links in one request
MAX_FACTS = 2000  # on one branch, and MAX_ROWS with their edges: other writers wait while it is merged
MAX_ROWS = 5000
EARLY = 0.75  # of a branch, from where on it ends where its conversation, note or agent does


class ProductImport:
    """One run over what a product left, which is read once. A large one goes to several branches, each with
    its own report.
    """

    def __init__(self, client: Client, product: str, path: Path, branch: str, since: str = "") -> None:
        self.client, self.product, self.path = client, product, path
        self.branch, self.since = branch, since
        self.answers: list[Answer] = []  # the import of each branch
        self.sent = 0

    def run(self, report: Report) -> list[Answer]:
        """Send what there is, branch by branch. Return the reports."""
        with (
            self.client.answering_within(ANSWER_SECONDS),
            self.tell_cut_off(),
            progress("Importing") as update,
        ):
            for part, found in groupby(number_parts(self.read(report)), itemgetter(0)):
                self.begin(part)
                self.send_part((one for _part, one in found), update)
            return self.finish(report)

    @contextmanager
    def tell_cut_off(self) -> Iterator[None]:
        """Say of a run that ends early what it has stored, and how to go on."""
        try:
            yield
        except (CliError, KeyboardInterrupt):
            if self.sent:
                note(f"{self.sent} records are in the store: the same command again goes on from there.")
            raise

    def count(self, report: Report) -> Counter[str]:
        """Count what would be sent."""
        counts = Counter(memories=0, relations=0)
        for one in self.read(report):
            counts["memories" if isinstance(one, Memory) else "relations"] += 1
        return counts

    def read(self, report: Report) -> Found:
        """Yield what the reader finds, without what is too old."""
        for one in PRODUCTS[self.product](self.path, report):
            if isinstance(one, Memory) and self.since and one.created and one.created < self.since:
                report.skip("memories that are older")
            else:
                yield one

    def send_part(self, found: Found, update: Callable[[int, int | None], None]) -> None:
        """Send the memories of a branch, then its relations and links, which need both of their ends."""
        edges: list[Edge] = []
        for batch in cut_batches(keep_edges(found, edges)):
            self.send(records=[clean_value(one.as_record()) for one in batch])
            self.sent += len(batch)
            update(self.sent, None)
        for start in range(0, len(edges), MAX_EDGES):
            content: dict[str, list[Any]] = {"relations": [], "links": []}
            for kind, edge in edges[start : start + MAX_EDGES]:
                content[kind].append(clean_value(edge))
            self.send(**content)

    def begin(self, part: int) -> None:
        suffix = f"-part-{part + 1}" if part else ""
        file = f"{self.path.stem[:150]}{suffix}{self.path.suffix[:20]}"
        where = {"branch": f"{self.branch}{suffix}"} if self.branch else {}
        self.answers.append(self.client.call("imports.create", product=self.product, file=file, **where))

    def send(self, **content: Any) -> None:
        self.client.call("imports.records", **name_run(self.answers[-1]), **content)

    def finish(self, report: Report) -> list[Answer]:
        """End the import of each branch; the first is told what could not be read."""
        broken = [
            {"file": Path(file).name, "line": line, "reason": reason} for file, line, reason in report.broken
        ]
        notes = [{"skipped": dict(report.skipped), "broken": broken}, *({} for _ in self.answers[1:])]
        return [
            self.client.call("imports.finish", **name_run(answer), **own)
            for answer, own in zip(self.answers, notes, strict=False)
        ]


def name_run(answer: Answer) -> dict[str, Any]:
    """Return which run of which import a request is of: where another has begun, this one is to end."""
    return {"import_id": answer["id"], "run": answer["counts"]["run"]}


def cut_batches(memories: Iterator[Memory]) -> Iterator[list[Memory]]:
    """Yield memories in portions that fit a request."""
    batch: list[Memory] = []
    size = 0
    for one in memories:
        length = len(json.dumps(one.as_record()))
        if batch and (len(batch) == BATCH_SIZE or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
    if batch:
        yield batch


def number_parts(found: Found) -> Iterator[tuple[int, Memory | Relation]]:
    """Yield each with the number of its branch; what belongs together stays so where there is room."""
    part = facts = rows = 0
    group = ""
    for one in found:
        own, links = (one.get_group(), len(one.links)) if isinstance(one, Memory) else (group, 0)
        fullness = max(facts / MAX_FACTS, (rows + links) / MAX_ROWS)
        if rows and fullness >= (1 if own == group else EARLY):
            part, facts, rows = part + 1, 0, 0
        group = own
        facts += isinstance(one, Memory)
        rows += 1 + links
        yield part, one


def keep_edges(found: Found, edges: list[Edge]) -> Iterator[Memory]:
    """Yield the memories; their links and the relations between them are added to a list."""
    for one in found:
        if isinstance(one, Memory):
            edges += [("links", {"from": one.id, "to": end, "type": kind}) for kind, end in one.links]
            yield one
        else:
            edges.append(("relations", one.as_record()))
