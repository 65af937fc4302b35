"""The operations of docs/openapi.yaml, as those who write a client need them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "/api/v1"
VERBS = ("partial_update", "list", "create", "retrieve", "update", "destroy")
USUAL = {"retrieve": "get", "partial_update": "update", "update": "put", "destroy": "delete"}
# Where the rule gives two operations one name, or a name that says little.
NAMES = {
    "ageing_runs_retrieve": "get_run",
    "branches_enrich_partial_update": "update",
    "consolidation_runs_accept_create": "accept",
    "consolidation_runs_create": "run",
    "consolidation_runs_reject_create": "reject",
    "consolidation_runs_retrieve": "get_run",
    "consolidation_runs_undo_create": "undo",
    "conversations_compact_retrieve": "compaction",
    "conversations_messages_batch_create": "add_messages",
    "conversations_messages_create": "add_message",
    "events_list": "follow",
    "facts_bulk_create": "create_many",
    "facts_bulk_partial_update": "update_many",
    "facts_links_create": "link",
    "facts_links_destroy": "unlink",
    "facts_search_retrieve": "search_get",
    "health_list": "get",
    "instructions_create": "set",
    "instructions_list": "get",
    "merge_requests_approve_destroy": "withdraw_approval",
    "merge_requests_decisions_create": "decide",
    "merge_requests_decisions_destroy": "withdraw_decision",
    "questions_bulk_create": "create_many",
    "remember_create": "remember",
    "signing_key_list": "get",
    "snapshots_window_create": "set_window",
    "tasks_agents_complete_create": "complete_agent",
    "tasks_objectives_partial_update": "update_objective",
}
GROUPS = {"remember": "messages"}  # memory.remember() is the client's own
# A client's branch, end user and agent stand in for what a call leaves out, where this is what it is about.
DEFAULTS = {
    "branch": ("The branch to look at.", "main when it is not given"),
    "user_id": (
        "The end user whose memory",
        "",
        "Conversations of",
        "Facts of",
        "Messages of",
        "Observations of",
    ),
    "app_id": ("The app whose memory", "", "Conversations of", "Facts of", "Messages of", "Observations of"),
    "agent_id": ("403 when", "Who "),
}
SHARED = 9  # fields that a type has in common with another one, for it to extend that
SHAPES = ("Redaction", "Cursors")  # which are extended as small as they are


@cache
def load_document() -> dict[str, Any]:
    text = (ROOT / "docs" / "openapi.yaml").read_text(encoding="utf-8")
    document: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return document


@cache
def load_schemas() -> dict[str, dict[str, Any]]:
    schemas: dict[str, dict[str, Any]] = load_document()["components"]["schemas"]
    page = schemas["FactPage"]["properties"]
    fields = {name: page[name] for name in ("next", "previous")}
    cursors = {"description": "The way to other pages.", "type": "object", "properties": fields}
    return {**schemas, "Cursors": {**cursors, "required": list(fields)}}


def find_bases(types: dict[str, set[Any]]) -> dict[str, list[str]]:
    """Return for each type, given as its fields, the types that it extends: it has all that is theirs."""
    bases: dict[str, list[str]] = {}
    for name, fields in types.items():
        parts = [one for one in types if types[one] < fields]
        large = sorted((one for one in parts if len(types[one]) >= SHARED), key=lambda one: len(types[one]))
        known = types[large[-1]] if large else set()
        bases[name] = large[-1:] + [one for one in SHAPES if one in parts and not types[one] <= known]
    return bases


def name_of(schema: dict[str, Any]) -> str:
    """Return the name of the component that a schema refers to; "" where it is none."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


@dataclass(frozen=True)
class Parameter:
    """What a caller may say: in the path, the query, the body or a header."""

    name: str
    where: str
    schema: dict[str, Any]
    required: bool
    description: str


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    id: str
    method: str
    path: str
    described: dict[str, Any]

    @property
    def group(self) -> str:
        tag = self.described["tags"][0].replace("-", "_")
        return GROUPS.get(tag, tag)

    @property
    def name(self) -> str:
        """Return its name in its group, such as ``create``."""
        rest = self.id.removeprefix(self.described["tags"][0].replace("-", "_") + "_")
        if named := NAMES.get(self.id):
            return named
        if rest.endswith("delete_create"):
            return "delete_many"
        if rest in VERBS:
            return USUAL.get(rest, rest)
        return next(rest.removesuffix("_" + verb) for verb in VERBS if rest.endswith("_" + verb))

    @property
    def summary(self) -> str:
        return str(self.described["summary"])

    @cached_property
    def body(self) -> dict[str, Any] | None:
        """Return the schema of the body, where there is one."""
        content = self.described.get("requestBody", {}).get("content", {})
        return content["application/json"]["schema"] if content else None

    @cached_property
    def parameters(self) -> list[Parameter]:
        """Return the parameters: of the path, then what is required, in their order; the others by name."""
        given = {one.name: one for one in [*self._in_body(), *self._beside_body()]}
        places = re.findall(r"{(\w+)}", self.path)
        required = [name for name in given if given[name].required and name not in places]
        others = sorted(given.keys() - {*places, *required})
        return [given[name] for name in [*places, *required, *others]]

    def _beside_body(self) -> Iterator[Parameter]:
        for one in self.described.get("parameters", []):
            if one["name"] == "Last-Event-ID":  # the parameter last_event_id says the same
                continue
            told = one.get("description", "")
            yield Parameter(one["name"], one["in"], one["schema"], one.get("required", False), told)

    def _in_body(self) -> Iterator[Parameter]:
        if self.body is None:
            return
        if not (name := name_of(self.body)):  # any JSON, as it is
            yield Parameter("body", "body", self.body, True, "")
            return
        schema = load_schemas()[name]
        for field, one in schema["properties"].items():
            required = field in schema.get("required", [])
            yield Parameter(field, "body", one, required, one.get("description", ""))

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """Return the schemas of what may be answered, each once; {} is an answer without content."""
        found: list[dict[str, Any]] = []
        for code, answer in sorted(self.described["responses"].items()):
            if code[0] == "2":
                content = next(iter(answer.get("content", {}).values()), {"schema": {}})
                schema = content["schema"]
                found += [schema] if schema not in found else []
        return found

    @property
    def query(self) -> list[Parameter]:
        return [one for one in self.parameters if one.where == "query"]

    @property
    def streams(self) -> bool:
        return "text/event-stream" in self.described["responses"].get("200", {}).get("content", {})

    @property
    def is_paged(self) -> bool:
        """Return whether the answer is a page of several, which a cursor leads through."""
        schema = load_schemas().get(name_of(self.answers[0]), {"properties": {}})
        has_cursor = any(one.name == "cursor" for one in self.parameters)
        return self.method == "get" and has_cursor and {"results", "next"} <= set(schema["properties"])

    @property
    def row(self) -> dict[str, Any]:
        """Return the schema of one of several that are answered."""
        rows: dict[str, Any] = load_schemas()[name_of(self.answers[0])]["properties"]["results"]
        return rows["items"]


def takes_default(parameter: Parameter, operation: Operation) -> bool:
    told = parameter.description
    if operation.group == "keys":
        return False
    return any(told == start if not start else told.startswith(start) for start in DEFAULTS[parameter.name])


@cache
def load_operations() -> list[Operation]:
    """Return every operation by group and name."""
    paths = load_document()["paths"]
    found = [
        Operation(one["operationId"], method, path.removeprefix(PREFIX), one)
        for path, methods in paths.items()
        for method, one in methods.items()
    ]
    return sorted(found, key=lambda one: (one.group, one.name))


def load_codes() -> list[tuple[str, int, str]]:
    """Return each stable code of an error with its status and when it is given, as docs/api.md says."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d{3}) \| (.*) \|$", text, re.MULTILINE)
    return [(code, int(status), re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", when)) for code, status, when in rows]


def class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def name_error(code: str) -> str:
    """Return the name of the class of an error's code."""
    return "ServerFault" if code == "error" else class_name(code)
