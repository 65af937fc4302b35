"""Projects are created and removed as a whole, by the local user, without effects on other projects."""

from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from memory.actors import Actor, local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.access.projects import ProjectEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.exceptions import Conflict, Exists, ScopeMissing
from memory.models import AuditEntry, Membership, Project

pytestmark = pytest.mark.django_db(transaction=True)


def rows() -> dict[str, int]:
    """Count the rows of each table, the full-text index's own included."""
    with connection.cursor() as cursor:
        counts = {}
        for table in connection.introspection.table_names():
            # Without the index's pages, whose number varies, this process's leases, and late counts.
            if not table.endswith(("_data", "_idx", "memory_nodelease", "memory_projectusage")):
                cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
                counts[table] = cursor.fetchone()[0]
    return counts


def fill(actor: Actor) -> None:
    engine = FactEngine()
    fact = engine.write_fact(fact_text="Tea is in the kitchen.", actor=actor, session_id="s").fact
    branches = BranchManager()
    branches.create_branch(name="task/a", actor=actor)
    branches.create_branch(name="task/a/b", parent="task/a", actor=actor)
    engine.update_fact(fact_id=fact.uid, updates={"fact_text": "Tea is out."}, actor=actor)
    engine.set_verification(fact_id=fact.uid, verdict="verified", actor=actor)
    engine.write_fact(fact_text="Tea is out.", actor=actor, session_id="other", branch_name="main")
    KeyEngine().create_key(label="k", scopes=["read"], actor=actor)


class TestProjects:
    def test_a_project_has_main_and_its_members(self, actor):
        user = get_user_model().objects.create_user("mira")
        project = ProjectEngine().create_project(slug="tea", name="Tea", actor=actor, members=[user])
        assert [branch.name for branch in project.branches.all()] == ["main"]
        assert Membership.objects.get(project=project).role == "maintainer"
        entry = AuditEntry.objects.get()
        assert (entry.project_id, entry.action, entry.target) == (actor.project_id, "project.create", "tea")
        with pytest.raises(Exists):
            ProjectEngine().create_project(slug="tea", name="More tea", actor=actor)

    def test_removal_leaves_nothing_but_the_record(self, actor):
        fill(actor)
        before = rows()
        project = ProjectEngine().create_project(slug="tea", name="Tea", actor=actor)
        fill(local_actor(project.pk))
        counts = ProjectEngine().remove_project(project=project, actor=actor)
        assert rows() == before | {"memory_auditentry": before["memory_auditentry"] + 2}
        assert counts == {
            "ApiKey": 1,
            "AuditEntry": 7,
            "Branch": 3,
            "Commit": 4,
            "Confirmation": 1,
            "Fact": 1,
            "FactAssessment": 1,
            "Session": 2,
            "Version": 2,
        }
        entry = AuditEntry.objects.get(action="project.remove")
        assert (entry.project_id, entry.target, entry.detail["rows"]) == (actor.project_id, "tea", counts)
        found = SearchEngine().search(query="tea", actor=actor)
        assert [hit.fact.fact_text for hit in found.hits] == ["Tea is out."]

    def test_refusals_change_nothing(self, actor, other_project):
        before = rows()
        engine = ProjectEngine()
        with pytest.raises(Conflict):
            engine.remove_project(project=Project.objects.get(pk=actor.project_id), actor=actor)
        for kind in ("key", "user", "system"):
            with pytest.raises(ScopeMissing):
                engine.remove_project(project=other_project, actor=replace(actor, kind=kind))
            with pytest.raises(ScopeMissing):
                engine.create_project(slug="x", name="X", actor=replace(actor, kind=kind))
        assert rows() == before
