"""Facts whose lines are gone from the files of instructions that they were read in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report
from day1site.cli.client import Client
from day1site.cli.fact_jsonl import BATCH_SIZE
from day1site.cli.output import note
from day1site.cli.transport.rest import iterate_rows


def list_gone(
    client: Client, path: Path, branch: str, facts: Sequence[dict[str, Any]], report: Report
) -> list[str]:
    """Return the ids of facts of earlier imports whose lines are no longer in the files that were read whole.

    What a person verified or pinned since has a standing of its own.
    """
    own = {fact["id"] for fact in facts}
    broken = {file for file, *_ in report.broken}
    query = {"branch": branch, "tags": ["instructions"], "source_type": ["import"], "status": ["active"]}
    known = iterate_rows(lambda paging: client.call("facts.list", **query, **paging))
    return [
        row["id"]
        for row in known
        if not {row["id"], row["source_id"]} & own
        and is_read_now(str(row["metadata"].get("file", "")), path, broken)
        and not (row["pinned"] or row["verification_status"] == "verified")
    ]


def is_read_now(file: str, path: Path, broken: set[str]) -> bool:
    """Return whether an import of a path reads all of a file, or would, were the file still there."""
    whole = path.absolute()
    is_named = Path(file) == whole if path.is_file() else bool(file) and Path(file).is_relative_to(whole)
    return is_named and file not in {str(Path(one).absolute()) for one in broken}


def archive_gone(client: Client, branch: str, gone: Sequence[str], dry_run: bool) -> None:
    reason = "No longer in the file of instructions."
    for start in range(0, 0 if dry_run else len(gone), BATCH_SIZE):
        batch = list(gone[start : start + BATCH_SIZE])
        client.call("facts.actions", action="archive", fact_ids=batch, branch=branch, reason=reason)
    note(f"{len(gone)} {'would be' if dry_run else 'are'} archived: no longer in the files.")
