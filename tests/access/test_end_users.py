"""End users: a key that is bound to one reads and writes nothing of another, on any route or by any tool."""

import json
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from conversations.models import Conversation, Message
from day1site.mcp.call_context import Caller
from day1site.mcp.dispatch import ToolRefusal, run
from day1site.mcp.http import authenticate_caller, setting_in
from day1site.mcp.tools import ALL
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import find_key
from memory.exceptions import UserForbidden
from memory.models import Fact, Observation, Project, Session
from tests.access import table
from tests.access.scene import build_rows, fill
from tests.memory.api.client import Api, api_for, refused

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
MODELS = (Fact, Observation, Conversation, Message, Session)
# What the scene's texts have in common, and no answer of the product.
TELLING = ("token lives", "tokens live", "rotate the keys", "Only elsewhere", "It is over")


@pytest.fixture
def rows(project: Project) -> dict[str, Any]:
    return build_rows(project)


def bind(project: Project, user: str, **options: Any) -> Api:
    return api_for(project, scopes=["write"], user_id=user, **options)


def hide(rows: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of the scene with ids that nobody has."""
    return {name: uuid4() if isinstance(value, UUID) else value for name, value in rows.items()}


def list_telling(rows: dict[str, Any]) -> list[str]:
    ids = (value for name, value in rows.items() if isinstance(value, UUID) and name != "key")
    return [*TELLING, *map(str, ids)]  # the key names an item that they make


def others() -> list[Any]:
    """Return what is stored and not theirs who try."""
    rows = (model._base_manager.exclude(user_id__in=["alice", "carol"]) for model in MODELS)
    found = [list(one.order_by("pk").values()) for one in rows]
    return [[{**row, "active_at": None} for row in batch] for batch in found]  # written a second later


def send(api: Api, row: table.Rest, rows: dict[str, Any]) -> Any:
    path = row.path.format(**rows) + (f"?{row.query}".format(**rows) if row.query else "")
    return api(row.method, path, fill(row.body, rows))


@pytest.mark.slow
def test_a_bound_key_tries_every_route(project: Project, rows: dict[str, Any]) -> None:
    """What it is told of what is there is what it is told of what is not."""
    alice, carol = bind(project, "alice"), bind(project, "carol")
    before, telling, nowhere, wrong = others(), list_telling(rows), hide(rows), list[Any]()
    for row in table.REST:
        if row.path.startswith("/health"):
            continue
        answer, same = send(alice, row, rows), send(carol, row, nowhere)
        sent = json.dumps(
            [row.path.format(**rows), fill(row.body, rows), row.query.format(**rows)], default=str
        )
        text = answer.content.decode()
        told = [one for one in telling if one in text and one not in sent]
        alike = (answer.status_code, problem_of(answer)) == (same.status_code, problem_of(same))
        if told or not alike:
            wrong.append((row, told, answer.status_code, same.status_code, text[:300]))
    assert wrong == []
    assert others() == before


def problem_of(answer: Any) -> Any:
    found = answer.json() if "json" in answer.get("Content-Type", "") else {}
    return (found.get("code"), found.get("title")) if answer.status_code >= 400 else None


@pytest.mark.slow
def test_a_bound_key_tries_every_tool(project: Project, rows: dict[str, Any]) -> None:
    tokens = (bind(project, name).token for name in ("alice", "carol"))
    alice, carol = (Caller(get_actor(find_key(token), "mcp")) for token in tokens)
    before, telling, nowhere, wrong = others(), list_telling(rows), hide(rows), list[Any]()
    for row in table.TOOLS:
        found, same = call(alice, row, rows), call(carol, row, nowhere)
        sent = json.dumps(fill(row.arguments, rows), default=str)
        told = [one for one in telling if one in found and one not in sent]
        if told or found.partition(":")[0] != same.partition(":")[0]:
            wrong.append((row, told, found[:300], same[:300]))
    assert wrong == []
    assert others() == before


def call(caller: Caller, row: table.Tool, rows: dict[str, Any]) -> str:
    try:
        return json.dumps(run(ALL[row.name], caller, fill(row.arguments, rows)), default=str)
    except ToolRefusal as refusal:
        return str(refusal)


# ---- what is hers ----------------------------------------------------------------------------------------


def texts(answer: Any) -> list[str]:
    return sorted(row.get("fact", row)["fact_text"] for row in answer.json()["results"])


def test_facts_of_end_users_are_apart(project: Project) -> None:
    """Equal texts of two are two facts; who is bound to nobody reads all, or those of one."""
    admin, alice, bob = api_for(project), bind(project, "alice"), bind(project, "bob")
    for api in (admin, alice, bob):
        assert api.fact("The cat is called Minka.")["user_id"] == {alice: "alice", bob: "bob"}.get(api, "")
    assert alice.post("/facts", {"fact_text": "The cat is called Minka."}).status_code == 200
    bob.fact("The dog is called Rex.")
    assert texts(alice.get("/facts")) == ["The cat is called Minka."]
    assert texts(alice.get("/facts/search?q=cat+dog")) == ["The cat is called Minka."]
    assert texts(admin.get("/facts?user_id=bob")) == ["The cat is called Minka.", "The dog is called Rex."]
    assert len(texts(admin.get("/facts"))) == 4
    assert admin.fact("He likes tea.", user_id="bob", app_id="shop")["app_id"] == "shop"
    assert texts(admin.get("/facts/search?q=tea&user_id=bob&app_id=other")) == []
    assert texts(admin.get("/facts?user_id=alice,bob&category=general"))[:1] == ["He likes tea."]
    assert texts(admin.get("/facts?app_id=shop")) == texts(bob.get("/facts?app_id=shop")) == ["He likes tea."]


def test_a_bound_key_names_no_other(project: Project) -> None:
    alice, shop = bind(project, "alice"), bind(project, "", app_id="shop")
    for answer in (
        alice.get("/facts?user_id=bob"),
        alice.get("/facts?user_id=alice,bob"),
        alice.get("/messages/search?q=x&user_id=bob,alice"),
        alice.get("/facts/search?q=x&user_id=bob"),
        alice.post("/facts", {"fact_text": "Hi.", "user_id": "bob"}),
        alice.post("/facts/bulk", {"facts": [{"fact_text": "Hi.", "user_id": "bob"}]}),
        alice("PUT", "/items/n/k", {"value": 1, "user_id": "bob"}),
        alice.post("/remember", {"messages": ["I live in Rome."], "user_id": "bob"}),
        shop.get("/items?app_id=bank"),
    ):
        refused(answer, 403, "scope_missing")
    assert shop.fact("Hi.", user_id="eve")["user_id"] == "eve"
    assert (texts(shop.get("/facts")), texts(alice.get("/facts"))) == (["Hi."], [])


def test_keys_and_sessions_of_two_end_users_have_equal_names(project: Project) -> None:
    alice, bob = bind(project, "alice"), bind(project, "b/o b@x")
    for api, value in ((alice, 1), (bob, 2)):
        assert api("PUT", "/items/n/k", {"value": value}).status_code == 201
        assert api.post("/sessions", {"session_id": "s1"}).status_code == 201
        api.fact(f"Number {value}.", session_id="s1")
    assert [api.get("/items/n/k").json()["value"] for api in (alice, bob)] == [1, 2]
    shown = [api.get("/sessions/s1").json() for api in (alice, bob)]
    assert [row["id"] for row in shown] == ["alice/s1", "b%2Fo%20b%40x/s1"]
    assert texts(alice.get("/facts?session_id=s1")) == texts(alice.get("/facts?session_id=alice/s1"))
    assert texts(bob.get("/facts?session_id=s1")) == ["Number 2."]
    assert [row["id"] for row in bob.get("/sessions").json()["results"]] == ["b%2Fo%20b%40x/s1"]
    refused(api_for(project).get("/items/n/k"), 404, "not_found")
    assert api_for(project).get("/items/n/k?user_id=alice").json()["value"] == 1


def test_conversations_of_end_users_are_apart(project: Project) -> None:
    admin, alice, bob = api_for(project), bind(project, "alice"), bind(project, "bob")
    talk = admin.post("/conversations", {"title": "Tea", "user_id": "alice", "session_id": "s1"}).json()
    said = {"role": "user", "content": "I drink green tea in the morning."}
    assert admin.post(f"/conversations/{talk['id']}/messages", said).json()["user_id"] == "alice"
    assert (
        alice.get(f"/conversations/{talk['id']}/messages").json()["results"][0]["content"] == said["content"]
    )
    assert len(alice.get("/messages/search?q=tea").json()["results"]) == 1
    assert bob.get("/messages/search?q=tea").json()["results"] == []
    refused(bob.post(f"/conversations/{talk['id']}/messages", said), 404, "not_found")
    refused(bob.get(f"/conversations/{talk['id']}"), 404, "not_found")


def test_what_goes_on_from_an_end_users_memory_is_theirs(project: Project) -> None:
    """Whoever supersedes, forks or picks: what takes the place of hers is hers, and goes with her."""
    admin, alice, shop = api_for(project), bind(project, "alice"), bind(project, "alice", app_id="shop")
    first, second, third = (alice.fact(f"Alice has {thing}.") for thing in ("a car", "a cat", "a flat"))
    bought = shop.fact("Alice bought a lamp.")
    for api, fact, stated in (
        (admin, first, {"session_id": "desk"}),
        (admin, bought, {"user_id": "alice"}),
        (alice, second, {"session_id": "s1"}),
    ):
        body = {"new_fact_text": f"{fact['fact_text']} No more.", **stated}
        new = api.post(f"/facts/{fact['id']}/supersede", body).json()
        assert (new["user_id"], new["app_id"]) == ("alice", fact["app_id"]), new
    admin.fact("A desk is a desk.", session_id="desk")
    body = {"action": "supersede", "fact_ids": [third["id"]], "new_fact_text": "Alice has a house."}
    assert admin.post("/facts/actions", body).status_code == 200
    assert "Alice has a house." in texts(alice.get("/facts?status=active"))

    talk = alice.post("/conversations", {"title": "Tea", "session_id": "s1"}).json()
    said = alice.post(
        f"/conversations/{talk['id']}/messages", {"role": "user", "content": "I like tea."}
    ).json()
    fork = admin.post(f"/conversations/{talk['id']}/fork", {"message_id": said["id"]}).json()
    picked = admin.post(f"/conversations/{talk['id']}/cherry-pick", {"message_ids": [said["id"]]}).json()
    assert (fork["user_id"], picked["conversation"]["user_id"]) == ("alice", "alice")
    more = admin.post(f"/conversations/{fork['id']}/messages", {"role": "user", "content": "And coffee."})
    assert more.json()["user_id"] == "alice"
    admin.post("/erasures", {"scope": "user", "target": "alice", "confirm": "alice"})
    for path in ("/facts", "/conversations", f"/conversations/{fork['id']}/messages"):
        answer = admin.get(path).content.decode()
        assert not [one for one in ("Alice has", "lamp", "coffee", "Tea") if one in answer], path


@pytest.mark.parametrize("name", [" alice", "alice "])
def test_a_key_is_of_the_name_that_was_given(project: Project, name: str) -> None:
    """A name with other spaces is another's."""
    alice, other = bind(project, "alice"), bind(project, name)
    alice.fact("Alice drinks tea.")
    assert texts(other.get("/facts")) == []
    assert other.fact("Somebody drinks tea.")["user_id"] == name
    assert texts(alice.get("/facts")) == ["Alice drinks tea."]
    assert texts(api_for(project).get(f"/facts/search?q=tea&user_id={quote(name)}")) == [
        "Somebody drinks tea."
    ]


def test_a_session_that_is_listed_is_found(project: Project) -> None:
    alice, shop, both = bind(project, "alice"), bind(project, "", app_id="shop"), bind(project, "bob")
    assert shop.post("/sessions", {"session_id": "s1", "user_id": "alice"}).status_code == 201
    for api in (alice, shop):
        (row,) = api.get("/sessions").json()["results"]
        assert api.get(f"/sessions/{row['id']}").json()["id"] == "alice@shop/s1"
    refused(both.get("/sessions/alice@shop/s1"), 404, "not_found")
    refused(alice.get("/sessions/s1"), 404, "not_found")


def test_a_session_follows_one_of_its_own_end_user(project: Project) -> None:
    alice, bob = bind(project, "alice"), bind(project, "bob")
    for api in (alice, bob):
        api.post("/sessions", {"session_id": "s1"})
        api.post("/sessions/s1/end", {"summary": f"Said by {api.get('/sessions/s1').json()['user_id']}."})
    for name, parent, told in (("s2", "s1", "Said by alice."), ("s3", "bob/s1", "")):
        alice.post("/sessions", {"session_id": name, "parent_session": parent})
        assert alice.get(f"/sessions/{name}/context").json()["parent_summary"] == told


def test_names_of_any_length_leave_a_session_its_id(project: Project) -> None:
    """A session's id has the letters that its column has, and two long names stay apart in it."""
    names = ["é" * 200, "é" * 199 + "e"]
    for name in names:
        api = bind(project, name, app_id="/" * 200)
        api.fact("Tea is fine.", session_id="s1")
        assert api.post("/remember", {"messages": ["I live in Rome."]}).status_code == 201
        assert [row["user_id"] for row in api.get("/facts?session_id=s1").json()["results"]] == [name]
        refused(api.post("/sessions", {"session_id": "s" * 200}), 400, "invalid", "session_id")
    keys = Session.objects.values_list("key", flat=True)
    assert (len(keys), max(map(len, keys)) <= 200) == (4, True)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_header_names_an_end_user_in_any_letters(encoding: str) -> None:
    headers = {b"day1-user": "Rená".encode(encoding)}
    assert setting_in({"query_string": b""}, headers, "user") == "Rená"


@pytest.mark.parametrize("name", ["user", "user_id"])
def test_an_address_over_mcp_names_an_end_user(project: Project, name: str) -> None:
    scope = {"path": "/mcp", "headers": [], "query_string": f"{name}=alice".encode()}
    admin, bob = (
        {b"authorization": f"Bearer {api.token}".encode()} for api in (api_for(project), bind(project, "bob"))
    )
    assert authenticate_caller(scope, admin).actor.end_user.user_id == "alice"
    with pytest.raises(UserForbidden):
        authenticate_caller(scope, bob)


def test_what_is_learned_of_an_end_user_is_theirs(project: Project) -> None:
    alice, bob = bind(project, "alice"), bind(project, "bob")
    for api, place in ((alice, "Rome"), (bob, "Oslo")):
        answer = api.post("/remember", {"messages": [f"I moved to {place}."], "session_id": "chat"})
        assert [one["action"] for one in answer.json()["results"]] == ["added"]
    again = bob.post("/remember", {"messages": ["I moved to Bergen."], "session_id": "later"}).json()
    assert sorted(one["action"] for one in again["results"]) == ["added", "superseded"]
    assert [len(texts(api.get("/facts"))) for api in (alice, bob)] == [1, 2]
    assert {row.user_id for row in Fact._base_manager.all()} == {"alice", "bob"}


def test_a_key_of_an_end_user_may_not_decide(project: Project) -> None:
    admin = api_for(project)
    for scope in ("curate", "merge", "admin"):
        body = {"label": "k", "scopes": [scope], "user_id": "alice"}
        refused(admin.post("/keys", body), 400, "invalid", "scopes")
    made = admin.post("/keys", {"label": "k", "scopes": ["write"], "user_id": "alice"}).json()
    assert (made["user_id"], made["app_id"]) == ("alice", "")
    rotated = admin.post(f"/keys/{made['id']}/rotate", {}).json()
    assert rotated["user_id"] == "alice"
    assert [row["id"] for row in admin.get("/keys?user_id=alice&state=valid").json()["results"]] == [
        rotated["id"]
    ]
    refused(Api(rotated["token"]).get("/branches"), 403, "scope_missing")
    assert Api(rotated["token"]).get("/health").json() == {"status": "ok"}


# ---- who looks after them --------------------------------------------------------------------------------


def test_an_end_user_is_counted_exported_and_erased(project: Project) -> None:
    admin, alice, bob = api_for(project), bind(project, "alice"), bind(project, "bob")
    for api, name in ((alice, "Alice"), (bob, "Bob")):
        api.fact(f"{name} drinks green tea.", session_id="s1")
        api("PUT", "/items/n/k", {"value": name})
        api.post("/remember", {"messages": [f"{name} says hello."], "session_id": "s1"})
        api.post("/observations", {"observation_type": "insight", "summary": f"{name} is fine."})
    figures = admin.get("/analytics/end-users?user_id=alice").json()
    (row,) = figures["users"]
    counts = {name: row[name] for name in ("facts", "messages", "conversations", "observations", "sessions")}
    assert counts == {"facts": 2, "messages": 1, "conversations": 1, "observations": 1, "sessions": 1}
    assert (figures["count"], admin.get("/analytics/end-users").json()["count"]) == (1, 2)
    body = {"scope": "user", "target": "alice"}
    plan = admin.post("/erasures", {**body, "dry_run": True}).json()
    assert plan["confirm"] == "alice"
    assert plan["counts"] == {"conversation": 1, "fact": 2, "message": 1, "observation": 1, "session": 1}
    refused(admin.post("/erasures", {**body, "confirm": "bob"}), 400, "invalid", "confirm")
    assert admin.post("/erasures", {**body, "confirm": "alice"}).status_code in (200, 201, 202)
    assert texts(alice.get("/facts/search?q=tea")) == []
    assert "Alice" not in alice.get("/facts").content.decode()
    refused(alice.get("/items/n/k"), 404, "not_found")
    assert bob.get("/items/n/k").json()["value"] == "Bob"
    assert texts(bob.get("/facts/search?q=tea")) == ["Bob drinks green tea."]


def test_an_end_user_may_have_so_many_facts(project: Project) -> None:
    admin, alice, bob = api_for(project), bind(project, "alice"), bind(project, "bob")
    assert admin.patch(f"/projects/{project.slug}", {"user_fact_limit": 2}).json()["user_fact_limit"] == 2
    alice.fact("One.")
    refused(
        alice.post("/facts/bulk", {"facts": [{"fact_text": "Two."}, {"fact_text": "Three."}]}),
        403,
        "quota_exceeded",
    )
    assert alice("PUT", "/items/n/k", {"value": 1}).status_code == 201
    problem = refused(alice("PUT", "/items/n/l", {"value": 1}), 403, "quota_exceeded")
    assert (problem["data"]["used"], problem["data"]["limit"]) == (2, 2)
    assert alice("PUT", "/items/n/k", {"value": 2}).status_code == 200
    refused(admin.post("/facts", {"fact_text": "Four.", "user_id": "alice"}), 403, "quota_exceeded")
    for api in (bob, admin):
        api.fact("Two.")
    assert alice.delete("/items/n/k").status_code == 204
    alice.fact("Two.")


def test_a_name_is_a_name(project: Project) -> None:
    """None is empty, which would be everybody, and none has a comma, which stands between names."""
    admin = api_for(project)
    admin.fact("Tea, please.", user_id="a")
    for name in ("", " ", "\u2003", "a,b", "a" * 201):
        refused(admin.post("/facts", {"fact_text": "Hi.", "user_id": name}), 400, "invalid", "user_id")
        if name:
            body = {"label": "k", "scopes": ["read"], "user_id": name}
            refused(admin.post("/keys", body), 400, "invalid", "user_id")
    for path in ("/facts", "/facts/search?q=tea", "/items", "/sessions", "/messages/search?q=tea"):
        mark = "&" if "?" in path else "?"
        refused(admin.get(f"{path}{mark}user_id="), 400, "invalid", "user_id")


def test_a_full_end_user_goes_on_talking(project: Project) -> None:
    """What is no more in use takes no room; what is said is stored once, and says why nothing was learned."""
    admin, alice = api_for(project), bind(project, "alice")
    admin.patch(f"/projects/{project.slug}", {"user_fact_limit": 1})
    first = alice.fact("Tea is fine.")
    newer = alice.post(f"/facts/{first['id']}/supersede", {"new_fact_text": "Coffee is fine."})
    assert newer.status_code == 201
    answer = alice.post("/remember", {"messages": ["I moved to Rome."], "session_id": "s1"})
    (one,) = answer.json()["results"]
    assert (answer.status_code, one["action"], one["reason"][:31]) == (
        201,
        "ignored",
        "The end user has 1 of 1 facts: ",
    )
    assert len(alice.get("/messages/search?q=Rome").json()["results"]) == 1
