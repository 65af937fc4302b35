"""Plans and checks of requests as they are shown; those of large plans are kept by this process for minutes.

A plan is a pure function of the commits at both points, the erasures, the strategy, the ids and the
decisions, but for facts that expire and texts that get their vectors: a plan that lacks vectors is kept
until one more is stored. What is merged is planned anew.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from memory.engines.embedding.models import VectorState, read_vector_state
from memory.engines.merging.checked_merge import Checked, check_plan, hide_check, renew_approvals
from memory.engines.merging.conflict_decisions import load_decisions, load_plan
from memory.engines.merging.gates import GateResult
from memory.engines.merging.pairs import Reason, build_key
from memory.engines.merging.plan import FullPlan, MergePoints
from memory.engines.merging.plan_views import LiveItems, PlanView
from memory.engines.merging.recall_gate import MergeRecall, measure_recall, stamp_questions
from memory.engines.merging.strategies import MergeOptions
from memory.engines.support.timed_cache import TimedCache
from memory.engines.versions.policies import find_policy
from memory.models import MergeRequest

CACHE_SIZE = 4  # large plans, of which keys alone are kept
CACHE_SECONDS = 600.0


@dataclass(frozen=True)
class Shown:
    """The view of a plan, and the results of its checks by what else they depend on. ``vectors`` is the
    state of a project's vectors before a plan that lacked some was made.
    """

    view: PlanView
    vectors: VectorState | None = None
    results: dict[Hashable, tuple[GateResult, ...]] = field(default_factory=dict)


shown_plans: TimedCache[Shown] = TimedCache(CACHE_SIZE, CACHE_SECONDS)


def build_options(request: MergeRequest) -> MergeOptions:
    return replace(request_options(request), decisions=load_decisions(request))


def request_options(request: MergeRequest) -> MergeOptions:
    """Return the options of a request without its decisions, which may be many."""
    return MergeOptions(request.source, request.target, request.strategy, request.get_ids(), request=request)


def show_plan(request: MergeRequest, points: MergePoints) -> PlanView:
    """Return the view of a request's plan at some points."""
    key = build_shown_key(request, points)
    if shown := find_shown(key, points):
        return shown.view
    vectors = read_vector_state(points.project_id)  # before the plan: it may lack what comes meanwhile
    return keep_plan(key, load_plan(build_options(request), points), vectors).view


def show_check(request: MergeRequest) -> tuple[Checked, PlanView]:
    """Return the checks of a request as both branches are now, and the view of its plan."""
    points = request_options(request).points
    policy = find_policy(points.project_id, request.target.name)
    key, stamp = build_shown_key(request, points), (policy, stamp_questions(points.project_id))
    shown = find_shown(key, points)
    if shown is None or stamp not in shown.results:
        options, vectors = build_options(request), read_vector_state(points.project_id)
        plan = load_plan(options, points)
        shown = shown or keep_plan(key, plan, vectors)
        shown.results[stamp] = check_plan(plan, options).results
    return renew_approvals(Checked(shown.results[stamp], policy), request), shown.view


def show_recall(request: MergeRequest) -> MergeRecall:
    """Return the ranks of the saved questions before and after the merge of a request, as it is now."""
    options = build_options(request)
    points = options.points
    return measure_recall(points, options, lambda: load_plan(options, points))


def hide_request(request: MergeRequest) -> tuple[Checked, None]:
    """Return the checks of a request for who may not read the target; there is no view of its plan."""
    return hide_check(request_options(request)), None


def find_shown(key: Hashable, points: MergePoints) -> Shown | None:
    """Return what is kept of a plan, unless it lacked vectors of which one has come since."""
    shown = shown_plans.get(key)
    is_stale = shown and shown.vectors and shown.vectors != read_vector_state(points.project_id)
    return None if is_stale else shown


def keep_plan(key: Hashable, plan: FullPlan, vectors: VectorState | None = None) -> Shown:
    """Keep the view of a large plan; one that lacks vectors only with the state of the ``vectors`` that was
    read before it was made.
    """
    is_whole = not plan.unchecked or plan.unchecked_reason == Reason.EMBEDDER_OFF
    is_waiting = plan.unchecked_reason == Reason.VECTORS_PENDING and vectors is not None
    shown = Shown(PlanView.from_plan(plan), None if is_whole else vectors)
    if (is_whole or is_waiting) and not isinstance(shown.view.items, LiveItems):
        shown_plans.put(key, shown)
    return shown


def build_shown_key(request: MergeRequest, points: MergePoints) -> Hashable:
    """Return what the plan of a request depends on; each change of its decisions has a time of its own."""
    return (
        *build_key(points),
        points.source.masked,
        request.strategy,
        request.get_ids(),
        request.pk,
        request.decided_at,
    )
