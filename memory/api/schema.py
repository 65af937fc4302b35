"""OpenAPI descriptions of the routes; serializers are in memory/answers."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers as s

from memory.answers import facts as shapes
from memory.answers import requests
from memory.answers.declared_serializers import POINT
from memory.api.access import SESSION_HEADER
from memory.api.base import REDACTED_FIELDS
from memory.api.refusals import REFUSALS, WITHOUT_BODY, build_problem_schema, build_refusal
from memory.engines.facts.short_ids import SHORT_ID
from memory.engines.fields.common import END_USER, KEY_LENGTH, NAMESPACE_LENGTH
from memory.engines.fields.policies import POLICY
from memory.engines.support import idempotency
from memory.engines.support.ordering import Ordering
from memory.filters import FactFilterSet

Schema = dict[str, Any]
NAME: Schema = {"type": "string", "maxLength": 200}
PATTERN: Schema = {**NAME, "minLength": 1, "pattern": POLICY["pattern"].type.regex}
NAMED = dict.fromkeys(("name", "branch_name", "session_id", "task", "agent_id", "slug", "username"), NAME)
KINDS: Schema = {"type": "string", "enum": ["fact", "conversation"]}
PATHS = {
    **NAMED,
    "target_type": KINDS,
    "pattern": PATTERN,
    "namespace": {
        "type": "string",
        "minLength": 1,
        "maxLength": NAMESPACE_LENGTH,
        "pattern": "^[^/]+(/[^/]+)*$",
    },
    "key": {"type": "string", "minLength": 1, "maxLength": KEY_LENGTH, "pattern": "^[^/]+$"},
    "n": {"type": "integer", "minimum": 1},
}  # any other is an ID
ID: Schema = {"type": "string", "format": "uuid"}
IDS = {
    "facts": {"anyOf": [ID, {"type": "string", "pattern": f"^{SHORT_ID.pattern}$"}]},
    "merge-requests": {"anyOf": [ID, {"type": "integer", "minimum": 1}]},
}  # where a row has a shorter name too
ROW = re.compile(r"/api/v1/([^/]+)/\{id\}")
TAG = '(W/)?"[!#-~]*"'
TAGS = rf"^(\*|{TAG}( ?, ?{TAG})*)$"  # the values of If-Match; another If-None-Match matches nothing


# ---- parameters ------------------------------------------------------------------------------------


def query(name: str, kind: Schema, text: str, required: bool = False) -> OpenApiParameter:
    return OpenApiParameter(
        name, kind, description=text, required=required, explode=False if "items" in kind else None
    )


def header(name: str, text: str, **kind: str | int) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", **kind}, OpenApiParameter.HEADER, description=text)


TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53}
BRANCH = query("branch", {"type": "string", "maxLength": 200, "default": "main"}, "The branch to look at.")
AT = query("at", {"anyOf": POINT["anyOf"]}, POINT["description"])
STATED = [
    query(name, {"type": "string", "maxLength": 200}, "Who asks.")
    for name in ("session_id", "task_id", "agent_id")
]
PAGING = [
    query("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}, "Results on a page."),
    query("cursor", {"type": "string", "maxLength": 1500}, "``next`` or ``previous`` of another page."),
]


def paging_by(order: Ordering | None) -> list[OpenApiParameter]:
    """Return the parameters of a list, which may be one that can be sorted."""
    if order is None:
        return PAGING
    kind = {"type": "string", "enum": order.names, "default": order.default}
    return [*PAGING, query("ordering", kind, "What to sort by; with ``-`` downwards.")]


EXPECTED = query("expected_version", COUNT, "412 when the fact is at another.")
IF_MATCH = header("If-Match", "The ETag that was read; 412 when the fact has changed since.", pattern=TAGS)
SESSION = header(
    SESSION_HEADER,
    "The session in whose name this is searched: what is found is not learned again from what it says. Needs"
    " the scope propose.",
    maxLength=200,
)
ONLY_NEW = header("If-None-Match", "``*``: 412 where something stands there already.")
IF_NONE_MATCH = header("If-None-Match", "An ETag; 304 when it is still the same.")
ONCE = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": idempotency.MAX_KEY_LENGTH},
    "description": "The same key with the same request gives the stored answer for 24 hours; of more than"
    " 256 KiB long values are kept in part.",
}


def list_filter_parameters(filters: Any) -> list[OpenApiParameter]:
    """Return the query parameters of a FilterSet."""
    known = filters.base_filters.items()
    return [query(name, build_filter_schema(one), one.extra["help_text"]) for name, one in known]


def build_filter_schema(one: Any) -> Schema:
    """Return the JSON schema of a filter."""
    known = [value for value, _ in one.extra.get("choices", [])]
    item: Schema = {"type": "string", "enum": known} if known else {"type": "string", "minLength": 1}
    match type(one).__name__:
        case "AnyOf" | "AnyChoiceOf":
            return {"type": "array", "items": item, "minItems": 1, "maxItems": 50}
        case "NumberFilter":
            return {"type": "number", "minimum": 0, "maximum": 1}
        case "BooleanFilter":
            return {"type": "boolean"}
        case "IsoDateTimeFilter":
            return {"type": "string", "format": "date-time"}
        case "CharFilter":  # an empty filter filters nothing
            return {"type": "string", "maxLength": one.extra.get("max_length", 200)}
        case "ChoiceFilter":
            return {"type": "string", "enum": [*known, ""]}
        case "UUIDFilter":
            return {"type": "string", "format": "uuid"}
    return item


def search_args(*left_out: str) -> list[OpenApiParameter]:
    """Return the query parameters of a search, as in requests.Searching."""
    found = [
        query("q", {"type": "string", "maxLength": 8000}, "What to look for.", required=True),
        BRANCH,
        AT,
    ]
    for name, field in requests.Searching().get_fields().items():
        if name not in ("at", *left_out):
            found.append(query(name, integer_schema(field), str(field.help_text or "")))
    return found


def integer_schema(field: Any) -> Schema:
    if isinstance(field, s.ListField):
        return {"type": "array", "items": integer_schema(field.child), "minItems": 1}
    if isinstance(field, s.ChoiceField):
        return {"type": "string", "enum": list(field.choices)}
    if isinstance(field, s.CharField):
        return {"type": "string", "maxLength": field.max_length}
    return {"type": "integer", "minimum": field.min_value, "maximum": field.max_value}


# ---- responses -------------------------------------------------------------------------------------


@cache
def page(shape: type[s.Serializer]) -> type[s.Serializer]:
    """Return the serializer of a page of rows with its cursors."""
    cursor: dict[str, Any] = {"allow_null": True, "help_text": "A cursor, or null."}
    fields = {"results": shape(many=True), "next": s.CharField(**cursor), "previous": s.CharField(**cursor)}
    made = type(f"{shape.__name__.removesuffix('Shape')}Page", (s.Serializer,), fields)
    set_override(made, "many", False)  # not a list of pages
    return made


class HealthShape(s.Serializer):
    """``status`` for everybody; the rest for callers with a key."""

    status = s.ChoiceField(choices=["ok", "degraded", "failing"])
    database = s.ChoiceField(choices=["ok", "damaged", "error"], required=False)
    damage = s.DictField(required=False, help_text="Of a damaged store: found_at, error.")
    storage = s.ChoiceField(choices=["ok", "low", "full", "read_only", "failing"], required=False)
    broker = s.ChoiceField(choices=["ok", "silent"], required=False)
    worker = s.ChoiceField(choices=["running", "stopped", "unknown"], required=False)
    queue = s.DictField(
        required=False,
        help_text="waiting, the age of the oldest: oldest_seconds; set_aside: tasks that stopped the worker.",
    )
    embedding = s.DictField(
        required=False,
        help_text="pending, failed, model, error, failed_error; change, while texts get vectors of another"
        " model, else null: previous, in_use (whether searches use that one meanwhile), done, total.",
    )
    quota = s.DictField(
        required=False,
        help_text="rows and bytes: what is used, and the limit, null for none; full: writes stop.",
    )
    store_check = s.DictField(
        required=False,
        help_text="Of the last check of the store: state (ok, problems or never), at, age_seconds, and how"
        " many problems by name.",
    )
    backup = s.DictField(
        required=False, help_text="Where the settings ask for nightly backups: at, age_seconds, overdue."
    )


GONE = OpenApiResponse(description="Done; there is nothing to show.")
SAME = OpenApiResponse(description="It is what If-None-Match names.")


EXAMPLES = {
    requests.SearchInput: {"query": "When do tokens expire?", "limit": 5},
}


def route(
    text: str,
    answers: dict[int, Any],
    request: Any = None,
    parameters: Any = (),
    example: Any = None,
    operation_id: str | None = None,
) -> Callable:
    example = example or EXAMPLES.get(request)
    examples = [OpenApiExample("Short", value=example, request_only=True)] if example else None
    return extend_schema(
        summary=text,
        request=request,
        responses=answers,
        parameters=list(parameters),
        examples=examples,
        filters=False,
        operation_id=operation_id,
    )


WHOSE = {one.name: query(one.name, {"type": "string", "maxLength": 200}, one.help) for one in END_USER}
# A search is about one end user, where a list may be about several.
FILTERS = [WHOSE.get(one.name, one) for one in list_filter_parameters(FactFilterSet)]
BRANCHES = query(
    "branches",
    {"type": "array", "items": TEXT},
    "Names or patterns, instead of branch; branch_names is understood too.",
)
ROUTES: dict[str, dict[str, Callable]] = {
    "FactViewSet": {
        "explain": route(
            "Why a query finds a fact, or why not",
            {200: shapes.ExplanationShape},
            None,
            [*search_args("max_tokens", "cursor"), *FILTERS],
        ),
        "search": route(
            "Search facts", {200: shapes.FoundShape}, None, [*search_args(), *FILTERS, BRANCHES, SESSION]
        ),
        "search_by_body": route(
            "Search facts, told in the body", {200: shapes.FoundShape}, requests.SearchInput, [SESSION]
        ),
    },
    "HealthViewSet": {
        "list": route("How the server is", {200: HealthShape, 503: HealthShape}),
        "live": route("Whether the process answers", {200: HealthShape}),
        "ready": route("Whether the database answers", {200: HealthShape, 503: HealthShape}),
    },
}


def name_components(module: Any) -> None:
    """Name the serializers of a module in the document as they are called, without Shape."""
    for name, shape in vars(module).items():
        if isinstance(shape, type) and issubclass(shape, s.Serializer):
            set_override(shape, "component_name", name.removesuffix("Shape"))


def document_routes(routes: Mapping[str, Mapping[str, Callable]], *modules: Any) -> Callable[[type], type]:
    """Return a decorator that documents the routes of a ViewSet; ``modules`` have the serializers."""
    for module in modules:
        name_components(module)

    def document_view(view: type) -> type:
        for name, described in routes[view.__name__].items():
            described(getattr(view, name))
        return view

    return document_view


documented = document_routes(ROUTES, shapes, requests)
set_override(HealthShape, "component_name", "Health")
set_override(HealthShape, "many", False)  # the action is called list, but returns one object


KEY = "An API key; the first one is in first-key.json in the data directory."


class BearerKey(OpenApiAuthenticationExtension):
    target_class = "memory.api.access.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> Schema:
        return {"type": "http", "scheme": "bearer", "description": KEY}


# ---- what was redacted in a write -------------------------------------------------------------------

REDACTION: Schema = {
    "type": "object",
    "properties": {
        REDACTED_FIELDS: {
            "type": "array",
            "items": {"type": "string"},
            "description": "The fields that held secrets, which were not stored; missing for none. Those of"
            " one of several items are named with its place, such as facts[2].tags.",
        }
    },
}


def add_redaction(responses: Schema) -> None:
    """Say that the answer of a write names the fields that held secrets."""
    for code, response in responses.items():
        content = response.get("content", {}).get("application/json", {})
        if code in ("200", "201", "202") and "$ref" in content.get("schema", {}):
            content["schema"] = {"allOf": [content["schema"], {"$ref": "#/components/schemas/Redaction"}]}


# ---- hooks of drf-spectacular ----------------------------------------------------------------------


def without_slash(endpoints: list[tuple]) -> list[tuple]:
    """Return the endpoints without the final slash, which is optional."""
    return [(path.rstrip("/"), *rest) for path, *rest in endpoints]


def complete_schema(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """Add what applies to all routes: problems, idempotency keys, refusal of unknown fields."""
    components = result["components"]
    components["schemas"] |= {"Problem": build_problem_schema(), "Redaction": REDACTION}
    components["responses"] = {name: build_refusal(text) for name, text in REFUSALS.values()}
    for name, component in components["schemas"].items():
        if name.endswith("Input") or name == "TimeRange":
            component["additionalProperties"] = False
    for address, path in result["paths"].items():
        for method, operation in path.items():
            complete_operation(address, method, operation)
    strip_marks(result)
    return result


def strip_marks(part: Any) -> None:
    """Remove the internal marks of drf-spectacular."""
    if isinstance(part, dict):
        part.pop("x-spec-enum-id", None)
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        strip_marks(inner)


def complete_operation(address: str, method: str, operation: Schema) -> None:
    reads = method == "get" or address.endswith("/search")
    row = ROW.match(address)
    operation.pop("description", None)  # the docstring of the class, which is meant for developers
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            ids = IDS.get(row[1], ID) if row and parameter["name"] == "id" else ID
            parameter["schema"] = PATHS.get(parameter["name"], ids)
    if method == "post" and not reads:
        operation.setdefault("parameters", []).append(ONCE)
    if method in ("post", "put", "patch") and not reads:
        add_redaction(operation["responses"])
    left_out = WITHOUT_BODY if method == "get" else set()
    if {} in operation.get("security", [{}]):
        left_out = left_out | {"403", "404"}
    for code, (name, _) in REFUSALS.items():
        if code not in left_out:
            operation["responses"].setdefault(code, {"$ref": f"#/components/responses/{name}"})
