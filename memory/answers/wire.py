"""JSON parser, renderer and content negotiation of the REST framework."""

import json
from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder

from memory.exceptions import Invalid, TooLarge
from memory.texts import MAX_DEPTH, is_deep

MIB = 1024 * 1024
BODY_LIMIT = 8 * MIB


class Parser(BaseParser):
    """A parser for JSON as in RFC 8259: UTF-8, no NaN, limited nesting, at most 8 MiB."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        body = stream.read(BODY_LIMIT + 1)
        if len(body) > BODY_LIMIT:
            raise TooLarge(what="The request body", limit=f"{BODY_LIMIT // MIB} MiB")
        try:
            value = json.loads(body.decode("utf-8-sig"), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise Invalid(f"The body is not JSON: {describe_error(error)}.") from None
        if is_deep(value):
            raise Invalid(f"The body is not JSON: it is nested more than {MAX_DEPTH} deep.")
        return value


class NoNumber(ValueError):
    """NaN or an infinity in a JSON body."""


def _no_constant(name: str) -> Any:
    raise NoNumber(f"{name} is no JSON number")


def describe_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        label = error.msg.partition(" (")[0].removesuffix(" at")
        return f"{label} at line {error.lineno}, column {error.colno}"
    if isinstance(error, RecursionError):
        return f"it is nested more than {MAX_DEPTH} deep"
    if isinstance(error, NoNumber):
        return str(error)
    return (
        "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else "it holds a number of too many digits"
    )


class Renderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:
        if data is None:
            return b""
        try:
            return dump_json(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # a lone surrogate that the caller sent and that is quoted
            return dump_json(data, ensure_ascii=True).encode()


def dump_json(data: Any, ensure_ascii: bool) -> str:
    return json.dumps(data, cls=JSONEncoder, ensure_ascii=ensure_ascii, separators=(",", ":"))


class AlwaysJSON(BaseContentNegotiation):
    """JSON in, or 415; JSON out, whatever the Accept header."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(self, request: Request, renderers: Iterable[BaseRenderer], *_: Any) -> tuple:
        first = next(iter(renderers))
        return first, first.media_type
