"""Whose words a memory has: what a person reverted or merged of others stays, each word written goes."""

from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.branches.revert import RevertEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import Decision
from memory.exceptions import NotFound
from memory.models import Commit, Fact, Project, Relation
from memory.models.base import ERASED_MARK
from tests.memory.erasure.helpers import (
    BRANCHES,
    ERASURES,
    FACTS,
    RELATIONS,
    WORD,
    tables_with,
)
from tests.memory.erasure.test_erasure_actors import erase, texts, user, write

pytestmark = pytest.mark.django_db(transaction=True)
FIRST, SECOND = "Of an agent: port 1.", "Of an agent: port 2."


@pytest.fixture
def mira(project: Project) -> Actor:
    return user(project, "mira")


def change(actor: Actor, fact: Fact, branch_name: str = "main", **updates: Any) -> None:
    FACTS.update_fact(fact_id=fact.uid, updates=updates, actor=actor, branch_name=branch_name)


def branch_off(actor: Actor) -> None:
    BRANCHES.create_branch(name="task/x", actor=actor)


def merge(actor: Actor, **options: Any) -> None:
    MergeEngine().merge_branch(source="task/x", target="main", actor=actor, **options)


def revert(actor: Actor) -> None:
    """Take back the last commit on main."""
    newest = Commit.objects.filter(branch__name="main").latest("seq")
    RevertEngine().revert_commit(commit_id=newest.pk, actor=actor)


def has_nothing(actor: Actor, name: str) -> bool:
    """Return whether the name has no memory to erase."""
    with pytest.raises(NotFound):
        ERASURES.preview_erasure(actor=actor, scope="actor", target=name)
    return True


class TestReverted:
    def test_an_edit(self, actor, main, mira) -> None:
        fact = write(actor, FIRST)
        change(actor, fact, fact_text=SECOND)
        revert(mira)
        assert has_nothing(actor, "mira")
        write(mira, f"Mine: {WORD}")
        assert erase(actor, "mira").counts == {"fact": 1}
        assert texts() == {FIRST, SECOND, ERASED_MARK}

    def test_a_deletion(self, actor, main, mira) -> None:
        fact = write(actor, FIRST)
        FACTS.delete_fact(fact_id=fact.uid, actor=actor)
        revert(mira)
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).fact_text == FIRST
        assert has_nothing(actor, "mira")

    def test_a_merge_and_its_revert(self, actor, main, mira, without_gates) -> None:
        fact = write(actor, FIRST)
        branch_off(actor)
        change(actor, fact, "task/x", fact_text=SECOND)
        merge(actor)
        revert(mira)
        revert(mira)
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).fact_text == SECOND
        assert has_nothing(actor, "mira")

    def test_words_of_the_person_that_an_agent_brought_back(self, actor, main, mira) -> None:
        fact = write(actor, FIRST)
        change(mira, fact, fact_text=f"Mine: {WORD}")
        change(actor, fact, fact_text=SECOND)
        revert(actor)
        assert erase(actor, "mira").counts == {"fact": 1}
        assert tables_with(WORD) == set()


class TestMerged:
    def test_two_fields(self, actor, main, mira, without_gates) -> None:
        fact = write(actor, FIRST, metadata={"a": 1})
        branch_off(actor)
        change(actor, fact, "task/x", fact_text=SECOND, metadata={"a": 1, "b": 2})
        change(actor, fact, category="other", metadata={"a": 1, "c": 3})
        merge(mira)
        shown = FACTS.get_fact(fact_id=fact.uid, actor=actor)
        assert (shown.fact_text, shown.category) == (SECOND, "other")
        assert shown.metadata == {"a": 1, "b": 2, "c": 3}
        assert has_nothing(actor, "mira")

    @pytest.mark.parametrize("choice", ["source", "target", "both"])
    def test_a_conflict_that_the_person_decided(self, actor, main, mira, without_gates, choice) -> None:
        fact = self.make_conflict(actor, SECOND, "Of an agent: port 3.")
        merge(mira, decisions=[Decision(fact.uid, choice, kind="fact")])
        assert Fact._base_manager.values("uid").distinct().count() == (2 if choice == "both" else 1)
        assert has_nothing(actor, "mira")

    def test_a_text_that_was_written_to_settle_it(self, actor, main, mira, without_gates) -> None:
        fact = self.make_conflict(actor, SECOND, "Of an agent: port 3.")
        merge(mira, decisions=[Decision(fact.uid, "edited", text=f"Mine: {WORD}", kind="fact")])
        assert erase(actor, "mira").counts == {"fact": 1}
        assert tables_with(WORD) == set()

    @pytest.mark.parametrize("by", ["mira", "agent"])
    def test_a_copy_of_what_the_person_wrote(self, actor, main, mira, without_gates, by) -> None:
        """It goes with the original, whoever kept both."""
        fact = self.make_conflict(mira, f"Mine: {WORD}, on the branch.", "Of mira, on main.")
        merge(mira if by == "mira" else actor, decisions=[Decision(fact.uid, "both", kind="fact")])
        assert erase(actor, "mira").counts == {"fact": 2}
        assert (tables_with(WORD), texts()) == (set(), {ERASED_MARK})

    def make_conflict(self, actor: Actor, theirs: str, ours: str) -> Fact:
        fact = write(actor, FIRST)
        branch_off(actor)
        change(actor, fact, "task/x", fact_text=theirs)
        change(actor, fact, fact_text=ours)
        return fact

    def test_a_squash_of_others(self, actor, main, mira, without_gates) -> None:
        branch_off(actor)
        for text in (FIRST, "Another thing, of another kind."):
            write(actor, text, branch_name="task/x")
        merge(mira, strategy="squash")
        assert Fact._base_manager.filter(source_type="merge").count() == 1
        assert has_nothing(actor, "mira")

    def test_a_squash_with_words_of_the_person(self, actor, main, mira, without_gates) -> None:
        """What it made of them goes with them, whoever merged."""
        branch_off(actor)
        write(actor, FIRST, branch_name="task/x")
        write(mira, f"Mine: {WORD}", branch_name="task/x")
        merge(actor, strategy="squash")
        assert erase(actor, "mira").counts == {"fact": 2}
        assert (tables_with(WORD), texts()) == (set(), {FIRST, ERASED_MARK})


class TestEachWord:
    """A memory goes as a whole when one word in it is the person's: the preview shows it beforehand."""

    def test_the_essence_of_a_fact(self, actor, main, mira) -> None:
        fact = write(actor, FIRST)
        change(mira, fact, essence=f"Port of {WORD}")
        assert ERASURES.preview_erasure(actor=actor, scope="actor", target="mira").counts == {"fact": 1}
        erase(actor, "mira")
        assert (tables_with(WORD), texts()) == (set(), {ERASED_MARK})

    def test_the_metadata_of_a_fact(self, actor, main, mira) -> None:
        fact = write(actor, FIRST, metadata={"by": "agent"})
        change(mira, fact, metadata={"by": "agent", "note": {"of": WORD}})
        erase(actor, "mira")
        assert tables_with(WORD) == set()

    def test_the_properties_of_a_relation(self, actor, main, mira) -> None:
        names = {"source_entity": "a", "relation_type": "b", "target_entity": "c"}
        RELATIONS.write_relation(actor=actor, **names, properties={"x": "y"})
        RELATIONS.write_relation(actor=mira, **names, properties={"x": WORD})
        assert erase(actor, "mira").counts == {"relation": 1}
        assert tables_with(WORD) == set()

    def test_what_is_no_word(self, actor, main, mira) -> None:
        """A relation stated again, a state, tags, a word that was removed."""
        names = {"source_entity": "a", "relation_type": "b", "target_entity": "c"}
        RELATIONS.write_relation(actor=actor, **names, properties={"x": "y"})
        RELATIONS.write_relation(actor=mira, **names)
        fact = write(actor, FIRST, metadata={"by": "agent", "n": 1})
        change(mira, fact, metadata={"by": "agent"}, tags=["x"], pinned=True)
        FACTS.archive_fact(fact_id=fact.uid, actor=mira)
        assert Relation._base_manager.latest("rid").strength == 2
        assert has_nothing(actor, "mira")
