"""Frozen documents in quarantine, and the sources that it follows or does not know."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.quarantine.engine import QuarantineEngine
from curation.models import Quarantine
from memory.actors import Actor, local_actor
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.exceptions import Conflict, NotFound
from memory.models import Fact, Project, Relation
from tests.memory.api.client import nothing_left

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("without_gates", "main")]
BUNDLES, HANDOFFS, KEYS = KnowledgeBundleEngine(), HandoffEngine(), KeyEngine()
QUARANTINES = QuarantineEngine()


@pytest.fixture
def eve(actor: Actor) -> Actor:
    return actor.with_origin(agent_id="eve")


@pytest.fixture
def ada(actor: Actor) -> Actor:
    return actor.with_origin(agent_id="ada")


def say(who: Actor, text: str) -> Fact:
    return FactEngine().write_fact(fact_text=text, actor=who).fact


def change(who: Actor, fact: Fact, text: str) -> None:
    FactEngine().update_fact(fact_id=fact.uid, updates={"fact_text": text}, actor=who)


def hide(actor: Actor, target: Any = "eve", source: str = "agent") -> Quarantine:
    return QUARANTINES.create_quarantine(source=source, target=str(target), actor=actor)


def freeze(actor: Actor, name: str) -> tuple[UUID, UUID]:
    """Make a handoff and a bundle of main; return their ids."""
    handoff = HANDOFFS.create_handoff(include_unverified=True, actor=actor)
    return handoff.pk, BUNDLES.create_bundle(name=name, only_verified=False, actor=actor).pk


def list_documents(actor: Actor) -> tuple[set[UUID], set[UUID]]:
    handoffs = {one.pk for one in HANDOFFS.list_handoffs(actor=actor).results}
    return handoffs, {one.pk for one in BUNDLES.list_bundles(actor=actor).results}


def talk(who: Actor) -> Conversation:
    made = ConversationEngine().create_conversation(title="Of the gate", actor=who)
    said = [{"role": "user", "content": "What of the gate?"}]
    MessageEngine().write_messages(conversation_id=made.uid, messages=said, actor=who)
    return made


# ---- documents -------------------------------------------------------------------------------------


def test_a_document_of_the_text_before_stays(actor: Actor, ada: Actor, eve: Actor) -> None:
    fact = say(ada, "The gate opens at noon.")
    before = freeze(ada, "before")
    change(eve, fact, "The gate never opens.")
    after = freeze(ada, "after")
    quarantine = hide(actor)
    assert (quarantine.counts["handoff"], quarantine.counts["bundle"]) == (1, 1)
    assert list_documents(actor) == ({before[0]}, {before[1]})
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=actor)
    assert list_documents(actor) == ({before[0], after[0]}, {before[1], after[1]})


def test_a_quarantine_counts_its_own_documents(actor: Actor, ada: Actor, eve: Actor) -> None:
    say(eve, "Bad.")
    freeze(actor, "bad")
    hide(actor)
    say(ada, "Good.")
    found = QUARANTINES.preview_quarantine(source="agent", target="ada", actor=actor)
    assert found.quarantine.counts == {"fact": 1}


@pytest.mark.parametrize("kind", ["conversation", "relation", "fact"])
def test_a_bundle_brings_nothing_back(actor: Actor, eve: Actor, kind: str) -> None:
    {
        "conversation": talk,
        "relation": lambda who: RelationEngine().write_relation(
            source_entity="gate", relation_type="opens", target_entity="noon", actor=who
        ),
        "fact": lambda who: say(who, "Bad."),
    }[kind](eve)
    bundle = BUNDLES.create_bundle(name="bad", only_verified=False, actor=actor)
    document = BUNDLES.read_file(body=BUNDLES.export_bundle(bundle_id=bundle.pk, actor=actor).encode())
    hide(actor)
    with nothing_left():
        for act in (BUNDLES.import_bundle, BUNDLES.export_bundle, BUNDLES.get_bundle):
            with pytest.raises(NotFound):
                act(bundle_id=bundle.pk, actor=actor)
        for options in ({}, {"imports": True}, {"name": "other", "imports": True}, {"dry_run": True}):
            with pytest.raises(Conflict, match="in quarantine"):
                BUNDLES.upload_bundle(document=document, actor=actor, **options)


def test_what_an_import_brought_comes_no_second_time(
    actor: Actor, other_project: Project, eve: Actor
) -> None:
    say(eve, "Bad."), talk(eve)
    RelationEngine().write_relation(
        source_entity="gate", relation_type="opens", target_entity="noon", actor=eve
    )
    made = BUNDLES.create_bundle(name="bad", only_verified=False, actor=actor)
    document = BUNDLES.read_file(body=made.bundle_data.encode())
    other = local_actor(other_project.pk)
    bundle, report, _ = BUNDLES.upload_bundle(document=document, imports=True, actor=other)
    assert bundle
    assert report
    assert report.commit
    quarantine = hide(other, report.commit.pk, "import")
    assert quarantine.counts["bundle"] == 1
    with nothing_left():
        with pytest.raises(NotFound):
            BUNDLES.import_bundle(bundle_id=bundle.pk, branch_name="main", actor=other)
        with pytest.raises(Conflict):
            BUNDLES.upload_bundle(document=document, imports=True, actor=other)
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=other)
    again = BUNDLES.import_bundle(bundle_id=bundle.pk, actor=other)
    assert (again.new_count, Relation._base_manager.filter(branch__project=other_project).count()) == (0, 1)


# ---- sources ---------------------------------------------------------------------------------------


def test_a_rotated_key_is_the_same_source(project: Project, actor: Actor) -> None:
    first, _ = KEYS.create_key(label="bot", scopes=["admin"], actor=actor)
    say(get_actor(first, "rest"), "First.")
    second, _ = KEYS.rotate_key(key_id=first.pk, actor=actor)
    say(get_actor(second, "rest"), "Second.")
    quarantine = hide(actor, first.pk, "key")
    assert quarantine.counts["fact"] == 2
    third, _ = KEYS.rotate_key(key_id=second.pk, actor=actor)
    say(get_actor(third, "rest"), "Third.")
    assert FactEngine().list_facts(actor=actor).results == []


def test_a_key_in_grace_is_the_same_source(actor: Actor) -> None:
    first, _ = KEYS.create_key(label="bot", scopes=["admin"], actor=actor)
    say(get_actor(first, "rest"), "First.")
    second, _ = KEYS.rotate_key(key_id=first.pk, grace_seconds=60, actor=actor)
    found = QUARANTINES.preview_quarantine(source="key", target=str(second.pk), actor=actor)
    assert found.quarantine.counts == {"fact": 1}
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        found = QUARANTINES.preview_quarantine(source="key", target=str(second.pk), actor=actor)
    assert found.quarantine.counts == {}


@pytest.mark.parametrize("source", ["session", "agent"])
def test_a_source_that_nobody_knows_is_not_found(actor: Actor, eve: Actor, source: str) -> None:
    say(eve, "Bad.")
    for act in (QUARANTINES.preview_quarantine, QUARANTINES.create_quarantine):
        with nothing_left(), pytest.raises(NotFound):
            act(source=source, target="nope", actor=actor)


def test_an_agent_with_a_key_is_known(actor: Actor) -> None:
    KEYS.create_key(label="bot", scopes=["write"], agent_id="bot", actor=actor)
    assert hide(actor, "bot").counts == {}


def test_an_upload_that_the_source_imports_is_hidden(
    actor: Actor, other_project: Project, eve: Actor
) -> None:
    say(eve, "Bad.")
    made = BUNDLES.create_bundle(name="bad", only_verified=False, actor=actor)
    document = BUNDLES.read_file(body=made.bundle_data.encode())
    other = local_actor(other_project.pk)
    mallory = other.with_origin(agent_id="mallory")
    say(mallory, "Also bad.")
    quarantine = hide(other, "mallory")
    BUNDLES.upload_bundle(document=document, imports=True, actor=mallory)
    assert list_documents(other) == (set(), set())
    QUARANTINES.release_quarantine(quarantine_id=quarantine.pk, actor=other)
    assert len(list_documents(other)[1]) == 1
