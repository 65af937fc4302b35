"""The titles of commits: one for every surface, from what changed or from what somebody wrote."""

import re
from typing import Any

import pytest
from django.utils import translation

from conversations.capture.engine import IngestEngine
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.actors import Actor
from memory.engines.branches.commit_changes import CommitEngine
from memory.engines.branches.commit_titles import count_kinds, load_titles
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.models import Branch, Commit, Fact, Project
from tests.memory.api.client import Api, api_for, refused
from tests.memory.test_topology import make, merge

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, COMMITS = FactEngine(), CommitEngine()


def titles(actor: Actor, branch: str = "main") -> list[str]:
    """Return the titles of a branch's commits, the newest first."""
    return [commit.title for commit in BranchManager().list_commits(name=branch, actor=actor, limit=100)]


def write(actor: Actor, text: str, **more: Any) -> Fact:
    return FACTS.write_fact(fact_text=text, actor=actor, **more).fact


def test_a_title_says_what_changed(actor: Actor) -> None:
    facts = FACTS.write_facts(facts=[{"fact_text": f"fact {n}"} for n in range(3)], actor=actor)
    one, two = (row.fact.uid for row in facts.results[:2])
    FACTS.update_fact(fact_id=one, updates={"confidence": 0.9}, actor=actor)
    FACTS.set_verification(fact_id=one, verdict="verified", actor=actor)
    FACTS.set_verification(fact_id=two, verdict="invalidated", actor=actor)
    write(actor, "fact 0", session_id="another")
    FACTS.supersede_fact(old_fact_id=one, new_fact_text="fact one", actor=actor)
    FACTS.archive_fact(fact_id=two, actor=actor)
    FACTS.restore_fact(fact_id=two, actor=actor)
    FACTS.delete_fact(fact_id=two, actor=actor)
    assert titles(actor) == [
        "Deleted 1 fact",
        "Restored 1 fact",
        "Archived 1 fact",
        "Added 1 fact, replaced 1 fact",
        "Confirmed 1 fact",
        "Invalidated 1 fact",
        "Verified 1 fact",
        "Changed 1 fact",
        "Added 3 facts",
    ]


def test_every_kind_of_memory_has_its_words(actor: Actor) -> None:
    one, two = write(actor, "one"), write(actor, "two")
    link = LinkEngine().write_link(from_id=one.uid, to_id=two.uid, link_type="ASSOCIATED", actor=actor)
    LinkEngine().delete_link(from_id=one.uid, link_id=link.uid, actor=actor)
    names = {"source_entity": "api", "relation_type": "uses", "target_entity": "redis"}
    relation = RelationEngine().write_relation(**names, actor=actor).relation
    RelationEngine().close_relation(relation_id=relation.uid, actor=actor)
    ObservationEngine().write_observation(summary="seen", actor=actor)
    talk = ConversationEngine().create_conversation(actor=actor)
    rows = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    MessageEngine().write_messages(conversation_id=talk.uid, messages=rows, actor=actor)
    ConversationEngine().close_conversation(conversation_id=talk.uid, actor=actor)
    assert titles(actor)[:-2] == [
        "Ended 1 conversation",
        "Added 2 messages",
        "Began 1 conversation",
        "Recorded 1 observation",
        "Ended 1 relation",
        "Added 1 relation",
        "Removed 1 link",
        "Added 1 link",
    ]


def test_what_somebody_wrote_comes_first(actor: Actor) -> None:
    one = write(actor, "one")
    action = {"action": "verify", "fact_ids": [one.uid], "reason": "Read in the code.\nSee auth.py."}
    ActionEngine().apply_action(**action, actor=actor)
    assert titles(actor)[0] == "Read in the code."
    Commit.objects.filter(seq=2).update(message="x" * 500)
    assert titles(actor)[0] == "x" * 119 + "…"


def test_reverts_restores_and_merges_name_what_they_took(actor: Actor) -> None:
    snapshot = SnapshotManager().create_snapshot(name="monday", actor=actor)
    write(actor, "one")
    RevertEngine().revert_commit(commit_id=Commit.objects.get(seq=1).pk, actor=actor)
    write(actor, "two")
    SnapshotManager().restore_snapshot(snapshot_id=snapshot.pk, actor=actor, dry_run=False)
    make(actor, "task/x")
    for n in range(12):
        write(actor, f"fact {n}", branch_name="task/x")
    merge(actor, "task/x", "main")
    assert titles(actor) == [
        "Merged task/x: 12 facts",
        "Restored the snapshot monday",
        "Added 1 fact",
        "Undid commit 1",
        "Added 1 fact",
    ]


def test_a_long_title_ends_and_says_so(actor: Actor) -> None:
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s",
        "prompt": "Tokens live an hour.",
        "cwd": "/x",
    }
    IngestEngine().ingest(events=[event], actor=actor, client="claude-code")
    (title,) = set(titles(actor))
    assert title == "Added 1 message, began 1 conversation"


def test_a_page_of_any_length_takes_as_many_queries(actor: Actor, django_assert_num_queries: Any) -> None:
    for n in range(6):
        write(actor, f"fact {n}")
    commits = list(Commit.objects.order_by("seq"))
    with django_assert_num_queries(10):
        load_titles(commits[:2])
    with django_assert_num_queries(10):
        load_titles(commits)


def test_a_commit_that_only_added_is_counted_in_an_index(
    actor: Actor, django_assert_num_queries: Any
) -> None:
    FACTS.write_facts(facts=[{"fact_text": f"fact {n}"} for n in range(3)], actor=actor)
    commits = list(Commit.objects.all())
    with django_assert_num_queries(10) as asked:
        load_titles(commits)
    (counted,) = [one["sql"] for one in asked if re.search(r"FROM .memory_fact.\s", one["sql"])]
    assert "version" not in counted
    assert "deleted" not in counted


def test_a_large_commit_of_one_kind_states_how_many_it_added(
    actor: Actor, django_assert_num_queries: Any
) -> None:
    FACTS.write_facts(facts=[{"fact_text": f"fact {n}"} for n in range(120)], actor=actor)
    uids = [fact.uid for fact in Fact.objects.on(Branch.objects.get(name="main")).fetch_all()]
    ActionEngine().apply_action(action="verify", fact_ids=uids, actor=actor)
    commits = list(Commit.objects.order_by("seq"))
    with django_assert_num_queries(5) as asked:
        load_titles(commits[:1])
    assert not [one for one in asked if re.search(r"COUNT.*FROM .memory_fact.\s", one["sql"])]
    load_titles(commits)
    assert [one.title for one in commits] == ["Added 120 facts", "Verified 120 facts"]


def test_a_large_commit_of_several_kinds_is_counted(actor: Actor) -> None:
    make(actor, "task/x")
    FACTS.write_facts(
        facts=[{"fact_text": f"fact {n}"} for n in range(110)], branch_name="task/x", actor=actor
    )
    names = {"source_entity": "api", "relation_type": "uses", "target_entity": "redis"}
    RelationEngine().write_relation(**names, branch_name="task/x", actor=actor)
    MergeEngine().merge_branch(source="task/x", actor=actor, force=True)
    assert titles(actor) == ["Merged task/x: 110 facts, 1 relation"]


def test_a_memory_that_was_removed_before_is_added_again(actor: Actor) -> None:
    one, two = write(actor, "one"), write(actor, "two")
    ends = {"from_id": one.uid, "to_id": two.uid, "link_type": "ASSOCIATED", "actor": actor}
    LinkEngine().delete_link(from_id=one.uid, link_id=LinkEngine().write_link(**ends).uid, actor=actor)
    LinkEngine().write_link(**ends)
    assert titles(actor)[:3] == ["Added 1 link", "Removed 1 link", "Added 1 link"]
    newest = Commit.objects.order_by("-seq")[0]
    changes = COMMITS.list_changes(commit_id=newest.pk, kind="link", actor=actor)
    assert [one.change for one in changes.results] == ["added"]


def test_pages_read_them_in_the_language_of_the_reader(actor: Actor) -> None:
    write(actor, "one")
    with translation.override("zh-hans"):
        assert titles(actor) == ["新增 1 条事实"]


def test_rest_has_the_title_in_the_log_and_the_counts_of_a_commit(project: Project, actor: Actor) -> None:
    api: Api = api_for(project)
    api.fact("one", session_id="s1")
    assert api.post("/facts", {"fact_text": "one", "session_id": "s2"}).status_code == 200
    log = api.get("/branches/main/log").json()["results"]
    assert [row["title"] for row in log] == ["Confirmed 1 fact", "Added 1 fact"]
    row = api.get(f"/commits/{log[0]['id']}", Accept_Language="zh-hans").json()
    assert (row["title"], row["branch"], row["counts"]) == ("Confirmed 1 fact", "main", {"confirmation": 1})
    assert (row["seq"], row["added"]) == (2, 0)
    refused(
        api_for(project, branch_patterns=["task/*"]).get(f"/commits/{row['id']}"), 403, "branch_forbidden"
    )


def test_the_tally_counts_what_the_page_lists(actor: Actor) -> None:
    test_every_kind_of_memory_has_its_words(actor)
    for commit in load_titles(list(Commit.objects.select_related("branch"))):
        kinds = count_kinds(commit.tally)
        assert kinds
        for kind, count in kinds.items():
            rows = COMMITS.list_changes(commit_id=commit.pk, actor=actor, kind=kind, limit=100)
            assert len(rows) == count, (commit.seq, kind)
        versions = sum(kinds.values()) - kinds.get("confirmation", 0) - kinds.get("answer", 0)
        assert versions == commit.added + commit.changed + commit.removed
