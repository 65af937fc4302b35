"""Waiting for work that a worker does."""

import time
from collections.abc import Collection

from day1site.cli.client import Client
from day1site.cli.output import note, short_time
from day1site.cli.rest import Answer

POLL_SECONDS = 0.5


def wait_for(client: Client, path: str, row: Answer, ended: Collection[str]) -> Answer:
    """Return a row when its state is one of these, or when it waits for somebody else."""
    while row["state"] not in ended:
        row = client.api.get(path)
        if row["state"] == "waiting":
            note(f"It goes on after {short_time(row['resume_at'])}.")
            break
        time.sleep(0 if row["state"] in ended else POLL_SECONDS)
    return row
