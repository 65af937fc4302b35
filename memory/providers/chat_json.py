"""JSON in the answers of language models, which may have words around it."""

import json
from collections.abc import Iterator
from typing import Any

MAX_OBJECTS = 50  # that are tried in an answer


def iterate_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text that are not inside of one another."""
    decoder, position, left = json.JSONDecoder(parse_constant=refuse_constant), 0, MAX_OBJECTS
    while (position := text.find("{", position)) >= 0 and left:
        left -= 1
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
        else:
            yield value


def refuse_constant(name: str) -> float:
    raise ValueError(name)  # NaN and Infinity are no JSON
