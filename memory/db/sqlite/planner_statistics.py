"""Statistics for SQLite's planner: typical ones of a large store until it has its own, and of columns
by which few rows are looked up.
"""

from typing import Any

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

# Only few rows are looked up by the first column of these: those in a state that few have, and those in which
# it is not empty. Counted together with all others the planner would rather read the whole table.
OF_FEW = (
    *("vector_waiting", "verification_job_due", "scoring_due", "replay_state"),
    *("commit_reverts", "memory_commit_source_branch_id", "message_picked"),
)
FEW_OF = 1000  # one row in so many is looked up


def find_typical(index: str) -> str | None:
    """Return the typical statistics of an index, None where there are none."""
    return STATISTICS.get(index.rsplit("_", 1)[-1])


def seed_statistics(connection: Any) -> None:
    """Store typical statistics, until the planner's own replace them.

    Without them it prefers (branch, seq_to), which half of a branch shares, for every look-up. A table
    that has its own is counted anew: beside them a typical index would look better than it is.
    """
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE sqlite_master")  # creates sqlite_stat1
        cursor.execute("SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        indexes = [(table, name, find_typical(name)) for table, name in cursor.fetchall()]
        cursor.execute("SELECT tbl, idx, stat FROM sqlite_stat1")
        known = {name: (table, stat) for table, name, stat in cursor.fetchall()}
        counted = {table for name, (table, stat) in known.items() if name and stat != find_typical(name)}
        missing = [entry for entry in indexes if entry[2] and entry[1] not in known]
        typical = [entry for entry in missing if entry[0] not in counted]
        cursor.executemany("INSERT INTO sqlite_stat1 VALUES (%s, %s, %s)", typical)
        for table in sorted(counted & {entry[0] for entry in missing}):
            cursor.execute(f'ANALYZE "{table}"')
        cursor.execute("ANALYZE sqlite_master")  # makes the planner read them
    correct_statistics(connection)  # of the tables that were counted


def correct_statistics(connection: Any) -> None:
    """Correct what the planner has counted of indexes by which few rows are looked up."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT idx, stat FROM sqlite_stat1 WHERE idx IS NOT NULL")
        counted = cursor.fetchall()
        corrected = [(stat, name) for name, old in counted if (stat := correct_counted(name, old)) != old]
        cursor.executemany("UPDATE sqlite_stat1 SET stat = %s WHERE idx = %s", corrected)
        if corrected:
            cursor.execute("ANALYZE sqlite_master")


def correct_counted(index: str, counted: str) -> str:
    """Return the statistics of an index as the planner should have them."""
    if not index.startswith(OF_FEW):
        return counted
    rows, *others = counted.split()
    few = max(int(rows) // FEW_OF, 1)
    return " ".join([rows, *(str(min(int(each), few)) for each in others)])
