"""What a reader of a product finds goes to the store in portions: a second time adds nothing."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report
from day1site.cli.client import Client
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
from day1site.cli.output import progress
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
BATCH_SIZE = 500  # records in one request, and in one commit
BATCH_BYTES = 2 * 1024 * 1024
MAX_EDGES = 1000  # relations or links in one request
MAX_FACTS = 2000  # on one branch: what a merge request writes at once


class ProductImport:
    """One run over what a product left. A large one goes to several branches, each with its own report."""

    def __init__(self, client: Client, product: str, path: Path, branch: str, since: str = "") -> None:
        self.client, self.product, self.path = client, product, path
        self.branch, self.since = branch, since
        self.answers: list[Answer] = []  # the import of each branch
        self.places: dict[str, int] = {}  # the branch of a memory with links, where it is not the first
        self.has_edges = False

    def run(self, report: Report) -> list[Answer]:
        """Send memories, then relations and links, which need both of their ends. Return the reports."""
        sent = 0
        with progress("Importing") as update:
            for batch in cut_batches(self.read_memories(report)):
                self.send_records(batch, sent // MAX_FACTS)
                sent += len(batch)
                update(sent, None)
        if self.has_edges and not self.answers:
            self.begin(0)
        if self.has_edges:
            self.send_edges()
        return self.finish(report)

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

    def read_memories(self, report: Report) -> Iterator[Memory]:
        for one in self.read(report):
            self.has_edges = self.has_edges or isinstance(one, Relation) or bool(one.links)
            if isinstance(one, Memory):
                yield one

    def send_records(self, batch: list[Memory], part: int) -> None:
        if part == len(self.answers):
            self.begin(part)
        self.places |= {one.id: part for one in batch if one.links and part}
        self.send(part, records=[clean_value(one.as_record()) for one in batch])

    def begin(self, part: int) -> None:
        suffix = f"-part-{part + 1}" if part else ""
        file = f"{self.path.stem[:150]}{suffix}{self.path.suffix[:20]}"
        where = {"branch": f"{self.branch}{suffix}"} if self.branch else {}
        self.answers.append(self.client.call("imports.create", product=self.product, file=file, **where))

    def send(self, part: int, **content: Any) -> None:
        self.client.call("imports.records", import_id=self.answers[part]["id"], **content)

    def send_edges(self) -> None:
        """Send what stands between memories: a link to the branch of the one that it leads from."""
        edges = list_edges(self.read(Report()))
        while portion := list(islice(edges, MAX_EDGES)):
            parts: dict[int, dict[str, list[Any]]] = {}
            for start, kind, edge in portion:
                content = parts.setdefault(self.places.get(start, 0), {"relations": [], "links": []})
                content[kind].append(clean_value(edge))
            for part, content in parts.items():
                self.send(part, **content)

    def finish(self, report: Report) -> list[Answer]:
        """End the import of each branch; the first is told what could not be read."""
        broken = [
            {"file": Path(file).name, "line": line, "reason": reason} for file, line, reason in report.broken
        ]
        notes = [{"skipped": dict(report.skipped), "broken": broken}, *({} for _ in self.answers[1:])]
        return [
            self.client.call("imports.finish", import_id=answer["id"], **own)
            for answer, own in zip(self.answers, notes, strict=False)
        ]


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


def list_edges(found: Found) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield relations and links, each with the memory that it leads from; relations lead from none."""
    for one in found:
        if isinstance(one, Relation):
            yield "", "relations", one.as_record()
        else:
            yield from (
                (one.id, "links", {"from": one.id, "to": end, "type": kind}) for kind, end in one.links
            )
