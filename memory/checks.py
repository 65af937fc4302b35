"""System checks that run before the server starts; every message names the remedy."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.utils.module_loading import import_string

from memory import ranking
from memory.conf import conf
from memory.extensions import list_extensions


@register("day1")
def settings_are_known(**_: Any) -> list[CheckMessage]:
    """Check the names and values in DAY1, and that the embedder can be used."""
    try:
        settings = conf()
    except (TypeError, ValueError) as error:
        return [Error(str(error), hint="See docs/operations.md for the settings.", id="day1.E001")]
    found: list[CheckMessage] = []
    if settings.recipe not in ranking.RECIPES:
        known = ", ".join(sorted(ranking.RECIPES))
        message = f"There is no recipe named {settings.recipe}."
        found.append(Error(message, hint=f"DAY1['recipe'] is one of {known}.", id="day1.E002"))
    return (
        found
        + check_paths("session_parts", settings.session_parts, "day1.E005")
        + check_paths("task_hooks", settings.task_hooks, "day1.E014")
        + check_paths("briefing_parts", settings.briefing_parts, "day1.E015")
        + check_paths("trace_erasers", settings.trace_erasers, "day1.E016")
        + check_paths("commit_maskers", settings.commit_maskers, "day1.E019")
        + check_path("consolidator", settings.consolidator, "day1.E006")
        + check_path("template_suggester", settings.template_suggester, "day1.E018")
        + check_gates(settings.merge_gates)
        + check_extensions()
        + check_embedder()
        + check_judge()
    )


def check_imports(paths: Iterable[str], hint: str, id: str) -> list[CheckMessage]:
    """Return an error for each dotted path that leads nowhere."""
    found: list[CheckMessage] = []
    for path in paths:
        try:
            import_string(path)
        except ImportError as error:
            found.append(Error(str(error), hint=hint, id=id))
    return found


def check_paths(name: str, paths: tuple[str, ...], id: str) -> list[CheckMessage]:
    return check_imports(paths, f"DAY1[{name!r}] holds dotted paths of classes.", id)


def check_path(name: str, path: str, id: str) -> list[CheckMessage]:
    return check_imports(filter(None, [path]), f"DAY1[{name!r}] is the dotted path of a class, or empty.", id)


def check_extensions() -> list[CheckMessage]:
    found: list[CheckMessage] = []
    for place, paths in list_extensions().items():
        hint = f"extensions[{place!r}] in the config of an app holds dotted paths."
        found += check_imports(paths.values(), hint, "day1.E020")
    return found


def check_gates(paths: Mapping[str, str]) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    for name, path in paths.items():
        hint = f"DAY1['merge_gates'][{name!r}] is the dotted path of a function."
        found += check_imports([path], hint, "day1.E011")
    return found


def check_embedder() -> list[CheckMessage]:
    from memory.providers.embedding import get_provider

    try:
        get_provider()
    except ImproperlyConfigured as error:
        # Writes work without vectors, so this is a warning and not an error.
        hint = "Texts wait without a vector until this is mended; DAY1_EMBEDDER=off turns vectors off."
        return [Warning(str(error), hint=hint, id="day1.W003")]
    return []


def check_judge() -> list[CheckMessage]:
    from memory.providers.chat import get_judge

    try:
        get_judge()
    except ImproperlyConfigured as error:
        hint = "Until this is mended facts are rated by the heuristic alone, as without DAY1_JUDGE_MODEL."
        return [Warning(str(error), hint=hint, id="day1.W015")]
    return []


@register(Tags.database)
def check_vector_model(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """Warn when most stored vectors were made by another model than searches use."""
    from memory.engines.embedding.models import model_in_force
    from memory.models import Vector

    try:
        if not databases or (model := model_in_force()) is None:
            return []
        ready = Vector.objects.filter(state=Vector.State.READY)
        others = ready.exclude(model=model)
        if others.count() <= ready.filter(model=model).count():
            return []
    except (DatabaseError, TypeError, ValueError):  # not migrated yet, or wrong settings, which E001 reports
        return []
    other = others.values_list("model", flat=True).first()
    message = (
        f"The stored vectors were made by {other}, the settings name {model}. A running server makes them"
        " anew; until then searches use the old ones if they can, else words."
    )
    return [Warning(message, hint="Run `python3 manage.py day1 reembed`.", id="day1.W004")]
