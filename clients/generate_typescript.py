"""``python -m clients.generate_typescript``: write the generated part of clients/typescript anew.

The types and the methods of each noun come from docs/openapi.yaml, a class for each code of an error from
docs/api.md. A test holds that the files are what this writes.
"""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from clients.openapi import (
    DEFAULTS,
    ROOT,
    Operation,
    Parameter,
    find_bases,
    load_codes,
    load_operations,
    load_schemas,
    name_error,
    name_of,
    takes_default,
)

GENERATED = ROOT / "clients" / "typescript" / "src" / "generated"
HEAD = "// Written by `python -m clients.generate_typescript`; do not edit.\n\n"
PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def camel(name: str) -> str:
    return re.sub("[-_](.)", lambda found: found[1].upper(), name)


def pascal(name: str) -> str:
    return camel(f"_{name}")


# ---- types -----------------------------------------------------------------------------------------


def write_type(schema: dict[str, Any], space: str = "") -> str:
    """Return a schema as a type. ``space`` goes before the types of the file of schemas."""
    if "$ref" in schema:
        return space + schema["$ref"].rpartition("/")[2]
    for word, sign in (("allOf", " & "), ("oneOf", " | "), ("anyOf", " | ")):
        if word in schema:
            return sign.join(dict.fromkeys(bracket(write_type(one, space), sign) for one in schema[word]))
    if "enum" in schema:
        return " | ".join(dict.fromkeys(map(write_literal, schema["enum"])))
    if "const" in schema:
        return write_literal(schema["const"])
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return " | ".join(dict.fromkeys(write_kind(kind, schema, space) for kind in kinds)) or "unknown"


def write_kind(kind: str, schema: dict[str, Any], space: str) -> str:
    if kind == "array":
        return bracket(write_type(schema.get("items", {}), space), "[]") + "[]"
    if kind != "object":
        return PLAIN[kind]
    if "properties" in schema:
        return "{ " + " ".join(write_fields(schema, space)) + " }"
    extra = schema.get("additionalProperties", {})
    return f"Record<string, {write_type(extra, space) if isinstance(extra, dict) else 'unknown'}>"


def write_literal(value: Any) -> str:
    return quote(value)


def quote(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def bracket(text: str, sign: str) -> str:
    return f"({text})" if sign != " | " and " | " in text and not text.startswith(("{", "Record<")) else text


def write_fields(schema: dict[str, Any], space: str = "") -> Iterator[str]:
    required = set(schema.get("required", []))
    for name, one in schema["properties"].items():
        yield write_note(one) + write_field(name, name in required, one, space)


def write_field(name: str, required: bool, schema: dict[str, Any], space: str) -> str:
    key = name if name.isidentifier() else quote(name)
    return f"{key}{'' if required else '?'}: {write_type(schema, space)};"


def write_note(schema: dict[str, Any], indent: str = "") -> str:
    """Return a description as a comment before what it describes."""
    text = " ".join(schema.get("description", "").split()).replace("*/", "*\\/")
    return f"/** {text} */{indent or ' '}" if text else ""


def write_schemas() -> str:
    schemas = load_schemas()
    fields = {name: list(write_fields(schema)) for name, schema in sorted(schemas.items())}
    bases = find_bases({name: set(rows) for name, rows in fields.items()})
    return HEAD + "\n".join(write_interface(name, fields, bases[name]) for name in fields)


def write_interface(name: str, fields: dict[str, list[str]], bases: list[str]) -> str:
    own = [row for row in fields[name] if not any(row in fields[base] for base in bases)]
    above = f" extends {', '.join(bases)}" if bases else ""
    rows = "".join(f"  {row}\n" for row in own)
    return f"{write_note(load_schemas()[name], chr(10))}export interface {name}{above} {{\n{rows}}}\n"


# ---- methods ---------------------------------------------------------------------------------------


def write_answer(operation: Operation) -> str:
    types = [write_type(one, "s.") if one else "void" for one in operation.answers]
    return " | ".join(dict.fromkeys(types))


def write_query(parameters: list[Parameter]) -> str:
    fields = [
        write_note(vars(one)) + write_field(one.name, one.required, one.schema, "s.") for one in parameters
    ]
    return f"{{ {' '.join(fields)} }}"


def is_apart(operation: Operation) -> bool:
    """Tell whether body and query are two arguments: they share a name, or the body is no plain object."""
    fields = load_schemas().get(name_of(operation.body or {}), {}).get("properties")
    return fields is None or any(one.name in fields for one in operation.query)


def write_arguments(operation: Operation) -> tuple[list[str], str]:
    """Return the arguments after those of the path, and what is sent of them."""
    query = operation.query
    if operation.body and is_apart(operation):
        body = f"body: {write_type(operation.body, 's.')}"
        return [body, f"params: {write_query(query)} = {{}}"], "params, body"
    types = [write_type(operation.body, "s.")] if operation.body else []
    types += [write_query(query)] if query else []
    if not types:
        return [], "{}"
    needed = any(one.required and one.where in ("body", "query") for one in operation.parameters)
    return [f"params: {' & '.join(types)}{'' if needed else ' = {}'}"], "params"


def write_spec(operation: Operation, path: str) -> str:
    """Return what a method tells of its operation."""
    named = {one.name: one for one in operation.parameters}
    fills = [one for one in DEFAULTS if one in named and takes_default(named[one], operation)]
    lists = {
        "query": [one.name for one in operation.query] if operation.body else [],
        "fills": fills,
    }
    parts = [f'method: "{operation.method.upper()}"', f"path: {path}"]
    parts += ["keyed: true"] if "Idempotency-Key" in named else []
    parts += ["session: true"] if "Day1-Session" in named else []
    parts += ["empty: true"] if {} in operation.answers else []
    parts += [f"{name}: [{', '.join(map(quote, values))}]" for name, values in lists.items() if values]
    return f"{{ {', '.join(parts)} }}"


def write_method(operation: Operation) -> str:
    if operation.streams:
        answer = f"AsyncGenerator<{write_answer(operation)}>"
        return write_function(operation, "options: EventOptions = {}", answer, "this.stream(options)")
    names = [camel(name) for name in re.findall(r"{(\w+)}", operation.path)]
    path = re.sub(r"{(\w+)}", lambda found: f"${{{camel(found[1])}}}", operation.path)
    arguments, sent = write_arguments(operation)
    places = [f"{name}: string | number" for name in names]
    signature = ", ".join([*places, *arguments, "options: Options = {}"])
    in_pages = operation.is_paged or operation.id == "facts_search_create"  # each leads on by a cursor
    kind = f"Pages<{write_type(operation.row, 's.')}, {write_answer(operation)}>" if in_pages else ""
    spec = write_spec(operation, f"at`{path}`" if names else quote(path))
    call = f"this.{'pages' if in_pages else 'call'}({spec}, options, {sent})"
    return write_function(operation, signature, kind or f"Promise<{write_answer(operation)}>", call)


def write_function(operation: Operation, signature: str, answer: str, call: str) -> str:
    note = f"  /** {operation.summary}: `{operation.method.upper()} {operation.path}`. */\n"
    return f"{note}  {camel(operation.name)}({signature}): {answer} {{\n    return {call};\n  }}\n"


def write_operations() -> str:
    groups = {name: list(found) for name, found in groupby(load_operations(), key=lambda one: one.group)}
    parts = [
        HEAD,
        'import type { EventOptions } from "../events.js";\n',
        'import { at, Group, type Options, type Pages, type Sender } from "../group.js";\n',
        'import type { Defaults } from "../group.js";\nimport type { Transport } from "../transport.js";\n',
        'import type * as s from "./schemas.js";\n\n',
    ]
    for name, operations in groups.items():
        methods = "\n".join(map(write_method, operations))
        parts.append(f"export class {pascal(name)}Group extends Group {{\n{methods}}}\n\n")
    own = "  abstract readonly transport: Transport;\n  abstract readonly defaults: Defaults;\n"
    fields = "".join(f"  readonly {camel(name)} = new {pascal(name)}Group(this);\n" for name in groups)
    note = "/** Every operation of the API, grouped by noun. */\n"
    parts.append(f"{note}export abstract class Operations implements Sender {{\n{own}{fields}}}\n")
    return "".join(parts)


# ---- errors ----------------------------------------------------------------------------------------


def write_codes() -> str:
    """Return a class for each code of an error, and the classes by code."""
    parts = [HEAD, 'import { Day1Error } from "../problem.js";\n\n']
    codes = load_codes()
    for code, status, when in codes:
        name = name_error(code)
        parts.append(f"/** {status}: {when} */\nexport class {name} extends Day1Error {{\n")
        parts.append(f'  override name = "{name}";\n}}\n')
    rows = "".join(f"  {code}: {name_error(code)},\n" for code, _, _ in codes)
    return "".join([*parts, f"\nexport const CODES: Record<string, typeof Day1Error> = {{\n{rows}}};\n"])


def read_version() -> str:
    text = (ROOT / "day1site" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'__version__ = "(.+)"', text)[0]


def write_all() -> dict[Path, str]:
    """Return the text of each generated file."""
    version = f"{HEAD}export const VERSION = {quote(read_version())};\n"
    texts = {
        "schemas": write_schemas(),
        "operations": write_operations(),
        "codes": write_codes(),
        "version": version,
    }
    return {GENERATED / f"{name}.ts": text for name, text in texts.items()}


def main() -> None:
    for path, text in write_all().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
