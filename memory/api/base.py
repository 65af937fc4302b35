"""The base of REST resources: the actor, ETags, and idempotent requests."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from memory.actors import Actor
from memory.db.fields import dumps
from memory.db.raw_select import CUT_MARK
from memory.engines.embedding.awaited import awaited_texts, index_texts
from memory.engines.embedding.engine import get_embedding_states
from memory.engines.fields.common import END_USER, INDEXED
from memory.engines.support.idempotency import Answer, IdempotencyEngine, Keep, Store, keep_nothing
from memory.engines.support.validation import secrets_found
from memory.exceptions import Invalid, StaleVersion
from memory.operations.inputs import Input, count

Handler = Callable[..., Response]
ETAG = re.compile(r'(?:W/)?"([^"\x00-\x20]*)"')
OURS = re.compile(r"(\d{1,18})-[0-9a-f]{16}")
REDACTED = "Day1-Redacted"
REDACTED_FIELDS = "redacted_fields"  # in the answer of a write
WRITES = frozenset(("POST", "PUT", "PATCH"))
MAX_STORED_BYTES = 256 * 1024  # of an answer; a longer one is stored shortened
STORED_WIDTHS = (1000, 200, 48)  # characters of a value, tried in this order
REPLAYED = "Idempotency-Replayed"
TAGGED = frozenset({"version", "head"})  # a row with one of them has an ETag


class ResourceViewSet(ViewSet):
    """A ViewSet whose POST requests support Idempotency-Key."""

    is_of_server = False  # whether keys of the server reach it
    reads = False  # a POST that only reads: it may be repeated, and no answer is stored
    reading_actions: frozenset[str] = frozenset()  # such POSTs of a ViewSet that also writes
    names_redacted = True  # whether the answer of a write names the fields that held secrets
    long_actions: frozenset[str] = frozenset()  # POSTs that read for long before they lock: see keep_answer
    end_user_actions: frozenset[str] = frozenset()  # that can be about the memory of one end user
    untold: Mapping[str, Mapping[str, Any]] = {}  # by action, what is kept in the place of what is told once
    _store: Store | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.auth is not None:  # None where no key is needed
            secrets_found.start(get_request_actor(request).project_id)
            refuse_nobody(request)
            if self.action not in self.end_user_actions:
                get_request_actor(request).require_every_user()
        key = request.headers.get("Idempotency-Key")
        reads = self.reads or self.action in self.reading_actions
        if request.method == "POST" and key is not None and not reads and not is_dry_run(request):
            handler: Handler = getattr(self, "post")  # noqa: B009  # set for each request by the router
            setattr(self, "post", partial(self._run_once, handler, key))  # noqa: B010

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            awaited_texts.take()
            secrets_found.take()  # also after an error: the thread's next call may be for another project

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add what was redacted in the request: a header with the number, and the names of the fields."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.names_redacted and request.method in WRITES and response.status_code < 400:
            response.data = name_redacted(response.data)
            response.data = tell_indexed(get_request_actor(request), response.data)
        if count := secrets_found.take():
            response.headers[REDACTED] = str(count)
        return response

    def _run_once(self, handler: Handler, key: str, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the handler's answer, or the stored one of an equal request."""
        made: list[Response] = []

        def work(store: Store | None = None) -> Answer:
            self._store = store
            made.append(handler(request, *args, **kwargs))
            return self._make_answer(made[-1].data, made[-1].status_code)

        engine = IdempotencyEngine()
        run = engine.run_long if self.action in self.long_actions else engine.run_once
        answer = run(
            actor=get_request_actor(request),
            key=key,
            route=f"POST {request.path_info.rstrip('/')}",
            request=request_fingerprint(request),
            work=work,
        )
        if not answer.replayed:
            return made[-1]
        response = build_row_response(json.loads(answer.body), answer.status)
        response.headers[REPLAYED] = "true"
        return response

    def keep_answer(
        self,
        render: Callable[[Any], dict[str, Any]],
        find_code: Callable[[Any], int] = lambda _: status.HTTP_200_OK,
    ) -> Keep:
        """Return what a long action hands to its engine: it stores the rendered result of a repeatable
        request, with its status, in the engine's transaction.
        """
        if (store := self._store) is None:
            return keep_nothing
        return lambda result: store(self._make_answer(render(result), find_code(result)))

    def _make_answer(self, data: Any, code: int) -> Answer:
        return Answer(code, kept_text(name_redacted(self.storable_data(data))))

    def storable_data(self, data: Any) -> Any:
        """Return the part of an answer that may be stored."""
        values = self.untold.get(self.action or "")
        return {**data, **values} if values else data


def refuse_nobody(request: Request) -> None:
    """Refuse an address that names an empty end user or app: a program that lost the name would read all.

    Raises Invalid.
    """
    for one in END_USER:
        if request.query_params.get(one.name) == "":
            raise Invalid("{field} is empty: name one, or leave it out.", field=one.name)


def name_redacted(data: Any) -> Any:
    """Return an answer with the names of the fields that held secrets, where there are any."""
    fields = secrets_found.list_fields()
    return {**data, REDACTED_FIELDS: fields} if fields and isinstance(data, dict) else data


def tell_indexed(actor: Actor, data: Any) -> Any:
    """Wait for the index if the request wants that; return the answer with whether searches find all."""
    hashes = awaited_texts.take()
    if hashes is None or not isinstance(data, dict):
        return data
    found: dict[str, Any] = {INDEXED: index_texts(actor.project_id, hashes)}
    if "embedding_state" in data:
        states = get_embedding_states(actor.project_id, [data["content_hash"]])
        found["embedding_state"] = states[data["content_hash"]][0]
    return {**data, **found}


def kept_text(data: Any) -> str:
    """Return the text of an answer to store; a large one has its long values shortened."""
    text = json.dumps(data)
    for width in STORED_WIDTHS:
        if len(text) <= MAX_STORED_BYTES:
            break
        text = json.dumps(shorten_texts(data, width))
    return text


def shorten_texts(data: Any, width: int) -> Any:
    """Return rows or a row with texts cut to ``width`` characters, and larger objects and lists empty."""
    if isinstance(data, list):
        return [shorten_texts(row, width) for row in data]
    if not isinstance(data, dict):
        return data
    return {
        name: shorten_texts(value, width) if name == "results" else _shorten_value(value, width)
        for name, value in data.items()
    }


def _shorten_value(value: Any, width: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= width else value[: width - len(CUT_MARK)] + CUT_MARK
    if isinstance(value, dict) and "id" in value:  # a nested row
        return shorten_texts(value, width)
    if isinstance(value, dict | list) and len(json.dumps(value)) > width:
        return type(value)()
    return value


def get_request_actor(request: Request) -> Actor:
    """Return the actor, which the authentication class has set."""
    return cast(Actor, request.auth)  # the stubs know Django's own Token alone


def is_dry_run(request: Request) -> bool:
    """Return whether a request only asks what would be done.

    Its answer is not stored: the transaction around that would end with what the dry run takes back.
    """
    body = request.data if isinstance(request.data, dict) else {}
    return body.get("dry_run") in (True, "true") or request.query_params.get("dry_run") == "true"


def request_fingerprint(request: Request) -> str:
    """Return a text that is equal for equal requests, whatever the order of names in their body."""
    query = sorted((name, values) for name, values in request.query_params.lists())
    return json.dumps([query, request.data], sort_keys=True, default=str)


# ---- single rows -----------------------------------------------------------------------------------


def build_row_response(data: Any, code: int = status.HTTP_200_OK) -> Response:
    """Build the response of one row; a row with a version, or a branch with a head, gets an ETag.

    What has the version of something else, such as the report of an import, has no id and is no row.
    """
    is_row = isinstance(data, dict) and ("head" in data or {"id", "version"} <= data.keys())
    return Response(data, status=code, headers={"ETag": compute_etag(data)} if is_row else None)


def build_cached_response(request: Request, data: dict[str, Any]) -> Response:
    """Build the response to a GET of what has an ETag: 304 when the caller has it already."""
    headers = {"ETag": compute_etag(data)}
    if known_to(request, headers["ETag"]):
        return Response(status=status.HTTP_304_NOT_MODIFIED, headers=headers)
    return Response(data, headers=headers)


def compute_etag(data: dict[str, Any]) -> str:
    """Return a strong ETag: another version or another representation has another tag."""
    content = {name: value for name, value in data.items() if name != "created"}
    version = data["version"] if "version" in data else data["head"]
    return f'"{version}-{hashlib.sha256(dumps(content).encode()).hexdigest()[:16]}"'


def known_to(request: Request, etag: str) -> bool:
    header = request.headers.get("If-None-Match", "")
    return header.strip() == "*" or etag.strip('"') in ETAG.findall(header)


def expected_version(request: Request, payload: Input, current: Callable[[], int]) -> int | None:
    """Return the version that the caller has read, from If-Match or ``expected_version`` in the body.

    ``current`` is called only for ambiguous tags. Raises Invalid, StaleVersion.
    """
    return agree_on_version(request, payload.take_value("expected_version", count), current)


def agree_on_version(request: Request, named: int | None, current: Callable[[], int]) -> int | None:
    """Return the version that If-Match names, or ``named`` of the request. Raises Invalid, StaleVersion."""
    matched = matches_etag(request.headers.get("If-Match"), current)
    if None not in (named, matched) and named != matched:
        raise Invalid("If-Match and expected_version name different versions.", field="expected_version")
    return named if matched is None else matched


def matches_etag(header: str | None, current: Callable[[], int]) -> int | None:
    if header is None or header.strip() == "*":
        return None
    tags = ETAG.findall(header)
    if not tags:
        raise Invalid('If-Match must be an ETag such as "3-0123456789abcdef", or *.', field="If-Match")
    versions = {int(found[1]) for tag in tags if (found := OURS.fullmatch(tag))}
    if len(versions) == 1:
        return versions.pop()
    # None of Day1's own tags, or several: compare with the row.
    now = current()
    if now not in versions:
        raise StaleVersion(current=now, expected=", ".join(tags)[:200])
    return now
