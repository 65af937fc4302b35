"""Backdated actions: by whom, how, and their audit entries."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.manager import SessionManager
from memory.exceptions import BranchForbidden, Invalid, NotFound, ScopeMissing
from memory.models import AuditEntry, Branch, Commit, Session
from memory.models.projects import Project

YEAR = timedelta(days=365)
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def then():
    return timezone.now() - YEAR


@pytest.fixture
def old(project: Project, then) -> Project:
    """Return the project, with a main that began a year ago."""
    project.branches.update(head_at=then, created_at=then)
    return project


def write(actor: Actor, text: str = "a", **more):
    return FactEngine().write_fact(fact_text=text, actor=actor, **more).fact


@pytest.mark.django_db
class TestToldTimes:
    def test_a_commit_and_its_rows_have_the_told_time(self, old, actor, then):
        at = then + timedelta(days=1)
        fact = write(actor.acting_at(at), session_id="s")
        assert (fact.created_at, fact.updated_at) == (at, at)
        assert (Commit.objects.get().at, Branch.objects.get().head_at) == (at, at)
        assert Session.objects.get().started_at == at

    def test_the_audit_trail_says_when_it_was_really_done(self, old, actor, then):
        before = timezone.now()
        told = actor.acting_at(then + timedelta(days=1))
        write(told)
        BranchManager().create_branch(name="task/a", actor=told)
        BranchManager().archive_branch(name="task/a", actor=told)
        for entry in AuditEntry.objects.all():
            assert before <= entry.at <= timezone.now()
            assert entry.detail["told_at"] == told.told_at.isoformat()
        assert AuditEntry.objects.count() == 3

    def test_other_acts_tell_no_time(self, actor):
        write(actor)
        entry = AuditEntry.objects.get()
        assert (entry.at, "told_at" in entry.detail) == (Commit.objects.get().at, False)

    def test_branches_begin_and_end_at_the_told_time(self, old, actor, then):
        told = actor.acting_at(then + timedelta(days=2))
        branch = BranchManager().create_branch(name="task/a", actor=told)
        assert (branch.created_at, branch.head_at) == (told.told_at, told.told_at)
        later = actor.acting_at(then + timedelta(days=3))
        assert BranchManager().archive_branch(name="task/a", actor=later).archived_at == later.told_at

    def test_no_commit_is_earlier_than_the_one_before_it(self, old, actor, then):
        write(actor.acting_at(then + timedelta(days=2)))
        write(actor.acting_at(then + timedelta(days=1)), "b")
        first, second = Commit.objects.order_by("seq")
        assert second.at == first.at + timedelta(microseconds=1)

    def test_the_past_is_read_at_its_time(self, old, actor, then):
        write(actor.acting_at(then + timedelta(days=1)), "early")
        write(actor.acting_at(then + timedelta(days=9)), "late")
        page = FactEngine().list_facts(actor=actor, at=then + timedelta(days=5))
        assert [fact.fact_text for fact in page.results] == ["early"]

    def test_it_needs_the_scope_admin(self, actor, then):
        for scope in ("read", "propose", "write", "curate", "merge"):
            with pytest.raises(ScopeMissing):
                replace(actor, scopes=frozenset({scope})).acting_at(then)

    def test_nothing_is_done_in_the_future(self, actor):
        with pytest.raises(Invalid):
            actor.acting_at(timezone.now() + timedelta(minutes=1))


def test_no_surface_tells_times_but_the_demo():
    said = [
        path.relative_to(ROOT).as_posix()
        for app in ("memory", "conversations", "curation", "analytics", "day1site")
        for path in (ROOT / app).rglob("*.py")
        if re.search(r"acting_at\(|told_at=", path.read_text())
    ]
    assert sorted(said) == ["day1site/demo/player.py", "memory/actors.py"]


@pytest.mark.django_db(transaction=True)
class TestEndOfASession:
    def test_it_is_noted_once(self, actor):
        write(actor, session_id="s")
        ended = SessionManager().end_session(session_id="s", actor=actor, summary="Done.")
        assert (ended.status, ended.summary) == ("completed", "Done.")
        again = SessionManager().end_session(session_id="s", actor=actor, status="abandoned", summary="?")
        assert (again.status, again.summary, again.ended_at) == ("completed", "Done.", ended.ended_at)
        entry = AuditEntry.objects.get(action="session.end")
        assert (entry.target, entry.detail) == ("s", {"status": "completed"})

    def test_refusals_change_nothing(self, actor, other_project):
        write(actor, session_id="s")
        engine = SessionManager()
        with pytest.raises(NotFound):
            engine.end_session(session_id="unknown", actor=actor)
        with pytest.raises(NotFound):
            engine.end_session(session_id="s", actor=replace(actor, project_id=other_project.pk))
        with pytest.raises(Invalid):
            engine.end_session(session_id="s", actor=actor, status="active")
        with pytest.raises(ScopeMissing):
            engine.end_session(session_id="s", actor=replace(actor, scopes=frozenset({"read"})))
        with pytest.raises(BranchForbidden):
            engine.end_session(session_id="s", actor=replace(actor, branch_patterns=("task/*",)))
        assert Session.objects.get().status == "active"
