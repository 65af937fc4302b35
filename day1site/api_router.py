"""The routes of the REST API: all apps' ViewSets on one router."""

from django.urls import path, re_path
from rest_framework.routers import SimpleRouter

from day1site import __version__
from memory.answers.problems import unknown_route
from memory.api.metrics import MetricsView
from memory.api.pages import DocsView, IndexView, SchemaView
from memory.api.routes import collect_routes
from memory.discovery import import_from_apps

FREQUENT = ("facts", "ingest")  # tried first: an address is compared with one route after the other

import_from_apps("operations")
import_from_apps("api")

router = SimpleRouter()
router.trailing_slash = "/?"  # with and without: a redirect would lose a POST's body
routes = sorted(collect_routes().items())
for prefix, (view, name) in sorted(routes, key=lambda route: route[0] not in FREQUENT):
    router.register(prefix, view, name)

lists = {prefix: f"{base}-list" for prefix, (view, base) in routes if hasattr(view, "list")}
index = IndexView.as_view(version=__version__, resources=lists)

urls = [
    path("", index, name="index"),
    *router.urls,
    re_path("^schema/?$", SchemaView.as_view(), name="schema"),
    re_path("^docs/?$", DocsView.as_view(), name="docs"),
]

metrics = MetricsView.as_view()

__all__ = ["index", "metrics", "unknown_route", "urls"]
