"""What may be done with invitations that were made."""

from memory.answers.members import InvitationShape, render_invitation
from memory.engines.access.invitations import InvitationEngine
from memory.engines.fields.orders import INVITATIONS as ORDER
from memory.models import Invitation
from memory.operations.base import Answer, Resource, Row

engine = InvitationEngine()
ROW = Answer(InvitationShape, render_invitation)

INVITATIONS = Resource("invitations", "invitation", row=Row("invitation_id", "pk", "uuid"), model=Invitation)
INVITATIONS.add("list", engine.list_invitations, "List invitations, newest first", ROW, order=ORDER)
INVITATIONS.add("revoke", engine.revoke_invitation, "Revoke an invitation", ROW)
