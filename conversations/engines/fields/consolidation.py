"""The fields of runs of consolidation."""

from django.utils.translation import gettext_lazy as _

from conversations.engines.fields.conversations import CREATE
from conversations.models import ConsolidationRun
from memory.engines.fields.base import READ, Field, Noun, Option
from memory.engines.fields.common import (
    ANY_BRANCH,
    answered_time,
)
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    ListOf,
    Number,
    Reference,
    Text,
    Whole,
)

CURRENT_CYCLE = Field("current_cycle", Whole(), "Of dreaming: not before the branch's own.")
RUN_BRANCH = ANY_BRANCH.with_traits(help="Runs on this branch; on every branch when it is not given.")

LEVEL, STATE = Choice(ConsolidationRun.Level.choices), Choice(ConsolidationRun.State.choices)
LEVEL_WORDS = (
    (ConsolidationRun.Level.SESSION.value, _("Session")),
    (ConsolidationRun.Level.AGENT.value, _("Agent")),
    (ConsolidationRun.Level.TASK.value, _("Task")),
    (ConsolidationRun.Level.DREAMING.value, _("Dreaming")),
)

CONSOLIDATION = Noun(
    "consolidation",
    Field("id", Identifier(), use=READ),
    Field("branch", Reference(200), use=READ, attribute="branch.name"),
    Field(
        "level",
        LEVEL,
        "What is consolidated.",
        CREATE,
        required=True,
        label=_("Level"),
        form_choices=LEVEL_WORDS,
    ),
    Field(
        "target",
        Reference(200, 1),
        "The session's id, the agent's, or the task's short name; of dreaming the branch, and not needed.",
        CREATE,
        label=_("Target"),
        form_help=_("A session’s id, an agent’s, or the short name of a task; dreaming reads this branch."),
    ),
    Field("state", STATE, use=READ),
    Field("mode", Choice(ConsolidationRun.Mode.choices), use=READ),
    Field("dry_run", Flag(), use=READ, answer_help="Whether nothing was written."),
    Field("messages", Whole(), use=READ, answer_help="Messages that no run had read before."),
    Field("observations", Whole(), use=READ, answer_help="Observations; of an agent or task, its facts."),
    Field("created", Whole(), use=READ, answer_help="New facts."),
    Field("updated", Whole(), use=READ, answer_help="Facts that another source confirmed."),
    Field("deduplicated", Whole(), use=READ, answer_help="Statements of what a fact says already."),
    Field("durable", Whole(), use=READ, answer_help="Of a task: facts that outlive it."),
    Field(
        "yield_rate",
        Number(),
        use=READ,
        answer_null=True,
        answer_help="New facts by messages and observations read.",
    ),
    Field("cycle", Whole(), use=READ, answer_null=True, answer_help="Of dreaming: the branch's turns."),
    Field("merge_request", Whole(), use=READ, answer_null=True, answer_help="Of dreaming: its number."),
    Field("recall", Text(500), use=READ, answer_help="Of dreaming: what the recall gate said."),
    Field("model", Text(200), use=READ, answer_help="The language model that was asked."),
    Field("calls", Whole(), use=READ, answer_help="How often it was asked."),
    Field("input_tokens", Whole(), use=READ),
    Field("output_tokens", Whole(), use=READ),
    Field("commits", ListOf(Identifier()), use=READ),
    Field("note", Text(500), use=READ, answer_help="What fell short."),
    answered_time("started_at"),
    answered_time("finished_at", null=True),
    Field("created_by", Reference(200), use=READ),
    answered_time("undone_at", null=True),
    Field("undone_by", Reference(200), use=READ),
    commands=("consolidate", "make facts of sessions, merge duplicates, undo that"),
)
CONSOLIDATION_FILTERS = CONSOLIDATION.filtered_by(
    one_of("level", LEVEL, "Of this level.", option=Option(checked=True)),
    one_of("state", STATE, "In this state.", option=Option(checked=True)),
    one_of("target", Reference(200), "Of this session, agent or task."),
)
