"""The OpenAPI document is true: the engines' fields, every route, every code, and the responses' shapes."""

import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import yaml
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import CHECKS
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import AcceptedNegativeData, RejectedPositiveData

from curation.answers.verification import FactVerificationShape
from memory.answers import branches as branch_shapes
from memory.answers import commits as commit_shapes
from memory.answers import facts as shapes
from memory.answers import keys as key_shapes
from memory.answers import requests as r
from memory.answers.problems import ProblemShape
from memory.api import pages
from memory.api.pages import get_schema
from memory.engines.facts import filters, links, rules
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.fields.common import END_USER, STATED_CHECKS
from memory.exceptions import Day1Error
from memory.models import Project
from memory.operations.facts import FACTS
from tests.amounts import is_thorough, take_share
from tests.memory.api.client import Api, api_for, refused
from tests.waiting import TIMEOUT_SECONDS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
ROOT = Path(__file__).resolve().parents[3]
WHERE = {"branch"}
STATED = STATED_CHECKS.keys()
END_USERS = {one.name for one in END_USER}


def names(shape: type) -> set[str]:
    return set(shape().get_fields())


def inputs(action: str) -> set[str]:
    return {one.name for one in FACTS.operations[action].inputs}


def test_requests_have_the_fields_that_the_engines_take() -> None:
    content, how = rules.CHECKS.keys(), {"propose", "deduplicate", "wait"}
    expecting = WHERE | STATED | {"expected_version"}
    assert inputs("create") == content | STATED | WHERE | how
    assert inputs("bulk") == {"facts"} | STATED | WHERE | how
    assert inputs("partial_update") == rules.UPDATE_CHECKS.keys() | expecting | {"wait"}
    new = {"new_fact_text", "deduplicate", "wait"}
    assert inputs("supersede") == content - {"fact_text", "parent_id"} | new | expecting
    assert inputs("archive") == inputs("restore") == expecting
    assert inputs("actions") == options(ActionEngine.apply_action) | {"branch"} | STATED - END_USERS
    assert inputs("add_link") == links.CHECKS.keys() | STATED - END_USERS | WHERE
    assert names(r.SearchInput) >= filters.FactFilter.CHECKS.keys() | {
        "query",
        "branch",
        "branches",
        "time_range",
    }


def options(method: Any) -> set[str]:
    """Return the keyword arguments of an engine's method, without actor and branch."""
    return set(signature(method).parameters) - {"self", "actor", "branch_name"}


@pytest.mark.slow
def test_the_published_document_is_current() -> None:
    """Compare it with the output of `manage.py spectacular --file docs/openapi.yaml`."""
    published = yaml.load((ROOT / "docs" / "openapi.yaml").read_text(), yaml.CSafeLoader)
    assert published == plain(get_schema())


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def test_the_document_and_its_page_need_no_key(client) -> None:
    document = client.get("/api/v1/schema", headers={"Accept": "application/json"}).json()
    assert document["openapi"].startswith("3.1")
    assert document["paths"].keys() == get_schema()["paths"].keys()
    for kind in ("application/json", "application/yaml", "application/vnd.oai.openapi"):
        found = client.get("/api/v1/schema", headers={"Accept": kind})
        assert (found.status_code, found["Content-Type"].partition(";")[0]) == (200, kind)
        known = client.get("/api/v1/schema", headers={"Accept": kind, "If-None-Match": found["ETag"]})
        assert (known.status_code, known.content, known["ETag"]) == (304, b"", found["ETag"])
    made = pages.render_schema.cache_info().misses
    client.get("/api/v1/schema")
    assert pages.render_schema.cache_info().misses == made
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    assert b"<style" not in page.content
    assert b"<script>" not in page.content
    assert "unsafe" not in page["Content-Security-Policy"]
    assert client.get("/api/v1/docs?script=")["Content-Type"] == "application/javascript"


@pytest.mark.slow
def test_the_first_requests_may_come_at_once() -> None:
    code = """
import django; django.setup()
from concurrent.futures import ThreadPoolExecutor
from django.test import Client
with ThreadPoolExecutor(4) as pool:
    print(*pool.map(lambda _: Client().get("/api/v1/schema").status_code, range(4)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )
    assert done.stdout.split() == ["200"] * 4, done.stderr


def test_every_route_is_documented() -> None:
    routes = {
        pattern.pattern.regex.pattern
        for pattern in api_patterns()
        if pattern.name not in ("index", "schema", "docs")
    }
    assert len(routes) == len(get_schema()["paths"])
    for path, operations in get_schema()["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (path, method)
            assert "401" in operation["responses"]


def test_every_change_of_a_fact_tells_how_to_name_what_was_read() -> None:
    one = "/api/v1/facts/{id}"
    posts = [(f"{one}/{name}", "post") for name in ("archive", "restore", "supersede", "verify")]
    for path, method in [(one, "patch"), (one, "delete"), *posts]:
        operation = get_schema()["paths"][path][method]
        told = {parameter["name"] for parameter in operation["parameters"]}
        assert "If-Match" in told, path
        assert ("expected_version" in told) == (method == "delete")


def test_what_generated_requests_rarely_reach_is_documented_as_it_is(api: Api) -> None:
    paths = get_schema()["paths"]
    past = paths["/api/v1/time-travel"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert past == {"$ref": "#/components/schemas/Past"}
    hook = paths["/api/v1/ingest/hook"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert [one["type"] for one in hook["oneOf"]] == ["object", "array"]
    for path, name, most in (
        ("/branches", "tag", 100),
        ("/scores", "target_type=fact&target_id={id}&dimension", 50),
        ("/consolidation/runs", "target", 200),
    ):
        found = {one["name"]: one for one in paths[f"/api/v1{path}"]["get"]["parameters"]}
        field, query = name.rsplit("&", 1)[-1], name.format(id=api.fact(path)["id"])
        assert found[field]["schema"]["maxLength"] == most
        assert api.get(f"{path}?{query}={'x' * most}").status_code == 200
        refused(api.get(f"{path}?{query}={'x' * (most + 1)}"), 400, "invalid", field)


def test_a_body_says_what_is_taken_where_a_field_is_not_given() -> None:
    fields = get_schema()["components"]["schemas"]["SupersedeInput"]["properties"]
    assert (fields["branch"]["default"], fields["deduplicate"]["default"]) == ("main", True)
    assert "default" not in fields["new_fact_text"]


def api_patterns() -> list[Any]:
    (included,) = [p for p in get_resolver().url_patterns if str(p.pattern) == "api/v1/"]
    return included.url_patterns


def codes(kind: type[Day1Error]) -> set[str]:
    return {kind.code}.union(*(codes(child) for child in kind.__subclasses__()))


def test_the_guide_has_every_code_and_every_route() -> None:
    guide = (ROOT / "docs" / "api.md").read_text()
    wanted = codes(Day1Error) | {"method_not_allowed", "unsupported_media_type", "unavailable"}
    assert {code for code in wanted if f"`{code}`" not in guide} == set()
    assert {path for path in get_schema()["paths"] if path.removeprefix("/api/v1") not in guide} == set()


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
        (commit_shapes.CommitShape, bulk["commit"]),
        (shapes.FoundShape, found),
        (shapes.HitShape, hit),
        (shapes.FoundFactShape, hit["fact"]),
        (shapes.ExplanationShape, explained),
        (shapes.VersionShape, version),
        (commit_shapes.CommitShape, version["commit"]),
        (FactVerificationShape, api.get(f"{path}/verification").json()),
        (key_shapes.NewKeyShape, new_key),
        (key_shapes.KeyShape, api.get("/keys").json()["results"][0]),
        (branch_shapes.BranchShape, api.get("/branches/main").json()),
    ]
    for shape, answer in told:
        assert list(answer) == list(shape().get_fields()), shape.__name__
    problem = refused(api.get("/facts?limit=0"), 400, "invalid", "limit")
    assert [*problem, "request_id"] == list(ProblemShape().get_fields())  # which a server adds


# ---- generated requests ------------------------------------------------------------------------------

# Each day others are asked, every twelfth rightly and every 36th wrongly; "thorough" asks all.
RIGHT_SHARE, WRONG_SHARE = 12, 36
SCOPES = ("read", "write", "admin")
EXAMPLES = 2 if is_thorough() else 1  # per operation and mode of generation
# Three checks need request sequences; the schema does not promise that its links can be followed.
IN_SEQUENCE = {"use_after_free", "ensure_resource_availability", "object_level_authorization"}
LOOKED_AT = [check for check in CHECKS.get_all() if check.__name__ not in IN_SEQUENCE]
# Refusals of valid requests by status and field ("" is none), which a schema cannot express.
NOT_IN_THE_SCHEMA = {
    (400, "cursor"): "a cursor is opaque: only one that this list gave is taken",
    (400, "branch"): "branch and branches exclude each other, in a query too",
    (400, "at"): "a copy of the store has no point in the past; the future cannot be read",
    (400, "conversation_id"): "messages of the past are read by their conversation, and only they",
    (400, "namespace"): "no segment is empty or of dots alone",
    (400, "key"): "it is one segment, and not of dots alone",
    (400, "prefix"): "no segment is empty or of dots alone",
    (400, "suffix"): "no segment is empty or of dots alone",
    (400, "value"): "a put has one",
    (400, "where"): "paths begin with value or metadata, and have operators",
    (400, "ttl"): "it goes without expires_at",
    (400, "replaced_by"): "it depends on the action",
    (400, "new_fact_text"): "it depends on the action",
    (400, "category"): "it depends on the action",
    (400, "url"): "it is an address of https, on a public server",
    (400, "keep"): "it depends on the decision",
    (400, "decision"): "it depends on what is given beside it",
    (400, "content"): "a message may be empty where it calls a tool",
    (400, "summary"): "an observation needs none where it names its tool",
    (400, "valid_until"): "it is later than valid_from",
    (400, "name"): "a default branch is one of the patterns of its key",
    (400, "default_branch"): "a default branch is one of the patterns of its key",
    (400, "expires_at"): "it lies in the future",
    (400, "parent_id"): "the parent is stored on the branch",
    (400, "time_range"): "it excludes the filters that it stands for",
    (400, "query"): "q and query say the same where both are given",
    (400, "If-Match"): "the version is also given in the body, and differently",
    (400, "expected_version"): "the version is also given in the header, and differently",
    (400, "updated_cycle"): "it is not before created_cycle",
    (400, "agent_id"): "who joins a task is named by the request, else by the key",
    (400, "reason"): "it goes with a verdict",
    (400, "id"): "a memory is named by id and type, or a call by its time",
    (400, "task_type"): "a template is found by a kind of work, a description, or both",
    (400, "bundle"): "a document of another format is no bundle",
    (400, "schema_version"): "this server reads one",
    (400, "sha256"): "it is of the content",
    (400, "signature"): "it is by the key that it names",
    (400, "public_key"): "it is a point of a curve",
    (400, "target"): "dreaming needs none",
    (400, "current_cycle"): "only dreaming counts in cycles, and never backwards",
    (400, "conversation_ids"): "without ids there is a conversation to replay",
    (400, "dimensions"): "each has another name",
    (400, "sequence_num"): "messages are numbered upwards",
    (400, "text"): "the format markdown has a text, of its own form",
    (400, "state"): "of an objective a state or a note is changed",
    (400, "max_total_cost"): "a limit of money needs prices in the settings",
    (400, "recipe"): "it is one of this server's",
    (400, "instructions"): "a handoff hands something over",
    (400, "username"): "a member is a user of this server",
    (400, "change"): "a list with nothing in it names no change",
    (412, ""): "another version was read",
}
ONE_OF_A_LIST = re.compile(r"was array, became (number|integer|string|boolean)")  # ?a=5 is a list of one
EMPTY = re.compile(r"[?&][^=&]+=(?:&|$)")  # a filter without a value is none
SENTENCES = (  # the same for any field
    "holds a NUL character",
    "may not be empty",  # a text of spaces alone
    "has 1 to 200 characters",  # and so is a label of spaces
    "levels deep",
    "is longer than",
    "Say what to delete",
)


def operations() -> list[Any]:
    document = plain(get_schema())
    loaded = schemathesis.openapi.from_dict(document)
    loaded.app = get_wsgi_application()
    every = [result.ok() for result in loaded.get_all_operations()]
    return [one for one in every if one.path != "/api/v1/events"]  # Django does not serve it: tests/events


@cache
def generate_cases(mode: schemathesis.GenerationMode) -> list[list[Any]]:
    """Return requests for each operation. To generate one takes longer than to send it with every key."""
    share = RIGHT_SHARE if mode.is_positive else WRONG_SHARE
    return [generate_for(operation, mode) for operation in take_share(operations(), share)]


def generate_for(operation: Any, mode: schemathesis.GenerationMode) -> list[Any]:
    cases: list[Any] = []

    @seed(7)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        # The key that is sent is a good one, so a request that lacks nothing else is not wrong.
        assume(mode.is_positive or wrong_parts(case) - {ParameterLocation.HEADER})
        cases.append(case)

    with suppress(Unsatisfiable):  # a route without any input has no wrong one
        run()
    return cases


def wrong_parts(case: Any) -> set[ParameterLocation]:
    return {part for part, about in case.meta.components.items() if about.mode.is_negative}


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
def test_generated_requests_get_documented_answers(
    api: Api, project: Project, scope: str, mode: schemathesis.GenerationMode
) -> None:
    api.post("/branches", {"name": "task/x"})
    known = {"id": api.fact("known")["id"], "name": "task/x"}
    known["task"] = api.post("/tasks", {"name": "known", "objectives": ["One."]}).json()["slug"]
    token = api_for(project, scopes=[scope], rate_per_minute=1_000_000).token
    asked = (ask(case, known, token) for cases in generate_cases(mode) for case in cases)
    wrong = [line for lines in asked for line in lines]
    assert not wrong, "\n\n".join(wrong)


def ask(case: Any, known: dict[str, str], token: str) -> list[str]:
    """Send a generated request; return what is wrong with the response."""
    operation, wrong = case.operation, wrong_parts(case)
    names = {parameter.name for parameter in operation.path_parameters}
    elsewhere = wrong & {ParameterLocation.BODY, ParameterLocation.QUERY}
    if operation.method != "delete" and (not wrong or elsewhere):
        case.path_parameters.update({name: known[name] for name in names if name in known})
    headers = {"Authorization": f"Bearer {token}"}
    response = case.call(headers=headers)
    try:
        case.validate_response(response, checks=LOOKED_AT, headers=headers)
    except FailureGroup as found:
        unexpected = [one for one in found.exceptions if not is_known(one, response)]
        return [f"{operation.label}: {one}\n{response.text[:300]}" for one in unexpected]
    return []


def is_known(failure: Exception, response: Any) -> bool:
    """Return whether a schema cannot express the difference."""
    if isinstance(failure, AcceptedNegativeData):  # 413 is a refusal too: the limit is in bytes
        is_format = "violates `format`" in str(failure) and EMPTY.search(response.request.url)
        return bool(response.status_code == 413 or ONE_OF_A_LIST.search(str(failure)) or is_format)
    if not isinstance(failure, RejectedPositiveData):
        return False
    problem = response.json()
    field = problem.get("field", "").rsplit(".", 1)[-1]
    return (problem["status"], field) in NOT_IN_THE_SCHEMA or any(
        sentence in problem["detail"] for sentence in SENTENCES
    )
