"""Deletion over REST: what is hidden, what comes back, what is erased, and what is refused."""

import re
from html import unescape
from typing import Any

import pytest

from curation.engines.quarantine.engine import QuarantineEngine
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.merging.engine import MergeEngine
from memory.models import Membership
from memory.texts import summarise_session
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused
from tests.memory.views.conftest import browser, person

pytestmark = pytest.mark.django_db(transaction=True)
SAID = ("Why does login fail?", "The zebra clock is wrong.", "Thanks.")


@pytest.fixture
def talk(api: Api) -> str:
    row = api.post("/conversations", {"title": "Login", "session_id": "s1"}).json()
    roles = ("user", "assistant", "user")
    messages = [{"role": role, "content": text} for role, text in zip(roles, SAID, strict=True)]
    api.post(f"/conversations/{row['id']}/messages/batch", {"messages": messages})
    return f"/conversations/{row['id']}"


def read(api: Api, talk: str, query: str = "") -> list[tuple[int, str]]:
    rows = api.get(f"{talk}/messages{query}").json()["results"]
    return [(row["sequence_num"], row["content"]) for row in rows]


def name(api: Api, talk: str, number: int) -> str:
    return f"/messages/{api.get(f'{talk}/messages').json()['results'][number - 1]['id']}"


def do(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return answer.json() if answer.content else None


def test_a_message_is_hidden_everywhere_and_comes_back(api: Api, talk: str) -> None:
    message = name(api, talk, 2)
    fact = api.fact("The clock of the login is wrong.")["id"]
    link = {"to_id": message.rsplit("/", 1)[1], "to_type": "message", "link_type": "MESSAGE_OF"}
    do(api.post(f"/facts/{fact}/links", link), 201)
    head = api.get("/branches/main").json()["head"]
    do(api.delete(message), 204)

    refused(api.get(message), 404, "not_found")
    assert read(api, talk) == [(1, SAID[0]), (3, SAID[2])]
    assert api.get(talk).json()["message_count"] == 2
    assert SAID[1] not in str(api.get("/messages/search?q=zebra+clock").json()["results"])
    assert SAID[1] not in api.get(f"{talk}/export").content.decode()
    assert SAID[1] not in api.get("/sessions/s1/context").content.decode()
    assert api.get(f"/facts/{fact}").json()["fact_text"] == "The clock of the login is wrong."
    assert api.get(f"/facts/{fact}/links").json()["results"] == []
    # The past shows it still.
    assert read(api, talk, f"?at={head}") == list(enumerate(SAID, 1))
    refused(api.delete(message), 404, "not_found")

    assert do(api.post(f"{message}/restore"))["content"] == SAID[1]
    assert read(api, talk) == list(enumerate(SAID, 1))
    assert len(api.get(f"/facts/{fact}/links").json()["results"]) == 1
    refused(api.post(f"{message}/restore"), 409, "illegal_transition")


def test_a_message_comes_back_to_a_place_that_was_taken(api: Api, talk: str) -> None:
    last = name(api, talk, 3)
    do(api.delete(last), 204)
    do(api.post(f"{talk}/messages", {"role": "user", "content": "And now?"}), 201)
    assert read(api, talk)[-1] == (3, "And now?")
    do(api.post(f"{last}/restore"))
    assert read(api, talk)[2:] == [(3, "Thanks."), (4, "And now?")]


def test_a_conversation_takes_its_messages_along(api: Api, talk: str) -> None:
    message, first = name(api, talk, 2), name(api, talk, 1)
    do(api.delete(first), 204)  # on its own: it does not come back with the conversation
    do(api.delete(talk), 204)
    refused(api.get(talk), 404, "not_found")
    refused(api.get(message), 404, "not_found")
    assert api.get("/conversations").json()["results"] == []
    refused(api.post(f"{message}/restore"), 409, "conflict")
    assert do(api.post(f"{talk}/restore"))["message_count"] == 2
    assert read(api, talk) == [(2, SAID[1]), (3, SAID[2])]
    do(api.post(f"{first}/restore"))
    assert read(api, talk) == list(enumerate(SAID, 1))


def test_a_fork_loses_what_it_shares(api: Api, talk: str) -> None:
    point = name(api, talk, 2).rsplit("/", 1)[1]
    fork = f"/conversations/{do(api.post(f'{talk}/fork', {'message_id': point}), 201)['id']}"
    do(api.post(f"{fork}/messages", {"role": "user", "content": "Other."}), 201)
    do(api.delete(talk), 204)
    assert read(api, fork) == [(3, "Other.")]
    do(api.post(f"{talk}/restore"))
    assert read(api, fork) == [(1, SAID[0]), (2, SAID[1]), (3, "Other.")]


@pytest.mark.parametrize("body", [{}, {"filters": 1}, {"ids": []}])
def test_everything_is_not_deleted_in_passing(api: Api, talk: str, body: Any) -> None:
    with nothing_left():
        assert api.post("/messages/delete", body).status_code == 400
    assert len(read(api, talk)) == 3


def test_many_with_a_dry_run(api: Api, talk: str) -> None:
    filters = {"conversation_id": talk.rsplit("/", 1)[1], "role": ["user"]}
    with nothing_left():
        plan = do(api.post("/messages/delete", {**filters, "dry_run": True}))
    ids = [name(api, talk, number).rsplit("/", 1)[1] for number in (1, 3)]
    assert plan == {
        "dry_run": True,
        "count": 2,
        "ids": ids,
        "counts": {"message": 2},
        "commit_id": None,
    }
    done = do(api.post("/messages/delete", filters))
    assert (done["count"], done["ids"], done["dry_run"]) == (2, ids, False)
    assert read(api, talk) == [(2, SAID[1])]
    do(api.post(f"/commits/{done['commit_id']}/revert"), 201)
    assert read(api, talk) == list(enumerate(SAID, 1))
    everything = do(api.post("/conversations/delete", {"session_id": "s1"}))
    assert everything["counts"] == {"conversation": 1, "message": 3}


def test_an_observation_goes_with_the_message_that_holds_its_output(api: Api, talk: str) -> None:
    call = {
        "role": "tool_result",
        "content": "exit code 1",
        "tool_calls": [{"name": "Bash", "input": "pytest"}],
    }
    message = do(api.post(f"{talk}/messages", call), 201)["id"]
    fields = {"tool_name": "Bash", "raw_input": "pytest", "session_id": "s1"}
    half = f"/observations/{do(api.post('/observations', {**fields, 'message_id': message}), 201)['id']}"
    alone = f"/observations/{do(api.post('/observations', {'summary': 'It is slow.'}), 201)['id']}"
    do(api.delete(f"/messages/{message}"), 204)
    refused(api.get(half), 404, "not_found")
    do(api.post(f"/messages/{message}/restore"))
    do(api.get(half))
    do(api.delete(alone), 204)
    assert [row["tool_name"] for row in api.get("/observations").json()["results"]] == ["Bash"]
    assert do(api.post(f"{alone}/restore"))["summary"] == "It is slow."
    plan = do(api.post("/observations/delete", {"tool_name": "Bash", "dry_run": True}))
    assert (plan["count"], plan["counts"]) == (1, {"observation": 1})


def test_a_session_takes_along_what_it_captured(api: Api, talk: str) -> None:
    do(api.post("/observations", {"summary": "It is slow.", "session_id": "s1"}), 201)
    fact = api.fact("The clock is wrong.", session_id="s1")["id"]
    assert do(api.post("/sessions/delete", {"ids": ["s1", "s2"], "dry_run": True}))["ids"] == ["s1"]
    do(api.delete("/sessions/s1"), 204)
    refused(api.get("/sessions/s1"), 404, "not_found")
    refused(api.delete("/sessions/s1"), 404, "not_found")
    refused(api.get(talk), 404, "not_found")
    assert api.get("/sessions").json()["results"] == api.get("/observations").json()["results"] == []
    assert api.get(f"/facts/{fact}").json()["fact_text"] == "The clock is wrong."
    refused(api.post("/sessions", {"session_id": "s1"}), 409, "conflict")
    refused(api.post("/conversations", {"session_id": "s1"}), 409, "conflict")
    refused(api.post(f"{talk}/restore"), 409, "conflict")
    commit = api.get("/branches/main/log").json()["results"][0]
    refused(api.post(f"/commits/{commit['id']}/revert"), 409, "conflict")
    assert do(api.post("/sessions/s1/restore"))["id"] == "s1"
    assert read(api, talk) == list(enumerate(SAID, 1))
    assert len(api.get("/observations").json()["results"]) == 1
    refused(api.post("/sessions/s1/restore"), 404, "not_found")


def test_erased_is_gone_for_good(api: Api, talk: str) -> None:
    head, message = api.get("/branches/main").json()["head"], name(api, talk, 2)
    done = do(api.delete(f"{message}?erase=true"))
    assert (done["state"], done["counts"]) == ("done", {"message": 1})
    assert read(api, talk, f"?at={head}")[1] == (2, "[erased]")
    assert read(api, talk) == [(1, SAID[0]), (3, SAID[2])]
    refused(api.post(f"{message}/restore"), 409, "conflict")
    do(api.delete(talk), 204)
    assert do(api.delete(f"{talk}?erase=true"))["counts"] == {"conversation": 1, "message": 2}
    refused(api.post(f"{talk}/restore"), 409, "conflict")
    assert do(api.get(f"/erasures/{done['id']}"))["holds"]


@pytest.mark.usefixtures("without_gates")
def test_a_merge_brings_a_deletion_and_its_undoing(api: Api, talk: str, actor: Any) -> None:
    BranchManager().create_branch(name="task/x", actor=actor, parent="main")
    message, left = name(api, talk, 2), [(1, SAID[0]), (3, SAID[2])]
    do(api.delete(f"{message}?branch=task/x"), 204)
    assert (read(api, talk), read(api, talk, "?branch=task/x")) == (list(enumerate(SAID, 1)), left)
    MergeEngine().merge_branch(source="task/x", target="main", actor=actor)
    assert read(api, talk) == left
    do(api.post(f"{message}/restore", {"branch": "task/x"}))
    MergeEngine().merge_branch(source="task/x", target="main", actor=actor)
    assert read(api, talk) == list(enumerate(SAID, 1))
    do(api.delete(f"{message}?branch=main"), 204)  # a deletion of the parent is none of what forked before
    assert read(api, talk, "?branch=task/x") == list(enumerate(SAID, 1))


def test_who_may_not_delete(api: Api, stranger: Api, talk: str, project: Any, actor: Any) -> None:
    message = name(api, talk, 1)
    reader, writer = api_for(project, scopes=["read"]), api_for(project, scopes=["write"])
    elsewhere = api_for(project, scopes=["write"], branch_patterns=["task/*"])
    with nothing_left():
        for path in (message, talk, "/sessions/s1"):
            refused(stranger.delete(path), 404, "not_found")
            refused(reader.delete(path), 403, "scope_missing")
            refused(writer.delete(f"{path}?erase=true"), 403, "scope_missing")
            refused(elsewhere.delete(path), 403, "branch_forbidden")
        refused(api.delete(f"/messages/{UNKNOWN}"), 404, "not_found")
        refused(api.delete(message, If_Match='"7-x"'), 412, "stale_version")
        refused(api.post(f"/messages/{UNKNOWN}/restore"), 404, "not_found")
    PolicyEngine().set_policy(pattern="main", direct_writes="refuse", actor=actor)
    with nothing_left():
        refused(writer.delete(message), 409, "direct_writes_refused")
    BranchManager().create_branch(name="task/old", actor=actor, parent="main")
    BranchManager().archive_branch(name="task/old", actor=actor)
    with nothing_left():
        refused(api.delete(f"{message}?branch=task/old"), 409, "branch_archived")


def test_a_press_on_a_page_deletes_and_its_undo_brings_back(api: Api, talk: str, project: Any) -> None:
    client = browser(person("cora", project, Membership.Role.CURATOR))
    message, uid = name(api, talk, 2), talk.rsplit("/", 1)[1]
    do(api.post("/observations", {"summary": "It is slow.", "session_id": "s1"}), 201)
    seen = api.get("/observations").json()["results"][0]["id"]
    bundle = do(api.post("/bundles", {"name": "clocks", "only_verified": False}), 201)["id"]
    handoff = do(api.post("/handoffs", {"instructions": "Go on."}), 201)["id"]
    root = f"/p/{project.slug}"
    pages = {
        f"{root}{message}": f"{root}/conversations/{uid}",
        f"{root}/conversations/{uid}": f"{root}/conversations",
        f"{root}/observations/{seen}": f"{root}/observations",
        f"{root}/session?key=s1": f"{root}/sessions",
        f"{root}/bundles/{bundle}": f"{root}/bundles",
        f"{root}/handoffs/{handoff}": f"{root}/handoffs",
    }
    for page, opened in pages.items():
        shown = client.get(page)
        assert (shown.status_code, b'value="delete"' in shown.content) == (200, True), page
        done = client.post(page, {"do": "delete"}, follow=True)
        assert done.redirect_chain == [(opened, 302)]
        assert client.get(page).status_code == 404
        (undo,) = re.findall(r'action="([^"]+do=restore[^"]*)"', done.content.decode())
        assert client.post(unescape(undo), follow=True).redirect_chain == [(page, 302)]
        assert client.get(page).status_code == 200
        client.post(page, {"do": "delete"})
        assert client.post(unescape(undo), headers={"HX-Request": "true"}).status_code == 204  # by script
        assert client.get(page).status_code == 200
    assert read(api, talk) == list(enumerate(SAID, 1))


def test_a_key_of_an_end_user_deletes_what_is_theirs(api: Api, project: Any) -> None:
    alice = api_for(project, scopes=["write"], user_id="alice")
    ids: dict[str, list[str]] = {}
    for key, stated in ((alice, {}), (api, {"user_id": "bob"})):
        row = do(key.post("/conversations", {"session_id": "s1", **stated}), 201)
        message = {"role": "user", "content": "Mine.", "session_id": "s1", **stated}
        said = do(key.post(f"/conversations/{row['id']}/messages", message), 201)
        paths = [f"/messages/{said['id']}", f"/conversations/{row['id']}", f"/sessions/{row['session_id']}"]
        ids[stated.get("user_id", "alice")] = paths
    with nothing_left():
        for path in ids["bob"]:
            refused(alice.delete(path), 404, "not_found")
        assert do(alice.post("/messages/delete", {"role": "user", "dry_run": True}))["count"] == 1
    for path in ids["bob"]:
        do(api.delete(path), 204)
        refused(alice.post(f"{path}/restore"), 404, "not_found")
    for path in ids["alice"]:
        do(alice.delete(path), 204)
        do(alice.post(f"{path}/restore"))
    assert do(alice.post("/sessions/delete", {"ids": ["s1"]}))["count"] == 1
    assert api.get("/conversations").json()["results"] == []


def test_what_is_deleted_is_listed_until_it_is_back_or_erased(api: Api, stranger: Api, talk: str) -> None:
    first, second = name(api, talk, 1), name(api, talk, 2)
    do(api.post("/branches", {"name": "task/x"}), 201)
    for message in (first, second):
        do(api.delete(message), 204)

    def listed(query: str = "", key: Api = api) -> list[str]:
        return [f"/messages/{row['id']}" for row in key.get(f"/messages/deleted{query}").json()["results"]]

    assert listed() == listed("?session_id=s1") == [second, first]
    assert listed("?session_id=s2") == listed("?branch=task/x") == listed(key=stranger) == []
    page = api.get("/messages/deleted?limit=1").json()
    assert (
        api.get(f"/messages/deleted?limit=1&cursor={page['next']}").json()["results"][0]["content"] == SAID[0]
    )
    do(api.post("/branches", {"name": "task/y"}), 201)
    do(api.post(f"{first}/restore", {"branch": "task/y"}))
    assert listed("?branch=task/y") == [second]
    do(api.delete(f"{second}?erase=true"))
    assert listed() == [first]


def test_what_is_in_quarantine_is_neither_deleted_nor_restored(api: Api, talk: str, actor: Any) -> None:
    first, second = name(api, talk, 1), name(api, talk, 2)
    do(api.delete(first), 204)
    held = QuarantineEngine().create_quarantine(source="session", target="s1", actor=actor)
    with nothing_left():
        refused(api.delete(second), 404, "not_found")
        refused(api.post(f"{first}/restore"), 404, "not_found")
        assert api.get("/messages/deleted").json()["results"] == []
        plan = api.post("/messages/delete", {"role": ["user", "assistant"], "dry_run": True})
        assert do(plan)["count"] == 0
    QuarantineEngine().release_quarantine(quarantine_id=held.pk, actor=actor)
    do(api.post(f"{first}/restore"))
    assert read(api, talk) == list(enumerate(SAID, 1))


def test_a_summary_of_day1_does_not_quote_what_is_deleted(api: Api, talk: str) -> None:
    summary = summarise_session(SAID[0], SAID[1])
    do(api.post("/sessions/s1/end", {"summary": summary}))
    message = name(api, talk, 2)
    do(api.delete(message), 204)
    assert api.get("/sessions/s1").json()["summary"] == f"Asked: {SAID[0]}"
    do(api.post(f"{message}/restore"))
    assert api.get("/sessions/s1").json()["summary"] == summary
