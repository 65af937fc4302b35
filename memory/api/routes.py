"""The resources of the REST API: each ViewSet says where it is served."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from django.apps import apps
from django.utils.module_loading import module_has_submodule
from rest_framework.viewsets import ViewSetMixin

from memory.api.operation_views import build_view
from memory.discovery import import_modules
from memory.operations.base import RESOURCES

View = TypeVar("View", bound=type[ViewSetMixin])
ROUTES: dict[str, tuple[Any, str]] = {}


def serve_at(prefix: str, name: str) -> Callable[[View], View]:
    """Return a decorator that serves a ViewSet at ``/prefix``; ``name`` begins the names of its routes."""

    def add(view: View) -> View:
        ROUTES[prefix] = (view, name)
        return view

    return add


def find_view(prefix: str) -> Any:
    """Return the ViewSet of a resource, from the modules that are called like it: all of them take long."""
    import_resource(prefix.replace("-", "_"))
    return find_route(prefix)[0]


def collect_routes() -> dict[str, tuple[Any, str]]:
    """Return the ViewSets by prefix, when every module that declares one was imported."""
    return {prefix: find_route(prefix) for prefix in (*ROUTES, *RESOURCES)}


def find_route(prefix: str) -> tuple[Any, str]:
    """Return the ViewSet written by hand, else the one of declared operations, once all of them are known."""
    if prefix not in ROUTES:
        ROUTES[prefix] = (build_view(RESOURCES[prefix]), RESOURCES[prefix].name)
    return ROUTES[prefix]


@cache
def import_resource(module: str) -> None:
    """Import the modules of a resource; one of an app to the right adds to what one to the left serves."""
    for folder in ("operations", "api"):
        for app in apps.get_app_configs():
            if app.module and module_has_submodule(app.module, f"{folder}.{module}"):
                import_modules(f"{app.name}.{folder}.{module}")
