"""Points of a branch's past to be read: which commit a time, a number or an id means."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.commit_titles import load_titles
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.exceptions import Invalid
from memory.models import Branch, Commit


@dataclass(frozen=True)
class PastPoint:
    """A point of a branch. ``commit`` is the newest that it shows; None where nothing was committed yet."""

    branch: Branch
    seq: int
    commit: Commit | None


class TimeTravelEngine:
    def find_point(
        self, *, at: int | datetime | UUID | None, actor: Actor, branch_name: str = MAIN
    ) -> PastPoint:
        """Return the point that a number, a time, or the id of a commit or snapshot names on a branch.

        Raises Invalid for no point, for a time in the future or before the memory began, and for a number
        that the branch has not; NotFound for a point of another branch; scope and branch refusals.
        """
        actor.require_scope("read", branch_name)
        branch = find_branch(actor, branch_name)
        if at is None:
            raise Invalid("{field} is needed.", field="at")
        seq = resolve_point(branch, at)
        lineage = branch.lineage(seq)
        commit = self._find_commit(*lineage[0])
        if isinstance(at, datetime):
            self._check_time(branch, at, commit)
        return PastPoint(branch, seq, commit)

    def _find_commit(self, branch: int, seq: int) -> Commit | None:
        found = Commit.objects.filter(branch=branch, seq=seq).select_related("branch").first()
        return load_titles([found])[0] if found else None

    def _check_time(self, branch: Branch, at: datetime, commit: Commit | None) -> None:
        """Check that a time lies between the beginning of the memory and now. Raises Invalid."""
        if at > timezone.now():
            raise Invalid("This time has not come yet: leave it out to read the present.", field="at")
        roots = Branch.objects.filter(project=branch.project_id, parent=None)
        start: Any = roots.values_list("created_at", flat=True).order_by("created_at").first()
        if commit is None and at < start:
            day = start.isoformat(timespec="seconds").replace("+00:00", "Z")
            raise Invalid("The memory began at {start}: there is nothing before.", start=day, field="at")
