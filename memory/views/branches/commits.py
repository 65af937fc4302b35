"""A commit: author, time, surface, and all its changes."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from memory.engines.branches.commit_changes import CommitEngine
from memory.engines.branches.commit_titles import count_kinds, load_contents
from memory.exceptions import NotFound
from memory.models import Commit
from memory.views.frame.base import ProjectPage
from memory.views.frame.view_context import ViewContext

commit_engine = CommitEngine()
PREVIEW = 10  # changes of each kind while all kinds are shown


def commit_context(reader: ViewContext, name: str, kind: str, paging: dict[str, Any]) -> dict[str, Any]:
    """Return the context of a commit's page. ``name`` is its id, or its number on the branch.

    Raises NotFound, and Invalid for an unknown kind.
    """
    commit = find_commit(reader, name)
    load_contents([commit])
    counts = count_kinds(commit.tally)
    return {
        "commit": commit,
        "kind": kind,
        "counts": counts,
        "groups": [build_group(reader, commit, one, kind, paging) for one in ([kind] if kind else counts)],
        "own_id": reader.actor.id,
    }


def build_group(
    reader: ViewContext, commit: Commit, kind: str, chosen: str, paging: dict[str, Any]
) -> dict[str, Any]:
    limits = paging if chosen else {"limit": PREVIEW}
    page = commit_engine.list_changes(commit_id=commit.pk, actor=reader.actor, kind=kind, **limits)
    return {"kind": kind, "page": page}


def find_commit(reader: ViewContext, name: str) -> Commit:
    if name.isdecimal() and len(name) < 19:
        return commit_engine.find_commit(branch_name=reader.branch.name, seq=int(name), actor=reader.actor)
    try:
        return commit_engine.get_commit(commit_id=UUID(name), actor=reader.actor)
    except ValueError:
        raise NotFound() from None


class CommitPage(ProjectPage):
    template_name = "commit.html"
    section = "branches"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = commit_context(
            self.reader, kwargs.pop("commit"), self.request.GET.get("type", ""), self.paging()
        )
        commit = found["commit"]
        names = {"title": commit.title, "seq": commit.seq, "name": commit.branch.name}
        title = _("%(title)s · commit %(seq)s of %(name)s") % names
        return super().get_context_data(title=title, **found, **kwargs)
