"""What the API's document says of a route, and where an answer is another."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from memory.api.pages import get_schema

Schema = dict[str, Any]


@cache
def list_operations() -> dict[tuple[str, str], Schema]:
    """Return the operations by method and path, with parts of the path as {}."""
    paths = get_schema()["paths"].items()
    return {
        (method.upper(), re.sub(r"{\w+}", "{}", path.removeprefix("/api/v1"))): operation
        for path, methods in paths
        for method, operation in methods.items()
    }


def find_operation(method: str, path: str) -> Schema:
    """Return what the document says of a route, whatever it calls the parts of its path."""
    return list_operations()[method, re.sub(r"{\w+}", "{}", path)]


def find_faults(method: str, path: str, answer: Any) -> list[str]:
    """Return where a success is not what the document says: its status, media type, types and names."""
    responses = find_operation(method, path)["responses"]
    content = responses.get(str(answer.status_code), {"content": {"": {}}}).get("content", {})
    kind = answer.get("Content-Type", "").partition(";")[0]
    if kind not in (content or {"": {}}):
        return [f"{answer.status_code} {kind} is not documented"]
    if not kind.endswith("json"):
        return []
    schema = {**content[kind]["schema"], "components": get_schema()["components"]}
    wrong = Draft202012Validator(schema).iter_errors(answer.json())
    unnamed = list_unnamed(answer.json(), schema)
    return [f"{error.json_path}: {error.message}" for error in wrong] + [
        f"{name} has no name" for name in unnamed
    ]


def list_unnamed(value: Any, schema: Schema, place: str = "$") -> Iterator[str]:
    """Yield the places of values whose name the document does not have."""
    parts = list(list_parts(schema))
    if isinstance(value, list):
        items = [part["items"] for part in parts if "items" in part]
        for one in value:
            yield from list_unnamed(one, {"anyOf": items}, f"{place}[]")
    elif isinstance(value, dict) and not any(is_open(part) for part in parts):
        for name, one in value.items():
            named = [part["properties"][name] for part in parts if name in part.get("properties", {})]
            if named:
                yield from list_unnamed(one, {"anyOf": named}, f"{place}.{name}")
            else:
                yield f"{place}.{name}"


def list_parts(schema: Schema) -> Iterator[Schema]:
    """Yield a schema, what it refers to and what it is made of."""
    yield schema
    if "$ref" in schema:
        yield from list_parts(get_schema()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word, ()):
            yield from list_parts(part)


def is_open(part: Schema) -> bool:
    """Return whether a schema takes any name: it says so, or says nothing of an object."""
    if "additionalProperties" in part:
        return part["additionalProperties"] is not False
    return part == {} or (part.get("type") == "object" and "properties" not in part)
