"""The header Day1-Session: what a search finds is kept as given to the session that it names."""

from typing import Any

import pytest

from memory.engines.sessions.manager import SessionManager
from memory.engines.support.write_buffer import buffer
from memory.models import Project, RecallLog, Session
from tests.memory.api.client import Api, api_for, nothing_left, refused
from tests.site.hook_events import CONSOLIDATOR

pytestmark = pytest.mark.django_db(transaction=True)
KNOWN = "We decided to use Kafka for the ledger export."


def search(api: Api, session: str, **headers: str) -> list[str]:
    answer = api.get("/facts/search?q=ledger+export", Day1_Session=session, **headers)
    assert answer.status_code == 200, answer.content
    return [hit["fact"]["fact_text"] for hit in answer.json()["results"]]


def end_session_saying(api: Api, session: str, text: str) -> None:
    talk = api.post("/conversations", {"session_id": session}).json()["id"]
    api.post(f"/conversations/{talk}/messages", {"role": "assistant", "content": text})
    api.post(f"/sessions/{session}/end")
    SessionManager().consolidate_session(Session.objects.values_list("pk", flat=True).get(key=session))


@pytest.mark.parametrize(("named", "confirmations"), [("s", 0), ("another", 1)])
def test_what_a_session_searched_for_is_not_confirmed_by_it(
    named: str, confirmations: int, api: Api, settings: Any
) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}
    fact = api.fact(KNOWN, session_id="before")
    assert search(api, named) == [KNOWN]
    buffer.flush()
    end_session_saying(api, "s", "We decided to use Kafka for the ledger export.")
    assert api.get(f"/facts/{fact['id']}").json()["confirmation_count"] == confirmations


def test_a_search_by_body_and_one_across_branches_name_a_session_too(api: Api) -> None:
    fact = api.fact(KNOWN)
    for body in ({"query": "ledger"}, {"query": "ledger", "branches": ["main"]}):
        assert api.post("/facts/search", body, Day1_Session="s").status_code == 200
    buffer.flush()
    logs = RecallLog.objects.values_list("session_id", "fact_ids")
    assert list(logs) == [("s", [fact["id"]]), ("s", [fact["id"]])]
    assert not Session.objects.exists()  # nothing is begun by reading


def test_the_filter_names_no_session(api: Api) -> None:
    api.fact(KNOWN, session_id="s")
    assert api.get("/facts/search?q=ledger&session_id=s").status_code == 200
    buffer.flush()
    assert RecallLog.objects.get().session_id == ""


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"scopes": ["read"]}, "scope_missing"),
        ({"scopes": ["write"], "agent_id": "other"}, "scope_missing"),
        ({"scopes": ["write"], "branch_patterns": ["task/*"]}, "branch_forbidden"),
    ],
)
def test_a_key_that_cannot_write_in_a_session_does_not_search_in_its_name(
    options: dict[str, object], code: str, api: Api, project: Project
) -> None:
    api.fact(KNOWN, session_id="s", agent_id="own")
    api.post("/branches", {"name": "task/x"})
    other = api_for(project, **options)
    with nothing_left():
        for path in ("/facts/search?q=ledger&branch=task/x", "/facts/search?q=ledger&branches=task/*"):
            refused(other.get(path, Day1_Session="s"), 403, code)
    buffer.flush()
    assert not RecallLog.objects.exists()
    assert other.get("/facts/search?q=ledger&branch=task/x").status_code == 200


def test_a_name_that_is_too_long_is_refused(api: Api) -> None:
    refused(api.get("/facts/search?q=x", Day1_Session="s" * 201), 400, "invalid", "Day1-Session")
