"""/learning: the rules by which sessions are learned from; list them, switch one."""

import sys

from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.engines.learning import LearningEngine
from memory.answers.rendering import build_renderer, page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import BRANCH, document_routes, page, route
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page
from memory.exceptions import Invalid
from memory.operations.inputs import Input

learning_engine = LearningEngine()


class RuleShape(s.Serializer):
    """A rule by which sessions are learned from."""

    name = s.CharField()
    enabled = s.BooleanField(source="is_on", help_text="Whether sessions that end are learned from by it.")
    facts = s.IntegerField(help_text="Facts that it made on the branch, in any state.")
    searched = s.IntegerField(help_text="How many of them a search finds.")


class RuleInput(s.Serializer):
    """The switch of a rule."""

    enabled = s.BooleanField()


render = build_renderer(RuleShape)
ROUTES = {
    "LearningViewSet": {
        "list": route("The rules of learning, and what they made", {200: page(RuleShape)}, None, [BRANCH]),
        "partial_update": route("Switch a rule on or off", {200: RuleShape}, RuleInput),
    }
}


@serve_at("learning", "learning")
@document_routes(ROUTES, sys.modules[__name__])
class LearningViewSet(ResourceViewSet):
    lookup_field = "name"
    lookup_value_regex = "[a-z]+"

    def list(self, request: Request) -> Response:
        payload = Input(request)
        branch = payload.take_branch()
        payload.refuse_unknown()
        states = learning_engine.list_rules(actor=get_request_actor(request), branch_name=branch)
        return Response(page_shape(Page(states, None, None), render))

    def partial_update(self, request: Request, name: str) -> Response:
        payload = Input(request)
        enabled = payload.take_value("enabled", c.check_boolean)
        payload.refuse_unknown()
        if enabled is None:
            raise Invalid("{field} is needed.", field="enabled")
        state = learning_engine.switch_rule(name=name, is_on=enabled, actor=get_request_actor(request))
        return Response(render(state))
