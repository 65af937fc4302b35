"""Requests to the REST API in this process: the same views, without a socket, as one local actor.

The views are called with an authentication that knows nobody but the local actor, so no header and no
other process can pass for it.
"""

import json
import time
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.handlers.wsgi import WSGIRequest
from django.urls import Resolver404, URLResolver
from django.urls.resolvers import RegexPattern
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.routers import SimpleRouter

from day1site.cli.errors import Refused, name_changed
from day1site.cli.output import keep_secrets
from day1site.cli.transport.local_store import DEFAULT_URL
from day1site.cli.transport.rest import (
    REDACTED,
    Answer,
    encode_body,
    encode_query,
    list_redacted,
    session_header,
)
from day1site.running_servers import read_running
from day1site.settings.paths import data_dir
from memory.actors import Actor
from memory.api import routes
from memory.exceptions import Day1Error

POLL_SECONDS = 0.5  # between two reads of new events
NO_ADDRESS = "There is no such address."


class LocalTransport:
    """The REST API on the local store. Raises Refused."""

    timeout = 0.0  # there is no server to wait for

    def __init__(self, actor: Actor) -> None:
        self.actor = actor

    def request(
        self, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None
    ) -> Answer:
        """Return the JSON of the answer; {} when it has none."""
        request = build_request(method, path, encode_query(query), body)
        view, arguments = find_view(self.actor, unquote(path))
        try:
            response = view(request, **arguments)
        except Day1Error as error:
            text = name_changed(error.code, error.text, error.data)
            raise Refused(error.code, text, str(error.data.get("field", ""))) from error
        except APIException as error:
            raise Refused("invalid", str(error.detail)) from error
        content = response.render().content
        answer: Answer = json.loads(content) if content else {}
        if response.status_code >= 400:
            raise Refused(answer["code"], answer["detail"])
        keep_secrets(int(response.headers.get(REDACTED) or 0), list_redacted(answer))
        return answer

    def follow_events(self, query: Mapping[str, Any]) -> Iterator[Answer]:
        """Yield events for ever."""
        from memory.answers.events import event_shape as render
        from memory.engines.activity.events import EventEngine

        engine = EventEngine()
        watch = engine.open_watch(
            actor=self.actor,
            branches=query.get("branch", ()),
            kinds=query.get("kind", ()),
            after=query.get("last_event_id"),
        )
        position = watch.after
        while True:
            found, reached = engine.read_events(project_id=self.actor.project_id, after=position)
            yield from (render(event) for event in found if watch.matches_event(event))
            if reached == position:
                time.sleep(POLL_SECONDS)
            position = reached


class LocalRequest(WSGIRequest):
    """A request that nobody sent: links in its answer lead to the server of the data directory."""

    def get_host(self) -> str:
        server = read_running(data_dir())
        return urlsplit(server.url if server else DEFAULT_URL).netloc


def build_request(method: str, path: str, query: str, body: Mapping[str, Any] | None) -> LocalRequest:
    content = encode_body(body)
    return LocalRequest(
        {
            "REQUEST_METHOD": method,
            "PATH_INFO": unquote(path).encode().decode("latin-1"),
            "QUERY_STRING": query,
            "wsgi.url_scheme": "http",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(content)),
            "wsgi.input": BytesIO(content),
            **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in session_header().items()},
        }
    )


def find_view(actor: Actor, path: str) -> tuple[Any, dict[str, Any]]:
    """Return the view of an address as the actor calls it, and its arguments. Raises Refused."""
    try:
        match = resolver(path.split("/")[1]).resolve(path)
    except Resolver404:
        raise Refused("not_found", NO_ADDRESS) from None
    view: Any = match.func
    attributes = {
        **view.initkwargs,
        "authentication_classes": [authentication_for(actor)],
        "throttle_classes": [],
        "get_exception_handler": lambda: raise_again,
    }
    return view.cls.as_view(view.actions, **attributes), match.kwargs


@cache
def resolver(noun: str) -> URLResolver:
    """Return the addresses of one noun."""
    router = SimpleRouter()
    router.trailing_slash = "/?"
    router.register(noun, routes.find_view(noun), noun)
    return URLResolver(RegexPattern(r"^/"), router.urls)


def authentication_for(actor: Actor) -> type[BaseAuthentication]:
    """Return an authentication whose every request is the actor's."""

    class LocalAuthentication(BaseAuthentication):
        def authenticate(self, request: Request) -> tuple[None, Actor]:
            return None, actor

    return LocalAuthentication


def raise_again(error: Exception, context: Mapping[str, Any]) -> None:
    """Let an error go to the caller, who is in this process and says more than a problem would."""
    raise error
