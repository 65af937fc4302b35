"""Supersession: facts that replace others, which stay in the history."""

from collections.abc import Sequence

from memory.engines.versions.commits import CommitWriter
from memory.exceptions import IllegalTransition
from memory.models import Fact, FactLink

Status = Fact.Status
CURRENT = (Status.ACTIVE, Status.DONE)


def link_superseded(commit: CommitWriter, keeper: Fact, old: Sequence[Fact]) -> None:
    """Link ``keeper`` to the facts that it has just superseded.

    One of them becomes its parent where it has none. Where there are several it stands for all of them,
    and each has a link CONSOLIDATED_FROM: the trust in it is no greater than in any.
    """
    rest = [fact for fact in old if fact.uid != keeper.parent_id]
    if keeper.parent_id is None and (free := [fact for fact in rest if fact.parent_id != keeper.uid]):
        commit.change_row(keeper, parent_id=free[0].uid)
        rest.remove(free[0])
    add_links(commit, keeper, old if len(old) > 1 else rest)


def check_keeper(keeper: Fact) -> None:
    """Raise IllegalTransition unless the fact may supersede another."""
    if keeper.status not in CURRENT:
        raise IllegalTransition("Only a fact that is active can take the place of another.")


def add_links(commit: CommitWriter, keeper: Fact, old: Sequence[Fact]) -> None:
    kind = FactLink.Type.CONSOLIDATED_FROM
    links = commit.visible_rows(FactLink).filter(from_id=keeper.uid, link_type=kind).fetch_all()
    linked = {link.to_id for link in links}
    edge = {"from_id": keeper.uid, "to_type": FactLink.Target.FACT, "link_type": kind}
    origin = {name: getattr(commit.actor, name) for name in ("session_id", "task_id", "agent_id")}
    commit.add_rows([FactLink(**edge, **origin, to_id=fact.uid) for fact in old if fact.uid not in linked])
