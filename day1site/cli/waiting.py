"""Waiting for work that a worker does."""

import time
from collections.abc import Collection

from day1site.cli.client import Client, load_operations
from day1site.cli.output import note, progress, short_time
from day1site.cli.transport.rest import Answer

POLL_SECONDS = 0.5


def wait_for(client: Client, action: str, row: Answer, ended: Collection[str], label: str) -> Answer:
    """Return a row, read by an operation, when its state is one of these or it waits for somebody else.

    Until then show how far it is.
    """
    (place,) = load_operations()[action]["places"]
    with progress(label) as update:
        while row["state"] not in ended:
            update(row.get("done", 0), row.get("total"))
            row = client.call(action, **{place: row["id"]})
            if row["state"] == "waiting":
                note(f"It goes on after {short_time(row['resume_at'])}.")
                break
            time.sleep(0 if row["state"] in ended else POLL_SECONDS)
    return row
