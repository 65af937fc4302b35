"""Full text against the rows that it was made of."""

from collections.abc import Sequence
from typing import Any

from django.db import DatabaseError

from memory.db.backend import get_index_check
from memory.db.indexes import FullTextIndex, full_text_index
from memory.engines.store.check.problems import MAX_EXAMPLES, CheckedStore, Findings, ProblemKind, add_check
from memory.engines.store.check.rows import walk_keys
from memory.engines.store.check.versions import count_rows, name_version
from memory.engines.support.readable_rows import read_rows
from memory.engines.versions.pinned_versions import fork_points, is_pinned, text_models
from memory.models import OPEN, Branch, BranchedModel

REINDEX = "rebuilds the full-text index from the rows"

ROW_NOT_INDEXED = ProblemKind("row_not_indexed", "versions that the full-text index lacks", repair=REINDEX)
INDEX_DIFFERS = ProblemKind(
    "index_differs", "versions of which the full-text index says something else", repair=REINDEX
)
INDEX_WITHOUT_ROW = ProblemKind(
    "index_without_row",
    "entries of the full-text index whose version is gone",
    repair=REINDEX,
    advice="A version that was not erased was lost: restore a snapshot of the store or a backup first.",
)
INDEX_WORDS = ProblemKind(
    "index_words_differ", "full-text tables that find other words than their texts have", repair=REINDEX
)


@add_check("index", "The full-text index, against the versions that it was made of", needs_file=True)
def check_index(store: CheckedStore, findings: Findings) -> None:
    models = [model for model in text_models() if full_text_index(model)]
    total, done = sum(count_rows(store, model) for model in models), 0
    for model in models:
        index: Any = full_text_index(model)
        check_words(store, model, index, findings)
        for keys in walk_keys(store.rows(model), Findings("")):
            with store.open_moment():
                check_entries(store, model, index, keys, findings)
            done += len(keys)
            store.tell(min(done, total), total)


def check_words(store: CheckedStore, model: Any, index: FullTextIndex, findings: Findings) -> None:
    for table in (index.name, index.closed):
        if get_index_check(store.alias).has_other_words(table):
            findings.add(INDEX_WORDS, table)
            continue
        count, rids = get_index_check(store.alias).count_strays(table, model, MAX_EXAMPLES)
        if count:
            findings.add(INDEX_WITHOUT_ROW, *(f"{table} {rid}" for rid in rids), count=count)


def check_entries(
    store: CheckedStore,
    model: type[BranchedModel],
    index: FullTextIndex,
    keys: Sequence[int],
    findings: Findings,
) -> None:
    """Compare some versions with what the two tables have of them."""
    check = get_index_check(store.alias)
    rows = read_rows(store.rows(model), keys)[0]
    try:
        own, closed = check.read_entries(index.name, keys), check.read_entries(index.closed, keys)
    except DatabaseError:
        if INDEX_WORDS.name not in findings.problems:  # once, not for each batch
            findings.add(INDEX_WORDS, index.name)
        return
    points = fork_points(Branch.objects.using(store.alias).filter(indexed=True))
    for row in rows:
        if row.deleted or getattr(row, model.TEXT) == model.ERASED.get(model.TEXT):
            continue
        if row.seq_to == OPEN:
            compare_entry(row, own.get(row.rid), check.expected_entry(index, row), findings)
            continue
        compare_entry(row, closed.get(row.rid), check.expected_closed(index, row), findings)
        if is_pinned(points.get(row.branch_id, ()), row.seq_from, row.seq_to):
            compare_entry(row, own.get(row.rid), check.expected_entry(index, row, True), findings)


def compare_entry(row: BranchedModel, entry: Any, expected: Any, findings: Findings) -> None:
    if entry is None:
        findings.add(ROW_NOT_INDEXED, name_version(row))
    elif entry != expected:
        findings.add(INDEX_DIFFERS, name_version(row))
