"""Query plans of the hot statements on SQLite: the right index, and no full table scan."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from conversations.engines.learning import LearningEngine
from memory.actors import Actor
from memory.db.backend import get_backend, get_index
from memory.db.sqlite.vector_caches import forget_vector_caches
from memory.engines.branches.distance import annotate_distances
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine, is_any_waiting
from memory.engines.facts.assessment import count_confirmations, load_verdicts
from memory.engines.facts.facts_across_branches import ProposalEngine
from memory.engines.versions.lookup import find_branch
from memory.models import OPEN, Branch, Commit, Fact, Vector, VectorClock
from memory.models.hashes import content_hash
from memory.models.vectors import vector_slot
from memory.providers.embedding import get_provider
from tests.databases import only_on_sqlite
from tests.memory.test_branches import some_actor, write

pytestmark = only_on_sqlite


@pytest.fixture(autouse=True)
def database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Open the database without a transaction: inside one, a search does not use the index."""
    with django_db_blocker.unblock():
        yield


ROWS = 2000


class Store:
    """Project with a child branch that has changes of its own."""

    def __init__(self, rows: int) -> None:
        self.actor: Actor = some_actor()
        some = [f"amber {n}" for n in range(max(rows, 2) // 2)]
        self.fact = write(self.actor, *some)[0]
        BranchManager().create_branch(name="task/a", actor=self.actor)
        write(self.actor, *(f"birch {text}" for text in some), branch="task/a")

    @property
    def main(self) -> Branch:
        return find_branch(self.actor, "main")

    @property
    def child(self) -> Branch:
        return find_branch(self.actor, "task/a")


@pytest.fixture(scope="module", params=["fresh", "grown by single writes", "analysed"])
def store(request: Any, django_db_setup: None, django_db_blocker: Any) -> Iterator[Store]:
    """Build a store: as migrated; with rows but no statistics; with statistics. Once for all tests."""
    with django_db_blocker.unblock():
        seed_statistics()
        made = Store(2 if request.param == "fresh" else ROWS)
        if request.param == "analysed":
            run("ANALYZE")
        yield made
        seed_statistics()
        call_command("flush", interactive=False, verbosity=0)
        forget_vector_caches()  # the next store has branches of the same ids


def run(sql: str, *params: Any) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def seed_statistics() -> None:
    """Leave the statistics that a migrated store has, whatever other tests counted."""
    run("ANALYZE sqlite_schema")  # makes the table when there is none
    run("DELETE FROM sqlite_stat1")
    get_index().seed_statistics()


def plans(work: Callable[[], Any], table: str) -> list[str]:
    """Return the plan of each access to a table by the statements of ``work``, in order."""
    made = [re.sub(r"^(SCAN|SEARCH) t\b", rf"\1 {table}", step) for step in steps(work, table)]
    return [step for step in made if re.match(rf"(SCAN|SEARCH) ({table}|s)( |$)", step)]


def steps(work: Callable[[], Any], table: str) -> list[str]:
    """Return all plan steps of those statements."""
    said: list[tuple] = []
    get_backend(connection.alias).notes.clear()  # what was read before would send no statement

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        said.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(listen):
        work()
    return [row[3] for sql, params in said if f'"{table}"' in sql for row in explained(sql, params)]


def explained(sql: str, params: Any) -> list[tuple]:
    if sql.lstrip().startswith("INSERT"):
        return []
    return run(f"EXPLAIN QUERY PLAN {sql}", *params)


def facts(work: Callable[[], Any]) -> list[str]:
    return [step.replace("memory_fact", "fact", 1) for step in plans(work, "memory_fact")]


OPEN_VERSION = "SEARCH fact USING INDEX fact_buid (branch_id=? AND uid=? AND seq_to=?)"
BY_KEY = "SEARCH fact USING INTEGER PRIMARY KEY (rowid=?)"
SPOKEN = r"SEARCH s USING (COVERING )?INDEX fact_buid \(branch_id=\? AND uid=\?\)"


def test_the_open_version_of_a_memory(store: Store) -> None:
    rows = Fact._base_manager.filter(branch=store.main, uid=store.fact.uid, seq_to=OPEN)
    assert facts(rows.first) == [OPEN_VERSION]


def test_a_memory_on_main(store: Store) -> None:
    work = Fact.objects.on(store.main).filter(uid=store.fact.uid)
    (step,) = facts(lambda: list(work))
    assert re.fullmatch(r"SEARCH fact USING INDEX fact_(buid|uid) \(.*uid=\?.*\)", step)


def test_closing_a_version(store: Store) -> None:
    work = Fact._base_manager.filter(pk=store.fact.pk, seq_to=1)
    assert facts(lambda: work.update(seq_to=2, slot=None)) == [BY_KEY]


def test_the_search_for_an_equal_text(store: Store) -> None:
    work = Fact.objects.on(store.main).filter(norm_hash=store.fact.norm_hash)
    assert facts(lambda: list(work)) == ["SEARCH fact USING INDEX fact_bnorm (branch_id=? AND norm_hash=?)"]


FROM_THE_NEWEST = "SEARCH fact USING INDEX fact_buid (branch_id=? AND uid<?)"


@pytest.mark.parametrize("rows", [1, 9, 50, 500])
def test_the_newest_page_of_main(store: Store, rows: int) -> None:
    work = Fact.objects.on(store.main)
    assert facts(lambda: work.newest(rows)) == [FROM_THE_NEWEST]


@pytest.mark.parametrize("rows", [1, 50])
def test_the_oldest_page_of_main(store: Store, rows: int) -> None:
    work = Fact.objects.on(store.main)
    assert facts(lambda: work.lowest(rows, "uid")) == ["SEARCH fact USING INDEX fact_buid (branch_id=?)"]


def test_a_page_of_the_past_begins_at_what_was_known(store: Store) -> None:
    said = steps(lambda: Fact.objects.on(store.main, 1).newest(9), "memory_fact")
    assert not any("TEMP B-TREE" in step for step in said)
    assert [step for step in said if step.startswith("SEARCH n ")] == [
        "SEARCH n USING COVERING INDEX fact_bseq (branch_id=? AND seq_from>?)",
        "SEARCH n USING COVERING INDEX fact_bseq (branch_id=? AND seq_from<?)",
    ]


def test_what_replaced_a_fact(store: Store) -> None:
    work = Fact.objects.on(store.main).filter(parent_id=store.fact.uid)
    by_parent = ["SEARCH fact USING INDEX fact_parent (parent_id=?)"]
    assert facts(lambda: work.newest(50)) == facts(work.fetch_all) == by_parent


def test_waiting_proposals_of_a_project(store: Store) -> None:
    """Few facts are proposals: neither all facts nor all open ones are read."""
    engine = ProposalEngine()
    for work in (
        lambda: engine.count_proposals(actor=store.actor, maximum=100),
        lambda: engine.list_proposals(actor=store.actor),
    ):
        assert "SEARCH fact USING INDEX fact_proposed (branch_id=? AND seq_to=?)" in facts(work)


def test_the_next_page_of_main(store: Store) -> None:
    work = Fact.objects.on(store.main)
    step = "SEARCH fact USING INDEX fact_buid (branch_id=? AND uid<?)"
    assert facts(lambda: work.newest(50, before=store.fact.uid)) == [step]


@pytest.mark.parametrize("rows", [1, 9, 50])
def test_the_newest_page_of_a_child(store: Store, rows: int) -> None:
    work = Fact.objects.on(store.child)
    own, inherited, spoken = facts(lambda: work.newest(rows))
    assert own == inherited == FROM_THE_NEWEST
    assert re.fullmatch(SPOKEN, spoken)


def test_the_check_of_a_row_in_a_keyword_search_on_main(store: Store) -> None:
    work = Fact.objects.on(store.main).searchable()
    assert facts(lambda: work.match_words(["amber"], 50)) == [BY_KEY]


def test_the_check_of_a_row_in_a_keyword_search_on_a_child(store: Store) -> None:
    work = Fact.objects.on(store.child).searchable()
    row, spoken = facts(lambda: work.match_words(["amber"], 50))
    assert row == BY_KEY
    assert re.fullmatch(SPOKEN, spoken)


def test_some_columns_of_few_facts(store: Store) -> None:
    some = [store.fact.pk, store.fact.pk + 1]
    assert facts(lambda: Fact.objects.on(store.main).searchable().select_by_key(("uid",), "rid", some)) == [
        BY_KEY
    ]
    row, spoken = facts(lambda: Fact.objects.on(store.child).select_by_key(("uid",), "rid", some))
    assert row == BY_KEY
    assert re.fullmatch(SPOKEN, spoken)


def test_verdicts_and_confirmations_of_few_facts(store: Store) -> None:
    uids = [uuid4() for _ in range(126)]
    found = plans(lambda: load_verdicts(uids, store.main.lineage()), "memory_factassessment")
    assert [re.sub(r"INDEX \w+", "INDEX", step) for step in found] == [
        "SEARCH memory_factassessment USING INDEX (branch_id=? AND uid=? AND seq_to>?)"
    ]
    (step,) = plans(lambda: count_confirmations(uids, store.main.lineage()), "memory_confirmation")
    assert "uid=?" in step


def test_facts_of_each_rule_are_counted_by_an_index_alone(store: Store) -> None:
    engine = LearningEngine()
    for step in facts(lambda: engine.list_rules(actor=store.actor)):
        assert step.startswith("SEARCH fact USING COVERING INDEX fact_bshown (branch_id=? AND seq_to>?")


def test_what_follows_in_a_session(store: Store) -> None:
    work = Fact.objects.on(store.main).searchable()
    said = steps(lambda: work.read_neighbours([store.fact.pk], "session_id", ("uid",), (2, 1)), "memory_fact")
    assert said.count("SEARCH q USING INTEGER PRIMARY KEY (rowid=?)") == 2
    assert said.count("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)") == 2
    for beyond in "<>":
        assert f"SEARCH t USING INDEX fact_bsession (branch_id=? AND session_id=? AND uid{beyond}?)" in said
    assert not any("TEMP B-TREE" in step for step in said)


def test_the_history_of_a_memory(store: Store) -> None:
    work = Fact.objects.history(store.child.lineage(), store.fact.uid)
    (step,) = facts(lambda: list(work))
    assert step == "SEARCH fact USING INDEX fact_uid (uid=?)"


def test_a_list_of_a_child_reads_only_its_lineage(store: Store) -> None:
    for step in facts(lambda: list(Fact.objects.on(store.child))):
        assert step.startswith("SEARCH ")


def nearest(store: Store) -> None:
    Fact.objects.on(store.main).search_vectors(np.ones(3, dtype="f4"), 5, "m", store.actor.project_id)


@pytest.mark.django_db(transaction=True)
def test_what_is_new_for_the_resident_copy() -> None:
    store = Store(2)
    nearest(store)
    write(store.actor, "one more")
    assert facts(lambda: nearest(store)) == [
        "SEARCH fact USING COVERING INDEX fact_bseq (branch_id=? AND seq_from>? AND seq_from<?)",
        "SEARCH fact USING COVERING INDEX fact_bshown (branch_id=? AND seq_to>? AND seq_to<?)",
        "SEARCH fact USING INDEX fact_bseq (branch_id=? AND seq_from>? AND seq_from<?)",
    ]


BY_SLOT = "SEARCH memory_vector USING INDEX sqlite_autoindex_memory_vector_1 (slot=?)"


@pytest.mark.django_db(transaction=True)
def test_the_vectors_of_some_texts() -> None:
    store = Store(ROWS)
    embed_all(store)
    assert set(plans(lambda: nearest(store), "memory_vector")) == {BY_SLOT}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_vectors_that_came_since() -> None:
    store = Store(ROWS)
    nearest(store)
    embed_all(store)
    assert plans(lambda: nearest(store), "memory_vector") == [
        "SEARCH memory_vector USING INDEX vector_clock_n (project_id=? AND model=? AND n>? AND n<?)",
        BY_SLOT,
    ]


@pytest.mark.django_db(transaction=True)
def test_a_start_brings_in_what_a_first_search_would_wait_for(settings: Any) -> None:
    store = Store(2)
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    provider = get_provider()
    assert provider is not None
    work = partial(
        Fact.objects.on(store.main).search_vectors,
        np.ones(3, dtype="f4"),
        5,
        provider.model,
        store.actor.project_id,
    )
    EmbeddingEngine().load_vectors()
    assert facts(work) == []
    write(store.actor, "one more")
    assert facts(work) != []


def embed_all(store: Store, texts: Iterable[str] = ()) -> None:
    VectorClock.objects.create(project_id=store.actor.project_id, n=1)
    stored = Fact.objects.on(store.main).values_list("fact_text", flat=True)
    hashes = {content_hash(text) for text in [*stored, *texts]}
    Vector.objects.bulk_create(
        Vector(
            slot=vector_slot(store.actor.project_id, "m", value),
            project_id=store.actor.project_id,
            model="m",
            content_hash=value,
            n=1,
            state="ready",
            next_try=timezone.now(),
            data=np.ones(3, dtype="f4"),
        )
        for value in hashes
    )


def test_whether_a_text_waits_for_its_vector_is_not_asked_of_all_vectors(store: Store) -> None:
    project = store.actor.project_id
    VectorClock.objects.filter(project_id=project).delete()
    Vector.objects.filter(project_id=project).delete()
    embed_all(store, [f"cedar {n}" for n in range(ROWS)])  # all have one state
    run("ANALYZE memory_vector")
    get_index().optimize()
    (asked,) = plans(lambda: is_any_waiting(project, "m"), "memory_vector")
    assert re.match(r"SEARCH memory_vector USING INDEX vector_(waiting|clock_n) ", asked)


def test_merges_are_not_looked_for_among_all_commits(store: Store) -> None:
    made = {"branch": store.main, "kind": "fact.write", "at": timezone.now()}
    lines = [Commit(seq=10**6 + n, **made) for n in range(ROWS)]
    Commit.objects.bulk_create(lines)
    run("ANALYZE memory_commit")
    get_index().optimize()
    asked = plans(lambda: annotate_distances([store.main, store.child]), "memory_commit")
    assert asked
    assert not [step for step in asked if step.startswith("SCAN")]
