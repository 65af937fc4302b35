"""The curators' queue: what waits on a branch by worth, each entry once and with its reasons."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from curation.engines.quarantine.engine import QuarantineEngine
from curation.engines.queue.engine import QueueEngine
from curation.engines.queue.reasons import WORTH, Reason
from curation.engines.queue.saved_views import MAX_VIEWS, SavedViewEngine
from curation.models import ReviewItem, SavedView, Verification
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.exceptions import Conflict, Invalid, NotFound, OwnerOnly, ScopeMissing
from memory.models import AuditEntry, Branch, Fact, FactUse
from memory.models.nodes import uuid7

pytestmark = pytest.mark.django_db(transaction=True)
queue, facts = QueueEngine(), FactEngine()
VIEWER = frozenset({"write"})


def list_texts(actor: Actor, *reasons: str, **options: Any) -> list[tuple[str, list[str]]]:
    """Return the texts of the queue with their reasons, read page by page."""
    found, cursor = [], ""
    while True:
        page = queue.list_entries(actor=actor, reasons=reasons, cursor=cursor, **options)
        found += [
            (one.fact.fact_text if one.fact else "", [c.reason.value for c in one.causes]) for one in page
        ]
        if not (cursor := page.next or ""):
            return found


@pytest.fixture
def ask(main: Branch) -> Callable[..., ReviewItem]:
    def ask(newer: Fact, older: Fact, kind: str = "near_duplicate", branch: Branch = main) -> ReviewItem:
        return ReviewItem.objects.create(
            project=branch.project,
            branch=branch,
            kind=kind,
            fact_id=newer.uid,
            other_id=older.uid,
            pair=f"{uuid7()}",
            score=0.9,
            details={"versions": {str(fact.uid): fact.version for fact in (newer, older)}},
        )

    return ask


def rate(fact: Fact, main: Branch, **fields: Any) -> Verification:
    """Store a judge's rating that the heuristic contradicts."""
    values = {"method": "judge", "verdict": "verified", "average": 0.9, "disagrees": True}
    whose = {"project": main.project, "branch": main, "created_at": timezone.now()}
    said = {"fact_id": fact.uid, "judged_hash": fact.judged_hash}
    return Verification.objects.create(**{**values, **whose, **said, **fields})


def judge(action: str, actor: Actor, *found: Fact) -> None:
    ActionEngine().apply_action(action=action, fact_ids=[fact.uid for fact in found], actor=actor)


def test_entries_come_by_worth_each_once_with_all_its_reasons(
    actor: Actor, main: Branch, write: Callable[..., Fact], ask: Callable[..., ReviewItem]
) -> None:
    settled = write("settled")
    judge("verify", actor, settled)
    soon = timezone.now() + timedelta(days=3)
    expiring = write("expiring", expires_at=soon.isoformat())
    write("expires late", expires_at=(soon + timedelta(days=30)).isoformat())
    disputed = write("disputed")
    rate(disputed, main)
    one, two, three = write("one"), write("two"), write("three")
    ask(two, one)
    ask(three, one, kind="contested")
    write("proposed", propose=True)
    assert list_texts(actor) == [
        ("proposed", ["proposed"]),
        ("three", ["contested", "unverified"]),
        ("two", ["near_duplicate", "unverified"]),
        ("disputed", ["disagreement", "unverified"]),
        ("expiring", ["expiring", "unverified"]),
        ("one", ["unverified"]),
        ("expires late", ["unverified"]),
    ]
    for limit in (1, 3):
        assert list_texts(actor, limit=limit) == list_texts(actor)
    assert [text for text, _ in list_texts(actor, "unverified", "expiring")][:2] == ["expiring", "three"]
    assert queue.find_entry(fact_id=expiring.uid, actor=actor).causes[0].at == soon
    assert queue.find_entry(fact_id=settled.uid, actor=actor) is None


def test_a_proposal_with_a_question_is_listed_once(
    actor: Actor, write: Callable[..., Fact], ask: Callable[..., ReviewItem]
) -> None:
    known, proposal = write("known"), write("proposed", propose=True)
    ask(proposal, known)
    waits = ("proposed", ["proposed", "near_duplicate"])
    for limit in (1, 50):
        assert list_texts(actor, limit=limit) == [waits, ("known", ["unverified"])]
    assert list_texts(actor, "near_duplicate") == [("proposed", ["near_duplicate", "proposed"])]
    ActionEngine().apply_action(action="accept", fact_ids=[proposal.uid], actor=actor)
    assert list_texts(actor)[0] == ("proposed", ["near_duplicate", "unverified"])


def test_a_fact_that_nobody_recalls_waits_after_a_month(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    write("never")
    used, judged = write("used"), write("judged")
    judge("verify", actor, judged)
    recalled = {"access_count": 3, "last_accessed_at": timezone.now()}
    FactUse.objects.create(uid=used.uid, project=main.project, **recalled)
    assert list_texts(actor, "never_recalled") == []
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        assert list_texts(actor, "never_recalled") == [("never", ["unverified", "never_recalled"])]
        assert [text for text, _ in list_texts(actor)] == ["used", "never"]


def test_what_a_person_judged_waits_for_a_question_alone(
    actor: Actor, main: Branch, write: Callable[..., Fact], ask: Callable[..., ReviewItem]
) -> None:
    soon = (timezone.now() + timedelta(days=3)).isoformat()
    settled, wrong, other = write("settled", expires_at=soon), write("wrong"), write("other")
    rate(settled, main)
    judge("verify", actor, settled, other)
    judge("invalidate", actor, wrong)
    assert list_texts(actor) == []
    ask(settled, other)
    assert list_texts(actor) == [("settled", ["near_duplicate"])]
    facts.update_fact(fact_id=other.uid, updates={"fact_text": "other words"}, actor=actor)
    assert [text for text, _ in list_texts(actor)] == ["settled", "other words"]


def test_a_rating_of_an_earlier_text_disagrees_with_nothing(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    fact = write("said first")
    rate(fact, main)
    facts.update_fact(fact_id=fact.uid, updates={"fact_text": "said now"}, actor=actor)
    assert list_texts(actor, "disagreement") == []
    assert list_texts(actor) == [("said now", ["unverified"])]


def test_facts_that_end_at_the_same_moment_are_all_read(actor: Actor, write: Callable[..., Fact]) -> None:
    soon = timezone.now() + timedelta(days=2)
    for number in range(5):
        write(f"same {number}", expires_at=soon.isoformat())
    write("valid", valid_until=(soon + timedelta(days=1)).isoformat())
    write("both", valid_until=soon.isoformat(), expires_at=(soon + timedelta(hours=1)).isoformat())
    for limit in (1, 2, 50):
        texts = [text for text, _ in list_texts(actor, "expiring", limit=limit)]
        assert (sorted(texts[:5]), texts[5:]) == ([f"same {n}" for n in range(5)], ["both", "valid"])


def test_filters_and_branches(
    actor: Actor, write: Callable[..., Fact], ask: Callable[..., ReviewItem]
) -> None:
    one, two = write("one", category="security"), write("two")
    ask(two, one)
    only = FactFilter.from_values({"category": "security"})
    assert list_texts(actor, filters=only) == [("one", ["unverified"])]
    child = BranchManager().create_branch(name="task/x", actor=actor)
    write("of the child", branch="task/x")
    write("proposed there", branch="task/x", propose=True)
    assert [text for text, _ in list_texts(actor, branch_name="task/x")] == [
        "proposed there",
        "of the child",
        "two",
        "one",
    ]
    BranchManager().archive_branch(name="task/x", actor=actor)
    assert list_texts(actor, branch_name="task/x") == []
    assert child.name == "task/x"


def test_few_that_wait_among_many_are_found_in_bounded_looks(
    actor: Actor, write: Callable[..., Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curation.engines.queue.engine.WINDOWS", (1, 2))
    monkeypatch.setattr("curation.engines.queue.engine.MAX_PORTIONS", 2)
    write("first")
    done = [write(f"done {number}") for number in range(12)]
    judge("verify", actor, *done)
    page = queue.list_entries(actor=actor, reasons=["unverified"])
    assert (list(page), bool(page.next)) == ([], True)  # it looked at some, and says where to go on
    assert list_texts(actor) == [("first", ["unverified"])]


def test_a_question_on_facts_that_are_gone_still_waits(
    actor: Actor, write: Callable[..., Fact], ask: Callable[..., ReviewItem]
) -> None:
    one, two, other = write("one"), write("two"), write("other")
    judge("verify", actor, one, two, other)
    ask(two, one)
    ask(other, one, kind="contested")
    facts.delete_fact(fact_id=two.uid, actor=actor)
    assert list_texts(actor) == [("other", ["contested"]), ("one", ["near_duplicate"])]
    facts.delete_fact(fact_id=one.uid, actor=actor)
    entries = queue.list_entries(actor=actor)
    assert [one.fact and one.fact.fact_text for one in entries] == ["other", None]
    assert [entry.item.fact for entry in entries if entry.item] == [entries[0].fact, None]


def test_what_is_in_quarantine_waits_until_its_release(
    actor: Actor, write: Callable[..., Fact], ask: Callable[..., ReviewItem]
) -> None:
    one, two = write("one"), write("two", agent_id="liar")
    write("proposed", agent_id="liar", propose=True)
    ask(two, one)
    before = list_texts(actor)
    assert [text for text, _ in before] == ["proposed", "two", "one"]
    quarantine = QuarantineEngine().create_quarantine(source="agent", target="liar", actor=actor)
    assert list_texts(actor) == [("one", ["unverified"])]
    QuarantineEngine().release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert list_texts(actor) == before


def test_the_newer_one_waits_for_its_other_reasons_while_the_older_is_in_quarantine(
    actor: Actor, write: Callable[..., Fact], ask: Callable[..., ReviewItem]
) -> None:
    one = write("one", agent_id="liar")
    ask(write("two"), one)
    assert ("two", ["near_duplicate", "unverified"]) in list_texts(actor)
    QuarantineEngine().create_quarantine(source="agent", target="liar", actor=actor)
    assert list_texts(actor) == [("two", ["unverified"])]


def test_refusals(actor: Actor, main: Branch) -> None:
    writer = Actor(actor.project_id, "key", scopes=VIEWER)
    with pytest.raises(ScopeMissing):
        queue.list_entries(actor=writer)
    with pytest.raises(ScopeMissing):
        queue.find_entry(fact_id=uuid7(), actor=writer)
    for wrong in ({"reasons": ["boring"]}, {"limit": 0}, {"cursor": "§"}, {"cursor": "e30="}):
        with pytest.raises(Invalid):
            queue.list_entries(actor=actor, **wrong)
    assert queue.find_entry(fact_id=uuid7(), actor=actor) is None
    assert tuple(WORTH) == tuple(Reason)


# ---- saved views -----------------------------------------------------------------------------------------

views = SavedViewEngine()


def person(actor: Actor, name: str) -> Actor:
    return Actor(actor.project_id, "user", name, name, frozenset({"curate"}))


def test_a_view_is_its_owners_and_a_shared_one_is_seen_by_all(actor: Actor, main: Branch) -> None:
    ada, bob = person(actor, "ada"), person(actor, "bob")
    made = views.save_view(
        name="Ends soon — 期限", actor=ada, reasons=["expiring"], filters={"category": "security", "tags": ""}
    )
    assert (made.reasons, made.filters, made.branch) == (["expiring"], {"category": "security"}, "")
    assert (views.list_views(actor=ada), views.list_views(actor=bob)) == ([made], [])
    with pytest.raises(NotFound):
        views.rename_view(view_id=made.pk, name="mine", actor=bob)
    views.share_view(view_id=made.pk, shared=True, actor=ada)
    assert views.list_views(actor=bob) == [made]
    for refused in (
        lambda: views.rename_view(view_id=made.pk, name="mine", actor=bob),
        lambda: views.share_view(view_id=made.pk, shared=False, actor=bob),
        lambda: views.delete_view(view_id=made.pk, actor=bob),
    ):
        with pytest.raises(OwnerOnly):
            refused()
    made.refresh_from_db()
    assert (made.name, made.shared) == ("Ends soon — 期限", True)
    views.rename_view(view_id=made.pk, name="Ends", actor=ada)
    views.delete_view(view_id=made.pk, actor=ada)
    assert not SavedView.objects.exists()
    actions = AuditEntry.objects.filter(action__startswith="view.").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == [
        "view.save",
        "view.share",
        "view.rename",
        "view.delete",
    ]


def test_views_that_are_refused(actor: Actor, main: Branch) -> None:
    ada = person(actor, "ada")
    views.save_view(name="one", actor=ada)
    views.save_view(name="one", actor=person(actor, "bob"))
    for wrong in (
        {"name": ""},
        {"name": "x" * 101},
        {"name": "two", "reasons": ["boring"]},
        {"name": "two", "filters": {"min_confidence": "much"}},
        {"name": "two", "filters": {"no_such": "1"}},
        {"name": "two", "branch_name": "no/such"},
        {"name": "one"},
    ):
        with pytest.raises((Invalid, NotFound, Conflict)):
            views.save_view(actor=ada, **wrong)
    with pytest.raises(ScopeMissing):
        views.save_view(name="two", actor=Actor(actor.project_id, "key", scopes=VIEWER))
    for number in range(MAX_VIEWS - 1):
        views.save_view(name=f"view {number}", actor=ada)
    with pytest.raises(Conflict):
        views.save_view(name="one more", actor=ada)
    assert SavedView.objects.count() == MAX_VIEWS + 1
