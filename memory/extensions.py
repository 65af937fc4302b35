"""What apps add to one on their left, by dotted path: nothing of it is loaded before it is asked for.

The config of an app names it in ``extensions``: a place, and there names and paths.
"""

from functools import cache
from typing import Any

from django.apps import apps
from django.utils.module_loading import import_string


@cache
def list_extensions() -> dict[str, dict[str, str]]:
    """Return the paths of what the apps add, by place and name."""
    found: dict[str, dict[str, str]] = {}
    for app in apps.get_app_configs():
        for place, paths in getattr(app, "extensions", {}).items():
            found.setdefault(place, {}).update(paths)
    return found


@cache
def load_extensions(place: str) -> dict[str, Any]:
    """Return what the apps add to a place, by name."""
    return {name: import_string(path) for name, path in list_extensions().get(place, {}).items()}


def find_extension(place: str, name: str) -> Any:
    """Return what the apps add to a place under a name; None without one. The others are not loaded."""
    path = list_extensions().get(place, {}).get(name)
    return import_string(path) if path else None


@cache
def load_classes(paths: tuple[str, ...]) -> tuple[Any, ...]:
    """Return an instance of each class that a setting names."""
    return tuple(import_string(path)() for path in paths)
