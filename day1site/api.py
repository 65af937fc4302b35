"""The routes of the REST surface. Each app brings its ViewSets; all stand on one router."""

from django.urls import re_path
from rest_framework.routers import SimpleRouter

from memory.api.branches import BranchViewSet
from memory.api.facts import FactViewSet
from memory.api.health import HealthViewSet
from memory.api.keys import KeyViewSet
from memory.api.pages import DocsView, SchemaView
from memory.api.problems import unknown_route
from memory.api.review import ReviewViewSet

router = SimpleRouter()
router.trailing_slash = "/?"  # with and without: a redirect would lose a POST's body
router.register("facts", FactViewSet, "fact")
router.register("branches", BranchViewSet, "branch")
router.register("keys", KeyViewSet, "key")
router.register("review-items", ReviewViewSet, "review-item")
router.register("health", HealthViewSet, "health")

urls = [
    *router.urls,
    re_path("^schema/?$", SchemaView.as_view(), name="schema"),
    re_path("^docs/?$", DocsView.as_view(), name="docs"),
]

__all__ = ["unknown_route", "urls"]
