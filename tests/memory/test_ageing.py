"""Ageing: which facts go and why, what is never touched, the commit that archives, and its undo."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from memory.actors import Actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.facts.ageing import engine as module
from memory.engines.facts.ageing.engine import AgeingEngine, find_reasons
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.exceptions import BranchNotFound, Conflict, Invalid, NotFound, ScopeMissing
from memory.models import AgedVersion, AuditEntry, Branch, Commit, Fact, FactUse, Project
from memory.tasks import age_facts
from tests.memory.api.client import nothing_left

pytestmark = pytest.mark.django_db(transaction=True)
ageing, facts = AgeingEngine(), FactEngine()
DAYS = timedelta(days=1)


@pytest.fixture
def write(actor: Actor, main: Branch) -> Callable[..., Fact]:
    def write(text: str, branch: str = "main", **fields: Any) -> Fact:
        return facts.write_fact(fact_text=text, actor=actor, branch_name=branch, **fields).fact

    return write


def set_rules(**settings: Any) -> None:
    Project.objects.update(**settings)


def recall(fact: Fact, **ago: float) -> None:
    """Note that a search found the fact."""
    at = timezone.now() - timedelta(**ago)
    FactUse.objects.update_or_create(
        uid=fact.uid, project_id=fact.branch.project_id, defaults={"access_count": 1, "last_accessed_at": at}
    )


def preview(actor: Actor, **options: Any) -> list[tuple[str, str]]:
    """Return the text and the reason of each fact that would go, read page by page."""
    found, cursor = [], ""
    while True:
        page = ageing.preview_ageing(actor=actor, cursor=cursor, **options).page
        found += [(one.fact.fact_text, one.reason) for one in page]
        if not (cursor := page.next or ""):
            return found


def show(branch: Branch, at: int | None = None) -> dict[str, tuple[str, str]]:
    branch.refresh_from_db()
    return {row.fact_text: (row.status, row.held_status) for row in Fact.objects.on(branch, at).fetch_all()}


def act(actor: Actor, action: str, *found: Fact, **options: Any) -> None:
    ActionEngine().apply_action(action=action, fact_ids=[one.uid for one in found], actor=actor, **options)


def test_a_new_project_archives_what_is_expired_and_nothing_else(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    write("ends", expires_at=soon)
    write("was true", valid_until=soon)
    write("stays", category="error", priority="P4", confidence=0.0)
    with time_machine.travel(timezone.now() + 3000 * DAYS):
        assert preview(actor) == [("ends", "expired")]
        report = ageing.run_ageing(actor=actor)
    assert (report.count, report.remaining) == (1, 0)
    assert report.counts == {"expired": 1, "time_to_live": 0, "stale": 0, "over_budget": 0}
    assert show(main) == {
        "ends": ("archived", "active"),
        "was true": ("active", ""),
        "stays": ("active", ""),
    }


def test_each_fact_goes_for_the_first_reason_that_holds(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    ends = (timezone.now() + DAYS).isoformat()
    write("all of it", expires_at=ends, category="error", priority="P4")
    write("old error", category="error", priority="P1")
    write("forgotten", priority="P3")
    write("important", priority="P2")
    used = write("used", priority="P4")
    set_rules(category_ttl_days={"error": 30}, stale_after_days=60)
    with time_machine.travel(timezone.now() + 30 * DAYS, tick=False):
        assert preview(actor) == [("all of it", "expired"), ("old error", "time_to_live")]
    with time_machine.travel(timezone.now() + 61 * DAYS, tick=False):
        recall(used, days=59)
        reasons = [("all of it", "expired"), ("old error", "time_to_live"), ("forgotten", "stale")]
        assert preview(actor) == reasons
        assert preview(actor, limit=1) == reasons
        assert preview(actor, reasons=["stale", "expired"]) == [reasons[0], reasons[2]]
        first = ageing.preview_ageing(actor=actor).page
        assert first[1].since == first[1].fact.updated_at + 30 * DAYS
    with time_machine.travel(timezone.now() + 62 * DAYS, tick=False):
        recall(used, days=60)
        assert ("used", "stale") in preview(actor)


def test_a_change_and_an_independent_statement_begin_a_new_life(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    changed = write("changed", category="error")
    write("said again")
    set_rules(category_ttl_days={"error": 30}, stale_after_days=40)
    with time_machine.travel(timezone.now() + 29 * DAYS, tick=False):
        facts.update_fact(fact_id=changed.uid, updates={"confidence": 0.8}, actor=actor)
        facts.write_fact(fact_text="said again", actor=actor.with_origin(agent_id="other"))
    with time_machine.travel(timezone.now() + 50 * DAYS, tick=False):
        assert preview(actor) == []
    with time_machine.travel(timezone.now() + 70 * DAYS, tick=False):
        assert preview(actor) == [("changed", "time_to_live"), ("said again", "stale")]


def test_the_budget_takes_what_is_worth_least(actor: Actor, main: Branch, write: Callable[..., Fact]) -> None:
    low, old = write("low", priority="P4"), write("old")
    write("sure", confidence=1.0)
    judged, wrong = write("judged"), write("wrong", priority="P1")
    write("kept", priority="P4", confidence=0.0, pinned=True)
    act(actor, "invalidate", wrong)
    act(actor, "verify", judged)
    set_rules(fact_budget=6)
    assert preview(actor) == []
    set_rules(fact_budget=3)
    found = ageing.preview_ageing(actor=actor)
    assert [(one.fact.fact_text, one.reason) for one in found.page] == [
        ("low", "over_budget"),
        ("old", "over_budget"),
        ("wrong", "over_budget"),
    ]
    assert (found.total, found.kept) == (6, {"pinned": 1})
    worth = found.page[0].worth
    assert (worth.priority, worth.confidence, worth.belief) == (0.075, 0.14, 0.1)
    assert worth.total == round(0.075 + 0.14 + 0.1 + worth.recency, 4)
    with time_machine.travel(timezone.now() + 30 * DAYS, tick=False):
        recall(low)
        (first, *others) = ageing.preview_ageing(actor=actor).page
        assert (first.fact.uid, first.worth.recency) == (old.uid, 0.15)
        assert [one.fact.fact_text for one in others] == ["wrong", "sure"]
        pressure = ageing.get_pressure(actor=actor)
    assert (pressure.facts, pressure.budget, pressure.share) == (6, 3, 2.0)
    assert pressure.counts["over_budget"] == 3
    assert [one.fact.fact_text for one in pressure.next] == ["low"]


def test_the_pressure_of_a_branch_names_what_would_go_next(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    for number in range(8):
        write(f"fact {number}", confidence=number / 10)
    assert ageing.get_pressure(actor=actor).next == []
    set_rules(fact_budget=10)
    pressure = ageing.get_pressure(actor=actor)
    assert (pressure.share, sum(pressure.counts.values())) == (0.8, 0)
    assert [one.fact.fact_text for one in pressure.next] == [f"fact {number}" for number in range(5)]


def test_what_is_kept_stays_whatever_holds(actor: Actor, main: Branch, write: Callable[..., Fact]) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    ends = {"expires_at": soon, "category": "error", "priority": "P4", "confidence": 0.0}
    write("pinned", pinned=True, **ends)
    verified, expected = write("verified", **ends), write("expected", **ends)
    edited = write("edited", **ends)
    act(actor, "verify", verified, edited)
    facts.update_fact(fact_id=edited.uid, updates={"fact_text": "edited since"}, actor=actor)
    QuestionEngine().create_question(text="What is expected?", expected=[expected.uid], actor=actor)
    set_rules(category_ttl_days={"error": 1}, stale_after_days=1, fact_budget=1)
    with time_machine.travel(timezone.now() + 20 * DAYS, tick=False):
        found = ageing.preview_ageing(actor=actor)
        assert [one.fact.fact_text for one in found.page] == ["edited since"]
        assert found.kept == {"pinned": 1, "verified": 1, "question": 1}
        main.refresh_from_db()
        everything = [fact.uid for fact in Fact.objects.on(main).fetch_all()]
        report = ageing.run_ageing(actor=actor, fact_ids=everything)
        assert report.count == 1
    assert {text for text, state in show(main).items() if state[0] == "active"} == {
        "pinned",
        "verified",
        "expected",
    }
    with time_machine.travel(timezone.now() + 181 * DAYS, tick=False):
        assert preview(actor) == [("verified", "expired")]


def test_an_open_merge_request_keeps_both_ends(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    changed = write("changed there", expires_at=soon)
    write("untouched", expires_at=soon)
    branch = BranchManager().create_branch(name="task/one", actor=actor)
    write("new there", branch="task/one", expires_at=soon)
    facts.update_fact(fact_id=changed.uid, updates={"confidence": 0.9}, actor=actor, branch_name="task/one")
    request = MergeRequestEngine().create_request(source="task/one", title="One", actor=actor)
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        found = ageing.preview_ageing(actor=actor)
        assert [one.fact.fact_text for one in found.page] == ["untouched"]
        assert found.kept == {"merge_request": 1}
        source = ageing.preview_ageing(actor=actor, branch_name="task/one")
        assert (source.count, source.blocked_by) == (0, request.number)
        with nothing_left(), pytest.raises(Conflict, match=f"Merge request {request.number} is open"):
            ageing.run_ageing(actor=actor, branch_name="task/one")
        MergeRequestEngine().reject_request(request_id=request.pk, actor=actor, reason="No.")
        assert preview(actor, branch_name="task/one") == [
            ("new there", "expired"),
            ("changed there", "expired"),
        ]
    assert show(branch)["new there"] == ("active", "")


def test_a_branch_ages_its_own_facts_and_no_other_changes(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    write("inherited", expires_at=soon)
    branch = BranchManager().create_branch(name="task/one", actor=actor)
    write("own", branch="task/one", expires_at=soon)
    set_rules(fact_budget=1)
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        assert preview(actor, branch_name="task/one") == [("own", "expired")]
        ageing.run_ageing(actor=actor, branch_name="task/one")
        assert show(main) == {"inherited": ("active", "")}
        ageing.run_ageing(actor=actor)
    assert show(branch) == {"inherited": ("active", ""), "own": ("archived", "active")}
    assert show(main) == {"inherited": ("archived", "active")}


def test_a_run_is_one_commit_whose_revert_shows_the_branch_as_before(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    task = write("a task", kind="TASK", expires_at=(timezone.now() + DAYS).isoformat())
    facts.update_fact(fact_id=task.uid, updates={"status": "done"}, actor=actor)
    write("stale")
    set_rules(stale_after_days=5)
    before, versions = show(main), Fact._base_manager.count()
    with time_machine.travel(timezone.now() + 6 * DAYS, tick=False):
        report = ageing.run_ageing(actor=actor)
        commit = report.commit
        assert commit is not None
        assert (commit.kind, commit.changed, commit.added, commit.removed) == ("fact.age", 2, 0, 0)
        detail = AuditEntry.objects.get(action="fact.age").detail
        assert detail["reasons"] == {"expired": 1, "time_to_live": 0, "stale": 1, "over_budget": 0}
        assert show(main) == {"a task": ("archived", "done"), "stale": ("archived", "active")}
        assert show(main, commit.seq - 1) == before
        assert Fact._base_manager.count() == versions + 2
        archived = ageing.list_archived(commit_id=commit.pk, actor=actor)
        assert [(one.fact.fact_text, one.reason) for one in archived] == [
            ("a task", "expired"),
            ("stale", "stale"),
        ]
        with nothing_left():
            again = ageing.run_ageing(actor=actor)
        assert (again.commit, again.count) == (None, 0)
        RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
        assert show(main) == before
        assert preview(actor) == []  # somebody brought them back: that stands
        assert ageing.preview_ageing(actor=actor).kept == {"restored": 1}
        (run,) = ageing.list_runs(actor=actor)
        assert (run.reasons, run.undone) == ({"expired": 1, "stale": 1}, True)


def test_an_undo_of_a_run_that_later_work_built_on_names_what_changed(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    one, _two = write("one", expires_at=soon), write("two", expires_at=soon)
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        commit = ageing.run_ageing(actor=actor).commit
        act(actor, "restore", one)
        assert commit is not None
        with nothing_left(), pytest.raises(Conflict) as refusal:
            RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
        assert refusal.value.data["changed"] == [str(one.uid)]
        assert preview(actor) == []
        (run,) = ageing.list_runs(actor=actor)
        assert run.undone is False


def test_a_run_may_be_narrowed_and_never_widened(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    one, two, three = (write(text, expires_at=soon) for text in ("one", "two", "three"))
    young = write("young")
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        assert ageing.run_ageing(actor=actor, fact_ids=[young.uid]).commit is None
        ageing.run_ageing(actor=actor, fact_ids=[one.uid, young.uid])
        ageing.run_ageing(actor=actor, exclude=[two.uid])
        assert ageing.run_ageing(actor=actor, reasons=["stale"]).commit is None
    states = {text: state[0] for text, state in show(main).items()}
    assert states == {"one": "archived", "two": "active", "three": "archived", "young": "active"}
    assert AgedVersion.objects.get(uid=three.uid).reason == "expired"


def test_a_run_goes_on_where_a_commit_ended(
    actor: Actor, main: Branch, write: Callable[..., Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    facts.write_facts(facts=[{"fact_text": f"n {n}", "expires_at": soon} for n in range(5)], actor=actor)
    monkeypatch.setattr("memory.engines.facts.ageing.engine.MAX_COMMIT_ROWS", 3)
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        first = ageing.run_ageing(actor=actor)
        second = ageing.run_ageing(actor=actor)
    assert [(one.count, one.remaining) for one in (first, second)] == [(3, 2), (2, 0)]


def test_what_changed_while_the_plan_was_made_is_left(
    actor: Actor, main: Branch, write: Callable[..., Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    one, two = write("one", expires_at=soon), write("two", expires_at=soon)
    write("three", expires_at=soon)
    plan = module.build_plan

    def build_slowly(*where: Any) -> Any:
        made = plan(*where)
        assert len(made.candidates) == 3
        facts.update_fact(fact_id=one.uid, updates={"pinned": True}, actor=actor)
        act(actor, "verify", two)
        return made

    monkeypatch.setattr(module, "build_plan", build_slowly)
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        report = ageing.run_ageing(actor=actor)
    assert (report.count, report.changed_meanwhile) == (1, 2)
    assert {text: state[0] for text, state in show(main).items()} == {
        "one": "active",
        "two": "active",
        "three": "archived",
    }


def test_a_merge_request_that_is_opened_meanwhile_keeps_the_branch(
    actor: Actor, main: Branch, write: Callable[..., Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    branch = BranchManager().create_branch(name="task/one", actor=actor)
    write("own", branch="task/one", expires_at=soon)
    plan, requests = module.build_plan, MergeRequestEngine()

    def build_slowly(*where: Any) -> Any:
        made = plan(*where)
        assert len(made.candidates) == 1
        requests.create_request(source="task/one", title="One", actor=actor)
        return made

    monkeypatch.setattr(module, "build_plan", build_slowly)
    later = time_machine.travel(timezone.now() + 2 * DAYS, tick=False)
    with later, pytest.raises(Conflict, match="Merge request 1 is open"):
        ageing.run_ageing(actor=actor, branch_name="task/one")
    assert show(branch)["own"] == ("active", "")


@pytest.mark.parametrize("edited", [False, True])
def test_what_was_brought_back_stays_so_over_a_merge(
    actor: Actor, main: Branch, write: Callable[..., Fact], edited: bool
) -> None:
    """A fact that ageing archived on a branch and somebody brought back there does not age where it goes."""
    BranchManager().create_branch(name="task/one", actor=actor)
    own = write("own", branch="task/one", expires_at=(timezone.now() + DAYS).isoformat())
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        run = ageing.run_ageing(actor=actor, branch_name="task/one")
        assert run.commit is not None
        RevertEngine().revert_commit(commit_id=run.commit.pk, actor=actor)
        if edited:
            facts.update_fact(
                fact_id=own.uid, updates={"confidence": 0.9}, actor=actor, branch_name="task/one"
            )
        MergeEngine().merge_branch(source="task/one", actor=actor, force=True)
        found = ageing.preview_ageing(actor=actor)
        assert (found.count, found.kept) == (0, {"restored": 1})
        assert ageing.run_ageing(actor=actor).count == 0


def test_what_another_branch_archived_and_brought_back_ages_here(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    """Without a merge nobody decided anything about the version of this branch."""
    shared = write("shared", expires_at=(timezone.now() + DAYS).isoformat())
    BranchManager().create_branch(name="task/one", actor=actor)
    facts.update_fact(fact_id=shared.uid, updates={"confidence": 0.9}, actor=actor, branch_name="task/one")
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        run = ageing.run_ageing(actor=actor, branch_name="task/one")
        assert run.commit is not None
        RevertEngine().revert_commit(commit_id=run.commit.pk, actor=actor)
        assert ageing.run_ageing(actor=actor).count == 1


def test_a_fact_that_was_shown_in_another_version_is_left(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    one, two = write("one", expires_at=soon), write("two", expires_at=soon)
    facts.update_fact(fact_id=one.uid, updates={"confidence": 0.9}, actor=actor)
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        versions = {one.uid: one.version, two.uid: two.version}
        report = ageing.run_ageing(actor=actor, expected_versions=versions)
    assert (report.count, report.changed_meanwhile) == (1, 1)
    assert show(main) == {"one": ("active", ""), "two": ("archived", "active")}


def test_a_dry_run_may_be_narrowed_as_a_run_is(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    one, two, three = (write(text, expires_at=soon) for text in ("one", "two", "three"))
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        assert preview(actor, fact_ids=[one.uid, two.uid], exclude=[two.uid]) == [("one", "expired")]
        assert preview(actor, exclude=[one.uid], limit=1) == [("two", "expired"), ("three", "expired")]
        cursor = ageing.preview_ageing(actor=actor, limit=1).page.next or ""
        with pytest.raises(Invalid):
            ageing.preview_ageing(actor=actor, exclude=[three.uid], limit=1, cursor=cursor)


def test_the_reason_goes_where_a_merge_brings_the_fact(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    BranchManager().create_branch(name="task/one", actor=actor)
    write("own", branch="task/one", expires_at=(timezone.now() + DAYS).isoformat())
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        ageing.run_ageing(actor=actor, branch_name="task/one")
        MergeEngine().merge_branch(source="task/one", actor=actor, force=True)
    main.refresh_from_db()
    (fact,) = Fact.objects.on(main).fetch_all()
    assert (fact.status, find_reasons([fact])[fact.uid].reason) == ("archived", "expired")


def test_refusals(actor: Actor, main: Branch, other_project: Project) -> None:
    reader = replace(actor, scopes=frozenset({"write"}))
    no_ids: Any = ["x"]
    assert ageing.preview_ageing(actor=reader).count == 0
    with nothing_left():
        for refusal, call in (
            (ScopeMissing, lambda: ageing.run_ageing(actor=reader)),
            (ScopeMissing, lambda: ageing.get_pressure(actor=replace(actor, scopes=frozenset()))),
            (BranchNotFound, lambda: ageing.run_ageing(actor=actor, branch_name="none")),
            (BranchNotFound, lambda: ageing.preview_ageing(actor=actor, branch_name="none")),
            (Invalid, lambda: ageing.preview_ageing(actor=actor, reasons=["bored"])),
            (Invalid, lambda: ageing.preview_ageing(actor=actor, cursor="x")),
            (Invalid, lambda: ageing.preview_ageing(actor=actor, limit=101)),
            (Invalid, lambda: ageing.run_ageing(actor=actor, fact_ids=no_ids)),
            (NotFound, lambda: ageing.list_archived(commit_id=main.project_id, actor=actor)),
        ):
            with pytest.raises(refusal):
                call()
    assert not Commit.objects.filter(kind="fact.age").exists()


def test_the_daily_task_ages_projects_that_asked_for_it(
    actor: Actor, main: Branch, write: Callable[..., Fact], other_project: Project
) -> None:
    soon = (timezone.now() + DAYS).isoformat()
    for name in ("guarded", "busy", "task/one"):
        BranchManager().create_branch(name=name, actor=actor)
        write(f"on {name}", branch=name, expires_at=soon)
    write("on main", expires_at=soon)
    PolicyEngine().set_policy(pattern="guarded", direct_writes="refuse", actor=actor)
    MergeRequestEngine().create_request(source="busy", title="Busy", actor=actor)
    with time_machine.travel(timezone.now() + 2 * DAYS, tick=False):
        age_facts()
        assert not AgedVersion.objects.exists()
        set_rules(age_facts=True)
        age_facts()
        assert set(AgedVersion.objects.values_list("branch__name", flat=True)) == {"main", "task/one"}
        with nothing_left():
            age_facts()
    commit = Commit.objects.filter(kind="fact.age").first()
    assert (commit.actor_kind, commit.actor_label, commit.surface) == ("system", "ageing", "worker")
