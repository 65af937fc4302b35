"""``python -m clients.generate_python``: write the generated part of clients/python from docs/openapi.yaml.

The types, a file of methods for each noun, and a class for each code of an error. A test holds that the files
are what this writes, and that each method takes what its operation takes.
"""

import json
import keyword
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any

from clients.openapi import (
    DEFAULTS,
    ROOT,
    Operation,
    Parameter,
    class_name,
    find_bases,
    load_codes,
    load_operations,
    load_schemas,
    name_error,
    name_of,
    takes_default,
)

PACKAGE = ROOT / "clients" / "python" / "src" / "day1_client"
WIDTH = 110
MAX_VALUES = 30  # of an enumeration that is written out: what is longer grows with each release
MADE = "Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Types:
    """The Python types of schemas; enumerations get names as they are met."""

    def __init__(self) -> None:
        self.enums: dict[str, tuple[str, ...]] = {}
        self.inputs: set[str] = set()  # types that callers make, which may hold dates
        self.outputs: set[str] = set()

    def write(self, schema: dict[str, Any], name: str, *, is_input: bool) -> str:
        """Return the annotation of a schema; ``name`` names an enumeration of its own."""
        if reference := name_of(schema):
            (self.inputs if is_input else self.outputs).add(reference)
            return f"t.{reference}"
        if "allOf" in schema:
            return self.write(schema["allOf"][0], name, is_input=is_input)
        if "oneOf" in schema:
            parts = [self.write(one, name, is_input=is_input) for one in schema["oneOf"]]
            return " | ".join(dict.fromkeys(parts))
        if "anyOf" in schema:
            return "t.At" if is_input else "int | str"
        kinds = schema.get("type", "any")
        if not isinstance(kinds, list):
            return self._write_kind(kinds, schema, name, is_input)
        if len(kinds) > 2:
            return "Any"
        kind = self._write_kind(kinds[0], schema, name, is_input)
        return f"{kind} | None"

    def _write_kind(self, kind: str, schema: dict[str, Any], name: str, is_input: bool) -> str:
        if "enum" in schema and kind == "string":
            return self._name_enum(name, list_values(schema, keeps_empty=not is_input))
        if kind == "array":
            row = self.write(schema.get("items", {}), name, is_input=is_input)
            return f"Sequence[{row}]" if is_input else f"list[{row}]"
        if kind == "object":
            values = schema.get("additionalProperties", {}) or {}
            value = self.write(values if isinstance(values, dict) else {}, name, is_input=is_input)
            return f"{'Mapping' if is_input else 'dict'}[str, {value}]"
        if kind == "string" and schema.get("format") == "date-time" and is_input:
            return "t.When"
        return PLAIN.get(kind, "Any")

    def _name_enum(self, name: str, values: tuple[str, ...]) -> str:
        """Return the name of an enumeration; where others of its name are more common it is written out."""
        camel = class_name(name)
        if len(values) > MAX_VALUES:
            return "str"
        if common_enums()[camel] != values:
            return f"Literal{json.dumps(values)}"
        camel += "Value" if camel in load_schemas() else ""
        self.enums[camel] = values
        return f"t.{camel}"


def list_values(schema: dict[str, Any], *, keeps_empty: bool) -> tuple[str, ...]:
    """Return the values of an enumeration; a caller leaves a value out rather than saying an empty one."""
    return tuple(one for one in schema["enum"] if one or (keeps_empty and one is not None))


@cache
def common_enums() -> dict[str, tuple[str, ...]]:
    """Return the most common values of the enumerations of each name."""
    counted: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for one in load_operations():
        for parameter in one.parameters:
            counted.update(walk_enums(parameter.name, parameter.schema))
    for schema in load_schemas().values():
        for name, field in schema["properties"].items():
            counted.update(walk_enums(name, field))
    return {name: values for (name, values), _ in reversed(counted.most_common())}


def walk_enums(name: str, schema: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if "enum" in schema and "string" in schema.get("type", ""):
        yield class_name(name), list_values(schema, keeps_empty=False)
    for inner in (schema.get("items"), schema.get("additionalProperties"), *schema.get("oneOf", ())):
        if isinstance(inner, dict):
            yield from walk_enums(name, inner)


def python_name(parameter: str) -> str:
    name = parameter.lower().replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def write_parameter(parameter: Parameter, types: Types) -> str:
    """Return a parameter as a signature has it: None is not sent, NULL is sent as null."""
    kind = types.write(parameter.schema, parameter.name, is_input=True)
    if parameter.where == "query" and kind.startswith("Sequence["):
        kind = f"{kind.removeprefix('Sequence[').removesuffix(']')} | {kind}"
    if parameter.required:
        return f"{python_name(parameter.name)}: {kind}"
    if kind.endswith(" | None"):
        kind = f"{kind.removesuffix(' | None')} | Null"
    default = " = None" if kind == "Any" else " | None = None"
    return f"{python_name(parameter.name)}: {kind}{default}"


def write_answer(operation: Operation, types: Types) -> str:
    kinds = [types.write(one, operation.name, is_input=False) if one else "None" for one in operation.answers]
    if operation.id == "ingest_hook_create":
        return "Any"  # what the program of the event takes, if anything
    answer = " | ".join(sorted(dict.fromkeys(kinds), key=lambda kind: kind == "None"))
    if operation.streams:
        return f"Iterator[{answer}]"
    if operation.is_paged:
        return f"Page[{types.write(operation.row, 'row', is_input=False)}, {answer}]"
    return answer


def write_options(operation: Operation) -> str:
    """Return what the call of an operation says beside its values."""
    found = operation.parameters
    plain = [one.name for one in found if one.name in DEFAULTS and not takes_default(one, operation)]
    in_query = [one.name for one in operation.query if operation.method in ("post", "patch", "put")]
    nulls = [one.name for one in found if one.required and "null" in one.schema.get("type", ())]
    options = {"query": in_query, "plain": plain, "nulls": nulls}
    return "".join(f', {name}="{" ".join(values)}"' for name, values in options.items() if values)


def write_method(operation: Operation, types: Types) -> str:
    required = [write_parameter(one, types) for one in operation.parameters if one.required]
    optional = [write_parameter(one, types) for one in operation.parameters if not one.required]
    words = ["self", *required, *(["*", *optional] if optional else [])]
    answer = write_answer(operation, types)
    call = "_page" if operation.is_paged else "_follow" if operation.streams else "_send"
    name = python_name(operation.name)
    address = f"{operation.method.upper()} {operation.path}"
    body = f'return self.{call}("{operation.group}.{name}", "{address}", locals(){write_options(operation)})'
    return "\n".join(
        [*write_signature(name, words, answer), f'        """{operation.summary}."""', f"        {body}"]
    )


def write_signature(name: str, words: list[str], answer: str) -> list[str]:
    line = f"    def {name}({', '.join(words)}) -> {answer}:"
    if len(line) <= WIDTH:
        return [line]
    text = textwrap.fill(
        ", ".join(word.replace(" ", "\0") if len(word) < WIDTH // 2 else word for word in words) + ",",
        WIDTH,
        initial_indent=" " * 8,
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [f"    def {name}(", text.replace("\0", " "), f"    ) -> {answer}:"]


def write_group(group: str, operations: list[Operation], types: Types) -> str:
    """Return the file of one noun: each signature once, and the same methods to be awaited."""
    name = class_name(group)
    methods = "\n\n".join(write_method(one, types) for one in operations)
    awaited = "\n".join(
        f"    {python_name(one.name)} = {awaiting(one)}({name}.{python_name(one.name)})" for one in operations
    )
    code = f'class {name}(Group):\n    """The operations of {group}."""\n\n{methods}\n\n\n'
    code += (
        f'class Async{name}(AsyncGroup):\n    """The operations of {group}, to be awaited."""\n\n{awaited}\n'
    )
    return f'"""{MADE}"""\n\n{write_imports(code)}\n\n\n{code}'


def awaiting(operation: Operation) -> str:
    return "pages" if operation.is_paged else "streams" if operation.streams else "awaits"


def write_imports(code: str) -> str:
    """Return the imports of a noun's file; types are for checkers alone, since they take long to make."""
    abstract = [name for name in ("Iterator", "Mapping", "Sequence") if re.search(rf"\b{name}\[", code)]
    typing = [name for name in ("Any", "Literal") if re.search(rf"\b{name}\b", code)]
    groups = [
        "AsyncGroup",
        "Group",
        *(name for name in ("awaits", "pages", "streams") if f"= {name}(" in code),
    ]
    lines = ["from __future__ import annotations", "", "from typing import TYPE_CHECKING", ""]
    lines += [f"from day1_client.groups import {', '.join(groups)}", "", "if TYPE_CHECKING:"]
    lines += [f"    from collections.abc import {', '.join(abstract)}"] if abstract else []
    lines += [f"    from typing import {', '.join(typing)}"] if typing else []
    lines += ["    from day1_client import types as t"]
    lines += ["    from day1_client.pages import Page"] if "Page[" in code else []
    lines += ["    from day1_client.values import Null"] if re.search(r"\bNull\b", code) else []
    return "\n".join(lines)


def write_index(groups: list[str]) -> str:
    """Return the package of operations: a property for each noun."""
    imports = [
        f"from day1_client.operations.{one} import Async{class_name(one)}, {class_name(one)}"
        for one in groups
    ]
    lines = [
        f'"""{MADE}"""',
        "",
        "from __future__ import annotations",
        "",
        "from functools import cached_property",
        "",
    ]
    lines += [*imports, "from day1_client.sending import AsyncSender, Sender"]
    for prefix, many in (("", "Operations"), ("Async", "AsyncOperations")):
        lines += [
            "",
            "",
            f"class {many}:",
            '    """A group of methods for each noun."""',
            "",
            f"    sender: {prefix}Sender",
        ]
        for one in groups:
            kind = f"{prefix}{class_name(one)}"
            lines += [
                "",
                "    @cached_property",
                f"    def {one}(self) -> {kind}:",
                f"        return {kind}(self.sender)",
            ]
    return "\n".join(lines) + "\n"


def write_types(types: Types) -> str:
    """Return the module of types: enumerations, then each schema that no signature spells out."""
    schemas = load_schemas()
    bodies = {name_of(one.body) for one in load_operations() if one.body}
    wrapped = {name_of(one["allOf"][0]) for op in load_operations() for one in op.answers if "allOf" in one}
    kept = [name for name in schemas if name not in bodies - types.inputs - types.outputs]
    rows = {name: list_rows(schemas[name], types, name in types.inputs) for name in sorted(kept)}
    for name in wrapped:
        rows[name] += rows["Redaction"]
    bases = find_bases({name: set(one) for name, one in rows.items()})
    classes = "\n\n".join(write_class(name, rows, bases[name]) for name in place_bases_first(bases))
    enums = "\n".join(write_enum(name, values) for name, values in sorted(types.enums.items()))
    head = [f'"""{MADE}"""', "", "from __future__ import annotations", "", "import sys"]
    head += ["from collections.abc import Mapping, Sequence", "from datetime import datetime"]
    head += ["from typing import Any, Literal, TypedDict, Union", "", "if sys.version_info >= (3, 11):"]
    head += [
        "    from typing import NotRequired",
        "else:",
        "    from typing_extensions import NotRequired",
        "",
    ]
    head += ["When = Union[str, datetime]", "At = Union[int, str, datetime]", ""]
    return "\n".join(head) + enums + "\n\n" + re.sub(r"\bt\.(?=[A-Z])", "", classes)


def place_bases_first(bases: dict[str, list[str]]) -> list[str]:
    """Return the names of types in their order, but each behind those that it extends."""
    names = [one for name, extended in bases.items() for one in (*place_above(extended, bases), name)]
    return list(dict.fromkeys(names))


def place_above(names: list[str], bases: dict[str, list[str]]) -> list[str]:
    return [one for name in names for one in (*place_above(bases[name], bases), name)]


def write_enum(name: str, values: tuple[str, ...]) -> str:
    text = f"{name} = Literal{json.dumps(values)}"
    lines = textwrap.wrap(
        text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines)


Rows = list[tuple[str, str]]  # names of fields, and their types


def list_rows(schema: dict[str, Any], types: Types, is_input: bool) -> Rows:
    required = schema.get("required", ())
    kinds = {field: types.write(one, field, is_input=is_input) for field, one in schema["properties"].items()}
    return [(name, kind if name in required else f"NotRequired[{kind}]") for name, kind in kinds.items()]


def write_class(name: str, rows: dict[str, Rows], bases: list[str]) -> str:
    if any(keyword.iskeyword(field) for field, _ in rows[name]):
        return write_with_keywords(name, rows[name])
    own = [row for row in rows[name] if not any(row in rows[base] for base in bases)]
    told = load_schemas()[name].get("description", "").split("\n")[0]
    lines = [f"class {name}({', '.join(bases) or 'TypedDict'}):"]
    lines += [f'    """{told}"""', *([""] if own else [])] if told else []
    lines += [f"    {field}: {kind}" for field, kind in own] or ([] if told else ["    pass"])
    return "\n".join(lines) + "\n"


def write_with_keywords(name: str, rows: Rows) -> str:
    """Return a type with a field that is a word of Python: it cannot be written as a class."""
    quoted = [(field, kind.replace('"', "'")) for field, kind in rows]
    fields = "\n".join(f'        "{field}": "{kind}",' for field, kind in quoted)
    return f'{name} = TypedDict(\n    "{name}",\n    {{\n{fields}\n    }},\n)\n'


def write_errors() -> str:
    lines = [
        f'"""{MADE.replace("openapi.yaml", "api.md")}"""',
        "",
        "from day1_client.errors import Day1Error",
    ]
    names = {code: name_error(code) for code, _, _ in load_codes()}
    for code, status, when in load_codes():
        told = textwrap.wrap(f"{status}: {when.replace('`', '').rstrip('.')}.", WIDTH - 4)
        lines += [
            "",
            "",
            f"class {names[code]}(Day1Error):",
            f'    """{told[0]}',
            *(f"    {line}" for line in told[1:]),
        ]
        lines[-1:] = [f'{lines[-1]}"""'] if len(told) == 1 else [lines[-1], '    """']
        lines += ["", f'    code = "{code}"']
    lines += ["", "", "BY_CODE: dict[str, type[Day1Error]] = {"]
    lines += [f'    "{code}": {name},' for code, name in names.items()]
    return "\n".join([*lines, "}"]) + "\n"


def write_all() -> dict[str, str]:
    """Return the generated files of the package by name."""
    types = Types()
    files = {"codes.py": write_errors()}
    groups = {group: list(found) for group, found in groupby(load_operations(), key=lambda one: one.group)}
    for group, operations in groups.items():
        files[f"operations/{group}.py"] = write_group(group, operations, types)
    files["operations/__init__.py"] = write_index(list(groups))
    known = -1
    while known != len(types.inputs):  # a type that callers make may hold others
        known = len(types.inputs)
        files["types.py"] = write_types(types)
    return files


def list_stale(written: dict[str, str]) -> list[str]:
    """Return the names of generated files that are of no noun any more."""
    names = (f"operations/{file.name}" for file in (PACKAGE / "operations").glob("*.py"))
    return [name for name in names if name not in written]


def main() -> None:
    written = write_all()
    for name in list_stale(written):
        (PACKAGE / name).unlink()
    for name, text in written.items():
        (PACKAGE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
