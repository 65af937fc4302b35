"""Near duplicates: each new text is compared with its neighbours; likely ones become review items.

The writer leaves a NearCheck row. It is deleted in the transaction that stores the review items, so that a
crash at any moment repeats a comparison and loses none.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from uuid import UUID

import numpy as np
from django.db import transaction
from django.utils import timezone

from curation.engines.review.pair_answers import build_item
from curation.models import ReviewItem
from memory.actors import Actor
from memory.db.backend import get_backend
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.transactions import retry_methods
from memory.engines.embedding.engine import SWEEP_SECONDS, enqueue_texts, load_vectors, round_robin
from memory.engines.embedding.models import searched_provider
from memory.engines.embedding.unread import find_by_words, list_unread
from memory.engines.facts.assessment import default_exclusions
from memory.engines.facts.engine import FactEngine
from memory.engines.support.batches import batched
from memory.engines.support.similarity import WORDS, have_other_code, is_near, is_same
from memory.engines.versions.lookup import MAIN, find_branch
from memory.engines.versions.repositories import is_elsewhere, name_repositories
from memory.exceptions import ProviderUnavailable
from memory.models import Branch, Fact, NearCheck
from memory.models.end_users import get_owner, is_of_another

log = logging.getLogger(__name__)

SCAN_LIMIT = 500  # texts per read
BATCH_SIZE = 32  # facts compared in one consistent read: about half a second with 100,000 facts
NEIGHBOURS = 6  # the fact itself is one of them


@retry_methods
class NearDuplicateEngine:
    def check_pending(self, project_id: UUID, limit: int = 1000) -> int:
        """Compare up to about ``limit`` new texts whose vectors are ready; return how many were compared.

        A pair at or above NEAR becomes one review item, ever, on its branch; a fact and the one that it
        replaces are not compared, nor are reflections. Without an embedder the checks are dropped.
        """
        try:
            provider = searched_provider(project_id)
        except ProviderUnavailable as error:
            log.warning("Project %s: nothing is compared: %s", project_id, error)
            return 0
        if provider is None:
            NearCheck.objects.filter(project=project_id).delete()
            return 0
        done = 0
        for checks, vectors in load_checks(project_id, provider.model):
            for batch in batched(checks, BATCH_SIZE):
                self._store_items(batch, vectors, provider.model)
                done += len(batch)
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
        """Add a review item for two facts of a branch compared elsewhere; only one is made per pair, ever.

        ``score`` is the cosine that ``model`` gave them. Raises NotFound, BranchNotFound, scope and branch
        refusals.
        """
        actor.require_scope("write", branch_name)
        branch = find_branch(actor, branch_name)
        facts = FactEngine()
        one, other = (
            facts.get_fact(fact_id=uid, actor=actor, branch_name=branch_name) for uid in (fact_id, other_id)
        )
        ReviewItem.objects.bulk_create(
            [build_question(branch, one, other, score, model)], ignore_conflicts=True
        )

    def compare_due(self) -> int:
        """Compare pending texts of every project, round-robin, until done or out of time; return how many."""
        projects = NearCheck.objects.order_by().values_list("project_id", flat=True).distinct()
        return round_robin(projects, self.check_pending, SWEEP_SECONDS)

    def _store_items(self, checks: Sequence[NearCheck], vectors: dict[str, np.ndarray], model: str) -> None:
        with get_backend().snapshot():
            questions = list(_find_items(checks, vectors, model))
        with transaction.atomic(durable=True):
            # A pair with a review item, of earlier or of another worker just now, is skipped.
            ReviewItem.objects.bulk_create(questions, ignore_conflicts=True)
            NearCheck.objects.filter(pk__in=[check.pk for check in checks]).delete()


# ---- pending checks --------------------------------------------------------------------------------


def load_checks(project_id: UUID, model: str) -> Iterator[tuple[list[NearCheck], dict[str, np.ndarray]]]:
    """Yield checks with the vectors of their texts, chunk by chunk in the order of the hashes.

    A text that the model cannot read has none.
    """
    of_project, last = NearCheck.objects.filter(project=project_id), ""
    ordered = of_project.order_by("content_hash").values_list("content_hash", flat=True).distinct()
    while hashes := list(ordered.filter(content_hash__gt=last)[:SCAN_LIMIT]):
        last = hashes[-1]
        vectors, unknown = load_vectors(project_id, model, hashes)
        if unknown:
            _want_again(project_id, of_project.filter(content_hash__in=unknown))
        if known := vectors.keys() | list_unread(project_id, model, hashes):
            yield list(of_project.filter(content_hash__in=known).order_by("id")), vectors


def _want_again(project_id: UUID, checks: Iterable[NearCheck]) -> None:
    """Queue texts that were written while the settings were broken, or under another model."""
    hashes = {check.uid: check.content_hash for check in checks}
    facts = Fact._base_manager.filter(uid__in=hashes, deleted=False).exclude(fact_text="")
    texts = {
        fact.content_hash: fact.fact_text
        for fact in facts.only("uid", "content_hash", "fact_text")
        if hashes[fact.uid] == fact.content_hash
    }
    with transaction.atomic(durable=True):
        enqueue_texts(project_id, texts, timezone.now())
        lost = set(hashes.values()) - set(texts)
        NearCheck.objects.filter(project=project_id, content_hash__in=lost).delete()


# ---- comparing -------------------------------------------------------------------------------------


def _find_items(
    checks: Sequence[NearCheck], vectors: dict[str, np.ndarray], model: str
) -> Iterator[ReviewItem]:
    branches = Branch.objects.live().select_related("parent").in_bulk({check.branch_id for check in checks})
    for branch in branches.values():
        hashes = {check.uid: check.content_hash for check in checks if check.branch_id == branch.pk}
        yield from _find_on_branch(branch, hashes, vectors, model)


def _find_on_branch(
    branch: Branch, hashes: dict[UUID, str], vectors: dict[str, np.ndarray], model: str
) -> Iterator[ReviewItem]:
    """Yield a review item for each near neighbour that may say the same."""
    lineage = branch.lineage()
    facts = [fact for fact in load_current(list(hashes), lineage) if fact.content_hash == hashes[fact.uid]]
    rows = Fact.objects.in_lineage(lineage).searchable().exclude(kind=Fact.Kind.REFLECTION)
    near = {fact.rid: find_near(fact, rows, vectors, model, branch.project_id) for fact in facts}
    others = filter_searchable({rid for scores in near.values() for rid in scores}, lineage)
    name_repositories([*facts, *others.values()], branch.project_id)
    for fact in facts:
        for rid, score in near[fact.rid].items():
            other = others.get(rid)
            if other and may_be_same(fact, other):
                yield build_question(
                    branch, fact, other, score, model if fact.content_hash in vectors else WORDS
                )


def may_be_same(fact: Fact, other: Fact) -> bool:
    """Return whether neither fact takes the other's place, and they are not of two repositories or end users,
    or about two pieces of code.
    """
    replaces = other.uid == fact.parent_id or other.parent_id == fact.uid
    is_other = is_elsewhere(other.repository, fact.repository) or have_other_code(
        fact.fact_text, other.fact_text
    )
    return not replaces and not is_other and not is_of_another(fact, other)


def load_current(uids: Sequence[UUID], lineage: Lineage) -> list[Fact]:
    """Return the facts that are compared; a reflection is like its members by design, and is none."""
    shown = Fact.objects.in_lineage(lineage).filter(
        *default_exclusions(timezone.now(), lineage).values(), uid__in=uids, status__in=Fact.COMPARED
    )
    shown = shown.exclude(kind=Fact.Kind.REFLECTION)
    return sorted(shown.fetch_all(), key=lambda fact: fact.rid)


def find_near(
    fact: Fact, rows: VersionedQuerySet[Fact], vectors: dict[str, np.ndarray], model: str, project_id: UUID
) -> dict[int, float]:
    """Return the rows that are near by meaning, or by words where the model cannot read the text."""
    rows = rows.filter_indexed(**get_owner(fact).list_columns())
    if (vector := vectors.get(fact.content_hash)) is None:
        return {
            rid: score for rid, score in find_by_words(rows, fact.fact_text, NEIGHBOURS) if rid != fact.rid
        }
    hits = rows.search_vectors(vector, k=NEIGHBOURS, model=model, project_id=project_id)
    return {rid: score for rid, score in hits if rid != fact.rid and is_near(model, score)}


def filter_searchable(rids: Collection[int], lineage: Lineage) -> dict[int, Fact]:
    """Return those of the rows that a search finds now, by row id."""
    now = default_exclusions(timezone.now(), lineage).values()
    return {
        fact.rid: fact for fact in Fact.objects.in_lineage(lineage).filter(*now, rid__in=rids).fetch_all()
    }


def build_question(branch: Branch, fact: Fact, other: Fact, score: float, model: str) -> ReviewItem:
    pair = (fact, other) if fact.rid > other.rid else (other, fact)
    same = is_same(model, score, fact.fact_text, other.fact_text)
    return build_item(branch, ReviewItem.Kind.NEAR_DUPLICATE, pair, score, model=model, same=same)
