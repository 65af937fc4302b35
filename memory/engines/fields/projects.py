"""The fields of a project: its settings."""

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.types import Flag, Number, Reference, Text

SETTING = READ | Use.UPDATE | Use.OPTION

PROJECT = Noun(
    "project",
    Field("slug", Reference(100), use=READ, answer_help="The project's name in addresses."),
    Field("name", Text(200, 1), "What people call the project.", SETTING),
    Field(
        "recipe",
        Reference(50),
        "How search ranks where a call names no recipe; empty for the server's default.",
        SETTING,
        option=Option("how search ranks; empty for the server's default", metavar="NAME"),
    ),
    Field(
        "least_evidence",
        Number(0, 1),
        "A search whose hits have less evidence says that nothing is known; null for 0.",
        SETTING,
        null=True,
        option=Option("a search whose hits have less evidence says that nothing is known, 0 to 1"),
    ),
    Field(
        "redact_secrets",
        Flag(),
        "Whether passwords, tokens and keys are taken out of whatever is written.",
        READ | Use.UPDATE,
    ),
    Field(
        "durable_categories",
        Text(500),
        "Categories of facts that outlive a task, separated by commas; empty for the server's default.",
        SETTING,
    ),
    answered_time("created_at"),
    commands=("project", "show and change the settings of the project"),
)
