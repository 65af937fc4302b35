"""The ageing of a branch: what would go, the commit that archives it, the runs, and the pressure."""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.facts.ageing.plan import AgeingPlan, archive_candidates, find_blocking
from memory.engines.facts.ageing.rules import REASONS, AgeingRules, Candidate
from memory.engines.facts.assessment import annotate_facts
from memory.engines.fields.base import Field
from memory.engines.fields.common import EXPECTED_VERSIONS
from memory.engines.fields.types import Choice, Identifier, ListOf
from memory.engines.support import pagination
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.commits import MAX_COMMIT_ROWS, open_commit
from memory.engines.versions.lookup import MAIN, find_branch, find_reverted
from memory.exceptions import Conflict, Day1Error, DirectWritesRefused, Invalid, NotFound
from memory.models import AgedVersion, Branch, Commit, Fact, Project

KIND = "fact.age"
MAX_NEXT = 5  # facts that the pressure of a branch names
MAX_IDS = 1000
REASON_CHOICES = [(reason.value, reason.label) for reason in REASONS]
ONLY_REASONS = Field("reasons", ListOf(Choice(REASON_CHOICES)))
ONLY_FACTS = Field("fact_ids", ListOf(Identifier(), max_items=MAX_IDS), "Only these, as far as they aged.")
EXCLUDED = Field("exclude", ListOf(Identifier(), max_items=MAX_IDS), "Not these.")
BUSY = _("Merge request {number} is open from {name}: nothing ages there until it is closed.")
CHECK_REASON = c.one_of([reason.value for reason in REASONS])
MAX_COMMITS = 100  # of one branch in one day
REFUSALS = (Conflict, DirectWritesRefused)  # a merge request is open, or a policy forbids it
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class AgedFact:
    """A fact with the reason why it goes, or has gone."""

    fact: Fact
    reason: str
    since: datetime | None = None
    worth: Any = None


@dataclass(frozen=True)
class AgeingPreview:
    """What a run would do now: counts by reason, what is kept, and a page of the facts."""

    branch: Branch
    rules: AgeingRules
    total: int
    counts: Mapping[str, int]
    kept: Mapping[str, int]
    page: Page[AgedFact]
    blocked_by: int | None = None

    @property
    def count(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class AgeingReport:
    """What a run did: the commit, if anything changed, facts by reason, and how many are left for another."""

    branch: Branch
    commit: Commit | None
    counts: Mapping[str, int]
    remaining: int = 0
    changed_meanwhile: int = 0

    @property
    def count(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Pressure:
    """How full a branch is: its facts against its budget, and what would go next."""

    branch: Branch
    facts: int
    budget: int | None
    counts: Mapping[str, int]
    next: Sequence[AgedFact] = field(default_factory=list)

    @property
    def share(self) -> float | None:
        return round(self.facts / self.budget, 4) if self.budget else None


@retry_methods
class AgeingEngine:
    def preview_ageing(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        reasons: Annotated[Collection[str], ONLY_REASONS] = (),
        fact_ids: Annotated[Iterable[UUID] | None, ONLY_FACTS] = None,
        exclude: Annotated[Iterable[UUID], EXCLUDED] = (),
        limit: int = 50,
        cursor: str = "",
    ) -> AgeingPreview:
        """Return what a run on a branch with these options would archive now, and why. Nothing is written.

        Raises Invalid, BranchNotFound, scope and branch refusals.
        """
        actor.require_scope("read", branch_name)
        pagination.check_limit(limit)
        selection = Selection.parse(reasons, fact_ids, exclude)
        mark = pagination.mark_from(repr(("ageing", actor.project_id, branch_name, *selection.describe())))
        position = pagination.read_cursor(cursor, mark)
        plan = build_plan(actor, branch_name, parse_plan_time(position))
        chosen = selection.filter(plan.candidates)
        page = list_page(plan, chosen, limit, position, mark)
        kept = Counter(plan.kept_by_uid.values())
        return AgeingPreview(
            plan.branch, plan.rules, plan.total, count_reasons(chosen), kept, page, plan.blocked_by
        )

    def run_ageing(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        reasons: Annotated[Collection[str], ONLY_REASONS] = (),
        fact_ids: Annotated[Iterable[UUID] | None, ONLY_FACTS] = None,
        exclude: Annotated[Iterable[UUID], EXCLUDED] = (),
        expected_versions: Annotated[Mapping[UUID, int] | None, EXPECTED_VERSIONS] = None,
    ) -> AgeingReport:
        """Archive what has aged on a branch, in one commit of at most 5,000 facts.

        ``reasons`` and ``fact_ids`` narrow it, ``exclude`` leaves facts out; none widens it: a fact that
        would not go by itself is not archived. Facts whose version is not the expected one are left and
        counted. Reverting the commit undoes the run. Needs the scope curate.
        Raises Invalid, Conflict while a merge request from the branch is open, BranchNotFound,
        BranchArchived, BranchReadOnly, DirectWritesRefused, scope and branch refusals.
        """
        actor.require_scope("curate", branch_name)
        plan = build_plan(actor, branch_name)
        if plan.blocked_by is not None:
            raise Conflict(BUSY, number=plan.blocked_by, name=branch_name)
        chosen = Selection.parse(reasons, fact_ids, exclude).filter(plan.candidates)
        now, left = chosen[:MAX_COMMIT_ROWS], chosen[MAX_COMMIT_ROWS:]
        with open_commit(actor, branch_name, KIND) as commit:
            if (number := find_blocking(commit.branch)) is not None:  # it was opened meanwhile
                raise Conflict(BUSY, number=number, name=branch_name)
            done = archive_candidates(commit, plan, now, expected_versions or {})
            commit.detail = {"reasons": dict(count_reasons(done))} if done else {}
        return AgeingReport(plan.branch, commit.commit, count_reasons(done), len(left), len(now) - len(done))

    def get_pressure(self, *, actor: Actor, branch_name: str = MAIN) -> Pressure:
        """Return how full a branch is, what has aged, and what its budget would take next.

        Raises BranchNotFound, scope and branch refusals.
        """
        actor.require_scope("read", branch_name)
        plan = build_plan(actor, branch_name)
        counts = count_reasons(plan.candidates)
        following = plan.list_next(MAX_NEXT) if plan.rules.budget else []
        return Pressure(plan.branch, plan.total, plan.rules.budget, counts, load_aged(plan.branch, following))

    def list_runs(self, *, actor: Actor, branch_name: str = MAIN, **paging: Unpack[Paging]) -> Page[Any]:
        """List the runs on a branch, newest first, each a commit with ``reasons`` and whether it is undone.

        Raises Invalid, BranchNotFound, scope and branch refusals.
        """
        actor.require_scope("read", branch_name)
        branch = find_branch(actor, branch_name)
        rows = Commit.objects.filter(branch=branch, kind=KIND)
        return pagination.paginate(rows, "-seq", **paging, prepare=describe_runs)

    def list_archived(self, *, commit_id: UUID, actor: Actor, **paging: Unpack[Paging]) -> Page[AgedFact]:
        """List what a run archived, with the reasons; a fact that the branch no longer shows is left out.

        Raises Invalid, NotFound, BranchForbidden.
        """
        actor.require_scope("read")
        commits = Commit.objects.select_related("branch").filter(branch__project=actor.project_id, kind=KIND)
        if (run := commits.filter(pk=commit_id).first()) is None:
            raise NotFound()
        actor.require_scope("read", run.branch.name)
        rows = AgedVersion.objects.filter(branch=run.branch_id, seq=run.seq)
        page = pagination.paginate(rows, "vid", **paging)
        return Page(load_aged(run.branch, page.results), page.next, page.previous)


def build_plan(actor: Actor, branch_name: str, at: datetime | None = None) -> AgeingPlan:
    """Return the plan of a branch at a time, now by default. Raises BranchNotFound."""
    buffer.flush()  # recalls of the last second count
    branch = find_branch(actor, branch_name)
    rules = AgeingRules.from_project(Project.objects.get(pk=actor.project_id))
    return AgeingPlan(branch, rules, at or timezone.now())


def count_reasons(candidates: Iterable[Candidate]) -> dict[str, int]:
    """Return how many go for each reason, in the order of the reasons; none is left out."""
    counts = Counter(one.reason for one in candidates)
    return {reason.value: counts[reason.value] for reason in REASONS}


@dataclass(frozen=True)
class Selection:
    """What of a plan is wanted: some reasons, some facts, without others; all of it by default."""

    reasons: frozenset[str]
    uids: frozenset[UUID] | None
    exclude: frozenset[UUID]

    @classmethod
    def parse(
        cls, reasons: Collection[str], fact_ids: Iterable[UUID] | None, exclude: Iterable[UUID]
    ) -> "Selection":
        """Parse what a caller asked for. Raises Invalid."""
        requested = frozenset(CHECK_REASON("reasons", reason) for reason in reasons)
        uids = None if fact_ids is None else check_ids("fact_ids", fact_ids)
        return cls(requested, uids, check_ids("exclude", exclude))

    def filter(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        return [one for one in candidates if self._includes(one)]

    def _includes(self, one: Candidate) -> bool:
        is_wanted = self.uids is None or one.uid in self.uids
        return is_wanted and one.uid not in self.exclude and (not self.reasons or one.reason in self.reasons)

    def describe(self) -> tuple[Any, ...]:
        """Return what tells a list of this selection from others."""
        uids = None if self.uids is None else sorted(self.uids)
        return sorted(self.reasons), uids, sorted(self.exclude)


def check_ids(name: str, uids: Iterable[UUID]) -> frozenset[UUID]:
    found = frozenset(c.parse_uuid(name, uid) for uid in uids)
    if len(found) > MAX_IDS:
        raise Invalid("{field} may have {most} ids.", field=name, most=MAX_IDS)
    return found


def list_page(
    plan: AgeingPlan, chosen: Sequence[Candidate], limit: int, position: Mapping[str, Any], mark: str
) -> Page[AgedFact]:
    """Return the page of a plan after a position. Raises Invalid."""
    if position:
        after = parse_place(position)
        chosen = [one for one in chosen if one.sort_key > after]
    batch = chosen[:limit]
    following = None
    if len(chosen) > limit:
        place = {"key": batch[-1].uid.hex, "place": batch[-1].sort_key[:2]}
        following = pagination.write_cursor({**place, "now": plan.now.isoformat(), "list": mark})
    return Page(load_aged(plan.branch, batch), following)


def parse_place(position: Mapping[str, Any]) -> tuple[int, float, int]:
    """Return the place in a plan that a cursor names. Raises Invalid."""
    match position.get("place"):
        case [int() as rank, int() | float() as worth]:
            return rank, worth, pagination.parse_cursor_id(position["key"]).int
    raise Invalid(pagination.NOT_OURS, field="cursor")


def parse_plan_time(position: Mapping[str, Any]) -> datetime | None:
    """Return the time of the first page, for which the others are worked out too. Raises Invalid."""
    return c.parse_time("cursor", position.get("now", "")) if position else None


def load_aged(branch: Branch, rows: Sequence[Candidate | AgedVersion]) -> list[AgedFact]:
    """Return facts as the branch shows them, with the reasons of the rows."""
    lineage = branch.lineage()
    shown = Fact.objects.in_lineage(lineage).filter(uid__in=[row.uid for row in rows]) if rows else None
    facts = {fact.uid: fact for fact in shown.fetch_all()} if shown is not None else {}
    annotate_facts(list(facts.values()), lineage, branch.project_id)
    for fact in facts.values():
        fact.branch = branch
    return [AgedFact(facts[row.uid], row.reason, row.since, row.worth) for row in rows if row.uid in facts]


def describe_runs(commits: list[Any]) -> None:
    """Set what the runs of one branch archived by reason, and whether each is undone."""
    if not commits:
        return
    rows = AgedVersion.objects.filter(branch=commits[0].branch_id, seq__in=[one.seq for one in commits])
    counts: dict[int, dict[str, int]] = {}
    for seq, reason, number in rows.values_list("seq", "reason").annotate(n=Count("vid")):
        counts.setdefault(seq, {})[reason] = number
    undone = find_reverted([one.pk for one in commits])
    for one in commits:
        found = counts.get(one.seq, {})
        one.reasons = {reason.value: found[reason.value] for reason in REASONS if reason.value in found}
        one.undone = one.pk in undone


def find_reasons(facts: Sequence[Fact]) -> dict[UUID, AgedVersion]:
    """Return why ageing archived facts, by the versions that are shown."""
    rows = AgedVersion.objects.filter(vid__in=[fact.vid for fact in facts])
    return {row.uid: row for row in rows}


# ---- every day ---------------------------------------------------------------------------------------


def age_projects() -> int:
    """Age the branches of each project with ``age_facts``; return how many facts were archived."""
    projects = Project.objects.filter(age_facts=True).order_by("pk")
    return sum(age_project(project) for project in projects)


def age_project(project: Project) -> int:
    """Age the branches of a project; one that refuses is left for another day."""
    actor = Actor(project.pk, "system", label="ageing", scopes=frozenset({"curate"}), surface="worker")
    live = Branch.objects.live().filter(project=project, read_only=False)
    done = 0
    for name in live.order_by("pk").values_list("name", flat=True):
        try:
            done += age_branch(actor, name)
        except REFUSALS:
            continue
        except Day1Error as error:
            logger.warning("Ageing of %s in %s: %s", name, project.slug, error.text)
    return done


def age_branch(actor: Actor, name: str) -> int:
    """Archive what has aged on a branch, commit by commit; return how many."""
    done = 0
    for _number in range(MAX_COMMITS):
        report = AgeingEngine().run_ageing(actor=actor, branch_name=name)
        done += report.count
        if not report.remaining:
            break
    return done
