"""What each side last agreed to, in made histories without a database; docs/merging.md has the rules."""

from collections.abc import Mapping
from typing import Any

import pytest

from memory.db.fields import dumps
from memory.engines.merging.agreed import History
from memory.engines.merging.contents import MergedContent, describe_agreed, merge_versions
from memory.engines.merging.fields import CONFLICT, DELETED, Field, get_rules
from memory.engines.versions.graph import Pasts, VersionGraph
from memory.models import Fact, Relation

CATEGORY, CONFIDENCE, TAG = Field("category"), Field("confidence"), Field("tags", "x")
Parents = int | tuple[int, ...]


class Made:
    """A history that is built version by version."""

    def __init__(self, model: Any = Fact, reverts: Mapping[int, int] | None = None) -> None:
        self.model, self.graph, self.rows, self.reverts = model, VersionGraph(), {}, dict(reverts or {})

    def add(self, vid: int, parents: Parents = (), deleted: bool = False, **content: Any) -> int:
        """Add a version, in all other fields as the first of its parents is."""
        found = (parents,) if isinstance(parents, int) else parents
        before = self.rows[found[0]].content_values() if found else {}
        self.rows[vid] = self.model(rid=vid, vid=vid, deleted=deleted, **{**before, **content})
        self.graph.add_version(vid, found)
        return vid

    def build(self) -> History:
        return History(Pasts(self.graph), self.rows, get_rules(self.model), self.reverts)

    def merge(self, ours: int, theirs: int) -> MergedContent:
        return merge_versions(self.build(), ours, theirs)

    def merge_field(self, ours: int, theirs: int, field: Field) -> Any:
        return self.build().merge_field(ours, theirs, field).value


def cross(**one: Any) -> Made:
    """Return two versions, 30 and 40, that both show what either changed: 10 as told, 20 the pinning.

    Each was merged of the other's change, so that neither knows the other's merge.
    """
    made = Made()
    made.add(1, category="pattern", confidence=0.5)
    made.add(10, 1, **one)
    made.add(20, 1, pinned=True)
    made.add(30, (10, 20), pinned=True)
    made.add(40, (20, 10), **one)
    return made


@pytest.mark.parametrize(
    ("changed", "later", "field"),
    [
        ({"tags": ["x"]}, {"tags": []}, TAG),
        ({"confidence": 0.3}, {"confidence": 0.1}, CONFIDENCE),
        ({"confidence": 0.9}, {"confidence": 0.5}, CONFIDENCE),
        ({"category": "decision"}, {"category": "pattern"}, CATEGORY),
        ({"metadata": {"k": 1}}, {"metadata": {}}, Field("metadata", "k")),
    ],
)
def test_what_was_changed_after_both_agreed_goes_on(changed: Any, later: Any, field: Field) -> None:
    made = cross(**changed)
    made.add(50, 30, **later)
    expected = made.build().rules.read(made.rows[50], field)
    assert (made.merge_field(50, 40, field), made.merge_field(40, 50, field)) == (expected, expected)


@pytest.mark.parametrize(
    ("before", "after"), [(1, True), (False, 0), (1, 1.0), ([1], [True]), ({"a": 0}, {"a": False})]
)
@pytest.mark.parametrize(("model", "name"), [(Fact, "metadata"), (Relation, "properties")])
def test_another_type_of_json_is_a_change(model: Any, name: str, before: Any, after: Any) -> None:
    made = Made(model)
    made.add(1, **{name: {"k": before}})
    made.add(10, 1, **{name: {"k": after}})
    made.add(20, 1, confidence=0.1)
    for pair in ((10, 20), (20, 10)):
        merged = made.merge(*pair)
        assert (merged.conflicts, dumps(merged.content[name])) == ((), dumps({"k": after}))
    made.add(30, (10, 20), **{name: {"k": after}})
    made.add(40, 30, **{name: {"k": before}})  # put back, after the other side took it
    assert dumps(made.merge_field(40, 30, Field(name, "k"))) == dumps(before)
    made.add(50, 1, **{name: {"k": before}}, confidence=1)
    made.add(60, 1, confidence=1.0)
    assert made.merge(50, 60).conflicts == ()


@pytest.mark.parametrize("name", ["repository", "source", "source_id"])
def test_where_a_fact_was_learned_conflicts(name: str) -> None:
    made = Made()
    made.add(1, **{name: "a"})
    made.add(10, 1, **{name: "b"})
    made.add(20, 1, **{name: "c"})
    made.add(30, 10, **{name: "a"})  # its own change, taken back
    assert made.merge(10, 20).conflicts == (name,)
    assert made.merge_field(30, 10, Field(name)) == "a"


def test_what_both_agreed_to_is_told_beside_their_base() -> None:
    """The base is 10; that the fact is pinned came with 20, and is no difference to anybody."""
    made = cross(category="decision")
    made.add(50, 30, tags=["x"])
    history = made.build()
    merged, base = merge_versions(history, 50, 40), history.pasts.find_base(50, 40)
    assert (base, merged.agreed_vids) == (10, {10, 20})
    assert describe_agreed(made.rows[10], merged.agreed, history.rules) == {"pinned": (True, True)}


def test_both_changed_it_after_they_agreed() -> None:
    made = cross(category="decision")
    made.add(50, 30, category="bug_fix")
    made.add(60, 40, category="security")
    assert made.merge(50, 60).conflicts == ("category",)
    made = cross(confidence=0.6)
    made.add(50, 30, confidence=0.2)
    made.add(60, 40, confidence=0.1)
    assert made.merge_field(50, 60, CONFIDENCE) == 0.2


def test_of_several_agreed_versions_the_merged_value_counts() -> None:
    """Both merged 0.7 and 0.9 to 0.9; that one of them then lowered it is a change of one side alone."""
    made = Made()
    made.add(1, confidence=0.5)
    made.add(10, 1, confidence=0.7)
    made.add(20, 1, confidence=0.9)
    made.add(30, (10, 20), confidence=0.9)
    made.add(40, (20, 10), confidence=0.9)
    made.add(50, 40, confidence=0.2)
    assert (made.merge_field(30, 50, CONFIDENCE), made.merge_field(50, 30, CONFIDENCE)) == (0.2, 0.2)
    assert made.build().find_agreed(30, 50, CONFIDENCE) == (0.9, 0.9)


def test_of_three_agreed_versions_too() -> None:
    made = Made()
    made.add(1, confidence=0.5)
    for vid, value in ((10, 0.6), (20, 0.7), (30, 0.8)):
        made.add(vid, 1, confidence=value)
    for first, second, last in ((40, 50, 60), (41, 51, 61)):
        made.add(first, (10, 20), confidence=0.7)
        made.add(second, (first, 30), confidence=0.8)
        made.add(last, second)
    made.add(70, 60, confidence=0.1)
    assert (made.merge_field(70, 61, CONFIDENCE), made.merge_field(61, 70, CONFIDENCE)) == (0.1, 0.1)


class TestDecisions:
    @pytest.fixture
    def made(self) -> Made:
        """Return a conflict, decided for 10 in 30 and for 20 in 40."""
        made = Made()
        made.add(1, category="pattern")
        made.add(10, 1, category="bug_fix")
        made.add(20, 1, category="security")
        made.add(30, (10, 20))
        made.add(40, (20, 10))
        return made

    def test_that_differ_are_asked_about_in_both_directions(self, made: Made) -> None:
        assert made.merge(30, 40).conflicts == made.merge(40, 30).conflicts == ("category",)

    def test_go_before_what_the_other_side_had(self, made: Made) -> None:
        made.add(50, 10, pinned=True)
        made.add(60, 20, pinned=True)
        for side in (50, 60):
            assert made.merge_field(side, 30, CATEGORY) == made.merge_field(30, side, CATEGORY) == "bug_fix"

    def test_conflict_with_what_the_other_side_changed_since(self, made: Made) -> None:
        made.add(50, 20, category="decision")
        assert made.merge(30, 50).conflicts == ("category",)

    def test_end_where_the_other_side_knows_them(self, made: Made) -> None:
        made.add(50, 30, pinned=True)
        made.add(60, 30, category="decision")
        assert made.merge_field(50, 60, CATEGORY) == "decision"

    def test_that_the_rules_give_too_are_none(self) -> None:
        """Made by hand or by a merge: the category of 30 comes from 20."""
        made = Made()
        made.add(1, category="pattern")
        made.add(10, 1, pinned=True)
        made.add(20, 1, category="security")
        made.add(30, (10, 20), category="security")
        made.add(40, 20, category="decision")
        assert made.merge_field(30, 40, CATEGORY) == "decision"

    def test_of_the_fact_as_one_claim(self, made: Made) -> None:
        """One side archived the fact, the other one gave it another text: each alone is half a claim."""
        made = Made()
        made.add(1, fact_text="a", essence="a", status="active")
        made.add(10, 1, status="archived")
        made.add(20, 1, fact_text="b", essence="b", tags=["t"])
        merged = made.merge(10, 20)
        assert merged.conflicts == ("fact_text", "essence", "status")
        assert (merged.content["fact_text"], merged.content["tags"]) == ("a", ["t"])
        assert (merged.for_source["status"], merged.for_source["tags"]) == ("active", ["t"])


def test_keys_of_a_mapping_conflict_alone() -> None:
    made = Made()
    made.add(1, metadata={"a": 1, "b": 1, "c": 1})
    made.add(10, 1, metadata={"a": 2, "b": 2, "c": 1})
    made.add(20, 1, metadata={"a": 3, "b": 1, "d": 1})
    merged = made.merge(10, 20)
    assert merged.conflicts == ("metadata",)
    assert merged.content["metadata"] == {"a": 2, "b": 2, "d": 1}
    assert merged.for_source["metadata"] == {"a": 3, "b": 2, "d": 1}


class TestCounters:
    @staticmethod
    def made(*, strengths: Mapping[int, int]) -> Made:
        made = Made(Relation)
        parents: dict[int, Parents] = {1: (), 10: 1, 20: 1, 30: (10, 20), 40: (20, 10), 50: 30, 60: 40}
        for vid, strength in strengths.items():
            made.add(vid, parents[vid], strength=strength)
        return made

    def test_add_up_what_the_other_side_does_not_know(self) -> None:
        made = self.made(strengths={1: 2, 10: 3, 20: 5, 30: 6, 40: 6, 50: 7, 60: 8})
        assert made.merge_field(10, 20, Field("strength")) == 6
        assert made.merge_field(50, 60, Field("strength")) == made.merge_field(60, 50, Field("strength")) == 9

    def test_add_up_also_where_both_are_equal(self) -> None:
        made = self.made(strengths={1: 2, 10: 3, 20: 3})
        assert made.merge(10, 20).content["strength"] == 4


class TestDeletions:
    @pytest.fixture
    def made(self) -> Made:
        made = cross(category="decision")
        made.add(50, 40, deleted=True)
        return made

    def test_of_what_the_other_side_left_alone_go_on(self, made: Made) -> None:
        assert made.merge_field(30, 50, DELETED) is made.merge_field(50, 30, DELETED) is True

    def test_of_what_the_other_side_changed_are_asked_about(self, made: Made) -> None:
        made.add(60, 30, tags=["t"])
        assert made.merge_field(60, 50, DELETED) is made.merge_field(50, 60, DELETED) is CONFLICT

    def test_of_what_was_changed_and_put_back_go_on(self, made: Made) -> None:
        made.add(60, 30, category="bug_fix", updated_cycle=3)
        made.add(70, 60, category="decision", session_id="s", updated_cycle=4)
        assert made.merge_field(70, 50, DELETED) is True

    def test_do_not_undo_what_was_written_anew(self, made: Made) -> None:
        """Both know the deletion; one wrote the fact anew, the other only merged it once more."""
        made.add(60, 50, deleted=False, category="security")
        made.add(70, (50, 30), deleted=True)
        assert made.merge_field(60, 70, DELETED) is made.merge_field(70, 60, DELETED) is False

    def test_leave_the_content_to_the_side_that_has_it(self, made: Made) -> None:
        """That it is there was decided; its category is what 60 said, and goes on from there."""
        made.add(60, 30, category="bug_fix")
        made.add(70, (50, 60), deleted=False, category="bug_fix")
        made.add(80, 60, category="security")
        assert made.merge_field(70, 80, CATEGORY) == "security"

    def test_among_three_agreed_versions(self) -> None:
        """4 deletes what 2 and 3 did, 5 wrote it anew, 6 deletes what was there first; 11 shows it."""
        made = Made()
        made.add(1)
        for vid in (2, 3, 6):
            made.add(vid, 1, deleted=True)
        made.add(4, (2, 3), deleted=True)
        made.add(5, 2)
        for vid, parent in ((7, 4), (8, 5), (9, 6)):
            made.add(vid, parent, category="decision")
        made.add(11, (9, made.add(10, (8, 7))))
        made.add(13, (made.add(12, (4, 5)), 6), deleted=True)
        assert made.merge_field(11, 13, DELETED) is made.merge_field(13, 11, DELETED) is False


class TestReverts:
    @pytest.fixture
    def made(self) -> Made:
        """Return a merge, 30, of 20 into 10, and its revert 40."""
        made = Made(reverts={40: 30})
        made.add(1, category="pattern")
        made.add(10, 1, pinned=True)
        made.add(20, 1, category="decision", priority="P1")
        made.add(30, (10, 20), category="decision", priority="P1")
        made.add(40, 10)
        return made

    def list_reverted(self, made: Made, ours: int, theirs: int) -> set[str]:
        """Return the fields in which a conflict is one about a revert, the same in both directions."""
        found = [made.merge(*pair) for pair in ((ours, theirs), (theirs, ours))]
        assert found[0].conflicts == found[1].conflicts
        assert found[0].is_reverted == found[1].is_reverted == bool(found[0].conflicts)
        return set(found[0].conflicts)

    def test_hold_over_later_edits_of_either_side(self, made: Made) -> None:
        made.add(50, 40, confidence=0.9)
        made.add(60, 20, tags=["t"])
        for pair in ((40, 20), (50, 20), (40, 60), (50, 60)):
            assert self.list_reverted(made, *pair) == {"category", "priority"}

    def test_hold_where_the_sides_still_differ(self, made: Made) -> None:
        made.add(50, 40, category="decision")
        assert self.list_reverted(made, 50, 20) == {"priority"}
        made.add(60, 50, priority="P1")
        assert self.list_reverted(made, 60, 20) == set()

    def test_hold_for_those_who_got_a_part_of_it(self, made: Made) -> None:
        """Another branch took the revert in, or what it rejects, by way of a merge of its own."""
        made.add(50, 1, tags=["t"])
        made.add(60, (50, 40), pinned=True)
        made.add(70, (50, 20), category="decision", priority="P1")
        assert (
            self.list_reverted(made, 60, 20) == self.list_reverted(made, 40, 70) == {"category", "priority"}
        )
        assert self.list_reverted(made, 60, 50) == set()

    def test_end_with_a_decision_on_every_side(self, made: Made) -> None:
        made.add(50, (40, 20), priority="P1")
        for edited in (made.add(60, 40, tags=["t"]), made.add(70, 20, tags=["t"])):
            merged = made.merge(50, edited)
            assert (merged.conflicts, merged.content["category"]) == ((), "pattern")
            assert merged.content["priority"] == "P1"

    def test_end_when_they_are_reverted_and_hold_again_for_another_one(self, made: Made) -> None:
        made.add(50, (40, 30), category="decision", priority="P1")
        made.add(60, 20, category="security")
        assert made.merge_field(50, 60, CATEGORY) == "security"
        made.reverts[70] = made.rows[50].vid
        made.add(70, 40)
        assert self.list_reverted(made, 70, 60) == {"category", "priority"}

    def test_of_a_memory_that_the_merge_brought(self) -> None:
        made = Made(reverts={30: 20})
        made.add(10)
        made.add(20, 10, category="decision")
        made.add(30, deleted=True)
        assert made.build().list_reverted(30, 20) == made.build().list_reverted(20, 30) == {DELETED}


def test_a_long_history_is_no_question_of_the_stack() -> None:
    made = Made()
    made.add(1, category="pattern", confidence=0.5)
    for vid in range(2, 10_000):
        made.graph.add_version(vid, (vid - 1,))
    made.rows[9_999] = Fact(rid=9_999, vid=9_999, deleted=False, category="decision", confidence=0.5)
    made.add(20_000, 1, confidence=0.1)
    merged = made.merge(20_000, 9_999)
    assert (merged.content["category"], merged.content["confidence"]) == ("decision", 0.1)


def test_branches_that_merge_each_other_again_and_again() -> None:
    """Each round both merge what the other had, and one changes the fact once more."""
    made = Made()
    ours = theirs = made.add(1, confidence=0.5, tags=["x"])
    for number in range(1000):
        vid = 10 + number * 10
        edited = made.add(vid, ours, tags=[] if number % 2 else ["x"])
        ours, theirs = (
            made.add(vid + 1, (edited, theirs)),
            made.add(vid + 2, (theirs, edited), tags=made.rows[vid].tags),
        )
    last = made.add(20_000, ours, confidence=0.1, tags=["x"])
    assert (made.merge_field(theirs, last, CONFIDENCE), made.merge_field(theirs, last, TAG)) == (0.1, True)
