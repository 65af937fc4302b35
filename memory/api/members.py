"""/members: list, add, change the role, remove with all that goes along."""

import sys

from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import declared_serializers as d
from memory.answers import members as member_shapes
from memory.answers.members import DepartureShape, MemberShape, render_departure, render_member
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, page, paging_by, route
from memory.engines.access.members import MemberEngine
from memory.engines.fields.base import Use
from memory.engines.fields.members import MEMBER, MEMBER_FILTERS
from memory.engines.fields.orders import MEMBERS
from memory.engines.support import validation as c
from memory.filters import MemberFilterSet
from memory.models import Membership
from memory.operations.inputs import Input

member_engine = MemberEngine()


@d.declare_fields(MEMBER.select_fields(Use.CREATE))
class MemberInput(d.RequestShape):
    """A new member: an account of this server."""


class RoleInput(s.Serializer):
    """Another role of a member."""

    role = s.ChoiceField(choices=Membership.Role.choices)


class RemovalInput(s.Serializer):
    """How a member is removed."""

    dry_run = s.BooleanField(required=False, help_text="true removes nothing, and answers what would end.")


ROUTES = {
    "MemberViewSet": {
        "create": route("Add a member", {201: MemberShape}, MemberInput),
        "list": route("List members", {200: page(MemberShape)}, None, paging_by(MEMBERS)),
        "retrieve": route("Read a member", {200: MemberShape}),
        "partial_update": route("Change the role of a member", {200: MemberShape}, RoleInput),
        "remove": route(
            "Remove a member, with the keys, invitations and logins of theirs",
            {200: DepartureShape},
            RemovalInput,
        ),
    }
}


@serve_at("members", "member")
@document_routes(ROUTES, sys.modules[__name__], member_shapes)
class MemberViewSet(ResourceViewSet):
    lookup_field = "username"
    lookup_value_regex = "[^/]+"
    filterset_class = MemberFilterSet

    def create(self, request: Request) -> Response:
        fields = Input(request).take_fields(MEMBER.field_names(Use.CREATE))
        member = member_engine.add_member(actor=get_request_actor(request), **fields)
        return build_row_response(render_member(member), 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        filters = payload.take_filters(MEMBER_FILTERS)
        paging = payload.take_paging(order=MEMBERS)
        payload.refuse_unknown()
        found = member_engine.list_members(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(found, render_member))

    def retrieve(self, request: Request, username: str) -> Response:
        Input(request).refuse_unknown()
        return build_row_response(render_member(self._find(request, username)))

    def partial_update(self, request: Request, username: str) -> Response:
        payload = Input(request)
        role = payload.take_needed("role", MEMBER["role"].check)
        payload.refuse_unknown()
        member = member_engine.change_role(
            member_id=self._find(request, username).pk, role=role, actor=get_request_actor(request)
        )
        return build_row_response(render_member(member))

    @action(detail=True, methods=["post"])
    def remove(self, request: Request, username: str) -> Response:
        payload = Input(request)
        dry_run = payload.take_value("dry_run", c.check_boolean, False)
        payload.refuse_unknown()
        carry_out = member_engine.preview_removal if dry_run else member_engine.remove_member
        done = carry_out(member_id=self._find(request, username).pk, actor=get_request_actor(request))
        return build_row_response(render_departure(done))

    def _find(self, request: Request, username: str) -> Membership:
        return member_engine.find_member(username=username, actor=get_request_actor(request))
