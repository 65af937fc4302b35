"""Whether the demo is in a store; without the engines that load it, for the start of a server."""

from memory.models import Project

SLUG = "demo"


def is_present() -> bool:
    """Return whether the store has a project with the demo's name."""
    return Project.objects.filter(slug=SLUG).exists()
