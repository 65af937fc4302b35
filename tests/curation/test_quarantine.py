"""Quarantine: what a source wrote and what is derived is hidden everywhere, and comes back exactly."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.engines.cherry_pick import ConversationCherryPick
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.engine import ReplayEngine
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.quarantine.engine import QuarantineEngine
from curation.engines.scoring.engine import ScoringEngine
from curation.models import Quarantine
from memory.actors import Actor, local_actor
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.activity.events import EventEngine
from memory.engines.branches.commit_changes import CommitEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.import_export import FactImport, export_facts
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.items.engine import ItemEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import (
    BranchForbidden,
    Conflict,
    Exists,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
)
from memory.models import Branch, Fact, HiddenVersion, Project
from tests.memory.api.client import UNKNOWN, nothing_left

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("without_gates")]
FACTS, QUARANTINES, LINKS = FactEngine(), QuarantineEngine(), LinkEngine()


@pytest.fixture
def eve(actor: Actor) -> Actor:
    """Return the actor of the agent that is put into quarantine."""
    return actor.with_origin(agent_id="eve", session_id="eve-1")


@pytest.fixture
def ada(actor: Actor) -> Actor:
    return actor.with_origin(agent_id="ada", session_id="ada-1")


def say(who: Actor, text: str, branch: str = "main", **fields: Any) -> Fact:
    return FACTS.write_fact(fact_text=text, branch_name=branch, actor=who, **fields).fact


def notice(who: Actor, text: str) -> Any:
    return ObservationEngine().write_observation(observation_type="insight", summary=text, actor=who)


def hide(actor: Actor, source: str = "agent", target: str = "eve") -> Quarantine:
    return QUARANTINES.create_quarantine(source=source, target=target, actor=actor)


def shown(project: Project, branch: str = "main") -> set[str]:
    rows = Fact.objects.on(Branch.objects.get(project=project, name=branch))
    return {row.fact_text for row in rows.fetch_all()}


def dump() -> dict[str, list[tuple]]:
    """Return every row of every table but those of quarantines, buffers and the trail."""
    buffer.flush()  # when a session was last heard of is written a second later
    left_out = {"Quarantine", "HiddenVersion", "AuditEntry", "Node", "RecallLog", "FactUse", "QueueMessage"}
    left_out.add("ProjectUsage")  # counted a second later
    every = [
        m for app in ("memory", "conversations", "curation") for m in apps.get_app_config(app).get_models()
    ]
    kept = [model for model in every if model.__name__ not in left_out]
    return {m.__name__: sorted(m._base_manager.values_list(), key=repr) for m in kept}


# ---- what is hidden ------------------------------------------------------------------------------------


def test_an_agents_facts_are_gone_and_come_back(
    project: Project, actor: Actor, ada: Actor, eve: Actor
) -> None:
    say(ada, "Good."), say(eve, "Bad.")
    before = dump()
    quarantine = hide(actor)
    assert quarantine.counts == {"fact": 1, "session": 1}
    assert shown(project) == {"Good."}
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert shown(project) == {"Good.", "Bad."}
    assert dump() == before
    assert not HiddenVersion.objects.exists()


def test_every_reader_misses_it(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    bad = say(eve, "The portcullis opens at noon.")
    RelationEngine().write_relation(
        source_entity="gate", relation_type="opens", target_entity="noon", actor=eve
    )
    seen = ObservationEngine().write_observation(
        observation_type="insight", summary="A portcullis.", actor=eve
    )
    talk = ConversationEngine().create_conversation(actor=eve)
    said = [{"role": "user", "content": "What of the portcullis?"}]
    (message,) = MessageEngine().write_messages(conversation_id=talk.uid, messages=said, actor=eve)
    handoff = HandoffEngine().create_handoff(include_unverified=True, actor=actor)
    assert [one["id"] for one in handoff.facts] == [str(bad.uid)]
    hide(actor)
    on = {"actor": actor}
    assert SearchEngine().search(query="portcullis", **on).hits == []
    assert FACTS.list_facts(**on).results == []
    for read in (
        lambda: FACTS.get_fact(fact_id=bad.uid, **on),
        lambda: FACTS.update_fact(fact_id=bad.uid, updates={"priority": "P1"}, **on),
        lambda: FACTS.supersede_fact(old_fact_id=bad.uid, new_fact_text="x", **on),
        lambda: MessageEngine().get_message(message_id=message.uid, **on),
        lambda: ObservationEngine().get_observation(observation_id=seen.uid, **on),
        lambda: ConversationEngine().get_conversation(conversation_id=talk.uid, **on),
        lambda: SessionManager().get_session(session_id="eve-1", **on),
        lambda: SessionManager().get_session_context(session_id="eve-1", **on),
        lambda: HandoffEngine().get_handoff(handoff_id=handoff.pk, **on),
    ):
        with pytest.raises(NotFound):
            read()
    assert list(export_facts(**on)) == []
    assert RelationEngine().graph_query(entity="gate", **on).edges == []
    assert RelationEngine().list_relations(**on).results == []
    assert MessageEngine().search_messages(query="portcullis", **on).hits == []
    assert ObservationEngine().list_observations(**on).results == []
    assert HandoffEngine().list_handoffs(**on).results == []
    assert [one.key for one in SessionManager().get_recent_sessions(**on).results] == []
    main = Branch.objects.get(project=project, name="main")
    for commit in main.commits.all():
        for kind in ("fact", "message", "relation", "observation"):
            assert not CommitEngine().list_changes(commit_id=commit.pk, kind=kind, **on).results
    events, _ = EventEngine().read_events(project_id=project.pk, after=0)
    assert "portcullis" not in repr(events)


def test_what_is_derived_is_hidden_too(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    bad, good = say(eve, "Bad."), say(ada, "Good.")
    BranchManager().create_branch(name="task/a", actor=ada)
    FACTS.update_fact(fact_id=bad.uid, updates={"fact_text": "Bad, edited."}, branch_name="task/a", actor=ada)
    newer = FACTS.supersede_fact(old_fact_id=bad.uid, new_fact_text="Bad, replaced.", actor=ada)
    made = say(ada, "Bad, consolidated.")
    LINKS.write_link(from_id=made.uid, to_id=newer.uid, link_type="CONSOLIDATED_FROM", actor=ada)
    say(ada, "Good, on the branch.", "task/a")
    MergeEngine().merge_branch(source="task/a", target="main", strategy="theirs", actor=ada)
    lines = [{"fact_text": "Bad, imported.", "id": UNKNOWN}]
    source = FactImport(actor=actor, branch_name="task/a")
    source.apply_lines(list(enumerate(lines)))
    quarantine = hide(actor)
    assert shown(project) == {"Good.", "Good, on the branch."}
    assert shown(project, "task/a") == {"Good.", "Good, on the branch.", "Bad, imported."}
    assert quarantine.counts["fact"] == 3
    assert FACTS.get_fact(fact_id=good.uid, actor=actor).fact_text == "Good."


def test_what_comes_later_is_hidden_too(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    say(eve, "Bad.")
    quarantine = hide(actor)
    say(eve, "Bad too."), say(ada, "Good.")
    seen = notice(eve, "Bad.")
    assert shown(project) == {"Good."}
    assert FACTS.write_fact(fact_text="Bad too.", actor=ada).created  # an independent statement
    assert shown(project) == {"Good.", "Bad too."}
    fact = say(ada, "Learned.")
    BranchManager().create_branch(name="task/a", actor=ada)
    assert shown(project, "task/a") == {"Good.", "Bad too.", "Learned."}
    say(eve, "Bad on a new branch.", "task/a")
    assert "Bad on a new branch." not in shown(project, "task/a")
    with pytest.raises(NotFound):
        LINKS.write_link(
            from_id=fact.uid, to_id=seen.uid, to_type="observation", link_type="DERIVED_FROM", actor=ada
        )
    MergeEngine().merge_branch(source="task/a", target="main", strategy="theirs", actor=ada)
    assert shown(project) == {"Good.", "Bad too.", "Learned."}
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert shown(project) == {"Good.", "Bad too.", "Learned.", "Bad.", "Bad on a new branch."}


def test_a_source_hides_nothing_of_others(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    """What the source edited on its own branch is hidden there; main keeps what it had."""
    good, other = say(ada, "Good."), say(ada, "Other.")
    BranchManager().create_branch(name="task/eve", actor=eve)
    FACTS.update_fact(fact_id=good.uid, updates={"fact_text": "Bad."}, branch_name="task/eve", actor=eve)
    bad = say(eve, "Source.")
    LINKS.write_link(from_id=other.uid, to_id=bad.uid, link_type="DERIVED_FROM", actor=eve)
    hide(actor)
    assert shown(project) == {"Good.", "Other."}
    assert shown(project, "task/eve") == {"Other."}


def test_a_revert_of_the_source_is_not_hidden(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    good = say(ada, "Good.")
    FACTS.update_fact(fact_id=good.uid, updates={"fact_text": "Bad."}, actor=eve)
    commit = Branch.objects.get(project=project, name="main").commits.order_by("-seq")[0]
    RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
    hide(actor)
    assert shown(project) == {"Good."}


def test_a_copy_of_a_revert_is_not_hidden(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    BranchManager().create_branch(name="task/copy", actor=ada)
    say_and_take_back(project, actor, ada, eve)
    MergeEngine().merge_branch(source="main", target="task/copy", strategy="theirs", actor=actor)
    hide(actor)
    assert shown(project) == shown(project, "task/copy") == {"Good."}


def test_a_revert_of_that_revert_is_hidden(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    quarantine = hide(actor, "agent", say_and_take_back(project, actor, ada, eve))
    assert shown(project) == {"Good."}
    latest = revert_latest(project, actor)  # the text of the source is back
    assert shown(project) == set()
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert shown(project) == {"Bad."}
    hide(actor)
    assert shown(project) == set()
    RevertEngine().revert_commit(commit_id=latest, actor=actor)
    assert shown(project) == {"Good."}


@pytest.mark.parametrize("is_hidden_first", [False, True], ids=["later", "as it is written"])
def test_a_merge_that_is_undone_and_done_again_is_hidden(
    project: Project, actor: Actor, ada: Actor, eve: Actor, is_hidden_first: bool
) -> None:
    BranchManager().create_branch(name="task/copy", actor=ada)
    good = say(ada, "Good.")
    FACTS.update_fact(fact_id=good.uid, updates={"fact_text": "Bad."}, actor=eve)
    if is_hidden_first:
        hide(actor)
    merged = {"strategy": "theirs", "actor": actor}
    MergeEngine().merge_branch(source="main", target="task/copy", **merged)
    commits = Branch.objects.get(project=project, name="task/copy").commits.order_by("-seq")
    for _ in range(2):
        RevertEngine().revert_commit(commit_id=commits.all()[0].pk, actor=actor)
    if not is_hidden_first:
        assert shown(project, "task/copy") == {"Bad."}
        hide(actor)
    assert shown(project, "task/copy") == set()


def say_and_take_back(project: Project, actor: Actor, ada: Actor, eve: Actor) -> str:
    good = say(ada, "Good.")
    FACTS.update_fact(fact_id=good.uid, updates={"fact_text": "Bad."}, actor=eve)
    revert_latest(project, actor)
    return "eve"


def revert_latest(project: Project, actor: Actor) -> Any:
    """Revert the latest commit of main; return the id of the commit that does."""
    commits = Branch.objects.get(project=project, name="main").commits.order_by("-seq")
    RevertEngine().revert_commit(commit_id=commits[0].pk, actor=actor)
    return commits.all()[0].pk


@pytest.mark.parametrize("is_hidden_first", [False, True], ids=["later", "as it is written"])
def test_an_import_is_of_the_version_whose_words_it_has(
    project: Project, actor: Actor, ada: Actor, eve: Actor, is_hidden_first: bool
) -> None:
    """An import names the other memory, not its version, which may be on a branch of another line."""
    for name in ("task/clean", "task/copy"):
        BranchManager().create_branch(name=name, actor=ada)
    good = say(ada, "The gate opens at noon.")
    BranchManager().create_branch(name="task/eve", actor=ada)
    bad = {"fact_text": "The gate opens at midnight, said a stranger."}
    FACTS.update_fact(fact_id=good.uid, updates=bad, branch_name="task/eve", actor=eve)
    if is_hidden_first:
        hide(actor)
    for branch, text in (("task/clean", good.fact_text), ("task/copy", bad["fact_text"])):
        line = {"fact_text": f"{text} Imported.", "id": str(good.uid)}
        FactImport(actor=actor, branch_name=branch).apply_lines([(1, line)])
    if not is_hidden_first:
        hide(actor)
    assert shown(project, "task/clean") == {"The gate opens at noon. Imported."}
    assert shown(project, "task/copy") == set()


@pytest.mark.parametrize("is_hidden_first", [False, True], ids=["later", "as it is written"])
def test_a_copy_is_judged_where_its_source_was_named(
    project: Project, actor: Actor, ada: Actor, eve: Actor, is_hidden_first: bool
) -> None:
    """What a merge brings was made of what its own branch had, whatever the source did to that elsewhere."""
    say(eve, "Hello.")
    old, cause = say(ada, "The gate opens at noon."), say(ada, "The clock is right.")
    BranchManager().create_branch(name="task/ada", actor=ada)
    where = {"branch_name": "task/ada", "actor": ada}
    new = FACTS.supersede_fact(old_fact_id=old.uid, new_fact_text="The gate opens at one.", **where)
    made = say(ada, "So the gate is right.", "task/ada")
    LINKS.write_link(from_id=made.uid, to_id=cause.uid, link_type="DERIVED_FROM", **where)
    if is_hidden_first:
        hide(actor)
    for fact in (old, cause):
        FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": f"{fact.fact_text} No."}, actor=eve)
    picked = {"strategy": "cherry_pick", "ids": [new.uid, made.uid], "actor": actor}
    MergeEngine().merge_branch(source="task/ada", target="main", **picked)
    if not is_hidden_first:
        hide(actor)
    assert shown(project) == {"The gate opens at one.", "So the gate is right."}
    assert shown(project, "task/ada") >= {"The gate opens at one.", "So the gate is right."}


@pytest.mark.parametrize("is_hidden_first", [False, True], ids=["later", "as it is written"])
@pytest.mark.parametrize("bad", [{"fact_text": "Bad."}, {"priority": "P1"}], ids=["text", "priority"])
def test_a_merge_that_takes_the_other_side_whole_is_not_hidden(
    project: Project, actor: Actor, ada: Actor, eve: Actor, is_hidden_first: bool, bad: dict[str, Any]
) -> None:
    good, _ = say(ada, "Good."), say(eve, "Hello.", "main")
    BranchManager().create_branch(name="task/ada", actor=ada)
    clean = {"fact_text": "Better."} if "fact_text" in bad else {"priority": "P4"}
    FACTS.update_fact(fact_id=good.uid, updates=clean, branch_name="task/ada", actor=ada)
    if is_hidden_first:
        hide(actor)
    FACTS.update_fact(fact_id=good.uid, updates=bad, actor=eve)
    MergeEngine().merge_branch(source="task/ada", target="main", strategy="theirs", actor=actor)
    if not is_hidden_first:
        hide(actor)
    assert shown(project) == shown(project, "task/ada") == {clean.get("fact_text", "Good.")}


def test_a_merge_of_some_fields_of_the_source_is_hidden(
    project: Project, actor: Actor, ada: Actor, eve: Actor
) -> None:
    good = say(ada, "Good.")
    BranchManager().create_branch(name="task/ada", actor=ada)
    better = {"fact_text": "Better."}
    FACTS.update_fact(fact_id=good.uid, updates=better, branch_name="task/ada", actor=ada)
    FACTS.update_fact(fact_id=good.uid, updates={"tags": ["bad"]}, actor=eve)
    MergeEngine().merge_branch(source="task/ada", target="main", strategy="auto", actor=actor)
    row = FACTS.get_fact(fact_id=good.uid, actor=actor)
    assert (row.fact_text, row.tags) == ("Better.", ["bad"])
    hide(actor)
    assert (shown(project), shown(project, "task/ada")) == (set(), {"Better."})


def test_its_verdicts_count_no_more(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    good, poor = say(ada, "Good."), say(ada, "Poor.")
    FACTS.set_verification(fact_id=poor.uid, verdict="verified", actor=eve)
    FACTS.set_verification(fact_id=good.uid, verdict="invalidated", actor=eve)
    quarantine = hide(actor)
    found = {row.fact_text: row.verification_status for row in FACTS.list_facts(actor=actor).results}
    assert found == {"Good.": "unverified", "Poor.": "unverified"}
    FACTS.set_verification(fact_id=good.uid, verdict="verified", actor=ada)
    assert FACTS.get_fact(fact_id=good.uid, actor=actor).verification_status == "verified"
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert FACTS.get_fact(fact_id=poor.uid, actor=actor).verification_status == "verified"


def test_a_session_a_key_and_an_import(project: Project, actor: Actor, ada: Actor) -> None:
    key, _token = KeyEngine().create_key(label="leaked", scopes=["write"], actor=actor)
    say(get_actor(key, "rest"), "By the key.")
    say(ada, "In the session.")
    run = FactImport(actor=actor, message="old.jsonl")
    run.apply_lines([(1, {"fact_text": "Imported."})]), run.apply_lines([(2, {"fact_text": "Imported too."})])
    commit = Branch.objects.get(project=project, name="main").commits.filter(kind="fact.import")[0]
    every = {"By the key.", "In the session.", "Imported.", "Imported too."}
    for source, target, label, hidden in (
        ("key", str(key.pk), "leaked", {"By the key."}),
        ("session", "ada-1", "ada-1", {"In the session."}),
        ("import", str(commit.pk), "old.jsonl", {"Imported.", "Imported too."}),
    ):
        quarantine = hide(actor, source, target)
        assert quarantine.label == label
        assert shown(project) == every - hidden
        QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
        assert shown(project) == every


def test_two_quarantines_of_the_same_fact(project: Project, actor: Actor, eve: Actor) -> None:
    say(eve, "Bad.")
    first, second = hide(actor), hide(actor, "session", "eve-1")
    QUARANTINES.release_quarantine(quarantine_id=first.pk, actor=actor)
    assert shown(project) == set()
    QUARANTINES.release_quarantine(quarantine_id=second.pk, actor=actor)
    assert shown(project) == {"Bad."}
    assert not Branch.objects.filter(masked=True).exists()


def test_what_took_over_a_hidden_title_goes_with_it(
    project: Project, actor: Actor, ada: Actor, eve: Actor
) -> None:
    """Forks, replays and picks are called as what they were made of, where nobody names them."""
    talks = ConversationEngine()
    talk = talks.create_conversation(title="Of the portcullis", actor=eve)
    said = [{"role": "user", "content": "What of it?"}, {"role": "assistant", "content": "It is shut."}]
    first, _ = MessageEngine().write_messages(conversation_id=talk.uid, messages=said, actor=eve)
    where = {"conversation_id": talk.uid, "message_id": first.uid, "actor": ada}
    fork = talks.fork_conversation(**where)
    talks.fork_conversation(conversation_id=fork.uid, message_id=first.uid, actor=ada)
    named = talks.fork_conversation(**where, title="Ada's own")
    ReplayEngine().create_replay(**where)
    ConversationCherryPick().pick(conversation_id=talk.uid, message_ids=[first.uid], actor=ada)
    other = talks.create_conversation(title="Of the portcullis", actor=ada)
    MessageEngine().write_message(conversation_id=fork.uid, role="user", content="Ada asks.", actor=ada)
    before = dump()
    quarantine = hide(actor)
    assert {row.uid for row in talks.list_conversations(actor=actor).results} == {named.uid, other.uid}
    with pytest.raises(NotFound):
        talks.get_conversation(conversation_id=fork.uid, actor=actor)
    found = MessageEngine().search_messages(query="Ada asks portcullis", actor=actor).hits
    assert [hit.row.content for hit in found] == ["Ada asks."]
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert dump() == before


# ---- preview, refusals, cost ---------------------------------------------------------------------------


def test_a_preview_counts_and_leaves_nothing(project: Project, actor: Actor, eve: Actor) -> None:
    fact = say(eve, "Bad.")
    with nothing_left():
        found = QUARANTINES.preview_quarantine(source="agent", target="eve", actor=actor)
    assert found.quarantine.counts == {"fact": 1, "session": 1}
    assert [row.uid for row in found.examples] == [fact.uid]
    assert shown(project) == {"Bad."}


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("person", "eve", Invalid),
        ("agent", "", Invalid),
        ("agent", "x" * 201, Invalid),
        ("key", "eve", Invalid),
        ("key", UNKNOWN, NotFound),
        ("import", UNKNOWN, NotFound),
        ("import", "x", Invalid),
    ],
)
def test_what_cannot_be_put_into_quarantine(actor: Actor, source: str, target: str, error: type) -> None:
    for act in (QUARANTINES.preview_quarantine, QUARANTINES.create_quarantine):
        with nothing_left(), pytest.raises(error):
            act(source=source, target=target, actor=actor)


def test_a_reason_that_is_too_long_is_refused_before_the_preview(actor: Actor, eve: Actor) -> None:
    say(eve, "Bad.")
    for act in (QUARANTINES.preview_quarantine, QUARANTINES.create_quarantine):
        with nothing_left(), pytest.raises(Invalid, match="reason"):
            act(source="agent", target="eve", reason="x" * 501, actor=actor)


def test_what_is_refused(project: Project, other_project: Project, actor: Actor, eve: Actor) -> None:
    say(eve, "Bad.")
    commit = Branch.objects.get(project=project, name="main").commits.first()
    quarantine = hide(actor)
    writer = Actor(project.pk, "key", scopes=frozenset({"write"}))
    narrow = Actor(project.pk, "key", scopes=frozenset({"admin"}), branch_patterns=("task/*",))
    stranger = local_actor(other_project.pk)
    with nothing_left():
        with pytest.raises(Exists):
            hide(actor)
        with pytest.raises(Invalid):
            hide(actor, "import", str(commit and commit.pk))
        for who, error in ((writer, ScopeMissing), (narrow, BranchForbidden)):
            with pytest.raises(error):
                hide(who, target="ada")
            with pytest.raises(error):
                QUARANTINES.list_quarantines(actor=who)
            with pytest.raises(error):
                QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=who)
        with pytest.raises(NotFound):
            QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=stranger)
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    with nothing_left(), pytest.raises(IllegalTransition):
        QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)


def test_a_search_pays_nothing_where_nothing_is_hidden(project: Project, actor: Actor, ada: Actor) -> None:
    say(ada, "The gate opens at noon.")
    SearchEngine().search(query="gate", actor=actor)
    with CaptureQueriesContext(
        connection,
    ) as found:
        SearchEngine().search(query="gate", actor=actor)
    assert "hiddenversion" not in " ".join(one["sql"] for one in found)


def test_a_merge_request_shows_no_text_of_it(project: Project, actor: Actor, ada: Actor, eve: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=ada)
    say(eve, "Bad.", "task/a"), say(ada, "Good.", "task/a")
    hide(actor)
    request = MergeRequestEngine().create_request(source="task/a", actor=ada)
    view = MergeRequestEngine().check_request(request_id=request.pk, actor=ada).view
    assert view is not None
    texts = {item.theirs.fact_text for item in view.load(view.list_positions("fact"))}
    assert texts == {"Good.", "[in quarantine]"}


def test_a_bundle_that_holds_some_of_it_is_hidden(actor: Actor, ada: Actor, eve: Actor) -> None:
    say(eve, "Bad."), say(ada, "Good.", "main")
    bundles = KnowledgeBundleEngine()
    bad = bundles.create_bundle(name="bad", only_verified=False, actor=actor)
    quarantine = hide(actor)
    assert quarantine.counts["bundle"] == 1
    good = bundles.create_bundle(name="good", only_verified=False, actor=actor)
    assert "Bad." not in bundles.export_bundle(bundle_id=good.pk, actor=actor)
    assert [one.pk for one in bundles.list_bundles(actor=actor).results] == [good.pk]
    for read in (bundles.get_bundle, bundles.export_bundle):
        with pytest.raises(NotFound):
            read(bundle_id=bad.pk, actor=actor)
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert "Bad." in bundles.export_bundle(bundle_id=bad.pk, actor=actor)


# ---- confirmations -------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_hidden_first", [False, True], ids=["later", "as it is written"])
@pytest.mark.parametrize("source", ["agent", "session"])
def test_what_the_source_confirmed_counts_no_more(
    actor: Actor, ada: Actor, eve: Actor, source: str, is_hidden_first: bool
) -> None:
    say(eve, "Hello.")
    good = say(ada, "Good.")
    BranchManager().create_branch(name="task/a", actor=ada)
    target = {"agent": "eve", "session": "eve-1"}[source]
    if is_hidden_first:
        quarantine = hide(actor, source, target)
    for who in (actor.with_origin(session_id="bob-1"), eve):
        say(who, "Good.", "task/a")
    MergeEngine().merge_branch(source="task/a", target="main", strategy="theirs", actor=actor)
    if not is_hidden_first:
        assert list(count(actor, good)) == [2, 2]
        before = dump()["Confirmation"]
        quarantine = hide(actor, source, target)
        assert quarantine.counts["confirmation"] == 2
    assert list(count(actor, good)) == [1, 1]
    hits = SearchEngine().search_cross_branch(query="good", branch_names=["main"], actor=actor).hits
    assert [hit.fact.confirmation_count for hit in hits] == [1]
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert list(count(actor, good)) == [2, 2]
    assert is_hidden_first or dump()["Confirmation"] == before


@pytest.mark.parametrize("source", ["key", "agent"])
def test_what_a_key_rated_counts_no_more(project: Project, actor: Actor, ada: Actor, source: str) -> None:
    key, _secret = KeyEngine().create_key(label="leaked", scopes=["curate"], agent_id="eve", actor=actor)
    good, mallory = say(ada, "Good."), get_actor(key, "rest")
    rate(actor, good, 1.0)
    rate(mallory, good, 0.0)
    assert list_rated(actor, good) == (0.5, [0.0, 1.0])
    quarantine = hide(actor, source, {"key": str(key.pk), "agent": "eve"}[source])
    assert quarantine.counts == {"score": 1}
    rate(mallory, good, 0.2)
    assert list_rated(actor, good) == (1.0, [1.0])
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert list_rated(actor, good) == (0.6, [0.2, 0.0, 1.0])


def rate(who: Actor, fact: Fact, value: float) -> None:
    ScoringEngine().create_score(
        target_type="fact", target_id=fact.uid, dimension="tone", value=value, actor=who
    )


def list_rated(actor: Actor, fact: Fact) -> tuple[float, list[float]]:
    """Return a fact's average and its scores, newest first."""
    of: Any = {"target_type": "fact", "target_id": fact.uid, "actor": actor}
    (tone,) = ScoringEngine().summarize_scores(**of).dimensions
    return tone.average, [one.value for one in ScoringEngine().list_scores(**of).results]


def count(actor: Actor, fact: Fact) -> Any:
    for branch in ("main", "task/a"):
        yield FACTS.get_fact(fact_id=fact.uid, branch_name=branch, actor=actor).confirmation_count


def test_what_a_key_confirmed_counts_no_more(project: Project, actor: Actor, ada: Actor) -> None:
    key, _secret = KeyEngine().create_key(label="leaked", scopes=["write"], actor=actor)
    good = say(ada, "Good.")
    say(get_actor(key, "rest").with_origin(session_id="s"), "Good.")
    say(actor.with_origin(session_id="t"), "Good.")
    assert FACTS.get_fact(fact_id=good.uid, actor=actor).confirmation_count == 2
    hide(actor, "key", str(key.pk))
    assert FACTS.get_fact(fact_id=good.uid, actor=actor).confirmation_count == 1
    say(get_actor(key, "rest").with_origin(session_id="u"), "Good.")
    assert FACTS.get_fact(fact_id=good.uid, actor=actor).confirmation_count == 1


def test_the_later_batches_of_an_import_are_hidden_too(project: Project, actor: Actor) -> None:
    run = FactImport(actor=actor, message="old.jsonl")
    run.apply_lines([(1, {"fact_text": "Imported."})])
    commit = Branch.objects.get(project=project, name="main").commits.get(kind="fact.import")
    quarantine = hide(actor, "import", str(commit.pk))
    run.apply_lines([(2, {"fact_text": "Imported later."})])
    FactImport(actor=actor, message="other.jsonl").apply_lines([(1, {"fact_text": "Of another file."})])
    assert shown(project) == {"Of another file."}
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert shown(project) == {"Imported.", "Imported later.", "Of another file."}
    hide(actor, "import", str(commit.pk))
    assert shown(project) == {"Of another file."}


def test_an_import_that_begins_again_a_day_later_is_another(project: Project, actor: Actor) -> None:
    FactImport(actor=actor, message="old.jsonl").apply_lines([(1, {"fact_text": "Imported."})])
    commit = Branch.objects.get(project=project, name="main").commits.get(kind="fact.import")
    hide(actor, "import", str(commit.pk))
    with time_machine.travel(timezone.now() + timedelta(days=1), tick=True):
        FactImport(actor=actor, message="old.jsonl").apply_lines([(1, {"fact_text": "A day later."})])
    assert shown(project) == {"A day later."}


def test_nothing_is_put_where_an_item_is_in_quarantine(actor: Actor, ada: Actor, eve: Actor) -> None:
    items, place = ItemEngine(), {"namespace": "users/ada", "key": "theme"}
    items.put_item(**place, value="bad", actor=eve)
    quarantine = hide(actor)
    for act in (items.get_item, items.delete_item):
        with pytest.raises(NotFound):
            act(**place, actor=ada)
    with nothing_left(), pytest.raises(Conflict, match="What stands under theme is in quarantine"):
        items.put_item(**place, value="good", actor=ada)
    line = {"fact_text": "bad", "namespace": "users/ada", "key": "theme", "value": "bad"}
    (outcome,) = FactImport(actor=actor).apply_lines([(1, line)])
    assert outcome.state == "known"
    items.put_item(**{**place, "key": "name"}, value="Ada", actor=ada)
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert items.put_item(**place, value="good", actor=ada).fact.version == 2
