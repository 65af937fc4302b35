"""/policies: list, read, set, delete; the policy in force on a branch is at /branches/NAME/policy."""

import sys
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import declared_serializers as d
from memory.answers.policies import PolicyShape, render
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import GONE, PAGING, document_routes, page, route
from memory.engines.access.policies import PolicyEngine
from memory.engines.fields.base import Use
from memory.engines.fields.policies import POLICY
from memory.operations.inputs import Input

policy_engine = PolicyEngine()


@d.declare_fields(POLICY.select_fields(Use.UPDATE))
class PolicyInput(d.RequestShape):
    """Rules of a policy; what is not given stays as it is."""


ROUTES = {
    "PolicyViewSet": {
        "list": route("List policies by pattern", {200: page(PolicyShape)}, None, PAGING),
        "retrieve": route("Read the policy of a pattern", {200: PolicyShape}),
        "partial_update": route(
            "Set rules of a policy, or make one", {200: PolicyShape, 201: PolicyShape}, PolicyInput
        ),
        "destroy": route("Delete a policy", {204: GONE}),
    }
}


@serve_at("policies", "policy")
@document_routes(ROUTES, sys.modules[__name__])
class PolicyViewSet(ResourceViewSet):
    lookup_field = "pattern"
    lookup_value_regex = ".+?"

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging()
        payload.refuse_unknown()
        found = policy_engine.list_policies(actor=get_request_actor(request), **paging)
        return Response(page_shape(found, render))

    def retrieve(self, request: Request, pattern: str) -> Response:
        Input(request).refuse_unknown()
        return build_row_response(
            render(policy_engine.get_entry(pattern=pattern, actor=get_request_actor(request)))
        )

    def partial_update(self, request: Request, pattern: str) -> Response:
        rules: dict[str, Any] = Input(request).take_fields(POLICY.field_names(Use.UPDATE))
        entry, created = policy_engine.set_policy(pattern=pattern, actor=get_request_actor(request), **rules)
        return build_row_response(render(entry), 201 if created else 200)

    def destroy(self, request: Request, pattern: str) -> Response:
        Input(request).refuse_unknown()
        policy_engine.delete_policy(pattern=pattern, actor=get_request_actor(request))
        return Response(status=204)
