"""What is longer than a request, on a server: page by page, in many requests of its REST API."""

from collections.abc import Iterator, Sequence
from typing import Any

from day1site.cli.transport.http_import import HttpImport
from day1site.cli.transport.rest import Answer, Api, fact_path, iterate_rows
from day1site.cli.transport.streams import Export


class HttpStreams:
    def __init__(self, api: Api) -> None:
        self.api = api

    def open_importer(self, branch: str, message: str) -> HttpImport:
        return HttpImport(self.api, branch)

    def export_facts(self, branch: str, at: str | None, private: bool, **whose: str) -> Export:
        where = {"branch": branch, **whose}
        rows = iterate_rows(lambda paging: self.api.get("/facts", **where, **paging), {"at": at})
        facts = [row for row in rows if private or row["visibility"] != "private"]
        facts.reverse()  # the oldest first
        return len(facts), self._add_links(facts, branch, at)

    def carry_out(self, task: str, row_id: str) -> None:
        """Do nothing: the server's worker has it."""

    def write_observations(self, branch: str, observations: list[Answer]) -> None:
        for fields in observations:
            self.api.post("/observations", branch=branch, **fields)

    def _add_links(
        self, facts: Sequence[Answer], branch: str, at: str | None
    ) -> Iterator[tuple[Answer, list[Answer]]]:
        """Yield each fact with its links; nothing that is given out points to a fact that is not."""
        exported = {row["id"] for row in facts}
        for row in facts:
            row["parent_id"] = row["parent_id"] if row["parent_id"] in exported else None
            links = [
                link for link in self._links(row["id"], branch, at) if leads_out(link, row["id"], exported)
            ]
            yield row, sorted(links, key=lambda link: link["id"])

    def _links(self, fact_id: str, branch: str, at: str | None) -> Iterator[Answer]:
        path = f"{fact_path(fact_id)}/links"
        return iterate_rows(lambda paging: self.api.get(path, branch=branch, **paging), {"at": at})


def leads_out(link: Any, fact_id: str, exported: set[str]) -> bool:
    """Tell whether a link leads from the fact to another one of the export."""
    return link["from_id"] == fact_id and link["to_type"] == "fact" and link["to_id"] in exported
