"""The fields of a member of a project, and the filters of the list of members."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import MAKER
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Choice, Flag, Reference
from memory.models import Membership

VIEWER, *WIDER = Membership.Role.values
ROLE_OPTION = Option(f"{VIEWER} (default), {', '.join(WIDER[:-1])} or {WIDER[-1]}", checked=True)

ROLE_WORDS = (
    (Membership.Role.VIEWER.value, _("viewer: reads")),
    (Membership.Role.CURATOR.value, _("curator: also verifies, corrects and answers the review queue")),
    (Membership.Role.MAINTAINER.value, _("maintainer: everything, keys and members included")),
    (Membership.Role.OWNER.value, _("owner: also takes rights from maintainers, and removes the project")),
)

MEMBER = Noun(
    "member",
    Field(
        "id",
        Reference(64),
        use=READ,
        attribute="actor_id",
        answer_help="Of the account: the actor_id of what the person does.",
    ),
    Field(
        "username",
        Reference(150),
        "The name of an account of this server.",
        READ | Use.CREATE,
        required=True,
        attribute="user.username",
        label=_("Username"),
        form_help=_("The person must have an account here."),
    ),
    Field(
        "role",
        Choice(Membership.Role.choices),
        use=READ | Use.CREATE | Use.UPDATE | Use.OPTION,
        default=VIEWER,
        label=_("Role"),
        form_choices=ROLE_WORDS,
        form_rows=1,
        option=ROLE_OPTION,
    ),
    Field(
        "group_role",
        Choice([("", "None"), *Membership.Role.choices]),
        use=READ,
        answer_help="What groups at the login provider give, a role or empty; people gave the rest.",
    ),
    Field(
        "active",
        Flag(),
        use=READ,
        attribute="user.is_active",
        answer_help="Whether the account may log in.",
    ),
    Field(
        "superuser",
        Flag(),
        use=READ,
        attribute="user.is_superuser",
        answer_help="Whether the person keeps the whole server: members cannot remove or lower them.",
    ),
    *MAKER,
    commands=("members", "people of the project and their roles"),
)
PREVIEW = Field(
    "dry_run",
    Flag(),
    "true removes nothing, and answers what would end.",
    option=Option("remove nothing: say what would end"),
)
MEMBER_FILTERS = MEMBER.filtered_by(
    one_of(
        "name",
        Reference(150),
        "Members whose names have this part.",
        option=Option("whose names have this part"),
    ),
    one_of(
        "role",
        Choice(Membership.Role.choices),
        "Members with this role.",
        option=Option("with this role", checked=True),
    ),
)
