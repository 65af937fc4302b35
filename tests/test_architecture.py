"""The shape of the code: who may import whom, who knows the database, how long things are."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent
APPS = ("memory", "conversations", "curation", "analytics", "day1site")
FILES = [
    file
    for app in APPS
    for file in sorted((ROOT / app).rglob("*.py"))
    if "migrations" not in file.parts  # written by Django
]
ALL = [
    *FILES,
    ROOT / "manage.py",
    *sorted((ROOT / "bench").rglob("*.py")),
    *sorted((ROOT / "tests").rglob("*.py")),
]

# Words that only a database backend may say, and who else does, and why.
VENDOR = re.compile(r"\b(PRAGMA|MATCH|AGAINST|bm25|sqlite_\w+|rowid|fts5)\b")
DRIVERS = {"sqlite3", "MySQLdb", "pymysql", "apsw"}
BACKENDS = ("memory/db/sqlite/", "memory/db/matrixone/")
MAY_SAY = {
    "day1site/settings/paths.py",  # options of the connection
}
MAY_IMPORT = {
    "day1site/cli/command_line.py",  # tells the store's trouble from a defect
}


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def outside() -> list[Path]:
    """Code that must not know which database it is on."""
    return [file for file in FILES if not name(file).startswith(BACKENDS)]


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def texts(file: Path) -> Iterator[str]:
    """The texts in the code, without the docstrings: those may explain."""
    explained = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr):
                explained.add(first.value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in explained:
            yield node.value


def functions() -> list[tuple[int, str]]:
    found = []
    for file in FILES:
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append(((node.end_lineno or 0) - node.lineno + 1, f"{name(file)}: {node.name}"))
    return sorted(found)


def test_the_import_contracts_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True) == 0


def test_only_the_backend_speaks_its_language() -> None:
    found = [
        (name(file), text.strip()[:60])
        for file in outside()
        if name(file) not in MAY_SAY
        for text in texts(file)
        if VENDOR.search(text)
    ]
    assert found == []


def test_only_the_backend_imports_a_driver() -> None:
    found = {
        name(file) for file in outside() if DRIVERS & {module.split(".")[0] for module in imported(file)}
    }
    assert found <= MAY_IMPORT


def test_nobody_but_the_settings_names_a_backend() -> None:
    """Others reach it through the connection."""
    found = {
        name(file)
        for file in outside()
        if any(m.startswith(("memory.db.sqlite", "memory.db.matrixone")) for m in imported(file))
    }
    assert found == set()


def test_no_code_asks_which_database_it_is_on() -> None:
    asking = [name(file) for file in outside() if re.search(r"\.vendor\b", file.read_text())]
    assert asking == []


def test_functions_are_small() -> None:
    found = functions()
    sizes = [size for size, _ in found]
    assert median(sizes) <= 9
    assert sizes[int(len(sizes) * 0.9)] <= 30
    assert [where for size, where in found if size > 50] == []


def test_files_are_small() -> None:
    long = [(name(file), len(file.read_text().splitlines())) for file in FILES]
    assert [(file, lines) for file, lines in long if lines > 400] == []


def test_nothing_is_left_for_later() -> None:
    later = re.compile(r"\b(?:TODO|FIXME|X{3})\b")
    here = Path(__file__)
    assert [name(file) for file in ALL if file != here and later.search(file.read_text())] == []
