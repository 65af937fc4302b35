"""The fields of agents' tasks, of their objectives, and of the agents that work on them."""

from typing import TypedDict

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import (
    Choice,
    Identifier,
    JSONObject,
    ListOf,
    Pattern,
    Reference,
    Text,
    Whole,
)
from memory.models import AgentTask, TaskAgent, TaskObjective

TOOL = Use.TOOL_ANSWER
CREATE = READ | TOOL | Use.CREATE | Use.TOOL_CREATE | Use.FORM
UPDATE = READ | TOOL | Use.UPDATE | Use.TOOL_UPDATE
SLUG = r"[a-z0-9]+([._-][a-z0-9]+)*"
MAX_OBJECTIVES = 50
OBJECTIVE_TEXT = Text(500, 1)
MIN_TOKENS, MAX_TOKENS, MAX_BUDGET = 100, 1500, 16_000  # of a task's context; the second by default
BUDGET = Field(
    "max_tokens",
    Whole(MIN_TOKENS, MAX_BUDGET),
    "What the facts may cost in a prompt.",
    option=Option(f"what the facts may cost in a prompt; default {MAX_TOKENS}"),
)
AGENT_OPTION = Option("who it is; default: the agent of the key", "--agent", "ID")
JOINING_AGENT = Field(
    "agent_id",
    Reference(200),
    "Who joins; that of the key by default.",
    tool_help="Who you are; default: the agent that the key is bound to.",
    option=AGENT_OPTION,
)
CHANGING_AGENT = JOINING_AGENT.with_traits(help="Who says so; that of the key by default.")


class TaskFields(TypedDict, total=False):
    """What may be said of a new task beside its name and its objectives, in Python."""

    slug: str
    task_type: str
    description: str
    parent: str


TASK = Noun(
    "task",
    Field("id", Identifier(), use=READ | TOOL),
    Field(
        "name",
        Text(200, 1),
        "What it is about, in a few words.",
        CREATE,
        required=True,
        label=_("Task"),
        form_label=_("Name"),
    ),
    Field(
        "slug",
        Pattern(60, regex=rf"^{SLUG}$"),
        "The name of its branch after task/; made of the name when it is not given.",
        CREATE | Use.OPTION,
        label=_("Short name"),
        form_help=_("The branch is called task/ and this. Made of the name when it is empty."),
        tool_help="Its branch is task/ and this: a–z, 0–9, '.', '_', '-'. Default: made of the name.",
        option=Option("its branch is task/ and this; default: made of the name", metavar="NAME"),
    ),
    Field(
        "task_type",
        Text(60),
        "The kind of work, such as bug_fix.",
        CREATE | Use.OPTION,
        label=_("Kind of work"),
        form_help=_("Such as bug_fix or feature."),
        option=Option("the kind of work, such as bug_fix", "--type", "NAME"),
    ),
    Field(
        "description",
        Text(4000),
        "What is known of it at the start, up to 4,000 characters.",
        CREATE | Use.OPTION,
        label=_("Description"),
        form_rows=3,
        option=Option("what is known of it at the start"),
    ),
    Field(
        "objectives",
        ListOf(OBJECTIVE_TEXT, max_items=MAX_OBJECTIVES),
        "Up to 50 steps in their order, each up to 500 characters.",
        Use.CREATE | Use.TOOL_CREATE | Use.FORM | Use.OPTION,
        label=_("Objectives"),
        form_help=_("One on each line, up to 50."),
        form_rows=5,
        option=Option("a step; as often as there are steps", "--objective", "TEXT"),
    ),
    Field(
        "branch",
        Reference(200),
        use=READ | TOOL,
        attribute="branch.name",
        answer_help="Where its agents' work comes together.",
    ),
    Field(
        "parent",
        Reference(200, 1),
        "The branch that it begins from and returns to; main when it is not given.",
        CREATE | Use.OPTION,
        attribute="parent.name",
        label=_("Parent branch"),
        tool_help="The branch that it begins from and returns to; default main.",
        option=Option("the branch that it begins from and returns to; default main", metavar="NAME"),
    ),
    Field("state", Choice(AgentTask.State.choices), use=READ | TOOL, label=_("State")),
    Field("created_by", Reference(200), use=READ),
    answered_time("created_at"),
    answered_time("completed_at", null=True),
    Field(
        "merge_request_id",
        Identifier(),
        use=READ | TOOL,
        null=True,
        answer_help="The request that offers its durable facts to the parent.",
    ),
    Field("durable", Whole(), use=READ | TOOL, answer_help="How many facts that request offers."),
    Field(
        "result",
        Text(2000),
        "What came of it, up to 2,000 characters.",
        UPDATE | Use.OPTION,
        label=_("What came of it"),
        form_rows=3,
        option=Option("what came of it", "--result"),
    ),
)
TASK_FILTERS = TASK.filtered_by(
    one_of("state", Choice(AgentTask.State.choices), "Tasks in this state.", option=Option(checked=True)),
    one_of(
        "agent_id",
        Reference(200),
        "Tasks that this agent has joined.",
        option=Option("that this agent has joined", "--agent"),
    ),
)

OBJECTIVE = Noun(
    "objective",
    Field("n", Whole(1, MAX_OBJECTIVES), use=READ | TOOL, answer_help="Its number, from 1."),
    Field("text", OBJECTIVE_TEXT, use=READ | TOOL),
    Field(
        "state",
        Choice(TaskObjective.State.choices),
        "todo to active, active to done or blocked, and back.",
        UPDATE | Use.OPTION,
        label=_("State"),
        option=Option("todo, active, done or blocked", "--state", checked=True),
    ),
    Field(
        "note",
        Text(1000),
        "What is worth knowing of it, up to 1,000 characters.",
        UPDATE | Use.OPTION,
        label=_("Note"),
        option=Option("what is worth knowing of it"),
    ),
    Field("agent_id", Reference(200), use=READ | TOOL, answer_help="Who said so last."),
    answered_time("updated_at"),
)

TASK_AGENT = Noun(
    "task_agent",
    Field("agent_id", Reference(200), use=READ | TOOL),
    Field("branch", Reference(200), use=READ | TOOL, attribute="branch.name"),
    Field(
        "state",
        Choice(TaskAgent.State.choices),
        use=READ | TOOL,
        answer_help="left: the task ended before the agent completed its part, which was not merged.",
    ),
    answered_time("joined_at"),
    answered_time("completed_at", null=True),
    Field("merge_commit", Identifier(), use=READ, null=True, answer_help="null when nothing was new."),
    Field("merge_counts", JSONObject(), use=READ, answer_help="Kind of memory, class, number."),
    Field(
        "open_conflicts",
        Whole(),
        use=READ | TOOL,
        answer_help="Conflicts that its merge left for a decision.",
    ),
)
