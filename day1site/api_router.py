"""The routes of the REST API: all apps' ViewSets on one router."""

from django.urls import path, re_path
from rest_framework.routers import SimpleRouter

from conversations.api.conversations import ConversationViewSet, MessageViewSet
from conversations.api.ingest import IngestViewSet
from day1site import __version__
from memory.api.branches import BranchViewSet
from memory.api.commits import CommitViewSet
from memory.api.events import EventViewSet
from memory.api.facts import FactViewSet
from memory.api.health import HealthViewSet
from memory.api.keys import KeyViewSet
from memory.api.observations import ObservationViewSet
from memory.api.pages import DocsView, IndexView, SchemaView
from memory.api.problems import unknown_route
from memory.api.relations import RelationViewSet
from memory.api.review import ReviewViewSet
from memory.api.sessions import SessionViewSet
from memory.api.snapshots import SnapshotViewSet
from memory.api.workspaces import WorkspaceViewSet

router = SimpleRouter()
router.trailing_slash = "/?"  # with and without: a redirect would lose a POST's body
router.register("facts", FactViewSet, "fact")
router.register("branches", BranchViewSet, "branch")
router.register("commits", CommitViewSet, "commit")
router.register("observations", ObservationViewSet, "observation")
router.register("relations", RelationViewSet, "relation")
router.register("sessions", SessionViewSet, "session")
router.register("conversations", ConversationViewSet, "conversation")
router.register("messages", MessageViewSet, "message")
router.register("ingest", IngestViewSet, "ingest")
router.register("keys", KeyViewSet, "key")
router.register("review-items", ReviewViewSet, "review-item")
router.register("snapshots", SnapshotViewSet, "snapshot")
router.register("workspaces", WorkspaceViewSet, "workspace")
router.register("events", EventViewSet, "event")
router.register("health", HealthViewSet, "health")

lists = {name: f"{base}-list" for name, view, base in router.registry if hasattr(view, "list")}
index = IndexView.as_view(version=__version__, resources=lists)

urls = [
    path("", index, name="index"),
    *router.urls,
    re_path("^schema/?$", SchemaView.as_view(), name="schema"),
    re_path("^docs/?$", DocsView.as_view(), name="docs"),
]

__all__ = ["index", "unknown_route", "urls"]
