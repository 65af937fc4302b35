"""JSON in the answers of language models, which may have words around it."""

import json
from collections.abc import Iterator
from typing import Any

MAX_OBJECTS = 50  # that are tried in an answer


def iterate_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text that are not inside of one another."""
    return (value for _source, value in iterate_sources(text))


def iterate_sources(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each JSON object in a text with the text that it stands for."""
    decoder, position, left = json.JSONDecoder(parse_constant=refuse_constant), 0, MAX_OBJECTS
    while (position := text.find("{", position)) >= 0 and left:
        left -= 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
        else:
            yield text[position:end], value
            position = end


def refuse_constant(name: str) -> float:
    raise ValueError(name)  # NaN and Infinity are no JSON
