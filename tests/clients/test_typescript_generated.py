"""The TypeScript client has every operation of OpenAPI; its package names no host and no other version."""

import json
import re

from clients import generate_typescript
from clients.openapi import load_codes, load_operations, load_schemas
from day1site import __version__

PACKAGE = generate_typescript.GENERATED.parent.parent
CLASS = re.compile(r"^export class (\w+)Group extends Group {$(.*?)^}$", re.MULTILINE | re.DOTALL)
INTERFACE = re.compile(r"^export interface (\w+)(?: extends ([\w, ]+))? {$(.*?)^}$", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r'^  (?:/\*\* .* \*/ )?"?([^":? ]+)"?(\??): ', re.MULTILINE)
METHOD = re.compile(r"^  (\w+)\(.*\{$", re.MULTILINE)


def read_json(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((PACKAGE / name).read_text(encoding="utf-8"))
    return found


def test_the_files_are_what_the_generator_writes_now() -> None:
    written = generate_typescript.write_all()
    stale = [path.name for path, text in written.items() if path.read_text(encoding="utf-8") != text]
    unknown = [path.name for path in generate_typescript.GENERATED.iterdir() if path not in written]
    assert (stale, unknown) == ([], [])


def test_every_operation_has_one_method_and_every_method_is_one() -> None:
    text = (generate_typescript.GENERATED / "operations.ts").read_text(encoding="utf-8")
    has = [(group, name) for group, body in CLASS.findall(text) for name in METHOD.findall(body)]
    told = [
        (generate_typescript.pascal(one.group), generate_typescript.camel(one.name))
        for one in load_operations()
    ]
    assert (len(told), sorted(told)) == (len(set(told)), sorted(has))
    for one in load_operations():
        assert f"`{one.method.upper()} {one.path}`. */" in text


def test_a_type_has_the_fields_of_its_schema() -> None:
    text = (generate_typescript.GENERATED / "schemas.ts").read_text(encoding="utf-8")
    types = {name: (bases, FIELD.findall(body)) for name, bases, body in INTERFACE.findall(text)}

    def fields_of(name: str) -> list[tuple[str, str]]:
        bases, own = types[name]
        return own + [one for base in filter(None, bases.split(", ")) for one in fields_of(base)]

    for name, schema in load_schemas().items():
        required = schema.get("required", ())
        told = [(field, "" if field in required else "?") for field in schema["properties"]]
        assert sorted(fields_of(name)) == sorted(told), name


def test_each_code_has_its_class() -> None:
    text = (generate_typescript.GENERATED / "codes.ts").read_text(encoding="utf-8")
    classes = {generate_typescript.name_error(code): code for code, _, _ in load_codes()}
    assert set(re.findall(r"^export class (\w+) extends", text, re.MULTILINE)) == set(classes)


def test_the_version_is_that_of_the_server() -> None:
    assert {read_json(name)["version"] for name in ("package.json", "package-lock.json")} == {__version__}


def test_the_lock_names_no_host() -> None:
    packages = read_json("package-lock.json")["packages"]
    assert isinstance(packages, dict)
    assert [name for name, one in packages.items() if "resolved" in one] == []
    assert all("integrity" in one for name, one in packages.items() if name)


def test_the_core_needs_no_node() -> None:
    for path in (PACKAGE / "src").rglob("*.ts"):
        assert not re.search(r"""["']node:|require\(""", path.read_text(encoding="utf-8")), path.name


def test_files_are_small() -> None:
    sizes = {
        path.name: len(path.read_text(encoding="utf-8").splitlines())
        for folder in ("src", "tests")
        for path in (PACKAGE / folder).rglob("*.ts")
        if path.parent != generate_typescript.GENERATED
    }
    assert {name: size for name, size in sizes.items() if size > 400} == {}
