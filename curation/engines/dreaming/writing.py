"""The one commit of a run, on its own branch."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from conversations.engines.consolidation.runs import store_commit
from conversations.models import ConsolidationRun
from curation.engines.dreaming.reflections import Reflection
from memory.actors import Actor
from memory.db.bulk_sql import insert_all
from memory.db.querysets import Lineage
from memory.engines.embedding.worker import advance_clock
from memory.engines.facts.assessment import searchable_rows
from memory.engines.facts.batch import FactBatch
from memory.engines.support.batches import gather_in
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.erased import erased_uids
from memory.models import Branch, Fact, FactLink, Vector
from memory.models.vectors import vector_slot


def commit_reflections(
    branch: Branch, reflections: Sequence[Reflection], run: ConsolidationRun, model: str, actor: Actor
) -> dict[str, Any]:
    """Write reflections whose members still say what was read; return the run's new values.

    The caller has the transaction.
    """
    with open_commit(actor, branch.name, "consolidate.dreaming") as commit:
        still = check_members(branch, commit, reflections)
        if still:
            write_reflections(commit, still, run, model, actor)
    return store_commit(run, commit.commit, {"created": len(still)})


def check_members(
    branch: Branch, commit: CommitWriter, reflections: Sequence[Reflection]
) -> list[Reflection]:
    """Return the reflections of which every member is as it was read, and none is being erased."""
    uids = {fact.uid for one in reflections for fact in one.members}
    rows = searchable_rows(branch.lineage(commit.seq), timezone.now())
    left = uids - erased_uids(branch.project_id, uids)
    now = set(rows.select_by_key(("uid", "vid"), "uid", left))
    return [one for one in reflections if all((fact.uid, fact.vid) in now for fact in one.members)]


def write_reflections(
    commit: CommitWriter,
    reflections: Sequence[Reflection],
    run: ConsolidationRun,
    model: str,
    actor: Actor,
) -> None:
    batch = FactBatch([], replace(actor, session_id="", agent_id=""), Fact.Status.ACTIVE, deduplicate=False)
    for one in reflections:
        fact = batch.build_fact({**one.build_fields(), "source_id": f"dream:{run.pk}"}, reserved=True)
        fact.uid, fact.parent_id = one.uid, one.replaces
        fact.created_cycle = fact.updated_cycle = run.cycle or 0
        batch.rows.append(fact)
    if model:
        store_centroids(commit, batch.rows, reflections, model)
    written = batch.write_facts(commit)
    members = {fact.uid for one in reflections for fact in one.members}
    known = select_links(commit.branch.lineage(), members, FactLink.Type.ASSOCIATED)
    commit.add_rows([link for one in reflections for link in one.build_links(known)])
    commit.targets += [str(result.fact.uid) for result in written]


def store_centroids(
    commit: CommitWriter, facts: Sequence[Fact], reflections: Sequence[Reflection], model: str
) -> None:
    """Store the centroid of each reflection as the vector of its text, in the commit's transaction."""
    project_id = commit.actor.project_id
    n, now = advance_clock(project_id, model), timezone.now()
    rows = [
        Vector(
            slot=vector_slot(project_id, model, fact.content_hash),
            project_id=project_id,
            model=model,
            content_hash=fact.content_hash,
            n=n,
            state=Vector.State.READY,
            next_try=now,
            data=one.cluster.centroid,
        )
        for fact, one in zip(facts, reflections, strict=True)
    ]
    insert_all(rows, ignore_conflicts=True)


# ---- earlier reflections -----------------------------------------------------------------------------


def drop_known(branch: Branch, reflections: Sequence[Reflection]) -> list[Reflection]:
    """Return the reflections that no run has proposed yet, whatever became of the proposal."""
    rows = Fact._base_manager.filter(branch__project=branch.project_id)
    known = gather_in(rows, "uid", [one.uid for one in reflections], "uid")
    return [one for one in reflections if one.uid not in known]


def find_replaced(branch: Branch, reflections: Sequence[Reflection]) -> list[Reflection]:
    """Set at each reflection the active one of the branch of which it has most members, each once."""
    members = load_members(branch)
    by_member = defaultdict[UUID, set[UUID]](set)
    for uid, own in members.items():
        for member in own:
            by_member[member].add(uid)
    taken: set[UUID] = set()
    found = []
    for one in reflections:
        own = {fact.uid for fact in one.members}
        likely = {uid for member in own for uid in by_member[member]} - taken
        shared = {uid: len(own & members[uid]) for uid in likely}
        fitting = [uid for uid, count in shared.items() if 2 * count > len(members[uid])]
        best = min(fitting, key=lambda uid: (-shared[uid], uid), default=None)
        taken |= {best} if best else set()
        found.append(replace(one, replaces=best))
    return found


def load_members(branch: Branch) -> dict[UUID, set[UUID]]:
    """Return the members of each active reflection that dreaming made, by its id."""
    lineage = branch.lineage()
    rows = Fact.objects.in_lineage(lineage).filter(
        kind=Fact.Kind.REFLECTION, origin=Fact.Origin.DREAMING, status=Fact.Status.ACTIVE
    )
    uids = sorted(uid for (uid,) in rows.gather_values("uid"))
    members: dict[UUID, set[UUID]] = {uid: set() for uid in uids}
    for uid, to in select_links(lineage, uids, FactLink.Type.CONSOLIDATED_FROM):
        members[uid].add(to)
    return members


def select_links(lineage: Lineage, uids: Collection[UUID], link_type: str) -> list[tuple[UUID, UUID]]:
    """Return the two ends of the links of a type that begin at some facts."""
    links = FactLink.objects.in_lineage(lineage).filter(link_type=link_type, to_type=FactLink.Target.FACT)
    return links.select_by_key(("from_id", "to_id"), "from_id", uids)
