"""The fields of a template of projects: its parts."""

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import MAKER, answered_time
from memory.engines.fields.types import JSONObject, ListOf, ObjectList, Pattern, Reference

PART_USE = READ | Use.CREATE
FROM_PROJECT = Field(
    "project",
    Reference(100),
    "The slug of a project: what it has is stored, but for the parts that are given.",
    option=Option("take what this project has", "--from", "SLUG"),
)
MAX_BYTES = 64 * 1024  # of a list
TEMPLATE_PARTS = (
    Field(
        "settings",
        JSONObject(),
        "Settings of the project as PATCH /projects takes them, without slug and name.",
        PART_USE,
        answer_null=True,
        option=Option('settings, such as \'{"recipe": "default"}\'', metavar="JSON"),
    ),
    Field(
        "policies",
        ObjectList(MAX_BYTES),
        "Policies of branches: each a pattern with its rules, as PATCH /policies takes them.",
        PART_USE,
        answer_null=True,
    ),
    Field(
        "instructions",
        JSONObject(),
        "What is to be remembered: preset, or text and categories, as POST /instructions takes them.",
        PART_USE,
        answer_null=True,
    ),
    Field(
        "rules_off",
        ListOf(Reference(50)),
        "The rules of learning that are switched off.",
        PART_USE,
        answer_null=True,
    ),
    Field(
        "members",
        ObjectList(MAX_BYTES),
        "Accounts of this server that become members: each a username and a role.",
        PART_USE,
        answer_null=True,
    ),
)
PROJECT_TEMPLATE = Noun(
    "project_template",
    Field(
        "name",
        Pattern(100, 1, regex="^[a-z0-9][a-z0-9_-]*$"),
        "Lower-case letters, digits, hyphens and underscores.",
        PART_USE,
        required=True,
        answer_help="The name by which POST /projects takes it.",
    ),
    *TEMPLATE_PARTS,
    answered_time("created_at"),
    *MAKER,
)
