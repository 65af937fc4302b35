"""Events: in order, without gaps and without duplicates."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.activity.events import Event, EventEngine
from memory.engines.audit.trail import seal_entries
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.exceptions import BranchForbidden, BranchNotFound, Invalid, ScopeMissing
from memory.models import Project

event_engine, fact_engine = EventEngine(), FactEngine()


def write(actor: Actor, text: str, branch: str = "main", **fields: Any) -> Any:
    return fact_engine.write_fact(fact_text=text, actor=actor, branch_name=branch, **fields).fact


def everything(actor: Actor, after: int = 0, **wish: Any) -> list[Event]:
    """Return all events after a position that the actor may see."""
    watch, found = event_engine.open_watch(actor=actor, after=after, **wish), []
    while True:
        events, position = event_engine.read_events(project_id=actor.project_id, after=after)
        found += [event for event in events if watch.matches_event(event)]
        if position == after:
            return found
        after = position


def told(events: list[Event]) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    changes = [[(one.type, one.change, one.line) for one in event.changes] for event in events]
    return [(event.kind, event.branch, some) for event, some in zip(events, changes, strict=True)]


def test_what_happens_is_told_memory_by_memory(actor: Actor) -> None:
    old = write(actor, "Tokens live 15 minutes.", agent_id="bee")
    new = fact_engine.supersede_fact(old_fact_id=old.uid, new_fact_text="Tokens live an hour.", actor=actor)
    fact_engine.set_verification(fact_id=new.uid, verdict="verified", reason="Read.", actor=actor)
    other = write(actor, "Tea.")
    LinkEngine().write_link(from_id=new.uid, to_id=other.uid, link_type="ASSOCIATED", actor=actor)
    fact_engine.delete_fact(fact_id=other.uid, actor=actor)
    RelationEngine().write_relation(
        source_entity="API", relation_type="uses", target_entity="Redis", actor=actor
    )
    found = everything(actor)
    assert told(found) == [
        ("fact.write", "main", [("fact", "added", "Tokens live 15 minutes.")]),
        (
            "fact.supersede",
            "main",
            [("fact", "changed", "Tokens live 15 minutes."), ("fact", "added", "Tokens live an hour.")],
        ),
        ("fact.verify", "main", [("verdict", "added", "verified")]),
        ("fact.write", "main", [("fact", "added", "Tea.")]),
        ("link.write", "main", [("link", "added", "")]),
        ("fact.delete", "main", [("fact", "removed", "")]),
        ("relation.write", "main", [("relation", "added", "API uses Redis")]),
    ]
    assert [event.position for event in found] == sorted({event.position for event in found})
    first = found[0]
    assert first.commit is not None
    assert (first.commit.seq, first.commit.agent_id, first.changes[0].uid) == (1, "bee", old.uid)
    assert found[2].changes[0].uid == new.uid


def test_branches_are_made_archived_and_taken_back(actor: Actor) -> None:
    manager = BranchManager()
    manager.create_branch(name="task/tea", actor=actor)
    write(actor, "Tea.", "task/tea")
    manager.archive_branch(name="task/tea", actor=actor)
    manager.restore_branch(name="task/tea", actor=actor)
    kinds = ["branch.create", "fact.write", "branch.archive", "branch.restore"]
    assert [(event.kind, event.branch) for event in everything(actor)] == [
        (kind, "task/tea") for kind in kinds
    ]
    assert [event.commit is None for event in everything(actor)] == [True, False, True, True]


def test_a_large_commit_is_told_by_its_counts(actor: Actor) -> None:
    fact_engine.write_facts(facts=[{"fact_text": f"Fact {n}."} for n in range(20)], actor=actor)
    fact_engine.write_facts(facts=[{"fact_text": f"More {n}."} for n in range(21)], actor=actor)
    small, large = everything(actor)
    assert [one.line for one in small.changes] == [f"Fact {n}." for n in range(20)]
    assert large.commit is not None
    assert (large.commit.added, large.changes) == (21, [])


def test_a_follower_goes_on_where_it_was(actor: Actor) -> None:
    write(actor, "One.")
    [first] = everything(actor)
    write(actor, "Two.")
    seal_entries(Project.objects.get(pk=actor.project_id))
    write(actor, "Three.")
    assert [one.changes[0].line for one in everything(actor, first.position)] == ["Two.", "Three."]
    assert event_engine.open_watch(actor=actor).after == everything(actor)[-1].position
    assert everything(actor, everything(actor)[-1].position) == []


def test_a_long_way_back_is_read_in_pieces(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.engines.activity.events.BATCH_SIZE", 3)
    for n in range(10):
        write(actor, f"Fact {n}.")
    assert [one.changes[0].line for one in everything(actor)] == [f"Fact {n}." for n in range(10)]


def test_what_is_recorded_in_the_past_is_told_when_it_comes(actor: Actor) -> None:
    write(actor, "Now.")
    position = event_engine.latest_position(project_id=actor.project_id)
    BranchManager().create_branch(name="old", actor=actor)
    past = actor.acting_at(timezone.now() - timedelta(days=300))
    write(past, "Long ago.", "old")
    assert [event.kind for event in everything(actor, position)] == ["branch.create", "fact.write"]


def test_other_acts_are_no_events(actor: Actor) -> None:
    write(actor, "Tea.")
    SnapshotManager().create_snapshot(name="a", actor=actor)
    KeyEngine().create_key(label="k", scopes=["read"], actor=actor)
    assert [event.kind for event in everything(actor)] == ["fact.write"]


def test_branches_and_kinds_narrow_what_is_followed(actor: Actor) -> None:
    for name in ("task/a", "task/b", "other"):
        BranchManager().create_branch(name=name, actor=actor)
        write(actor, f"On {name}.", name)
    assert [one.branch for one in everything(actor, branches=["task/*"], kinds=["fact.*"])] == [
        "task/a",
        "task/b",
    ]
    assert [one.kind for one in everything(actor, branches=["other"])] == ["branch.create", "fact.write"]
    assert everything(actor, kinds=["nothing"]) == []


def test_a_key_with_patterns_sees_only_its_branches(actor: Actor) -> None:
    for name in ("task/a", "secret"):
        BranchManager().create_branch(name=name, actor=actor)
        write(actor, f"On {name}.", name)
    bound = Actor(actor.project_id, "key", scopes=frozenset({"read"}), branch_patterns=("task/*",))
    assert {one.branch for one in everything(bound)} == {"task/a"}
    assert {one.branch for one in everything(bound, branches=["*"])} == {"task/a"}
    with pytest.raises(BranchForbidden):
        event_engine.open_watch(actor=bound, branches=["secret"])


def test_another_project_is_another_order(actor: Actor, other_project: Project) -> None:
    stranger = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    write(actor, "Ours.")
    BranchManager().create_branch(name="theirs", actor=stranger)
    write(stranger, "Theirs.", "theirs")
    assert [one.changes[0].line for one in everything(actor)] == ["Ours."]
    assert [one.kind for one in everything(stranger)] == ["branch.create", "fact.write"]
    with pytest.raises(BranchNotFound):
        event_engine.open_watch(actor=actor, branches=["theirs"])


def test_what_is_asked_wrongly_is_refused(actor: Actor) -> None:
    with pytest.raises(Invalid, match="no event 1 yet: the newest is 0"):
        event_engine.open_watch(actor=actor, after=1)
    with pytest.raises(BranchNotFound):
        event_engine.open_watch(actor=actor, branches=["nowhere"])
    with pytest.raises(ScopeMissing):
        event_engine.open_watch(actor=Actor(actor.project_id, "key"))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_rival_writers_and_rival_readers_agree_on_one_order(actor: Actor) -> None:
    """Run four writers on three branches and two followers: both see the same events, once."""
    for name in ("a", "b"):
        BranchManager().create_branch(name=name, actor=actor)
    position, done = event_engine.latest_position(project_id=actor.project_id), threading.Event()
    seen: list[list[Event]] = [[], []]
    writers = [threading.Thread(target=say, args=(actor, name)) for name in ("main", "a", "b", "main")]
    readers = [threading.Thread(target=follow, args=(actor, position, done, mine)) for mine in seen]
    for thread in [*writers, *readers]:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert seen[0] == seen[1]
    for name, many in (("main", 30), ("a", 15), ("b", 15)):
        found = [one.commit.seq for one in seen[0] if one.commit and one.branch == name]
        assert found == list(range(1, many + 1))


def say(actor: Actor, branch: str) -> None:
    for n in range(15):
        write(actor, f"{threading.get_ident()}: {n}.", branch)
    connection.close()


def follow(actor: Actor, position: int, done: threading.Event, seen: list[Event]) -> None:
    """Read on until nothing is left after the writers have ended."""
    more = True
    while more:
        ended = done.is_set()
        events, reached = event_engine.read_events(project_id=actor.project_id, after=position)
        seen += events
        more, position = reached > position or not ended, reached
    connection.close()
