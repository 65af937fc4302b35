"""Observations: captured once; only a failure that becomes known later changes one.

A text that is too long is cut with a mark, never refused.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from memory.actors import Actor
from memory.db.bulk_sql import build_row
from memory.db.querysets import VersionedQuerySet
from memory.db.transactions import retry_methods
from memory.engines.embedding.enqueue import enqueue_embedding
from memory.engines.facts.filters import Filter, filters_by, list_values
from memory.engines.facts.links import target_model
from memory.engines.fields.base import Use
from memory.engines.fields.capture import OBSERVATION, OBSERVATION_FILTERS, OBSERVATION_TEXTS
from memory.engines.fields.common import STATED_CHECKS
from memory.engines.search.text_search import LIMIT, QUERY, RECIPE, SEARCH_TYPE, TextSearchResult, text_search
from memory.engines.sessions import tool_calls as o
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, paginate_versions
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN, open_point
from memory.engines.versions.policies import Write
from memory.engines.versions.repositories import filter_sessions
from memory.exceptions import Invalid, NotFound, TooLarge
from memory.models import FactLink, Observation

MAX_OBSERVATIONS = 1000
OUTPUT_ROLE = "tool_result"  # of a message that is the full output of a call
CHECKS = {f.name: f.check for f in OBSERVATION.select_fields(Use.CREATE) if f.name not in OBSERVATION_TEXTS}


@filters_by(OBSERVATION_FILTERS)
class ObservationFilter(Filter):
    """Filter of observations: all fields must match, a tuple by any of its values."""

    def apply(self, rows: VersionedQuerySet) -> VersionedQuerySet:
        """Filter the rows by all fields; ``after`` and ``before`` are times of recording."""
        for name, value in list_values(self, rows).items():
            if name == "after":
                rows = rows.filter(created_at__gte=value)
            elif name == "before":
                rows = rows.filter(created_at__lt=value)
            elif name == "task_id":
                rows = rows.filter(task_id__in=value)
            elif name == "repository":
                rows = filter_sessions(rows, value)
            else:
                rows = rows.filter_indexed(**{name: value})
        return rows


@retry_methods
class ObservationEngine:
    # ---- writing -------------------------------------------------------------------------------

    def write_observation(self, *, actor: Actor, branch_name: str = MAIN, **fields: Any) -> Observation:
        """Store one observation: a ``summary``, or a tool call (``tool_name``, ``raw_input`` and
        ``raw_output``, text or JSON), from which summary, outcome and type are derived unless given.

        Texts are cut at 2,000 characters. Raises Invalid and its subclasses, BranchNotFound, BranchArchived,
        scope and branch refusals.
        """
        return self.write_observations(observations=[fields], actor=actor, branch_name=branch_name)[0]

    def write_observations(
        self, *, observations: Sequence[Mapping[str, Any]], actor: Actor, branch_name: str = MAIN
    ) -> Sequence[Observation]:
        """Store up to 1,000 observations in one commit, all or none, in the order given."""
        actor.require_scope("write", branch_name)
        if not isinstance(observations, Sequence) or not observations:
            raise Invalid("{field} must be a list with at least one observation.", field="observations")
        if len(observations) > MAX_OBSERVATIONS:
            raise TooLarge(what="The list", limit=f"{MAX_OBSERVATIONS} observations", field="observations")
        items = c.secrets_found.walk("observations", observations)
        rows = [build_observation(fields, actor) for fields in items]
        with open_commit(actor, branch_name, "observation.write", write=Write.ADD) as commit:
            return self.add_observations(commit, rows)

    def add_observations(
        self, commit: CommitWriter, rows: Sequence[Observation], calls: "EarlierCalls | None" = None
    ) -> Sequence[Observation]:
        """Add rows that ``build_observation`` made to the caller's commit; ``calls`` are read where the
        caller has not.

        An output is left to the message that holds it in full. Raises Invalid for a parent or a message that
        the branch does not show.
        """
        _take_messages(commit, rows)
        _check_parents(commit, rows)
        calls = calls or EarlierCalls(commit, rows)
        for row in rows:
            settle_type(row, calls)
            calls.add_call(row)
        enqueue_embedding(commit, rows)
        commit.add_rows(rows)
        commit.begin_sessions(rows)
        commit.targets += [row.uid for row in rows]
        return rows

    def mark_failed(self, commit: CommitWriter, uids: Sequence[UUID]) -> None:
        """Mark calls as failed that were taken for successes, when a program tells of it later.

        The same call that worked afterwards becomes a discovery, as if the failure had been known.
        """
        for uid in sorted(uids, reverse=True):  # the last first: a repair that failed itself is none
            row = commit.get_version(Observation, uid)
            if row.outcome == o.Outcome.SUCCESS:
                change = {"outcome": o.Outcome.ERROR, "observation_type": o.Type.ERROR, "embed": True}
                changed = [commit.change_row(row, **change), *_mark_repair(commit, row)]
                enqueue_embedding(commit, changed)
                commit.targets += [str(one.uid) for one in changed]

    def mark_repairs(self, commit: CommitWriter, rows: Sequence[Observation]) -> None:
        """Make calls discoveries that worked after failures which are added late."""
        for row in rows:
            if row.outcome != o.Outcome.SUCCESS and row.session_id and row.tool_name:
                changed = _mark_repair(commit, row)
                enqueue_embedding(commit, changed)
                commit.targets += [str(one.uid) for one in changed]

    # ---- reading -------------------------------------------------------------------------------

    def get_observation(
        self, *, observation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> Observation:
        """Return an observation of a branch. Raises NotFound."""
        branch, seq = open_point(actor, branch_name, at)
        for row in Observation.objects.on(branch, seq).filter(uid=observation_id).fetch_all():
            return row
        raise NotFound()

    def list_observations(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        filters: ObservationFilter | None = None,
        at: Any = None,
        limit: int = 50,
        cursor: str = "",
        ordering: str = "",
    ) -> Page[Observation]:
        """List observations, newest first."""
        branch, seq = open_point(actor, branch_name, at, cursor)
        rows = (filters or ObservationFilter()).apply(Observation.objects.on(branch, seq))
        return paginate_versions(rows, seq=seq, limit=limit, cursor=cursor, at=at, ordering=ordering)

    def list_timeline(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        after: datetime | None = None,
        before: datetime | None = None,
        limit: int = 50,
        cursor: str = "",
        **options: Any,
    ) -> Page[Observation]:
        """List the observations between two times, newest first; ``options`` are other filters by name."""
        filters = ObservationFilter.from_values({**options, "after": after, "before": before})
        return self.list_observations(
            actor=actor,
            branch_name=branch_name,
            filters=filters,
            limit=limit,
            cursor=cursor,
        )

    def search_observations(
        self,
        *,
        query: Annotated[str, QUERY],
        actor: Actor,
        branch_name: str = MAIN,
        filters: ObservationFilter | None = None,
        limit: Annotated[int, LIMIT] = 10,
        search_type: Annotated[str, SEARCH_TYPE] = "hybrid",
        recipe: Annotated[str, RECIPE] = "",
        at: Any = None,
    ) -> TextSearchResult:
        """Search the observations of a branch; those without a vector are found by their words.

        Raises Invalid, QueryTooLong, BranchNotFound, scope and branch refusals.
        """
        branch, seq = open_point(actor, branch_name, at)
        rows = (filters or ObservationFilter()).apply(Observation.objects.on(branch, seq))
        return text_search(rows, actor=actor, search_type=search_type, recipe=recipe).find_rows(query, limit)


# ---- row construction ------------------------------------------------------------------------------


def build_observation(fields: Mapping[str, Any], actor: Actor, *, is_clean: bool = False) -> Observation:
    """Build a row from a caller's values, without storing it; ``is_clean`` says that its texts hold no
    secrets any more. Raises UnknownField, Invalid, AgentForbidden.
    """
    if not isinstance(fields, Mapping):
        raise Invalid("An observation must be an object.", field="")
    if not is_clean:
        texts = [name for name in OBSERVATION_TEXTS if fields.get(name)]
        fields = {**fields, **{name: c.without_secrets(name, fields[name]) for name in texts}}
    actor = actor.with_origin(
        **c.validate({k: v for k, v in fields.items() if k in STATED_CHECKS}, STATED_CHECKS)
    )
    rest = {k: v for k, v in fields.items() if k not in STATED_CHECKS and k not in OBSERVATION_TEXTS}
    values = {**c.validate(rest, CHECKS), **build_texts(fields), **actor.owner_fields()}
    row = build_row(Observation, {"rid": None, **values})  # the commit numbers its rows
    if not row.summary:
        raise Invalid("An observation needs a summary or a tool_name.", field="summary")
    if "outcome" not in rest and row.tool_name:
        row.outcome = o.detect_outcome(fields.get("raw_output"))
    row.embed = rest.get("embed")  # type: ignore[assignment]  # None until the type is known
    row.compute_hashes()
    return row


def build_texts(fields: Mapping[str, Any]) -> dict[str, str]:
    tool = o.as_text(fields.get("tool_name")).strip()[:200]
    summary = o.truncate(o.as_text(fields.get("summary")).strip())
    if not summary and tool:
        summary = o.summarize_call(tool, fields.get("raw_input"), fields.get("raw_output"))
    cut = {name: o.truncate(o.as_text(fields.get(name))) for name in ("raw_input", "raw_output")}
    return {"tool_name": tool, "summary": summary, **cut}


class EarlierCalls:
    """The same calls as those of a batch, stored before or in it, read at once for all."""

    def __init__(self, commit: CommitWriter, rows: Sequence[Observation]) -> None:
        self._by_call: dict[tuple[str, str], list[Observation]] = {}
        groups = [(row.session_id, row.input_hash, row.uid) for row in rows if _may_repair(row)]
        shown = commit.visible_rows(Observation)
        for row in shown.newest_in_groups(("session_id", "input_hash"), groups):
            self.add_call(row)

    def add_call(self, row: Observation) -> None:
        self._by_call.setdefault((row.session_id, row.input_hash), []).append(row)

    def find_failed(self, row: Observation) -> Observation | None:
        """Return the same call of this session, where it failed the last time."""
        same = self._by_call.get((row.session_id, row.input_hash), ())
        # A row that is added late has its place before others, which are stored already.
        before = [other for other in same if other.uid < row.uid]
        last = max(before, key=lambda other: other.uid, default=None)
        return last if last and last.outcome != o.Outcome.SUCCESS else None


def _may_repair(row: Observation) -> bool:
    is_success = row.outcome == o.Outcome.SUCCESS
    return bool(is_success and row.session_id and row.tool_name and not row.observation_type)


def settle_type(row: Observation, calls: EarlierCalls) -> None:
    """Set the fields that depend on other rows: the failed call that it repairs, its type, and ``embed``."""
    failed = calls.find_failed(row) if _may_repair(row) else None
    if not row.observation_type:
        row.observation_type = o.choose_type(row.outcome, failed is not None)
    if failed is not None and not row.parent_id:
        row.parent_id = failed.uid
    if row.embed is None:
        row.embed = row.observation_type in o.EMBEDDED


def _check_parents(commit: CommitWriter, rows: Sequence[Observation]) -> None:
    """Check that the branch shows each parent, or that it comes earlier in the batch."""
    earlier, named = set(), []
    for row in rows:
        if row.parent_id and row.parent_id not in earlier:
            named.append(row.parent_id)
        earlier.add(row.uid)
    visible = commit.visible_rows(Observation).filter(uid__in=named)
    shown = {uid for (uid,) in visible.gather_values("uid")} if named else set()
    if missing := [uid for uid in named if uid not in shown]:
        raise Invalid("There is no observation {id} on this branch.", id=missing[0], field="parent_id")


def _take_messages(commit: CommitWriter, rows: Sequence[Observation]) -> None:
    """Check that the branch shows each message; an output that one of them is, is not stored twice."""
    named = {row.message_id for row in rows if row.message_id}
    if not named:
        return
    model = target_model(FactLink.Target.MESSAGE)
    fresh: Sequence[Any] = commit.list_fresh(model)
    roles = {row.uid: row.role for row in fresh if row.uid in named}
    if before := named.difference(roles):
        visible = commit.visible_rows(model).filter(uid__in=before)
        roles |= dict(visible.gather_values("uid", "role"))
    if missing := sorted(named - set(roles)):
        raise Invalid("There is no message {id} on this branch.", id=missing[0], field="message_id")
    for row in rows:
        if row.message_id and roles[row.message_id] == OUTPUT_ROLE:
            row.raw_output = ""


def _mark_repair(commit: CommitWriter, failed: Observation) -> list[Observation]:
    """Make the next same call of the session a discovery, where it worked."""
    same = commit.visible_rows(Observation).filter_indexed(session_id=failed.session_id)
    following = same.filter(input_hash=failed.input_hash).lowest(1, "uid", failed.uid)
    change = {"observation_type": o.Type.DISCOVERY, "parent_id": failed.uid, "embed": True}
    return [commit.change_row(row, **change) for row in following if row.observation_type == o.Type.TOOL_USE]
