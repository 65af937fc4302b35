"""The fields of an API key."""

import re

from django.utils.translation import gettext_lazy as _

from memory.actors import SCOPES
from memory.engines.fields.base import READ, Field, Noun, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.types import Choice, Identifier, ListOf, Moment, Pattern, Reference, Text, Whole

CREATE = READ | Use.CREATE
HIGHEST_RATE = 1_000_000
DEFAULT_RATE = 6000
BRANCH_PATTERN = re.compile(r"[a-z0-9._*?-]+(/[a-z0-9._*?-]+)*")

KEY = Noun(
    "key",
    Field("id", Identifier(), use=READ),
    Field("label", Text(200, 1, published=False), use=CREATE, required=True, label=_("Name")),
    Field("prefix", Reference(8), use=READ, answer_help="The part of the token that may be shown."),
    Field(
        "scopes",
        ListOf(Choice([(scope, scope) for scope in SCOPES]), min_items=1),
        use=CREATE,
        required=True,
        label=_("It may"),
    ),
    Field(
        "branch_patterns",
        ListOf(Pattern(200, regex=rf"^{BRANCH_PATTERN.pattern}$")),
        "Every branch when it is empty.",
        CREATE,
        label=_("Branches"),
    ),
    Field("agent_id", Reference(200), "Bind the key to this agent.", CREATE, label=_("Agent")),
    Field(
        "default_branch",
        Reference(200),
        "Where MCP works when a call names no branch; main when it is empty.",
        CREATE,
        answer_help="Where MCP works when a call names no branch; empty is main.",
        label=_("Branch at first"),
    ),
    Field("rate_per_minute", Whole(1, HIGHEST_RATE), use=CREATE, default=DEFAULT_RATE),
    answered_time("created_at"),
    Field("created_by", Reference(200), use=READ),
    Field("expires_at", Moment(), use=CREATE, null=True),
    answered_time("last_used_at", null=True),
    answered_time("revoked_at", null=True),
)
