"""The fields of handoffs."""

from typing import TypedDict

from django.utils.translation import gettext_lazy as _

from curation.models import Handoff
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import STATED, answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.tasks import CHANGING_AGENT
from memory.engines.fields.types import Choice, Flag, Identifier, JSONObject, ListOf, Reference, Text, Whole

TOOL = Use.TOOL_ANSWER
WRITTEN = Use.CREATE | Use.TOOL_CREATE | Use.OPTION
CREATE = READ | TOOL | WRITTEN
MAX_BLOCKERS = 20
MAX_FACTS = 200  # that may be named
SUMMARY_LENGTH = 4000
TYPE_WORDS = (
    ("task_continuation", _("another agent continues")),
    ("agent_switch", _("another kind of agent takes over")),
    ("session_handoff", _("the next session continues")),
    ("escalation", _("needs a more capable agent")),
)


GIVER = (
    Field(
        "session_id",
        Reference(200),
        "The session that hands over; 404 for an unknown one.",
        label=_("Session"),
        form_help=_("Its facts and its last messages are handed over. Empty: the facts of the branch."),
        option=Option("the session that hands over", "--session", "ID"),
    ),
    Field("task_id", Reference(200), option=Option("the task that it is for", "--task", "ID")),
    CHANGING_AGENT.with_traits(help="Who hands over; 403 when the key is bound to another."),
)
RECEIVER = (*STATED[:2], CHANGING_AGENT.with_traits(help="Who answers; the key's by default."))


class HandoffFields(TypedDict, total=False):
    """What may be said of a new handoff, in Python."""

    handoff_type: str
    source_branch: str
    target_branch: str
    to_agent: str
    context_summary: str
    instructions: str
    blockers: list[str]
    include_unverified: bool
    fact_ids: list[str]


HANDOFF = Noun(
    "handoff",
    Field("id", Identifier(), use=READ | TOOL),
    Field(
        "handoff_type",
        Choice(Handoff.Type.choices),
        "Why it is handed over; task_continuation when it is not given.",
        CREATE | Use.FORM,
        default=Handoff.Type.TASK_CONTINUATION.value,
        label=_("Kind of handoff"),
        form_choices=TYPE_WORDS,
        tool_help=(
            "task_continuation: another agent continues; agent_switch: another kind of agent takes over;"
            " session_handoff: the next session of yours; escalation: it needs a more capable one."
        ),
        option=Option("task_continuation, agent_switch, session_handoff or escalation", "--type", "NAME"),
    ),
    Field(
        "source_branch",
        Reference(200, 1),
        "The branch whose facts are handed over; that of the session, else main.",
        CREATE | Use.FORM,
        attribute="source.name",
        label=_("From branch"),
        form_help=_("The branch whose facts are handed over."),
        tool_help="The branch whose facts are handed over; default: the branch that you work on.",
        option=Option("the branch whose facts are handed over", "--from", "NAME"),
    ),
    Field(
        "target_branch",
        Reference(200, 1),
        "The branch on which the receiver works; the source branch when it is not given.",
        CREATE | Use.FORM,
        attribute="target.name",
        label=_("To branch"),
        form_help=_("Where the receiver works. The same branch when it is empty."),
        tool_help="The branch on which the receiver works; default: the source branch.",
        option=Option("the branch on which the receiver works", "--to", "NAME"),
    ),
    Field(
        "to_agent",
        Reference(200),
        "Who receives it; anybody on the target branch when it is not given.",
        CREATE | Use.FORM,
        label=_("For agent"),
        form_help=_("Empty: for whoever works on the target branch."),
        tool_help="Who receives it; default: whoever works on the target branch.",
        option=Option("who receives it", "--to-agent", "ID"),
    ),
    Field(
        "context_summary",
        Text(SUMMARY_LENGTH),
        "What was found, up to 4,000 characters; made of the session's summary and the five best facts when"
        " it is not given.",
        CREATE | Use.FORM,
        label=_("Summary"),
        form_rows=3,
        form_help=_("Made of the session’s summary and the five best facts when it is empty."),
        tool_help="What you found. Default: your session's summary and the five best facts.",
        option=Option("what was found", "--summary"),
    ),
    Field(
        "instructions",
        Text(4000),
        "What the receiver should do next, up to 4,000 characters.",
        CREATE | Use.FORM,
        label=_("Instructions"),
        form_rows=3,
        option=Option("what the receiver should do next"),
    ),
    Field(
        "blockers",
        ListOf(Text(500, 1), max_items=MAX_BLOCKERS),
        "Up to 20 things that stand in the way, each up to 500 characters.",
        CREATE | Use.FORM,
        label=_("Blockers"),
        form_help=_("One on each line, up to 20."),
        form_rows=3,
        option=Option("what stands in the way; as often as there are", "--blocker", "TEXT"),
    ),
    Field(
        "include_unverified",
        Flag(),
        "Take unverified facts too; invalidated ones never are.",
        WRITTEN | Use.FORM,
        label=_("Unverified facts too"),
        option=Option("take unverified facts too"),
    ),
    Field(
        "fact_ids",
        ListOf(Identifier()),
        "The facts to hand over, up to 200; by default the best that the session, else the branch, wrote.",
        WRITTEN,
        option=Option("a fact to hand over; as often as there are", "--fact", "ID"),
    ),
    Field(
        "verification_status",
        Choice(Handoff.Verification.choices),
        use=READ | TOOL,
        label=_("Verification"),
        answer_help="verified: every fact is; partial: some are not; empty: there is no fact.",
    ),
    Field("state", Choice(Handoff.State.choices), use=READ | TOOL, label=_("State")),
    Field(
        "reason",
        Text(1000, 1),
        "Why it is rejected, up to 1,000 characters.",
        READ | TOOL | Use.UPDATE | Use.TOOL_UPDATE | Use.OPTION,
        label=_("Reason"),
        form_rows=2,
        tool_help="With answer=reject: why.",
        option=Option("why it is rejected"),
    ),
    Field("left_out", JSONObject(), use=READ | TOOL, answer_help="Why facts are not in it, and how many."),
    Field("fact_count", Whole(), use=READ),
    Field("message_count", Whole(), use=READ),
    Field(
        "sha256", Reference(64), use=READ, answer_help="Of the content; an erasure rewrites and hashes anew."
    ),
    Field("session_id", Reference(200), use=READ | TOOL, answer_help="The session that handed over."),
    Field("task_id", Reference(200), use=READ | TOOL),
    Field("agent_id", Reference(200), use=READ | TOOL, answer_help="Who handed over."),
    Field("created_by", Reference(200), use=READ | TOOL),
    answered_time("created_at", TOOL),
    answered_time("read_at", null=True, answer_help="When a receiver first read it."),
    answered_time("decided_at", null=True),
    Field("decided_by", Reference(200), use=READ),
)
HANDOFF_FILTERS = HANDOFF.filtered_by(
    one_of("state", Choice(Handoff.State.choices), "Handoffs in this state.", option=Option(checked=True)),
    one_of(
        "handoff_type",
        Choice(Handoff.Type.choices),
        "Handoffs of this kind.",
        option=Option("of this kind", "--type", "NAME"),
    ),
    one_of(
        "target_branch",
        Reference(200),
        "Handoffs to this branch.",
        option=Option("to this branch", "--to", "NAME"),
    ),
    one_of(
        "to_agent",
        Reference(200),
        "Handoffs to this agent.",
        option=Option("to this agent", "--to-agent", "ID"),
    ),
)
