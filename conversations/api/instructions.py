"""/instructions: what a project wants remembered; read it, set it, list its versions."""

import sys
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.engines.instructions import (
    MAX_CATEGORIES,
    MAX_TEXT_LENGTH,
    InstructionsEngine,
    load_presets,
)
from conversations.models import Instructions
from memory.answers.rendering import build_renderer, page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import PAGING, document_routes, page, route
from memory.operations.inputs import Input

instructions_engine = InstructionsEngine()


@extend_schema_serializer(many=False)  # the route is named as a list's
class InstructionsShape(s.Serializer):
    """A version of what a project wants remembered."""

    number = s.IntegerField(help_text="0 where none were set: those of the preset coding hold.")
    preset = s.ChoiceField(Instructions.Preset.choices)
    text = s.CharField(help_text="What a language model is told to note.")
    categories = s.ListField(child=s.CharField(), help_text="In which it is noted.")
    created_at = s.DateTimeField()
    created_by = s.CharField()


class InstructionsInput(s.Serializer):
    """What becomes the next version; a preset brings its text and categories."""

    preset = s.ChoiceField(sorted(load_presets()), required=False)
    text = s.CharField(required=False, max_length=MAX_TEXT_LENGTH)
    categories = s.ListField(
        child=s.RegexField("^[A-Za-z][A-Za-z0-9_ -]*$", max_length=50),
        required=False,
        min_length=1,
        max_length=MAX_CATEGORIES,
        help_text="Each a word or a few, of any script.",
    )


render = build_renderer(InstructionsShape)
ROUTES = {
    "InstructionsViewSet": {
        "list": route("Read what the project wants remembered", {200: InstructionsShape}),
        "create": route(
            "Set what the project wants remembered",
            {200: InstructionsShape, 201: InstructionsShape},
            InstructionsInput,
        ),
        "versions": route(
            "List the versions, the newest first", {200: page(InstructionsShape)}, None, PAGING
        ),
    }
}


@serve_at("instructions", "instructions")
@document_routes(ROUTES, sys.modules[__name__])
class InstructionsViewSet(ResourceViewSet):
    def list(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        return build_row_response(
            render(instructions_engine.get_instructions(actor=get_request_actor(request)))
        )

    def create(self, request: Request) -> Response:
        fields: dict[str, Any] = Input(request).take_fields(("preset", "text", "categories"))
        row, is_new = instructions_engine.set_instructions(actor=get_request_actor(request), **fields)
        return build_row_response(render(row), 201 if is_new else 200)

    @action(detail=False, methods=["get"])
    def versions(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging()
        payload.refuse_unknown()
        found = instructions_engine.list_versions(actor=get_request_actor(request), **paging)
        return Response(page_shape(found, render))
