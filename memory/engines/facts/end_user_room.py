"""How many facts one end user may have on a branch."""

from collections import Counter
from collections.abc import Sequence

from django.db.models import Q

from memory.db.lineage import EVERYBODY, EndUser
from memory.db.raw_select import fetch_one
from memory.engines.versions.commits import CommitWriter
from memory.exceptions import USER_FULL, QuotaExceeded
from memory.models import Fact, Project
from memory.models.end_users import get_owner

Status = Fact.Status


def check_user_room(commit: CommitWriter, fresh: Sequence[Fact]) -> None:
    """Refuse new facts of an end user who has as many as the project allows. Raises QuotaExceeded."""
    adding = Counter(owner for fact in fresh if (owner := get_owner(fact)) != EVERYBODY)
    project = fetch_one(Project, id=commit.branch.project_id) if adding else None
    if project is None or (limit := project.user_fact_limit) is None:
        return
    for owner, count in adding.items():
        used = count_facts(commit, owner, limit)
        if used + count > limit:
            raise QuotaExceeded(USER_FULL, part="facts", used=used, limit=limit)


def count_facts(commit: CommitWriter, owner: EndUser, limit: int) -> int:
    """Count an end user's facts that are in use, up to the limit."""
    rows = commit.visible_rows(Fact).filter_indexed(**owner.list_columns())
    rows = rows.filter(~Q(expires_at__lte=commit.at), status__in=(Status.CREATED, Status.ACTIVE, Status.DONE))
    return rows.order_by().values("uid")[:limit].count()
