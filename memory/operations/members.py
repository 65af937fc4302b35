"""What may be done with members of a project, named by their accounts."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.actors import Actor
from memory.answers.members import DepartureShape, MemberShape, render_departure, render_member
from memory.engines.access.members import MemberEngine
from memory.engines.fields.base import Use
from memory.engines.fields.members import MEMBER, MEMBER_FILTERS
from memory.engines.fields.orders import MEMBERS as ORDER
from memory.models import Membership
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = MemberEngine()
ROW = Answer(MemberShape, render_member)


def find_member_id(_: str, username: str, *, actor: Actor, **where: Any) -> int:
    """Return the id of the member with a username. Raises NotFound."""
    return engine.find_member(username=username, actor=actor).pk


MEMBERS = Resource(
    "members", "member", row=Row("member_id", "username", find=find_member_id), model=Membership
)
MEMBERS.add(
    "create",
    engine.add_member,
    "Add a member",
    ROW,
    body="MemberInput",
    about="A new member: an account of this server.",
    fields=MEMBER.select_fields(Use.CREATE),
)
MEMBERS.add("list", engine.list_members, "List members", ROW, filters=MEMBER_FILTERS, order=ORDER)
MEMBERS.show(
    "list",
    Column("username", _("Name"), "name", order="name"),
    Column("role", _("Role"), "role", "word"),
    Column("active", head="account"),
    Column("created_by", head="let in by"),
)
MEMBERS.add("retrieve", engine.find_member, "Read a member", ROW, row=Row("username", "username"))
MEMBERS.add(
    "partial_update",
    engine.change_role,
    "Change the role of a member",
    ROW,
    body="RoleInput",
    about="Another role of a member.",
    fields=(MEMBER["role"],),
)
MEMBERS.add(
    "remove",
    engine.remove_member,
    "Remove a member, with the keys, invitations and logins of theirs",
    Answer(DepartureShape, render_departure),
    body="RemovalInput",
    about="How a member is removed.",
)
