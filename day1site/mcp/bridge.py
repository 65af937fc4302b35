"""MCP on standard input and output for a remote server: each line is a request to its /mcp.

The bridge knows no tools: lists, refusals and results come from the server, so that both transports behave
the same. It needs only the standard library, and starts at once.
"""

import json
import sys
from base64 import b64encode
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from io import TextIOWrapper
from threading import Event, Lock
from typing import Any, TextIO, cast
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request

from day1site.http_opener import REDIRECTS, open_url
from day1site.mcp import roots
from memory.texts import BYTE_ORDER_MARK, clean_value

TIMEOUT_SECONDS = 120.0
THREADS = 8
VERSION = "io.modelcontextprotocol/protocolVersion"
SERVER_ERROR = -32000
NO_JSON = "The line is not JSON."
NO_MESSAGE = "A line is one JSON-RPC message."

ROOTS_ID = "day1-roots"
INITIALIZED = "notifications/initialized"
FIRST = ('"initialize"', f'"{INITIALIZED}"', f'"{ROOTS_ID}"')

Message = dict[str, Any]


class Bridge:
    timeout = TIMEOUT_SECONDS

    def __init__(self, url: str, key: str, out: TextIO, **settings: str) -> None:
        self.server, self.settings = url, {name: value for name, value in settings.items() if value}
        self.key, self.out, self.spoken = key, out, ""
        self._one_line_at_a_time = Lock()
        self._offers_roots, self._roots_known = False, Event()
        self._roots_known.set()

    @property
    def url(self) -> str:
        return f"{self.server}/mcp" + (f"?{urlencode(self.settings)}" if self.settings else "")

    def serve(self, lines: TextIO) -> None:
        """Forward every line until the input ends, several at once."""
        with ThreadPoolExecutor(THREADS, "day1-bridge") as threads:
            for line in lines:
                if not line.strip():
                    continue
                if any(word in line for word in FIRST):  # later messages need what these say
                    self.forward(line)
                else:
                    threads.submit(self.forward, line)

    def forward(self, line: str) -> None:
        try:
            message = clean_value(json.loads(line.lstrip(BYTE_ORDER_MARK)))
        except (ValueError, RecursionError):
            self.say(failure(None, NO_JSON, -32700))
            return
        if not isinstance(message, dict):
            self.say(failure(None, NO_MESSAGE, -32600))
            return
        if message.get("id") == ROOTS_ID and "method" not in message:
            self.take_roots(message)
            return
        self.ask_roots(message)
        answer = self.ask(message)
        if message.get("id") is not None and answer:
            self.say(answer)

    def ask_roots(self, message: Message) -> None:
        """Ask a client that offers roots for them once it is connected, where nothing says its repository.

        Its calls wait until they are known.
        """
        if message.get("method") == "initialize":
            params = message.get("params") or {}
            self._offers_roots = "roots" in (params.get("capabilities") or {})
        elif message.get("method") == INITIALIZED:
            if self._offers_roots and "repository" not in self.settings:
                self._roots_known.clear()
                self.say({"jsonrpc": "2.0", "id": ROOTS_ID, "method": "roots/list"})
        elif not self._roots_known.wait(roots.TIMEOUT_SECONDS):
            self._roots_known.set()  # a client that does not answer is waited for once

    def take_roots(self, message: Message) -> None:
        """Set the repository of the connection to that of the client's roots."""
        result = message.get("result")
        offered = result.get("roots") if isinstance(result, dict) else None
        rows = offered if isinstance(offered, list) else []
        uris = [str(row.get("uri", "")) for row in rows if isinstance(row, dict)]
        if name := roots.find_common_repository(uris):
            self.settings = {**self.settings, "repository": name}
        self._roots_known.set()

    def ask(self, message: Message) -> Message | None:
        """Return the server's response to a message, or an error with the reason for its absence."""
        request = Request(self.url, json.dumps(message).encode(), self.headers(message), method="POST")
        try:
            with open_url(request, timeout=self.timeout) as response:
                return self.read(message, response.read())
        except HTTPError as error:
            return refusal(message, error)
        except OSError as error:
            reason = getattr(error, "reason", None) or error
            return failure(message, f"unreachable: The server at {self.url} does not answer: {reason}.")

    def read(self, message: Message, body: bytes) -> Message | None:
        answer: Message | None = json.loads(body) if body else None
        if answer and message.get("method") == "initialize":
            self.spoken = answer.get("result", {}).get("protocolVersion", "")
        return answer

    def headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers of a message, which repeat parts of its body as its protocol version
        requires.
        """
        found = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        params = message.get("params") or {}
        version = (params.get("_meta") or {}).get(VERSION)
        if version:
            found["Mcp-Method"] = str(message.get("method", ""))
            if name := params.get("name") or params.get("uri"):
                found["Mcp-Name"] = in_header(str(name))
        if version or self.spoken:
            found["MCP-Protocol-Version"] = str(version or self.spoken)
        return found

    def say(self, message: Message) -> None:
        with self._one_line_at_a_time:
            self.out.write(json.dumps(message, separators=(",", ":")) + "\n")
            self.out.flush()


def in_header(text: str) -> str:
    """Return a text as a header value: other than plain ASCII is marked base64."""
    marked = text.startswith("=?base64?")
    if text.isascii() and text.isprintable() and text == text.strip() and not marked:
        return text
    return f"=?base64?{b64encode(text.encode()).decode()}?="


def refusal(message: Message, error: HTTPError) -> Message:
    """Return the server's refusal: a JSON-RPC error as it is, a problem as a JSON-RPC error."""
    if 300 <= error.code < 400:
        text = REDIRECTS.format(code=error.code, address=error.headers.get("Location"))
        return failure(message, f"unreachable: {text}")
    try:
        problem = json.loads(error.read())
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    if "jsonrpc" in problem:
        return {**problem, "id": message.get("id")}
    return failure(message, f"{problem.get('code', 'error')}: {problem.get('detail', f'HTTP {error.code}')}")


def failure(message: Message | None, text: str, code: int = SERVER_ERROR) -> Message:
    requested = message.get("id") if message else None
    return {"jsonrpc": "2.0", "id": requested, "error": {"code": code, "message": text}}


def serve(url: str, key: str, branch: str, profile: str, repository: str, session: str) -> None:
    """Bridge this process's standard input and output to a server, with the connection's settings."""
    # Nothing has replaced them in this process.
    cast(TextIOWrapper, sys.stdin).reconfigure(encoding="utf-8", errors="replace")
    cast(TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
    settings = {"branch": branch, "profile": profile, "repository": repository, "session": session}
    Bridge(url, key, sys.stdout, **settings).serve(sys.stdin)
