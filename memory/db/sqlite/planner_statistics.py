"""Typical statistics of a large store, for SQLite's planner until it has its own."""

# Rows of a table, then rows with equal first, first two, … columns of an index, by its name's suffix.
STATISTICS = {
    "buid": "400000 40000 4 1",
    "bseq": "400000 40000 4 1",
    "bopen": "400000 40000 20000",
    "bshown": "400000 40000 20000 4000 4000 1000 1000 100",
    "uid": "400000 4",
    "bnorm": "400000 40000 4",
    "bsession": "400000 40000 400 4",
    "buser": "400000 40000 400 1",
    "bcall": "400000 40000 400 2 1",
    "bstatus": "400000 40000 10000",
    "bconversation": "400000 40000 40 1",
    "bsource": "400000 40000 4",
    "btarget": "400000 40000 4",
}


def find_typical(index: str) -> str | None:
    """Return the typical statistics of an index, None where there are none."""
    return STATISTICS.get(index.rsplit("_", 1)[-1])
