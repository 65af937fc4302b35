"""A noun is five files, found by where they are: CONTRIBUTING's "add a noun", done to a copy of the project.
A sixth tells agents of it. Then it gets an operation and a page, by the recipes for these.

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
OPERATION = {  # the rule, and who may call it how
    "memory/engines/graph/terms.py": """
    def get_term(self, *, term_id: Any, actor: Actor) -> Term:
        actor.require_scope("read")
        return Term.objects.get(project=actor.project_id, pk=term_id)

    def reword_term(self, *, term_id: Any, actor: Actor, **fields: Any) -> Term:
        actor.require_scope("write")
        values = c.validate(fields, TERM.field_checks(Use.CREATE))
        with write_transaction():
            Term.objects.filter(project=actor.project_id, pk=term_id).update(**values)
            record_entry(actor, "term.reword", str(term_id))
        return self.get_term(term_id=term_id, actor=actor)
""",
    "memory/operations/terms.py": """
TERMS.add(
    "reword",
    engine.reword_term,
    "Say it in other words",
    ROW,
    body="TermRewordInput",
    about="The new meaning.",
    fields=(TERM["meaning"],),
)
""",
}
PAGE = {  # a view and its template
    "memory/views/facts/term_page.py": """
from django.utils.translation import gettext_lazy as _

from memory.operations.terms import TERMS, engine
from memory.views.frame.frames import add_page
from memory.views.generic.actions import Action, ActionPage


@add_page("terms/<uuid:term_id>", "term")
class TermPage(ActionPage):
    template_name, section = "term.html", "terms"
    actions = {"reword": Action(TERMS["reword"], _("Reworded."), ("meaning",), button=_("Reword"))}

    def get_context_data(self, **kwargs):
        term = engine.get_term(term_id=self.kwargs["term_id"], actor=self.reader.actor)
        return super().get_context_data(title=term.name, term=term, **kwargs)
""",
    "templates/term.html": """{% extends frame|default:"base.html" %}
{% block content %}
    <p>It means: {{ term.meaning }}</p>
    {% action_form "reword" %}
{% endblock %}
""",
}
WORDS = "What it means here, up to 300 characters."
REFUSAL = "meaning has at most 300 characters."
MEANING = "A line of work."
TOO_LONG = "x" * 301


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    copy = ProjectCopy(tmp_path_factory.mktemp("code"))
    shutil.copytree(NOUN, copy.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in OPERATION.items():
        copy.add_text(name, text)
    for name, text in PAGE.items():
        copy.add_text(name, text)
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
        "reworded": ("rest", "POST", "/terms/ROW_ID/reword", {"meaning": "Said anew."}),
        "reworded in vain": ("rest", "POST", "/terms/ROW_ID/reword", {"meaning": TOO_LONG}),
        "reword help": ("cli", "terms", "reword", "--help"),
        "reword shape": ("shape", "TermRewordInput"),
        "term": ("page", "/p/default/terms/ROW_ID"),
        "term in admin": ("page", "/admin/p/default/terms/ROW_ID", {"do": "reword", "meaning": "By a page."}),
        "term refused": ("page", "/p/default/terms/ROW_ID", {"do": "reword", "meaning": TOO_LONG}),
    }
    return project.call(steps)


def test_a_noun_is_at_most_five_files(project: ProjectCopy) -> None:
    changed = project.list_changes()
    written = {str(file.relative_to(NOUN)) for file in NOUN.rglob("*.py")}
    assert changed == written | MADE_BY_COMMANDS | PAGE.keys()
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


def test_an_operation_is_its_method_and_its_declaration(answers: dict[str, Any]) -> None:
    assert len(OPERATION) == 2
    assert answers["reworded"][0] == 200
    assert answers["reworded"][1]["meaning"] == "Said anew."
    assert answers["reworded in vain"][0] == 400
    assert REFUSAL in str(answers["reworded in vain"][1])
    assert "Say it in other words." in answers["reword help"][1]
    assert list(answers["reword shape"][1]["properties"]) == ["meaning"]


def test_a_page_is_a_view_and_its_template(answers: dict[str, Any]) -> None:
    assert len(PAGE) == 2
    assert [answers[name][0] for name in ("term", "term in admin", "term refused")] == [200, 200, 400]
    assert "It means: Said anew." in answers["term"][1]
    assert ">Reword<" in answers["term"][1]
    assert "It means: By a page." in answers["term in admin"][1]
    assert REFUSAL.partition(" ")[2] in answers["term refused"][1]
    assert "It means: By a page." in answers["term refused"][1]
