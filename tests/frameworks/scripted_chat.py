"""A model service for frameworks of agents, in two protocols: OpenAI's chat completions and Gemini's.

It does what the newest words of the person say: ``use TOOL {arguments}`` calls a tool once, ``do you know
[w.o.r.d]`` is answered with yes where the word stands in the request. Other words are answered "Understood.".
"""

import json
import re
from typing import Any

from werkzeug import Request, Response

from tests.http_doubles import DoubleServer

UNDERSTOOD = "Understood."
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
Call = tuple[str, str]  # a tool's name and its arguments as JSON


def answer(asked: str, others: str, is_done: bool) -> str | Call:
    """Return what the model says to a prompt, given all other words, or which tool it calls."""
    if (use := re.search(r"use (\w+) (\{.*\})", asked, re.DOTALL)) and not is_done:
        return use[1], use[2]
    if word := re.search(r"do you know \[(.+?)\]", asked):
        return "yes" if word[1].replace(".", "") in asked + others else "no"
    return f"The tool said: {others[-2000:]}" if is_done else UNDERSTOOD


def read_chat(body: Any) -> tuple[str, str, bool]:
    """Return the newest words of the person, all other words, and whether a tool has answered since."""
    turns = body["messages"]
    last = max(number for number, turn in enumerate(turns) if turn["role"] == "user")
    asked = join_texts(turns[last].get("content"))
    others = [join_texts(turn.get("content")) for number, turn in enumerate(turns) if number != last]
    is_done = any(turn["role"] == "tool" for turn in turns[last:])
    return asked, "\n".join(others), is_done


def join_texts(content: Any) -> str:
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    return "\n".join(part.get("text") or "" for part in parts)


def write_chat(said: str | Call, is_stream: bool) -> str:
    text = {"role": "assistant", "content": said if isinstance(said, str) else None}
    reason = "stop" if isinstance(said, str) else "tool_calls"
    message: dict[str, Any] = dict(text)
    if not isinstance(said, str):
        function = {"name": said[0], "arguments": said[1]}
        message["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
    usual = {"id": "c", "created": 1, "model": "scripted", "usage": USAGE}
    if not is_stream:
        choices = [{"index": 0, "message": message, "finish_reason": reason}]
        return json.dumps({**usual, "object": "chat.completion", "choices": choices})
    chunks = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": reason}]
    rows = [{**usual, "object": "chat.completion.chunk", "choices": [{"index": 0, **one}]} for one in chunks]
    return "".join(f"data: {json.dumps(row)}\n\n" for row in [*rows]) + "data: [DONE]\n\n"


def read_gemini(body: Any) -> tuple[str, str, bool]:
    turns = [body.get("systemInstruction") or {"parts": []}, *body["contents"]]
    words = ["\n".join(part.get("text", "") for part in turn["parts"]) for turn in turns]
    last = max(number for number, text in enumerate(words) if text and turns[number].get("role") == "user")
    answers = [
        part["functionResponse"] for turn in turns for part in turn["parts"] if "functionResponse" in part
    ]
    asked = words.pop(last)
    return (
        asked,
        "\n".join([*words, *(json.dumps(one, ensure_ascii=False) for one in answers)]),
        bool(answers),
    )


def write_gemini(said: str | Call, is_stream: bool) -> str:
    part: dict[str, Any] = {"text": said} if isinstance(said, str) else {}
    part = part or {"functionCall": {"name": said[0], "args": json.loads(said[1])}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    row = json.dumps({"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage})
    return f"data: {row}\n\n" if is_stream else row


class ScriptedChat(DoubleServer):
    """The service; ``requests`` are the bodies of what it was asked, in their order."""

    def __init__(self) -> None:
        super().__init__(threaded=True)
        self.requests = list[Any]()
        self.expect_request(re.compile(".*"), method="POST").respond_with_handler(self._say)

    def _say(self, request: Request) -> Response:
        body = json.loads(request.get_data())
        is_chat = request.path.endswith("/chat/completions")
        read, write = (read_chat, write_chat) if is_chat else (read_gemini, write_gemini)
        is_stream = bool(body.get("stream")) or "stream" in request.path
        self.requests.append(body)
        kind = "text/event-stream" if is_stream else "application/json"
        return Response(write(answer(*read(body)), is_stream), content_type=kind)
