"""SQL specific to MatrixOne: MATCH, cosine_similarity and ivfflat occur in this module only."""

from typing import Any

import numpy as np
from django.db import models
from django.db.models.expressions import Func

# ---- full text -------------------------------------------------------------------------------------


class Match(Func):
    """The score of a text for a boolean-mode pattern. The planner accepts no other form."""

    template = "MATCH(%(expressions)s) AGAINST (%%s IN BOOLEAN MODE)"
    output_field: models.Field = models.FloatField()

    def __init__(self, column: str, pattern: str, **extra: Any) -> None:
        super().__init__(column, **extra)
        self.pattern = pattern

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        sql, params = super().as_sql(compiler, connection, *args, **extra)
        return sql, [*params, self.pattern]


class Matches(Match):
    """A condition: a text matches.

    The planner allows only conditions on columns of the same row next to it.
    """

    output_field = models.BooleanField()


# ---- vectors ---------------------------------------------------------------------------------------

COPY = "memory_vector_{}"  # the vectors of so many dimensions, in a column that the server can compute with

# The key order keeps a project's vectors together: a search reads only those of its own project.
CREATE = """
    CREATE TABLE IF NOT EXISTS {table} (
      slot char(32) NOT NULL, project_id char(32) NOT NULL, model varchar(200) NOT NULL,
      content_hash char(64) NOT NULL, n bigint NOT NULL, e vecf32({dimensions}) NOT NULL,
      PRIMARY KEY (project_id, model, slot))"""
DROP = "DROP TABLE IF EXISTS {table}"
# The tick of the project's clock up to which its vectors are copied, and the clock. It is stored in a
# marker row, as finding the highest of 100,000 takes 6 ms; its vector is arbitrary, as one is required.
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
# A project's vectors are probed when there are many; the number of lists grows with the table.
COUNT = "SELECT count(*) FROM {table}"
INDEXES = "SHOW INDEX FROM {table}"
INDEX = "CREATE INDEX ivf USING ivfflat ON {table} (e) LISTS={lists} OP_TYPE 'vector_cosine_ops'"
REINDEX = "ALTER TABLE {table} ALTER REINDEX ivf IVFFLAT LISTS={lists}"
ORPHANS = f"DELETE FROM {{table}} WHERE slot <> '{MARK}' AND slot NOT IN (SELECT slot FROM memory_vector)"
FORGET = "DELETE FROM {table} WHERE project_id = %s AND slot IN ({marks})"
TABLES = "SHOW TABLES LIKE 'memory\\_vector\\_%'"
NO_TABLE = (1064, 1146)  # the release reports a missing table as a parse error


def vector_literal(vector: np.ndarray) -> str:
    """Format a vector for the server, without loss of precision."""
    return "[" + ",".join(map(repr, vector.astype("f4").tolist())) + "]"
