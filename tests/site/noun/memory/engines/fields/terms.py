"""The fields of a term."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.types import Identifier, Text

WRITTEN = READ | Use.CREATE | Use.TOOL_CREATE | Use.FORM

TERM = Noun(
    "term",
    Field("id", Identifier(), use=READ),
    Field("name", Text(60, 1), "The word, up to 60 characters.", WRITTEN, required=True, label=_("Name")),
    Field(
        "meaning",
        Text(300, 1),
        "What it means here, up to 300 characters.",
        WRITTEN | Use.OPTION,
        required=True,
        label=_("Meaning"),
        form_help=_("What it means here, up to 300 characters."),
        option=Option("what it means here, up to 300 characters"),
    ),
    answered_time("created_at"),
    commands=("terms", "write and list terms"),
)
