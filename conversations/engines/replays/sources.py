"""The conversations that are replayed, by their titles."""

from collections.abc import Sequence

from conversations.models import Conversation, Replay


def name_sources(rows: Sequence[Replay]) -> None:
    """Set ``source_title`` of replays, "" where the source is hidden or gone; a query for each branch."""
    for branch in {row.source_branch for row in rows}:
        own = [row for row in rows if row.source_branch == branch]
        shown = Conversation.objects.in_lineage(branch.lineage())
        titles = dict(shown.select_by_key(("uid", "title"), "uid", {row.source_id for row in own}))
        for row in own:
            row.source_title = titles.get(row.source_id, "")
