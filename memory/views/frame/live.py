"""Pages that show what happens while one looks."""

from urllib.parse import urlencode

from django.urls import get_script_prefix

from memory.engines.activity.events import EventEngine
from memory.views.frame.view_context import ViewContext

STREAM = "live/{slug}/changes"  # served beside Django, see day1site/events/page_changes.py


def build_stream_url(reader: ViewContext, spans_branches: bool = False) -> str:
    """Return the address of the stream that tells of changes after what the page shows; "" in the past."""
    if not reader.is_now:
        return ""
    after = EventEngine().read_position(project_id=reader.project.pk)
    branch = {} if spans_branches else {"branch": reader.branch.name}
    query = urlencode({**branch, "after": after})
    return f"{get_script_prefix()}{STREAM.format(slug=reader.project.slug)}?{query}"
