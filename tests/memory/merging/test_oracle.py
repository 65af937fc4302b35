"""The causal model itself: it must see what a wrong merge does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memory.models.hashes import content_hash, judged_hash, norm_hash
from tests.memory.merging.field_model import find_outcome
from tests.memory.merging.judgement import Judgement
from tests.memory.merging.oracle import Line, Row, Version
from tests.memory.merging.transports import Choice, Item

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
EDITED = replace(APPLIED, name="conflict", reason="edited")


def test_a_right_merge_passes() -> None:
    judge(fact("b"), fact("a", tags=["t"]), [APPLIED], fact("b", tags=["t"]))
    judge(fact("b"), fact("c"), [EDITED], fact("c"), "theirs")


@pytest.mark.parametrize(
    ("ours", "theirs", "items", "after", "strategy", "message"),
    [
        (fact("a", tags=["x"]), fact("b"), [], fact("a", tags=["x"]), "auto", "in the plan as None"),
        (fact("b"), fact("c"), [APPLIED], fact("c"), "auto", "the model allows .*edited"),
        (fact("b"), TAGGED, [APPLIED, APPLIED], fact("b", tags=["t"]), "auto", "in the plan twice"),
        (fact("b"), TAGGED, [APPLIED], TAGGED, "auto", "'fact_text': 'a'.*, not"),  # ours is lost
        (fact("b"), TAGGED, [APPLIED], fact("b"), "auto", "'tags': \\[\\].*, not"),  # theirs is lost
        (fact("b"), fact("c"), [EDITED], fact("c"), "auto", "changed though it was not merged"),
        (fact("b"), fact("c"), [EDITED], fact("c"), "ours", "target: .*'fact_text': 'c'"),
        (fact("b"), fact("c"), [EDITED], None, "theirs", "source: None, not"),  # gone
        (fact("b"), fact("c"), [EDITED], fact("c", judged_hash=""), "theirs", "are of another content"),
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


def test_what_was_erased_does_not_arrive() -> None:
    erased = frozenset({NEAR[1]})
    rejected = replace(ASKED, name="rejected", reason="erased")
    ask([rejected], "", {OTHER: OURS}, erased)
    ask([], "", {OTHER: OURS}, erased)
    with pytest.raises(AssertionError, match="was erased"):
        ask([replace(ASKED, name="applied", reason="")], "", {OTHER: OURS}, erased)
    with pytest.raises(AssertionError, match="was erased, and yet it changed"):
        ask([rejected], "", {OTHER: OURS, NEAR: THEIRS}, erased)
