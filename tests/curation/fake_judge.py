"""A server with OpenAI's chat API that plays the model which judges facts."""

import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Self

from werkzeug import Request, Response

from curation.engines.verification.engine import VerificationEngine
from curation.models import Verification, VerificationJob
from memory.engines.support.leases import MAX_TRIES
from tests.http_doubles import DoubleServer
from tests.waiting import TIMEOUT_SECONDS

KEY = "sk-judge-not-to-be-told"
MODEL = "fake-judge"
DIMENSIONS = ("accuracy", "relevance", "specificity")


def rating(*scores: Any, reason: str = "because", names: Sequence[str] = DIMENSIONS) -> str:
    """Return the text of a good answer."""
    values = scores * len(names) if len(scores) == 1 else scores
    parts = {name: {"score": one, "reason": reason} for name, one in zip(names, values, strict=True)}
    return json.dumps(parts)


def completion(text: Any, finish: str = "stop") -> Response:
    """Return a chat completion with this text."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = {"id": "c", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage}
    return Response(json.dumps(body), content_type="application/json")


class FakeJudge:
    """The server. It answers with ``text``, or as a test demands; ``prompts`` has what it was sent."""

    def __init__(self) -> None:
        self._server = DoubleServer(threaded=True)
        self.prompts: list[list[dict[str, str]]] = []
        self.keys: list[str] = []
        self.models = [MODEL]  # that it has
        self.text = rating(0.9)
        self.next: deque[Response] = deque()  # responses that precede the regular ones
        self.before: Callable[[str], Response | None] | None = None  # called with the data of each request

    def __enter__(self) -> Self:
        self._server.start()
        self._server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._answer)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._server.is_running():
            self._server.stop()

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the settings.DAY1 that select this server."""
        return {
            "judge_model": MODEL,
            "judge_base_url": self._server.url_for("/v1"),
            "judge_api_key": KEY,
            "judge_timeout": float(TIMEOUT_SECONDS),
            **more,
        }

    def say(self, *texts: str) -> None:
        """Let the next answers be these texts."""
        self.next.extend(completion(text) for text in texts)

    def fail(self, status: int, message: str = "no", **headers: str) -> None:
        """Let the next response be an error."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        body = json.dumps({"error": {"message": message}})
        self.next.append(Response(body, status=status, headers=sent, content_type="application/json"))

    def _answer(self, request: Request) -> Response:
        sent = request.json
        assert sent["model"] in self.models
        self.prompts.append(sent["messages"])
        self.keys.append(request.headers["Authorization"])
        if self.before and (answer := self.before(sent["messages"][1]["content"])):
            return answer
        return self.next.popleft() if self.next else completion(self.text)


def verify_fact(**where: Any) -> Verification:
    """Have a fact rated by a worker that does not wait for a judge; return the result."""
    job = VerificationEngine().start_verification(**where)
    VerificationJob.objects.filter(pk=job.pk).update(tries=MAX_TRIES - 1)
    VerificationEngine().run_job(job.pk)
    return Verification.objects.prefetch_related("scores").get(job=job)
