"""The fields of templates, of their versions, and of branches that began from one."""

from typing import TypedDict

from django.utils.translation import gettext_lazy as _

from curation.models import Template, TemplateUse
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import STATED, answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.tasks import AGENT_OPTION
from memory.engines.fields.types import (
    Choice,
    CutText,
    Identifier,
    ListOf,
    Number,
    Pattern,
    Reference,
    Text,
    Whole,
)

NAME_PATTERN = r"^(?!find$)[a-z0-9]+([._-][a-z0-9]+)*$"
MAX_TASK_TYPES = 20
CREATE = READ | Use.CREATE | Use.OPTION
BOTH = CREATE | Use.UPDATE | Use.FORM
MAX_CANDIDATES = 200  # the newest ones: each is compared
BRANCH, DATABASE = "branch", "database"  # how an instance is kept apart
ISOLATIONS = (BRANCH, DATABASE)
SOURCE = Field(
    "source_branch",
    Reference(200),
    "What its first version holds; main when it is not given.",
    label=_("From branch"),
    form_help=_("The branch that it holds."),
    option=Option("the branch that it is made of; default main", "--from", "NAME"),
)
NEW_SOURCE = Field(
    "new_source",
    Reference(200),
    "The branch that it holds.",
    Use.CREATE,
    label=_("The branch that the new version holds"),
    option=Option(metavar="BRANCH"),
)
WORK_TYPE = Field("task_type", CutText(), "The kind of work, in any case of its letters.")
WORK = Field("description", CutText(), "What the work is.")
MAX_FOUND = Field("limit", Whole(1, MAX_CANDIDATES), "How many to return.")
TARGET = Field(
    "target_branch",
    Reference(200),
    "The name of the new branch.",
    Use.CREATE,
    label=_("New branch"),
    form_help=_("Such as task/login."),
    option=Option(metavar="BRANCH"),
)
NUMBER = Field("version", Whole(1), "The newest when it is not given.", option=Option("default: the newest"))
ISOLATION = Field(
    "isolation",
    Choice([(name, name) for name in ISOLATIONS]),
    "database: also in a workspace, a copy of the store; needs admin.",
    option=Option("branch, or database: also in a copy of the store", metavar="HOW"),
)
BEFORE = Field("before", Whole(), "A version.", Use.CREATE)
AFTER = Field("after", Whole(), "Another; the newest when it is not given.")
SESSION, TASK, AGENT = STATED
USING = (
    SESSION,
    TASK.with_traits(use=TASK.use | Use.OPTION, option=Option("the task that it is for", "--task", "ID")),
    AGENT.with_traits(use=AGENT.use | Use.OPTION, option=AGENT_OPTION),
)


class TemplateFields(TypedDict, total=False):
    """What may be said of a new template beside its name and source, in Python."""

    description: str
    task_types: list[str]


TEMPLATE = Noun(
    "template",
    Field("id", Identifier(), use=READ),
    Field(
        "name",
        Pattern(100, regex=NAME_PATTERN),
        "a–z and 0–9, with single '.', '_' or '-' between them; not find.",
        READ | Use.CREATE | Use.FORM,
        required=True,
        label=_("Template"),
        form_label=_("Name"),
        form_help=_("a–z and 0–9, with '.', '_' or '-' between them."),
    ),
    Field(
        "description",
        Text(2000),
        "What work it is for and what it knows, up to 2,000 characters: it is found by its meaning.",
        BOTH,
        label=_("Description"),
        form_help=_("What work it is for and what it knows: it is found by its meaning."),
        form_rows=3,
        option=Option("what work it is for: it is found by its meaning"),
    ),
    Field(
        "task_types",
        ListOf(Text(60, 1), max_items=MAX_TASK_TYPES),
        "Up to 20 kinds of work, such as bug_fix.",
        BOTH,
        label=_("Kinds of work"),
        form_help=_("Such as bug_fix, with commas between them."),
        option=Option("a kind of work, such as bug_fix; as often as there are", "--type", "NAME"),
    ),
    Field("state", Choice(Template.State.choices), use=READ, label=_("State")),
    Field(
        "reason",
        Text(1000),
        "Why it is deprecated, up to 1,000 characters.",
        READ | Use.OPTION,
        label=_("Reason"),
        form_label=_("Why it is deprecated"),
        option=Option("why it is deprecated"),
    ),
    Field("version", Whole(), use=READ, label=_("Version"), answer_help="The newest one."),
    Field("used", Whole(), use=READ, label=_("Used"), answer_help="Branches that began from it."),
    Field("succeeded", Whole(), use=READ, label=_("Succeeded")),
    Field("failed", Whole(), use=READ, label=_("Failed")),
    Field("created_by", Reference(200), use=READ),
    answered_time("created_at"),
    answered_time("updated_at", answer_help="When its newest version was made."),
)
TEMPLATE_FILTERS = TEMPLATE.filtered_by(
    one_of("state", Choice(Template.State.choices), "Templates in this state.", option=Option(checked=True)),
    one_of(
        "task_type",
        Reference(60),
        "Templates for this kind of work.",
        option=Option("for it", "--type", "NAME"),
    ),
)

TEMPLATE_VERSION = Noun(
    "template_version",
    Field("version", Whole(), use=READ, attribute="number"),
    Field("branch", Reference(200), use=READ, attribute="branch.name", answer_help="It is read-only."),
    Field("source_branch", Reference(200), use=READ, attribute="source.name"),
    Field("source_seq", Whole(), use=READ, answer_help="The commit of the source that it was forked at."),
    Field("fact_count", Whole(), use=READ, answer_help="Of every status."),
    Field("conversation_count", Whole(), use=READ),
    Field("relation_count", Whole(), use=READ),
    Field("created_by", Reference(200), use=READ),
    answered_time("created_at"),
)

TEMPLATE_USE = Noun(
    "template_use",
    Field("template", Reference(100), use=READ, attribute="version.template.name"),
    Field("version", Whole(), use=READ, attribute="version.number"),
    Field("branch", Reference(200), use=READ, attribute="branch.name", answer_help="Where the work is done."),
    Field(
        "outcome",
        Choice(TemplateUse.Outcome.choices, reserved=(TemplateUse.Outcome.OPEN.value,)),
        "success or failure.",
        READ | Use.UPDATE,
        answer_help="open: the work is not done; a completed task is a success, a cancelled one a failure.",
    ),
    Field("task_id", Reference(200), use=READ),
    Field("agent_id", Reference(200), use=READ),
    Field("created_by", Reference(200), use=READ),
    answered_time("created_at"),
    answered_time("ended_at", null=True),
)

MEANING = Field(
    "meaning", Number(), answer_help="How much of the description it is about: its words, or their vectors."
)
