"""The fields of a merge request."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Choice, Identifier, ListOf, LongText, Reference, Text, Whole
from memory.models.merges import MergeDecision, MergeRequest

CREATE = READ | Use.CREATE
OFFERED = CREATE | Use.OPTION
TOOL = Use.TOOL_ANSWER
DESCRIPTION_BYTES = 16 * 1024
MAX_IDS = 1000  # memories that one cherry_pick names
TEXT_BYTES = 64 * 1024  # of a text that settles a conflict, as of a fact

STRATEGY = Field(
    "strategy",
    Choice(MergeRequest.Strategy.choices),
    "auto holds conflicts until they are decided; ours and theirs decide them for the target or the source;"
    " cherry_pick takes the memories in ids; squash makes one fact of all new ones; fast_forward refuses when"
    " the target has changes of its own.",
    OFFERED,
    default=MergeRequest.Strategy.AUTO,
    label=_("Strategy"),
    option=Option(checked=True),
)
IDS = Field(
    "ids",
    ListOf(Reference(36, 1)),
    "The memories that cherry_pick takes.",
    OFFERED,
    label=_("Memories"),
    option=Option("take this one, with --strategy cherry_pick", "--id", "ID"),
)

MERGE_REQUEST = Noun(
    "merge_request",
    Field("id", Identifier(), use=READ),
    Field("number", Whole(), use=READ, label=_("Number"), answer_help="Counted in the project, from 1."),
    Field(
        "title",
        Text(200),
        "Made from the two branches when it is not given.",
        OFFERED,
        label=_("Title"),
        option=Option("default: made from the two branches"),
    ),
    Field(
        "description",
        LongText(DESCRIPTION_BYTES, blank=True, published=False),
        "What it is for, up to 16 KiB.",
        OFFERED,
        label=_("Description"),
        option=Option("what it is for"),
    ),
    Field("source", Reference(200, 1), "The branch to merge.", CREATE, required=True, label=_("From")),
    Field("target", Reference(200, 1), "main when it is not given.", CREATE, label=_("Into")),
    STRATEGY,
    IDS,
    Field(
        "state",
        Choice(MergeRequest.State.choices),
        use=READ,
        label=_("State"),
        attribute="current_state",
        answer_help="approved while the source has no newer commit than those that were approved.",
    ),
    Field("author_kind", Reference(10), use=READ),
    Field("author_id", Reference(64), use=READ),
    Field("author_label", Reference(200), use=READ, label=_("By")),
    Field("author_agent", Reference(200), use=READ, label=_("Agent")),
    answered_time("created_at"),
    Field("source_seq", Whole(), use=READ, answer_help="Of the source, when it was checked."),
    Field("target_seq", Whole(), use=READ, answer_help="Of the target, when it was checked."),
    answered_time("closed_at", null=True),
    Field("closed_by", Reference(200), use=READ),
    Field("closed_by_kind", Reference(10), use=READ),
    Field("reason", Text(500), use=READ, label=_("Reason"), answer_help="Why it was rejected."),
    Field("merge_commit", Identifier(), use=READ, answer_null=True, attribute="merge_commit_id"),
    Field("revert_commit", Identifier(), use=READ, answer_null=True, attribute="revert_commit_id"),
)
MERGE_REQUEST_FILTERS = MERGE_REQUEST.filtered_by(
    one_of(
        "state",
        Choice(MergeRequest.State.choices),
        "Requests in this state.",
        option=Option("in this state", checked=True),
    ),
    one_of("source", Reference(200), "Requests to merge this branch.", option=Option("from this branch")),
    one_of(
        "target", Reference(200), "Requests to merge into this branch.", option=Option("into this branch")
    ),
)

CHOICE = Choice(MergeDecision.Choice.choices)
TEXT = Field("text", LongText(TEXT_BYTES, blank=True))
