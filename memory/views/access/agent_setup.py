"""How an agent is connected, and whether its first event has come: part of several pages."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import get_script_prefix

from memory.engines.access.key_activity import KeyActivityEngine
from memory.models import ApiKey
from memory.operations.inputs import read_id
from memory.program_commands import find_installed
from memory.views.access.agent_programs import PROGRAMS, AgentProgram, connect_command
from memory.views.frame.base import ProjectPage
from memory.views.frame.view_context import ViewContext

PLACEHOLDER = "KEY"
STREAM = "live/{slug}/first-event"  # served beside Django, see day1site/events/pages.py


class FirstEvent(ProjectPage):
    """The state of the waiting alone: for the script that looks again."""

    template_name = "keys/first_event.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        key_id = read_id(self.request.GET, "key")
        activity = KeyActivityEngine().get_latest(actor=self.reader.actor, key_id=key_id)
        return {"reader": self.reader, "activity": activity}


def setup_context(
    request: HttpRequest, reader: ViewContext, key: ApiKey | None = None, token: str = ""
) -> dict[str, Any]:
    """Return what keys/connect.html needs; with a token, its texts hold it."""
    url = request.build_absolute_uri(get_script_prefix()).removesuffix("/")
    key_id = key.pk if key else None
    query = f"?{urlencode({'key': key_id})}" if key_id else ""
    return {
        "programs": [_describe_program(one, url, reader, token) for one in PROGRAMS],
        "program_name": _find_program(request.GET.get("client", "")),
        "token": token,
        "activity": KeyActivityEngine().get_latest(actor=reader.actor, key_id=key_id),
        "activity_url": reader.url("first-event", branch="", at="") + query,
        "stream_url": get_script_prefix() + STREAM.format(slug=reader.project.slug) + query,
    }


def _find_program(name: str) -> str:
    """Return the program that the address names, else the first that is on the server's machine."""
    chosen = name or find_installed()
    return chosen if any(chosen == one.name for one in PROGRAMS) else PROGRAMS[0].name


def _describe_program(program: AgentProgram, url: str, reader: ViewContext, token: str) -> dict[str, Any]:
    return {
        "name": program.name,
        "title": program.title,
        "command": connect_command(program, url, reader.project.slug) if reader.can["admin"] else "",
        "setup": program.setup(url, token or PLACEHOLDER),
        "file": program.file,
        "has_hooks": program.has_hooks,
        "is_connectable": program.is_connectable,
        "next_step": program.next_step,
    }
