"""/facts/ID/verify and /facts/ID/verification: a person's verdict, or a judge's rating."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import verification as shapes
from curation.api import requests as r
from curation.engines.verification import DONE_STATES, MAX_WAIT_SECONDS, VerificationEngine
from memory.answers.facts import FactShape
from memory.answers.facts import fact as render_fact
from memory.api.base import build_cached_response, build_row_response, get_request_actor
from memory.api.facts import FactViewSet
from memory.api.routes import serve_at
from memory.api.schema import AT, BRANCH, IF_MATCH, IF_NONE_MATCH, SAME, document_routes, query, route
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.models import Fact
from memory.operations.inputs import Input, parse_id, parse_integer, parse_point, word

verification_engine = VerificationEngine()
WAIT = query(
    "wait",
    {"type": "integer", "minimum": 0, "maximum": MAX_WAIT_SECONDS},
    "Seconds to wait for the judge; the rating is then the answer.",
)
ROUTES = {
    "CuratedFactViewSet": {
        "verify": route(
            "Give a verdict on a fact, or ask the judge for a rating",
            {200: FactShape, 202: shapes.JobShape},
            r.VerifyInput,
            [WAIT, IF_MATCH],
        ),
        "verification": route(
            "The verdict on a fact, and its newest rating",
            {200: shapes.FactVerificationShape, 304: SAME},
            None,
            [BRANCH, AT, IF_NONE_MATCH],
        ),
    }
}


@serve_at("facts", "fact")
@document_routes(ROUTES, shapes, r)
class CuratedFactViewSet(FactViewSet):
    @action(detail=True, methods=["post"])
    def verify(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        verdict = payload.take_value("verdict", word)
        wait = check_wait(payload.take_value("wait", parse_integer, 0))
        if verdict is None:
            return self._ask_judge(request, payload, pk, wait)
        who = self.write_target(request, payload, pk)
        reason = payload.take_value("reason", c.plain_text, "")
        payload.refuse_unknown()
        fact: Fact = verification_engine.set_verdict(verdict=verdict, reason=reason, **who)
        return build_row_response(render_fact(fact, branch=who["branch_name"]))

    def _ask_judge(self, request: Request, payload: Input, pk: str, wait: int) -> Response:
        """Queue a rating: 202 with its job, or 200 with the job that ended within the wait."""
        who = self.write_target(request, payload, pk)
        payload.refuse_unknown()
        job = verification_engine.start_verification(**who)
        # The answer to a repeatable request is stored in the transaction that makes the job: no worker would
        # see that before it ends.
        if wait and "Idempotency-Key" not in request.headers:
            job = verification_engine.wait_for_job(job_id=job.pk, actor=who["actor"], seconds=wait)
        return Response(shapes.render_job(job), status=200 if job.state in DONE_STATES else 202)

    @action(detail=True, methods=["get"])
    def verification(self, request: Request, pk: str) -> Response:
        fact_id, payload = parse_id(pk), Input(request)
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        payload.refuse_unknown()
        found = verification_engine.get_status(
            fact_id=fact_id, actor=get_request_actor(request), branch_name=branch, at=at
        )
        return build_cached_response(request, shapes.render_status(*found))


def check_wait(seconds: int) -> int:
    """Check a number of seconds to wait. Raises Invalid."""
    if not 0 <= seconds <= MAX_WAIT_SECONDS:
        raise Invalid("{field} must be 0 to {most}.", field="wait", most=MAX_WAIT_SECONDS)
    return seconds
