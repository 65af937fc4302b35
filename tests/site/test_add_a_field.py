"""A field is its column, its migration, its declaration and its glossary, and a filter by it is one line:
CONTRIBUTING's "add a field" and "add a filter", done to a copy of the project.
"""

import re
from typing import Any

import pytest

from tests.site.project_copy import ProjectCopy, name_next_migration

pytestmark = pytest.mark.slow

MODEL = "memory/models/facts.py"
DECLARATION = "memory/engines/fields/facts.py"
GLOSSARY = "docs/concepts.md"
MIGRATION = name_next_migration("fact_mood")
MADE_BY_COMMANDS = {"day1site/cli/fields.json", "day1site/cli/operations.json"}
ADDED = {
    MODEL: (
        '    category = models.CharField(max_length=100, default="general")\n',
        '    mood = models.CharField(max_length=30, blank=True, default="")\n',
    ),
    DECLARATION: (
        '    Field("embedding_state"',
        '    Field("mood", Text(30), "How it was said.", label="Mood"),\n',
    ),
    GLOSSARY: ("**Essence.**", "**Mood.** How a fact was said: at most 30 characters.\n\n"),
}
FILTERS = "memory/engines/fields/fact_filters.py"
FILTER = """    any_of(
        FACT["mood"], "Facts of one of these moods.", tools=True, option=Option("one of these moods")
    ),
"""
TEXT = "Deploys run from main."
TOO_LONG = "x" * 31
REFUSAL = "has at most 30 characters."


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    copy = ProjectCopy(tmp_path_factory.mktemp("code"))
    for name, (place, line) in ADDED.items():
        copy.replace(name, place, line + place)
    copy.replace(DECLARATION, "    tags: list[str]\n", "    tags: list[str]\n    mood: str\n")
    copy.replace(FILTERS, '    any_of(FACT["priority"]', FILTER + '    any_of(FACT["priority"]')
    copy.write_derived_files("fact_mood")
    return copy


@pytest.fixture(scope="module")
def answers(project: ProjectCopy) -> dict[str, Any]:
    bad = {"fact_text": "Bad.", "mood": TOO_LONG}
    steps = {
        "rest": ("rest", "POST", "/facts", {"fact_text": TEXT, "mood": "calm"}),
        "rest refused": ("rest", "POST", "/facts", bad),
        "page": ("edit", "/p/default/facts/ROW_ID/edit", {"mood": "glad"}),
        "page refused": ("edit", "/admin/p/default/facts/ROW_ID/edit", {"mood": TOO_LONG}),
        "read": ("rest", "GET", "/facts/ROW_ID"),
        "mcp": ("mcp", "memory_write", {"fact_text": "Tests run twice.", "mood": "sure"}),
        "mcp refused": ("mcp", "memory_write", bad),
        "cli": ("cli", "write-fact", "Tea is green.", "--mood", "sunny"),
        "cli refused": ("cli", "write-fact", "Bad.", "--mood", TOO_LONG),
        "cli shown": ("cli", "facts", "show", "ROW_ID"),
        "help": ("cli", "write-fact", "--help"),
        "lines": ("lines", "good", {"fact_text": "Imported.", "mood": "grave"}),
        "lines refused": ("lines", "bad", bad),
        "request": ("shape", "FactInput"),
        "answer": ("shape", "Fact"),
        "tool": ("tool", "memory_write"),
        "rest filtered": ("rest", "GET", "/facts?mood=glad,grave"),
        "search filtered": (
            "rest",
            "POST",
            "/facts/search",
            {"query": "deploys tests tea", "mood": ["sure"]},
        ),
        "mcp filtered": ("mcp", "memory_search", {"query": "deploys tests tea", "mood": ["sunny"]}),
        "cli filtered": ("cli", "facts", "--mood", "sunny"),
        "page filtered": ("page", "/p/default/facts?mood=grave"),
        "filter refused": ("rest", "GET", "/facts?moods=glad"),
        "filter help": ("cli", "facts", "list", "--help"),
        "filter tool": ("tool", "memory_search"),
    }
    return project.call(steps)


def test_a_field_is_four_files(project: ProjectCopy) -> None:
    assert project.list_changes() - {FILTERS} == {MODEL, DECLARATION, GLOSSARY, MIGRATION} | MADE_BY_COMMANDS


def test_each_surface_writes_the_field(answers: dict[str, Any]) -> None:
    assert [answers[name][0] for name in ("rest", "page", "mcp", "cli", "lines")] == [201, 200, 200, 0, 0]
    assert answers["rest"][1]["mood"] == "calm"
    assert answers["read"][1]["mood"] == "glad"  # as the page's form changed it
    assert "glad" in answers["cli shown"][1]
    for mood in ("glad", "sure", "sunny", "grave"):
        assert f'"mood": "{mood}"' in answers["lines"][1]


def test_each_surface_says_what_the_field_is(answers: dict[str, Any]) -> None:
    words = {"type": "string", "description": "How it was said."}
    assert answers["request"][1]["properties"]["mood"] == {**words, "maxLength": 30}
    assert answers["answer"][1]["properties"]["mood"] == {"type": "string"}
    assert answers["tool"][1]["properties"]["mood"] == words
    assert "  --mood TEXT         How it was said.\n" in answers["help"][1]
    assert re.search(r'<input [^>]*name="mood"[^>]* maxlength="30"', answers["page"][1])
    assert ">Mood</label>" in answers["page"][1]


@pytest.mark.parametrize(
    ("surface", "status"), [("rest", 400), ("mcp", 400), ("cli", 1), ("page", 400), ("lines", 1)]
)
def test_each_surface_refuses_a_bad_value(answers: dict[str, Any], surface: str, status: int) -> None:
    got, text = answers[f"{surface} refused"]
    assert got == status
    assert REFUSAL in str(text)
    assert TOO_LONG not in answers["lines refused"][1]


def test_a_filter_is_a_line_of_one_file(answers: dict[str, Any]) -> None:
    texts = {TEXT, "Tests run twice.", "Tea is green.", "Imported."}
    for surface, found in {
        "rest": {TEXT, "Imported."},
        "search": {"Tests run twice."},
        "mcp": {"Tea is green."},
        "cli": {"Tea is green."},
        "page": {"Imported."},
    }.items():
        status, shown = answers[f"{surface} filtered"]
        assert status in (0, 200), (surface, shown)
        assert {text for text in texts if text in str(shown)} == found, surface
    assert answers["filter refused"][0] == 400
    assert "--mood X" in answers["filter help"][1]
    assert "one of these moods" in answers["filter help"][1]
    about = answers["filter tool"][1]["properties"]["mood"]
    assert about["description"] == "Only facts of one of these moods."
