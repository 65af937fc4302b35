"""The Python client on a server that runs: what reads well, lists, branches, events, refusals."""

import asyncio
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug import Request, Response

pytest.importorskip("httpx", reason="httpx is not installed")

from day1_client import (
    NULL,
    AsyncDay1,
    Day1,
    Day1Error,
    NotDay1,
    NotModified,
    ServerTooOld,
    Unreachable,
    codes,
)
from tests.clients.conftest import play
from tests.http_doubles import DoubleServer
from tests.systems import needs_fork
from tests.up_process import ROOT, Up

KEY = "day1_a_b"


def texts(memory: Day1) -> list[str]:
    return sorted(fact["fact_text"] for fact in memory.facts.list())


def is_archived(memory: Day1, branch: str) -> bool:
    return memory.branches.get(branch)["archived_at"] is not None


# ---- what reads well -------------------------------------------------------------------------------


def test_the_readme_begins_with_what_runs(server: Up, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # a program runs more than once
        play("clients/python/README.md")
        assert capsys.readouterr().out == "- Access tokens expire after 15 minutes.\n"
    assert texts(Day1()) == ["Access tokens expire after 15 minutes."]
    branch = Day1().branch("try-this")
    assert texts(branch) == ["Access tokens expire after 15 minutes.", "Tokens could live for an hour."]
    with pytest.raises(codes.Conflict, match=r"require_verified: Unverified facts: 1\. Have a person verify"):
        branch.merge()  # as a new project's policy of main says


def test_a_text_is_stored_and_messages_are_learned_from(memory: Day1) -> None:
    stored = memory.remember("Access tokens expire after 15 minutes.", category="security", tags=["a", "b"])
    assert (stored["created"], stored["category"], stored["tags"]) == (True, "security", ["a", "b"])
    learned = memory.remember(["My daughter Mia starts school in August."])
    assert [one["action"] for one in learned["results"]] == ["added"]
    found = memory.recall("tokens", max_tokens=200)
    assert (str(found), found.known, len(found)) == ("- Access tokens expire after 15 minutes.", True, 1)
    assert [fact["id"] for fact in found] == [stored["id"]]
    assert str(memory.recall("tokens")) == "Access tokens expire after 15 minutes."


@pytest.mark.parametrize("said", [5, None, b"A.", {"role": "user", "content": "A."}])
def test_what_is_neither_text_nor_list_is_not_remembered(said: Any) -> None:
    with pytest.raises(TypeError, match=f"a text or a list of messages, not {type(said).__name__}"):
        Day1(key=KEY).remember(said)
    with pytest.raises(TypeError, match="a text or a list of messages"):
        asyncio.run(AsyncDay1(key=KEY).remember(said))


def test_none_is_not_sent_and_null_is(memory: Day1) -> None:
    until = datetime(2030, 1, 1, tzinfo=UTC)
    stored = memory.facts.create("A.", valid_until=until, category=None)
    assert (stored["valid_until"], stored["category"]) == ("2030-01-01T00:00:00.000000Z", "general")
    assert memory.facts.update(stored["id"], confidence=0.5)["valid_until"] == "2030-01-01T00:00:00.000000Z"
    assert memory.facts.update(stored["id"], valid_until=NULL)["valid_until"] is None
    memory.items.put("a", "nothing", None)
    assert memory.items.get("a", "nothing")["value"] is None
    assert stored["id"] in [fact["id"] for fact in memory.facts.list(created_before=until)]


def test_a_client_says_what_a_call_leaves_out(memory: Day1) -> None:
    alice = memory.on(user="alice", agent="planner")
    stored = alice.remember("Alice is allergic to nuts.")
    assert (stored["user_id"], stored["agent_id"], stored["branch"]) == (
        "alice",
        "planner",
        memory.sender.target.defaults["branch"],
    )
    memory.on(user="bob").remember("Bob likes nuts.")
    assert texts(alice) == ["Alice is allergic to nuts."]
    assert texts(memory.on(user="bob")) == ["Bob likes nuts."]
    assert alice.facts.list(user_id="bob").results[0]["fact_text"] == "Bob likes nuts."
    key = alice.keys.create("for all", scopes=["read"])
    assert key["user_id"] == ""  # it is bound to whom it is said to be


# ---- pages -----------------------------------------------------------------------------------------


def test_a_loop_over_a_page_goes_through_all(memory: Day1) -> None:
    memory.facts.create_many([{"fact_text": f"Fact {number}."} for number in range(5)])
    page = memory.facts.list(limit=2, ordering="created_at")
    assert ([fact["fact_text"] for fact in page.results], page.answer["previous"]) == (
        ["Fact 0.", "Fact 1."],
        None,
    )
    assert [fact["fact_text"] for fact in page] == [f"Fact {number}." for number in range(5)]
    assert repr(page) == "<Page of 2, with more>"
    behind = page.next_page()
    assert behind is not None
    assert [fact["fact_text"] for fact in behind.results] == ["Fact 2.", "Fact 3."]


def test_what_is_awaited_is_the_same(memory: Day1) -> None:
    branch = memory.sender.target.defaults["branch"]

    async def play_all() -> list[Any]:
        async with AsyncDay1(branch=branch) as other:
            first = await other.remember("One.")
            await other.remember(["My son Ben likes trains."])
            listed = [fact["fact_text"] async for fact in await other.facts.list(limit=1)]
            async with other.branch("async-try", then="merge") as tried:
                await tried.remember("Two.")
            found = await other.recall("two", max_tokens=50)
            try:
                await other.facts.get("no id")
            except codes.Invalid as error:
                return [first["created"], len(listed), str(found), error.code]
        return []

    assert asyncio.run(play_all()) == [True, 2, "- Two.", "invalid"]


# ---- branches --------------------------------------------------------------------------------------


def test_nothing_is_merged_unless_it_is_said(memory: Day1) -> None:
    with memory.branch("keep-it", purpose="Try.") as branch:
        branch.remember("On the branch.")
    assert (texts(memory), texts(branch)) == ([], ["On the branch."])
    with memory.branch("keep-it") as again:  # goes on with the one that is there
        again.remember("And more.")
        assert again.merge(dry_run=True)["counts"] == {"fact": {"applied": 2}}
        assert texts(memory) == []
        again.merge()
    assert texts(memory) == ["And more.", "On the branch."]


def test_a_block_may_merge_or_discard_at_its_end_but_not_after_an_error(memory: Day1) -> None:
    with memory.branch("merge-it", then="merge") as branch:
        branch.remember("Merged.")
    assert texts(memory) == ["Merged."]
    with memory.branch("throw-it", then="discard") as branch:
        branch.remember("Discarded.")
    assert (texts(memory), is_archived(memory, "throw-it")) == (["Merged."], True)
    for then in ("merge", "discard"):
        with suppress(ZeroDivisionError), memory.branch(f"fails-{then}", then=then) as branch:
            branch.remember("Half.")
            raise ZeroDivisionError
        assert (texts(memory), is_archived(memory, f"fails-{then}")) == (["Merged."], False)


def test_a_merge_with_a_conflict_leaves_the_branch(memory: Day1) -> None:
    memory.items.put("a", "k", 1)
    with memory.branch("quarrel") as branch:
        branch.items.put("a", "k", 2)
        memory.items.put("a", "k", 3)
    with pytest.raises(codes.Conflict):
        branch.merge()
    assert (memory.items.get("a", "k")["value"], branch.items.get("a", "k")["value"]) == (3, 2)
    branch.merge(strategy="theirs")
    assert memory.items.get("a", "k")["value"] == 2


# ---- refusals --------------------------------------------------------------------------------------


def test_each_refusal_has_its_class(memory: Day1) -> None:
    fact = memory.remember("A.")
    reader = Day1(key=memory.keys.create("reader", scopes=["read"])["token"])
    bound = Day1(key=memory.keys.create("bound", scopes=["write"], branch_patterns=["task/*"])["token"])
    table: list[tuple[type[Day1Error], str, int, Callable[[], Any]]] = [
        (codes.NotFound, "not_found", 404, lambda: memory.items.get("a", "b")),
        (codes.Invalid, "invalid", 400, lambda: memory.facts.list(limit=0)),
        (
            codes.StaleVersion,
            "stale_version",
            412,
            lambda: memory.facts.update(fact["id"], if_match='"9-0"', category="b"),
        ),
        (
            codes.KeyTaken,
            "key_taken",
            412,
            lambda: [memory.items.put("a", "b", 1, only_new=True) for _ in "ab"],
        ),
        (codes.ScopeMissing, "scope_missing", 403, lambda: reader.remember("No.")),
        (codes.BranchForbidden, "branch_forbidden", 403, lambda: bound.remember("No.")),
        (codes.Unauthenticated, "unauthenticated", 401, lambda: Day1(key=KEY).facts.list()),
        (codes.NotFound, "not_found", 404, lambda: Day1(project="another").facts.list()),
        (NotModified, "not_modified", 304, lambda: memory.facts.get(fact["id"], if_none_match="*")),
        (Unreachable, "unreachable", 0, lambda: Day1("http://127.0.0.1:1", KEY, retries=0).facts.list()),
    ]
    for kind, code, status, call in table:
        with pytest.raises(kind) as caught:
            call()
        assert (type(caught.value), caught.value.code, caught.value.status) == (kind, code, status), code
    assert pickle.loads(pickle.dumps(caught.value)).code == "unreachable"
    assert texts(memory) == ["1", "A."]


def test_the_right_project_is_let_through(server: Up) -> None:
    assert Day1(project=server.first["project"]).projects.get(server.first["project"])["slug"] == "default"


def test_no_name_leads_to_another_operation(memory: Day1) -> None:
    fact = memory.remember("A.")
    table: list[Callable[[], Any]] = [
        lambda: memory.facts.get(".."),
        lambda: memory.items.delete("../facts", fact["id"]),
        lambda: memory.items.put("a/./b", "c", 1),
        lambda: memory.items.get("a", "."),
        lambda: memory.branches.delete("../facts/" + fact["id"]),
    ]
    for call in table:
        with pytest.raises(codes.Invalid, match="may not have a segment of dots alone"):
            call()
    memory.items.put("a", "..b", 1)
    assert (texts(memory), memory.items.get("a", "..b")["value"]) == (["1", "A."], 1)


def test_what_no_header_or_address_holds_is_invalid(memory: Day1, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("ü", "a\nb"):
        with pytest.raises(codes.Invalid, match="signs of ASCII alone"):
            memory.facts.create("A.", idempotency_key=key)
    for query in ("x" * 70_000, "\ud800"):
        with pytest.raises(codes.Invalid, match="search_get cannot be asked"):
            memory.facts.search_get(query)
    monkeypatch.setenv("DAY1_SESSION", "s\n")
    with pytest.raises(codes.Invalid) as caught:
        Day1().recall("A")
    assert (caught.value.field, texts(memory)) == ("day1_session", [])


@pytest.mark.parametrize("name", ["", " ", "alice,bob"])
def test_a_user_who_could_be_everybody_or_several_is_refused(name: str) -> None:
    memory = Day1(key=KEY)
    for make in (Day1, AsyncDay1):
        with pytest.raises(ValueError, match="user is a name without commas"):
            make(key=KEY, user=name)
    with pytest.raises(ValueError, match="user is a name without commas"):
        memory.on(user=name)
    with pytest.raises(ValueError, match="branch is a name"):
        memory.on(branch=name)


def test_a_client_without_an_address_or_a_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(codes.Unauthenticated, match=r"No key: say key=…, or set DAY1_KEY\."):
        Day1()
    with pytest.raises(codes.Unauthenticated, match="characters that no key has"):
        Day1(key="schlüssel")
    with pytest.raises(codes.Unauthenticated, match="characters that no key has"):
        Day1(key=f"{KEY} ")  # httpx would say of the header that it is illegal
    for url in ("localhost:8765", "ftp://a", "http://", "http://a:b@c", "http://a?b", "http://a\n"):
        with pytest.raises(ValueError, match="url must be an address"):
            Day1(url, KEY)
    assert Day1("http://a:1/api/v1/", KEY).sender.target.url == "http://a:1"


# ---- servers that answer oddly ---------------------------------------------------------------------


class Odd:
    """A server that answers what it is told, once each, and keeps what it was asked."""

    def __init__(self, http: DoubleServer) -> None:
        self.http, self.answers, self.asked = http, list[Response](), list[Request]()
        http.expect_request(re.compile(".*")).respond_with_handler(self.take)
        self.memory = Day1(http.url_for(""), KEY)

    def take(self, request: Request) -> Response:
        request.get_data()
        self.asked.append(request)
        return self.answers.pop(0)

    def say(self, status: int, body: str = "{}", **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.append(Response(body, status, {"Content-Type": "application/json"} | named))

    def refuse(self, status: int, code: str, detail: str = "No.", **headers: str) -> None:
        self.say(status, f'{{"code": "{code}", "title": "T", "detail": "{detail}"}}', **headers)

    def keys(self) -> list[str | None]:
        return [one.headers.get("Idempotency-Key") for one in self.asked]


@pytest.fixture
def odd() -> Iterator[Odd]:
    with DoubleServer() as http:
        yield Odd(http)


PAGE = '{"results": [], "next": null, "previous": null}'


def test_a_project_that_could_not_be_looked_at_is_asked_again(odd: Odd) -> None:
    memory = Day1(odd.memory.sender.target.url, KEY, project="shop", retries=0)
    odd.refuse(503, "unavailable")
    with pytest.raises(codes.Unavailable):
        memory.remember("A.")
    for call in (lambda: memory.remember("A."), lambda: next(memory.events.follow())):
        odd.refuse(404, "not_found", "Nothing with this id is visible here.")
        with pytest.raises(codes.NotFound, match="not of the project shop"):
            call()
    assert [one.path for one in odd.asked] == ["/api/v1/projects/shop"] * 3


def test_what_was_refused_for_now_is_sent_again_with_the_same_key(odd: Odd) -> None:
    odd.refuse(429, "rate_limited", Retry_After="0")
    odd.refuse(503, "unavailable")
    odd.refuse(503, "outcome_unknown", Retry_After="0")
    odd.say(201, '{"id": "1"}')
    assert odd.memory.facts.create("A.") == {"id": "1"}
    assert (len(odd.asked), len(set(odd.keys())), odd.keys()[0] is None) == (4, 1, False)
    odd.say(201)
    odd.memory.facts.create("B.", idempotency_key="mine")
    assert odd.keys()[-1] == "mine"


def test_what_may_have_been_done_is_not_done_twice(odd: Odd) -> None:
    odd.refuse(503, "outcome_unknown", Retry_After="0")
    with pytest.raises(codes.OutcomeUnknown):
        odd.memory.facts.update("1", category="b")  # takes no Idempotency-Key
    conditions: list[dict[str, Any]] = [{"only_new": True}, {"expected_version": 1}, {"if_match": '"1-0"'}]
    for condition in conditions:  # a second would say that it is taken, or has changed
        odd.refuse(503, "outcome_unknown", Retry_After="0")
        with pytest.raises(codes.OutcomeUnknown):
            odd.memory.items.put("a", "b", 1, **condition)
    assert len(odd.asked) == 4
    odd.refuse(503, "outcome_unknown", Retry_After="0")
    odd.say(200, '{"version": 1}')
    assert odd.memory.items.put("a", "b", 1) == {"version": 1}


def test_a_long_pause_and_a_last_try_are_told(odd: Odd) -> None:
    odd.refuse(429, "rate_limited", Retry_After="3600")
    with pytest.raises(codes.RateLimited) as caught:
        odd.memory.facts.list()
    assert (caught.value.retry_after, len(odd.asked)) == (3600.0, 1)
    for _ in range(4):
        odd.refuse(503, "unavailable", Retry_After="0")
    with pytest.raises(codes.Unavailable):
        odd.memory.facts.list()
    assert len(odd.asked) == 5


def test_nonsense_is_no_day1_server(odd: Odd) -> None:
    table = [
        (200, "<html>", {}, "is no Day1 server: it sent no JSON object"),
        (200, '{"results": 1', {}, "is no Day1 server"),
        (200, "[1]", {}, "is no Day1 server"),
        (200, "", {}, "is no Day1 server"),
        (204, "", {}, "is no Day1 server"),
        (200, "[" * 100_000, {}, "is no Day1 server"),
        (200, "{}", {}, "is no page of a list"),
        (404, "<html>", {}, "answered 404 NOT FOUND, which Day1 does not"),
        (418, '["code"]', {}, "answered 418"),
        (
            301,
            "",
            {"Location": "https://elsewhere/"},
            "leads elsewhere, to https://elsewhere/: give that address",
        ),
    ]
    for status, body, headers, text in table:
        odd.say(status, body, **headers)
        with pytest.raises(NotDay1, match=text):
            odd.memory.facts.list()
    odd.say(200, PAGE)
    with pytest.raises(NotDay1, match="is no stream of events"):
        next(odd.memory.events.follow())


def test_a_proxy_that_waits_for_its_server_is_asked_again(odd: Odd) -> None:
    for _ in range(2):
        odd.say(502, "<html>", Retry_After="0")
        odd.say(200, PAGE)
    assert odd.memory.facts.list().results == []
    assert len(odd.memory.recall("what a body asks")) == 0


def test_a_server_that_is_too_old_is_named(odd: Odd) -> None:
    index = '{"name": "Day1", "version": "0.0.9"}'
    odd.refuse(404, "not_found", "There is no such address: GET /api/v1/ tells which there are.")
    odd.say(200, index)
    with pytest.raises(
        ServerTooOld, match=r"Day1 0\.0\.9, which does not know facts\.tags; this is day1-client 0\.1"
    ):
        odd.memory.facts.tags()
    odd.say(400, '{"code": "unknown_field", "title": "T", "detail": "No.", "field": "app_id"}')
    with pytest.raises(ServerTooOld, match=r"does not know app_id of facts\.tags"):
        odd.memory.facts.tags(app_id="shop")
    odd.refuse(404, "not_found", "Nothing with this id is visible here.")
    with pytest.raises(codes.NotFound):
        odd.memory.facts.get("1")
    assert odd.memory.sender.server_version() == "0.0.9"


def test_what_a_server_of_this_release_does_not_know_is_its_own_refusal(odd: Odd) -> None:
    newer = r"which there are\. The server is Day1 9\.9\.9, this is day1-client 0\.1"
    for version, text in (("9.9.9", newer), ("", r"which there are\.$")):
        odd.memory.sender.version = None
        odd.refuse(404, "not_found", "There is no such address: GET /api/v1/ tells which there are.")
        odd.say(200, f'{{"name": "Day1", "version": "{version}"}}')
        with pytest.raises(codes.NotFound, match=text) as caught:
            odd.memory.facts.tags()
        assert caught.value.status == 404


# ---- events ----------------------------------------------------------------------------------------


def test_events_are_told_as_they_happen(memory: Day1) -> None:
    stream = memory.events.follow(branch=memory.sender.target.defaults["branch"], last_event_id=0)
    assert next(stream)["kind"] == "branch.create"
    memory.remember("It happened.")
    event = next(stream)
    assert (event["kind"], event["changes"][0]["line"]) == ("fact.write", "It happened.")
    stream.close()


def message(number: int, name: str = "") -> str:
    kind = f"event: {name}\n" if name else ""
    return f'{kind}id: {number}\ndata: {{"id": {number}, "kind": "fact.write"}}\n\n'


def test_a_stream_that_breaks_goes_on_where_it_was(odd: Odd) -> None:
    stream = {"Content-Type": "text/event-stream"}
    odd.say(200, message(7, "start") + message(8) + message(9, "beat") + "id: 10\nda", **stream)
    odd.refuse(503, "unavailable", Retry_After="0")
    odd.say(200, message(10) + message(11), **stream)
    odd.refuse(401, "unauthenticated")
    told: list[int] = []
    with pytest.raises(codes.Unauthenticated):
        told.extend(event["id"] for event in odd.memory.events.follow())
    assert told == [8, 10, 11]
    assert [one.headers.get("Last-Event-ID") for one in odd.asked] == [None, "9", "9", "11"]


def test_a_stream_of_something_else_is_refused(odd: Odd) -> None:
    stream = {"Content-Type": "text/event-stream"}
    odd.say(200, "data: {\n\n", **stream)
    with pytest.raises(NotDay1, match="holds what is no event"):
        next(odd.memory.events.follow())
    odd.refuse(429, "rate_limited")
    with pytest.raises(codes.RateLimited):
        next(odd.memory.events.follow())
    with pytest.raises(Unreachable):
        next(Day1("http://127.0.0.1:1", KEY).events.follow())


# ---- processes -------------------------------------------------------------------------------------

FORKED = """
import os
from day1_client import Day1
memory = Day1()
for name in ("parent", "child"):
    memory.items.put("forked", name, name)
name = "parent" if os.fork() else "child"
print(name, {one.items.get("forked", name)["value"] for one in [memory, memory.on(agent="a")] * 25})
if name == "parent":
    assert os.wait()[1] == 0
"""


@needs_fork
def test_processes_that_fork_read_their_own_answers(server: Up) -> None:
    path = str(ROOT / "clients" / "python" / "src")
    command = [sys.executable, "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
    assert (done.stderr, sorted(done.stdout.splitlines())) == ("", ["child {'child'}", "parent {'parent'}"])
