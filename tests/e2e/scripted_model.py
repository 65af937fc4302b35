"""A model service for real programs of agents: it answers their prompts from a script, in four protocols."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from werkzeug import Request, Response

from tests.http_doubles import DoubleServer
from tests.site.program_calls import TOOLS, word_call

Call = tuple[str, Any]  # "shell" and its command line, or the name of one of Day1's tools and its arguments
Turn = tuple[str, str, bool]  # the role, the text, and whether it calls a tool
Script = Mapping[str, Sequence[Call]]  # what the model calls after each prompt, one a request
ANSWER = "That is done."
USAGE = {"input_tokens": 100, "output_tokens": 20}
MESSAGES, RESPONSES, CHAT = "/messages", "/responses", "/chat/completions"  # else Gemini's
numbers = count(1)


class ScriptedModel:
    """The service. ``requests`` are the bodies of those that list tools, in their order."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.script: Script = {}
        self.requests: list[Any] = []
        self.server = DoubleServer(threaded=True)
        self.server.expect_request(re.compile(".*")).respond_with_handler(self.respond)

    def respond(self, request: Request) -> Response:
        if request.method != "POST":
            return Response(json.dumps({"data": [], "models": []}), content_type="application/json")
        body = request.get_json(force=True)
        protocol = next((end for end in (MESSAGES, RESPONSES, CHAT) if request.path.endswith(end)), "")
        tools, turns = LISTED[protocol](body), READ[protocol](body)
        if tools:
            self.requests.append(body)
        called = self.choose(turns, tools) if tools else None
        return Response(ANSWERED[protocol](called), content_type="text/event-stream")

    def choose(self, turns: Sequence[Turn], tools: Sequence[str]) -> Call | None:
        """Return the program's name of the next tool, and its arguments; None when all were called."""
        for index in range(len(turns) - 1, -1, -1):
            role, text, _ = turns[index]
            place, prompt = max(((text.rfind(prompt), prompt) for prompt in self.script), default=(-1, ""))
            if role == "user" and place >= 0:
                done = sum(calls for _, _, calls in turns[index + 1 :])
                calls = self.script[prompt]
                return self.word(calls[done], tools) if done < len(calls) else None
        return None

    def word(self, call: Call, tools: Sequence[str]) -> Call:
        name, arguments = call
        if name == "shell":
            tool = next(tool for tool in TOOLS if tool in tools)
            return tool, word_call(tool, arguments, next(numbers), self.folder)
        found = [tool for tool in tools if tool.endswith(name) and "day1" in tool]
        return (found[0], arguments) if found else ("tool_search", {"query": f"day1 {name}"})


# What a request holds: the names of its tools, and the turns of its talk.


def join_text(content: Any) -> str:
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    return "\n".join(part.get("text") or "" for part in parts)


def read_messages(body: Any) -> list[Turn]:
    """Read the talk of Anthropic's messages and of OpenAI's chat completions."""
    turns = []
    for turn in body["messages"]:
        calls = bool(turn.get("tool_calls")) or '"tool_use"' in json.dumps(turn)
        turns.append((turn["role"], join_text(turn.get("content")), calls))
    return turns


def read_responses(body: Any) -> list[Turn]:
    turns = []
    for item in body["input"]:
        kind = item.get("type", "message")
        calls = kind.endswith("_call") and kind != "tool_search_call"
        turns.append((item.get("role", ""), join_text(item.get("content")), calls))
    return turns


def read_contents(body: Any) -> list[Turn]:
    return [
        (turn["role"], join_text(turn["parts"]), any("functionCall" in part for part in turn["parts"]))
        for turn in body["contents"]
    ]


def list_responses_tools(body: Any) -> list[str]:
    """Return the names; a tool of a namespace has that before a space."""
    found = [tool for item in body["input"] for tool in item.get("tools", ())]
    names = []
    for tool in [*body.get("tools", ()), *found]:
        inner = tool.get("tools") if tool.get("type") == "namespace" else None
        names += [f"{tool['name']} {one['name']}" for one in inner or ()]
        names += [tool.get("name") or tool["type"]] if inner is None else []
    return names


def list_gemini_tools(body: Any) -> list[str]:
    return [one["name"] for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())]


# What is answered: the text of all answers, or a call of a tool.


def event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def answer_messages(call: Call | None) -> Iterator[str]:
    uid = f"msg_{next(numbers)}"
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta: dict[str, Any] = {"type": "text_delta", "text": ANSWER}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{next(numbers)}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    message = {"id": uid, "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield event("message_start", message={**message, "stop_reason": None, "usage": USAGE})
    yield event("content_block_start", index=0, content_block=block)
    yield event("content_block_delta", index=0, delta=delta)
    yield event("content_block_stop", index=0)
    yield event("message_delta", delta={"stop_reason": "tool_use" if call else "end_turn"}, usage=USAGE)
    yield event("message_stop")


def answer_responses(call: Call | None) -> Iterator[str]:
    uid = next(numbers)
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": f"msg_{uid}"}
    item["content"] = [{"type": "output_text", "text": ANSWER, "annotations": []}]
    if call:
        space, _, name = call[0].rpartition(" ")
        item = {"type": "function_call", "id": f"fc_{uid}", "name": name, "arguments": json.dumps(call[1])}
        item |= {"namespace": space} if space else {}
        if name == "tool_search":
            item = {"type": "tool_search_call", "execution": "client", "arguments": call[1]}
        item["call_id"] = f"call_{uid}"
    item["status"] = "completed"
    usage = USAGE | {"total_tokens": 120}
    response = {"id": f"resp_{uid}", "object": "response", "output": [], "usage": usage}
    yield event("response.created", response={**response, "status": "in_progress"})
    yield event("response.output_item.done", output_index=0, item=item)
    yield event("response.completed", response={**response, "status": "completed", "output": [item]})


def answer_chat(call: Call | None) -> Iterator[str]:
    delta: dict[str, Any] = {"role": "assistant", "content": "" if call else ANSWER}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        delta["tool_calls"] = [
            {"index": 0, "id": f"call_{next(numbers)}", "type": "function", "function": function}
        ]
    for part, reason in ((delta, None), ({}, "tool_calls" if call else "stop")):
        choices = [{"index": 0, "delta": part, "finish_reason": reason}]
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        yield f"data: {json.dumps({**chunk, 'choices': choices})}\n\n"
    yield "data: [DONE]\n\n"


def answer_gemini(call: Call | None) -> Iterator[str]:
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": ANSWER}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    candidates = [{"content": content, "finishReason": "STOP", "index": 0}]
    yield f"data: {json.dumps({'candidates': candidates, 'usageMetadata': usage})}\n\n"


READ = {MESSAGES: read_messages, RESPONSES: read_responses, CHAT: read_messages, "": read_contents}
LISTED = {
    MESSAGES: lambda body: [tool["name"] for tool in body.get("tools", ())],
    RESPONSES: list_responses_tools,
    CHAT: lambda body: [tool["function"]["name"] for tool in body.get("tools", ())],
    "": list_gemini_tools,
}
ANSWERED = {MESSAGES: answer_messages, RESPONSES: answer_responses, CHAT: answer_chat, "": answer_gemini}
