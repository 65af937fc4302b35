"""A member of a project, and what ends when one is removed."""

from rest_framework import serializers as s

from memory.answers import declared_serializers as d
from memory.answers import keys as key_shapes
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.invitations import INVITATION
from memory.engines.fields.members import MEMBER

MemberShape = d.declare_answer(MEMBER, "A person with a role in the project.")


@d.declare_fields(INVITATION.select_fields(Use.CREATE))
class InvitationInput(d.RequestShape):
    """A new invitation."""


@d.declare_fields(INVITATION.select_fields(Use.ANSWER))
class InvitationShape(d.AnswerShape):
    """An invitation without its link."""


class NewInvitationShape(InvitationShape):
    """An invitation with its link, which is returned this once."""

    link = s.CharField(allow_null=True, help_text="Where it is accepted; null in a replayed answer.")


class DepartureCountsShape(s.Serializer):
    """How many keys, invitations and logins end."""

    keys = s.IntegerField()
    invitations = s.IntegerField()
    logins = s.IntegerField(help_text="Of a person who belongs to no other project of this server.")


class DepartureShape(s.Serializer):
    """What ends with a member: what the member made, and what keys of the member made."""

    member = MemberShape()
    dry_run = s.BooleanField(help_text="true where nothing was done yet.")
    counts = DepartureCountsShape()
    keys = key_shapes.KeyShape(many=True, source="first_keys", help_text="The first 100 that end.")
    invitations = InvitationShape(
        many=True, help_text="Open ones that they made, and the one by which the member came."
    )
    joined = MemberShape(many=True, help_text="Members whom they let in. These stay.")


render_member = build_renderer(MemberShape)
render_invitation = build_renderer(InvitationShape)
render_departure = build_renderer(DepartureShape)
