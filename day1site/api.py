"""The routes of the REST surface. Each app brings its ViewSets; all stand on one router."""

from rest_framework.routers import SimpleRouter

from memory.api.branches import BranchViewSet
from memory.api.facts import FactViewSet
from memory.api.health import HealthViewSet
from memory.api.keys import KeyViewSet
from memory.api.problems import unknown_route
from memory.api.review import ReviewViewSet

router = SimpleRouter()
router.trailing_slash = "/?"  # with and without: a redirect would lose a POST's body
router.register("facts", FactViewSet, "fact")
router.register("branches", BranchViewSet, "branch")
router.register("keys", KeyViewSet, "key")
router.register("review-items", ReviewViewSet, "review-item")
router.register("health", HealthViewSet, "health")

__all__ = ["router", "unknown_route"]
