"""What every resource shares: the actor, answers with ETags, requests that may be sent again."""

import hashlib
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from memory.actors import Actor
from memory.api.reading import Input, count
from memory.db.fields import dumps
from memory.engines.idempotency import Answer, IdempotencyEngine
from memory.exceptions import Invalid, StaleVersion

Handler = Callable[..., Response]
ETAG = re.compile(r'(?:W/)?"([^"\x00-\x20]*)"')
OURS = re.compile(r"(\d{1,18})-[0-9a-f]{16}")
REPLAYED = "Idempotency-Replayed"


class Resource(ViewSet):
    """A ViewSet whose POSTs obey Idempotency-Key."""

    writes = True  # False: a POST that only reads, and so holds no transaction

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        key = request.headers.get("Idempotency-Key")
        if request.method == "POST" and key is not None:
            handler: Handler = getattr(self, "post")  # noqa: B009  # set for each request by the router
            setattr(self, "post", partial(self._once, handler, key))  # noqa: B010

    def _once(self, handler: Handler, key: str, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The handler's answer, or the one that an equal request got before."""
        made: list[Response] = []

        def work() -> Answer:
            made.append(handler(request, *args, **kwargs))
            return Answer(made[-1].status_code, json.dumps(self.kept(made[-1].data)))

        answer = IdempotencyEngine().once(
            actor=actor_of(request), key=key, route=f"POST {request.path.rstrip('/')}",
            request=fingerprint(request), work=work, writes=self.writes,
        )  # fmt: skip
        if not answer.replayed:
            return made[-1]
        response = one(json.loads(answer.body), answer.status)
        response.headers[REPLAYED] = "true"
        return response

    def kept(self, data: Any) -> Any:
        """The part of an answer that may be stored."""
        return data


def actor_of(request: Request) -> Actor:
    """Who asks: the authentication class puts the actor there."""
    return request.auth  # type: ignore[return-value]


def fingerprint(request: Request) -> str:
    """Equal for equal requests, whatever the order of the names in their body."""
    query = sorted((name, values) for name, values in request.query_params.lists())
    return json.dumps([query, request.data], sort_keys=True, default=str)


# ---- single rows -----------------------------------------------------------------------------------


def one(data: Any, code: int = status.HTTP_200_OK) -> Response:
    """The answer with one row; a row that has versions, or a branch that has commits, gets an ETag."""
    response = Response(data, status=code)
    if isinstance(data, dict) and data.keys() & {"version", "head"}:
        response.headers["ETag"] = etag_of(data)
    return response


def shown(request: Request, data: dict[str, Any]) -> Response:
    """The answer to a GET of one row: 304 when the caller has it already."""
    response = one(data)
    if "ETag" in response.headers and known_to(request, response.headers["ETag"]):
        return Response(status=status.HTTP_304_NOT_MODIFIED, headers={"ETag": response.headers["ETag"]})
    return response


def etag_of(data: dict[str, Any]) -> str:
    """Strong: another version or another representation is another tag."""
    content = {name: value for name, value in data.items() if name != "created"}
    version = data["version"] if "version" in data else data["head"]
    return f'"{version}-{hashlib.sha256(dumps(content).encode()).hexdigest()[:16]}"'


def known_to(request: Request, etag: str) -> bool:
    given = request.headers.get("If-None-Match", "")
    return given.strip() == "*" or etag.strip('"') in ETAG.findall(given)


def expected_version(request: Request, given: Input, current: Callable[[], int]) -> int | None:
    """The version that the caller has read, from If-Match or from ``expected_version`` in the body.

    ``current`` is asked only for tags that leave a choice. Raises Invalid, StaleVersion.
    """
    said = given.take("expected_version", count)
    matched = _matched(request.headers.get("If-Match"), current)
    if None not in (said, matched) and said != matched:
        raise Invalid("If-Match and expected_version name different versions.", field="expected_version")
    return said if matched is None else matched


def _matched(header: str | None, current: Callable[[], int]) -> int | None:
    if header is None or header.strip() == "*":
        return None
    tags = ETAG.findall(header)
    if not tags:
        raise Invalid('If-Match must be an ETag such as "3-0123456789abcdef", or *.', field="If-Match")
    versions = {int(found[1]) for tag in tags if (found := OURS.fullmatch(tag))}
    if len(versions) == 1:
        return versions.pop()
    # None of Day1's own, or several: only the row can tell.
    now = current()
    if now not in versions:
        raise StaleVersion(current=now, expected=", ".join(tags)[:200])
    return now
