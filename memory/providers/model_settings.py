"""Settings of an embedding model in a file: a small JSON file beside it, ``model.json`` for ``model.onnx``.

{"query_prefix": "query: ", "passage_prefix": "passage: ", "floor": 0.7, "dimensions": 384}
"""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

MAX_PREFIX_LENGTH = 200  # characters
ONNX_START = b"\x08"  # the first field of every ONNX file is its version


@dataclass(frozen=True)
class ModelSettings:
    """What a model wants before a query and before a text, the cosine that unrelated texts have, and the
    length of its vectors where it is to be checked.
    """

    query_prefix: str = ""
    passage_prefix: str = ""
    floor: float = 0.0
    dimensions: int = 0


def read_model_settings(model: Path) -> ModelSettings:
    """Return the settings beside a model; the defaults without a file. Raises ImproperlyConfigured."""
    path = model.with_suffix(".json")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ModelSettings()
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"{path} cannot be read: {error}.") from None
    if not isinstance(content, dict):
        raise ImproperlyConfigured(f"{path} is no object with settings of the model.")
    known = {field.name for field in fields(ModelSettings)}
    if unknown := content.keys() - known:
        raise ImproperlyConfigured(f"{path} knows {', '.join(sorted(known))}, not {min(unknown)}.")
    for name, value in content.items():
        if not is_setting(name, value):
            raise ImproperlyConfigured(f"{path}: {name} cannot be {value!r}.")
    return ModelSettings(**content)


def is_setting(name: str, value: Any) -> bool:
    """Return whether a setting may have this value."""
    if isinstance(value, bool):
        return False
    match name:
        case "floor":
            return isinstance(value, int | float) and 0 <= value < 1
        case "dimensions":
            return isinstance(value, int) and value >= 0 and value % 8 == 0
        case _:
            return isinstance(value, str) and len(value) <= MAX_PREFIX_LENGTH


def check_model_file(path: Path) -> None:
    """Raise ImproperlyConfigured for a file that cannot be an ONNX model."""
    try:
        with path.open("rb") as file:
            start = file.read(1)
    except OSError as error:
        raise ImproperlyConfigured(f"{path} cannot be read: {error.strerror}.") from None
    if start != ONNX_START:
        raise ImproperlyConfigured(f"{path} is no ONNX model.")
