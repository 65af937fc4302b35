"""The fields of an invitation."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import MAKER, answered_time
from memory.engines.fields.members import ROLE_OPTION, ROLE_WORDS
from memory.engines.fields.types import Choice, Identifier, Text, Whole
from memory.models import Invitation, Membership

CREATE = READ | Use.CREATE | Use.OPTION
MAX_USES = 100
MAX_DAYS = 30
DEFAULT_DAYS = 7

INVITATION = Noun(
    "invitation",
    Field("id", Identifier(), use=READ),
    Field(
        "role",
        Choice(Membership.Role.choices),
        "The role of whoever accepts it.",
        CREATE,
        default=Membership.Role.VIEWER.value,
        label=_("Role"),
        form_choices=ROLE_WORDS,
        form_rows=1,
        option=ROLE_OPTION,
    ),
    Field(
        "note",
        Text(200),
        "For whom it is.",
        CREATE,
        label=_("For whom"),
        option=Option("for whom it is"),
    ),
    Field(
        "max_uses",
        Whole(1, MAX_USES),
        "How many people may accept it.",
        CREATE,
        default=1,
        label=_("How many may use it"),
        option=Option("how many people may accept it; default: 1", "--uses"),
    ),
    Field(
        "days",
        Whole(1, MAX_DAYS),
        "After how many days it expires.",
        Use.CREATE | Use.OPTION,
        default=DEFAULT_DAYS,
        label=_("Expires in days"),
        option=Option("after how many days it expires; default: 7"),
    ),
    Field("uses", Whole(), use=READ, answer_help="How many accepted it."),
    Field("state", Choice(Invitation.State.choices), use=READ, label=_("State")),
    answered_time("expires_at"),
    answered_time("created_at"),
    *MAKER,
    answered_time("revoked_at", null=True),
    commands=("invitations", "links that make people members of the project"),
)
