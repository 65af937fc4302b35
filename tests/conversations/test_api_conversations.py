"""Conversations and messages over REST."""

import pytest

from tests.memory.api.client import UNKNOWN, Api, api_for, refused

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def talk(api: Api) -> str:
    answer = api.post("/conversations", {"title": "Login", "session_id": "s1", "model": "m"})
    assert answer.status_code == 201
    return f"/conversations/{answer.json()['id']}"


def test_from_beginning_to_end(api: Api, talk: str) -> None:
    first = api.post(f"{talk}/messages", {"role": "user", "content": "Why does login fail?"})
    batch = api.post(
        f"{talk}/messages/batch",
        {
            "messages": [
                {"role": "assistant", "content": "The clock."},
                {"role": "user", "content": "Thanks."},
            ]
        },
    )
    assert (first.status_code, batch.status_code) == (201, 201)
    assert [m["sequence_num"] for m in batch.json()["results"]] == [2, 3]
    page = api.get(f"{talk}/messages?limit=2").json()
    rest = api.get(f"{talk}/messages?limit=2&cursor={page['next']}").json()
    said = [m["content"] for m in [*page["results"], *rest["results"]]]
    assert said == ["Why does login fail?", "The clock.", "Thanks."]
    assert [m["role"] for m in api.get(f"{talk}/messages?role=assistant").json()["results"]] == ["assistant"]
    assert api.get(f"/messages/{first.json()['id']}").json()["content"] == "Why does login fail?"
    seen = api.get(talk)
    assert (seen.json()["message_count"], seen.json()["session_id"]) == (3, "s1")
    assert api.get(talk, If_None_Match=seen["ETag"]).status_code == 304
    assert api.post(f"{talk}/complete").json()["status"] == "completed"
    refused(api.post(f"{talk}/messages", {"role": "user", "content": "more"}), 409, "conflict")
    listed = api.get("/conversations?status=completed&session_id=s1").json()["results"]
    assert [c["title"] for c in listed] == ["Login"]


def test_programs_send_developers_and_calls_without_words(api: Api, talk: str) -> None:
    call = [{"name": "Read", "input": {"path": "a.py"}}]
    said = [
        {"role": "developer", "content": "Answer in French."},
        {"role": "assistant", "content": None, "tool_calls": call},
        {"role": "assistant", "content": "", "tool_calls": call},
    ]
    first = api.post(f"{talk}/messages", said[1])
    assert (first.status_code, first.json()["content"], first.json()["tool_calls"]) == (201, "", call)
    rows = api.post(f"{talk}/messages/batch", {"messages": said}).json()["results"]
    assert [(row["role"], row["content"]) for row in rows] == [
        ("developer", "Answer in French."),
        ("assistant", ""),
        ("assistant", ""),
    ]
    assert len(api.get(f"{talk}/messages?role=developer").json()["results"]) == 1
    for wrong in ({"role": "assistant", "content": None}, {"role": "developer"}, {"role": "critic"}):
        answer = api.post(f"{talk}/messages", wrong)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


def test_messages_in_either_order(api: Api, talk: str) -> None:
    said = [{"role": "user", "content": str(n)} for n in range(1, 8)]
    rows = api.post(f"{talk}/messages/batch", {"messages": said}).json()["results"]
    fork = api.post(f"{talk}/fork", {"message_id": rows[2]["id"]}).json()["id"]
    more = {"messages": [{"role": "user", "content": text} for text in ("a", "b")]}
    api.post(f"/conversations/{fork}/messages/batch", more)
    for path, texts in ((talk, "7654321"), (f"/conversations/{fork}", "ba321")):
        pages, cursor = [], ""
        while cursor is not None:
            page = api.get(f"{path}/messages?order=desc&limit=2&cursor={cursor}").json()
            pages.append("".join(row["content"] for row in page["results"]))
            last, cursor = page, page["next"]
        assert ("".join(pages), [len(one) for one in pages[:-1]]) == (texts, [2] * (len(pages) - 1))
        back = api.get(f"{path}/messages?order=desc&limit=2&cursor={last['previous']}").json()
        assert "".join(row["content"] for row in back["results"]) == pages[-2]
        end = api.get(f"{path}/messages?order=desc&limit=2&cursor=end").json()
        assert "".join(row["content"] for row in end["results"]) == texts[-2:]
        refused(api.get(f"{path}/messages?cursor={last['previous']}"), 400, "invalid", "cursor")
    plain = api.get(f"{talk}/messages?order=asc").json()["results"]
    assert "".join(row["content"] for row in plain) == "1234567"
    refused(api.get(f"{talk}/messages?order=newest"), 400, "invalid", "order")


def test_thoughts_are_for_curators(api: Api, talk: str, project) -> None:
    row = api.post(f"{talk}/messages", {"role": "assistant", "content": "a", "thinking": "hmm"}).json()
    assert row["thinking"] == "hmm"
    seen = api_for(project, scopes=["write"]).get(f"/messages/{row['id']}").json()
    assert (seen["thinking"], seen["has_thinking"]) == (None, True)


def test_a_foreign_project_takes_nothing_along(api: Api, stranger: Api, talk: str) -> None:
    uid = talk.rsplit("/", 1)[1]
    message = api.post(f"{talk}/messages", {"role": "user", "content": "mine"}).json()["id"]
    replay = api.post(f"{talk}/replay", {"message_id": message}).json()["id"]
    batch = api.post("/replay-batches", {"conversation_ids": [uid]}).json()["id"]
    own = stranger.post("/conversations", {}).json()["id"]
    for path in (f"{talk}/export", f"/replays/{replay}/context", f"/replay-batches/{batch}"):
        refused(stranger.get(path), 404, "not_found")
    for path, body in (
        (f"{talk}/cherry-pick", {"message_ids": [message]}),
        (f"/conversations/{own}/cherry-pick", {"message_ids": [message]}),
        (f"/conversations/{own}/fork", {"message_id": message}),
        (f"/conversations/{own}/replay", {"message_id": message}),
        ("/replay-batches", {"conversation_ids": [uid]}),
        (f"/replays/{replay}/cancel", {}),
        (f"/replay-batches/{batch}/stop", {}),
        ("/scores", {"target_type": "conversation", "target_id": uid, "dimension": "safety", "value": 1}),
    ):
        refused(stranger.post(path, body), 404, "not_found")


def test_forks_that_are_refused(api: Api, talk: str, project) -> None:
    row = api.post(f"{talk}/messages", {"role": "user", "content": "one"}).json()
    refused(api.post(f"{talk}/fork", {}), 400, "invalid", "message_id")
    refused(api.post(f"{talk}/fork", {"message_id": UNKNOWN}), 404, "not_found")
    refused(api.post(f"{talk}/fork", {"message_id": row["id"], "at": 1}), 400, "unknown_field", "at")
    bound = api_for(project, scopes=["write"], branch_patterns=["task/*"])
    body = {"message_id": row["id"], "memory_branch": "task/again"}
    refused(bound.post(f"{talk}/fork", body), 403, "branch_forbidden")
    assert api.get("/branches/task/again").status_code == 404
