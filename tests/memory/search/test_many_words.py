"""Keyword search in a store that changes: what is found is what is visible and has a word, at every step."""

from contextlib import suppress
from random import Random
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.pinned_versions import pin_versions
from memory.exceptions import Conflict
from memory.models import Fact
from tests.databases import only_on_sqlite
from tests.memory.test_branches import some_actor
from tests.memory.test_versions import random_histories

pytestmark = [pytest.mark.django_db(transaction=True)]

WORDS = "amber birch cedar delta ember fjord grove heath".split()
BASE = 120  # facts: enough that words are kept from one search to the next
STEPS = "write write bulk edit edit delete fork fork_past erase undo".split()

facts, branches = FactEngine(), BranchManager()


class Store:
    """A store and its branches; every step is followed by searches on all of them."""

    def __init__(self, seed: int) -> None:
        self.random, self.actor, self.names = Random(seed), some_actor(), ["main"]
        self.commits: list[Any] = []
        self.write_many("main", BASE)
        self.commits.clear()

    def text(self) -> str:
        words = self.random.sample(WORDS, 3)
        return " ".join([*words, f"n{self.random.randrange(10**9)}"])

    def write_many(self, branch: str, count: int) -> None:
        rows = [{"fact_text": self.text()} for _ in range(count)]
        done = facts.write_facts(facts=rows, actor=self.actor, branch_name=branch, deduplicate=False)
        self.commits.append(done.commit)

    def rows(self, branch: str) -> Any:
        return Fact.objects.on(find_branch(self.actor, branch))

    def pick(self, branch: str, number: int) -> Fact:
        known = list(self.rows(branch).order_by("uid"))
        return known[number % len(known)]

    def play(self, step: str, branch: str, number: int) -> None:
        if step in ("edit", "delete", "erase") and not self.rows(branch).exists():
            return
        where = {"actor": self.actor, "branch_name": branch}
        match step:
            case "write":
                self.write_many(branch, 1)
            case "bulk":
                self.write_many(branch, 30)
            case "edit":
                uid = self.pick(branch, number).uid
                facts.update_fact(fact_id=uid, updates={"fact_text": self.text()}, **where)
            case "delete":
                facts.delete_fact(fact_id=self.pick(branch, number).uid, **where)
            case "erase":
                what = {"actor": self.actor, "scope": "fact", "target": str(self.pick(branch, number).uid)}
                name = ErasureEngine().preview_erasure(**what).confirm
                ErasureEngine().erase(**what, confirm=name)
            case "undo":
                for commit in self.commits[-1:]:
                    with suppress(Conflict):  # something of it has changed since
                        RevertEngine().revert_commit(commit_id=commit.pk, actor=self.actor)
            case _:
                self.fork(branch, number if step == "fork_past" else None)

    def fork(self, parent: str, number: int | None) -> None:
        head = find_branch(self.actor, parent).head
        name = f"b{len(self.names)}"
        at = None if number is None else number % (head + 1)
        child = branches.create_branch(name=name, parent=parent, at=at, actor=self.actor)
        if number is not None and self.random.random() < 0.5:  # else its rows are read without the index
            pin_versions(child)
        self.names.append(name)

    def check(self) -> None:
        for name in self.names:
            shown = self.rows(name)
            texts = dict(shown.values_list("pk", "fact_text"))
            for words in (WORDS[:1], self.random.sample(WORDS, 2)):
                best, also = shown.match_words(words, len(texts) + 1, list(texts))
                expected = {rid for rid, text in texts.items() if set(words) & set(text.split())}
                assert {rid for rid, _ in best} == {rid for rid, _ in also} == expected, (name, words)
                assert sorted(best, key=lambda hit: (-hit[1], hit[0])) == list(best)


histories = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 9), st.integers(0, 999)), min_size=8, max_size=14
)


@pytest.mark.slow
@given(seed=st.integers(0, 999), history=histories)
@random_histories(8)
def test_what_is_found_is_what_is_visible_and_has_a_word(seed: int, history: list) -> None:
    store = Store(seed)
    store.check()
    for step, branch, number in history:
        store.play(step, store.names[branch % len(store.names)], number)
        store.check()


def test_a_fork_of_the_past_finds_what_was_replaced_before_a_word_was_read() -> None:
    store = Store(1)
    before, old = find_branch(store.actor, "main").head, store.pick("main", 7)
    word = old.fact_text.split()[3]  # which no other fact has
    facts.update_fact(fact_id=old.uid, updates={"fact_text": "zinnia"}, actor=store.actor)
    assert matched(store.rows("main"), word) == []
    pin_versions(branches.create_branch(name="past", parent="main", at=before, actor=store.actor))
    assert [row.fact_text for row in matched(store.rows("past"), word)] == [old.fact_text]
    assert matched(store.rows("past"), "zinnia") == []


def matched(rows: Any, word: str) -> list[Fact]:
    best, _ = rows.match_words([word], BASE)
    return list(rows.filter(pk__in=[rid for rid, _ in best]))


@only_on_sqlite
def test_a_reader_of_an_older_state_finds_what_that_state_has() -> None:
    store = Store(2)
    old = store.pick("main", 3)
    word = old.fact_text.split()[3]  # which no other fact has
    store.check()
    with connection.snapshot():
        rows = store.rows("main")
        rows.count()  # begins the snapshot
        edit = Thread(target=change_and_search, args=(store, old, word))
        edit.start(), edit.join()
        assert [row.fact_text for row in matched(store.rows("main"), word)] == [old.fact_text]
    assert matched(store.rows("main"), word) == []


def change_and_search(store: Store, old: Fact, word: str) -> None:
    try:
        facts.update_fact(fact_id=old.uid, updates={"fact_text": "zinnia"}, actor=store.actor)
        assert matched(store.rows("main"), word) == []
    finally:
        connection.close()
