"""Import and export of facts as lines, and the maintenance of a whole store."""

import hashlib
import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from day1site.cli import fact_jsonl as jsonl
from day1site.cli.transport.http_import import _line as parse_rest_line
from memory.actors import Actor
from memory.answers import facts as shapes
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.import_export import FactImport, export_facts
from memory.engines.facts.links import LinkEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.versions.commits import MAX_COMMIT_ROWS, open_commit
from memory.engines.versions.lookup import find_branch
from memory.exceptions import BranchArchived, BranchNotFound, Conflict, Exists
from memory.models import AuditEntry, Branch, Commit, Confirmation, Fact, FactLink, Project, hashes
from tests.databases import only_on_matrixone, only_on_sqlite

pytestmark = pytest.mark.django_db(transaction=True)
facts = FactEngine()

ID = "01970000-0000-7000-8000-00000000000{}"
OTHER_STORE = (
    "version",
    "updated_at",
    "verified_at",
    "verified_by",
    "verification_status",
    "source_type",
    "source_id",
    "confirmation_count",
)


def run(actor: Actor, *lines: Any, **how: Any) -> list[tuple[int, str]]:
    """Import the lines; return (number, state) of each."""
    one = FactImport(actor=actor, **how)
    outcomes = one.apply_lines(list(enumerate(lines, 1))) + one.list_unresolved()
    return [(outcome.number, outcome.state) for outcome in outcomes]


def texts(actor: Actor, branch: str = "main") -> list[str]:
    return sorted(fact.fact_text for fact in facts.list_facts(actor=actor, branch_name=branch).results)


def exported(actor: Actor, **how: Any) -> list[dict[str, Any]]:
    found = []
    for fact, links in export_facts(actor=actor, **how):
        shape = {**shapes.fact(fact, branch="main"), "held_status": fact.held_status}
        rows = [shapes.link(link, branch="main") for link in links]
        found.append(json.loads(jsonl.format_line(shape, rows)))
    return found


# ---- import ----------------------------------------------------------------------------------------


def test_an_import_is_one_commit_and_a_second_time_changes_nothing(actor: Actor, main: Branch) -> None:
    lines = [{"fact_text": "Tea is in the kitchen."}, {"fact_text": "Kaffee ☕ auch."}]
    assert run(actor, *lines, message="import of a.jsonl") == [(1, "new"), (2, "new")]
    assert run(actor, *lines) == [(1, "known"), (2, "known")]
    (commit,) = main.commits.all()
    told = (commit.kind, commit.message, commit.surface, commit.added, commit.changed)
    assert told == ("fact.import", "import of a.jsonl", "cli", 2, 0)
    assert AuditEntry.objects.get(action="fact.import").surface == "cli"
    assert {fact.source_type for fact in Fact.objects.on(Branch.objects.get(name="main"))} == {"import"}


def test_a_broken_line_is_told_by_number_and_the_rest_is_stored(actor: Actor) -> None:
    one = FactImport(actor=replace(actor, scopes=frozenset({"write"})))
    bad = [{"fact_text": "x", "confidence": 1.2}, ["no object"], {"fact_text": "x", "what": 1}, {"tags": []}]
    bad += [{"fact_text": "x", "status": "done"}, {"fact_text": "x", "created_at": "2999-01-01"}]
    bad += [{"fact_text": "x", "kind": "REFLECTION"}, {"fact_text": "x", "parent_id": ID.format(9)}]
    outcomes = one.apply_lines(list(enumerate([{"fact_text": "good"}, *bad], 1)))
    assert [(outcome.number, outcome.reason) for outcome in outcomes] == [
        (1, ""),
        (2, "invalid: confidence must be a number from 0 to 1."),
        (3, "invalid: A line must hold one JSON object."),
        (4, "unknown_field: There is no field named what."),
        (5, "invalid: fact_text is needed."),
        (6, "invalid: Only a fact of kind TASK can be done."),
        (7, "invalid: created_at is in the future."),
        (8, "reserved_value: kind may not be set to REFLECTION: it is reserved for Day1 itself."),
        (9, f"invalid: There is no fact {ID.format(9)} before this line or on this branch."),
    ]
    assert texts(actor) == ["good"]


def test_a_line_is_recognised_by_its_id_even_when_its_fact_was_edited_or_archived(actor: Actor) -> None:
    line = {"id": ID.format(1), "fact_text": "Old wording."}
    assert run(actor, line) == [(1, "new")]
    (fact,) = facts.list_facts(actor=actor).results
    assert (fact.source_id, fact.uid == UUID(ID.format(1))) == (ID.format(1), False)
    facts.update_fact(fact_id=fact.uid, updates={"fact_text": "New wording."}, actor=actor)
    assert run(actor, line) == [(1, "known")]
    facts.archive_fact(fact_id=fact.uid, actor=actor)
    assert run(actor, line) == [(1, "known")]
    assert texts(actor) == ["New wording."]


def test_an_export_keeps_equal_texts_of_two_repositories(actor: Actor, other_project: Project) -> None:
    for repository in ("github.com/acme/shop", "github.com/acme/till"):
        facts.write_fact(fact_text="Run the tests with tox.", repository=repository, actor=actor)
    there = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    assert run(there, *exported(actor)) == [(1, "new"), (2, "new")]
    assert run(there, *exported(actor)) == [(1, "known"), (2, "known")]
    found = facts.list_facts(actor=there).results
    assert {fact.repository for fact in found} == {"github.com/acme/shop", "github.com/acme/till"}
    anywhere = {"fact_text": "Run the tests with tox."}
    assert run(there, anywhere) == [(1, "known")]


def test_the_ids_of_an_export_are_known_where_it_came_from_also_through_a_third_store(
    actor: Actor, other_project: Project
) -> None:
    here = facts.write_fact(fact_text="From here.", actor=actor).fact
    facts.archive_fact(fact_id=here.uid, actor=actor)
    there = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    assert run(actor, *exported(actor)) == [(1, "known")]
    assert run(there, *exported(actor)) == [(1, "new")]
    assert run(actor, *exported(there)) == [(1, "known")]


def test_an_archived_line_without_id_is_recognised_by_its_text_and_never_taken_for_a_current_one(
    actor: Actor,
) -> None:
    lines = [{"fact_text": "Same."}, {"fact_text": "same.", "status": "archived"}]
    assert run(actor, *lines) == [(1, "new"), (2, "new")]
    assert run(actor, *lines) == [(1, "known"), (2, "known")]
    found = facts.list_facts(actor=actor).results
    assert sorted(fact.status for fact in found) == ["active", "archived"]


def status_of(actor: Actor, text: str) -> str:
    (fact,) = [fact for fact in facts.list_facts(actor=actor).results if fact.fact_text == text]
    return fact.status


def test_a_proposal_that_comes_as_active_is_activated(actor: Actor) -> None:
    maybe = facts.write_fact(fact_text="Maybe", actor=actor, propose=True, session_id="a").fact
    for line in (
        {"fact_text": "maybe", "status": "created"},
        {"id": str(maybe.uid), "fact_text": "Other words"},
        {"fact_text": "Maybe", "status": "archived"},
    ):
        run(actor, line)
        assert facts.get_fact(fact_id=maybe.uid, actor=actor).status == "created"
    line = {"fact_text": "maybe", "session_id": "b"}
    assert run(actor, line, {**line, "status": "created"}) == [(1, "known"), (2, "known")]
    fact = facts.get_fact(fact_id=maybe.uid, actor=actor)
    assert (fact.status, fact.version, fact.confirmation_count) == ("active", 2, 1)
    assert str(maybe.uid) in AuditEntry.objects.latest("pk").target
    commits = Commit.objects.count()
    assert run(actor, line) == [(1, "known")]
    assert Commit.objects.count() == commits


def test_a_proposal_and_the_same_text_as_active_in_one_file(actor: Actor) -> None:
    lines = [
        {"fact_text": "Tea", "status": "created"},
        {"fact_text": "tea"},
        {"fact_text": "x", "status": "created"},
    ]
    assert run(actor, *lines) == [(1, "new"), (2, "known"), (3, "new")]
    assert (status_of(actor, "Tea"), status_of(actor, "x")) == ("active", "created")


def test_what_was_invalidated_is_not_found_after_an_import(actor: Actor, other_project: Project) -> None:
    for text in ("It is the moon.", "It is the battery."):
        fact = facts.write_fact(fact_text=text, actor=actor).fact
        verdict = {"action": "invalidate", "reason": "No."} if "moon" in text else {"action": "verify"}
        ActionEngine().apply_action(fact_ids=[fact.uid], actor=actor, **verdict)
    facts.write_fact(fact_text="It is the moon.", actor=actor)  # somebody says it again
    there = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    lines = exported(actor)
    assert run(there, *lines) == [(1, "new"), (2, "new"), (3, "new")]
    assert run(there, *lines) == [(1, "known"), (2, "known"), (3, "known")]
    found = facts.list_facts(actor=there).results
    assert sorted((fact.fact_text, fact.verification_status) for fact in found) == [
        ("It is the battery.", "unverified"),
        ("It is the moon.", "invalidated"),
        ("It is the moon.", "unverified"),
    ]


def test_what_was_invalidated_is_archived_over_rest() -> None:
    line = {"fact_text": "It is the moon.", "verification_status": "invalidated"}
    assert [parse_rest_line(1, line | more).status for more in ({}, {"verification_status": "verified"})] == [
        "archived",
        "active",
    ]


def test_a_text_from_another_session_is_confirmed_once(actor: Actor) -> None:
    facts.write_fact(fact_text="Known.", actor=actor, session_id="a")
    line = {"fact_text": "known.", "session_id": "b"}
    assert run(actor, line) == run(actor, line) == [(1, "known")]
    assert Confirmation.objects.count() == 1


def test_links_and_parents_find_their_facts_whatever_the_order_and_the_batch(actor: Actor) -> None:
    one = FactImport(actor=actor)
    link = {"to_id": ID.format(2), "link_type": "DEPENDS_ON", "weight": 0.5}
    one.apply_lines(
        [
            (1, {"id": ID.format(1), "fact_text": "first", "links": [link], "parent_id": ID.format(3)}),
            (2, {"id": ID.format(3), "fact_text": "parent", "status": "superseded"}),
        ]
    )
    assert len(one.list_unresolved()) == 1
    one.apply_lines([(3, {"id": ID.format(2), "fact_text": "second"})])
    assert one.list_unresolved() == []
    by_text = {fact.fact_text: fact for fact in facts.list_facts(actor=actor).results}
    (stored,) = LinkEngine().list_links(fact_id=by_text["first"].uid, actor=actor).results
    assert (stored.from_id, stored.to_id) == (by_text["first"].uid, by_text["second"].uid)
    assert (stored.link_type, stored.weight) == ("DEPENDS_ON", 0.5)
    assert by_text["first"].parent_id == by_text["parent"].uid
    assert run(actor, {"id": ID.format(1), "fact_text": "first", "links": [link]}) == [(1, "known")]
    assert FactLink.objects.all_versions().count() == 1


def test_a_dry_run_counts_and_writes_nothing(actor: Actor, main: Branch) -> None:
    facts.write_fact(fact_text="Known.", actor=actor)
    lines = [{"fact_text": "known."}, {"fact_text": "new"}, {"fact_text": "New"}, {"fact_text": ""}]
    one = FactImport(actor=actor)
    assert [outcome.state for outcome in one.preview_lines(list(enumerate(lines, 1)))] == [
        "known",
        "new",
        "known",
        "broken",
    ]
    assert (texts(actor), main.commits.count()) == (["Known."], 1)


def test_an_import_into_a_missing_or_archived_branch_is_refused(actor: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    BranchManager().archive_branch(name="task/a", actor=actor)
    for name, error in (("task/a", BranchArchived), ("task/b", BranchNotFound)):
        for way in ("apply_lines", "preview_lines"):
            with pytest.raises(error):
                getattr(FactImport(actor=actor, branch_name=name), way)([(1, {"fact_text": "x"})])
    assert Commit.objects.count() == 0


# ---- export ----------------------------------------------------------------------------------------


def test_an_export_is_imported_exactly(actor: Actor, other_project: Project) -> None:
    there = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    old = facts.write_fact(
        fact_text="Alt ☕\nzweite Zeile",
        actor=actor,
        session_id="s",
        agent_id="a",
        task_id="t",
        source="book",
        tags=["ü", "b"],
        metadata={"deep": {"x": [1, None]}},
    ).fact
    facts.set_verification(fact_id=old.uid, verdict="verified", actor=actor)
    new = facts.supersede_fact(
        old_fact_id=old.uid, new_fact_text="Neu", actor=actor, pinned=True, priority="P1"
    )
    todo = facts.write_fact(
        fact_text="To do",
        actor=actor,
        kind="TASK",
        confidence=0.25,
        visibility="public",
        priority="P1",
        origin="SEEDED_LLM",
        essence="do",
        category="x",
        created_cycle=2,
        updated_cycle=3,
        valid_from="2026-01-01",
        valid_until="2027-01-01T00:00:00.000001+01:00",
        expires_at="2040-01-01",
    ).fact
    facts.update_fact(fact_id=todo.uid, updates={"status": "done"}, actor=actor)
    facts.archive_fact(fact_id=todo.uid, actor=actor)
    facts.write_fact(fact_text="Maybe", actor=actor, propose=True)
    LinkEngine().write_link(from_id=new.uid, to_id=todo.uid, link_type="BRIDGE", weight=0.5, actor=actor)
    before = exported(actor)
    assert run(there, *before) == [(1, "new"), (2, "new"), (3, "new"), (4, "new")]
    after = exported(there)
    assert [settled(line, before) for line in before] == [settled(line, after) for line in after]


@pytest.mark.parametrize("scope", ["write", "curate", "merge", "admin"])
def test_what_day1_itself_made_is_brought_back_by_a_maintainer_alone(
    actor: Actor, main: Branch, other_project: Project, scope: str
) -> None:
    made = {"fact_text": "All deploys failed on Fridays.", "essence": "Fridays", "kind": "REFLECTION"}
    with open_commit(actor, "main", "test") as commit:
        commit.add_rows([Fact(**made), Fact(fact_text="A dream", essence="A dream", origin="DREAMING")])
    there = Actor(other_project.pk, "local", scopes=frozenset({scope}))
    before = exported(actor)
    if scope == "admin":
        assert run(there, *before) == [(1, "new"), (2, "new")]
        after = exported(there)
        assert [settled(line, before) for line in before] == [settled(line, after) for line in after]
        assert run(there, *before) == [(1, "known"), (2, "known")]
        return
    outcomes = FactImport(actor=there).apply_lines(list(enumerate(before, 1)))
    assert [outcome.reason.split(":")[0] for outcome in outcomes] == ["reserved_value"] * 2
    assert texts(there) == []


def test_what_replaces_a_reflection_is_none(actor: Actor, main: Branch) -> None:
    with open_commit(actor, "main", "test") as commit:
        (old,) = commit.add_rows(
            [Fact(fact_text="Fridays.", essence="Fridays.", kind="REFLECTION", priority="P1")]
        )
    new = facts.supersede_fact(old_fact_id=old.uid, new_fact_text="Not Fridays.", actor=actor)
    assert (new.kind, new.priority, new.parent_id) == ("OBSERVATION", "P1", old.uid)
    assert facts.get_fact(fact_id=old.uid, actor=actor).status == "superseded"


def settled(line: dict[str, Any], among: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a line with ids replaced by texts, without fields of its store."""
    name = {one["id"]: one["fact_text"] for one in among}
    kept = {key: value for key, value in line.items() if key not in OTHER_STORE}
    kept["id"] = name[line["id"]]
    if "parent_id" in line:
        kept["parent_id"] = name[line["parent_id"]]
    kept["links"] = [{**link, "to_id": name[link["to_id"]]} for link in line.get("links", [])]
    return kept


def test_private_facts_stay_and_nothing_points_to_them(actor: Actor) -> None:
    secret = facts.write_fact(fact_text="secret", actor=actor, visibility="private").fact
    open_one = facts.supersede_fact(
        old_fact_id=secret.uid, new_fact_text="open", actor=actor, visibility="public"
    )
    LinkEngine().write_link(from_id=open_one.uid, to_id=secret.uid, link_type="ASSOCIATED", actor=actor)
    (line,) = exported(actor)
    assert (line["fact_text"], "parent_id" in line, "links" in line) == ("open", False, False)
    whole = exported(actor, include_private=True)
    assert [one["fact_text"] for one in whole] == ["secret", "open"]
    assert (whole[1]["parent_id"], whole[1]["links"][0]["to_id"]) == (str(secret.uid), str(secret.uid))


def test_an_export_shows_a_branch_as_it_was(actor: Actor) -> None:
    facts.write_fact(fact_text="one", actor=actor)
    BranchManager().create_branch(name="task/a", actor=actor)
    facts.write_fact(fact_text="two", actor=actor, branch_name="task/a")
    facts.write_fact(fact_text="three", actor=actor)
    assert [line["fact_text"] for line in exported(actor)] == ["one", "three"]
    assert [line["fact_text"] for line in exported(actor, at=1)] == ["one"]
    assert [line["fact_text"] for line in exported(actor, branch_name="task/a")] == ["one", "two"]


def test_both_ways_of_importing_normalise_alike() -> None:
    assert hashes.normalise_text("  ＡB\tß") == jsonl.normalise("  ＡB\tß") == "ab ss"


# ---- upkeep ----------------------------------------------------------------------------------------


def index_rows() -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute('SELECT rowid, text, tok FROM "memory_fact_fts" ORDER BY rowid')
        shown = cursor.fetchall()
        cursor.execute('SELECT rowid, text, tok FROM "memory_fact_fts_closed" ORDER BY rowid')
        return shown + cursor.fetchall()


@only_on_sqlite
def test_reindex_makes_exactly_the_rows_that_writing_makes(actor: Actor) -> None:
    kept = facts.write_fact(fact_text="kept 東京", actor=actor, category="c", session_id="s").fact
    held = facts.write_fact(fact_text="held", actor=actor).fact
    BranchManager().create_branch(name="task/a", actor=actor)
    facts.update_fact(fact_id=held.uid, updates={"fact_text": "changed"}, actor=actor)
    facts.update_fact(fact_id=held.uid, updates={"fact_text": "changed again"}, actor=actor)
    facts.delete_fact(fact_id=kept.uid, actor=actor)
    before = index_rows()
    # Pinned for the branch, changed again for main; and the three closed ones, for the past.
    assert len(before) == 3 + 3
    with connection.cursor() as cursor:
        cursor.execute('DELETE FROM "memory_fact_fts"')
        cursor.execute('DELETE FROM "memory_fact_fts_closed"')
        cursor.execute('INSERT INTO "memory_fact_fts" (rowid, text, tok) VALUES (7, %s, %s)', ["stray", ""])
    told: list[tuple[int, int]] = []
    assert MaintenanceEngine().rebuild_index(lambda done, total: told.append((done, total))) == 4
    assert index_rows() == before
    assert told[:2] == [(0, 5), (5, 5)]  # facts; then the kinds of text without rows
    assert set(told[2:]) == {(0, 0)}
    found = SearchEngine().search(query="held", actor=actor, branch_name="task/a")
    assert [hit.fact.fact_text for hit in found.hits] == ["held"]


@only_on_sqlite
def test_a_reindex_that_is_cut_short_leaves_the_old_index(actor: Actor) -> None:
    facts.write_fact(fact_text="a fact", actor=actor)
    before = index_rows()

    def fail(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MaintenanceEngine().rebuild_index(fail)
    assert index_rows() == before


@only_on_sqlite
def test_a_backup_is_one_checked_private_file_with_everything_acknowledged(
    actor: Actor, tmp_path: Path
) -> None:
    facts.write_fact(fact_text="kept", actor=actor)
    made = MaintenanceEngine().copy_store(tmp_path / "copy.sqlite3")
    assert [path.name for path in tmp_path.iterdir()] == ["copy.sqlite3"]
    content = made.path.read_bytes()
    assert (made.sha256, made.size) == (hashlib.sha256(content).hexdigest(), len(content))
    assert made.path.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(made.path) as copy:
        assert copy.execute("SELECT fact_text FROM memory_fact").fetchall() == [("kept",)]


@only_on_sqlite
def test_a_backup_replaces_nothing_unasked_and_never_the_store(actor: Actor, tmp_path: Path) -> None:
    place = tmp_path / "copy.sqlite3"
    place.write_text("mine")
    with pytest.raises(Exists, match="exists already; --force replaces it"):
        MaintenanceEngine().copy_store(place)
    assert place.read_text() == "mine"
    MaintenanceEngine().copy_store(place, force=True)
    assert place.read_bytes().startswith(b"SQLite format 3")
    for wrong in (Path(connection.settings_dict["NAME"]), tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(Conflict):
            MaintenanceEngine().copy_store(wrong, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["copy.sqlite3"]


@only_on_matrixone
def test_a_server_is_backed_up_by_carrying_its_store(actor: Actor, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match=f"migrate-store --to sqlite:///{tmp_path}/copy`"):
        MaintenanceEngine().copy_store(tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_created_at_is_kept(actor: Actor) -> None:
    run(actor, {"fact_text": "old", "created_at": "2020-05-01T10:00:00Z"}, {"fact_text": "young"})
    young, old = sorted(facts.list_facts(actor=actor).results, key=lambda fact: fact.created_at, reverse=True)
    assert old.created_at == datetime(2020, 5, 1, 10, tzinfo=UTC)
    assert young.created_at == young.updated_at


@pytest.mark.slow
def test_more_links_than_a_commit_takes_come_in_commits_of_their_own(actor: Actor, main: Branch) -> None:
    ids = [f"01970000-0000-7000-8000-{n:012}" for n in range(100)]
    lines = [
        {
            "id": own,
            "fact_text": own,
            "links": [{"to_id": other, "link_type": "ASSOCIATED"} for other in ids if other != own],
        }
        for own in ids
    ]
    assert {state for _, state in run(actor, *lines)} == {"new"}
    commits = Commit.objects.filter(branch=main).order_by("seq").values_list("kind", "added")
    assert list(commits) == [("fact.import", MAX_COMMIT_ROWS), ("fact.import", 5000)]
    assert FactLink.objects.on(find_branch(actor, "main")).count() == 100 * 99
    assert {state for _, state in run(actor, *lines)} == {"known"}
    assert Commit.objects.filter(branch=main).count() == 2
