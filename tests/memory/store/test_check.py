"""``day1 check``: each kind of damage is told by name, and what can be derived is made anew."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, connections
from django.db.models import F
from django.utils import timezone

from day1site.cli.connect.target import check_last
from day1site.server.process import data_dir_lock
from memory import tasks
from memory.db.backend import get_backend, get_file_check
from memory.engines.access.projects import ProjectEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.store.check.engine import ORDER, CheckEngine
from memory.engines.store.check.high_water import NO_MARK, name_mark
from memory.engines.store.check.problems import CHECKS
from memory.engines.store.check.repair import count_found, plan_repair, repair_store
from memory.engines.store.check.results import describe_last, find_file
from memory.engines.store.strangers import find_stranger
from memory.models import AuditEntry, Branch, Fact, NearCheck, Project, QueueMessage, Relation, Vector
from memory.models.nodes import uuid7
from memory.queue.producer import build_key
from memory.tasks import seal_audit
from tests.command_line import Day1
from tests.databases import ON_SQLITE, only_on_sqlite
from tests.memory.api.client import Api
from tests.memory.api.conftest import api
from tests.memory.store import damaging
from tests.memory.store.damaging import overwrite_page, run_sql
from tests.memory.views.conftest import browser, person

__all__ = ["api"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
FIRST = "(SELECT min(rid) FROM memory_fact)"
MAIN = "(SELECT id FROM memory_branch WHERE name = 'main')"
QUEUED = "(SELECT min(id) FROM memory_queuemessage)"
SESSION = "(SELECT min(id) FROM memory_session)"
SLOT = "(SELECT min(slot) FROM memory_vector)"
MESSAGE = (
    "INSERT INTO memory_queuemessage (id, queue, priority, visible_at, key, payload, tries) VALUES"
    f""" ('{"a" * 32}', 'day1', 0, '2026-01-01', '', '{{"headers": {{"task": "other.task"}}}}', 0)"""
)
CHANGE_INDEX = "UPDATE memory_fact_fts_content SET c0 = 'x' WHERE id = "
NO_TEXT = "UPDATE memory_fact SET fact_text = CAST(replace(fact_text, '7', x'ff') AS TEXT)"
SEVENTH = "(SELECT id FROM memory_fact_fts_content WHERE c0 LIKE 'Fact 7 %')"
BEAT = (
    "INSERT INTO django_celery_beat_periodictask (name, task, args, kwargs, enabled, last_run_at,"
    " total_run_count, date_changed, description, one_off, headers) VALUES"
    " ('x', 'memory.tidy', '[]', '{}', 1, '2099-01-01', 0, '2026-01-01', '', 0, '{}')"
)

EVERYWHERE = [name for name in ORDER if not CHECKS[name].needs_file]  # the checks that need no file

# Damage, the checks that look at what it hits -> the problems that are told, and those that a repair leaves.
KINDS: dict[str, tuple[damaging.Damage, str, str, str]] = {
    "page of a table": (
        overwrite_page("memory_fact"),
        "file content versions",
        "damaged_table unreadable_rows",
        "damaged_table unreadable_rows",
    ),
    "page of an index": (overwrite_page("fact_bnorm"), "file content", "damaged_index", ""),
    "page of full text": (overwrite_page("memory_fact_fts_data"), "file content", "damaged_full_text", ""),
    "truncated file": (
        damaging.truncate,
        "file content audit",
        "truncated_file unreadable_schema",
        "truncated_file unreadable_schema",
    ),
    "byte in a text": (
        run_sql(
            f"UPDATE memory_fact SET fact_text = replace(fact_text, 'vault', 'fault') WHERE rid = {FIRST}"
        ),
        "file content index",
        "changed_content index_differs",
        "",
    ),
    "byte that is no text": (
        run_sql(f"UPDATE memory_fact SET essence = CAST(x'ff41' AS TEXT) WHERE rid = {FIRST}"),
        "content",
        "unreadable_rows",
        "",
    ),
    "byte that is no text, which the checksum proves": (
        run_sql(f"{NO_TEXT} WHERE fact_text LIKE 'Fact 7 %'", f"{CHANGE_INDEX}{SEVENTH}"),
        "content",
        "unreadable_rows",
        "",
    ),
    "bytes that are no text": (
        run_sql(f"{NO_TEXT}, tags = '{{' WHERE fact_text LIKE 'Fact 7 %'", f"{CHANGE_INDEX}{SEVENTH}"),
        "content versions",
        "unreadable_rows",
        "unreadable_rows",
    ),
    "values that are none": (
        run_sql(
            f"UPDATE memory_fact SET tags = '{{' WHERE rid = {FIRST}",
            f"UPDATE memory_commit SET at = 'xx' WHERE seq = 2 AND branch_id = {MAIN}",
            "UPDATE memory_auditentry SET at = 'xx' WHERE place = 3",
            "UPDATE memory_project SET created_at = 'xx'",
            f"UPDATE memory_branch SET head_at = 'xx' WHERE id = {MAIN}",
            f"UPDATE memory_vector SET next_try = 'xx' WHERE slot = {SLOT}",
            f"UPDATE memory_queuemessage SET id = 'zz' WHERE id = {QUEUED}",
            f"UPDATE memory_session SET started_at = 'xx' WHERE id = {SESSION}",
        ),
        " ".join(ORDER),
        "unreadable_rows audit_changed audit_missing",
        "unreadable_rows audit_changed audit_missing",
    ),
    "version deleted": (
        run_sql(f"DELETE FROM memory_fact WHERE rid = {FIRST}"),
        "versions commits index",
        "missing_version index_without_row",
        "missing_version",
    ),
    "only version deleted": (
        run_sql("DELETE FROM memory_relation"),
        "versions commits",
        "missing_version",
        "missing_version",
    ),
    "commit deleted": (
        run_sql(f"DELETE FROM memory_commit WHERE seq = 3 AND branch_id = {MAIN}"),
        "commits audit",
        "missing_commit commit_lost",
        "missing_commit commit_lost",
    ),
    "commit changed": (
        run_sql(f"UPDATE memory_commit SET actor_label = 'x' WHERE seq = 2 AND branch_id = {MAIN}"),
        "commits audit",
        "commit_changed",
        "commit_changed",
    ),
    "commit dated back": (
        run_sql(f"UPDATE memory_commit SET at = '2020-02-02 02:02:02' WHERE seq = 2 AND branch_id = {MAIN}"),
        "commits audit",
        "commit_changed",
        "commit_changed",
    ),
    "commit of another agent": (
        run_sql(f"UPDATE memory_commit SET agent_id = 'eve' WHERE seq = 2 AND branch_id = {MAIN}"),
        "commits audit",
        "commit_changed",
        "commit_changed",
    ),
    "audit row changed": (
        run_sql("UPDATE memory_auditentry SET target = 'x' WHERE place = 3"),
        "commits audit mark",
        "audit_changed",
        "audit_changed",
    ),
    "audit row deleted": (
        run_sql("DELETE FROM memory_auditentry WHERE place = 3"),
        "commits audit mark",
        "audit_changed audit_missing",
        "audit_changed audit_missing",
    ),
    "vector of another model": (
        run_sql(f"UPDATE memory_vector SET model = 'x' WHERE slot = {SLOT}"),
        "vectors",
        "vector_of_another_model",
        "",
    ),
    "vector overwritten": (
        run_sql(f"UPDATE memory_vector SET data = zeroblob(1536) WHERE slot = {SLOT}"),
        "vectors",
        "damaged_vector",
        "",
    ),
    "vector deleted": (
        run_sql(f"DELETE FROM memory_vector WHERE slot = {SLOT}"),
        "vectors",
        "text_without_vector",
        "",
    ),
    "broken foreign key": (
        run_sql("UPDATE memory_session SET branch_id = 999 WHERE id = (SELECT min(id) FROM memory_session)"),
        "foreign_keys",
        "broken_foreign_key",
        "broken_foreign_key",
    ),
    "foreign key that may be empty": (
        run_sql(f"UPDATE memory_commit SET source_branch_id = 999 WHERE seq = 1 AND branch_id = {MAIN}"),
        "foreign_keys",
        "broken_foreign_key",
        "",
    ),
    "indexes, a trigger and a table of the index dropped": (
        run_sql(
            "DROP INDEX fact_bnorm",
            "DROP INDEX auth_user_groups_user_id_group_id_94350c0c_uniq",
            "CREATE INDEX auth_user_groups_user_id_group_id_94350c0c_uniq ON auth_user_groups (user_id)",
            "DROP VIEW memory_node",
            "DROP TABLE memory_fact_fts",
        ),
        "schema index",
        "missing_full_text missing_index missing_trigger index_words_differ",
        "",
    ),
    "index of a damaged table dropped": (
        damaging.both(run_sql("DROP INDEX fact_bnorm"), overwrite_page("memory_fact")),
        "file schema",
        "damaged_table missing_index",
        "damaged_table missing_index",
    ),
    "table of rows dropped": (
        run_sql("DROP TABLE memory_recalllog"),
        "schema foreign_keys",
        "missing_table",
        "missing_table",
    ),
    "column, constraint and trigger": (
        run_sql(
            "ALTER TABLE memory_commit RENAME COLUMN actor_label TO label",
            "CREATE TRIGGER other AFTER INSERT ON memory_fact BEGIN DELETE FROM memory_vector; END",
        ),
        "schema",
        "changed_table foreign_trigger",
        "changed_table foreign_trigger",
    ),
    "unknown task": (run_sql(MESSAGE), "queue clock", "unknown_task", ""),
    "beat in the future": (run_sql(BEAT), "queue clock", "beat_in_future", ""),
    "row that is not indexed": (
        run_sql("DELETE FROM memory_fact_fts WHERE rowid = (SELECT min(rowid) FROM memory_fact_fts)"),
        "index",
        "row_not_indexed",
        "",
    ),
    "words of the index": (
        run_sql(f"{CHANGE_INDEX}(SELECT min(rowid) FROM memory_fact_fts)"),
        "index",
        "index_words_differ index_differs",
        "",
    ),
    "head set back": (
        run_sql("UPDATE memory_branch SET head = head - 1 WHERE name = 'main'"),
        "versions commits",
        "version_beyond_head",
        "version_beyond_head",
    ),
}


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a whole store is kept for all tests that damage a copy of it."""
    return tmp_path_factory.mktemp("kept") / "original.sqlite3"


@pytest.fixture
def whole(kept: Path, request: pytest.FixtureRequest, settings: Any, copies_open: None) -> Path:
    """Return a whole store, which the first test that asks for it makes."""
    settings.DAY1 = {"embedder": "minilm"}
    return kept if kept.exists() else shutil.copy(request.getfixturevalue("original"), kept)


@pytest.fixture
def original(filled: None, tmp_path: Path) -> Path:
    """Return a copy of the whole store of this process."""
    return damaging.copy_store(tmp_path / "original.sqlite3")


@pytest.fixture
def filled(actor: Any, main: Any, settings: Any, copies_open: None) -> Iterator[None]:
    """Make the store of this process a whole one, in which nothing is to be found."""
    settings.DAY1 = {"embedder": "minilm"}
    damaging.fill_store(actor)
    yield
    marks = [name_mark(get_file_check().path)] if ON_SQLITE else []
    for file in (find_file(), *marks):
        file.unlink(missing_ok=True)


def find_names(*checks: str) -> set[str]:
    return set(CheckEngine().check_store(checks).count_problems())


@only_on_sqlite
def test_each_kind_of_damage_is_told_and_repaired(whole: Path, tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite3"
    seen, left = {}, {}
    for kind, (damage, checks, _, _) in KINDS.items():
        damaging.use_copy(whole, store)
        damage(store)
        with damaging.used_store(store):
            report = CheckEngine().check_store(checks.split())
            seen[kind] = " ".join(report.count_problems())
            steps = [step for step in plan_repair(report) if step.name != NO_MARK]
            errors = repair_store(steps, lambda title, done, total: None)
            assert set(errors.values()) <= {""}, kind
            after = CheckEngine().check_store(checks.split())
            left[kind] = " ".join(after.count_problems())
            done = count_found(report) - count_found(after)
            assert [(step.name, step.count) for step in steps] == [
                (one.name, done[one.name]) for one in steps
            ]
    assert seen == {kind: found for kind, (_, _, found, _) in KINDS.items()}
    assert left == {kind: found for kind, (_, _, _, found) in KINDS.items()}


def test_damage_that_every_database_can_have(filled: None) -> None:
    """What was changed beside the engines is told by name, and what can be derived is made anew."""
    Fact.objects.all_versions().filter(priority="P2").update(category="x")
    Relation.objects.all_versions().delete()
    Branch.objects.filter(name="side").update(head=F("head") - 1)
    AuditEntry.objects.filter(place=3).update(target="x")
    Vector.objects.filter(pk=Vector.objects.order_by("pk")[0].pk).update(model="x")
    message = {"queue": "day1", "key": "", "payload": '{"headers": {"task": "other.task"}}'}
    QueueMessage.objects.create(visible_at=timezone.now(), **message)
    report = CheckEngine().check_store(EVERYWHERE)
    left = {"version_beyond_head": 1, "missing_version": 1, "audit_changed": 1}
    repaired = {"changed_content": 1, "vector_of_another_model": 1, "unknown_task": 1}
    assert report.count_problems() == left | repaired
    repair_store(plan_repair(report), lambda title, done, total: None)
    assert CheckEngine().check_store(EVERYWHERE).count_problems() == left


@only_on_sqlite
def test_an_older_copy_and_a_missing_log(whole: Path, tmp_path: Path) -> None:
    store, log = tmp_path / "store.sqlite3", tmp_path / "store.sqlite3-wal"
    with damaging.used_store(damaging.use_copy(whole, store)):
        actor = damaging.find_actor()
        ProjectEngine().create_project(slug="gone", actor=actor)
        seal_audit()
        ProjectEngine().remove_project(project_slug="gone", confirm="gone", actor=actor)
        assert find_names("mark") == set()
        FactEngine().write_fact(fact_text="Written after the copy.", actor=actor)
        seal_audit()
        assert find_names("mark") == set()
        crashed, torn = tmp_path / "crashed.sqlite3", tmp_path / "torn.sqlite3"
        for end in ("", "-mark"):  # all but the log, as after a copy by other means
            shutil.copy2(f"{store}{end}", f"{crashed}{end}")
            shutil.copy2(f"{store}{end}", f"{torn}{end}")
        shutil.copy2(log, f"{torn}-wal")
        log_bytes = log.stat().st_size
        assert not get_file_check().has_damaged_log()
    damaging.overwrite_bytes(Path(f"{torn}-wal"), log_bytes // 2)
    with damaging.used_store(crashed):
        assert find_names("mark", "audit", "commits") == {"missing_log"}
    with damaging.used_store(torn):
        assert find_names("mark", "audit", "commits") == {"damaged_log"}
    with damaging.used_store(damaging.use_copy(whole, store, keep="-mark")):
        seal_audit()  # it leaves a mark that the store does not reach
        report = CheckEngine().check_store(("mark", "audit", "commits"))
        assert report.count_problems() == {"older_copy": 1}
        repair_store(plan_repair(report), lambda title, done, total: None)
        assert find_names("mark") == set()
        last = AuditEntry.objects.exclude(place=None).order_by("place").last()
        AuditEntry.objects.filter(pk=last.pk).delete()
        assert find_names("mark") == {"audit_cut_short"}


@only_on_sqlite
def test_a_list_shows_the_rows_before_a_damaged_page(whole: Path, tmp_path: Path) -> None:
    with damaging.used_store(damaging.use_copy(whole, tmp_path / "store.sqlite3")):
        project = Project.objects.get()
        pages = browser(person("vera", project))
        listed = FactEngine().list_facts(actor=damaging.find_actor(), limit=5)
        newest = [row.essence for row in listed.results]
        connection.close()
        overwrite_page("memory_fact")(tmp_path / "store.sqlite3")
        page = pages.get(f"/p/{project.slug}/facts")
        assert (page.status_code, "a part of this page cannot" in page.content.decode()) == (200, True)
        shown = [row.essence for row in page.context_data["page"].results]
        assert (shown[:5], len(shown) < 34) == (newest, True)
        get_backend().clear_damage()


@only_on_sqlite
def test_a_store_whose_folder_takes_no_files(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its log, which is read in a copy, and without one; the mark beside it holds."""
    store, crashed = damaging.use_copy(whole, tmp_path / "store.sqlite3"), tmp_path / "crashed.sqlite3"
    with damaging.used_store(store):
        FactEngine().write_fact(fact_text="Only in the log.", actor=damaging.find_actor())
        for end in ("", "-wal"):
            shutil.copy2(f"{store}{end}", f"{crashed}{end}")
    for file, texts in ((crashed, ["Only in the log."]), (whole, [])):
        with damaging.used_store(file), monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda path, mode: False)
            patch.setattr(connections["default"], "settings_dict", dict(connection.settings_dict))
            get_backend().mark_damaged("found before")
            beside = sorted(tmp_path.iterdir())
            get_file_check().read_alone()
            assert get_backend().find_damage().error == "found before"
            found = Fact.objects.all_versions().filter(fact_text="Only in the log.")
            assert list(found.values_list("fact_text", flat=True)) == texts
            assert find_names("file", "content", "commits", "mark") == set()
            assert sorted(tmp_path.iterdir()) == beside
            get_backend().clear_damage()
            connection.close()


def test_on_the_command_line(day1: Day1, api: Api, project: Project, filled: None) -> None:
    assert api.get("/health").json()["store_check"]["state"] == "never"
    status, out, error = day1("check")
    checks = list(ORDER) if ON_SQLITE else EVERYWHERE
    assert (status, out) == (0, f"Nothing was found by {len(checks)} checks.\n")
    status, out, _ = day1("check", "--format", "json")
    answer = json.loads(out)
    assert (status, answer["ok"], answer["problems"], answer["checks"]) == (0, True, [], checks)
    health = api.get("/health").json()["store_check"]
    assert (health["state"], health["at"], health["problems"]) == ("ok", answer["at"], {})
    Fact.objects.all_versions().filter(essence__startswith="Fact 7 ").update(priority="P4")
    status, out, _ = day1("check")
    assert status == 1
    assert out.splitlines()[1].startswith("changed_content\t1\tversions that say something else")
    health = api.get("/health").json()
    assert (health["status"], health["store_check"]["problems"]) == ("degraded", {"changed_content": 1})
    assert check_last(health) == [
        "the last check of the server's store found changed_content (1): day1 check"
    ]
    home = browser(person("vera", project)).get(f"/p/{project.slug}/").content.decode()
    assert "The last check of the store found changed_content." in home
    assert day1("check", "--only", "audit")[:2] == (0, "Nothing was found by 1 check.\n")
    status, _, error = day1("check", "--only", "nothing")
    assert (status, error.startswith("invalid: There is no check nothing; there are file, ")) == (1, True)
    assert day1("check", "--dry-run")[0] == 2


@only_on_sqlite
def test_what_is_no_store_is_named(day1: Day1, tmp_path: Path) -> None:
    """An emptied file beside its mark, and databases of other programs, of which nothing changes."""
    file = tmp_path / "day1.sqlite3"
    file.touch()
    with damaging.used_store(file):
        assert find_stranger() is None
        name_mark(file).write_text('{"format": 1}')
        status, out, error = day1("check")
        assert (status, out, error.startswith(f"truncated_file: {file} is empty, but ")) == (1, "", True)
    for app in ("auth", "blog", ""):  # what Django itself brings is in any project
        file.unlink()
        with closing(sqlite3.connect(file)) as database:
            database.execute(f"CREATE TABLE {'django_migrations' if app else 'a'} (id, app, name)")
            if app:
                database.execute("INSERT INTO django_migrations VALUES (1, ?, '0001_initial')", [app])
                database.commit()
        before = file.read_bytes()
        with damaging.used_store(file):
            assert day1("check")[2].startswith(f"no_store: {file} is a database of another program: "), app
            with pytest.raises(OperationalError):  # nor does any other way in open it
                connection.ensure_connection()
        assert (file.read_bytes(), Path(f"{file}-wal").exists()) == (before, False), app


def test_a_repair_says_what_it_does_and_is_alone(
    day1: Day1, filled: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Vector.objects.filter(pk=Vector.objects.order_by("pk").values("pk")[:1]).update(model="other")
    Fact.objects.all_versions().update(checksum=None)
    status, out, error = day1("check", "--repair", "--dry-run")
    assert (status, Vector.objects.filter(model="other").count()) == (1, 1)
    planned = ["vector_of_another_model", "versions_without_checksum", "no_mark"][: 3 if ON_SQLITE else 2]
    assert [line.split(": ")[0] for line in error.splitlines()[: len(planned)]] == planned
    assert "versions_without_checksum: 34 would be repaired: computes" in error
    with data_dir_lock(Path(settings.DATA_DIR)):
        status, out, error = day1("check", "--repair")
    assert (status, out) == (1, "")
    assert error.startswith("conflict: Day1 is running already on ")
    assert error.endswith("Stop it first: a repair must be alone with the store.\n")
    status, out, error = day1("check", "--repair", "--format", "json")
    answer = json.loads(out)
    assert (status, answer["ok"], answer["notes"]) == (0, True, {})
    assert [step["name"] for step in answer["planned"]] == planned
    assert [(step["count"], step["error"]) for step in answer["repaired"]] == [
        (1, ""),
        (34, ""),
        (1, ""),
    ][: len(planned)]
    assert not Fact.objects.all_versions().filter(checksum=None).exists()
    monkeypatch.setenv("DAY1_URL", "http://127.0.0.1:1")
    status, _, error = day1("check")
    assert (status, error.startswith("local_only: ")) == (1, True)


def test_a_task_whose_work_is_done_is_cleared(filled: None, project: Project) -> None:
    now = timezone.now()
    common = {"queue": "celery", "visible_at": now, "set_aside_at": now, "tries": 2}
    for name in ("memory.embed", "memory.near"):
        payload = json.dumps({"headers": {"task": name}})
        QueueMessage.objects.create(key=build_key(name, (str(project.pk),)), payload=payload, **common)
    NearCheck.objects.create(project=project, branch_id=1, uid=uuid7(), content_hash="0" * 64)
    report = CheckEngine().check_store(("queue",))
    assert report.count_problems() == {"task_set_aside": 2}
    (step,) = plan_repair(report)
    assert (step.name, step.count) == ("task_set_aside", 1)
    assert repair_store([step], lambda title, done, total: None) == {"task_set_aside": ""}
    assert [message.key[:12] for message in QueueMessage.objects.set_aside()] == ["memory.near["]


def test_the_weekly_task_keeps_its_result(filled: None) -> None:
    AuditEntry.objects.filter(place=2).update(target="x")
    tasks.check_store()
    found = describe_last()
    assert (found["state"], found["problems"]) == ("problems", {"audit_changed": 1})
