"""The system checks: their messages and hints."""

import pytest
from django.core.checks import run_checks
from django.utils import timezone

from memory.extensions import list_extensions
from memory.models import Vector
from memory.models.vectors import vector_slot


def found(**kwargs) -> list[tuple[str, str]]:
    return [(message.id, message.msg) for message in run_checks(**kwargs) if message.id.startswith("day1.")]


def test_the_defaults_are_right(settings):
    settings.DAY1 = {}
    assert found() == []


def test_a_setting_that_does_not_exist(settings):
    settings.DAY1 = {"embeder": "off"}
    assert found() == [("day1.E001", "DAY1 has no setting named embeder")]


def test_a_recipe_that_does_not_exist(settings):
    settings.DAY1 = {"embedder": "off", "recipe": "best"}
    assert found() == [("day1.E002", "There is no recipe named best.")]


def test_openai_without_a_key(settings):
    settings.DAY1 = {"embedder": "openai"}
    ((number, message),) = found()
    assert number == "day1.W003"
    assert "DAY1['embedding_api_key'] is empty" in message


@pytest.mark.parametrize(("stored", "warned"), [("minilm-l6-int8", False), ("another", True)])
def test_vectors_of_another_model(project, settings, stored, warned):
    settings.DAY1 = {"embedder": "minilm"}
    common = {"project": project, "content_hash": "0" * 64, "next_try": timezone.now(), "state": "ready"}
    Vector.objects.create(slot=vector_slot(project.pk, stored, "0" * 64), model=stored, **common)
    said = found(databases=["default"], include_deployment_checks=False)
    message = (
        "The stored vectors were made by another, the settings name minilm-l6-int8. A running server makes"
        " them anew; until then searches use the old ones if they can, else words."
    )
    assert said == ([("day1.W004", message)] if warned else [])


def test_what_an_app_adds_and_is_not_there(settings, monkeypatch):
    settings.DAY1 = {"embedder": "off"}
    monkeypatch.setitem(list_extensions(), "kept_facts", {"moon": "curation.moon.find_kept"})
    assert found() == [("day1.E020", "No module named 'curation.moon'")]
