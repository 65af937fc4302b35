"""A field is declared once: what engines check and surfaces offer follows from it."""

import json
from typing import Any, get_type_hints

import pytest

from conversations.engines.fields.consolidation import CONSOLIDATION
from conversations.engines.fields.conversations import CONVERSATION, MESSAGE
from conversations.engines.fields.replays import REPLAY
from curation.engines.fields.bundles import BUNDLE, TRUSTED_KEY
from curation.engines.fields.handoffs import HANDOFF, HandoffFields
from curation.engines.fields.imports import IMPORT
from curation.engines.fields.quarantines import QUARANTINE
from curation.engines.fields.scores import SCORE, SCORING
from curation.engines.fields.templates import TEMPLATE, TEMPLATE_USE, TEMPLATE_VERSION, TemplateFields
from day1site.cli.client import OPERATIONS
from day1site.cli.declared_fields import FILE
from day1site.management.commands.write_fields import format_nouns, format_operations
from day1site.mcp.tools.declared_schemas import input_property
from memory.answers.declared_serializers import answer_field, request_field
from memory.engines.fields.base import Field, Use
from memory.engines.fields.branches import BRANCH
from memory.engines.fields.capture import (
    OBSERVATION,
    RELATION,
    RELATION_NAMES,
    SESSION,
    RelationFields,
    SessionFields,
)
from memory.engines.fields.connections import CONNECTION
from memory.engines.fields.facts import FACT, NewFact
from memory.engines.fields.invitations import INVITATION
from memory.engines.fields.items import ITEM
from memory.engines.fields.keys import KEY
from memory.engines.fields.links import LINK, NewLink
from memory.engines.fields.members import MEMBER
from memory.engines.fields.merges import MERGE_REQUEST
from memory.engines.fields.policies import POLICY
from memory.engines.fields.project_templates import PROJECT_TEMPLATE
from memory.engines.fields.projects import PROJECT
from memory.engines.fields.questions import EVAL, QUESTION
from memory.engines.fields.tasks import OBJECTIVE, TASK, TASK_AGENT, TaskFields
from memory.engines.fields.types import Choice, JSONObject, LongText, TagList, Text
from memory.engines.fields.webhooks import WEBHOOK, WEBHOOK_FAILURE
from memory.exceptions import Invalid, TooLarge
from memory.models import Fact


def test_python_knows_the_fields_of_a_new_fact() -> None:
    assert get_type_hints(NewFact).keys() == {*FACT.field_names(Use.CREATE), *FACT.field_names(Use.STATE)}


def test_the_declaration_agrees_with_the_model() -> None:
    columns = {field.name: field for field in Fact._meta.get_fields()}
    for field in FACT.select_fields(Use.CREATE):
        column: Any = columns[field.name]
        assert column.null == field.null, field.name
        if column.has_default() and field.default is not None:
            assert column.get_default() == field.default, field.name
        if isinstance(field.type, Choice):
            assert list(field.type.choices) == list(column.choices), field.name
        elif length := getattr(field.type, "max_length", None) if column.max_length else None:
            assert length == column.max_length, field.name


def test_a_program_can_read_the_declaration_as_plain_data() -> None:
    described = json.loads(json.dumps(FACT.describe_fields()))["fields"]
    (kind,) = [one for one in described if one["name"] == "kind"]
    assert kind["choices"] == list(Fact.Kind.values)
    assert kind["reserved"] == ["REFLECTION"]
    assert kind["type"] == "Choice"
    assert "create" in kind["use"]


def test_the_command_line_has_the_fields_as_they_are_declared() -> None:
    """Compare the file with the declarations: python3 manage.py write_fields writes it anew."""
    assert FILE.read_text() == format_nouns()
    assert json.loads(format_nouns()).keys() == {noun.name for noun in NOUNS}
    assert OPERATIONS.read_text() == format_operations()


NOUNS = (
    CONSOLIDATION,
    FACT,
    LINK,
    OBSERVATION,
    RELATION,
    SESSION,
    BRANCH,
    INVITATION,
    ITEM,
    KEY,
    CONNECTION,
    MEMBER,
    MERGE_REQUEST,
    QUESTION,
    EVAL,
    CONVERSATION,
    MESSAGE,
    REPLAY,
    POLICY,
    PROJECT,
    PROJECT_TEMPLATE,
    TASK,
    OBJECTIVE,
    TASK_AGENT,
    HANDOFF,
    IMPORT,
    QUARANTINE,
    SCORE,
    SCORING,
    BUNDLE,
    TRUSTED_KEY,
    TEMPLATE,
    TEMPLATE_USE,
    TEMPLATE_VERSION,
    WEBHOOK,
    WEBHOOK_FAILURE,
)


def test_every_field_has_a_place_in_the_rest_document() -> None:
    for noun in NOUNS:
        for field in noun.select_fields(Use.CREATE):
            assert request_field(field).required == field.required, field.name
        for field in noun.select_fields(Use.ANSWER):
            assert answer_field(field).allow_null == (field.null or field.answer_null), field.name


def test_every_field_for_tools_has_words_for_models() -> None:
    for noun in NOUNS:
        for field in (*noun.select_fields(Use.TOOL_CREATE), *noun.select_fields(Use.TOOL_UPDATE)):
            assert input_property(field)["description"], field.name


def test_names_are_declared_once_in_a_noun() -> None:
    for noun in NOUNS:
        names = [field.name for field in noun]
        assert len(names) == len(set(names)), noun.name
        assert json.dumps(noun.describe_fields())


def test_python_knows_the_fields_of_other_nouns() -> None:
    assert get_type_hints(NewLink).keys() == set(LINK.field_names(Use.CREATE))
    relation = {*RELATION.field_names(Use.CREATE), *RELATION.field_names(Use.STATE)} - set(RELATION_NAMES)
    assert get_type_hints(RelationFields).keys() == relation
    assert get_type_hints(SessionFields).keys() == {*SESSION.field_names(Use.CREATE), "summary"} - {
        "session_id"
    }


def test_python_knows_the_fields_of_a_new_handoff() -> None:
    assert get_type_hints(HandoffFields).keys() == set(HANDOFF.field_names(Use.CREATE))


def test_python_knows_the_fields_of_a_new_template() -> None:
    assert get_type_hints(TemplateFields).keys() == set(TEMPLATE.field_names(Use.CREATE)) - {"name"}


def test_python_knows_the_fields_of_a_new_task() -> None:
    assert get_type_hints(TaskFields).keys() == set(TASK.field_names(Use.CREATE)) - {"name", "objectives"}


def test_a_refusal_names_the_field_and_its_limit() -> None:
    with pytest.raises(Invalid, match="essence has at most 200 characters"):
        FACT["essence"].check("essence", "x" * 201)
    with pytest.raises(TooLarge, match="content"):
        MESSAGE["content"].check("content", "x" * (1024 * 1024 + 1))
    assert MESSAGE["content"].check("content", "") == ""
    assert LINK["valid_from"].check("valid_from", None) is None


def test_a_text_is_redacted_and_a_reference_is_not() -> None:
    secret = "day1_abcdefgh_" + "A" * 49
    redacted = {field.name for field in FACT.select_fields(Use.CREATE) if secret_is_gone(field, secret)}
    assert redacted == {"fact_text", "essence", "category", "source", "repository", "tags", "metadata"}


def secret_is_gone(field: Field, secret: str) -> bool:
    """Return whether the check of a field takes a secret out of its value."""
    values: dict[type, Any] = {TagList: [secret], JSONObject: {"token": secret}}
    if not isinstance(field.type, Text | LongText | TagList | JSONObject):
        return False
    return secret not in str(field.check(field.name, values.get(type(field.type), secret)))
