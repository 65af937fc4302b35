"""The Python client has every operation of OpenAPI, with its parameters and types, and nothing else."""

import inspect
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

import pytest

from clients import generate_python
from clients.openapi import Operation, Parameter, load_codes, load_operations, load_schemas, name_of
from day1site import __version__

pytest.importorskip("httpx", reason="httpx is not installed")

from day1_client import codes, groups, operations, pages, version
from day1_client import types as t
from day1_client.values import Null

NAMES = {**vars(typing), "t": t, "Page": pages.Page, "Null": Null}  # which a checker alone imports

KINDS = {"string": str, "integer": int, "number": float, "boolean": bool}


def find_groups() -> dict[str, type[groups.Group]]:
    """Return the groups of the client by name."""
    return {
        name: typing.get_type_hints(one.func)["return"]
        for name, one in vars(operations.Operations).items()
        if hasattr(one, "func")
    }


def list_methods(group: type) -> set[str]:
    return {name for name in vars(group) if not name.startswith("_")}


def method_of(operation: Operation) -> Any:
    return getattr(find_groups()[operation.group], generate_python.python_name(operation.name))


def test_the_files_are_what_the_generator_writes_now() -> None:
    written = generate_python.write_all()
    stale = [
        name
        for name, text in written.items()
        if not (generate_python.PACKAGE / name).exists()
        or (generate_python.PACKAGE / name).read_text(encoding="utf-8") != text
    ]
    assert (stale, generate_python.list_stale(written)) == ([], []), "run python -m clients.generate_python"


def test_every_operation_has_one_method_and_every_method_is_one() -> None:
    told = [(one.group, generate_python.python_name(one.name)) for one in load_operations()]
    has = [(name, method) for name, group in find_groups().items() for method in list_methods(group)]
    assert (len(told), sorted(told)) == (len(set(told)), sorted(has))


def test_what_waits_and_what_is_awaited_have_the_same_methods() -> None:
    for name, group in find_groups().items():
        awaited = typing.get_type_hints(vars(operations.AsyncOperations)[name].func)["return"]
        assert {one: vars(awaited)[one] for one in list_methods(awaited)} == {
            one: vars(group)[one] for one in list_methods(group)
        }


def test_a_method_takes_what_its_operation_takes() -> None:
    for operation in load_operations():
        told = {generate_python.python_name(one.name): one.required for one in operation.parameters}
        taken = dict(list(inspect.signature(method_of(operation)).parameters.items())[1:])
        assert {name: one.default is inspect.Parameter.empty for name, one in taken.items()} == told, (
            operation.id
        )


def test_a_parameter_has_the_type_of_its_schema() -> None:
    for operation in load_operations():
        hints = typing.get_type_hints(method_of(operation), NAMES)
        for one in operation.parameters:
            hint = hints[generate_python.python_name(one.name)]
            assert wrong_types(hint, one) == [], (operation.id, one.name)


def wrong_types(hint: Any, parameter: Parameter) -> list[str]:
    """Return in which ways a hint is not the type that a parameter's schema says."""
    accepted, schema = set(walk_hint(hint)), parameter.schema
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if len(kinds) > 2 or (not kinds and "anyOf" not in schema and "$ref" not in schema):
        return [] if Any in accepted or "oneOf" in schema else ["it is not any JSON"]
    wrong = [kind for kind in kinds if kind in KINDS and KINDS[kind] not in accepted]
    wrong += [] if parameter.required or type(None) in accepted else ["it must be given"]
    wrong += [] if ("null" in kinds) == (Null in accepted) or parameter.required else ["null"]
    wrong += [] if kinds != ["array"] or typing.get_origin(sequence_of(hint)) else ["no sequence"]
    named = name_of(schema)
    return wrong + ([] if not named or getattr(t, named) in accepted else [named])


def sequence_of(hint: Any) -> Any:
    arguments = [hint, *typing.get_args(hint)]
    return next((one for one in arguments if "Sequence" in str(typing.get_origin(one))), None)


def walk_hint(hint: Any) -> Iterator[Any]:
    """Yield the types that a hint is made of; an enumeration is a text."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        yield str
    elif origin in (typing.Union, types.UnionType):
        for one in typing.get_args(hint):
            yield from walk_hint(one)
    else:
        yield hint


def test_an_answer_has_the_fields_of_its_schema() -> None:
    for name, schema in load_schemas().items():
        if (kind := getattr(t, name, None)) is not None:
            has = kind.__required_keys__ | kind.__optional_keys__
            assert has - {"redacted_fields"} == set(schema["properties"]) - {"redacted_fields"}, name


def test_each_answer_is_typed() -> None:
    for operation in load_operations():
        told = {name_of(one.get("allOf", [one])[0]) for one in operation.answers}
        hint = str(typing.get_type_hints(method_of(operation), NAMES)["return"])
        named = set(re.findall(r"day1_client\.types\.(\w+)", hint))
        assert told - {""} <= named or operation.id == "ingest_hook_create", operation.id


def test_each_code_has_its_class() -> None:
    told = {code: kind.code for code, kind in codes.BY_CODE.items()}
    assert told == {code: code for code, _, _ in load_codes()}
    assert len(set(codes.BY_CODE.values())) == len(told)


def test_the_version_is_that_of_the_server() -> None:
    assert version.__version__ == __version__


def test_what_a_search_takes_is_what_the_server_takes() -> None:
    for name in ("facts_search_retrieve", "facts_explain_retrieve"):  # a list may be about several
        [search] = [one for one in load_operations() if one.id == name]
        kinds = {
            one.name: one.schema["type"] for one in search.parameters if one.name in ("user_id", "app_id")
        }
        assert kinds == {"user_id": "string", "app_id": "string"}
    assert "metadata" in load_schemas()["RememberedMessageInput"]["properties"]
