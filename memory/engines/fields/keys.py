"""The fields of an API key."""

import re

from django.utils.translation import gettext_lazy as _

from memory.actors import SCOPES, SERVER_SCOPES
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import END_USER, MAKER, answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    ListOf,
    Moment,
    OwnerName,
    Pattern,
    Reference,
    Text,
    Whole,
)
from memory.models import ApiKey

USER, APP = END_USER

CREATE = READ | Use.CREATE
OFFERED = CREATE | Use.OPTION
MAX_RATE = 1_000_000
DEFAULT_RATE = 6000
MAX_WRITTEN = 2**53
MAX_STREAMS = 500  # of a process
BOUNDS = ("max_facts", "max_bytes", "max_daily_writes", "max_streams")
QUOTA = (*BOUNDS, "written_facts", "written_bytes")
BRANCH_PATTERN = re.compile(r"[a-z0-9._*?-]+(/[a-z0-9._*?-]+)*")

MAX_GRACE_SECONDS = 7 * 24 * 3600
GRACE = Field(
    "grace_seconds",
    Whole(0, MAX_GRACE_SECONDS),
    "How long the old key still opens.",
    label=_("The old key ends"),
    form_choices=(
        ("0", _("at once")),
        ("3600", _("in an hour")),
        ("86400", _("in a day")),
        ("604800", _("in 7 days")),
    ),
)
TAKE_OVER = Field(
    "take_over",
    Flag(),
    "true: the new key is yours alone. Else it ends with who made the first, and with you.",
    label=_("Take it over"),
    form_help=_("It is yours from now on. Otherwise it ends when who made it first leaves the project."),
)

KEY = Noun(
    "key",
    Field("id", Identifier(), use=READ),
    Field(
        "label",
        Text(200, 1, published=False),
        use=CREATE,
        required=True,
        label=_("Name"),
        form_help=_("Which agent or program has it."),
    ),
    Field("prefix", Reference(8), use=READ, answer_help="The part of the token that may be shown."),
    Field(
        "scopes",
        ListOf(Choice([(scope, scope) for scope in (*SCOPES, *SERVER_SCOPES)]), min_items=1),
        use=OFFERED,
        required=True,
        label=_("Rights"),
        form_choices=(
            ("read", _("read: search and read")),
            ("propose", _("propose: also propose facts that a person accepts")),
            ("write", _("write: also write facts and branches")),
            ("curate", _("curate: also verify, archive and answer the review queue")),
            ("merge", _("merge: also approve and merge")),
            ("admin", _("admin: everything, keys included")),
            ("owner", _("owner: also take rights from maintainers, and remove the project")),
        ),
        option=Option(
            "read, propose, write (default), curate, merge, admin, owner; each includes those before it; or"
            " one alone of the server: metrics, to read its figures, or server, to make and remove projects",
            "--scope",
            "SCOPE",
        ),
    ),
    Field(
        "branch_patterns",
        ListOf(Pattern(200, regex=rf"^{BRANCH_PATTERN.pattern}$")),
        "Every branch when it is empty.",
        OFFERED,
        label=_("Branches"),
        form_help=_("Names or patterns such as main, task/*; empty means every branch."),
        option=Option("only these branches, such as 'task/*'; default: all", "--branch-pattern", "PATTERN"),
    ),
    Field(
        "agent_id",
        Reference(200),
        "Bind the key to this agent.",
        OFFERED,
        label=_("Agent"),
        form_label=_("Bound to the agent"),
        form_help=_("What it writes is always this agent's; empty means that it says who it is."),
        option=Option("bind it to this agent", "--agent"),
    ),
    USER.with_traits(
        type=OwnerName(200),
        help="Bind the key to this end user: it reads and writes no other memory.",
        use=OFFERED,
        form_label=_("Bound to the end user"),
        form_help=_("It reads and writes this end user's memory alone; empty means everybody's."),
        option=Option("bind it to this end user: it reads and writes no other memory", "--user"),
    ),
    APP.with_traits(
        type=OwnerName(200),
        help="Bind the key to this app: it reads and writes no other memory.",
        use=OFFERED,
        form_label=_("Bound to the app"),
        form_help=_("It reads and writes this app's memory alone; empty means that of every app."),
        option=Option("bind it to this app: it reads and writes no other memory", "--app"),
    ),
    Field(
        "default_branch",
        Reference(200),
        "Where MCP works when a call names no branch; main when it is empty.",
        OFFERED,
        answer_help="Where MCP works when a call names no branch; empty is main.",
        label=_("Initial branch"),
        form_label=_("Default branch"),
        form_help=_("Where MCP works when a call names no branch; empty means main."),
        option=Option("where MCP works when a call names no branch; default: main", metavar="NAME"),
    ),
    Field(
        "rate_per_minute",
        Whole(1, MAX_RATE),
        use=OFFERED,
        default=DEFAULT_RATE,
        label=_("Requests a minute"),
        option=Option("requests per minute", "--rate"),
    ),
    Field(
        "max_facts",
        Whole(0, MAX_WRITTEN),
        "Facts that it may write, each version counted; any number by default.",
        OFFERED,
        default=0,
        label=_("Facts that it may write"),
        form_help=_("Each version counts; empty means any number."),
        option=Option("facts that it may write, each version counted", metavar="N"),
    ),
    Field(
        "max_bytes",
        Whole(0, MAX_WRITTEN),
        "Bytes of texts that it may write; any number by default.",
        OFFERED,
        default=0,
        label=_("Bytes that it may write"),
        form_help=_("Of all texts; empty means any number."),
        option=Option("bytes of texts that it may write", metavar="N"),
    ),
    Field(
        "max_daily_writes",
        Whole(0, MAX_WRITTEN),
        "Versions of memory that it may write in a day, in UTC; any number by default.",
        OFFERED,
        default=0,
        label=_("Writes a day"),
        form_help=_("Each version counts; empty means any number."),
        option=Option("versions of memory that it may write in a day", metavar="N"),
    ),
    Field(
        "max_streams",
        Whole(0, MAX_STREAMS),
        "Streams of events that it may have open in each process that serves; 100 by default.",
        OFFERED,
        default=0,
        label=_("Open streams"),
        form_help=_("Of events, at the same time; empty means 100."),
        option=Option("streams of events that it may have open", metavar="N"),
    ),
    Field("written_facts", Whole(), use=READ, answer_help="Counted while it has a quota."),
    Field("written_bytes", Whole(), use=READ, answer_help="Counted while it has a quota."),
    answered_time("created_at"),
    *MAKER,
    Field(
        "rotated_from",
        Identifier(),
        use=READ,
        null=True,
        answer_help="The key in whose place it is; null where it was made anew or taken over.",
    ),
    Field(
        "expires_at",
        Moment(),
        use=OFFERED,
        null=True,
        option=Option("from then on it opens nothing; default: never"),
    ),
    answered_time("last_used_at", null=True),
    answered_time("revoked_at", null=True),
)
KEY_FILTERS = KEY.filtered_by(
    one_of(
        "user_id",
        Reference(200),
        "Keys bound to this end user.",
        option=Option("bound to this end user", "--user"),
    ),
    one_of(
        "agent_id",
        Reference(200),
        "Keys bound to this agent.",
        option=Option("bound to this agent", "--agent"),
    ),
    one_of(
        "state",
        Choice(ApiKey.State.choices),
        "Keys in this state.",
        option=Option("in this state", checked=True),
    ),
)
