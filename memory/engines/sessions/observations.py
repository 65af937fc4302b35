"""Observations: captured once, never changed. What is too long is cut with a mark, never refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.db.querysets import VersionedQuerySet
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines import observing as o
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.commits import CommitWriter, committing
from memory.engines.fact_rules import STATED
from memory.engines.filters import Filter, several
from memory.engines.pages import Page, page_of_versions, point_in_list
from memory.engines.text_search import TextFound, text_search
from memory.engines.texts import announce
from memory.exceptions import Invalid, NotFound, TooLarge
from memory.models import Observation

BULK = 1000
CHECKS: dict[str, c.Check] = {
    "observation_type": c.one_of(Observation.Type.values),
    "outcome": c.one_of(Observation.Outcome.values),
    "parent_id": c.optional(c.identifier),
    "message_id": c.optional(c.identifier),
    "metadata": c.json_object(64 * 1024),
    "embed": c.boolean,
}
TEXTS = ("tool_name", "summary", "raw_input", "raw_output")


FILTERS: dict[str, c.Check] = {
    "observation_type": several(c.one_of(Observation.Type.values)),
    "outcome": several(c.one_of(Observation.Outcome.values)),
    **{name: several(c.text(200, least=1)) for name in ("tool_name", "session_id", "agent_id", "task_id")},
    "after": c.moment,
    "before": c.moment,
}


@dataclass(frozen=True)
class ObservationFilter(Filter):
    """Observations that have all of these; a tuple means one of its values."""

    CHECKS = FILTERS

    observation_type: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    tool_name: tuple[str, ...] = ()
    session_id: tuple[str, ...] = ()
    agent_id: tuple[str, ...] = ()
    task_id: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None

    def apply(self, rows: VersionedQuerySet) -> VersionedQuerySet:
        """``after`` and ``before`` are the times at which they were recorded."""
        for name, value in self.said().items():
            if name == "after":
                rows = rows.filter(created_at__gte=value)
            elif name == "before":
                rows = rows.filter(created_at__lt=value)
            elif name == "task_id":
                rows = rows.filter(task_id__in=value)
            else:
                rows = rows.narrowed(**{name: value})
        return rows


@rerunning
class ObservationEngine:
    # ---- writing -------------------------------------------------------------------------------

    def write_observation(self, *, actor: Actor, branch_name: str = MAIN, **fields: Any) -> Observation:
        """Keep one observation. Given are a ``summary``, or a tool call: ``tool_name``, ``raw_input`` and
        ``raw_output`` (text or JSON), from which summary, outcome and type are worked out unless stated.

        Texts are cut at 2,000 characters. Raises Invalid and its kin, BranchNotFound, BranchArchived,
        scope and branch refusals.
        """
        return self.write_observations(observations=[fields], actor=actor, branch_name=branch_name)[0]

    def write_observations(
        self, *, observations: Sequence[Mapping[str, Any]], actor: Actor, branch_name: str = MAIN
    ) -> Sequence[Observation]:
        """Up to 1,000 in one commit, all or none, in the order given."""
        actor.require("write", branch_name)
        if not isinstance(observations, Sequence) or not observations:
            raise Invalid("{field} must be a list with at least one observation.", field="observations")
        if len(observations) > BULK:
            raise TooLarge(what="The list", limit=f"{BULK} observations", field="observations")
        rows = [observation_of(given, actor) for given in observations]
        with committing(actor, branch_name, "observation.write") as commit:
            return self.add(commit, rows)

    def add(self, commit: CommitWriter, rows: Sequence[Observation]) -> Sequence[Observation]:
        """Rows that ``observation_of`` made, in the caller's commit. Raises Invalid for an unknown parent."""
        for place, row in enumerate(rows):
            _settle(commit, row, rows[:place])
        commit.add(rows)
        commit.begin_sessions(rows)
        announce(commit, rows)
        commit.targets += [str(row.uid) for row in rows]
        return rows

    # ---- reading -------------------------------------------------------------------------------

    def get_observation(
        self, *, observation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> Observation:
        """Raises NotFound."""
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        for row in Observation.objects.on(branch, point_of(branch, at)).filter(uid=observation_id).gather():
            return row
        raise NotFound()

    def list_observations(
        self, *, actor: Actor, branch_name: str = MAIN, filters: ObservationFilter | None = None,
        at: Any = None, limit: int = 50, cursor: str = "",
    ) -> Page[Observation]:  # fmt: skip
        """The newest first."""
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        seq = point_of(branch, point_in_list(branch, cursor, at))
        rows = (filters or ObservationFilter()).apply(Observation.objects.on(branch, seq))
        return page_of_versions(rows, seq=seq, limit=limit, cursor=cursor, at=at)

    def timeline(
        self, *, actor: Actor, branch_name: str = MAIN, after: datetime | None = None,
        before: datetime | None = None, limit: int = 50, cursor: str = "", **how: Any,
    ) -> Page[Observation]:  # fmt: skip
        """What was observed between two times, the newest first; ``how`` are other filters by name."""
        filters = ObservationFilter.of({**how, "after": after, "before": before})
        return self.list_observations(
            actor=actor, branch_name=branch_name, filters=filters, limit=limit, cursor=cursor
        )

    def search_observations(
        self, *, query: str, actor: Actor, branch_name: str = MAIN, filters: ObservationFilter | None = None,
        limit: int = 10, search_type: str = "hybrid", recipe: str = "", at: Any = None,
    ) -> TextFound:  # fmt: skip
        """The best observations for a query; those without a vector are found by their words.

        Raises Invalid, QueryTooLong, BranchNotFound, scope and branch refusals.
        """
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        rows = (filters or ObservationFilter()).apply(Observation.objects.on(branch, point_of(branch, at)))
        return text_search(rows, actor=actor, search_type=search_type, recipe=recipe).find(query, limit)


# ---- making a row ----------------------------------------------------------------------------------


def observation_of(given: Mapping[str, Any], actor: Actor) -> Observation:
    """The row of what a caller gave, not stored yet. Raises UnknownField, Invalid, AgentForbidden."""
    if not isinstance(given, Mapping):
        raise Invalid("An observation must be an object.", field="")
    actor = actor.stating(**c.clean({k: v for k, v in given.items() if k in STATED}, STATED))
    rest = {k: v for k, v in given.items() if k not in STATED and k not in TEXTS}
    row = Observation(**c.clean(rest, CHECKS), **_texts(given), **actor.stated())
    if not row.summary:
        raise Invalid("An observation needs a summary or a tool_name.", field="summary")
    if "outcome" not in rest and row.tool_name:
        row.outcome = o.outcome_of(given.get("raw_output"))
    row.embed = rest.get("embed")  # type: ignore[assignment]  # None until the type is known
    row.rehash()
    return row


def _texts(given: Mapping[str, Any]) -> dict[str, str]:
    tool = o.as_text(given.get("tool_name")).strip()[:200]
    summary = o.cut(o.as_text(given.get("summary")).strip())
    if not summary and tool:
        summary = o.summary_of(tool, given.get("raw_input"), given.get("raw_output"))
    cut = {name: o.cut(o.as_text(given.get(name))) for name in ("raw_input", "raw_output")}
    return {"tool_name": tool, "summary": summary, **cut}


def _settle(commit: CommitWriter, row: Observation, before: Sequence[Observation]) -> None:
    """What can only be said beside the others: the failure that it repairs, and so its type."""
    if row.parent_id and row.parent_id not in {other.uid for other in before}:
        _check_parent(commit, row.parent_id)
    failed = None
    if not row.observation_type:
        if row.outcome == o.O.SUCCESS and row.session_id and row.tool_name:
            failed = _failed_before(commit, row, before)
        row.observation_type = o.type_of(row.outcome, failed is not None)
    if failed is not None and not row.parent_id:
        row.parent_id = failed.uid
    if row.embed is None:
        row.embed = row.observation_type in o.EMBEDDED


def _check_parent(commit: CommitWriter, uid: UUID) -> None:
    if not commit.visible(Observation).filter(uid=uid).gather():
        raise Invalid("There is no observation {id} on this branch.", id=uid, field="parent_id")


def _failed_before(
    commit: CommitWriter, row: Observation, before: Sequence[Observation]
) -> Observation | None:
    """The same call of this session, when it failed the last time."""
    own = [other for other in before if _same_call(other, row)]
    if not own:
        same = commit.visible(Observation).narrowed(session_id=row.session_id)
        own = same.filter(input_hash=row.input_hash).newest(1)
    return own[-1] if own and own[-1].outcome != o.O.SUCCESS else None


def _same_call(other: Observation, row: Observation) -> bool:
    return (other.session_id, other.input_hash) == (row.session_id, row.input_hash)
