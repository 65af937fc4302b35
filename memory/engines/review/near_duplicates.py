"""Near duplicates: each new text is compared with its neighbours; a person is asked about the likely ones.

The writer leaves a NearCheck row. It is deleted in the transaction that stores the questions, so that a
crash at any moment repeats a comparison and loses none.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from django.utils import timezone

from memory.actors import Actor
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.rerun import rerunning
from memory.engines.belief import searchable_now
from memory.engines.branches import MAIN, find_branch
from memory.engines.embedding import SWEEP_SECONDS, in_turns, provider_in_force, want
from memory.engines.embedding_run import chunks
from memory.engines.facts import FactEngine
from memory.engines.thresholds import is_near, is_same
from memory.exceptions import ProviderUnavailable
from memory.models import Branch, Fact, NearCheck, ReviewItem, Vector
from memory.models.vectors import vector_slot

log = logging.getLogger(__name__)

LOOK = 500  # texts looked at together
TOGETHER = 32  # facts compared in one consistent read: about half a second with 100,000 facts
NEIGHBOURS = 6  # the fact itself is one of them
# Proposals are compared too, so that whoever decides on one sees what it repeats.
COMPARED = (Fact.Status.CREATED, Fact.Status.ACTIVE, Fact.Status.DONE)


@rerunning
class NearDuplicateEngine:
    def check_pending(self, project_id: UUID, limit: int = 1000) -> int:
        """Compare up to about ``limit`` new texts whose vectors are ready; returns how many were.

        A pair at or above NEAR becomes one question, ever, on its branch; a fact and the one that it
        replaces are not asked about. Without an embedder there is nothing to compare: checks are dropped.
        """
        try:
            provider = provider_in_force()
        except ProviderUnavailable as error:
            log.warning("Project %s: nothing is compared: %s", project_id, error)
            return 0
        if provider is None:
            NearCheck.objects.filter(project=project_id).delete()
            return 0
        done = 0
        for checks, vectors in _ready(project_id, provider.model):
            for some in chunks(checks, TOGETHER):
                self._settle(some, vectors, provider.model)
                done += len(some)
            if done >= limit:
                break
        return done

    def ask_about(
        self,
        *,
        fact_id: UUID,
        other_id: UUID,
        score: float,
        model: str,
        actor: Actor,
        branch_name: str = MAIN,
    ) -> None:
        """Ask about two facts of a branch that were compared elsewhere; a pair is asked about once, ever.

        ``score`` is the cosine that ``model`` gave them. Raises NotFound, BranchNotFound, scope
        and branch refusals.
        """
        actor.require("write", branch_name)
        branch = find_branch(actor, branch_name)
        facts = FactEngine()
        one, other = (
            facts.get_fact(fact_id=uid, actor=actor, branch_name=branch_name) for uid in (fact_id, other_id)
        )
        ReviewItem.objects.bulk_create([_question(branch, one, other, score, model)], ignore_conflicts=True)

    def sweep(self, seconds: float = SWEEP_SECONDS) -> int:
        """Compare what can be compared in every project, in turns, until the time is up."""
        projects = NearCheck.objects.order_by().values_list("project_id", flat=True).distinct()
        return in_turns(projects, self.check_pending, seconds)

    def _settle(self, checks: Sequence[NearCheck], vectors: dict[str, np.ndarray], model: str) -> None:
        with connection.snapshot():  # type: ignore[attr-defined]
            questions = list(_questions(checks, vectors, model))
        with transaction.atomic(durable=True):
            # A pair that was asked about before, or by another worker at this moment, is left as it is.
            ReviewItem.objects.bulk_create(questions, ignore_conflicts=True)
            NearCheck.objects.filter(pk__in=[check.pk for check in checks]).delete()


# ---- which checks can be made ----------------------------------------------------------------------


def _ready(project_id: UUID, model: str) -> Iterator[tuple[list[NearCheck], dict[str, np.ndarray]]]:
    """Checks with the vectors of their texts, chunk by chunk in the order of the hashes."""
    of_project, last = NearCheck.objects.filter(project=project_id), ""
    ordered = of_project.order_by("content_hash").values_list("content_hash", flat=True).distinct()
    while hashes := list(ordered.filter(content_hash__gt=last)[:LOOK]):
        last = hashes[-1]
        vectors, unknown = _vectors(project_id, model, hashes)
        if unknown:
            _want_again(project_id, of_project.filter(content_hash__in=unknown))
        if vectors:
            yield list(of_project.filter(content_hash__in=vectors).order_by("id")), vectors


def _vectors(project_id: UUID, model: str, hashes: Sequence[str]) -> tuple[dict[str, np.ndarray], list[str]]:
    """The vectors that are ready, and the texts that the model was never asked for."""
    slots = [vector_slot(project_id, model, value) for value in hashes]
    rows = Vector.objects.filter(slot__in=slots).values_list("content_hash", "data")
    found: dict[str, Any] = dict(rows)
    ready = {value: data for value, data in found.items() if data is not None}
    return ready, [value for value in hashes if value not in found]


def _want_again(project_id: UUID, checks: Iterable[NearCheck]) -> None:
    """Texts that were written while the settings were broken, or under another model, are wanted now."""
    hashes = {check.uid: check.content_hash for check in checks}
    facts = Fact._base_manager.filter(uid__in=hashes, deleted=False).exclude(fact_text="")
    texts = {
        fact.content_hash: fact.fact_text
        for fact in facts.only("uid", "content_hash", "fact_text")
        if hashes[fact.uid] == fact.content_hash
    }
    with transaction.atomic(durable=True):
        want(project_id, texts, timezone.now())
        lost = set(hashes.values()) - set(texts)
        NearCheck.objects.filter(project=project_id, content_hash__in=lost).delete()


# ---- comparing -------------------------------------------------------------------------------------


def _questions(
    checks: Sequence[NearCheck], vectors: dict[str, np.ndarray], model: str
) -> Iterator[ReviewItem]:
    branches = Branch.objects.live().select_related("parent").in_bulk({check.branch_id for check in checks})
    for branch in branches.values():
        here = {check.uid: check.content_hash for check in checks if check.branch_id == branch.pk}
        yield from _on(branch, here, vectors, model)


def _on(
    branch: Branch, hashes: dict[UUID, str], vectors: dict[str, np.ndarray], model: str
) -> Iterator[ReviewItem]:
    """A question for each near neighbour that a fact does not replace, nor is replaced by."""
    lineage = branch.lineage()
    facts = [fact for fact in _current(list(hashes), lineage) if fact.content_hash == hashes[fact.uid]]
    rows = Fact.objects.along(lineage).searchable()
    near = {
        fact.rid: _near(fact, rows, vectors[fact.content_hash], model, branch.project_id) for fact in facts
    }
    others = _found({rid for scores in near.values() for rid in scores}, lineage)
    for fact in facts:
        for rid, score in near[fact.rid].items():
            other = others.get(rid)
            if other and other.uid != fact.parent_id and other.parent_id != fact.uid:
                yield _question(branch, fact, other, score, model)


def _current(uids: Sequence[UUID], lineage: Lineage) -> list[Fact]:
    shown = Fact.objects.along(lineage).filter(
        *searchable_now(timezone.now(), lineage).values(), uid__in=uids, status__in=COMPARED
    )
    return sorted(shown.gather(), key=lambda fact: fact.rid)


def _near(
    fact: Fact, rows: VersionedQuerySet[Fact], vector: np.ndarray, model: str, project_id: UUID
) -> dict[int, float]:
    hits = rows.nearest(vector, k=NEIGHBOURS, model=model, project_id=project_id)
    return {rid: score for rid, score in hits if rid != fact.rid and is_near(model, score)}


def _found(rids: Collection[int], lineage: Lineage) -> dict[int, Fact]:
    """Those of the rows that a search finds today."""
    now = searchable_now(timezone.now(), lineage).values()
    return {fact.rid: fact for fact in Fact.objects.along(lineage).filter(*now, rid__in=rids).gather()}


def _question(branch: Branch, fact: Fact, other: Fact, score: float, model: str) -> ReviewItem:
    newer, older = (fact, other) if fact.rid > other.rid else (other, fact)
    low, high = sorted((fact.uid.hex, other.uid.hex))
    return ReviewItem(
        project_id=branch.project_id,
        branch=branch,
        kind=ReviewItem.Kind.NEAR_DUPLICATE,
        fact_id=newer.uid,
        other_id=older.uid,
        pair=f"{branch.pk}:{low}:{high}",
        score=score,
        details={  # type: ignore[misc]
            "model": model,
            "same": is_same(model, score, fact.fact_text, other.fact_text),
            "versions": {str(one.uid): one.version for one in (newer, older)},
        },
    )
