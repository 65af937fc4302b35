"""The one client: the REST API answers the same over HTTP and in this process."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from conversations.engines.conversations import ConversationEngine
from conversations.models import Message
from day1site import api_router
from day1site.cli import main
from day1site.cli.client import Client, server_url
from day1site.cli.errors import CliError, Refused, UsageError
from day1site.cli.transport.http_streams import HttpStreams
from day1site.cli.transport.http_transport import HttpTransport
from day1site.cli.transport.local_streams import LocalStreams
from day1site.cli.transport.local_transport import LocalTransport
from day1site.cli.transport.rest import Api
from memory.actors import Actor
from memory.api.routes import find_view
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.support.write_buffer import buffer
from memory.models import Commit, Fact, Project, RecallLog
from memory.operations.base import RESOURCES

pytestmark = pytest.mark.django_db(transaction=True)
NOWHERE = "01970000-0000-7000-8000-000000000000"


@pytest.fixture
def local(actor: Actor) -> Client:
    return Client(LocalTransport(actor), partial(LocalStreams, actor))


@pytest.fixture
def remote(actor: Actor, live_server: Any) -> Client:
    _, token = KeyEngine().create_key(label="k", scopes=["admin"], actor=actor)
    transport = HttpTransport(live_server.url, token)
    return Client(transport, partial(HttpStreams, Api(transport)))


@pytest.fixture
def fact(actor: Actor) -> Fact:
    engine = FactEngine()
    words = {"fact_text": "Tokens expire ☕.", "category": "a,b", "session_id": "s/1"}
    fact = engine.write_fact(actor=actor, **words).fact
    other = engine.write_fact(fact_text="Tokens too.", actor=actor, valid_from="2026-01-01").fact
    LinkEngine().write_link(from_id=fact.uid, to_id=other.uid, link_type="BRIDGE", actor=actor)
    BranchManager().create_branch(name="task/a", actor=actor)
    SessionManager().create_session(session_id="s/1", actor=actor)
    ObservationEngine().write_observation(summary="x", observation_type="insight", actor=actor)
    RelationEngine().write_relation(
        source_entity="a", relation_type="b", target_entity="c", actor=actor, properties={"x": [1]}
    )
    ConversationEngine().create_conversation(title="T", actor=actor)
    SnapshotManager().create_snapshot(name="p", actor=actor)
    return fact


def test_both_ways_answer_the_same(local: Client, remote: Client, fact: Fact) -> None:
    uid = str(fact.uid)
    paging = {"limit": 50}
    buffer.flush()  # when a session was heard of is written within a second
    for ask in (
        lambda client: client.call("facts.retrieve", fact_id=uid),
        lambda client: client.call("facts.retrieve", fact_id=uid, at="1"),
        lambda client: client.call("facts.list", category=["a,b"], **paging),
        lambda client: client.call("facts.list", min_confidence=0.5, kind=["NOTE"], **paging),
        lambda client: client.call("facts.history", fact_id=uid, **paging),
        lambda client: client.call("facts.related", fact_id=uid, depth=1),
        lambda client: client.call("branches.list", archived=True, **paging),
        lambda client: client.call("branches.log", name="main", **paging),
        lambda client: client.call("branches.diff", name="task/a", against="main", **paging),
        lambda client: client.call("branches.stats", name="main"),
        lambda client: client.call("snapshots.list", **paging),
        lambda client: client.call("snapshots.window"),
        lambda client: client.call("workspaces.list", **paging),
        lambda client: client.call("observations.list", observation_type=["insight"], **paging),
        lambda client: client.call("relations.list", open_only=True, **paging),
        lambda client: client.call("relations.graph", entity="a"),
        lambda client: client.call("sessions.retrieve", session_id="s/1"),
        lambda client: client.call("sessions.context", session_id="s/1"),
        lambda client: client.call("conversations.list", **paging),
    ):
        assert ask(local) == ask(remote)


def test_a_search_is_made_in_the_name_of_a_session(
    local: Client, remote: Client, fact: Fact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAY1_SESSION", "s/2")
    for client in (local, remote):
        assert client.api.post("/facts/search", query="tokens")["results"]
    buffer.flush()
    assert list(RecallLog.objects.values_list("session_id", flat=True)) == ["s/2", "s/2"]
    monkeypatch.setenv("DAY1_SESSION", "s\n2")
    with pytest.raises(UsageError, match="DAY1_SESSION holds characters"):
        remote.api.post("/facts/search", query="tokens")


def test_a_key_is_listed_alike(local: Client, remote: Client) -> None:
    ours, theirs = (client.call("keys.list")["results"] for client in (local, remote))
    for row in (*ours, *theirs):
        row.pop("last_used_at")
    assert ours == theirs


def test_a_redirect_gets_neither_key_nor_request(httpserver: HTTPServer) -> None:
    elsewhere = httpserver.url_for("/elsewhere").replace("localhost", "127.0.0.1")
    httpserver.expect_request(re.compile("/api/.*")).respond_with_data(
        "", status=302, headers={"Location": elsewhere}
    )
    api = Api(HttpTransport(httpserver.url_for("/").rstrip("/"), "day1_key"))
    for call in (lambda: api.get("/facts"), lambda: api.post("/facts", fact_text="No.")):
        with pytest.raises(Refused, match=rf"redirects to {elsewhere} \(HTTP 302\)"):
            call()
    assert [request.path for request, _ in httpserver.log] == ["/api/v1/facts"] * 2


def test_both_ways_refuse_in_the_same_words(local: Client, remote: Client, fact: Fact) -> None:
    for ask in (
        lambda client: client.call("facts.retrieve", fact_id=NOWHERE),
        lambda client: client.call("facts.retrieve", fact_id="x"),
        lambda client: client.call("facts.retrieve", fact_id=""),
        lambda client: client.call("facts.retrieve", fact_id=fact.uid, at="soon"),
        lambda client: client.call("facts.create", fact_text="x", confidence=2),
        lambda client: client.call("facts.create", fact_text="x", what=2),
        lambda client: client.call("facts.create", fact_text="x", branch="gone"),
        lambda client: client.call("branches.destroy", name=""),
        lambda client: client.call("sessions.retrieve", session_id=""),
        lambda client: client.call("facts.restore", fact_id=fact.uid, expected_version=7),
    ):
        refusals = [refusal(ask, client) for client in (local, remote)]
        assert refusals[0] == refusals[1]


def refusal(ask: Any, client: Client) -> tuple[str, str, str]:
    with pytest.raises(CliError) as caught:
        ask(client)
    error = caught.value
    return error.code, error.text, error.field if isinstance(error, Refused) else ""


def test_a_local_write_is_the_local_users(local: Client, actor: Actor) -> None:
    local.call("facts.create", fact_text="x", session_id="s")
    commit = Commit.objects.get()
    assert (commit.actor_kind, commit.surface, commit.session_id) == ("local", actor.surface, "s")


NOUNS = (
    "facts branches observations relations sessions conversations messages keys snapshots workspaces".split()
)


def test_the_local_api_finds_each_noun_by_its_name() -> None:
    """Require the module of a ViewSet, or of its operations, to be called as its address: no other is
    imported.
    """
    of_server = {noun: view for noun, view, _ in api_router.router.registry}
    for noun in NOUNS:
        assert find_view(noun) is of_server[noun]
        assert of_server[noun].__module__.endswith(f".api.{noun}") or noun in RESOURCES


def test_an_import_stores_a_batch_before_it_reads_the_next(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep no more than one batch in memory, however long the input is."""
    commits: list[int] = []

    def lines() -> Iterator[bytes]:
        for number in range(2500):
            if number % 1000 == 999:
                commits.append(Commit.objects.count())
            yield b'{"fact_text": "Fact %d"}\n' % number

    class Input:
        buffer = lines()

    monkeypatch.delenv("DAY1_URL", raising=False)
    monkeypatch.setattr("sys.stdin", Input())
    assert main(["--project", project.slug, "import", "-"]) == 0
    assert commits == [0, 1]
    assert Commit.objects.count() == 3


def test_a_number_that_is_none_is_refused_as_json(local: Client) -> None:
    with pytest.raises(Refused, match="NaN is no JSON number"):
        local.call("facts.create", fact_text="x", confidence=float("nan"))


@pytest.mark.slow
def test_a_long_transcript_in_chinese_fits_into_requests(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep each request within the API's 8 MiB, whatever the script of the text."""
    monkeypatch.delenv("DAY1_URL", raising=False)
    words, names = "记忆" * 100_000, [f"{number:04}" for number in range(14)]
    records = [
        {
            "type": "user",
            "uuid": name,
            "parentUuid": before,
            "sessionId": "s",
            "timestamp": f"2026-01-01T00:{name[-2:]}:00Z",
            "message": {"role": "user", "content": name + words},
        }
        for name, before in zip(names, [None, *names[:-1]], strict=True)
    ]
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in records))
    assert main(["--project", project.slug, "import-from", "claude-code", str(file)]) == 0
    assert Message.objects.all_versions().count() == len(names)


def test_half_a_surrogate_pair_is_refused_as_over_http(local: Client, remote: Client) -> None:
    def write(client: Client) -> Any:
        return client.call("facts.create", fact_text="\ud800")

    assert refusal(write, local) == refusal(write, remote)


@pytest.mark.parametrize("url", ["nowhere", "http://", "http://[x", "http://127.0.0.1:99999", "http://a b"])
def test_what_is_no_address_is_told_as_that(url: str) -> None:
    with pytest.raises(UsageError, match=r"^DAY1_URL must be an address such as "):
        HttpTransport(url, "day1_key")


@pytest.mark.parametrize("end", ["", "/", "/api/v1", "/api/v1/"])
def test_the_address_of_a_server_may_be_that_of_its_api(monkeypatch, end: str) -> None:
    monkeypatch.setenv("DAY1_URL", f"http://127.0.0.1:8765{end}")
    assert server_url() == "http://127.0.0.1:8765"
