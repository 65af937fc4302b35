"""The fields of a project: its settings."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import NO_USE, READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.keys import KEY
from memory.engines.fields.members import MEMBER
from memory.engines.fields.types import (
    Flag,
    Identifier,
    JSONObject,
    ListOf,
    Number,
    Record,
    Reference,
    Text,
    Whole,
)
from memory.limits import NAMED

SETTING = READ | Use.UPDATE | Use.OPTION
MAX_DAYS = 3650
MAX_BUDGET = 10_000_000
MAX_MEMBERS = 1_000_000
MIN_GROUP, MAX_GROUP = 2, 30  # observations of a reflection
MIN_COHESION = 0.5

PROJECT = Noun(
    "project",
    Field("id", Identifier(), use=READ, answer_help="It stays when the slug changes."),
    Field(
        "slug",
        Reference(100, 1),
        "Its name in addresses: lower-case letters, digits, hyphens and underscores. Another one needs the"
        " scope server; pages at the old one lead to the new one, REST does not know it any more.",
        READ | Use.UPDATE,
        answer_help="The project's name in addresses.",
        label=_("Name in addresses"),
        form_help=_("Lower-case letters, digits and hyphens, such as acme-support."),
    ),
    Field("version", Whole(), use=READ, answer_help="Of the settings: it grows with each change of them."),
    Field("name", Text(200, 1), "What people call the project.", SETTING, label=_("Name")),
    Field(
        "recipe",
        Reference(50),
        "How search ranks where a call names no recipe; empty for the server's default.",
        SETTING,
        label=_("Search recipe"),
        form_help=_("Empty means the default of the server."),
        option=Option("how search ranks; empty for the server's default", metavar="NAME"),
    ),
    Field(
        "least_evidence",
        Number(0, 1),
        "A search whose hits have less evidence says that nothing is known; null for 0.",
        SETTING,
        null=True,
        label=_("Least evidence"),
        form_help=_(
            "Between 0 and 1. A search whose hits have less says that nothing is known."
            " Empty means what was measured for the embedder: 0.05 with minilm;"
            " with others 0, where whatever is found is known."
        ),
        option=Option("a search whose hits have less evidence says that nothing is known, 0 to 1"),
    ),
    Field(
        "redact_secrets",
        Flag(),
        "Whether passwords, tokens and keys are taken out of whatever is written.",
        READ | Use.UPDATE,
        label=_("Secrets are taken out"),
        form_help=_("Passwords, tokens and keys are taken out of whatever is written. Off: they are stored."),
    ),
    Field(
        "require_second_factor",
        Flag(),
        "Whether members see the project with a second factor alone; keys are not touched.",
        READ | Use.UPDATE,
        label=_("Members need a second factor"),
        form_help=_("Members see the project only with a second factor. API keys are not affected."),
    ),
    Field(
        "durable_categories",
        Text(500),
        "Categories of facts that outlive a task, separated by commas; empty for the server's default.",
        SETTING,
        label=_("Categories that outlive a task"),
        form_help=_(
            "Facts of these categories are offered to the parent branch when a task is completed,"
            " separated by commas. Empty means the default of the server."
        ),
    ),
    Field(
        "age_facts",
        Flag(),
        "Whether facts that are expired, old or over the budget are archived every day.",
        READ | Use.UPDATE,
        label=_("Archive every day what has aged"),
        form_help=_("Otherwise only the buttons of this page and the command archive."),
    ),
    Field(
        "category_ttl_days",
        JSONObject(),
        "Category -> days after which its facts are archived, 1 to 3,650, for at most 50 categories.",
        SETTING,
        label=_("Days to live by category"),
        form_help=_(
            "One category a line, with a colon and the days since a fact was last changed, as in error: 30."
        ),
        form_rows=3,
        option=Option("such as '{\"error\": 30}'; {} for none"),
    ),
    Field(
        "stale_after_days",
        Whole(1, MAX_DAYS),
        "Facts of priority P3 and P4 that nobody recalled, changed or confirmed for so long are stale; null:"
        " never.",
        SETTING,
        null=True,
        label=_("Stale after days"),
        form_help=_("Facts of priority P3 and P4 that nobody recalled, changed or confirmed. Empty: never."),
        option=Option("facts of low priority that nobody recalled for so many days are stale"),
    ),
    Field(
        "fact_budget",
        Whole(1, MAX_BUDGET),
        "How many facts of its own a branch may have in use; null: any number.",
        SETTING,
        null=True,
        label=_("Facts of a branch"),
        form_help=_("Over it those of the least worth go. Empty: any number."),
        option=Option("how many facts of its own a branch may have in use"),
    ),
    Field(
        "consolidate_agents",
        Flag(),
        "Whether what agents learned twice on main is merged every night, with a fact that sums up.",
        READ | Use.UPDATE,
        label=_("Every night, merge what agents learned twice"),
        form_help=_("On main, with one fact that sums up what each agent knows. Each run can be undone."),
    ),
    Field(
        "propose_reflections",
        Flag(),
        "Whether reflections of observations on main that are alike are proposed every night.",
        READ | Use.UPDATE,
        label=_("Every night, propose reflections"),
        form_help=_(
            "Of observations on main that are alike, as a merge request. Nothing changes before it is merged."
        ),
    ),
    Field(
        "dream_min_size",
        Whole(MIN_GROUP, MAX_GROUP),
        "A reflection stands for so many observations at least.",
        SETTING,
        label=_("Minimum observations of a reflection"),
        option=Option("a reflection stands for so many observations at least"),
    ),
    Field(
        "dream_cohesion",
        Number(MIN_COHESION, 1),
        "Cosine of each observation to the middle of its group, at least.",
        SETTING,
        label=_("Cohesion"),
        form_help=_(
            "How like the middle of its group each observation is. Less finds more, and hurts searches."
        ),
        option=Option("how like the middle of its group an observation is at least, 0.5 to 1"),
    ),
    Field(
        "dream_min_age_cycles",
        Whole(),
        "Dreaming leaves out observations that are younger, in cycles of the branch; 0: none.",
        SETTING,
        label=_("Leave out observations younger than"),
        form_help=_("In cycles, which are turns of people on the branch. 0 leaves none out."),
        option=Option("dreaming leaves out observations that are younger, in cycles"),
    ),
    Field(
        "dream_every_n_cycles",
        Whole(),
        "The nightly run waits until the branch has gone on for so many cycles; 0: it does not wait.",
        SETTING,
        label=_("Cycles between two nightly runs"),
        form_help=_("A night with fewer is left out. 0 leaves none out."),
        option=Option("the nightly run waits until the branch has gone on for so many cycles"),
    ),
    Field(
        "dream_allow_zero_confirmation",
        Flag(),
        "Whether dreaming reads observations that no second source confirmed.",
        READ | Use.UPDATE,
        label=_("Read observations that no second source confirmed"),
    ),
    Field(
        "dream_origins",
        Text(200),
        "Origins of the observations that dreaming reads, separated by commas; empty for EXPERIENCE.",
        SETTING,
        label=_("Origins that are read"),
        form_help=_("Separated by commas. Empty: EXPERIENCE."),
        option=Option("origins that dreaming reads, separated by commas"),
    ),
    Field(
        "member_limit",
        Whole(0, MAX_MEMBERS),
        "How many members the project may have; null: any number. Needs the scope server.",
        SETTING,
        null=True,
        label=_("Members at most"),
        form_help=_("Empty: any number."),
        option=Option("how many members it may have; needs the scope server"),
    ),
    Field(
        "user_fact_limit",
        Whole(0, MAX_BUDGET),
        "How many facts one end user may have on a branch; null: any number.",
        SETTING,
        null=True,
        label=_("Facts of an end user"),
        form_help=_("Empty: any number."),
        option=Option("how many facts one end user may have on a branch"),
    ),
    Field(
        "limits",
        JSONObject(),
        f"Limit -> number, 0 for none, of: {', '.join(NAMED)}. The lower of it and the server's holds.",
        SETTING,
        label=_("Limits of the project"),
        form_help=_("One limit a line, with a colon and a number, as in model_tokens: 1000000. 0 is none."),
        form_rows=5,
        option=Option("such as '{\"model_tokens\": 1000000}'; {} for none"),
    ),
    answered_time("created_at"),
    Field("state", Reference(20), use=READ, answer_help="open, or removing while it is taken away."),
    Field(
        "removal",
        JSONObject(),
        use=READ,
        answer_null=True,
        answer_help="How far the removal has come: since, rows, removed. null where it is not removed.",
    ),
    commands=("project", "show and change the settings of the project; make, rename and remove projects"),
)
PROJECT_FILTERS = PROJECT.filtered_by(
    one_of("slug", Reference(100), "The project of this slug.", option=Option("of this slug")),
    one_of(
        "name",
        Reference(200),
        "Projects whose names have this part.",
        option=Option("whose names have this part"),
    ),
)
TEMPLATE = Field(
    "template",
    Reference(100),
    "A template of projects: settings, policies, instructions and members to begin with.",
    label=_("Template"),
    form_help=_("What the project begins with."),
    option=Option("what the project begins with", metavar="NAME"),
)
NEW_MEMBER = Record(
    "NewMemberInput",
    "An account of this server and its role.",
    (MEMBER["username"], MEMBER["role"]),
)
MEMBERS = Field("members", ListOf(NEW_MEMBER), "Accounts of this server that become members.", NO_USE)
FIRST_KEY = Field(
    "key",
    Record(
        "FirstKeyInput",
        "The first key of a new project: its scopes, and what else a key has.",
        tuple(one.as_optional() for one in KEY.select_fields(Use.CREATE)),
    ),
    "A first key of the project, whose token is answered once.",
    NO_USE,
    null=True,
)
CONFIRM = Field(
    "confirm",
    Reference(100),
    "The slug of the project once more: nothing is removed without it.",
    label=_("To confirm, type its name in addresses"),
    option=Option("the slug once more, where nobody can be asked", metavar="SLUG"),
)
