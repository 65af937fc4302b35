"""Answers of a language model from OpenAI, or from any server with its API (Ollama, llama.cpp, vLLM, …)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from memory.conf import Conf, conf
from memory.exceptions import ProviderNonsense
from memory.providers.metering import ANSWER_TOKENS, Tokens, count_tokens, estimate_tokens
from memory.providers.openai_server import OpenAIServer, sendable_text

NO_KEY = "none"  # local servers need none, and the client wants one
MAX_OBJECTS = 50  # that are tried in an answer


@dataclass(frozen=True)
class Message:
    """A message of a prompt; ``role`` is system or user."""

    role: str
    content: str


@dataclass(frozen=True)
class ChatAnswer:
    """What the model wrote, and the tokens that it cost where the server says so."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class ChatServer(OpenAIServer):
    """One model of a server, asked for one whole answer at a time."""

    def __init__(self, base_url: str, api_key: str, model: str, timeout: float) -> None:
        super().__init__(base_url, api_key or NO_KEY, timeout)
        self.model = model

    def complete(self, messages: Sequence[Message]) -> ChatAnswer:
        """Return the model's answer. Raises ProviderUnavailable, and ProviderNonsense for half an answer.

        Neither a temperature nor a length is sent: some models refuse them.
        """
        sent: Any = [{"role": one.role, "content": sendable_text(one.content)} for one in messages]
        answer = self.request(
            lambda client, timeout: client.chat.completions.with_streaming_response.create(
                model=self.model, messages=sent, timeout=timeout
            ),
            self.timeout,
            Tokens(estimate_tokens(*(one["content"] for one in sent)), ANSWER_TOKENS),
        )
        return parse_answer(answer)


def parse_answer(answer: Any) -> ChatAnswer:
    """Parse a chat completion. Raises ProviderNonsense unless it is one whole text."""
    try:
        choice = answer["choices"][0]
        text, reason = choice["message"]["content"], choice.get("finish_reason")
    except (LookupError, TypeError, AttributeError):
        raise ProviderNonsense(reason="it is no chat completion in JSON", **read_usage(answer)) from None
    if reason == "length":
        raise ProviderNonsense(reason="it ends in the middle", **read_usage(answer))
    if not isinstance(text, str) or not text.strip():
        raise ProviderNonsense(reason="it has no text", **read_usage(answer))
    return ChatAnswer(text, **read_usage(answer))


def read_usage(answer: Any) -> dict[str, Any]:
    """Return the tokens of an answer, which costs them also where it cannot be used."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    return {
        "input_tokens": count_tokens(usage, "prompt_tokens"),
        "output_tokens": count_tokens(usage, "completion_tokens"),
    }


def get_judge(model: str = "") -> ChatServer | None:
    """Return the model that judges, or another one of its server; None where the settings name none.

    Raises ImproperlyConfigured for a model of OpenAI itself without a key.
    """
    return _judge_for(conf(), model)


@lru_cache(maxsize=32)
def _judge_for(settings: Conf, model: str) -> ChatServer | None:
    if not settings.judge_model:
        return None
    if not (settings.judge_base_url or settings.judge_api_key):
        raise ImproperlyConfigured("The judge needs DAY1_JUDGE_API_KEY, or the address of another server.")
    return ChatServer(
        settings.judge_base_url, settings.judge_api_key, model or settings.judge_model, settings.judge_timeout
    )


# ---- JSON in answers ---------------------------------------------------------------------------------


def iterate_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text that are not inside of one another."""
    return (value for _source, value in iterate_sources(text))


def iterate_sources(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each JSON object in a text with the text that it stands for."""
    decoder, position, left = json.JSONDecoder(parse_constant=refuse_constant), 0, MAX_OBJECTS
    while (position := text.find("{", position)) >= 0 and left:
        left -= 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
        else:
            yield text[position:end], value
            position = end


def refuse_constant(name: str) -> float:
    raise ValueError(name)  # NaN and Infinity are no JSON
