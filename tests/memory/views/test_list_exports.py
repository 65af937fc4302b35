"""Lists as files: all rows with the filters of the page, as CSV and JSON, read while they are sent."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Branch
from tests.memory.api.client import Api, api_for

pytestmark = pytest.mark.django_db(transaction=True)
FACTS = FactEngine()


def read(viewer: Client, address: str) -> bytes:
    answer = viewer.get(f"/p/test/{address}")
    assert answer.status_code == 200, answer.content
    assert answer.streaming
    return b"".join(answer.streaming_content)


def table(viewer: Client, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read(viewer, address).decode(), newline="")))


def write(actor: Actor, *texts: str, **fields: Any) -> None:
    FACTS.write_facts(facts=[{"fact_text": text, **fields} for text in texts], actor=actor)


def test_a_file_has_every_row_of_every_page_with_the_filters(
    viewer: Client, actor: Actor, main: Branch
) -> None:
    write(actor, *(f"fact {n}" for n in range(230)), category="decision")
    write(actor, "another", category="insight")
    rows = json.loads(read(viewer, "facts?category=decision&format=json"))
    assert [row["fact_text"] for row in rows] == [f"fact {n}" for n in reversed(range(230))]
    same = table(viewer, "facts?category=decision&format=csv")
    assert [row["fact_text"] for row in same] == [row["fact_text"] for row in rows]
    assert {row["branch"] for row in same} == {"main"}
    typed = viewer.get("/p/test/facts?q=category:decision&format=json")
    assert (typed.status_code, typed["Location"]) == (
        302,
        "/p/test/facts?format=json&category=decision",
    )


def test_a_row_is_what_the_api_says(viewer: Client, actor: Actor, project: Any) -> None:
    write(actor, "one", tags=["a", "b"])
    api: Api = api_for(project)
    (row,) = json.loads(read(viewer, "facts?format=json"))
    assert row == api.get("/facts").json()["results"][0]
    (cells,) = table(viewer, "facts?format=csv")
    assert json.loads(cells["tags"]) == ["a", "b"]
    assert list(cells) == list(row)


@pytest.mark.parametrize(
    "address", ["observations", "relations", "sessions", "activity", "conversations", "merge-requests"]
)
def test_every_list_has_a_file_with_a_head_even_where_it_is_empty(
    viewer: Client, main: Branch, address: str
) -> None:
    head = read(viewer, f"{address}?format=csv").decode()
    assert head.count("\r\n") == 1
    assert "," in head
    assert json.loads(read(viewer, f"{address}?format=json")) == []


def test_other_lists_have_their_rows(viewer: Client, actor: Actor, main: Branch) -> None:
    told = actor.with_origin(agent_id="ledger", session_id="s-1")
    ObservationEngine().write_observation(summary="=cmd()", actor=told)
    for target in ("Redis", "Postgres"):
        RelationEngine().write_relation(
            source_entity="billing", relation_type="uses", target_entity=target, actor=told
        )
    (seen,) = table(viewer, "observations?format=csv")
    assert seen["summary"] == "'=cmd()"
    names = {row["target_entity"] for row in table(viewer, "relations?source=billing&format=csv")}
    assert names == {"Redis", "Postgres"}
    assert [row["id"] for row in table(viewer, "sessions?format=csv")] == ["s-1"]
    commits = table(viewer, "activity?agent_id=ledger&format=csv")
    assert [row["title"] for row in commits] == [
        "Added 1 relation",
        "Added 1 relation",
        "Recorded 1 observation",
    ]


def test_a_file_is_of_the_point_at_which_it_began(viewer: Client, actor: Actor, main: Branch) -> None:
    write(actor, *(f"fact {n}" for n in range(150)))
    parts = viewer.get("/p/test/facts?format=json").streaming_content
    first = next(iter(parts))
    write(actor, "written meanwhile")
    rows = json.loads(first + b"".join(parts))
    assert len(rows) == 150
    past = json.loads(read(viewer, "facts?format=json&at=1"))
    assert len(past) == 150


def test_pages_are_read_when_they_are_sent(
    viewer: Client, actor: Actor, main: Branch, django_assert_num_queries: Any
) -> None:
    write(actor, *(f"fact {n}" for n in range(250)))
    answer = viewer.get("/p/test/facts?format=json")
    next(iter(answer.streaming_content))
    with django_assert_num_queries(0):
        answer.close()


def send_head(viewer: Client, address: str) -> tuple[str, dict[str, str], bytes]:
    """Send HEAD as a server does, which reads all that the answer has."""
    environ = (
        RequestFactory(headers={"Cookie": viewer.cookies.output(header="", sep=";")}).head(address).environ
    )
    head: list[Any] = []
    body = b"".join(WSGIHandler()(environ, lambda status, headers: head.extend((status, dict(headers)))))
    return head[0], head[1], body


def test_a_head_of_a_file_reads_one_page(viewer: Client, actor: Actor, main: Branch) -> None:
    write(actor, *(f"fact {n}" for n in range(250)))
    with CaptureQueriesContext(connection) as captured:
        status, headers, body = send_head(viewer, "/p/test/facts?format=json")
    assert (status, body) == ("200 OK", b"")
    assert headers["Content-Disposition"] == 'attachment; filename="facts-test.json"'
    pages = [query for query in captured if "LIMIT 101" in query["sql"]]
    assert len(pages) == 1
    assert send_head(viewer, "/p/test/facts?format=json&nothing=1")[0] == "400 Bad Request"


def test_the_list_links_its_files(viewer: Client, actor: Actor, main: Branch) -> None:
    assert "format=csv" not in viewer.get("/p/test/facts").content.decode()
    write(actor, "one", category="decision")
    html = viewer.get("/p/test/facts?category=decision").content.decode()
    assert 'href="/p/test/facts?category=decision&amp;format=csv"' in html
    assert "format=json" in html
