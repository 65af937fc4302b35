"""The review queue: questions for a person, their answers, and how many waited on which day."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Unpack
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from curation.engines.review.pair_answers import DISMISS, KEEP_BOTH
from curation.models import ReviewItem
from memory.actors import Actor
from memory.db.budget import count_row_bytes
from memory.db.transactions import retry_methods
from memory.engines.facts import rules
from memory.engines.facts.assessment import list_sources
from memory.engines.facts.batch import FactBatch, get_source, inherit_content, replace_parents
from memory.engines.facts.bulk_actions import REASON, archive_fact
from memory.engines.facts.facts_across_branches import facts_on
from memory.engines.facts.field_diff import check_version
from memory.engines.facts.links import check_keeper, link_superseded
from memory.engines.fields.base import Field
from memory.engines.fields.common import BRANCH, EXPECTED_VERSIONS
from memory.engines.fields.facts import TEXT_BYTES
from memory.engines.fields.filters import make_filter_checks, one_of
from memory.engines.fields.types import Choice, Identifier, LongText, Text
from memory.engines.sessions.revisions import remove_revisions
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.policies import Write
from memory.exceptions import Conflict, Invalid, NotFound
from memory.models import Branch, Commit, Confirmation, Fact

Status = Fact.Status
# Decisions on a pair of near duplicates; KEEPING_ONE lists those that name the fact to keep.
SUPERSEDE, SAME, ARCHIVE, COMBINE = "supersede", "same", "archive", "combine"
DECISIONS = (KEEP_BOTH, SUPERSEDE, SAME, ARCHIVE, COMBINE, DISMISS)
KEEPING_ONE = frozenset({SUPERSEDE, SAME, ARCHIVE})
ON_BRANCH = BRANCH.with_traits(help="Questions about this branch; every branch when it is not given.")
DECISION = Field("decision", Choice([(name, name) for name in DECISIONS]))
KEEP = Field("keep", Identifier(), "The fact that stays: supersede, same, archive.", null=True)
NEW_TEXT = Field(
    "new_fact_text", LongText(TEXT_BYTES, blank=True), "What takes the place of both, with combine."
)
WHY = Field("reason", Text(REASON))
REVIEW_FILTERS = (
    one_of("status", Choice(ReviewItem.Status.choices), "Open or resolved questions."),
    one_of("kind", Choice(ReviewItem.Kind.choices), "Questions of this kind."),
    one_of("fact_id", Identifier(), "Questions about this fact."),
)
FILTERS = make_filter_checks(REVIEW_FILTERS)
IN_USE = Q(branch__archived_at=None)  # an archived branch takes no answers: its items do not wait
TTL_SECONDS = 300  # of the counts of days that are over
OPEN = Q(status=ReviewItem.Status.OPEN)


@dataclass(frozen=True)
class Resolved:
    """Resolved review item, and its commit: reverting that commit reopens the item."""

    item: ReviewItem
    commit: Commit
    new_fact: Fact | None = None


@retry_methods
class ReviewEngine:
    def list_items(
        self,
        *,
        actor: Actor,
        branch_name: Annotated[str, ON_BRANCH] = "",
        status: str = "",
        kind: str = "",
        fact_id: UUID | str | None = None,
        **paging: Unpack[Paging],
    ) -> Page[ReviewItem]:
        """List the review items on the branches that the actor may use, newest first, each with its two facts
        as ``fact`` and ``other`` (None where the branch does not show it), and the suggested keeper as
        ``best``.

        ``fact_id`` selects the items of one fact. Open items of an archived branch, which takes no answers,
        are listed only when the branch is named. Needs the scope curate. Raises Invalid, BranchNotFound, and
        BranchForbidden for a branch that the actor may not use.
        """
        actor.require_scope("curate", branch_name or None)
        items = _project_items(actor)
        if branch_name:
            items = items.filter(branch=find_branch(actor, branch_name))
        elif status == ReviewItem.Status.OPEN:
            items = items.filter(IN_USE)
        items = items.filter(**c.drop_empty(c.validate({"status": status, "kind": kind}, FILTERS)))
        if fact_id:
            items = items.filter(Q(fact_id=fact_id) | Q(other_id=fact_id))
        return paginate(
            filter_allowed_branches(items, actor),
            "-id",
            **paging,
            of=items,
            prepare=lambda batch: with_facts(batch, actor.project_id),
            size=count_item_bytes,
        )

    def count_open(self, *, actor: Actor, maximum: int, branch: Branch | None = None) -> int:
        """Count the open items on live branches that the actor may use, or on one, up to ``maximum``.

        Needs the scope curate.
        """
        actor.require_scope("curate")
        return select_waiting(actor, branch).filter(status=ReviewItem.Status.OPEN)[:maximum].count()

    def get_item(self, *, item_id: UUID, actor: Actor) -> ReviewItem:
        """Return a review item with its two facts. Needs the scope curate. Raises NotFound."""
        actor.require_scope("curate")
        item = self._get_item(item_id, actor)
        with_facts([item], actor.project_id)
        return item

    def resolve_item(
        self,
        *,
        item_id: UUID,
        decision: Annotated[str, DECISION],
        actor: Actor,
        keeper: Annotated[UUID | None, KEEP] = None,
        new_fact_text: Annotated[str, NEW_TEXT] = "",
        reason: Annotated[str, WHY] = "",
        expected_versions: Annotated[Mapping[UUID, int] | None, EXPECTED_VERSIONS] = None,
    ) -> Resolved:
        """Resolve a review item of two near duplicates, in one commit.

        keep_both: both stay. supersede: ``keeper`` replaces the other. same: likewise, and the sources
        of the other confirm it. archive: the other is archived. combine: a new fact, ``new_fact_text``,
        replaces both. dismiss: the item has become pointless. A proposal that stays is accepted, one that
        does not is archived.

        ``expected_versions`` are those that the caller has read; by default those of the time when the item
        was made. keep_both and dismiss ignore versions.

        Needs the scope curate. Raises NotFound, Invalid, Conflict (answered already), StaleVersion with what
        has changed, IllegalTransition, BranchArchived.
        """
        actor.require_scope("curate")
        answer = Decision.parse_decision(decision, keeper, new_fact_text, reason)
        found = self._get_item(item_id, actor)
        actor.require_scope("curate", found.branch.name)
        where = (actor, found.branch.name, "review.resolve", answer.reason[:500])
        with open_commit(*where, write=Write.EXEMPT) as commit:
            # read again under the branch lock, so that nobody else can answer it
            item = ReviewItem.objects.get(pk=found.pk)
            if item.status != ReviewItem.Status.OPEN:
                raise Conflict(
                    "Already answered: {resolution}, by {by}.",
                    resolution=item.resolution,
                    by=item.resolved_by,
                )
            new = answer.apply(commit, item, expected_versions)
            close_item(commit, item, answer)
        with_facts([item], actor.project_id)
        assert commit.commit is not None  # the item alone makes one
        return Resolved(item, commit.commit, new)

    @staticmethod
    def _get_item(item_id: UUID, actor: Actor) -> ReviewItem:
        if (item := filter_allowed_branches(_project_items(actor), actor).filter(pk=item_id).first()) is None:
            raise NotFound()
        return item


def select_waiting(actor: Actor, branch: Branch | None) -> QuerySet[ReviewItem]:
    """Return the items on live branches that the actor may use, or on one, in no order."""
    items = _project_items(actor).filter(IN_USE).order_by()
    return filter_allowed_branches(items.filter(branch=branch) if branch else items, actor)


def _project_items(actor: Actor) -> QuerySet[ReviewItem]:
    return ReviewItem.objects.filter(project=actor.project_id).select_related("branch")


def with_facts(items: Sequence[ReviewItem], project_id: UUID) -> None:
    """Set each item's two facts as its branch shows them now, and the suggested keeper as ``best``."""
    requested = {(item.branch, uid) for item in items for uid in (item.fact_id, item.other_id)}
    known = facts_on(requested, project_id)
    for item in items:
        item.fact = known.get((item.branch_id, item.fact_id))
        item.other = known.get((item.branch_id, item.other_id))
        both = filter(None, (item.fact, item.other))
        is_revised = item.kind == ReviewItem.Kind.CONTESTED and item.fact is not None
        item.best = item.fact if is_revised else max(both, key=rank_keeper, default=None)


def count_item_bytes(item: ReviewItem) -> int:
    """Return how many bytes a review item and its facts take on a page."""
    facts: tuple[Fact | None, ...] = (item.fact, item.other)
    return count_row_bytes(item) + sum(count_row_bytes(fact) for fact in facts if fact)


def rank_keeper(fact: Fact) -> tuple[bool, bool, int, int]:
    """Return a fact's sort key as keeper: searchable, verified, most confirmed, newest."""
    verified = fact.verification_status == "verified"
    return fact.status in Fact.SEARCHED, verified, fact.confirmation_count, fact.rid


def close_item(commit: CommitWriter, item: ReviewItem, answer: "Decision") -> None:
    item.status, item.resolution = ReviewItem.Status.RESOLVED, answer.decision
    item.resolved_at, item.resolved_by, item.seq = timezone.now(), commit.actor.label, commit.seq
    item.save()
    commit.side_rows += 1
    commit.targets.insert(0, str(item.pk))


@dataclass(frozen=True)
class Decision:
    """Validated decision with its arguments."""

    decision: str
    keep: UUID | None
    text: str
    reason: str

    @classmethod
    def parse_decision(cls, decision: str, keep: UUID | None, text: str, reason: str) -> "Decision":
        DECISION.check("decision", decision)
        if (decision in KEEPING_ONE) != (keep is not None):
            raise Invalid(
                "keep names the fact that stays, with {which}.",
                which=", ".join(sorted(KEEPING_ONE)),
                field="keep",
            )
        if decision == COMBINE:
            text = rules.CHECKS["fact_text"]("new_fact_text", text)
        elif text:
            raise Invalid("Only combine takes new_fact_text.", field="new_fact_text")
        return cls(decision, keep, text, WHY.check("reason", reason))

    def apply(
        self, commit: CommitWriter, item: ReviewItem, expected: Mapping[UUID, int] | None
    ) -> Fact | None:
        """Apply the decision; return the new fact where one was written."""
        pair = (item.fact_id, item.other_id)
        if strangers := [uid for uid in (self.keep, *(expected or {})) if uid and uid not in pair]:
            raise Invalid("{id} is none of the two facts of this question.", id=strangers[0], field="keep")
        if self.decision == KEEP_BOTH:
            remove_revisions(commit, pair)
        if self.decision in (KEEP_BOTH, DISMISS):
            return None
        read = expected or {UUID(uid): n for uid, n in item.details.get("versions", {}).items()}
        facts = {uid: commit.get_version(Fact, uid) for uid in pair}
        for uid, fact in facts.items():
            check_version(commit, fact, read.get(uid))
        if self.keep is None:
            return self._combine_facts(commit, list(facts.values()))
        self._keep_fact(commit, facts.pop(self.keep), *facts.values())
        return None

    def _keep_fact(self, commit: CommitWriter, keeper: Fact, other: Fact) -> None:
        if self.decision == ARCHIVE:
            commit.change_row(other, **archive_fact(other))
            return
        aside = _set_aside(other)
        if keeper.status == Status.CREATED:  # a proposal that stays is accepted
            accepted = rules.change_status(keeper, Status.ACTIVE)
            replace_parents(commit, [keeper])
            keeper = commit.change_row(keeper, **accepted)
        check_keeper(keeper)  # nothing is written before a refusal: others of a batch are answered
        commit.change_row(other, **aside)
        if self.decision == SAME:
            confirm_sources(commit, keeper, other)
        if other.status != Status.CREATED:
            link_superseded(commit, keeper, [other])

    def _combine_facts(self, commit: CommitWriter, facts: Sequence[Fact]) -> Fact:
        for fact in facts:
            commit.change_row(fact, **_set_aside(fact))
        older = facts[1]
        content = inherit_content(older, commit.actor.project_id) | {"fact_text": self.text}
        batch = FactBatch([content], commit.actor, Status.ACTIVE, deduplicate=False, parent=older)
        (written,) = batch.write_facts(commit)
        link_superseded(commit, written.fact, facts)
        return written.fact


def _set_aside(fact: Fact) -> dict[str, str]:
    """Supersede a fact; a proposal was never in use, so it is archived."""
    return rules.change_status(fact, Status.ARCHIVED if fact.status == Status.CREATED else Status.SUPERSEDED)


def confirm_sources(commit: CommitWriter, keeper: Fact, other: Fact) -> None:
    """Add the sources of another fact as confirmations of the keeper; each source counts once."""
    sources: Iterable[str] = {source for _, source in list_sources([other.uid], commit.lineage)} | {
        get_source(other)
    }
    known = {source for _, source in list_sources([keeper.uid], commit.lineage)} | {get_source(keeper), ""}
    new = sorted(set(sources) - known)
    where = {"uid": keeper.uid, "branch_id": commit.branch.pk, "seq": commit.seq, "at": commit.at}
    Confirmation.objects.bulk_create(Confirmation(source=source, **where) for source in new)
    commit.side_rows += len(new)


# ---- the backlog -------------------------------------------------------------------------------------


def count_backlog(*, actor: Actor, until: datetime, days: int, branch: Branch | None = None) -> Sequence[int]:
    """Return how many questions waited as each of the days before that of ``until`` ended, in UTC.

    They are counted again after some minutes. Needs the scope curate.
    """
    actor.require_scope("curate")
    midnight = datetime.combine(until.astimezone(UTC).date(), time.min, UTC)
    ends = [midnight - timedelta(days=back) for back in reversed(range(days))]
    if actor.branch_patterns:
        return count_waiting(actor, ends, branch)
    key = f"backlog:{actor.project_id}:{branch.pk if branch else ''}:{midnight:%Y%m%d}:{days}"
    return cache.get_or_set(key, lambda: count_waiting(actor, ends, branch), TTL_SECONDS) or []


def count_waiting(actor: Actor, times: Sequence[datetime], branch: Branch | None) -> list[int]:
    """Return how many questions waited at each time, the earliest first."""
    items = select_waiting(actor, branch).filter(OPEN | Q(resolved_at__gte=times[0]))
    counts = {
        f"n{place}": Count("pk", filter=Q(created_at__lt=at) & (OPEN | Q(resolved_at__gte=at)))
        for place, at in enumerate(times)
    }
    found = items.aggregate(**counts)
    return [found[name] for name in counts]
