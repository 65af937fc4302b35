"""A field is declared once: what engines check and surfaces offer follows from it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from conversations.engines.fields import CONVERSATION, MESSAGE
from day1site.mcp.tools.fields import input_property
from memory.api.fields import answer_field, request_field
from memory.engines.fields.base import Field, Noun, Use
from memory.engines.fields.branches import BRANCH
from memory.engines.fields.capture import (
    OBSERVATION,
    RELATION,
    RELATION_NAMES,
    SESSION,
    RelationFields,
    SessionFields,
)
from memory.engines.fields.facts import FACT, FACT_FILTERS, FactFilterFields, NewFact
from memory.engines.fields.keys import KEY
from memory.engines.fields.links import LINK, NewLink
from memory.engines.fields.types import Choice, JSONObject, LongText, TagList, Text
from memory.exceptions import Invalid, TooLarge
from memory.models import Fact

ROOT = Path(__file__).resolve().parent.parent
DECLARATION = "memory/engines/fields/facts.py"
NEW_FIELD = '    Field("mood", Text(30), "How it was said.", label="Mood"),\n'
# What the surfaces make of the declaration, printed by a copy of the code.
PROBE = """
import json, os, sys
import django
django.setup()
from day1site.mcp.tools.base import TOOLS
import day1site.mcp.tools
from memory.api.pages import get_schema
from memory.engines.facts import import_export, rules
from memory.views.fact_form import FactForm
from memory.views.labels import FIELDS
shapes = get_schema()["components"]["schemas"]
found = {
    "rest": [name for name, shape in shapes.items() if "mood" in shape.get("properties", {})],
    "request": shapes["FactInput"]["properties"].get("mood"),
    "answer": shapes["Fact"]["properties"].get("mood") if "Fact" in shapes else None,
    "tools": [name for name, tool in TOOLS.items() if "mood" in tool.input["properties"]],
    "property": TOOLS["memory_write"].input["properties"].get("mood"),
    "read": "mood" in json.dumps(TOOLS["memory_get"].output),
    "form": str(FactForm()["mood"]) if "mood" in FactForm.base_fields else None,
    "label": FIELDS.get("mood"),
    "engine": ["mood" in rules.CHECKS, "mood" in rules.UPDATE_CHECKS],
    "line": "mood" in rules.CHECKS and "mood" not in import_export.DERIVED,
}
print(json.dumps(found, default=str))
"""


def copy_with_new_field(folder: Path) -> Path:
    """Copy the code and add one line to the declaration of a fact."""
    for name in ("memory", "conversations", "curation", "analytics", "day1site", "templates"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / DECLARATION
    text = file.read_text()
    place = text.index('    Field("embedding_state"')
    file.write_text(text[:place] + NEW_FIELD + text[place:])
    return folder


@pytest.fixture(scope="module")
def surfaces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = copy_with_new_field(tmp_path_factory.mktemp("code"))
    environment = {
        "DJANGO_SETTINGS_MODULE": "day1site.settings.dev",
        "DAY1_DATA_DIR": str(folder / "data"),
        "PYTHONPATH": str(folder),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_new_field_is_in_the_rest_document(surfaces: dict[str, Any]) -> None:
    requests = {"FactInput", "FactItemInput", "FactUpdateInput", "SupersedeInput"}
    assert {name for name in surfaces["rest"] if name.endswith("Input")} == requests
    assert len(set(surfaces["rest"]) - requests) >= 3  # a fact, a version, a found fact
    assert surfaces["request"] == {"type": "string", "maxLength": 30, "description": "How it was said."}


def test_a_new_field_is_offered_by_the_tools(surfaces: dict[str, Any]) -> None:
    assert surfaces["tools"] == ["memory_write", "memory_update", "memory_supersede"]
    assert surfaces["property"] == {"type": "string", "description": "How it was said."}
    assert surfaces["read"] is True


def test_a_new_field_is_in_the_form(surfaces: dict[str, Any]) -> None:
    assert 'name="mood"' in surfaces["form"]
    assert 'maxlength="30"' in surfaces["form"]
    assert surfaces["label"] == "Mood"


def test_a_new_field_is_checked_and_imported(surfaces: dict[str, Any]) -> None:
    assert surfaces["engine"] == [True, True]
    assert surfaces["line"] is True


def test_python_knows_the_fields_of_a_new_fact() -> None:
    assert get_type_hints(NewFact).keys() == {*FACT.names(Use.CREATE), *FACT.names(Use.STATE)}
    assert list(FactFilterFields.__dataclass_fields__) == [one.name for one in FACT_FILTERS]


def test_the_declaration_agrees_with_the_model() -> None:
    columns = {field.name: field for field in Fact._meta.get_fields()}
    for field in FACT.used(Use.CREATE):
        column: Any = columns[field.name]
        assert column.null == field.null, field.name
        if column.has_default() and field.default is not None:
            assert column.get_default() == field.default, field.name
        if isinstance(field.type, Choice):
            assert list(field.type.choices) == list(column.choices), field.name
        elif length := getattr(field.type, "max_length", None) if column.max_length else None:
            assert length == column.max_length, field.name


def test_a_program_can_read_the_declaration_as_plain_data() -> None:
    described = json.loads(json.dumps(FACT.describe()))
    (kind,) = [one for one in described if one["name"] == "kind"]
    assert kind["choices"] == list(Fact.Kind.values)
    assert kind["reserved"] == ["REFLECTION"]
    assert kind["type"] == "Choice"
    assert "create" in kind["use"]


NOUNS = (FACT, LINK, OBSERVATION, RELATION, SESSION, BRANCH, KEY, CONVERSATION, MESSAGE)


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.name)
def test_every_field_has_a_place_in_the_rest_document(noun: Noun) -> None:
    for field in noun.used(Use.CREATE):
        assert request_field(field).required == field.required, field.name
    for field in noun.used(Use.ANSWER):
        assert answer_field(field).allow_null == (field.null or field.answer_null), field.name


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.name)
def test_every_field_for_tools_has_words_for_models(noun: Noun) -> None:
    for field in (*noun.used(Use.TOOL_CREATE), *noun.used(Use.TOOL_UPDATE)):
        assert input_property(field)["description"], field.name


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.name)
def test_names_are_declared_once_in_a_noun(noun: Noun) -> None:
    names = [field.name for field in noun]
    assert len(names) == len(set(names))
    assert json.dumps(noun.describe())


def test_python_knows_the_fields_of_other_nouns() -> None:
    assert get_type_hints(NewLink).keys() == set(LINK.names(Use.CREATE))
    relation = {*RELATION.names(Use.CREATE), *RELATION.names(Use.STATE)} - set(RELATION_NAMES)
    assert get_type_hints(RelationFields).keys() == relation
    assert get_type_hints(SessionFields).keys() == {*SESSION.names(Use.CREATE), "summary"} - {"session_id"}


def test_a_refusal_names_the_field_and_its_limit() -> None:
    with pytest.raises(Invalid, match="essence has at most 200 characters"):
        FACT["essence"].check("essence", "x" * 201)
    with pytest.raises(TooLarge, match="content"):
        MESSAGE["content"].check("content", "x" * (1024 * 1024 + 1))
    assert MESSAGE["content"].check("content", "") == ""
    assert LINK["valid_from"].check("valid_from", None) is None


def test_a_text_is_redacted_and_a_reference_is_not() -> None:
    secret = "day1_abcdefgh_" + "A" * 49
    redacted = {field.name for field in FACT.used(Use.CREATE) if secret_is_gone(field, secret)}
    assert redacted == {"fact_text", "essence", "category", "source", "tags", "metadata"}


def secret_is_gone(field: Field, secret: str) -> bool:
    """Return whether the check of a field takes a secret out of its value."""
    values: dict[type, Any] = {TagList: [secret], JSONObject: {"token": secret}}
    if not isinstance(field.type, Text | LongText | TagList | JSONObject):
        return False
    return secret not in str(field.check(field.name, values.get(type(field.type), secret)))
