"""/evals: put the saved questions to a branch, list the runs, read one."""

import sys
from typing import Any

from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import declared_serializers as d
from memory.answers import requests as r
from memory.answers.rendering import build_renderer, page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import PAGING, document_routes, page, route
from memory.engines.evaluation.runs import EvalEngine
from memory.engines.fields.base import Use
from memory.engines.fields.common import BRANCH
from memory.engines.fields.questions import DEFAULT_K, EVAL, MAX_K
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.models.questions import EvalRun
from memory.operations.inputs import Input, parse_id, parse_integer, parse_point
from memory.ranking import RECIPES

eval_engine = EvalEngine()
recipe_check = c.text_check(50)


@d.declare_fields([BRANCH])
class EvalSideInput(d.RequestShape):
    """A branch at a point, searched by a recipe."""

    at = r.PointField(required=False)
    recipe = s.ChoiceField(
        choices=sorted(RECIPES), required=False, allow_blank=True, help_text="The project's by default."
    )


class EvalInput(EvalSideInput):
    """What the questions are put to, and the side before where two are compared."""

    k = s.IntegerField(
        min_value=1,
        max_value=MAX_K,
        required=False,
        help_text=f"How many facts count; {DEFAULT_K} by default.",
    )
    against = EvalSideInput(
        required=False, help_text="What is not given is as on this side; at only on its branch."
    )


@d.declare_fields(EVAL.select_fields(Use.VERSION))
class EvalShape(d.AnswerShape):
    """A run of all questions."""


@d.declare_fields(EVAL.select_fields(Use.ANSWER))
class EvalDetailShape(d.AnswerShape):
    """A run with the ranks of each question."""


_render, _render_detail = build_renderer(EvalShape, "against"), build_renderer(EvalDetailShape, "against")


def render(run: EvalRun) -> dict[str, Any]:
    return _render(run, against=run.against or None)


def render_detail(run: EvalRun) -> dict[str, Any]:
    return _render_detail(run, against=run.against or None)


ANSWERS = {201: EvalDetailShape, 202: EvalDetailShape}
ROUTES = {
    "EvalViewSet": {
        "create": route("Put all questions to a branch", ANSWERS, EvalInput),
        "list": route("List runs, newest first", {200: page(EvalShape)}, None, PAGING),
        "retrieve": route("Read a run with the ranks of each question", {200: EvalDetailShape}),
    }
}


@serve_at("evals", "eval")
@document_routes(ROUTES, sys.modules[__name__])
class EvalViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"

    def create(self, request: Request) -> Response:
        payload = Input(request)
        side = {
            "branch_name": payload.take_branch(),
            "at": payload.take_value("at", parse_point),
            "recipe": payload.take_value("recipe", recipe_check, ""),
            "k": payload.take_value("k", parse_integer, DEFAULT_K),
            "against": payload.take_value("against", parse_side),
        }
        payload.refuse_unknown()
        run = eval_engine.start_eval(actor=get_request_actor(request), **side)
        return Response(render_detail(run), status=201 if run.state == EvalRun.State.DONE else 202)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging()
        payload.refuse_unknown()
        return Response(
            page_shape(eval_engine.list_evals(actor=get_request_actor(request), **paging), render)
        )

    def retrieve(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        return Response(
            render_detail(eval_engine.get_eval(eval_id=parse_id(pk), actor=get_request_actor(request)))
        )


CHECKS = {"branch": c.text_check(200, min_length=1), "at": parse_point, "recipe": recipe_check}


def parse_side(name: str, value: Any) -> dict[str, Any] | None:
    """Return the other side of a comparison, with its values checked; the engine knows its names."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object with branch, at and recipe.", field=name)
    return {
        key: CHECKS[key](f"{name}.{key}", one) if key in CHECKS else one
        for key, one in value.items()
        if one is not None or key not in CHECKS
    }
