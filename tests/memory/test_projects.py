"""Projects are created and removed as a whole, by who keeps the server, without effects on other projects."""

from dataclasses import replace

import pytest
from django.db import connection

from memory.actors import Actor, local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.access.projects import ProjectEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.exceptions import ScopeMissing
from memory.models import ServerEntry

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
    def test_removal_leaves_nothing_but_the_record(self, actor):
        fill(actor)
        before = rows()
        project = ProjectEngine().create_project(slug="tea", name="Tea", actor=actor).project
        fill(local_actor(project.pk))
        removal = ProjectEngine().remove_project(project_slug="tea", confirm="tea", actor=actor)
        counts = {name: count for name, count in removal.counts.items() if name != "ProjectUsage"}  # as above
        assert rows() == before | {"memory_serverentry": 3}
        assert counts == {
            "ApiKey": 1,
            "AuditEntry": 8,
            "Branch": 3,
            "Commit": 4,
            "Confirmation": 1,
            "Fact": 1,
            "FactAssessment": 1,
            "Session": 2,
            "Version": 2,
        }
        entry = ServerEntry.objects.get(action="project.remove")
        assert (entry.actor_kind, entry.target, entry.detail["rows"]) == ("local", "tea", counts)
        found = SearchEngine().search(query="tea", actor=actor)
        assert [hit.fact.fact_text for hit in found.hits] == ["Tea is out."]

    def test_refusals_change_nothing(self, actor, other_project):
        before = rows()
        engine, admin = ProjectEngine(), replace(actor, scopes=frozenset({"admin"}))
        slug = other_project.slug
        with pytest.raises(ScopeMissing):
            engine.remove_project(project_slug=slug, confirm=slug, actor=admin)
        with pytest.raises(ScopeMissing):
            engine.create_project(slug="x", name="X", actor=admin)
        assert rows() == before
