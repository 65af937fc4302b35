"""What a person says of a line that a session was told: wrong, outdated, not for this repository, or what
is right.
"""

from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.evidence import get_fact_commit
from memory.engines.sessions.manager import get_session
from memory.engines.support import validation as c
from memory.engines.versions.repositories import NOT_IN, Described, find_repositories, list_left_out
from memory.exceptions import Conflict
from memory.models import Commit
from memory.repository_names import ANY

WRONG, OUTDATED, NOT_HERE, AGAIN = "wrong", "outdated", "not_here", "here"
CHECK_ANSWER = c.one_of([WRONG, OUTDATED, NOT_HERE, AGAIN])
REASON = "Wrong, as told to a session."


def answer_line(
    *, session_id: str, fact_id: UUID, answer: str, actor: Actor, expected_version: int | None = None
) -> Commit | None:
    """Apply what a curator says of a fact that a session was told; return the commit, None without a change.

    *wrong* is a verdict, *outdated* ends its validity now, *not_here* leaves it out of the sessions of this
    session's repository, *here* tells it there again. Raises NotFound, Conflict for a session without a
    repository, StaleVersion, Invalid, scope and branch refusals.
    """
    session = get_session(actor, session_id, is_shown=True)
    where: dict[str, Any] = {"actor": actor, "branch_name": session.branch.name}
    return apply_answer(fact_id, answer, expected_version, where, session.project_path)


def answer_fact(
    *, fact_id: UUID, answer: str, actor: Actor, branch_name: str, expected_version: int | None = None
) -> Commit | None:
    """Apply what a curator says of a fact on a branch; return the commit, None without a change.

    As ``answer_line``, but *not_here* and *here* are about the fact's own repository.
    """
    where: dict[str, Any] = {"actor": actor, "branch_name": branch_name}
    return apply_answer(fact_id, answer, expected_version, where)


def apply_answer(
    fact_id: UUID,
    answer: str,
    expected_version: int | None,
    where: dict[str, Any],
    repository: str | None = None,
) -> Commit | None:
    answer, actor = CHECK_ANSWER("answer", answer), where["actor"]
    actor.require_scope("curate", where["branch_name"])
    if answer == WRONG:
        return act(fact_id, expected_version, where, action="invalidate", reason=REASON)
    before = FactEngine().get_fact(fact_id=fact_id, **where)
    updates: dict[str, Any] = {"valid_until": timezone.now()}
    if answer != OUTDATED:
        own = find_repositories(actor.project_id, [before])[0] if repository is None else repository
        updates = {"metadata": place(before, own, answer == AGAIN)}
    fact = FactEngine().update_fact(
        fact_id=fact_id, updates=updates, expected_version=expected_version or before.version, **where
    )
    return get_fact_commit(fact) if fact.version != before.version else None


def replace_fact(
    *, fact_id: UUID, text: str, actor: Actor, branch_name: str, expected_version: int | None = None
) -> Commit | None:
    """Put a new text in the place of a fact on a branch; return the commit, None where it is the same text.

    Raises NotFound, StaleVersion, Invalid, scope and branch refusals.
    """
    actor.require_scope("curate", branch_name)
    where = {"actor": actor, "branch_name": branch_name}
    return act(fact_id, expected_version, where, action="supersede", new_fact_text=text)


def act(fact_id: UUID, expected_version: int | None, where: dict[str, Any], **action: Any) -> Commit | None:
    versions = {fact_id: expected_version} if expected_version else {}
    report = ActionEngine().apply_action(fact_ids=[fact_id], expected_versions=versions, **action, **where)
    if error := report.results[0].error:
        raise error
    return report.commit


def place(row: Described, repository: str, is_here: bool) -> dict[str, Any]:
    """Return a memory's metadata that leaves it out of a repository, or tells it there again."""
    if not repository:
        raise Conflict("The repository of this session is not known.")
    others = [name for name in list_left_out(row) if name != repository]
    named = [name for name in others if name != ANY] if is_here else [*others, repository]
    rest = {name: value for name, value in row.metadata.items() if name != NOT_IN}
    return {**rest, NOT_IN: named} if named else rest
