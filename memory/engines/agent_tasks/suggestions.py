"""The template that is suggested for a new task: another app finds it."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

from django.utils.module_loading import import_string

from memory.actors import Actor
from memory.conf import conf


class TemplateSuggester(Protocol):
    """Interface of the app that knows templates; DAY1["template_suggester"] names the class."""

    def suggest_template(self, *, task_type: str, description: str, actor: Actor) -> str | None:
        """Return the name of a template that the actor may use and that fits, if there is one."""


def suggest_template(values: Mapping[str, Any], actor: Actor) -> str | None:
    """Return the name of a template for a task with these fields. Writes nothing."""
    path = conf().template_suggester
    if not path:
        return None
    description = "\n".join(text for name in ("name", "description") if (text := values.get(name, "")))
    return load_suggester(path).suggest_template(
        task_type=values.get("task_type", ""), description=description, actor=actor
    )


@cache
def load_suggester(path: str) -> TemplateSuggester:
    found: TemplateSuggester = import_string(path)()
    return found
