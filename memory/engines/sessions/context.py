"""Sessions that an actor may use, and what memory itself stores of one: facts, counts of observations."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.companions import Companion, fetch_with
from memory.db.querysets import Lineage
from memory.db.raw_select import Statement, fetch_each, fetch_one, name_fields, plan_last
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.search.fact_rows import read_facts
from memory.exceptions import BranchForbidden
from memory.models import Branch, Fact, Observation, Project, Session, VectorClock
from memory.models.end_users import get_owner
from memory.texts import OWN_SUMMARY
from memory.words import STOP_WORDS, TOKEN

MAX_PREVIOUS = 50  # sessions on a path among which the one before is looked for
MAX_STATEMENTS = 500  # of a session that are compared with its summary
MIN_REPEATED = 0.8  # of the words of a statement
# What is asked with a session, and noted for it.
OF_SESSION = (
    Companion(Branch, {"id": "{t}.branch_id"}, lambda session: {"id": session.branch_id}),
    Companion(Project, {"id": "{t}.project_id"}, lambda session: {"id": session.project_id}),
    Companion(VectorClock, {"project": "{t}.project_id"}, lambda session: {"project": session.project_id}),
)


def session_facts(session: Session, actor: Actor, limit: int) -> Sequence[Fact]:
    """Return the newest current facts that the session wrote, on its branch."""
    lineage = session.branch.lineage()
    rows = searchable_rows(lineage, timezone.now()).filter_indexed(session_id=session.key)
    rids = rows.highest_keys(limit, "uid")
    facts = read_facts(rids)
    return attach_belief([facts[rid] for rid in rids if rid in facts], lineage)


def read_summary(session: Session, lineage: Lineage, now: datetime) -> str:
    """Return a session's summary for the next one; "" for Day1's own, which has what was said, where that
    repeats a statement of the session that holds no more.
    """
    if not session.summary.startswith(OWN_SUMMARY):
        return session.summary
    words, branches = list_tokens(session.summary), [branch for branch, _ in lineage]
    versions = Fact.objects.all_versions().filter(branch__in=branches, session_id=session.key)
    texts = dict(versions.order_by().values_list("content_hash", "fact_text").distinct()[:MAX_STATEMENTS])
    repeated = [key for key, text in texts.items() if repeats(words, list_tokens(text))]
    holding = searchable_rows(lineage, now).filter(content_hash__in=repeated)
    return "" if set(repeated) - set(holding.values_list("content_hash", flat=True)) else session.summary


def list_tokens(text: str) -> set[str]:
    return set(TOKEN.findall(text.casefold())) - STOP_WORDS


def repeats(summary: set[str], words: set[str]) -> bool:
    """Return whether most words of a statement are in a summary."""
    return len(words & summary) >= MIN_REPEATED * len(words) > 0


def observation_counts(session: Session) -> dict[str, Any]:
    """Count the session's observations: in all, by type, by tool."""
    rows = Observation.objects.in_lineage(session.branch.lineage()).filter_indexed(session_id=session.key)
    pairs = Counter(rows.order_by().values_list("observation_type", "tool_name"))
    types: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for (kind, tool), count in pairs.items():
        types[kind] += count
        if tool:
            tools[tool] += count
    return {"total": sum(types.values()), "by_type": dict(types), "tools_used": dict(tools.most_common(50))}


def find_session(project_id: UUID, key: str) -> Session | None:
    """Return a session with its branch, or None."""
    session = fetch_with(Session, OF_SESSION, project=project_id, key=key)
    if session and (branch := fetch_one(Branch, id=session.branch_id)):
        session.branch = branch
        narrow_branch(session)
    return session


def narrow_branch(session: Session) -> None:
    """Have a session's branch show the memory of its end user alone."""
    session.branch.end_user = get_owner(session)


def list_others(session: Session, limit: int) -> list[str]:
    """Return the keys of the newest other sessions of the repository; none where it is unknown."""
    keys = [key for (key,) in fetch_each(plan_others(session, limit))]
    return [key for key in keys if key != session.key][:limit]


def plan_others(session: Session, limit: int) -> list[Statement]:
    """Return the statements of ``list_others``, for ``read_together``."""
    if not session.project_path:
        return []
    where = {"project": session.project_id, "project_path": session.project_path, "hidden": False}
    where["deleted_by"] = ""  # a value, which is asked for as fast as the others
    return [plan_last(Session, ("key",), limit + 1, **where)]


def plan_previous(branch_id: int, project_path: str) -> Statement:
    """Return the statement that reads the newest sessions on a path, for ``read_together``."""
    where = {"branch": branch_id, "project_path": project_path, "hidden": False}
    where["deleted_by"] = ""  # a value, which is asked for as fast as the others
    return plan_last(Session, name_fields(Session), MAX_PREVIOUS + 1, **where)


def filter_visible(actor: Actor) -> Any:
    sessions = Session.objects.filter(project=actor.project_id, hidden=False, deleted_at=None)
    sessions = sessions.filter(**actor.end_user.list_columns()).select_related("branch")
    if actor.branch_patterns:
        names = Branch.objects.filter(project=actor.project_id).values_list("name", flat=True)
        sessions = sessions.filter(branch__name__in=[name for name in names if actor.may_use(name)])
    return sessions


def require_scope(actor: Actor, scope: str, session: Session) -> None:
    """Refuse an actor that may not use the session's branch, without revealing the branch."""
    actor.require_scope(scope, grows=False)  # who writes in it has asked for room
    if not actor.may_use(session.branch.name):
        raise BranchForbidden("This session is on a branch that this key may not use.")
