"""OpenAPI's words for what was redacted in a write."""

from typing import Any

from memory.api.base import REDACTED_FIELDS

Schema = dict[str, Any]
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
