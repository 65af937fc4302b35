"""Model fields whose storage differs from Django's own."""

import json
from collections.abc import Sequence
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

if TYPE_CHECKING:  # in Python they contain lists, objects and arrays, unlike the column

    class _Text(models.TextField[Any, Any]):
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

    class _Bytes(models.BinaryField[Any, Any]):
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

else:
    _Text, _Bytes = models.TextField, models.BinaryField


class RowIdField(models.BigIntegerField):
    """The 64-bit primary key of a version. On SQLite it is the rowid itself, which saves one B-tree."""

    def get_internal_type(self) -> str:
        return "RowIdField"


class JSONTextField(_Text):
    """JSON stored as text: a branch diff of the production database cannot return its JSON type."""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        if value == "[]":  # as most lists and objects are
            return []
        if value == "{}":
            return {}
        try:
            found = None if value is None else json.loads(value)
        except (ValueError, TypeError):
            return connection.replace_damaged("JSON that is none", self.get_default())
        default = self.get_default()
        if found is None or default is None or type(found) is type(default):
            return found
        return connection.replace_damaged("JSON of another kind", default)

    def to_python(self, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else dumps(value)

    def value_to_string(self, obj: models.Model) -> str:
        return dumps(self.value_from_object(obj))


class VectorField(_Bytes):
    """A float32 vector of shape (d,), stored as little-endian bytes; None when missing."""

    def from_db_value(self, value: bytes | None, expression: Any, connection: Any) -> np.ndarray | None:
        return None if value is None else np.frombuffer(value, dtype="<f4")

    def get_prep_value(self, value: np.ndarray | None) -> bytes | None:
        return None if value is None else np.asarray(value, dtype="<f4").tobytes()


# What values of these columns are read as. Those of the others are converted, which finds what is none.
PLAIN: dict[type[models.Field], type] = {
    models.BooleanField: bool,
    models.IntegerField: int,
    models.FloatField: float,
    models.CharField: str,
    models.TextField: str,
}


def replace_strange(field: models.Field, values: Sequence[Any], connection: Any) -> Sequence[Any]:
    """Return values of a column; of those that are none of it what stands for them.

    SQLite stores a text in a column of numbers, too. Raises DamageFound where nothing may stand for it.
    """
    kind = find_plain_type(field)
    if kind is None or {kind, NoneType}.issuperset(map(type, values)):
        return values
    label = f"no {kind.__name__} in {field.name}"
    return [
        value if type(value) in (kind, NoneType) else connection.replace_damaged(label, kind())
        for value in values
    ]


@cache
def find_plain_type(field: models.Field) -> type | None:
    if isinstance(field, JSONTextField):
        return None
    return next((kind for of, kind in PLAIN.items() if isinstance(field, of)), None)


def dumps(value: Any) -> str:
    """Return compact JSON with sorted keys, so that equal values are equal texts."""
    return _ENCODER.encode(value)


# Made once: json.dumps would make another for each value.
_ENCODER = DjangoJSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
