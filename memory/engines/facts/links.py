"""Typed links between facts, or to observations and messages, versioned as facts are; supersession."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Unpack
from uuid import UUID

from django.db import models
from django.db.models import OuterRef, Q

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.db.transactions import retry_methods
from memory.engines.facts.assessment import mask_archived
from memory.engines.facts.rules import check_interval
from memory.engines.fields.base import Use
from memory.engines.fields.links import LINK, NewLink
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, paginate_versions
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN, open_point
from memory.engines.versions.policies import Write
from memory.exceptions import Exists, IllegalTransition, Invalid, NotFound
from memory.models import Branch, BranchedModel, Fact, FactLink

MAX_LINKS = 100
LINE_LENGTH = 200
CHECKS = LINK.field_checks(Use.CREATE)
Status = Fact.Status
CURRENT = (Status.ACTIVE, Status.DONE)


@retry_methods
class LinkEngine:
    def write_link(
        self, *, from_id: UUID, actor: Actor, branch_name: str = MAIN, **fields: Unpack[NewLink]
    ) -> FactLink:
        """Link a fact to another, or to what it comes from.

        Raises NotFound for either end, Exists for the same open edge, Invalid.
        """
        actor.require_scope("write", branch_name)
        requested = clean_fields(fields)
        with open_commit(actor, branch_name, "link.write", write=Write.ADD) as commit:
            commit.get_version(Fact, from_id)
            _check_target(commit, requested["to_type"], requested["to_id"])
            if from_id == requested["to_id"]:
                raise Invalid("A fact cannot be linked to itself.", field="to_id")
            same = {name: requested[name] for name in ("to_id", "to_type", "link_type")}
            if commit.visible_rows(FactLink).filter(from_id=from_id, **same).fetch_all():
                raise Exists("This link exists already.")
            commit.targets.append(str(from_id))
            (link,) = commit.add_rows([FactLink(from_id=from_id, **actor.origin_fields(), **requested)])
        return link

    def delete_link(self, *, from_id: UUID, link_id: UUID, actor: Actor, branch_name: str = MAIN) -> None:
        """Delete a link from this branch. Raises NotFound."""
        actor.require_scope("write", branch_name, grows=False)
        with open_commit(actor, branch_name, "link.delete") as commit:
            link = commit.get_version(FactLink, link_id)
            if link.from_id != from_id:
                raise NotFound()
            commit.targets.append(str(from_id))
            commit.remove_row(link)

    def list_links(
        self,
        *,
        fact_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        at: Any = None,
        limit: int = 50,
        cursor: str = "",
    ) -> Page[FactLink]:
        """List the links from and to a fact, newest first. Raises NotFound for the fact."""
        branch, seq = open_point(actor, branch_name, at, cursor)
        if not Fact.objects.on(branch, seq).filter(uid=fact_id).fetch_all():
            raise NotFound()
        links = FactLink.objects.on(branch, seq).filter(Q(from_id=fact_id) | Q(to_id=fact_id))
        links = links.filter(_both_ends(branch, seq))
        return paginate_versions(links, seq=seq, limit=limit, cursor=cursor, at=at)

    def facts_from(
        self, *, source_ids: Sequence[UUID], actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> dict[UUID, list[Fact]]:
        """Return the visible facts derived from the given observations or messages, by source: from the
        newest 100 links in all. Raises BranchNotFound, Invalid, scope and branch refusals.
        """
        branch, seq = open_point(actor, branch_name, at)
        links = FactLink.objects.on(branch, seq).filter(to_id__in=list(source_ids)).newest(MAX_LINKS)
        requested = [link.from_id for link in links]
        rows = Fact.objects.on(branch, seq).filter(uid__in=requested).fetch_all()
        facts = {row.uid: row for row in mask_archived(branch, rows)}
        found: dict[UUID, list[Fact]] = {}
        for link in links:
            if fact := facts.get(link.from_id):
                found.setdefault(link.to_id, []).append(fact)
        return found


def _check_target(commit: CommitWriter, kind: str, uid: UUID) -> None:
    if not target_model(kind).objects.in_lineage(commit.branch.lineage()).filter(uid=uid).fetch_all():
        text = None if kind == FactLink.Target.FACT else "No {kind} with this id is visible here."
        raise NotFound(text, kind=kind)


def target_model(kind: str) -> type[BranchedModel]:
    """Return the model with this name, from any app."""
    return next(model for model in BranchedModel.__subclasses__() if model._meta.model_name == kind)


def describe_targets(lineage: Lineage, links: Sequence[FactLink]) -> dict[UUID, str]:
    """Return the text line of each link target that the lineage shows, by id."""
    return describe_memories(lineage, {(link.to_type, link.to_id) for link in links})


def describe_memories(lineage: Lineage, keys: Collection[tuple[str, UUID]]) -> dict[UUID, str]:
    """Return the text line of each of these memories, named by kind and id, that the lineage shows.

    Other kinds than those that a link may lead to are left out.
    """
    lines: dict[UUID, str] = {}
    for kind in sorted({kind for kind, _uid in keys}.intersection(FactLink.Target.values)):
        model = target_model(kind)
        column = "essence" if model is Fact else model.TEXT
        rows = model.objects.in_lineage(lineage).filter(uid__in=[uid for of, uid in keys if of == kind])
        lines |= {uid: line[:LINE_LENGTH] for uid, line in rows.gather_values("uid", column)}
    return lines


def _both_ends(branch: Branch, seq: int) -> Q:
    """Return a condition: both ends of a link must be visible."""
    ends = Q()
    for kind in FactLink.Target.values:
        shown = target_model(kind).objects.on(branch, seq).rows()
        ends |= Q(models.Exists(shown.filter(uid=OuterRef("to_id"))), to_type=kind)
    facts = Fact.objects.on(branch, seq).rows()
    return Q(models.Exists(facts.filter(uid=OuterRef("from_id")))) & ends


def clean_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    requested = c.validate(fields, CHECKS)
    for needed in ("to_id", "link_type"):
        if needed not in requested:
            raise Invalid("{field} is needed.", field=needed)
    requested.setdefault("to_type", FactLink.Target.FACT)
    check_interval(requested.get("valid_from"), requested.get("valid_until"))
    return requested


# ---- supersession ------------------------------------------------------------------------------------


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
