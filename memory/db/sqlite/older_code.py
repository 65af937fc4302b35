"""A sentence for code that is older than the check of ``memory.engines.store.release``.

Such code asks nothing about a store of a newer release, but its server leases a number of ``memory_node``
as it starts, and so does its every write. The table has another name since; in its place is a view that
refuses.
"""

from typing import Any

VIEW, TRIGGER, NUMBERS = "memory_node", "memory_node_is_older", 1024


def bar_older_code(connection: Any, sentence: str) -> None:
    """Have older code fail with this sentence wherever it begins to write."""
    readmit_older_code(connection)
    quoted = sentence.replace("'", "''")
    with connection.cursor() as cursor:
        cursor.execute(
            f'CREATE VIEW "{VIEW}" AS WITH RECURSIVE every(number) AS (SELECT 0 UNION ALL SELECT number + 1'
            f" FROM every WHERE number < {NUMBERS - 1})"
            " SELECT number, 0 AS leased_until, '' AS holder FROM every"
        )
        cursor.execute(
            f'CREATE TRIGGER "{TRIGGER}" INSTEAD OF UPDATE ON "{VIEW}"'
            f" BEGIN SELECT RAISE(ABORT, '{quoted}'); END"
        )


def readmit_older_code(connection: Any) -> None:
    """Take the view away again."""
    with connection.cursor() as cursor:
        cursor.execute(f'DROP VIEW IF EXISTS "{VIEW}"')
