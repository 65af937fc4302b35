"""What may be done with invitations that were made."""

from django.utils.translation import gettext_lazy as _

from memory.answers.members import InvitationShape, render_invitation
from memory.engines.access.invitations import InvitationEngine
from memory.engines.fields.orders import INVITATIONS as ORDER
from memory.models import Invitation
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = InvitationEngine()
ROW = Answer(InvitationShape, render_invitation)

INVITATIONS = Resource("invitations", "invitation", row=Row("invitation_id", "pk", "uuid"), model=Invitation)
INVITATIONS.add("list", engine.list_invitations, "List invitations, newest first", ROW, order=ORDER)
INVITATIONS.show(
    "list",
    Column("id", head="id"),
    Column("note", _("For whom"), "for", late=1),
    Column("role", _("Role"), "role", "word"),
    Column("state", _("State"), "state", "word"),
    Column("uses", _("Used"), "used"),
    Column("expires_at", _("Expires"), "expires", "time"),
    Column("created_by", _("Invited by"), "by"),
)
INVITATIONS.add("revoke", engine.revoke_invitation, "Revoke an invitation", ROW)
