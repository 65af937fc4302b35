"""Facts whose lines are gone from the files of instructions that they were read in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report
from day1site.cli.client import Client
from day1site.cli.fact_jsonl import BATCH_SIZE
from day1site.cli.importing.instructions import is_read
from day1site.cli.output import note
from day1site.cli.transport.rest import iterate_rows


def list_gone(
    client: Client, path: Path, branch: str, facts: Sequence[dict[str, Any]], report: Report
) -> list[str]:
    """Return the ids of facts of earlier imports whose lines are no longer in the files that were read whole,
    or would have been, were the files still there.

    What a person verified or pinned since has a standing of its own.
    """
    own, whole = {fact["id"] for fact in facts}, path.absolute()
    broken = {str(Path(file).absolute()) for file, *_ in report.broken}
    query = {"branch": branch, "tags": ["instructions"], "source_type": ["import"], "status": ["active"]}
    known = iterate_rows(lambda paging: client.call("facts.list", **query, **paging))
    return [
        row["id"]
        for row in known
        if not {row["id"], row["source_id"]} & own
        and (file := str(row["metadata"].get("file", ""))) not in broken
        and is_read(Path(file), whole)
        and not (row["pinned"] or row["verification_status"] == "verified")
    ]


def archive_gone(client: Client, branch: str, gone: Sequence[str], dry_run: bool) -> None:
    reason = "No longer in the file of instructions."
    for start in range(0, 0 if dry_run else len(gone), BATCH_SIZE):
        batch = list(gone[start : start + BATCH_SIZE])
        client.call("facts.actions", action="archive", fact_ids=batch, branch=branch, reason=reason)
    note(f"{len(gone)} {'would be' if dry_run else 'are'} archived: no longer in the files.")
