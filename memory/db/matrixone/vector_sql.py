"""The SQL that only MatrixOne knows. The only place that says MATCH, cosine_similarity or ivfflat."""

from typing import Any

import numpy as np
from django.db import models
from django.db.models.expressions import Func

# ---- full text -------------------------------------------------------------------------------------


class Match(Func):
    """How well a text matches a pattern of boolean mode: a plain score. The planner takes no other form."""

    template = "MATCH(%(expressions)s) AGAINST (%%s IN BOOLEAN MODE)"
    output_field = models.FloatField()

    def __init__(self, column: str, pattern: str, **extra: Any) -> None:
        super().__init__(column, **extra)
        self.pattern = pattern

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        sql, params = super().as_sql(compiler, connection, *args, **extra)
        return sql, [*params, self.pattern]


class Matches(Match):
    """Whether a text matches. It must stand beside conditions on columns of the same row, and no others."""

    output_field = models.BooleanField()  # type: ignore[assignment]


# ---- vectors ---------------------------------------------------------------------------------------

COPY = "memory_vector_{}"  # the vectors of so many dimensions, in a column that the server can compute with

# In the order of the key a project's vectors lie together: of a store of many projects only its own are read.
CREATE = """
    CREATE TABLE IF NOT EXISTS {table} (
      slot char(32) NOT NULL, project_id char(32) NOT NULL, model varchar(200) NOT NULL,
      content_hash char(64) NOT NULL, n bigint NOT NULL, e vecf32({dimensions}) NOT NULL,
      PRIMARY KEY (project_id, model, slot))"""
DROP = "DROP TABLE IF EXISTS {table}"
# Up to which tick of its clock the vectors of a project are copied, and the clock. A row of no text says so,
# since to look for the highest of 100,000 takes 6 ms; it points somewhere, as every vector must.
MARK = "~"
COPIED = f"""
    SELECT coalesce((SELECT n FROM {{table}} WHERE project_id = %s AND model = %s AND slot = '{MARK}'), 0),
      (SELECT max(n) FROM memory_vectorclock WHERE project_id = %s)"""
MARK_COPIED = f"""
    INSERT INTO {{table}} (slot, project_id, model, content_hash, n, e) VALUES ('{MARK}', %s, %s, '', %s, %s)
    ON DUPLICATE KEY UPDATE n = VALUES(n)"""
WAITING = "project_id = %s AND model = %s AND n > %s AND state = 'ready' AND length(data) = {size}"
COPY_MORE = (
    "INSERT IGNORE INTO {table} SELECT slot, project_id, model, content_hash, n, data FROM memory_vector"
    f" WHERE {WAITING}"
)
EXACT = """
    SELECT content_hash, cosine_similarity(e, %s) s FROM {table} WHERE project_id = %s AND model = %s
    ORDER BY s DESC LIMIT %s"""
COSINES = """
    SELECT content_hash, cosine_similarity(e, %s) s FROM {table}
    WHERE project_id = %s AND model = %s AND slot IN ({marks})"""
UNCOPIED = f"""
    SELECT content_hash, cosine_similarity(cast(data AS vecf32({{dimensions}})), %s) s FROM memory_vector
    WHERE {WAITING} ORDER BY s DESC LIMIT %s"""
PROBED = """
    SELECT content_hash, 1 - cosine_distance(e, %s) s FROM {table} WHERE project_id = %s AND model = %s
    ORDER BY cosine_distance(e, %s) ASC LIMIT %s BY RANK WITH OPTION 'mode=post'"""
# A project's vectors are probed where there are many; lists grow with the table.
COUNT = "SELECT count(*) FROM {table}"
INDEXES = "SHOW INDEX FROM {table}"
INDEX = "CREATE INDEX ivf USING ivfflat ON {table} (e) LISTS={lists} OP_TYPE 'vector_cosine_ops'"
REINDEX = "ALTER TABLE {table} ALTER REINDEX ivf IVFFLAT LISTS={lists}"
ORPHANS = f"DELETE FROM {{table}} WHERE slot <> '{MARK}' AND slot NOT IN (SELECT slot FROM memory_vector)"
FORGET = "DELETE FROM {table} WHERE project_id = %s AND slot IN ({marks})"
TABLES = "SHOW TABLES LIKE 'memory\\_vector\\_%'"
NO_TABLE = (1064, 1146)  # the release says of a missing table that it cannot be parsed


def literal(vector: np.ndarray) -> str:
    """A vector as the server reads it, every bit kept."""
    return "[" + ",".join(map(repr, vector.astype("f4").tolist())) + "]"
