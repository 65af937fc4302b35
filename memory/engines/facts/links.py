"""Typed links from facts to facts, observations and messages; each is a version on a branch, as a fact is."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import OuterRef, Q

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines.belief import read_on
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.commits import CommitWriter, committing
from memory.engines.fact_rules import check_interval
from memory.engines.pages import Page, page_of_versions, point_in_list
from memory.exceptions import Exists, Invalid, NotFound
from memory.models import Branch, BranchedModel, Fact, FactLink

MOST = 100
CHECKS: dict[str, c.Check] = {
    "to_id": c.identifier,
    "to_type": c.one_of(FactLink.Target.values),
    "link_type": c.one_of(FactLink.Type.values),
    "weight": c.number(0, 1),
    "valid_from": c.moment,
    "valid_until": c.moment,
}


@rerunning
class LinkEngine:
    def write_link(self, *, from_id: UUID, actor: Actor, branch_name: str = MAIN, **fields: Any) -> FactLink:
        """Link a fact to another, or to what it comes from.

        Raises NotFound for either end, Exists for the same open edge, Invalid.
        """
        actor.require("write", branch_name)
        wanted = _clean(fields)
        with committing(actor, branch_name, "link.write") as commit:
            commit.get(Fact, from_id)
            _check_target(commit, wanted["to_type"], wanted["to_id"])
            if from_id == wanted["to_id"]:
                raise Invalid("A fact cannot be linked to itself.", field="to_id")
            same = {name: wanted[name] for name in ("to_id", "to_type", "link_type")}
            if commit.visible(FactLink).filter(from_id=from_id, **same).gather():
                raise Exists("This link exists already.")
            commit.targets.append(str(from_id))
            (link,) = commit.add([FactLink(from_id=from_id, **actor.stated(), **wanted)])
        return link

    def delete_link(self, *, from_id: UUID, link_id: UUID, actor: Actor, branch_name: str = MAIN) -> None:
        """Take a link away from this branch. Raises NotFound."""
        actor.require("write", branch_name)
        with committing(actor, branch_name, "link.delete") as commit:
            link = commit.get(FactLink, link_id)
            if link.from_id != from_id:
                raise NotFound()
            commit.targets.append(str(from_id))
            commit.remove(link)

    def list_links(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None, limit: int = 50,
        cursor: str = "",
    ) -> Page[FactLink]:  # fmt: skip
        """The links from and to a fact, newest first. Raises NotFound for the fact."""
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        seq = point_of(branch, point_in_list(branch, cursor, at))
        if not Fact.objects.on(branch, seq).filter(uid=fact_id).gather():
            raise NotFound()
        links = FactLink.objects.on(branch, seq).filter(Q(from_id=fact_id) | Q(to_id=fact_id))
        links = links.filter(_both_ends(branch, seq))
        return page_of_versions(links, seq=seq, limit=limit, cursor=cursor, at=at)

    def facts_from(
        self, *, source_ids: Sequence[UUID], actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> dict[UUID, list[Fact]]:
        """The facts that a branch shows as coming from some observations or messages, by source: up to 100
        in all, the newest. Raises BranchNotFound, Invalid, scope and branch refusals.
        """
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        seq = point_of(branch, at)
        links = FactLink.objects.on(branch, seq).filter(to_id__in=list(source_ids)).newest(MOST)
        wanted = [link.from_id for link in links]
        rows = Fact.objects.on(branch, seq).filter(uid__in=wanted).gather()
        facts = {row.uid: row for row in read_on(branch, rows)}
        found: dict[UUID, list[Fact]] = {}
        for link in links:
            if fact := facts.get(link.from_id):
                found.setdefault(link.to_id, []).append(fact)
        return found


def _check_target(commit: CommitWriter, kind: str, uid: UUID) -> None:
    if not commit.visible(target_model(kind)).filter(uid=uid).gather():
        text = None if kind == FactLink.Target.FACT else "No {kind} with this id is visible here."
        raise NotFound(text, kind=kind)


def target_model(kind: str) -> type[BranchedModel]:
    """The model of this name, whichever app it stands in."""
    return next(model for model in BranchedModel.__subclasses__() if model._meta.model_name == kind)


def _both_ends(branch: Branch, seq: int) -> Q:
    """A condition: a link goes with either of its ends."""
    ends = Q()
    for kind in FactLink.Target.values:
        shown = target_model(kind).objects.on(branch, seq).rows()
        ends |= Q(models.Exists(shown.filter(uid=OuterRef("to_id"))), to_type=kind)
    facts = Fact.objects.on(branch, seq).rows()
    return Q(models.Exists(facts.filter(uid=OuterRef("from_id")))) & ends


def _clean(fields: Mapping[str, Any]) -> dict[str, Any]:
    wanted = c.clean(fields, CHECKS)
    for needed in ("to_id", "link_type"):
        if needed not in wanted:
            raise Invalid("{field} is needed.", field=needed)
    wanted.setdefault("to_type", FactLink.Target.FACT)
    check_interval(wanted.get("valid_from"), wanted.get("valid_until"))
    return wanted
