"""/questions: save, import, list, read, change, delete."""

import sys

from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import declared_serializers as d
from memory.answers import questions as shapes
from memory.answers.questions import SavedQuestionShape, SavedQuestionsShape, render
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import GONE, document_routes, list_filter_parameters, page, paging_by, route
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.fields.base import Use
from memory.engines.fields.common import BRANCH
from memory.engines.fields.orders import QUESTIONS
from memory.engines.fields.questions import QUESTION, QUESTION_FILTERS
from memory.filters import QuestionFilterSet
from memory.models.questions import MAX_QUESTIONS
from memory.operations.inputs import Input, parse_id

question_engine = QuestionEngine()
WRITTEN = QUESTION.field_names(Use.CREATE)


@d.declare_fields([*QUESTION.select_fields(Use.CREATE), BRANCH])
class SavedQuestionInput(d.RequestShape):
    """A new question. The branch shows the facts that it expects."""


@d.declare_fields(field.as_optional() for field in QUESTION.select_fields(Use.UPDATE))
class SavedQuestionUpdateInput(d.RequestShape):
    """Changed fields of a question."""


@d.declare_fields(QUESTION.select_fields(Use.CREATE))
class QuestionLineInput(d.RequestShape):
    """A question of several. Ids that no branch has are taken too: a run names them."""


@d.declare_fields([BRANCH])
class QuestionsInput(d.RequestShape):
    """Several questions, saved all or none."""

    questions = s.ListField(child=QuestionLineInput(), min_length=1, max_length=MAX_QUESTIONS)


ROUTES = {
    "QuestionViewSet": {
        "create": route("Save a question", {201: SavedQuestionShape}, SavedQuestionInput),
        "bulk": route("Save several questions", {201: SavedQuestionsShape}, QuestionsInput),
        "list": route(
            "List questions, newest first",
            {200: page(SavedQuestionShape)},
            None,
            [*list_filter_parameters(QuestionFilterSet), *paging_by(QUESTIONS)],
        ),
        "retrieve": route("Read a question", {200: SavedQuestionShape}),
        "partial_update": route("Change a question", {200: SavedQuestionShape}, SavedQuestionUpdateInput),
        "destroy": route("Delete a question", {204: GONE}),
    }
}


@serve_at("questions", "question")
@document_routes(ROUTES, sys.modules[__name__], shapes)
class QuestionViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = QuestionFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        branch, fields = payload.take_branch(), payload.take_fields(WRITTEN)
        actor = get_request_actor(request)
        question = question_engine.create_question(actor=actor, branch_name=branch, **fields)
        return build_row_response(render(question), 201)

    @action(detail=False, methods=["post"])
    def bulk(self, request: Request) -> Response:
        payload = Input(request)
        branch, questions = payload.take_branch(), payload.body.pop("questions", None)
        payload.refuse_unknown()
        actor = get_request_actor(request)
        rows, created = question_engine.import_questions(questions=questions, actor=actor, branch_name=branch)
        return Response({"results": [render(row) for row in rows], "created": created}, status=201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        filters = payload.take_filters(QUESTION_FILTERS)
        paging = payload.take_paging(order=QUESTIONS)
        payload.refuse_unknown()
        found = question_engine.list_questions(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(found, render))

    def retrieve(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        actor = get_request_actor(request)
        return Response(render(question_engine.get_question(question_id=parse_id(pk), actor=actor)))

    def partial_update(self, request: Request, pk: str) -> Response:
        fields = Input(request).take_fields(WRITTEN)
        actor = get_request_actor(request)
        return Response(
            render(question_engine.update_question(question_id=parse_id(pk), actor=actor, **fields))
        )

    def destroy(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        question_engine.delete_question(question_id=parse_id(pk), actor=get_request_actor(request))
        return Response(status=204)
