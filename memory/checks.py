"""What must be right before the server starts; every message says what to do."""

from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.utils.module_loading import import_string

from memory import ranking
from memory.conf import conf


@register("day1")
def settings_are_known(**_: Any) -> list[CheckMessage]:
    """DAY1 holds names and values that exist, and an embedder that can be used."""
    try:
        settings = conf()
    except (TypeError, ValueError) as error:
        return [Error(str(error), hint="See docs/operations.md for the settings.", id="day1.E001")]
    found: list[CheckMessage] = []
    if settings.recipe not in ranking.RECIPES:
        known = ", ".join(sorted(ranking.RECIPES))
        message = f"There is no recipe named {settings.recipe}."
        found.append(Error(message, hint=f"DAY1['recipe'] is one of {known}.", id="day1.E002"))
    return found + _parts(settings.session_parts) + _consolidator(settings.consolidator) + _embedder()


def _parts(paths: tuple[str, ...]) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    for path in paths:
        try:
            import_string(path)
        except ImportError as error:
            hint = "DAY1['session_parts'] holds dotted paths of classes."
            found.append(Error(str(error), hint=hint, id="day1.E005"))
    return found


def _consolidator(path: str) -> list[CheckMessage]:
    try:
        if path:
            import_string(path)
    except ImportError as error:
        hint = "DAY1['consolidator'] is the dotted path of a class, or empty."
        return [Error(str(error), hint=hint, id="day1.E006")]
    return []


def _embedder() -> list[CheckMessage]:
    from memory.providers.embedding import get_provider

    try:
        get_provider()
    except ImproperlyConfigured as error:
        # Writing goes on without vectors: a warning, not an error.
        hint = "Texts wait without a vector until this is mended; DAY1_EMBEDDER=off turns vectors off."
        return [Warning(str(error), hint=hint, id="day1.W003")]
    return []


@register(Tags.database)
def vectors_are_of_this_model(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """The vectors that are stored were made by the model that will be asked."""
    from memory.engines.embedding import model_in_force
    from memory.models import Vector

    try:
        if not databases or (model := model_in_force()) is None:
            return []
        ready = Vector.objects.filter(state=Vector.State.READY)
        others = ready.exclude(model=model)
        if others.count() <= ready.filter(model=model).count():
            return []
    except (DatabaseError, TypeError, ValueError):  # not migrated yet, or settings that E001 tells of
        return []
    other = others.values_list("model", flat=True).first()
    message = (
        f"The stored vectors were made by {other}, searches ask {model}: only keywords find most of them."
    )
    return [Warning(message, hint="Run `python3 manage.py day1 reembed`.", id="day1.W004")]
