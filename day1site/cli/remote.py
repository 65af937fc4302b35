"""The client of a server: its REST API, with the standard library only."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

from day1site.cli.client import Answer, Export, Given, Importer
from day1site.cli.errors import CliError, UsageError
from day1site.cli.remote_capture import RemoteCapture

TIMEOUT = 60.0  # seconds without a word from the server
WAITS = (2, 5, 15, 30, 0)  # seconds, where the server says that it is too much at once
PAGE = 100


class Refused(CliError):
    """The server's refusal; ``field`` names the input at fault, where one is."""

    def __init__(self, code: str, text: str, field: str = "") -> None:
        super().__init__(code, text)
        self.field = field


class Api:
    """Requests to one server with one key. Raises Refused, and CliError where no answer comes."""

    def __init__(self, url: str, key: str) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise UsageError(f"DAY1_URL must be an address such as http://127.0.0.1:8765, not {url}.")
        if not key.isascii() or not key.isprintable():
            raise CliError("unauthenticated", "DAY1_KEY holds characters that no key has.")
        self.url, self.key = url, key

    def get(self, path: str, **query: Any) -> Answer:
        return self.ask("GET", path, query=query)

    def post(self, path: str, **body: Any) -> Answer:
        return self.ask("POST", path, body=body)

    def ask(self, method: str, path: str, query: Given | None = None, body: Given | None = None) -> Answer:
        """The JSON of the answer; {} when it has none. Values of None are not sent."""
        data = None if body is None else json.dumps(_given(body)).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        address = self.address(path, query or {})
        for pause in WAITS:
            try:
                return self._send(Request(address, data, headers, method=method))
            except Refused as error:
                if error.code != "rate_limited" or not pause:
                    raise
                time.sleep(pause)
        raise AssertionError("the last wait is none")

    def address(self, path: str, query: Given) -> str:
        asked = urlencode(_words(query), doseq=True)
        return f"{self.url}/api/v1{path}" + (f"?{asked}" if asked else "")

    def _send(self, request: Request) -> Answer:
        try:
            with urlopen(request, timeout=TIMEOUT) as answer:
                return self._read(answer)
        except HTTPError as error:
            raise refusal(error) from None
        except URLError as error:
            raise self._unreachable(getattr(error.reason, "strerror", None) or error.reason) from None
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from None

    def _read(self, answer: HTTPResponse) -> Answer:
        content = answer.read()
        try:
            return json.loads(content) if content else {}
        except ValueError:
            raise CliError("unreachable", f"What answers at {self.url} is no Day1 server.") from None

    def _unreachable(self, why: Any) -> CliError:
        return CliError("unreachable", f"The server at {self.url} does not answer: {why}.")


def refusal(error: HTTPError) -> Refused:
    """What the server said, in its own words where it is Day1."""
    try:
        problem = json.loads(error.read())
        return Refused(problem["code"], problem.get("detail") or problem["title"], problem.get("field") or "")
    except (ValueError, KeyError, TypeError, OSError):
        return Refused(
            "unreachable", f"The server answered {error.code} {error.reason}, which Day1 does not."
        )


def _given(values: Given) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _words(values: Given) -> dict[str, Any]:
    """The values as an address holds them."""
    return {name: _word(value) for name, value in _given(values).items()}


def _word(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    # A single value would be split at its commas; values that are given several times are not.
    return value * 2 if isinstance(value, list) and len(value) == 1 and "," in value[0] else value


class RemoteClient(RemoteCapture):
    def __init__(self, url: str, key: str) -> None:
        self.api = Api(url, key)

    # ---- facts -----------------------------------------------------------------------------------

    def write_fact(self, branch: str, fields: Given) -> Answer:
        return self.api.post("/facts", branch=branch, **fields)

    def search(self, query: str, branches: Sequence[str], wish: Given, filters: Given) -> Answer:
        where: dict[str, Any] = {"branch": branches[0]}
        if len(branches) > 1 or "*" in branches[0]:
            where = {"branches": list(branches)}
        return self.api.post("/facts/search", query=query, **where, **wish, **filters)

    def explain(self, fact_id: str, query: str, branch: str, wish: Given, filters: Given) -> Answer:
        return self.api.get(f"{fact(fact_id)}/explain", query=query, branch=branch, **wish, **filters)

    def list_facts(self, branch: str, filters: Given, paging: Given) -> Answer:
        return self.api.get("/facts", branch=branch, **filters, **paging)

    def get_fact(self, fact_id: str, branch: str, at: str | None) -> Answer:
        return self.api.get(fact(fact_id), branch=branch, at=at)

    def related(self, fact_id: str, branch: str, how: Given) -> Answer:
        return self.api.get(f"{fact(fact_id)}/related", branch=branch, **how)

    def history(self, fact_id: str, branch: str, paging: Given) -> Answer:
        return self.api.get(f"{fact(fact_id)}/history", branch=branch, **paging)

    def change_fact(self, action: str, fact_id: str, branch: str, fields: Given) -> Answer | None:
        if action == "delete":
            self.api.ask("DELETE", fact(fact_id), query={"branch": branch, **fields})
            return None
        return self.api.post(f"{fact(fact_id)}/{action}", branch=branch, **fields)

    def update_fact(self, fact_id: str, branch: str, fields: Given) -> Answer:
        return self.api.ask("PATCH", fact(fact_id), body={"branch": branch, **fields})

    # ---- branches and keys -----------------------------------------------------------------------

    def create_branch(self, fields: Given) -> Answer:
        return self.api.post("/branches", **fields)

    def list_branches(self, archived: bool, paging: Given) -> Answer:
        return self.api.get("/branches", archived=archived or None, **paging)

    def log(self, name: str, paging: Given) -> Answer:
        return self.api.get(f"{branch_path(name)}/log", **paging)

    def diff(self, name: str, how: Given, paging: Given) -> Answer:
        return self.api.get(f"{branch_path(name)}/diff", **how, **paging)

    def stats(self, name: str) -> Answer:
        return self.api.get(f"{branch_path(name)}/stats")

    def archive_branch(self, name: str) -> Answer:
        return self.api.ask("DELETE", branch_path(name))

    def restore_branch(self, name: str) -> Answer:
        return self.api.post(f"{branch_path(name)}/restore")

    def create_snapshot(self, store: bool, fields: Given) -> Answer:
        return self.api.post("/snapshots", kind="store" if store else "branch", **fields)

    def list_snapshots(self, which: Given, paging: Given) -> Answer:
        return self.api.get("/snapshots", **which, **paging)

    def restore_snapshot(self, snapshot_id: str, dry_run: bool) -> Answer:
        return self.api.post(f"/snapshots/{quote(snapshot_id, safe='')}/restore", dry_run=dry_run)

    def drop_snapshot(self, snapshot_id: str) -> None:
        self.api.ask("DELETE", f"/snapshots/{quote(snapshot_id, safe='')}")

    def get_window(self) -> Answer:
        return self.api.get("/snapshots/window")

    def keep_window(self, days: int) -> Answer:
        return self.api.post("/snapshots/window", days=days)

    def create_workspace(self, fields: Given) -> Answer:
        return self.api.post("/workspaces", **fields)

    def list_workspaces(self, which: Given, paging: Given) -> Answer:
        return self.api.get("/workspaces", **which, **paging)

    def use_workspace(self, action: str, workspace_id: str) -> Answer:
        path = f"/workspaces/{quote(workspace_id, safe='')}/{action}"
        return self.api.get(path) if action == "diff" else self.api.post(path)

    def create_key(self, fields: Given) -> Answer:
        return self.api.post("/keys", **fields)

    def list_keys(self, paging: Given) -> Answer:
        return self.api.get("/keys", **paging)

    def revoke_key(self, key_id: str) -> Answer:
        return self.api.post(f"/keys/{quote(key_id, safe='')}/revoke")

    def follow(self, asked: Given) -> Iterator[Answer]:
        from day1site.cli.following import followed

        try:
            yield from followed(self.api.address("/events", asked), self.api.key)
        except HTTPError as error:
            raise refusal(error) from None

    # ---- files -----------------------------------------------------------------------------------

    def importer(self, branch: str, message: str) -> Importer:
        from day1site.cli.remote_import import RemoteImport

        return RemoteImport(self, branch)

    def export(self, branch: str, at: str | None, private: bool) -> Export:
        facts = [row for row in self.all_facts(branch, at) if private or row["visibility"] != "private"]
        facts.reverse()  # the oldest first
        return len(facts), self._with_links(facts, branch, at)

    def all_facts(self, branch: str, at: str | None = None, **filters: Any) -> Iterator[Answer]:
        """Every fact of a branch, the newest first."""
        return every(lambda cursor: self.list_facts(branch, filters, paging_at(cursor, at)))

    def _with_links(
        self, facts: Sequence[Answer], branch: str, at: str | None
    ) -> Iterator[tuple[Answer, list]]:
        """Nothing that is given out points to a fact that is not."""
        shown = {row["id"] for row in facts}
        for row in facts:
            row["parent_id"] = row["parent_id"] if row["parent_id"] in shown else None
            links = list(self._links(row["id"], branch, at))
            leading = (link for link in links if link["from_id"] == row["id"] and link["to_type"] == "fact")
            yield (
                row,
                sorted((link for link in leading if link["to_id"] in shown), key=lambda link: link["id"]),
            )

    def _links(self, fact_id: str, branch: str, at: str | None) -> Iterator[Answer]:
        path = f"{fact(fact_id)}/links"
        return every(lambda cursor: self.api.get(path, branch=branch, **paging_at(cursor, at)))


def every(page: Any) -> Iterator[Answer]:
    """The rows of all pages; ``page`` gives one for a cursor, None for the first."""
    cursor = None
    while True:
        answer: Mapping[str, Any] = page(cursor)
        yield from answer["results"]
        if not (cursor := answer["next"]):
            return


def paging_at(cursor: str | None, at: str | None) -> dict[str, Any]:
    """A cursor knows the point that the first page was read at."""
    return {"limit": PAGE, "cursor": cursor, "at": None if cursor else at}


def fact(fact_id: str) -> str:
    return f"/facts/{quote(fact_id, safe='')}"


def branch_path(name: str) -> str:
    return f"/branches/{quote(name, safe='')}"
