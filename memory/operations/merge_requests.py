"""What may be done with merge requests. A request is named by its id or its number."""

from memory.answers import merges as shapes
from memory.engines.fields.base import Use
from memory.engines.fields.common import STATED
from memory.engines.fields.merges import MERGE_REQUEST, MERGE_REQUEST_FILTERS
from memory.engines.fields.orders import MERGE_REQUESTS as ORDER
from memory.engines.merging.requests import MergeRequestEngine
from memory.models import MergeRequest
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = MergeRequestEngine()
ROW = Answer(shapes.MergeRequestShape, shapes.request_shape)
DETAIL = Answer(shapes.MergeRequestDetailShape, shapes.detail_shape)

MERGE_REQUESTS = Resource(
    "merge-requests", "merge-request", row=Row("request_id", "pk", "key"), model=MergeRequest, origin=STATED
)
MERGE_REQUESTS.add(
    "create",
    engine.create_request,
    "Ask for a merge",
    ROW,
    body="MergeRequestInput",
    about="A merge request to open.",
    fields=MERGE_REQUEST.select_fields(Use.CREATE),
)
MERGE_REQUESTS.add(
    "list",
    engine.list_requests,
    "List merge requests, newest first",
    ROW,
    filters=MERGE_REQUEST_FILTERS,
    order=ORDER,
)
MERGE_REQUESTS.show(
    "list",
    Column("number", head="number"),
    Column("state", head="state"),
    Column("source", head="from"),
    Column("target", head="into"),
    Column("author_label", head="by"),
    Column("created_at", head="opened", kind="time"),
    Column("title", head="title"),
)
MERGE_REQUESTS.add("retrieve", engine.check_request, "Read a merge request with its checks", DETAIL)
MERGE_REQUESTS.add_read(
    "plan",
    engine.plan_request,
    "What it would merge, and what was decided",
    Answer(shapes.MergePlanShape, shapes.request_plan_shape, is_whole=True),
    without=("checked",),
)
MERGE_REQUESTS.add(
    "decisions",
    engine.decide_conflicts,
    "Decide conflicts, one by one or by rule",
    Answer(shapes.SettledShape, shapes.settled_shape),
    body="DecisionsInput",
    about="Decisions on conflicts, or a choice for all conflicts of some reasons and one type.",
)
MERGE_REQUESTS.add(
    "withdraw_decision",
    engine.withdraw_decision,
    "Make conflicts undecided again",
    ROW,
    verb="delete",
    path="decisions",
)
MERGE_REQUESTS.add(
    "approve",
    engine.approve_request,
    "Approve it as the source is now",
    DETAIL,
    body="ApproveInput",
    about="What was read of the source.",
)
MERGE_REQUESTS.add(
    "withdraw_approval",
    engine.withdraw_approval,
    "Take one's own approval back",
    ROW,
    verb="delete",
    path="approve",
)
MERGE_REQUESTS.add(
    "reject",
    engine.reject_request,
    "Close it without a merge",
    ROW,
    body="RejectInput",
    about="Why it is not merged.",
)
MERGE_REQUESTS.add(
    "merge",
    engine.merge_request,
    "Merge it",
    Answer(shapes.MergedShape, shapes.merged_shape),
    body="MergeRequestMergeInput",
    about="The message of the commit, and whether gates are overruled.",
)
MERGE_REQUESTS.add(
    "revert",
    engine.revert_request,
    "Take its merge back by a new commit",
    ROW,
    body="StatedInput",
    about="The caller.",
)
