"""Versions that only archived branches show leave the index, and return with them."""

import pytest
from django.db import connection

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory import tasks
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.versions.pinned_versions import unpin
from memory.models import Branch, Vector

pytestmark = pytest.mark.django_db(transaction=True)
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="the server keeps its index itself")
FACTS, BRANCHES = FactEngine(), BranchManager()


@pytest.fixture
def old(actor):
    """Create a branch that still shows a fact that main has changed since."""
    fact = FACTS.write_fact(fact_text="The cache is Redis.", actor=actor).fact
    BRANCHES.create_branch(name="old", actor=actor)
    FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": "The cache is memory."}, actor=actor)
    return "old"


def indexed():
    with connection.cursor() as cursor:
        cursor.execute('SELECT count(*) FROM "memory_fact_fts"')
        return cursor.fetchone()[0]


def found(actor, branch, **how):
    search = SearchEngine().search(query="redis", actor=actor, branch_name=branch, **how)
    return [hit.fact.fact_text for hit in search.hits]


@on_sqlite
def test_it_leaves_with_its_last_reader_and_comes_back(old, actor):
    assert (indexed(), found(actor, old)) == (2, ["The cache is Redis."])
    tasks.sweep_branches()
    assert indexed() == 2
    BRANCHES.archive_branch(name=old, actor=actor)
    tasks.sweep_branches()
    assert indexed() == 1
    assert found(actor, old, include=["archived"]) == ["The cache is Redis."]
    BRANCHES.restore_branch(name=old, actor=actor)
    tasks.sweep_branches()
    assert (indexed(), found(actor, old)) == (2, ["The cache is Redis."])
    assert MaintenanceEngine().rebuild_index() == 2


@on_sqlite
def test_what_a_living_child_shows_stays(old, actor):
    BRANCHES.create_branch(name="child", parent=old, actor=actor)
    BRANCHES.archive_branch(name=old, actor=actor)
    tasks.sweep_branches()
    assert (indexed(), found(actor, "child")) == (2, ["The cache is Redis."])


def test_a_living_branch_is_never_released(old, actor):
    assert unpin(Branch.objects.get(name=old)) == 0
    assert Branch.objects.get(name=old).indexed


def test_texts_of_every_kind_are_wanted_when_the_embedder_is_turned_on(actor, project, settings, old):
    talk = ConversationEngine().create_conversation(actor=actor)
    for role in ("user", "tool_result"):
        MessageEngine().write_message(conversation_id=talk.uid, actor=actor, role=role, content=f"By {role}")
    assert not Vector.objects.exists()
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    EmbeddingEngine().want_missing(project.pk)
    texts = set(Vector.objects.values_list("text", flat=True))
    assert texts == {"The cache is Redis.", "The cache is memory.", "By user"}
