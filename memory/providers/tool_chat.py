"""Steps of a language model that may call tools, from a server with OpenAI's chat API."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from memory.conf import Conf, conf
from memory.db.fields import dumps
from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.providers.chat import NO_KEY, read_usage
from memory.providers.metering import ANSWER_TOKENS, Tokens, estimate_tokens
from memory.providers.openai_server import OpenAIServer, sendable_text
from memory.texts import clean_value, make_storable

MAX_CALLS = 64  # of tools in one answer
NEW_LIMIT = "max_completion_tokens"
MIN_SECONDS = 1.0  # for the second request of a step
NO_MODEL = (
    "No model is set for replays: set DAY1_REPLAY_MODEL, and DAY1_REPLAY_BASE_URL or DAY1_REPLAY_API_KEY."
)


@dataclass(frozen=True)
class CalledTool:
    id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class ModelStep:
    """One answer: a text, calls of tools, or a refusal; with the tokens that the server counted."""

    text: str = ""
    calls: tuple[CalledTool, ...] = ()
    refused: bool = False
    cut: bool = False
    input_tokens: int = 0
    output_tokens: int = 0


class ToolChatServer(OpenAIServer):
    """A server; the model is named with each request."""

    def __init__(self, base_url: str, api_key: str, timeout: float) -> None:
        super().__init__(base_url, api_key, timeout)
        self._refusing: set[str] = set()  # models that take a limit of an answer by its newer name alone

    def take_step(
        self,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        **options: Any,
    ) -> ModelStep:
        """Return the model's answer to a chat. ``options`` are temperature and max_tokens, if given.

        OpenAI's newer models take the second as max_completion_tokens alone, also behind a gateway: a model
        that asks for that name gets it, in this request and in those that follow. Raises
        ProviderUnavailable, and ProviderNonsense for an answer that is none.
        """
        sent: Any = {"model": model, "messages": [_sendable(one) for one in messages], **options}
        if tools:
            sent["tools"] = clean_value(tools)
        if "max_tokens" not in sent:
            return self._send(sent, self.timeout)
        return self._send_limited(sent, monotonic() + self.timeout)

    def _send_limited(self, sent: dict[str, Any], until: float) -> ModelStep:
        """Send a request with the limit of its answer by the name that the model takes."""
        model = sent["model"]
        if self._base_url and model not in self._refusing:
            try:
                return self._send(sent, self.timeout)
            except ProviderUnavailable as error:
                if error.data.get("status") != 400 or NEW_LIMIT not in error.server_words:
                    raise
            self._refusing.add(model)
        renamed = {NEW_LIMIT if name == "max_tokens" else name: value for name, value in sent.items()}
        return self._send(renamed, max(until - monotonic(), MIN_SECONDS))

    def _send(self, sent: dict[str, Any], seconds: float) -> ModelStep:
        answer = self.request(
            lambda client, timeout: client.chat.completions.with_streaming_response.create(
                **sent, timeout=timeout
            ),
            seconds,
            expect_tokens(sent),
        )
        return parse_step(answer)


def expect_tokens(sent: Mapping[str, Any]) -> Tokens:
    """Return what a request may cost, by its content and the limit of its answer."""
    most = sent.get(NEW_LIMIT) or sent.get("max_tokens") or ANSWER_TOKENS
    return Tokens(estimate_tokens(dumps([sent["messages"], sent.get("tools")])), most)


def _sendable(message: Mapping[str, Any]) -> dict[str, Any]:
    message = clean_value(message)
    content = message.get("content")
    return {**message, **({"content": sendable_text(content)} if isinstance(content, str) else {})}


def parse_step(answer: Any) -> ModelStep:
    """Parse a chat completion with or without calls. Raises ProviderNonsense."""
    try:
        choice = answer["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = message.get("content") or "", message.get("refusal") or ""
        calls = tuple(_parse_call(call) for call in (message.get("tool_calls") or ())[:MAX_CALLS])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ProviderNonsense(reason="it is no chat completion in JSON", **read_usage(answer)) from None
    if not isinstance(text, str) or not isinstance(refusal, str):
        raise ProviderNonsense(reason="its text is none", **read_usage(answer))
    refused = bool(refusal) or reason == "content_filter"
    if not (text.strip() or calls or refused):
        raise ProviderNonsense(**_explain_silence(reason), **read_usage(answer))
    text = make_storable(text or refusal)
    return ModelStep(text, calls, refused, reason == "length", **read_usage(answer))


def _explain_silence(finish_reason: Any) -> dict[str, Any]:
    """Return why an answer is empty; one that thinks until its limit does so again, and is paid again."""
    if finish_reason != "length":
        return {"reason": "it has neither text nor calls"}
    return {"reason": "it reached its limit of tokens before its first word: raise max_tokens", "final": True}


def _parse_call(call: Any) -> CalledTool:
    """Parse a call. Raises ValueError, TypeError, LookupError for one that is none."""
    function = call["function"]
    name, raw = function["name"], function.get("arguments") or "{}"
    if not isinstance(name, str) or not name:
        raise ValueError
    arguments = json.loads(raw) if isinstance(raw, str) else raw
    return CalledTool(make_storable(str(call.get("id") or "")), make_storable(name), clean_value(arguments))


def get_replayer() -> ToolChatServer | None:
    """Return the server of replays; None where the settings name no model.

    Raises ImproperlyConfigured for OpenAI itself without a key.
    """
    return _replayer_for(conf())


@lru_cache(maxsize=8)
def _replayer_for(settings: Conf) -> ToolChatServer | None:
    if not settings.replay_model:
        return None
    if not (settings.replay_base_url or settings.replay_api_key):
        raise ImproperlyConfigured(NO_MODEL)
    return ToolChatServer(
        settings.replay_base_url, settings.replay_api_key or NO_KEY, settings.replay_timeout
    )
