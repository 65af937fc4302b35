"""Columns of curation in which texts of memories may be repeated."""

from curation.models import Bundle, Score, Template, Verification
from memory.engines.erasure.traced_columns import TracedColumns

COLUMNS = (
    # A judge may repeat a fact in words of its own, a server may quote it in an error.
    TracedColumns(Score, ("explanation",), about="target_id"),
    TracedColumns(Verification, ("fallback",), about="fact_id"),
    TracedColumns(Template, ("description", "reason")),
    TracedColumns(Bundle, ("description",)),
)
