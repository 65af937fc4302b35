"""A noun is five files, found by where they are: CONTRIBUTING's "add a noun", done to a copy of the project.
A sixth tells agents of it.

The files are in tests/site/noun: terms, words and what they mean.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.site.project_copy import ProjectCopy, name_next_migration

pytestmark = pytest.mark.slow

NOUN = Path(__file__).with_name("noun")
MAX_FILES, TOOLS = 5, "day1site/mcp/tools/terms.py"
MADE_BY_COMMANDS = {name_next_migration("term"), "day1site/cli/fields.json", "day1site/cli/operations.json"}
WORDS = "What it means here, up to 300 characters."
REFUSAL = "meaning has at most 300 characters."
MEANING = "A line of work."
TOO_LONG = "x" * 301


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    copy = ProjectCopy(tmp_path_factory.mktemp("code"))
    shutil.copytree(NOUN, copy.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    copy.write_derived_files("term")
    return copy


@pytest.fixture(scope="module")
def answers(project: ProjectCopy) -> dict[str, Any]:
    word = {"name": "x", "meaning": TOO_LONG}
    steps = {
        "rest": ("rest", "POST", "/terms", {"name": "branch", "meaning": MEANING}),
        "rest refused": ("rest", "POST", "/terms", word),
        "mcp": ("mcp", "term_write", {"name": "commit", "meaning": "A change."}),
        "mcp refused": ("mcp", "term_write", word),
        "cli": ("cli", "terms", "create", "fact", "--meaning", "A statement."),
        "cli refused": ("cli", "terms", "create", "x", "--meaning", TOO_LONG),
        "page": ("page", "/p/default/terms", {"name": "key", "meaning": "A token."}),
        "page refused": ("page", "/admin/p/default/terms", word),
        "rest list": ("rest", "GET", "/terms"),
        "mcp list": ("mcp", "term_list", {}),
        "cli list": ("cli", "terms"),
        "rest some": ("rest", "GET", "/terms?starting=com"),
        "mcp some": ("mcp", "term_list", {"starting": "com"}),
        "cli some": ("cli", "terms", "list", "--starting", "com"),
        "rest unknown": ("rest", "GET", "/terms?begins=com"),
        "shape": ("shape", "TermInput"),
        "tool": ("tool", "term_write"),
        "list tool": ("tool", "term_list"),
        "list help": ("cli", "terms", "list", "--help"),
        "help": ("cli", "terms", "create", "--help"),
        "commands": ("cli", "--help"),
    }
    return project.call(steps)


def test_a_noun_is_at_most_five_files(project: ProjectCopy) -> None:
    changed = project.list_changes()
    written = {str(file.relative_to(NOUN)) for file in NOUN.rglob("*.py")}
    assert changed == written | MADE_BY_COMMANDS
    assert len(written - {TOOLS}) <= MAX_FILES


@pytest.mark.parametrize("surface", ["rest", "mcp", "cli"])
def test_what_one_surface_writes_every_other_reads(answers: dict[str, Any], surface: str) -> None:
    assert [answers[name][0] for name in ("rest", "mcp", "cli", "page")] == [201, 200, 0, 200]
    assert answers[f"{surface} list"][0] in (0, 200)
    listed = str(answers[f"{surface} list"][1])
    for meaning in (MEANING, "A change.", "A statement.", "A token."):
        assert meaning in listed
        assert meaning in answers["page"][1]


def test_each_surface_says_what_the_field_is(answers: dict[str, Any]) -> None:
    meaning = {"type": "string", "minLength": 1, "maxLength": 300, "description": WORDS}
    assert answers["shape"][1]["properties"]["meaning"] == meaning
    assert sorted(answers["shape"][1]["required"]) == ["meaning", "name"]
    assert answers["tool"][1]["properties"]["meaning"] == {"type": "string", "description": WORDS}
    assert f"--meaning TEXT  {WORDS[0].lower()}{WORDS[1:-1]}" in answers["help"][1]
    assert "  terms              write and list terms\n" in answers["commands"][1]
    assert WORDS in answers["page"][1]
    assert 'name="meaning" dir="auto" maxlength="300"' in answers["page"][1]
    assert "<th>Meaning</th>" in answers["page"][1]


@pytest.mark.parametrize(("surface", "status"), [("rest", 400), ("mcp", 400), ("cli", 1), ("page", 400)])
def test_each_surface_refuses_a_bad_value(answers: dict[str, Any], surface: str, status: int) -> None:
    got, text = answers[f"{surface} refused"]
    assert got == status
    assert REFUSAL.partition(" ")[2] in str(text)
    assert TOO_LONG not in str(answers["rest list"][1])


def test_a_parameter_stands_in_the_signature_alone(answers: dict[str, Any]) -> None:
    assert [file.name for file in NOUN.rglob("*.py") if "starting" in file.read_text()] == ["terms.py"]
    for surface in ("rest", "mcp", "cli"):
        assert answers[f"{surface} some"][0] in (0, 200)
        assert "A change." in str(answers[f"{surface} some"][1])
        assert MEANING not in str(answers[f"{surface} some"][1])
    assert answers["rest unknown"][0] == 400
    assert answers["list tool"][1]["properties"]["starting"]["description"] == "Terms that begin so."
    assert "--starting TEXT  Terms that begin so." in answers["list help"][1]
