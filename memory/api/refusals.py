"""Errors that any route may return, for OpenAPI: response name and meaning by status."""

from typing import Any

from rest_framework import serializers as s

from memory.answers.problems import ProblemShape

Schema = dict[str, Any]
REFUSALS = {
    "400": ("Invalid", "The input is not valid: invalid, unknown_field, reserved_value, query_too_long."),
    "401": ("Unauthenticated", "No key, or one that opens nothing: unauthenticated."),
    "403": (
        "Forbidden",
        "The key may not do this: scope_missing, branch_forbidden. Or the project is full: quota_exceeded.",
    ),
    "404": ("NotFound", "Nothing is visible here under this name or id: not_found."),
    "405": ("MethodNotAllowed", "The address does not know the method: method_not_allowed."),
    "408": ("TooSlow", "The body did not arrive in time: too_slow."),
    "409": (
        "Conflict",
        "It does not fit what is stored: exists, illegal_transition, branch_archived, direct_writes_refused,"
        " conflict.",
    ),
    "412": ("Stale", "The fact has changed since it was read: stale_version."),
    "413": ("TooLarge", "Past a limit: too_large."),
    "415": ("NotJSON", "The body is not JSON: unsupported_media_type."),
    "429": ("RateLimited", "Too many requests of this key: rate_limited. Retry-After says when."),
    "503": ("Unavailable", "The server has too much to do: unavailable. Retry-After says when."),
}
WITHOUT_BODY = {"408", "409", "412", "413", "415"}  # never the answer of a GET


def build_refusal(text: str) -> Schema:
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {"description": text, "content": {"application/problem+json": problem}}


def build_problem_schema() -> Schema:
    """Return the schema of ProblemShape, which no route names."""
    fields = ProblemShape().get_fields()
    kinds: dict[type, Schema] = {s.IntegerField: {"type": "integer"}, s.DictField: {"type": "object"}}
    properties = {
        name: {
            **kinds.get(type(field), {"type": "string"}),
            **({"description": field.help_text} if field.help_text else {}),
        }
        for name, field in fields.items()
    }
    needed = [name for name, field in fields.items() if field.required]
    about = ProblemShape.__doc__
    return {"type": "object", "description": about, "properties": properties, "required": needed}
