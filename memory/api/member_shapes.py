"""A member of a project, as a file of the page lists it."""

from rest_framework import serializers as s

from memory.api.shapes import build_renderer
from memory.models import Membership


class MemberShape(s.Serializer):
    """A person with a role in the project."""

    name = s.CharField(source="user.username")
    role = s.ChoiceField(Membership.Role.choices)
    active = s.BooleanField(source="user.is_active", help_text="Whether the account may log in.")


render_member = build_renderer(MemberShape)
