"""How an agent is connected: what the pages say to whom, the presets of keys, and the wait for an event."""

import html
import re
from typing import Any

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.support.write_buffer import buffer
from memory.models import ApiKey
from tests.memory.api.client import Api
from tests.memory.views.test_page_frame import text

CONNECTABLE = ("claude-code", "codex", "cursor", "gemini", "vscode", "windsurf", "opencode")
OTHERS = ("mcp", "rest")
COMMAND = re.compile(r'<pre id="command-([\w-]+)"[^>]*>(.*?)</pre>', re.S)


def commands(client: Client, path: str, **how: Any) -> dict[str, str]:
    return {name: html.unescape(words) for name, words in COMMAND.findall(text(client.get(path, **how)))}


@pytest.mark.parametrize("path", ["/p/test/", "/p/test/keys"])
def test_each_program_has_its_command_with_this_server_and_project(
    maintainer: Client, settings: Any, path: str
) -> None:
    settings.ALLOWED_HOSTS, settings.COMMAND_OPTIONS = ["memory.example"], ""
    found = commands(maintainer, path, headers={"host": "memory.example:8443"}, secure=True)
    assert set(found) == {*CONNECTABLE, *(f"{name}-setup" for name in (*CONNECTABLE, *OTHERS))}
    url = "https://memory.example:8443"
    for name in CONNECTABLE:
        assert found[name] == f"python3 manage.py day1 connect {name} --url {url} --project test"
    for name in (*CONNECTABLE, *OTHERS):
        assert url in found[f"{name}-setup"]
        assert "Bearer KEY" in found[f"{name}-setup"]


def test_another_data_folder_is_named(maintainer: Client, settings: Any) -> None:
    settings.COMMAND_OPTIONS = " --data-dir '/srv/my data'"
    assert commands(maintainer, "/p/test/keys")["codex"].endswith("--project test --data-dir '/srv/my data'")


def test_who_may_make_no_keys_is_told_whom_to_ask(viewer: Client, settings: Any) -> None:
    settings.COMMAND_OPTIONS = " --data-dir /srv/secret"
    found = commands(viewer, "/p/test/")
    assert set(found) == {f"{name}-setup" for name in (*CONNECTABLE, *OTHERS)}
    page = text(viewer.get("/p/test/"))
    assert ("a maintainer makes one for you" in page, "/srv/secret" in page) == (True, False)


def test_home_shows_it_until_something_is_known_and_not_in_the_past(viewer: Client, actor: Actor) -> None:
    assert 'id="connect"' in text(viewer.get("/p/test/"))
    assert 'id="connect"' not in text(viewer.get("/p/test/?at=2020-01-01"))
    FactEngine().write_fact(fact_text="Deploys run on Friday.", actor=actor)
    assert 'id="connect"' not in text(viewer.get("/p/test/"))


@pytest.mark.parametrize(("query", "name"), [("?client=codex", "codex"), ("?client=no", "claude-code")])
def test_the_tab_of_the_address_is_open(maintainer: Client, query: str, name: str) -> None:
    page = " ".join(text(maintainer.get(f"/p/test/keys{query}")).split())
    assert re.findall(r'value="([\w-]+)" checked autocomplete', page) == [name]


def test_the_page_of_a_new_key_holds_it_in_every_text(maintainer: Client) -> None:
    answer = maintainer.post("/p/test/keys", {"label": "laptop", "preset": "writer"})
    token = re.search(r'value="(day1_\w+)"', text(answer))[1]
    found = {name: html.unescape(words) for name, words in COMMAND.findall(text(answer))}
    assert set(found) == {f"{name}-setup" for name in (*CONNECTABLE, *OTHERS)}
    assert all(token in words for words in found.values())
    key = ApiKey.objects.get()
    assert f'data-first-event="/p/test/first-event?key={key.pk}"' in text(answer)
    assert f'data-stream="/live/test/first-event?key={key.pk}"' in text(answer)


@pytest.mark.parametrize(
    ("given", "scope"),
    [
        ({}, "write"),
        ({"preset": "writer"}, "write"),
        ({"preset": "proposer"}, "propose"),
        ({"preset": "reader"}, "read"),
        ({"preset": "curator"}, "curate"),
        ({"preset": "admin"}, "admin"),
        ({"preset": "reader", "scopes": "merge"}, "merge"),
    ],
)
def test_a_preset_is_a_scope_unless_one_is_chosen(
    maintainer: Client, given: dict[str, str], scope: str
) -> None:
    assert maintainer.post("/p/test/keys", {"label": "one", **given}).status_code == 201
    assert ApiKey.objects.get().scopes == [scope]


def test_the_full_form_is_folded_until_something_in_it_is_wrong(maintainer: Client) -> None:
    folded = "<details> <summary>Scope, branches, agent and end</summary>"
    opened = folded.replace("<details>", "<details open>")
    assert folded in " ".join(text(maintainer.get("/p/test/keys")).split())
    answer = maintainer.post("/p/test/keys", {"label": "one", "branch_patterns": "Main"})
    assert opened in " ".join(text(answer).split())


def state(client: Client, query: str = "") -> str:
    return re.search(r'data-state="(\w+)"', text(client.get(f"/p/test/first-event{query}")))[1]


def test_the_state_alone_for_who_looks_again(viewer: Client, stranger: Client, actor: Actor) -> None:
    key, token = KeyEngine().create_key(label="laptop", scopes=["write"], actor=actor)
    assert state(viewer) == state(viewer, f"?key={key.pk}") == "waiting"
    Api(token)("POST", "/facts", {"fact_text": "Deploys run on Friday."})
    buffer.flush()
    assert state(viewer) == state(viewer, f"?key={key.pk}") == "event"
    page = text(viewer.get("/p/test/first-event"))
    assert ("laptop" in page, "<html" in page, token in page) == (True, False, False)
    assert stranger.get("/p/test/first-event").status_code == 404
    assert stranger.get(f"/p/other/first-event?key={key.pk}").status_code == 404


def test_a_key_that_only_reads_is_connected_and_waits(
    viewer: Client, maintainer: Client, actor: Actor
) -> None:
    _key, token = KeyEngine().create_key(label="mcp only", scopes=["read"], actor=actor)
    Api(token)("GET", "/facts/search?query=deploys")
    buffer.flush()
    for page in (viewer.get("/p/test/first-event"), viewer.get("/p/test/"), maintainer.get("/p/test/keys")):
        assert '<p class="note waiting" data-state="reached">' in text(page)
        assert "Connected, waiting for the first event…" in text(page)
        assert "note good" not in text(page)
