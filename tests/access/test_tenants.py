"""Projects over REST, the command line and a page: made, renamed, removed by who keeps the server alone."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from day1site import cli
from memory.actors import SERVER, local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.access.project_removal import (
    MAX_ROWS_AT_ONCE,
    finish_removals,
    list_branches,
    remove_portion,
    run_removal,
)
from memory.engines.store.check.engine import CheckEngine
from memory.exceptions import ScopeMissing
from memory.models import ApiKey, Commit, Fact, Membership, Project, RecallLog, ServerEntry
from memory.queue.producer import is_queued
from memory.tasks import sweep_removals
from tests.memory.api.client import Api, api_for, nothing_left, refused
from tests.memory.views.conftest import browser, person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]


@pytest.fixture
def keeper(project: Project, main: Any) -> Api:
    return api_for(project, scopes=[SERVER])


def test_a_tenant_is_provisioned_with_one_request(keeper: Api, project: Project) -> None:
    User.objects.create_user("vera")
    body = {
        "slug": "acme",
        "name": "Acme",
        "recipe": "timeless",
        "member_limit": 1,
        "members": [{"username": "vera", "role": "maintainer"}],
        "key": {"label": "agent", "scopes": ["write"]},
    }
    made = keeper.post("/projects", body, Idempotency_Key="k1")
    assert made.status_code == 201
    row = made.json()
    told = {name: row[name] for name in ("slug", "version", "recipe", "member_limit", "state")}
    assert told == {"slug": "acme", "version": 1, "recipe": "timeless", "member_limit": 1, "state": "open"}
    again = keeper.post("/projects", body, Idempotency_Key="k1")
    assert (again.status_code, again["Idempotency-Replayed"]) == (201, "true")
    assert again.json() == {**row, "token": None}
    tenant = Api(row["token"])
    fact = tenant.fact("Acme ships on Fridays.")
    assert [one["id"] for one in tenant.get("/facts").json()["results"]] == [fact["id"]]
    assert api_for(project).get("/facts").json()["results"] == []
    (member,) = tenant.get("/members").json()["results"]
    told = {name: member[name] for name in ("username", "role", "created_by", "created_by_kind")}
    assert told == {
        "username": "vera",
        "role": "owner",
        "created_by": "tester",
        "created_by_kind": "server",
    }
    User.objects.create_user("sam")
    admin = api_for(Project.objects.get(slug="acme"))
    with nothing_left():
        assert refused(admin.post("/members", {"username": "sam"}), 409, "conflict")["detail"] == (
            "The project may have 1 members, and has as many."
        )
        refused(admin.patch("/members/vera", {"role": "viewer"}), 409, "conflict")
        refused(admin.post("/members/vera/remove"), 409, "conflict")
        assert cli.main(["members", "remove", "vera", "--project", "acme"]) == 1


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({}, 400, "invalid", "slug"),
        ({"slug": ""}, 400, "invalid", "slug"),
        ({"slug": "Acme"}, 400, "invalid", "slug"),
        ({"slug": "-acme"}, 400, "invalid", "slug"),
        ({"slug": "a/b"}, 400, "invalid", "slug"),
        ({"slug": "x" * 101}, 400, "invalid", "slug"),
        ({"slug": "test"}, 409, "exists", None),
        ({"slug": "acme", "template": "none"}, 404, "not_found", None),
        ({"slug": "acme", "recipe": "none"}, 400, "invalid", "recipe"),
        ({"slug": "acme", "members": [{"username": "nobody"}]}, 400, "invalid", "username"),
        ({"slug": "acme", "members": [{"username": "x", "role": "king"}]}, 400, "invalid", "role"),
        ({"slug": "acme", "members": "x"}, 400, "invalid", "members"),
        ({"slug": "acme", "key": {"scopes": []}}, 400, "invalid", "scopes"),
        ({"slug": "acme", "key": {"scopes": ["server"]}}, 400, "invalid", "key"),
        ({"slug": "acme", "key": {"scopes": ["read"], "x": 1}}, 400, "unknown_field", "x"),
        ({"slug": "acme", "x": 1}, 400, "unknown_field", "x"),
    ],
)
def test_a_project_is_refused_whole(keeper: Api, body: Any, status: int, code: str, field: str) -> None:
    with nothing_left():
        refused(keeper.post("/projects", body), status, code, field)


def test_projects_are_listed_changed_and_renamed(keeper: Api, project: Project) -> None:
    for slug in ("acme", "beta", "gamma"):
        keeper.post("/projects", {"slug": slug, "name": f"The {slug}"})
    page = keeper.get("/projects?limit=2&ordering=slug").json()
    rest = keeper.get(f"/projects?limit=2&ordering=slug&cursor={page['next']}").json()
    assert [row["slug"] for row in page["results"] + rest["results"]] == ["acme", "beta", "gamma", "test"]
    found = keeper.get("/projects?name=the b").json()["results"]
    assert [row["slug"] for row in found] == ["beta"]
    read = keeper.get("/projects/beta")
    version, tag = read.json()["version"], read["ETag"]
    done = keeper.patch("/projects/beta", {"slug": "bravo"}, If_Match=tag)
    assert (done.json()["slug"], done.json()["version"]) == ("bravo", version + 1)
    own = api_for(project)
    with nothing_left():
        refused(keeper.patch("/projects/bravo", {"name": "B"}, If_Match=tag), 412, "stale_version")
        refused(keeper.patch("/projects/bravo", {"slug": "acme"}), 409, "exists")
        refused(keeper.get("/projects/beta"), 404, "not_found")
        for body in ({"slug": "mine"}, {"member_limit": 3}):
            refused(own.patch("/projects/test", body), 403, "scope_missing")
    user = person("mira", Project.objects.get(slug="bravo"))
    answer = browser(user).get("/p/beta/facts?branch=main")
    assert (answer.status_code, answer["Location"]) == (302, "/p/bravo/facts?branch=main")
    stranger = person("sam", project)
    assert browser(stranger).get("/p/beta/facts").status_code == 404


def test_a_template_gives_what_its_project_has(keeper: Api, project: Project) -> None:
    User.objects.create_user("vera")
    admin = api_for(project)
    admin.patch("/projects/test", {"recipe": "timeless", "age_facts": True})
    admin.patch("/policies/main", {"approvals": 1})
    admin.post("/instructions", {"text": "Names of customers.", "categories": ["customer"]})
    admin.patch("/learning/command", {"enabled": False})
    admin.post("/members", {"username": "vera", "role": "curator"})
    template = keeper.post("/project-templates", {"name": "support", "project": "test"})
    assert template.status_code == 201
    parts = template.json()
    assert (parts["settings"], parts["rules_off"]) == ({"recipe": "timeless", "age_facts": True}, ["command"])
    assert parts["members"] == [{"username": "vera", "role": "curator"}]
    made = keeper.post(
        "/projects",
        {"slug": "acme", "template": "support", "age_facts": False, "key": {"scopes": ["admin"]}},
    ).json()
    assert (made["recipe"], made["age_facts"]) == ("timeless", False)
    tenant = Api(made["token"])
    policy, before = (api.get("/policies/main").json() for api in (tenant, admin))
    kept = ("pattern", "gates", "approvals", "author_may_approve", "direct_writes")
    assert {name: policy[name] for name in kept} == {name: before[name] for name in kept}
    told = tenant.get("/instructions").json()
    assert (told["text"], told["categories"]) == ("Names of customers.", ["customer"])
    assert [row["name"] for row in tenant.get("/learning").json()["results"] if not row["enabled"]] == [
        "command"
    ]
    assert [row["username"] for row in tenant.get("/members").json()["results"]] == ["vera"]
    assert keeper.delete("/project-templates/support").status_code == 204
    assert tenant.get("/policies/main").status_code == 200


@pytest.mark.parametrize(
    ("parts", "status", "field"),
    [
        ({"name": "Support"}, 400, "name"),
        ({"project": "none"}, 404, None),
        ({"settings": {"slug": "x"}}, 400, "slug"),
        ({"settings": {"recipe": "none"}}, 400, "recipe"),
        ({"policies": [{"pattern": "a b"}]}, 400, "pattern"),
        ({"policies": [{"pattern": "main", "approvals": 99}]}, 400, "approvals"),
        ({"instructions": {"text": "Remember all passwords."}}, 400, "text"),
        ({"instructions": {"tone": "kind"}}, 400, "instructions.tone"),
        ({"rules_off": ["none"]}, 400, "rules_off"),
        ({"members": [{"username": ""}]}, 400, "username"),
    ],
)
def test_a_template_is_checked_when_it_is_made(keeper: Api, parts: Any, status: int, field: str) -> None:
    with nothing_left():
        answer = keeper.post("/project-templates", {"name": "support", **parts})
        assert (answer.status_code, answer.json().get("field")) == (status, field), answer.content


def count_rows_of(project_id: Any) -> dict[str, int]:
    """Count the rows of all tables with a column of the project."""
    counts = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            columns = {one.name for one in connection.introspection.get_table_description(cursor, table)}
            if "project_id" in columns:
                name = connection.ops.quote_name(table)
                cursor.execute(f"SELECT count(*) FROM {name} WHERE project_id = %s", [project_id.hex])
                counts[table] = cursor.fetchone()[0]
    return {table: count for table, count in counts.items() if count}


@pytest.fixture
def tenant(keeper: Api) -> Any:
    """Make a project with a key and a fact."""
    made = keeper.post("/projects", {"slug": "acme", "key": {"scopes": ["write"]}}).json()
    Api(made["token"]).fact("Acme ships on Fridays.")
    project: Any = Project.objects.get(slug="acme")
    project.token = made["token"]
    return project


def fill(project: Project) -> None:
    rows = [RecallLog(project=project, at=timezone.now()) for _ in range(MAX_ROWS_AT_ONCE)]
    RecallLog.objects.bulk_create(rows)


def test_a_small_project_is_gone_with_the_answer(keeper: Api, tenant: Project) -> None:
    admin = api_for(tenant, scopes=["admin"])
    with nothing_left():
        assert "acme" in refused(keeper.delete("/projects/acme"), 400, "invalid", "confirm")["detail"]
        refused(keeper.delete("/projects/acme?confirm=beta"), 400, "invalid", "confirm")
        refused(admin.delete("/projects/acme?confirm=acme"), 403, "scope_missing")
    done = keeper.delete("/projects/acme", {"confirm": "acme"})
    assert (done.status_code, done.json()["state"], done.json()["counts"]["Fact"]) == (200, "removed", 1)
    assert count_rows_of(tenant.pk) == {}
    refused(Api(tenant.token).get("/facts"), 401, "unauthenticated")
    refused(keeper.get("/projects/acme"), 404, "not_found")
    trail = keeper.get("/server/trail?target=acme").json()["results"]
    assert [row["action"] for row in trail] == ["project.removed", "project.remove", "project.create"]
    assert keeper.post("/projects", {"slug": "acme"}).status_code == 201


def test_a_large_project_goes_behind_the_answer_and_after_a_crash(keeper: Api, tenant: Project) -> None:
    fill(tenant)
    other = keeper.post("/projects", {"slug": "beta", "key": {"scopes": ["write"]}}).json()
    Api(other["token"]).fact("Beta ships on Mondays.")
    begun = keeper.delete("/projects/acme?confirm=acme")
    assert (begun.status_code, begun.json()["state"]) == (202, "removing")
    assert is_queued("memory.sweep_removals")
    refused(Api(tenant.token).get("/facts"), 401, "unauthenticated")
    refused(keeper.post("/projects", {"slug": "acme"}), 409, "exists")
    assert run_removal(tenant, seconds=1e-9) is False  # as far as a process came that was killed
    remove_portion(tenant, Commit, list_branches(tenant))
    assert CheckEngine().check_store(["commits", "audit"]).problems == []
    shown = keeper.get("/projects/acme").json()
    assert (shown["state"], 0 < shown["removal"]["removed"] < shown["removal"]["rows"]) == ("removing", True)
    assert keeper.delete("/projects/acme?confirm=acme").status_code == 202
    sweep_removals()
    assert count_rows_of(tenant.pk) == {}
    refused(keeper.get("/projects/acme"), 404, "not_found")
    assert [fact.fact_text for fact in Fact.objects.all_versions()] == ["Beta ships on Mondays."]
    assert finish_removals() is False


def test_a_key_of_the_server_reads_no_memory(keeper: Api, project: Project) -> None:
    own = api_for(project)
    own.fact("Tea is in the kitchen.")
    health = keeper.get("/health").json()
    assert ("embedding" in health, "quota" in health, health["database"]) == (False, False, "ok")
    said = refused(keeper.get("/facts"), 403, "scope_missing")["detail"]
    assert said.startswith("This is a key of the server")
    with pytest.raises(ScopeMissing):  # as MCP and the stream of events take keys
        KeyEngine().verify_token(keeper.token)
    with nothing_left():
        refused(own.post("/keys", {"label": "x", "scopes": ["server"]}), 403, "scope_missing")
        mixed = {"label": "x", "scopes": ["server", "read"]}
        refused(own.post("/keys", mixed), 400, "invalid", "scopes")
        refused(keeper.post("/keys", {"label": "x", "scopes": ["server"]}), 403, "scope_missing")
    key = ApiKey.objects.get(project=None)
    KeyEngine().revoke_key(key_id=key.pk, actor=local_actor(project.pk))
    refused(keeper.get("/projects"), 401, "unauthenticated")
    assert list(ServerEntry.objects.values_list("action", flat=True)) == ["key.revoke", "key.create"]


def test_superusers_keep_projects_on_a_page(keeper: Api, project: Project) -> None:
    root = person("root", project, Membership.Role.VIEWER)
    User.objects.filter(pk=root.pk).update(is_superuser=True)
    page, admin = browser(User.objects.get(pk=root.pk)), browser(person("lea", project, "maintainer"))
    assert admin.get("/p/test/projects").status_code == 403
    assert "/p/test/projects" not in admin.get("/p/test/members").content.decode()
    assert page.get("/p/test/projects").status_code == 200
    page.post("/p/test/projects?do=save", {"name": "support", "project": "test"})
    made = page.post("/p/test/projects?do=create", {"slug": "acme", "name": "Acme", "template": "support"})
    assert made.status_code == 302
    acme = Project.objects.get(slug="acme")
    roles = dict(Membership.objects.filter(project=acme).values_list("user__username", "role"))
    assert roles == {"root": "owner", "lea": "maintainer"}
    refusal = page.post("/p/test/projects?do=create", {"slug": "acme"})
    assert (refusal.status_code, "A project acme exists already." in refusal.content.decode()) == (409, True)
    shown = page.post("/p/test/projects?do=key", {"label": "ops"})
    token = re.search("day1_[a-z0-9]{8}_[A-Za-z0-9]+", shown.content.decode())
    assert token
    assert Api(token[0]).get("/projects/acme").status_code == 200
    key = ApiKey.objects.get(label="ops")
    assert page.post("/p/test/projects", {"do": f"revoke:{key.pk}"}).status_code == 302
    refused(Api(token[0]).get("/projects"), 401, "unauthenticated")
    with nothing_left():
        assert page.post("/p/test/projects/acme/remove", {"confirm": "no"}).status_code == 400
        assert admin.post("/p/test/projects/acme/remove", {"confirm": "acme"}).status_code == 403
    assert page.post("/p/test/projects/acme/remove", {"confirm": "acme"}).status_code == 302
    assert count_rows_of(acme.pk) == {}
    assert "took away the last of a project" in page.get("/p/test/projects").content.decode()
