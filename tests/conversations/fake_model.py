"""A server that plays the model of replays, and messages as hooks write them."""

import json
from collections import deque
from typing import Any

from werkzeug import Request, Response

from conversations.models import Message, Replay
from tests.http_doubles import DoubleServer


def completion(text: str | None = None, *calls: Any, finish: str = "stop", **more: Any) -> Response:
    message: dict[str, Any] = {"role": "assistant", "content": text, **more}
    if calls:
        message["tool_calls"] = [
            {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for i, (name, given) in enumerate(calls)
        ]
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choices = [{"index": 0, "finish_reason": finish, "message": message}]
    body = {"id": "c", "object": "chat.completion", "model": "m", "choices": choices, "usage": usage}
    return Response(json.dumps(body), content_type="application/json")


class FakeModel:
    """The server: it answers with what a test has queued; ``sent`` are the requests."""

    def __init__(self) -> None:
        self.server = DoubleServer(threaded=True)
        self.sent: list[Any] = []
        self.next: deque[Any] = deque()

    def answer(self, request: Request) -> Response:
        self.sent.append(request.json)
        found = self.next.popleft()
        return found() if callable(found) and not isinstance(found, Response) else found


def used(name: str, arguments: Any, output: str) -> dict[str, Any]:
    call = {"id": f"r{output}", "name": name, "input": arguments}
    return {"role": "tool_result", "content": output, "tool_calls": [call]}


def texts(replay: Replay) -> list[tuple[str, str]]:
    rows = Message._base_manager.filter(conversation_id=replay.conversation_id).order_by("sequence_num")
    return [(row.role, row.content) for row in rows]
