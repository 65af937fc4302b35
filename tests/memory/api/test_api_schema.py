"""OpenAPI says what is true: the engines' fields, every route, every code, and what answers look like."""

import subprocess
import sys
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import yaml
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks as conformance

from memory.api import requests as r
from memory.api import shapes
from memory.api.pages import schema
from memory.engines import fact_rules, filters, links
from memory.engines.actions import ActionEngine
from memory.engines.review import ReviewEngine
from memory.exceptions import Day1Error
from tests.memory.api.client import Api, refused

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
ROOT = Path(__file__).resolve().parents[3]
WHERE = {"branch"}
STATED = fact_rules.STATED.keys()


def names(shape: type) -> set[str]:
    return set(shape().get_fields())


def test_requests_have_the_fields_that_the_engines_take() -> None:
    content, how = fact_rules.CHECKS.keys(), {"propose", "deduplicate"}
    expecting = WHERE | STATED | {"expected_version"}
    assert names(r.FactItemInput) == content | STATED
    assert names(r.FactInput) == content | STATED | WHERE | how
    assert names(r.FactsInput) == {"facts"} | STATED | WHERE | how
    assert names(r.FactUpdateInput) == fact_rules.UPDATABLE.keys() | expecting
    assert names(r.SupersedeInput) == content - {"fact_text", "parent_id"} | {"new_fact_text"} | expecting
    assert names(r.MoveInput) == expecting
    assert names(r.VerdictInput) == {"verdict", "reason"} | expecting
    assert names(r.ActionInput) == options(ActionEngine.act) | {"branch"} | STATED
    assert names(r.ResolveInput) == options(ReviewEngine.resolve) - {"item_id"} | STATED
    assert names(r.LinkInput) == links.CHECKS.keys() | STATED | WHERE
    assert names(r.SearchInput) >= filters.CHECKS.keys() | {"query", "branch", "branches", "time_range"}


def options(method: Any) -> set[str]:
    """The keyword arguments of an engine's method, but for who asks and where."""
    return set(signature(method).parameters) - {"self", "actor", "branch_name"}


def test_the_published_document_is_current() -> None:
    """Made with: manage.py spectacular --file docs/openapi.yaml"""
    assert yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text()) == yaml.safe_load(
        yaml.safe_dump(plain(schema()))
    )


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def test_the_document_and_its_page_need_no_key(client) -> None:
    document = client.get("/api/v1/schema", headers={"Accept": "application/json"}).json()
    assert document["openapi"].startswith("3.1")
    assert document["paths"].keys() == schema()["paths"].keys()
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    assert b"<style" not in page.content
    assert b"<script>" not in page.content
    assert "unsafe" not in page["Content-Security-Policy"]
    assert client.get("/api/v1/docs?script=")["Content-Type"] == "application/javascript"


def test_the_first_requests_may_come_at_once() -> None:
    code = """
import django; django.setup()
from concurrent.futures import ThreadPoolExecutor
from django.test import Client
with ThreadPoolExecutor(4) as pool:
    print(*pool.map(lambda _: Client().get("/api/v1/schema").status_code, range(4)))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["200"] * 4, done.stderr


def test_every_route_is_documented() -> None:
    routes = {
        pattern.pattern.regex.pattern
        for pattern in api_patterns()
        if pattern.name not in ("index", "schema", "docs")
    }
    assert len(routes) == len(schema()["paths"])
    for path, operations in schema()["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (path, method)
            assert "401" in operation["responses"]


def test_every_change_of_a_fact_tells_how_to_name_what_was_read() -> None:
    one = "/api/v1/facts/{id}"
    posts = [(f"{one}/{name}", "post") for name in ("archive", "restore", "supersede", "verify")]
    for path, method in [(one, "patch"), (one, "delete"), *posts]:
        operation = schema()["paths"][path][method]
        told = {parameter["name"] for parameter in operation["parameters"]}
        assert "If-Match" in told, path
        assert ("expected_version" in told) == (method == "delete")


def api_patterns() -> list[Any]:
    (included,) = [p for p in get_resolver().url_patterns if str(p.pattern) == "api/v1/"]
    return included.url_patterns


def codes(kind: type[Day1Error]) -> set[str]:
    return {kind.code}.union(*(codes(child) for child in kind.__subclasses__()))


def test_the_guide_has_every_code_and_every_route() -> None:
    guide = (ROOT / "docs" / "api.md").read_text()
    wanted = codes(Day1Error) | {"method_not_allowed", "unsupported_media_type", "unavailable"}
    assert {code for code in wanted if f"`{code}`" not in guide} == set()
    assert {path for path in schema()["paths"] if path.removeprefix("/api/v1") not in guide} == set()


def test_answers_have_the_documented_fields_in_the_documented_order(api: Api) -> None:
    one, two = api.fact("one"), api.fact("two")
    path = f"/facts/{one['id']}"
    link = api.post(f"{path}/links", {"to_id": two["id"], "link_type": "BRIDGE"}).json()
    bulk = api.post("/facts/bulk", {"facts": [{"fact_text": "three"}]}).json()
    found = api.get("/facts/search?q=one").json()
    explained = api.get(f"{path}/explain?q=one").json()
    (version,) = api.get(f"{path}/history").json()["results"]
    new_key = api.post("/keys", {"label": "k", "scopes": ["read"]}).json()
    (hit,) = found["results"]
    told = [
        (shapes.WrittenShape, one),
        (shapes.FactShape, api.get(path).json()),
        (shapes.LinkShape, link),
        (shapes.BulkShape, bulk),
        (shapes.WrittenIdShape, bulk["results"][0]),
        (shapes.CommitShape, bulk["commit"]),
        (shapes.FoundShape, found),
        (shapes.HitShape, hit),
        (shapes.FactShape, hit["fact"]),
        (shapes.ExplanationShape, explained),
        (shapes.VersionShape, version),
        (shapes.CommitShape, version["commit"]),
        (shapes.VerificationShape, api.get(f"{path}/verification").json()),
        (shapes.NewKeyShape, new_key),
        (shapes.KeyShape, api.get("/keys").json()["results"][0]),
        (shapes.BranchShape, api.get("/branches/main").json()),
    ]
    for shape, answer in told:
        assert list(answer) == list(shape().get_fields()), shape.__name__
    problem = refused(api.get("/facts?limit=0"), 400, "invalid", "limit")
    assert list(problem) == list(shapes.ProblemShape().get_fields())


# ---- generated requests ------------------------------------------------------------------------------

EXAMPLES = 6
# What a schema cannot say (no NUL, not only spaces, known ids) is refused as documented.
LOOKED_AT = [
    not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_schema_conformance,
]


def operations() -> list[Any]:
    document = plain(schema())
    loaded = schemathesis.openapi.from_dict(document)
    loaded.app = get_wsgi_application()
    every = [result.ok() for result in loaded.get_all_operations()]
    return [one for one in every if one.path != "/api/v1/events"]  # Django does not tell them: tests/events


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
def test_generated_requests_get_documented_answers(api: Api, mode: schemathesis.GenerationMode) -> None:
    api.post("/branches", {"name": "task/x"})
    known = {"id": api.fact("known")["id"], "name": "task/x"}
    for operation in operations():
        ask(operation, mode, known, api.token)


def ask(operation: Any, mode: Any, known: dict[str, str], token: str) -> None:
    names = {parameter.name for parameter in operation.path_parameters}
    ids = {name: known[name] for name in names if name in known} if operation.method != "delete" else {}

    @seed(7)
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        case.path_parameters.update(ids)
        response = case.call(headers={"Authorization": f"Bearer {token}"})
        case.validate_response(response, checks=LOOKED_AT)

    with suppress(Unsatisfiable):  # a route without any input has none that is wrong
        run()
