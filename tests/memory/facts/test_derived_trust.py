"""A derived fact never shows more trust than its weakest source."""

import pytest

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.facts.links import LinkEngine
from memory.engines.facts.verdicts import NewVerdict, record_verdicts
from memory.engines.merging.engine import MergeEngine
from memory.engines.versions.commits import open_commit
from memory.models import Fact, FactAssessment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("main")]
FACTS = FactEngine()
Method = FactAssessment.Method


def say(actor: Actor, text: str) -> Fact:
    return FACTS.write_fact(fact_text=text, actor=actor).fact


def derive(actor: Actor, text: str, *sources: Fact, kind: str = "CONSOLIDATED_FROM") -> Fact:
    made = say(actor, text)
    for one in sources:
        LinkEngine().write_link(from_id=made.uid, to_id=one.uid, link_type=kind, actor=actor)
    return made


def rate(actor: Actor, fact: Fact, method: str = Method.JUDGE, status: str = "verified") -> None:
    """Give a verdict as the judge or the heuristic does."""
    with open_commit(actor, "main", "fact.verify") as commit:
        record_verdicts(commit, [NewVerdict(fact, status, method, "read", method)])


def show(actor: Actor, fact: Fact) -> tuple[str, str]:
    row = FACTS.get_fact(fact_id=fact.uid, actor=actor)
    return row.verification_status, row.verification_method


def verify(actor: Actor, fact: Fact, reason: str = "") -> None:
    FACTS.set_verification(fact_id=fact.uid, verdict="verified", reason=reason, actor=actor)


def invalidate(actor: Actor, fact: Fact, branch: str = "main") -> None:
    where = {"branch_name": branch, "actor": actor}
    FACTS.set_verification(fact_id=fact.uid, verdict="invalidated", **where)


def listed(actor: Actor, status: str) -> set[str]:
    filters = FactFilter.from_values({"verification_status": status})
    return {row.fact_text for row in FACTS.list_facts(filters=filters, actor=actor).results}


@pytest.mark.parametrize("kind", ["CONSOLIDATED_FROM", "DERIVED_FROM"])
def test_the_weakest_source_is_what_counts(actor: Actor, kind: str) -> None:
    strong, weak = say(actor, "Strong."), say(actor, "Weak.")
    made = derive(actor, "Made.", strong, weak, kind=kind)
    rate(actor, strong), rate(actor, made)
    assert show(actor, made)[0] == "unverified"
    assert listed(actor, "verified") == {"Strong."}
    assert listed(actor, "unverified") == {"Weak.", "Made."}
    rate(actor, weak, Method.HEURISTIC)
    assert (show(actor, weak), show(actor, made)) == (("plausible", "heuristic"),) * 2
    assert (listed(actor, "plausible"), listed(actor, "unverified")) == ({"Weak.", "Made."}, set())
    rate(actor, made, status="unverified"), rate(actor, weak, status="unverified")
    rate(actor, made)
    assert (show(actor, made)[0], listed(actor, "plausible")) == ("unverified", set())
    rate(actor, weak)
    assert show(actor, made) == ("verified", "judge")
    assert listed(actor, "verified") == {"Strong.", "Weak.", "Made."}


def test_it_reaches_through_several_steps_and_a_circle_ends(actor: Actor) -> None:
    first = say(actor, "First.")
    second = derive(actor, "Second.", first)
    third = derive(actor, "Third.", second)
    LinkEngine().write_link(from_id=first.uid, to_id=third.uid, link_type="DERIVED_FROM", actor=actor)
    for fact in (second, third):
        rate(actor, fact)
    assert (show(actor, second)[0], show(actor, third)[0]) == ("unverified", "unverified")
    rate(actor, first)
    assert [show(actor, fact)[0] for fact in (first, second, third)] == ["verified"] * 3


def test_an_edited_source_bears_nothing_until_it_is_verified_again(actor: Actor) -> None:
    source = say(actor, "Source.")
    made = derive(actor, "Made.", source)
    rate(actor, source), rate(actor, made)
    FACTS.update_fact(fact_id=source.uid, updates={"fact_text": "Another."}, actor=actor)
    assert show(actor, made)[0] == "unverified"


def test_a_persons_verdict_counts_until_a_source_is_wrong(actor: Actor) -> None:
    source = say(actor, "Source.")
    made = derive(actor, "Made.", source)
    FACTS.set_verification(fact_id=made.uid, verdict="verified", actor=actor)
    assert show(actor, made) == ("verified", "human")
    FACTS.set_verification(fact_id=source.uid, verdict="invalidated", actor=actor)
    assert show(actor, made)[0] == "unverified"
    FACTS.set_verification(fact_id=made.uid, verdict="verified", reason="Seen.", actor=actor)
    assert show(actor, made) == ("verified", "human")


def test_a_duplicate_that_a_fact_stands_for_lowers_nothing(actor: Actor) -> None:
    keeper, others = say(actor, "Kept."), [say(actor, f"The same {n}.").uid for n in range(3)]
    rate(actor, keeper)
    more = {"replaced_by": keeper.uid, "actor": actor}
    ActionEngine().apply_action(action="supersede", fact_ids=others, **more)
    assert LinkEngine().list_links(fact_id=keeper.uid, actor=actor).results
    assert show(actor, keeper) == ("verified", "judge")


def test_one_text_for_several_is_no_better_than_any_of_them(actor: Actor) -> None:
    weak, strong = say(actor, "It is at noon."), say(actor, "It is at twelve.")
    rate(actor, strong)
    more = {"new_fact_text": "It is at noon, twelve o'clock.", "actor": actor}
    done = ActionEngine().apply_action(action="supersede", fact_ids=[weak.uid, strong.uid], **more)
    assert done.new_fact is not None
    rate(actor, done.new_fact)
    assert show(actor, done.new_fact)[0] == "unverified"
    verify(actor, done.new_fact)
    assert show(actor, done.new_fact) == ("verified", "human")


@pytest.mark.parametrize("method", [Method.JUDGE, Method.HUMAN])
def test_a_duplicate_that_turns_out_wrong_lowers_who_stands_for_it(actor: Actor, method: str) -> None:
    """It says the same: found to be wrong on another branch, it speaks against what took its place."""
    keeper, *others = (say(actor, f"The same {n}.") for n in range(3))
    BranchManager().create_branch(name="task/a", actor=actor)
    more = {"replaced_by": keeper.uid, "actor": actor}
    ActionEngine().apply_action(action="supersede", fact_ids=[one.uid for one in others], **more)
    rate(actor, keeper, method)
    wrong = others[0]
    invalidate(actor, wrong, "task/a")
    assert show(actor, keeper) == ("verified", method)
    MergeEngine().merge_branch(source="task/a", target="main", actor=actor)
    assert (show(actor, wrong)[0], show(actor, keeper)[0]) == ("invalidated", "unverified")
    assert listed(actor, "verified") == set()


def test_links_to_messages_and_of_other_types_derive_no_trust(actor: Actor) -> None:
    source = say(actor, "Source.")
    made = derive(actor, "Made.", source, kind="ASSOCIATED")
    rate(actor, made)
    assert show(actor, made) == ("verified", "judge")


def test_a_source_of_a_source_that_is_wrong_is_felt_through_what_is_between(actor: Actor) -> None:
    first = say(actor, "First.")
    second = derive(actor, "Second.", first)
    third = derive(actor, "Third.", second)
    verify(actor, third)
    invalidate(actor, first)
    assert show(actor, third)[0] == "unverified"
    assert listed(actor, "verified") == set()
    verify(actor, second)  # by a person, who knew
    assert [show(actor, fact)[0] for fact in (second, third)] == ["verified", "verified"]


def test_an_invalidation_counts_from_when_it_came_to_the_branch(actor: Actor) -> None:
    source = say(actor, "Source.")
    made = derive(actor, "Made.", source)
    BranchManager().create_branch(name="task/a", actor=actor)
    invalidate(actor, source, "task/a")
    verify(actor, made)
    assert show(actor, made) == ("verified", "human")
    MergeEngine().merge_branch(source="task/a", target="main", strategy="theirs", actor=actor)
    assert (show(actor, source)[0], show(actor, made)[0]) == ("invalidated", "unverified")
    verify(actor, made, "Seen.")
    assert show(actor, made) == ("verified", "human")


def test_a_source_that_another_fact_superseded_still_lowers(actor: Actor) -> None:
    source = say(actor, "Source.")
    made = derive(actor, "Made.", source)
    rate(actor, made)
    assert show(actor, made)[0] == "unverified"
    FACTS.supersede_fact(old_fact_id=source.uid, new_fact_text="Another.", actor=actor)
    assert show(actor, made)[0] == "unverified"
