"""Facts that take the place of others, without any of them being lost."""

from collections.abc import Sequence

from memory.engines.commits import CommitWriter
from memory.exceptions import IllegalTransition
from memory.models import Fact, FactLink

S = Fact.Status
CURRENT = (S.ACTIVE, S.DONE)


def replace_by(commit: CommitWriter, keeper: Fact, old: Sequence[Fact]) -> None:
    """Write down that ``keeper`` stands for facts that were just superseded.

    It names one of them as its parent where it has none; to each of the others it gets a link
    CONSOLIDATED_FROM.
    """
    rest = [fact for fact in old if fact.uid != keeper.parent_id]
    if keeper.parent_id is None and (free := [fact for fact in rest if fact.parent_id != keeper.uid]):
        commit.change(keeper, parent_id=free[0].uid)
        rest.remove(free[0])
    _link(commit, keeper, rest)


def check_keeper(keeper: Fact) -> None:
    """Raises IllegalTransition unless the fact may take the place of another."""
    if keeper.status not in CURRENT:
        raise IllegalTransition("Only a fact that is active can take the place of another.")


def _link(commit: CommitWriter, keeper: Fact, old: Sequence[Fact]) -> None:
    kind = FactLink.Type.CONSOLIDATED_FROM
    there = commit.visible(FactLink).filter(from_id=keeper.uid, link_type=kind).gather()
    linked = {link.to_id for link in there}
    edge = {"from_id": keeper.uid, "to_type": FactLink.Target.FACT, "link_type": kind}
    said = {name: getattr(commit.actor, name) for name in ("session_id", "task_id", "agent_id")}
    commit.add([FactLink(**edge, **said, to_id=fact.uid) for fact in old if fact.uid not in linked])
