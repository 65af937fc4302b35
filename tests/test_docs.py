"""The docs cover what a newcomer can meet, and describe only what exists."""

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from django.core.management import get_commands
from django.urls import Resolver404, resolve
from drf_spectacular.generators import SchemaGenerator

from day1site.celery import SCHEDULE
from memory import exceptions
from memory.actors import SCOPES
from memory.conf import Conf
from memory.engines.facts import rules
from memory.engines.search.ranked import INCLUDE
from memory.limits import LIMITS
from memory.models import Fact
from memory.queue import producer
from memory.ranking import RECIPES
from tests.site.cli_words import parse_words, walk_commands

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += [page for page in [ROOT / "bench" / "README.md"] if page.exists()]
CODE = ["manage.py", "day1site", "memory", "conversations", "curation", "analytics"]
VARIABLE = r"(?:DAY1|OPENAI|DATABASE|DJANGO)_[A-Z0-9_]+"
MAX_GUIDE_LINES = 150
NO_SETTING = {"DJANGO_ALLOW_ASYNC_UNSAFE"}  # Django's own, for tests


@cache
def page(name: str) -> str:
    return (ROOT / name).read_text()


def rows(name: str) -> list[str]:
    """Return the table rows of a page."""
    return [line for line in page(name).splitlines() if line.startswith("|")]


def spoken(text: str) -> set[str]:
    """Return all inline code of a text."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))


def blocks(text: str, language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return "\n".join(found).replace("\\\n", " ")


# ---- errors, routes --------------------------------------------------------------------------------


def codes() -> set[str]:
    kinds = [kind for kind in vars(exceptions).values() if isinstance(kind, type)]
    found = {kind.code for kind in kinds if issubclass(kind, exceptions.Day1Error)}
    for file in [*(ROOT / "memory" / "api").glob("*.py"), ROOT / "day1site" / "error_views.py"]:
        found |= set(re.findall(r"problem\(\s*\d{3}, \"(\w+)\"", file.read_text()))
    return found


def test_every_error_code_is_explained() -> None:
    told = {row.split("`")[1] for row in rows("docs/api.md") if row.startswith("| `")}
    assert codes() - told == set()


def test_the_guide_explains_no_code_that_is_gone() -> None:
    told = re.findall(r"^\| `(\w+)` \| \d{3} \|", page("docs/api.md"), re.MULTILINE)
    source = "".join(file.read_text() for file in sources("memory", "day1site"))
    assert [code for code in told if f'"{code}"' not in source] == []


def routes() -> list[tuple[str, str]]:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    prefix = "/api/v1"
    return sorted((method.upper(), path.removeprefix(prefix)) for path in paths for method in paths[path])


def named(row: str) -> set[tuple[str, str]]:
    """Return the routes of a row such as: `GET` `POST /facts` · `GET /facts/{id}`."""
    found, methods = set(), []
    for words in re.findall(r"`([^`]+)`", row.split("|")[1]):
        method, _, path = words.partition(" ")
        methods.append(method)
        if path:
            found |= {(one, path) for one in methods}
            methods = []
    return found


def test_every_route_is_in_the_guide_and_no_other() -> None:
    start = page("docs/api.md").index("## Routes")
    table = page("docs/api.md")[start:].split("\n## ")[0].splitlines()
    told = {route for row in table if row.startswith("| `") for route in named(row)}
    assert told == set(routes())


# ---- the command line ------------------------------------------------------------------------------


def test_every_command_is_in_the_guide() -> None:
    """Look for a row that begins with it, or with another command of its group."""
    cells = [row.split("|")[1] for row in rows("docs/cli.md")]
    commands = [" ".join(path) for path, _ in walk_commands() if path]
    assert [command for command in commands if not is_told(command, cells)] == []


def is_told(command: str, cells: list[str]) -> bool:
    group, _, name = command.partition(" ")
    of_group = " ".join(cell for cell in cells if re.search(rf"`{group}\b", cell))
    return bool(re.search(rf"`(?:{group} )?{name or group}\b", of_group))


def shown() -> list[list[str]]:
    """Return every command line of day1 and manage.py in the docs' examples, as words."""
    found = []
    for file in PAGES:
        text = file.read_text()
        for line in (blocks(text, "sh") + "\n" + blocks(text, "console")).splitlines():
            line = re.sub(r"\$\(date [^)]*\)", "2026-05-01", line.removeprefix("$ "))  # as a shell does
            if re.match(r"(python3 manage\.py|\.venv/bin/day1|day1) [a-z]", line):
                found.append(shlex.split(line, comments=True))
    return found


def test_every_command_that_is_shown_exists() -> None:
    assert [words for words in shown() if not exists(words)] == []


def exists(words: list[str]) -> bool:
    if words[0] == "python3":
        words = words[1:]
        if words[1] not in get_commands():
            return False
    if words[0] == "manage.py" and words[1] != "day1":
        return True
    with suppress(click.ClickException):
        return bool(parse_words(words[2:] if words[0] == "manage.py" else words[1:]))
    return False


def test_every_address_that_the_front_page_shows_exists() -> None:
    text = page("README.md")
    asked = re.findall(r"\$DAY1(/[^\s\"?]+)", blocks(text, "sh"))
    asked = [f"/api/v1{path}" for path in asked] + re.findall(r"<http://127\.0\.0\.1:8765(/[^>]*)>", text)
    assert len(asked) > 5
    for path in asked:
        try:
            resolve(path)
        except Resolver404:
            pytest.fail(f"README.md shows {path}, which is no address")


# ---- settings --------------------------------------------------------------------------------------


def sources(*names: str) -> Iterator[Path]:
    for name in names:
        yield from [ROOT / name] if name.endswith(".py") else sorted((ROOT / name).rglob("*.py"))


@cache
def variables() -> set[str]:
    """Return the names of environment variables that the code has between quotes."""
    texts = (file.read_text() for file in sources(*CODE))
    return {name for text in texts for name in re.findall(rf"""["']({VARIABLE})["']""", text)} - NO_SETTING


@pytest.mark.slow
def test_every_environment_variable_is_in_the_docs() -> None:
    assert "DAY1_DATA_DIR" in variables()
    told = spoken(page("docs/settings.md")) | spoken(page("docs/development.md"))
    assert variables() - told == set()


@pytest.mark.slow
def test_the_docs_name_no_variable_that_nobody_reads() -> None:
    told = {word for file in PAGES for word in re.findall(rf"\b{VARIABLE}\b", file.read_text())}
    assert told - variables() == set()


def test_the_page_of_settings_has_the_defaults_of_the_variables() -> None:
    """Compare those that are plain values in the settings."""
    text = page("day1site/settings/base.py") + page("day1site/settings/dev.py")
    read = re.findall(r'env\.\w+\("(\w+)", ("[^"]+"|[0-9.]+)[,)]', text)
    assert len(read) > 5
    for name, default in read:
        row = next(row for row in rows("docs/settings.md") if f"`{name}`" in row)
        assert f"`{default.strip(chr(34)).removesuffix('.0')}`" in row.split("|")[2]


def test_every_setting_is_in_the_docs_with_its_default() -> None:
    for field in fields(Conf):
        row = next(row for row in rows("docs/operations.md") if row.startswith(f"| `{field.name}` |"))
        default = getattr(Conf(), field.name)
        if isinstance(default, dict):
            assert all(f"`{name}`" in row for name in default)
        else:
            assert f"`{default}`" in row if default != "" else "empty" in row


# ---- words of the product --------------------------------------------------------------------------


def test_every_recipe_is_in_the_docs_with_its_weights() -> None:
    for name, recipe in RECIPES.items():
        row = next(row for row in rows("docs/retrieval.md") if row.startswith(f"| `{name}` |"))
        weights = [str(weight) if weight else "–" for weight in (recipe.keyword, recipe.vector, recipe.words)]
        assert [cell.strip() for cell in row.split("|")[2:5]] == weights


def test_the_scopes_are_in_the_docs_in_their_order() -> None:
    told = re.findall(r"^\| `(\w+)` \|", page("docs/security.md"), re.MULTILINE)
    assert told == list(SCOPES)


def test_every_task_is_in_the_docs_with_its_time() -> None:
    for name, when, _ in SCHEDULE:
        row = next(row for row in rows("docs/operations.md") if row.startswith(f"| `{name}` |"))
        assert row.split("|")[2].strip() == say_when(when)
    assert spoken(page("docs/operations.md")) >= producer.NAMES


def say_when(when: Any) -> str:
    if isinstance(when, tuple):
        day = {"sun": "Sunday "}[when[2]] if len(when) > 2 else ""
        return "{}{:02}:{:02} UTC".format(day, *when)
    return f"{when:.0f} s" if when < 3600 else f"{when / 3600:.0f} h"


def test_every_system_check_is_in_the_docs() -> None:
    made = set(re.findall(r"\bday1\.[EW]\d{3}\b", page("memory/checks.py")))
    assert made
    assert made <= spoken(page("docs/operations.md"))


def test_the_life_of_a_fact_is_told_as_it_is() -> None:
    told = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", page("docs/concepts.md"), re.MULTILINE)
    moves = {(str(old), str(new)) for old, some in rules.STATUS_CHANGES.items() for new in some}
    assert set(told) == moves


def test_what_a_search_leaves_out_is_told() -> None:
    words = spoken(page("docs/concepts.md"))
    assert {*INCLUDE, *Fact.Kind.values, *Fact.Status.values} <= words


# ---- the pages themselves --------------------------------------------------------------------------


def anchors(file: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    heads = re.findall(
        r"^#+ (.+)$", re.sub(r"```.*?```", "", file.read_text(), flags=re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_link_leads_somewhere() -> None:
    assert [
        (str(file), link) for file in PAGES for link in list_links(file) if leads_nowhere(file, link)
    ] == []


def list_links(file: Path) -> list[str]:
    links = re.findall(r"\]\(([^)\s]+)\)", file.read_text())
    return [link for link in links if not link.startswith(("https://", "http://", "mailto:"))]


def leads_nowhere(file: Path, link: str) -> bool:
    target, _, anchor = link.partition("#")
    there = (file.parent / target).resolve() if target else file
    return not there.exists() or bool(anchor and anchor not in anchors(there))


def test_every_page_is_in_the_index() -> None:
    index = page("docs/README.md")
    for file in (ROOT / "docs").rglob("*.md"):
        name = str(file.relative_to(ROOT / "docs"))
        assert name == "README.md" or f"]({name})" in index


def test_every_fragment_of_the_changelog_has_a_known_type() -> None:
    known = tomllib.loads(page("pyproject.toml"))["tool"]["towncrier"]["type"]
    types = "|".join(row["directory"] for row in known)
    names = {file.name for file in (ROOT / "changes").iterdir()} - {"README.md"}
    assert [name for name in names if not re.fullmatch(rf"(\d+|\+[\w-]+)\.({types})\.md", name)] == []


def test_the_first_release_is_told_in_some_twenty_capabilities() -> None:
    (section,) = re.findall(r"^## \[0\.1\.0\].*?(?=^## |\Z)", page("CHANGELOG.md"), re.DOTALL | re.MULTILINE)
    lines = re.findall(r"^- \*\*", section, re.MULTILINE)
    assert 18 <= len(lines) <= 25
    assert "### Fixed" not in section  # nobody had what a repair before the first release mended


def test_the_pictures_are_small_and_shown() -> None:
    text = "".join(file.read_text() for file in PAGES)
    for file in (ROOT / "docs" / "images").iterdir():
        assert f"images/{file.name}" in text
        assert file.stat().st_size < 150_000


def test_the_docs_know_no_machine() -> None:
    """Forbid folders of the machine on which they were written."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    found = []
    for name in listed.stdout.splitlines():
        file = ROOT / name
        if not file.is_file() or file.suffix in (".png", ".onnx", ".lock"):
            continue
        text = file.read_bytes().decode(errors="replace")
        found += [(name, match) for match in re.findall(r"(?<![\w.}])/(?:work|tmp|root|home)/\w+", text)]
    assert found == []


def test_the_guide_of_the_code_is_three_screens() -> None:
    assert len(page("docs/development.md").splitlines()) <= MAX_GUIDE_LINES


def test_the_guide_of_the_code_names_what_is_there() -> None:
    folders = [*CODE, "tests"]
    files = {str(file.relative_to(ROOT)) for name in folders for file in (ROOT / name).rglob("*.py")}
    code = "\n".join((ROOT / file).read_text() for file in files)
    names = spoken(page("docs/development.md"))
    paths = [name for name in names if re.fullmatch(r"[\w/]+\.py", name)]
    assert [path for path in paths if not any(f"/{file}".endswith(f"/{path}") for file in files)] == []
    words = [name.split(".")[-1] for name in names if re.fullmatch(r"[\w.]*(?:_[a-z]|[a-z][A-Z])\w*", name)]
    assert [word for word in words if not re.search(rf"\b{word}\b", code)] == []


def test_the_words_of_a_user_are_few() -> None:
    first = page("docs/concepts.md").split("## In full")[0]
    assert 15 <= len(re.findall(r"^\| \*\*[\w ]+\*\* \|", first, re.MULTILINE)) <= 20


def test_every_limit_is_in_the_docs_with_its_window_and_default() -> None:
    table = "\n".join(rows("docs/operations.md"))
    for one in LIMITS.values():
        row = next(line for line in table.splitlines() if line.startswith("| `") and f"`{one.name}`" in line)
        cells = [cell.strip() for cell in row.split("|")]
        assert cells[3] == one.window
        assert str(one.default or "none") in cells[4]
        assert (one.setting if one.setting != "quota" else "DAY1_QUOTA") in cells[5] or "limits" in cells[5]
