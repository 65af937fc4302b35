"""/jobs: work in the background, and how far it is."""

from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import verification as shapes
from curation.engines.orders import JOBS
from curation.engines.verification import VerificationEngine
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, page, paging_by, route
from memory.operations.inputs import Input, parse_id

verification_engine = VerificationEngine()
ROUTES = {
    "JobViewSet": {
        "list": route("List jobs, newest first", {200: page(shapes.JobShape)}, None, paging_by(JOBS)),
        "retrieve": route("Read how far a job is", {200: shapes.JobShape}),
    }
}


@serve_at("jobs", "job")
@document_routes(ROUTES, shapes)
class JobViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=JOBS)
        payload.refuse_unknown()
        found = verification_engine.list_jobs(actor=get_request_actor(request), **paging)
        return Response(page_shape(found, shapes.render_job))

    def retrieve(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        job = verification_engine.get_job(job_id=parse_id(pk), actor=get_request_actor(request))
        return Response(shapes.render_job(job))
