"""The causal model itself: it must see what a wrong merge does."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engines.merging.changes import settle_parted
from memory.engines.merging.plan import CONFLICT, EDITED, PlanItem
from memory.models import Fact
from memory.models.hashes import content_hash, judged_hash, norm_hash
from tests.memory.merging.field_model import decide_for, find_outcome, is_same_content
from tests.memory.merging.judgement import Judgement
from tests.memory.merging.oracle import Line, Row, Version
from tests.memory.merging.test_agreed import Made
from tests.memory.merging.transports import Choice, Item
from tests.memory.test_versions import random_histories

KEY = ("fact", "1")


def fact(text: str, **fields: Any) -> dict[str, Any]:
    hashes = (content_hash(text), norm_hash(text), judged_hash(text, text, "general"))
    derived = dict(zip(("content_hash", "norm_hash", "judged_hash"), hashes, strict=True))
    plain = {"category": "general", "status": "active", "confidence": 0.7, "tags": [], "metadata": {}}
    return {"fact_text": text, "essence": text, **plain, **derived, **fields}


def diverge(ours: Any, theirs: Any, base: Any) -> tuple[str, str]:
    root = Version(base)
    return class_of(Version(ours, (root,)), Version(theirs, (root,)))


def class_of(ours: Version | None, theirs: Version | None) -> tuple[str, str]:
    outcome = find_outcome("fact", ours, theirs)
    assert outcome is not None
    return outcome.name, outcome.reason


def test_what_includes_the_other_is_copied_or_nothing_to_do() -> None:
    old = Version(fact("a"))
    new = Version(fact("b"), (old,))
    assert find_outcome("fact", new, old) is None
    for target in (old, None):
        outcome = find_outcome("fact", target, new)
        assert outcome is not None
        assert (outcome.name, outcome.merged) == ("applied", new.fields)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (fact("b"), fact("b"), ("identical", "")),
        (fact("b"), fact("c"), ("conflict", "edited")),
        (fact("b"), fact("a", status="archived"), ("conflict", "edited")),
        (fact("b"), None, ("conflict", "deleted")),
        (None, None, ("identical", "")),
        (fact("b"), fact("a", tags=["t"]), ("applied", "")),
        (fact("a", confidence=0.9), fact("a", confidence=0.8), ("identical", "")),
        (fact("a", category="x"), fact("a", category="y"), ("conflict", "edited")),
        (fact("a", metadata={"k": 1}), fact("a", metadata={"k": 2}), ("conflict", "edited")),
        (fact("a", metadata={"k": 1}), fact("a", metadata={"l": 2}), ("applied", "")),
    ],
)
def test_what_both_sides_changed_is_classed_by_its_fields(ours: Any, theirs: Any, expected: Any) -> None:
    assert diverge(ours, theirs, fact("a")) == expected


def test_fields_are_merged_on_the_nearest_common_version() -> None:
    root = Version(fact("a"))
    one, two = Version(fact("a", tags=["x", "y"]), (root,)), Version(fact("b"), (root,))
    both = Version(fact("b", tags=["x", "y"]), (one, two))
    ours, theirs = Version(fact("b", tags=["y"]), (both,)), Version(fact("c", tags=["x", "y", "z"]), (both,))
    outcome = find_outcome("fact", ours, theirs)
    assert outcome is not None
    assert outcome.merged is not None
    assert (outcome.merged["fact_text"], outcome.merged["tags"]) == ("c", ["y", "z"])


def test_the_revert_of_a_merge_asks_once() -> None:
    root = Version(fact("a"))
    theirs = Version(fact("b"), (root,))
    undone = Version(fact("a"), (root,), theirs)
    assert class_of(undone, theirs) == ("conflict", "reverted")
    assert class_of(Version(fact("a", confidence=0.9), (undone,)), theirs) == ("conflict", "reverted")
    settled = Version(fact("a"), (undone, theirs))
    assert find_outcome("fact", settled, theirs) is None


def test_a_deletion_says_something_else_than_a_key_that_is_not_there() -> None:
    root = Version(fact("a"))
    merged = Version(fact("a", metadata={"k": 1}), (root,))
    undone = Version(fact("a"), (root,), merged)
    assert class_of(undone, Version(None, (merged,))) == ("conflict", "reverted")


def test_a_tag_that_was_not_written_anew_is_no_change() -> None:
    """One side decided for the deletion and wrote the fact anew, the other one decided to keep it."""
    root = Version(fact("a"))
    gone, tagged = Version(None, (root,)), Version(fact("a", tags=["t"]), (root,))
    ours, theirs = Version(None, (gone, tagged)), Version(fact("a", tags=["t"]), (tagged, gone))
    outcome = find_outcome("fact", Version(fact("a"), (ours,)), theirs)
    assert outcome is not None
    assert outcome.merged is not None
    assert outcome.merged["tags"] == ["t"]


def test_to_remove_a_tag_is_a_change_against_a_deletion() -> None:
    root = Version(fact("a", tags=["t"]))
    assert class_of(Version(None, (root,)), Version(fact("a"), (root,))) == ("conflict", "deleted")


@pytest.mark.parametrize("values", [(0.6, 0.7), (0.6, None)])
def test_of_several_agreed_versions_a_deletion_is_no_value(values: Any) -> None:
    """Each side wrote its own of all that the other knows, and decided for what it says now."""
    root = Version(fact("a"))
    known = [Version(None if one is None else fact("a", confidence=one), (root,)) for one in values]
    sides = []
    for confidence in (0.2, 0.1):
        one, two = (Version(fact("a", confidence=confidence), (version,)) for version in known)
        sides.append(Version(fact("a", confidence=confidence), (one, two)))
    outcome = find_outcome("fact", *sides)
    assert outcome is not None
    assert outcome.merged is not None
    assert outcome.merged["confidence"] == 0.2


# ---- the engine beside the model -------------------------------------------------------------------

CHANGES: Sequence[dict[str, Any]] = (
    {"category": "security"},
    {"category": "decision"},
    {"confidence": 0.1},
    {"confidence": 0.9},
    {"tags": ["x"]},
    {"tags": ["x", "y"]},
    {"tags": []},
    {"metadata": {"k": 1}},
    {"metadata": {}},
    {"fact_text": "b", "essence": "b"},
    {"status": "archived"},
    {"updated_cycle": 1, "session_id": "s"},
)
STEPS = "edit edit edit edit delete merge merge merge merge merge revert redo".split()
numbers = st.integers(0, 59)


class Twice:
    """One made history of a fact, for the engine and for the model."""

    def __init__(self) -> None:
        self.made, self.versions = Made(), dict[int, Version]()
        self.add((), fact_text="a", essence="a")

    def add(self, parents: Sequence[int], deleted: bool = False, taken: int = 0, **content: Any) -> None:
        vid = self.made.add(len(self.versions) + 1, tuple(parents), deleted, **content)
        fields = None if deleted else self.made.rows[vid].content_values()
        known = tuple(self.versions[parent] for parent in parents)
        self.versions[vid] = Version(fields, known, self.versions.get(taken))
        if taken:
            self.made.reverts[vid] = taken

    def pick(self, number: int) -> int:
        """Return one of the last versions."""
        return max(1, len(self.versions) - number % 6)

    def edit(self, one: int, other: int) -> None:
        self.add((self.pick(one),), **CHANGES[other % len(CHANGES)])

    def delete(self, one: int, _other: int) -> None:
        self.add((self.pick(one),), deleted=True)

    def merge(self, one: int, other: int) -> None:
        """Merge two versions, and decide for a side where they conflict."""
        pair = self.pick(one), self.pick(other)
        if not self.are_parted(*pair):
            return
        item = self.compare(*pair)
        side = self.made.rows[pair[one // 6 % 2]]
        content, deleted = item.merged, item.removes
        if item.outcome == CONFLICT and item.merged is None:
            content, deleted = side.content_values(), side.deleted
        elif item.outcome == CONFLICT:
            content = item.merged if side is item.ours else item.for_source
        self.add(pair, deleted, **content or {})

    def revert(self, one: int, _other: int) -> None:
        vid = self.pick(one)
        if len(parents := self.made.graph.get_parents(vid)) == 2:
            row = self.made.rows[parents[0]]
            self.add(parents[:1], row.deleted, vid, **row.content_values())

    def redo(self, one: int, _other: int) -> None:
        if taken := self.made.reverts.get(vid := self.pick(one)):
            row = self.made.rows[taken]
            self.add((vid, taken), row.deleted, **row.content_values())

    def are_parted(self, one: int, other: int) -> bool:
        versions = self.versions[one], self.versions[other]
        return not versions[0].includes(versions[1]) and not versions[1].includes(versions[0])

    def compare(self, ours: int, theirs: int) -> PlanItem:
        """Return what the engine makes of two versions: what the model makes of them, whatever is decided."""
        item = PlanItem(Fact, UUID(int=1), CONFLICT, EDITED, self.made.rows[ours], self.made.rows[theirs])
        settle_parted(item, self.made.build())
        sides = self.versions[ours], self.versions[theirs]
        outcome = find_outcome("fact", *sides)
        assert outcome is not None
        assert read_class(item.outcome, item.reason) == read_class(outcome.name, outcome.reason)
        if item.outcome != CONFLICT:
            assert_equal(None if item.removes else item.merged, outcome.merged)
        elif outcome.merged is not None:
            for side, content in zip(sides, (item.merged, item.for_source), strict=True):
                assert_equal(content, decide_for("fact", outcome, side))
        return item


def read_class(name: str, reason: str) -> tuple[str, str]:
    """Return a class and the reason of a conflict; what differs in its provenance alone may be either."""
    return ("conflict", reason) if name == CONFLICT else ("merged", "")


def assert_equal(one: Any, two: Any) -> None:
    assert (one is None) == (two is None)
    assert one is None or is_same_content("fact", one, two), (one, two)


@given(history=st.lists(st.tuples(st.sampled_from(STEPS), numbers, numbers), min_size=10, max_size=22))
@random_histories(60)
def test_engine_and_model_say_the_same_of_each_pair(history: list[tuple[str, int, int]]) -> None:
    both = Twice()
    for name, one, other in history:
        getattr(both, name)(one, other)
    last = [both.pick(number) for number in range(6)]
    for ours, theirs in product(last, last):
        if both.are_parted(ours, theirs):
            both.compare(ours, theirs)


# ---- wrong merges ----------------------------------------------------------------------------------


def lines(ours: Any, theirs: Any) -> tuple[Line, Line]:
    """Return a source and a target that parted from a fact with the text "a"."""
    start = {KEY: Row(1, fact("a"))}
    root = Line()
    root.record_write(start)
    sides = [Line(root, 1), Line(root, 1)]
    for line, fields in zip(sides, (theirs, ours), strict=True):
        line.record_write({KEY: Row(2, fields)} if fields else {})
    return sides[0], sides[1]


def judge(ours: Any, theirs: Any, items: Sequence[Item], after: Any, strategy: str = "auto") -> None:
    judgement = Judgement(*lines(ours, theirs), strategy)
    judgement.check_plan(items)
    judgement.settle([], {KEY: Row(3, after)} if after else {})


APPLIED = Item(*KEY, "applied", "", "t")
TAGGED = fact("a", tags=["t"])
ASKED_ABOUT = replace(APPLIED, name="conflict", reason="edited")


def test_a_right_merge_passes() -> None:
    judge(fact("b"), fact("a", tags=["t"]), [APPLIED], fact("b", tags=["t"]))
    judge(fact("b"), fact("c"), [ASKED_ABOUT], fact("c"), "theirs")


@pytest.mark.parametrize(
    ("ours", "theirs", "items", "after", "strategy", "message"),
    [
        (fact("a", tags=["x"]), fact("b"), [], fact("a", tags=["x"]), "auto", "in the plan as None"),
        (fact("b"), fact("c"), [APPLIED], fact("c"), "auto", "the model allows .*edited"),
        (fact("b"), TAGGED, [APPLIED, APPLIED], fact("b", tags=["t"]), "auto", "in the plan twice"),
        (fact("b"), TAGGED, [APPLIED], TAGGED, "auto", "'fact_text': 'a'.*, not"),  # ours is lost
        (fact("b"), TAGGED, [APPLIED], fact("b"), "auto", "'tags': \\[\\].*, not"),  # theirs is lost
        (fact("b"), fact("c"), [ASKED_ABOUT], fact("c"), "auto", "changed though it was not merged"),
        (fact("b"), fact("c"), [ASKED_ABOUT], fact("c"), "ours", "target: .*'fact_text': 'c'"),
        (fact("b"), fact("c"), [ASKED_ABOUT], None, "theirs", "source: None, not"),  # gone
        (fact("b"), fact("c"), [ASKED_ABOUT], fact("c", judged_hash=""), "theirs", "are of another content"),
    ],
)
def test_a_wrong_merge_is_seen(
    ours: Any, theirs: Any, items: Any, after: Any, strategy: str, message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        judge(ours, theirs, items, after, strategy)


# ---- two facts that are nearly equal, and erased ones ------------------------------------------------

NEAR, OTHER = ("fact", "2"), ("fact", "3")
NIGHTLY, NEVER = "the cache is cleared every night", "the cache is never cleared every night"
PARENT: dict[str, Any] = {"parent_id": None, "expires_at": None, "repository": "", "held_status": ""}
OURS, THEIRS = fact(NIGHTLY, **PARENT), fact(NEVER, **PARENT)
ASKED = Item(*NEAR, "conflict", "contested", "t", OTHER[1])
LINE_OF = {"target": {OTHER: OURS}, "source": {NEAR: THEIRS}}


def ask(items: Sequence[Item], choice: str, after: Any, erased: frozenset[str] = frozenset()) -> None:
    """Judge a merge of a fact that contradicts one of the target."""
    root = Line()
    sides = [Line(root, 0), Line(root, 0)]
    for line, rows in zip(sides, LINE_OF.values(), strict=True):
        line.record_write({key: Row(1, fields) for key, fields in rows.items()})
        for uid in erased:
            line.erase(uid)
    judgement = Judgement(sides[1], sides[0], "auto", frozenset(), erased)
    judgement.check_plan(items)
    choices = [Choice(items[0], choice, "new" if choice == "edited" else "")] if choice else []
    rows = {key: Row(1 if fields is OURS else 2, fields) for key, fields in after.items()}
    judgement.settle(choices, rows)


SUPERSEDED = {**OURS, "status": "superseded"}
REPLACING = {**THEIRS, "parent_id": OTHER[1]}
EDITED_OTHER = fact("new", **PARENT)


@pytest.mark.parametrize(
    ("choice", "after"),
    [
        ("", {OTHER: OURS}),
        ("target", {OTHER: OURS}),
        ("source", {OTHER: SUPERSEDED, NEAR: REPLACING}),
        ("both", {OTHER: OURS, NEAR: THEIRS}),
        ("edited", {OTHER: EDITED_OTHER}),
    ],
)
def test_a_right_answer_about_two_facts_passes(choice: str, after: Any) -> None:
    ask([ASKED], choice, after)


@pytest.mark.parametrize(
    ("items", "choice", "after", "message"),
    [
        ([], "", {OTHER: OURS}, "in the plan as None"),
        ([replace(ASKED, name="applied", reason="")], "", {OTHER: OURS}, "the model allows .*contested"),
        ([replace(ASKED, reason="near_duplicate")], "", {OTHER: OURS}, "the model allows .*contested"),
        ([replace(ASKED, other="9")], "", {OTHER: OURS}, "these are set"),
        ([ASKED], "", {OTHER: OURS, NEAR: THEIRS}, "changed though it was not merged"),
        ([ASKED], "target", {OTHER: OURS, NEAR: THEIRS}, "target: .*, not None"),
        ([ASKED], "source", {OTHER: SUPERSEDED}, "source: None, not"),
        ([ASKED], "source", {OTHER: OURS, NEAR: REPLACING}, "is active, not superseded"),
        ([ASKED], "source", {OTHER: SUPERSEDED, NEAR: THEIRS}, "follows None"),
        ([ASKED], "both", {OTHER: SUPERSEDED, NEAR: THEIRS}, "'3'\\) changed"),
        ([ASKED], "edited", {OTHER: OURS}, "not new"),
    ],
)
def test_a_wrong_answer_about_two_facts_is_seen(items: Any, choice: str, after: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        ask(items, choice, after)


def test_a_decision_for_a_place_that_another_one_keeps_does_not_count() -> None:
    """The source opened a relation again, the target has stated it anew."""
    closed, again = ("relation", "1"), ("relation", "2")
    triple = dict.fromkeys(("source_key", "type_key", "target_key"), "x")
    plain = {"strength": 1, "confidence": 1.0, "properties": {}, "valid_from": None}
    rows = [{**triple, **plain, "valid_until": until} for until in (1, 2, None)]
    root = Line()
    root.record_write({closed: Row(1, rows[0])})
    source, target = Line(root, 1), Line(root, 1)
    source.record_write({closed: Row(2, rows[2])})
    target.record_write({closed: Row(2, rows[1]), again: Row(1, rows[2])})
    judgement, item = Judgement(source, target, "theirs"), Item(*closed, "conflict", "edited", "t")
    judgement.check_plan([item])
    judgement.settle([], target.shown[-1])
    assert judgement.get_choice(item) == ""


def test_what_was_erased_does_not_arrive() -> None:
    erased = frozenset({NEAR[1]})
    rejected = replace(ASKED, name="rejected", reason="erased")
    ask([rejected], "", {OTHER: OURS}, erased)
    ask([], "", {OTHER: OURS}, erased)
    with pytest.raises(AssertionError, match="was erased"):
        ask([replace(ASKED, name="applied", reason="")], "", {OTHER: OURS}, erased)
    with pytest.raises(AssertionError, match="was erased, and yet it changed"):
        ask([rejected], "", {OTHER: OURS, NEAR: THEIRS}, erased)
