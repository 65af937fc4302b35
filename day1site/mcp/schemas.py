"""Results of the tools: the REST API's rows with fewer fields, and their JSON Schemas."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from rest_framework import serializers as s

from memory.answers import branches as branch_shapes
from memory.answers import capture as capture_shapes
from memory.answers import facts as shapes
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.branches import BRANCH
from memory.engines.fields.capture import OBSERVATION, RELATION, SESSION
from memory.engines.fields.facts import FACT
from memory.engines.graph.engine import Graph
from memory.models import Fact
from memory.texts import cut_line

INDEX_TOKENS = 1500
ANSWER_TOKENS = 6500  # of an answer, as `cost` estimates: under 8,000 also where it is random letters
# A piece of a word, two digits or signs, blanks: about what models count as one.
TOKEN = re.compile(r"[A-Z]?[a-z]{1,6}|[A-Z]{1,3}|[0-9]{1,2}|\s\s+|[!-/:-@\[-`{-~]{1,2}")
MAX_CHARACTERS = 4 * ANSWER_TOKENS
# What an answer that is too long is cut to: characters of a text, rows of a list.
STEPS = (
    *((6000, 1000), (3000, 1000), (1500, 1000), (800, 1000), (400, 1000), (200, 500)),
    *((200, 200), (200, 100), (200, 50), (100, 50), (100, 20), (100, 10), (20, 2)),
)
MIN_FIELDS = 40  # of an object that are kept
MAX_TEXT_LENGTH = 400  # of a text in a list
JSON_TYPES: list[tuple[type[s.Field], dict[str, Any]]] = [
    (s.UUIDField, {"type": "string", "format": "uuid"}),
    (s.DateTimeField, {"type": "string", "format": "date-time"}),
    (s.BooleanField, {"type": "boolean"}),
    (s.IntegerField, {"type": "integer"}),
    (s.FloatField, {"type": "number"}),
    (s.DictField, {"type": "object"}),
]


# ---- JSON Schemas ----------------------------------------------------------------------------------


def schema(of: type[s.Serializer]) -> dict[str, Any]:
    """Return the JSON Schema of a serializer."""
    fields = of().get_fields()
    properties = {name: _field(field) for name, field in fields.items()}
    required = [name for name, field in fields.items() if field.required or field.read_only]
    return {"type": "object", "properties": properties, "required": required}


def _field(field: s.Field) -> dict[str, Any]:
    found = _plain(field)
    if field.allow_null:
        found = {**found, "type": [found["type"], "null"]}
    return found | ({"description": field.help_text} if field.help_text else {})


def _plain(field: s.Field) -> dict[str, Any]:
    if isinstance(field, s.Serializer):
        return schema(type(field))
    if isinstance(field, s.ListField | s.ListSerializer):
        return {"type": "array", "items": _plain(field.child) if field.child else {}}
    if isinstance(field, s.ChoiceField):
        return {"type": "string", "enum": [str(value) for value in field.choices]}
    for kind, found in JSON_TYPES:
        if isinstance(field, kind):
            return dict(found)
    return {"type": "string"}


# ---- rows ------------------------------------------------------------------------------------------


def only(shape: type[s.Serializer], *names: str) -> type[s.Serializer]:
    """Return the serializer reduced to the named fields."""

    class Part(shape):  # type: ignore[valid-type,misc]  # a base that is known at run time only
        def get_fields(self) -> dict[str, s.Field]:
            fields = super().get_fields()
            return {name: fields[name] for name in names}

    return Part


FactPart = only(shapes.FactShape, *FACT.field_names(Use.TOOL_ANSWER))
# For writers, who have the text already; it may be long.
KeptPart = only(shapes.FactShape, *FACT.field_names(Use.TOOL_BRIEF))
VersionPart = only(shapes.VersionShape, "version", "fact_text", "status", "updated_at", "deleted")
ObservationPart = only(capture_shapes.ObservationShape, *OBSERVATION.field_names(Use.TOOL_ANSWER))
EdgePart = only(capture_shapes.RelationShape, *RELATION.field_names(Use.TOOL_ANSWER))
BranchPart = only(branch_shapes.BranchShape, *BRANCH.field_names(Use.TOOL_ANSWER))
SessionPart = only(capture_shapes.SessionShape, *SESSION.field_names(Use.TOOL_ANSWER))

fact = build_renderer(FactPart)
kept = build_renderer(KeptPart)
version = build_renderer(VersionPart)
_observation = build_renderer(ObservationPart)
edge = build_renderer(EdgePart)
_branch = build_renderer(BranchPart, "parent")
session = build_renderer(SessionPart)


OBSERVATION_ROW = schema(ObservationPart)
OBSERVATION_ROW["properties"]["repository"] = {"type": "string", "description": "Where it was observed."}


class LineShape(s.Serializer):
    """Fact in an index."""

    id = s.UUIDField()
    line = s.CharField()
    date = s.CharField(help_text="When it was stored.")
    status = s.CharField(help_text="Its life and its verdict: active, verified; plausible is a guess.")
    repository = s.CharField(required=False, help_text="Where it was learned; missing where unknown.")


class KnownLineShape(LineShape):
    """Fact in an index of what is known."""

    replaced_by = s.UUIDField(
        required=False, help_text="A newer statement of a person that took its place; missing where none did."
    )


def lines(rows: Iterable[Fact], repositories: Iterable[str]) -> list[dict[str, str]]:
    """Return an index of facts; ``repositories`` says where each was learned."""
    return [line(row) | named_repository(name) for row, name in zip(rows, repositories, strict=True)]


def named_repository(name: str) -> dict[str, str]:
    return {"repository": name} if name else {}


def line(row: Fact) -> dict[str, str]:
    return {
        "id": str(row.uid),
        "line": one_line(row.essence),
        "date": row.created_at.date().isoformat(),
        "status": f"{row.status}, {row.verification_status}",
    }


def observation(row: Any) -> dict[str, Any]:
    return {**_observation(row), "summary": short(row.summary)}


def branch(row: Any) -> dict[str, Any]:
    return _branch(row, parent=row.parent.name if row.parent else None)


def graph(found: Graph, limit: int) -> dict[str, Any]:
    """Return the nearest edges, and the nodes at their ends."""
    edges = found.edges[:limit]
    named = {found.entity} | {end for one in edges for end in (one.source_entity, one.target_entity)}
    nodes = [{"entity": n.entity, "distance": n.distance} for n in found.nodes if n.entity in named]
    truncated = found.truncated or len(edges) < len(found.edges)
    return {"entity": found.entity, "nodes": nodes, "edges": [edge(e) for e in edges], "truncated": truncated}


# ---- budgets ---------------------------------------------------------------------------------------


def within(rows: Sequence[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    """Return the first rows that fit the token budget, counted on their JSON."""
    kept, spent = [], 0
    for row in rows:
        spent += cost(row)
        if spent > budget:
            break
        kept.append(row)
    return kept


def cost(row: Any) -> int:
    """Estimate the tokens of a row: no fewer than those of OpenAI's o200k, but for random letters."""
    packed = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    foreign = len(packed.encode("utf-8", "replace")) - len(packed.encode("ascii", "ignore"))
    return len(TOKEN.findall(packed)) + foreign // 3


def fit_answer(answer: dict[str, Any], rest: str) -> dict[str, Any]:
    """Return an answer within the budget: long texts are cut, then long lists; ``cut`` names the lists, and
    ``rest`` says how to go on.
    """
    if fits(answer):
        return answer
    for length, rows in STEPS:
        lists: dict[str, str] = {}
        trimmed = trim_value(answer, length, rows, lists) | {"cut": {"rest": rest, **lists}}
        if fits(trimmed):
            break
    return trimmed


def fits(value: Any, budget: int = ANSWER_TOKENS) -> bool:
    packed = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(packed) <= budget * 8 and cost(value) <= budget


def trim_value(value: Any, length: int, rows: int, lists: dict[str, str], name: str = "") -> Any:
    """Return a value with its texts and lists cut; how much of the lists is left goes into ``lists``."""
    if isinstance(value, str):
        return cut_text(value, length)
    if not isinstance(value, list | dict):
        return value
    most = rows if isinstance(value, list) else max(rows, MIN_FIELDS)
    if len(value) > most:
        lists[name] = f"{most} of {len(value)}"
    if isinstance(value, list):
        return [trim_value(one, length, rows, lists, name) for one in value[:most]]
    fields = islice(value.items(), most)
    return {cut_text(key, length): trim_value(one, length, rows, lists, key) for key, one in fields}


def cut_text(text: str, length: int) -> str:
    """Return the begin of a long text, with how long it is."""
    return text if len(text) <= length else f"{text[:length]}… ({length} of {len(text)} characters)"


def fit_page(paging: Mapping[str, Any], read: Callable[..., dict[str, Any]], name: str) -> dict[str, Any]:
    """Return what ``read`` answers for a page, of fewer rows where these do not fit, so that its cursor is
    right. ``name`` is that of the rows in the answer.
    """
    answer = read(**paging)
    while len(rows := answer[name]) > 1 and not fits(answer):
        budget = ANSWER_TOKENS - cost({**answer, name: []})
        answer = read(**{**paging, "limit": max(1, min(len(rows) - 1, len(within(rows, budget))))})
    return answer


def one_line(text: str) -> str:
    return " ".join(text.split())


def short(text: str, max_length: int = MAX_TEXT_LENGTH) -> str:
    """Return a text as one line, with a mark where it was cut."""
    return cut_line(text, max_length)


def names(rows: Iterable[dict[str, Any]], maximum: int = 3) -> str:
    """Return the first ids as a JSON list, for the next call."""
    return json.dumps([row["id"] for row, _ in zip(rows, range(maximum), strict=False)])
