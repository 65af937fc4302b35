"""The fields of a connected program."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun
from memory.engines.fields.common import answered_time
from memory.engines.fields.keys import KEY
from memory.engines.fields.types import Identifier, Text

CONNECTION = Noun(
    "connection",
    Field("id", Identifier(), use=READ),
    Field(
        "client_name",
        Text(200),
        use=READ,
        label=_("Program"),
        answer_help="What the program calls itself; nobody has verified it.",
    ),
    Field(
        "client_id",
        Text(500),
        use=READ,
        attribute="client_id_text",
        answer_help="Made at its registration, or the address of its document.",
    ),
    Field(
        "username", Text(150), use=READ, label=_("Connected by"), answer_help="Whose rights it has at most."
    ),
    *(KEY[name].with_traits(use=READ, required=False) for name in ("scopes", "branch_patterns")),
    Field(
        "resource",
        Text(200),
        use=READ,
        answer_help="The path that its tokens open; empty is REST and MCP.",
    ),
    answered_time("created_at"),
    answered_time("last_used_at", null=True),
    answered_time("expires_at", null=True),
    answered_time("revoked_at", null=True),
    commands=("connections", "programs that people connected with their login"),
)
