"""Old paths of renamed modules that settings and saved schedules may still name.

Standard library alone: settings are read before Django is there.
"""

from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

RENAMED = {
    "conversations.engines.consolidation.SessionConsolidation": (
        "conversations.engines.consolidation.session.SessionConsolidation"
    ),
    "day1site.account": "day1site.account_views",
    "day1site.admin_app": "day1site.admin_config",
    "day1site.api": "day1site.api_router",
    "day1site.desk": "day1site.admin_site",
    "day1site.entrance": "day1site.server.asgi_auth",
    "day1site.first_start": "day1site.server.provisioning",
    "day1site.hooks.api": "conversations.api.ingest",
    "day1site.hooks.events": "conversations.capture.events",
    "day1site.hooks.ingest": "conversations.capture.engine",
    "day1site.hooks.rows": "conversations.capture.rows",
    "day1site.hooks.texts": "conversations.capture.text_cleaning",
    "day1site.settings.desk": "day1site.settings.unfold",
    "day1site.views": "day1site.error_views",
    "memory.broker": "memory.queue.broker",
}


def current_path(path: str) -> str:
    """Return the present name of a renamed module, class or function; "" when it was not renamed."""
    for old, new in RENAMED.items():
        rest = path.removeprefix(old)
        if rest != path and rest[:1] in ("", ".", ":"):
            return new + rest
    return ""


class RenamedModules(MetaPathFinder):
    """The last finder of modules: reports the present name of a renamed module, and finds nothing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ModuleNotFoundError when a module of this name was renamed."""
        if new := current_path(fullname):
            raise ModuleNotFoundError(f"{fullname} is now {new}", name=fullname)
        return None
