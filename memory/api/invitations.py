"""/invitations: create, list, revoke. The link is returned once; people accept it in the browser."""

import sys
from typing import Any

from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer, page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, page, paging_by, route
from memory.engines.access.invitations import InvitationEngine
from memory.engines.fields.base import Use
from memory.engines.fields.invitations import INVITATION
from memory.engines.fields.orders import INVITATIONS
from memory.operations.inputs import Input, parse_id

invitation_engine = InvitationEngine()


@d.declare_fields(INVITATION.select_fields(Use.CREATE))
class InvitationInput(d.RequestShape):
    """A new invitation."""


@d.declare_fields(INVITATION.select_fields(Use.ANSWER))
class InvitationShape(d.AnswerShape):
    """An invitation without its link."""


class NewInvitationShape(InvitationShape):
    """An invitation with its link, which is returned this once."""

    link = s.CharField(allow_null=True, help_text="Where it is accepted; null in a replayed answer.")


render = build_renderer(InvitationShape)
ROUTES = {
    "InvitationViewSet": {
        "create": route("Invite by link", {201: NewInvitationShape}, InvitationInput),
        "list": route(
            "List invitations, newest first", {200: page(InvitationShape)}, None, paging_by(INVITATIONS)
        ),
        "revoke": route("Revoke an invitation", {200: InvitationShape}),
    }
}


@serve_at("invitations", "invitation")
@document_routes(ROUTES, sys.modules[__name__])
class InvitationViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"

    def create(self, request: Request) -> Response:
        fields = Input(request).take_fields(INVITATION.field_names(Use.CREATE))
        row, secret = invitation_engine.create_invitation(actor=get_request_actor(request), **fields)
        link = request.build_absolute_uri(f"/join/{secret}")
        return build_row_response({**render(row), "link": link}, 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=INVITATIONS)
        payload.refuse_unknown()
        found = invitation_engine.list_invitations(actor=get_request_actor(request), **paging)
        return Response(page_shape(found, render))

    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        invitation_id = parse_id(pk)
        Input(request).refuse_unknown()
        row = invitation_engine.revoke_invitation(
            invitation_id=invitation_id, actor=get_request_actor(request)
        )
        return build_row_response(render(row))

    def storable_data(self, data: Any) -> Any:
        """Return the answer without the link: only its hash is stored."""
        return {**data, "link": None} if "link" in data else data
