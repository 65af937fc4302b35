"""Settings of a project, over REST and the command line: who reads and who changes them."""

from typing import Any

import pytest

from memory.models import AuditEntry, Project
from tests.memory.api.client import Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def api(project: Project, main: Any) -> Api:
    return api_for(project)


@pytest.fixture
def address(project: Project) -> str:
    return f"/projects/{project.slug}"


def test_settings_are_listed_read_and_changed(api: Api, project: Project, address: str) -> None:
    (row,) = api.get("/projects").json()["results"]
    assert api.get(address).json() == row
    assert {name: value for name, value in row.items() if name not in ("created_at", "name")} == {
        "id": str(project.pk),
        "slug": project.slug,
        "version": 1,
        "recipe": "",
        "least_evidence": None,
        "redact_secrets": True,
        "durable_categories": "",
        "age_facts": False,
        "category_ttl_days": {},
        "stale_after_days": None,
        "fact_budget": None,
        "user_fact_limit": None,
        "consolidate_agents": False,
        "propose_reflections": False,
        "dream_min_size": 3,
        "dream_cohesion": 0.83,
        "dream_min_age_cycles": 0,
        "dream_every_n_cycles": 0,
        "dream_allow_zero_confirmation": True,
        "dream_origins": "",
        "member_limit": None,
        "limits": {},
        "require_second_factor": False,
        "state": "open",
        "removal": None,
    }
    changes = {
        "name": "Shop",
        "recipe": "timeless",
        "least_evidence": 0.25,
        "redact_secrets": False,
        "durable_categories": "decision, security",
        "age_facts": True,
        "category_ttl_days": {"error": 30, "bug_fix": 365},
        "stale_after_days": 90,
        "fact_budget": 5000,
        "consolidate_agents": True,
        "propose_reflections": True,
        "dream_min_size": 5,
        "dream_cohesion": 0.75,
        "dream_min_age_cycles": 4,
        "dream_every_n_cycles": 20,
        "dream_allow_zero_confirmation": False,
        "dream_origins": "EXPERIENCE, SEEDED_LLM",
    }
    assert api.patch(address, changes).json() == row | changes | {"version": 2}
    assert api.patch(address, {"least_evidence": None, "recipe": ""}).json() == row | changes | {
        "version": 3,
        "least_evidence": None,
        "recipe": "",
    }


def test_a_change_is_recorded_and_none_is_not(api: Api, project: Project, address: str) -> None:
    api.patch(address, {"least_evidence": 0.5, "recipe": ""})
    api.patch(address, {"least_evidence": 0.5})
    api.patch(address, {})
    (entry,) = AuditEntry.objects.filter(action="project.update")
    assert (entry.target, entry.detail) == (
        project.slug,
        {"least_evidence": 0.5, "before": {"least_evidence": None}},
    )


def test_a_search_keeps_to_the_least_evidence(api: Api, address: str) -> None:
    api.fact("Deploys run from the main branch only.")
    query = {"query": "deploys"}
    assert api.post("/facts/search", query).json()["known"] is True
    api.patch(address, {"least_evidence": 1.0})
    assert api.post("/facts/search", query).json()["known"] is False


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"least_evidence": 1.1}, "invalid", "least_evidence"),
        ({"least_evidence": "much"}, "invalid", "least_evidence"),
        ({"recipe": "none"}, "invalid", "recipe"),
        ({"redact_secrets": "yes"}, "invalid", "redact_secrets"),
        ({"name": ""}, "invalid", "name"),
        ({"durable_categories": "x" * 501}, "invalid", "durable_categories"),
        ({"age_facts": 1}, "invalid", "age_facts"),
        ({"category_ttl_days": ["error"]}, "invalid", "category_ttl_days"),
        ({"category_ttl_days": {"error": 0}}, "invalid", "category_ttl_days"),
        ({"category_ttl_days": {"error": True}}, "invalid", "category_ttl_days"),
        ({"category_ttl_days": {"": 3}}, "invalid", "category_ttl_days"),
        ({"category_ttl_days": {f"c{n}": 3 for n in range(51)}}, "invalid", "category_ttl_days"),
        ({"stale_after_days": 3651}, "invalid", "stale_after_days"),
        ({"fact_budget": 0}, "invalid", "fact_budget"),
        ({"dream_min_size": 1}, "invalid", "dream_min_size"),
        ({"dream_min_size": 31}, "invalid", "dream_min_size"),
        ({"dream_cohesion": 0.4}, "invalid", "dream_cohesion"),
        ({"dream_every_n_cycles": -1}, "invalid", "dream_every_n_cycles"),
        ({"dream_origins": "EXPERIENCE,DREAMING"}, "invalid", "dream_origins"),
        ({"propose_reflections": "on"}, "invalid", "propose_reflections"),
        ({"rules_off": []}, "unknown_field", "rules_off"),
    ],
)
def test_what_is_no_setting_is_refused(api: Api, address: str, change: dict, code: str, field: str) -> None:
    with nothing_left():
        refused(api.patch(address, change), 400, code, field)


def test_only_who_may_administer_every_branch_changes_them(project: Project, main: Any, address: str) -> None:
    change = {"least_evidence": 0.5}
    reader = api_for(project, scopes=["read", "propose", "write", "curate", "merge"])
    assert reader.get(address).status_code == 200
    bound = api_for(project, branch_patterns=["task/*"])
    with nothing_left():
        refused(reader.patch(address, change), 403, "scope_missing")
        refused(bound.patch(address, change), 403, "branch_forbidden")


def test_another_project_is_unknown(api: Api, other_project: Project) -> None:
    with nothing_left():
        refused(api.get(f"/projects/{other_project.slug}"), 404, "not_found")
        refused(api.patch(f"/projects/{other_project.slug}", {"name": "x"}), 404, "not_found")
