"""A damaged store: told by one code on every surface, read as far as can be, and not written to."""

import gc
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client

from day1site.celery import app
from memory.actors import local_actor
from memory.db.backend import get_backend
from memory.db.damage import permit_writes
from memory.db.sqlite.storage import is_damage
from memory.engines.facts.engine import FactEngine
from memory.engines.store.logins import PasswordHasher, find_folder
from memory.engines.support.write_buffer import WriteBehind
from memory.exceptions import StoreDamaged
from memory.models import Fact, Membership, Project, Session
from memory.queue.producer import enqueue
from tests.command_line import Day1
from tests.databases import only_on_sqlite
from tests.mcp.conftest import Agent, agent, threads_closed
from tests.memory.api.client import Api, refused
from tests.memory.api.conftest import api
from tests.memory.views.conftest import browser, person
from tests.waiting import TIMEOUT_SECONDS

__all__ = ["agent", "api", "threads_closed"]
pytestmark = [pytest.mark.django_db(transaction=True), only_on_sqlite]
CALL = "/observations"
START = {"hook_event_name": "SessionStart", "session_id": "one", "cwd": "/work"}


@contextmanager
def damaged(table: str) -> Iterator[None]:
    """Let a table be read from a page of another kind, as after a page was overwritten."""
    with connection.cursor() as cursor:
        roots = "SELECT name, rootpage FROM sqlite_master WHERE name IN (%s, 'fact_uid')"
        known = dict(cursor.execute(roots, [table]).fetchall())
    try:
        read_from(table, known["fact_uid"])
        yield
    finally:
        with permit_writes():
            read_from(table, known[table])
        get_backend().clear_damage()


def read_from(table: str, page: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA writable_schema = ON")
        cursor.execute("UPDATE sqlite_master SET rootpage = %s WHERE name = %s", [page, table])
        cursor.execute("PRAGMA writable_schema = RESET")


@contextmanager
def damaged_value(fact_id: str, column: str, value: str) -> Iterator[None]:
    """Let a row of a fact have a value, as SQL, that is none of its column."""
    with damaged_row("memory_fact", f"uid = '{fact_id.replace('-', '')}'", column, value):
        yield


@contextmanager
def damaged_row(table: str, where: str, column: str, value: str) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM {table} WHERE {where}")
        (before,) = cursor.fetchone()
        cursor.execute(f"UPDATE {table} SET {column} = {value} WHERE {where}")
    try:
        yield
    finally:
        with permit_writes(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {where}", [before])
        get_backend().clear_damage()


def test_a_damaged_row_is_told_and_writes_stop(api: Api) -> None:
    kept = api.fact("Kept beside the damage.")
    call = api.post(CALL, {"observation_type": "tool_use", "tool_name": "Bash", "raw_input": "ls"}).json()
    with damaged("memory_observation"):
        assert api.get("/health").json()["status"] == "ok"  # nobody has read it yet
        problem = refused(api.get(f"{CALL}/{call['id']}"), 503, "store_damaged")
        assert problem["detail"].startswith("A part of the store that this needs is damaged.")
        assert api.get(f"/facts/{kept['id']}").json()["fact_text"] == kept["fact_text"]
        problem = refused(api.post("/facts", {"fact_text": "Not stored."}), 503, "store_damaged")
        refused(api.post("/ingest/hook", START), 503, "store_damaged")
        assert (Fact.objects.all_versions().count(), Session.objects.count()) == (1, 0)
        assert problem["detail"].startswith("The store is damaged, so nothing is written to it")
        health = api.get("/health")
        assert (health.status_code, health.json()["status"], health.json()["database"]) == (
            503,
            "failing",
            "damaged",
        )
        assert "SQLITE_CORRUPT" in health.json()["damage"]["error"]
        anonymous = Api("").get("/health")
        assert (anonymous.status_code, anonymous.json()) == (503, {"status": "failing"})
        assert Api("").get("/health/ready").status_code == 200  # most can be read
        with pytest.raises(OperationalError), connection.cursor() as cursor:  # outside of transactions too
            cursor.execute("UPDATE memory_project SET name = ''")
    assert api.get(f"{CALL}/{call['id']}").json()["id"] == call["id"]
    api.fact("Stored after the repair.")
    assert api.get("/health").json()["status"] == "ok"


def test_every_surface_says_so(
    api: Api, agent: Agent, day1: Day1, project: Project, admin_client: Client
) -> None:
    pages = browser(person("vera", project))
    fact = api.fact("Tokens expire after a day.")
    home = f"/p/{project.slug}/branches"
    assert "is damaged" not in pages.get(home).content.decode()
    with damaged("memory_fact"):
        text = agent.refused("memory_get", "store_damaged", fact_ids=[fact["id"]])
        assert "Do not try again: tell the people who run the server." in text
        agent.refused("memory_write", "store_damaged", fact_text="Not stored.")
        page = pages.get(f"/p/{project.slug}/facts")
        assert page.status_code == 503
        assert "<h1>The store is damaged</h1>" in page.content.decode()
        for client, path in ((pages, home), (admin_client, "/admin/memory/project/")):
            assert "The store is damaged: nothing is stored until" in client.get(path).content.decode(), path
        for words in (["facts", "list"], ["write-fact", "Not stored."], ["reindex"]):
            status, out, error = day1(*words)
            assert (status, out) == (1, "")
            assert (error[:15], error.count("\n")) == ("store_damaged: ", 1)


@pytest.mark.slow
def test_a_page_shows_what_can_be_read_beside_a_damaged_row(api: Api, project: Project) -> None:
    """With a notice; the row itself is refused, as what REST answers with it is."""
    user = person("vera", project)
    lost, linked, other = (api.fact(f"Tokens of the {name} expire.") for name in ("first", "second", "third"))
    api.post(f"/facts/{linked['id']}/links", {"to_id": lost["id"], "link_type": "DEPENDS_ON"})

    def show(pages: Client, path: str, **headers: str) -> tuple[int, bool, str]:
        page = pages.get(f"/p/{project.slug}/{path}", headers=headers)
        text = page.content.decode()
        return page.status_code, "a part of this page cannot be read" in text, text

    for column, value, paths in (
        ("tags", "'{'", ("", "facts", "search?q=tokens")),
        ("metadata", "CAST(x'7bff' AS TEXT)", ("facts?q=tokens",)),
        ("created_at", "'xx'", ("facts",)),
    ):
        pages = browser(user)  # whose session ends with the damage
        with damaged_value(lost["id"], column, value):
            refused(api.get(f"/facts/{lost['id']}"), 503, "store_damaged")
            refused(api.get("/facts/search?query=tokens"), 503, "store_damaged")
            assert [api.get(f"/facts/{fact['id']}").status_code for fact in (linked, other)] == [200, 200]
            for path in paths:
                status, has_notice, text = show(pages, path)
                assert (status, has_notice) == (200, True), (column, path)
                assert "Tokens of the second expire." in text
                assert "Tokens of the third expire." in text
    pages = browser(user)
    with damaged_value(lost["id"], "tags", "'{'"):
        assert show(pages, "facts?format=json")[0] == 503  # a file has no place for a notice
        assert show(pages, "facts", **{"HX-Request": "true"})[0] == 503  # nor has a part of a page
        assert show(pages, f"facts/{linked['id']}")[:2] == (200, True)
        assert show(pages, f"facts/{other['id']}")[:2] == (200, False)
        status, has_notice, text = show(pages, f"facts/{lost['id']}")
        assert (status, has_notice, "<h1>The store is damaged</h1>" in text) == (503, False, True)


def test_whoever_reads_can_log_in_and_out(project: Project, other_project: Project, settings: Any) -> None:
    """While the store is damaged: without a write to it, and without a login that outlives its end."""
    settings.PASSWORD_HASHERS = ["memory.engines.store.logins.PasswordHasher"]
    user, form = person("vera", project), {"username": "vera", "password": "a long password"}
    user.password = old = PasswordHasher().encode(form["password"], "salt", 1)  # a login hashes it anew
    user.save()
    Membership.objects.create(user=user, project=other_project, role="viewer")
    before, now, copied = browser(user), Client(), Client()
    seen = user.last_login
    get_backend().mark_damaged("tried by hand")
    try:
        assert "The store is damaged: nothing is stored" in now.get("/login").content.decode()
        assert now.post("/login", form | {"password": "wrong"}).status_code == 200
        assert now.get("/account").status_code == 302
        assert now.post("/login", form)["Location"] == "/"
        for client in (before, now):
            for one in (project, other_project):
                page = client.get(f"/p/{one.slug}/")
                assert (page.status_code, "The store is damaged:" in page.content.decode()) == (200, True)
            assert client.get("/")["Location"] == f"/p/{other_project.slug}/"
            copied.cookies["sessionid"] = client.cookies["sessionid"].value
            assert client.post("/logout").status_code == 302
            assert [one.get("/account").status_code for one in (client, copied)] == [302, 302]
        assert now.post("/login", form)["Location"] == "/"
    finally:
        get_backend().clear_damage()
    copied.cookies = before.cookies
    assert [one.get("/account").status_code for one in (copied, now)] == [302, 302]
    assert not find_folder().exists()
    user.refresh_from_db()
    assert (user.last_login, user.password) == (seen, old)


def test_a_damaged_row_of_logins_keeps_nobody_out(project: Project) -> None:
    user, now = person("vera", project), Client()
    now.cookies = browser(user).cookies
    with damaged("django_session"):
        assert now.get("/account").status_code == 302
        assert now.post("/login", {"username": "vera", "password": "a long password"})["Location"] == "/"
        assert now.get(f"/p/{project.slug}/branches").status_code == 200


def test_the_health_is_told_where_no_key_can_be_read(api: Api) -> None:
    with damaged("memory_apikey"):
        health = api.get("/health")
        assert (health.status_code, health.json()) == (503, {"status": "failing"})
        refused(api.get("/facts"), 503, "store_damaged")


def test_words_are_found_without_their_index(api: Api) -> None:
    api.fact("Tokens expire after a day.")
    with damaged("memory_fact_fts_data"):
        found = api.get("/facts/search?query=tokens").json()
        assert [hit["fact"]["fact_text"] for hit in found["results"]] == ["Tokens expire after a day."]
        assert found["signals_used"] == ["index_error", "like"]
        refused(api.post("/facts", {"fact_text": "Not stored."}), 503, "store_damaged")


def test_work_waits_for_the_repair(project: Project) -> None:
    enqueue("memory.embed", str(project.pk))
    written: list[int] = []
    buffer = WriteBehind()
    buffer.register_kind("count", lambda values: written.extend(values.values()))
    with app.connection_for_read() as link, link.SimpleQueue("day1") as queue:
        get_backend().mark_damaged("tried by hand")
        try:
            buffer.add_value("count", 1, 1)
            buffer.flush()
            with pytest.raises(Empty):
                queue.get(timeout=0.01)
        finally:
            get_backend().clear_damage()
        assert (written, queue.get(timeout=TIMEOUT_SECONDS).headers["task"]) == ([], "memory.embed")
    buffer.flush()
    assert written == [1]


def test_a_transaction_in_which_damage_was_found_is_taken_back(project: Project) -> None:
    def change() -> None:
        Project.objects.filter(pk=project.pk).update(name="Changed")
        get_backend().mark_damaged("found by another process")

    with pytest.raises(StoreDamaged):
        transaction.atomic(change)()
    assert get_backend().find_damage().error == "found by another process"
    get_backend().clear_damage()
    project.refresh_from_db()
    assert project.name != "Changed"


def test_a_value_of_another_kind_is_damage(api: Api) -> None:
    """SQLite stores a text in a column of numbers, and bytes in one of texts."""
    fact, other = (api.fact(f"Tokens of the {name} expire.") for name in ("first", "second"))
    for column, value in (("confidence", "'high'"), ("essence", "x'ff00'"), ("tags", "'7'")):
        with damaged_value(fact["id"], column, value):
            for path in ("/facts", f"/facts/{fact['id']}", "/facts/search?query=tokens"):
                refused(api.get(path), 503, "store_damaged")
            assert api.get(f"/facts/{other['id']}").status_code == 200
            assert api.get("/health").json()["status"] == "failing"


@pytest.mark.parametrize("value", ["x'ff00'", "CAST(x'41ff' AS TEXT)"])
def test_a_row_without_versions_is_damaged_too(api: Api, value: str) -> None:
    api.post("/sessions", {"session_id": "s1", "agent_id": "a1"})
    for table, where, column, path in (
        ("memory_session", "key = 's1'", "agent_id", "/sessions"),
        ("memory_branch", "name = 'main'", "purpose", "/branches"),
    ):
        with damaged_row(table, where, column, value):
            refused(api.get(path), 503, "store_damaged")
            assert api.get("/health").json()["status"] == "failing"


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_read_that_failed_half_way_is_over(api: Api, project: Project) -> None:
    """What keeps the error, as a log does, keeps no state of the store, and no cursor past its connection."""
    facts = [api.fact(f"Tokens of service {number} expire.") for number in range(6)]
    with damaged_value(facts[-1]["id"], "created_at", "'xx'"), pytest.raises(StoreDamaged) as kept:
        FactEngine().list_facts(actor=local_actor(project.pk))
    other = sqlite3.connect(connection.settings_dict["NAME"])
    with closing(other), other:
        other.execute("UPDATE memory_project SET name = 'Changed'")
    project.refresh_from_db()
    assert project.name == "Changed"
    connection.close()
    del kept
    gc.collect()


def test_what_is_no_damage(tmp_path: Path) -> None:
    store = sqlite3.connect(tmp_path / "store")
    store.execute("CREATE TABLE t (x CHECK (x > 0))")
    store.commit()
    other = sqlite3.connect(tmp_path / "store", timeout=0)
    store.execute("BEGIN IMMEDIATE")
    store.execute("PRAGMA max_page_count = 1")
    for link, statement in (
        (other, "BEGIN IMMEDIATE"),
        (store, "INSERT INTO t VALUES (0)"),
        (store, "SELECT y FROM t"),
        (store, "INSERT INTO t SELECT randomblob(9000)"),
    ):
        with pytest.raises(sqlite3.DatabaseError) as caught:
            link.execute(statement)
        assert not is_damage(caught.value), statement
