"""The fields of a merge request."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    ListOf,
    LongText,
    Moment,
    Record,
    Reference,
    Text,
    Whole,
)
from memory.models.merges import MergeDecision, MergeRequest

CREATE = READ | Use.CREATE
OFFERED = CREATE | Use.OPTION
TOOL = Use.TOOL_ANSWER
DESCRIPTION_BYTES = 16 * 1024
MAX_IDS = 1000  # memories that one cherry_pick names
TEXT_BYTES = 64 * 1024  # of a text that settles a conflict, as of a fact

Strategy = MergeRequest.Strategy
STRATEGY_WORDS = (
    (Strategy.AUTO.value, _("auto: what conflicts waits until somebody decides it")),
    (Strategy.THEIRS.value, _("theirs: every conflict is settled for the branch")),
    (Strategy.OURS.value, _("ours: every conflict is settled for the target")),
    (Strategy.SQUASH.value, _("squash: all new facts arrive as one fact, which lists them")),
    (Strategy.CHERRY_PICK.value, _("cherry_pick: only the memories that you tick")),
    (
        Strategy.FAST_FORWARD.value,
        _("fast_forward: refused when the target has commits of its own"),
    ),
)
STRATEGY = Field(
    "strategy",
    Choice(MergeRequest.Strategy.choices),
    "auto holds conflicts until they are decided; ours and theirs decide them for the target or the source;"
    " cherry_pick takes the memories in ids; squash makes one fact of all new ones; fast_forward refuses when"
    " the target has changes of its own.",
    OFFERED,
    default=MergeRequest.Strategy.AUTO,
    label=_("Strategy"),
    form_choices=STRATEGY_WORDS,
    form_rows=1,
    option=Option(checked=True),
)
IDS = Field(
    "ids",
    ListOf(Reference(36, 1), max_items=MAX_IDS),
    "The memories that cherry_pick takes.",
    OFFERED,
    label=_("Memories"),
    form_label=_("Memories to take"),
    form_help=_("Links, verdicts and messages come with what they belong to."),
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
        form_help=_("What was learned, and what a reader should look at."),
        form_rows=5,
        option=Option("what it is for"),
    ),
    Field("source", Reference(200, 1), "The branch to merge.", CREATE, required=True, label=_("From")),
    Field(
        "target",
        Reference(200, 1),
        "main when it is not given.",
        CREATE,
        label=_("Into"),
        suggestions="targets",
        option=Option("default main", "--into", "NAME"),
    ),
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
    Field(
        "reason",
        Text(500),
        use=READ,
        label=_("Reason"),
        answer_help="Why it was rejected.",
        option=Option("why"),
    ),
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

SOURCE_SEQ = Field("source_seq", Whole(), "409 when the source has moved since.")
READ_AT = Field("decided_at", Moment(), "Of what was read: 409 when a decision was made or taken back since.")
MESSAGE = Field("message", Text(500), option=Option("the message of the commit"))
FORCE = Field(
    "force",
    Flag(),
    "true merges in spite of gates and approvals: scope admin, audited.",
    option=Option("in spite of gates and approvals: an admin may, and it is audited"),
)
KIND = Field(
    "type",
    Reference(20),
    "Only this kind of memory.",
    option=Option("only this kind of memory", metavar="TYPE"),
)
CHOICE = Choice(tuple(MergeDecision.Choice.choices))
TEXT = Field("text", LongText(TEXT_BYTES, blank=True))
MAX_DECISIONS = 1000  # in one call; a rule settles any number
DECISION = Record(
    "DecisionInput",
    "What is decided about one conflict.",
    (
        Field("id", Identifier(), required=True),
        Field("type", Reference(20, 1), "The kind of memory; fact by default."),
        Field("choice", CHOICE, required=True),
        Field("token", Reference(64), "Of the plan: 409 when it changed since."),
        Field("text", LongText(TEXT_BYTES, blank=True, published=False), "The text, with the choice edited."),
    ),
)
DECISIONS = Field("decisions", ListOf(DECISION, max_items=MAX_DECISIONS))
RULE = Field("choice", CHOICE)
RULE_KIND = Field("type", Reference(20), "All, when not given.")
REASONS = Field("reasons", ListOf(Reference(200)), "All, without any.")
ONLY_OPEN = Field("only_open", Flag(), "With a choice for all: what was decided before stays as it is.")
DECIDED_ID = Field("id", Identifier(), "The memory that was decided.")
DECIDED_AT = Field(
    "decided_at", Moment(), "Without an id: what you decided in one call, whose answer has this time."
)
