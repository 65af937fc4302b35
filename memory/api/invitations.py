"""What has no form of an operation at /invitations: the link, which names the server that is asked."""

from typing import Any

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers.members import InvitationInput, NewInvitationShape, render_invitation
from memory.api.base import build_row_response, get_request_actor
from memory.api.operation_views import build_view
from memory.api.routes import serve_at
from memory.api.schema import route
from memory.engines.fields.base import Use
from memory.engines.fields.invitations import INVITATION
from memory.operations.inputs import Input
from memory.operations.invitations import INVITATIONS, engine

DeclaredView: Any = build_view(INVITATIONS)


@serve_at("invitations", "invitation")
class InvitationViewSet(DeclaredView):
    untold = {**DeclaredView.untold, "create": {"link": None}}  # only its hash is stored

    @route("Invite by link", {201: NewInvitationShape}, InvitationInput)
    def create(self, request: Request) -> Response:
        fields = Input(request).take_fields(INVITATION.field_names(Use.CREATE))
        row, secret = engine.create_invitation(actor=get_request_actor(request), **fields)
        link = request.build_absolute_uri(reverse("join", args=[secret]))
        return build_row_response({**render_invitation(row), "link": link}, 201)
