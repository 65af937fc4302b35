"""Search over messages: by words and meaning, with the neighbours of a hit."""

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine, MessageFilter
from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine

pytestmark = pytest.mark.django_db(transaction=True)
MESSAGES = MessageEngine()
STORY = [
    ("user", "Which database did we choose for the ledger?"),
    ("tool_result", "grep: nothing"),
    ("assistant", "The one with the elephant."),
    ("user", "Good. The frontend is built with Vite."),
]


@pytest.fixture
def told(actor):
    talk = ConversationEngine().create_conversation(actor=actor, session_id="s1")
    said = [{"role": role, "content": text} for role, text in STORY]
    return MESSAGES.write_messages(conversation_id=talk.uid, messages=said, actor=actor)


def found(actor, query, **how):
    return [hit.row.content for hit in MESSAGES.search_messages(query=query, actor=actor, **how).hits]


def test_an_answer_is_found_with_its_question(told, actor):
    hits = MESSAGES.search_messages(query="database of the ledger", actor=actor).hits
    assert [hit.row.content for hit in hits] == [STORY[0][1], STORY[2][1]]
    assert hits[1].score == hits[1].signals["reply"] <= hits[0].score
    assert [row.content for row in hits[0].around] == [STORY[2][1]]
    assert [row.content for row in hits[1].around] == [STORY[0][1], STORY[3][1]]


def test_what_stands_around_a_message_lends_its_words(actor, settings):
    settings.DAY1 = {"embedder": "minilm"}
    for name, story in (("s1", STORY), ("s2", [("assistant", "It has an elephant, as I say.")])):
        talk = ConversationEngine().create_conversation(actor=actor, session_id=name)
        said = [{"role": role, "content": text} for role, text in story]
        MESSAGES.write_messages(conversation_id=talk.uid, messages=said, actor=actor)
    EmbeddingEngine().embed_pending(actor.project_id)
    hits = MESSAGES.search_messages(query="Which database has an elephant?", actor=actor).hits
    windows = {hit.row.content: hit.signals["window"] for hit in hits}
    words = {hit.row.content: hit.signals["words"] for hit in hits}
    near, lone = STORY[2][1], "It has an elephant, as I say."
    assert words[near] < words[lone]
    assert windows[near] > windows[lone] + 0.05  # "elephant" is its own, "database" of two messages before


def test_messages_of_one_side_in_a_row_are_one_step_of_what_stands_around(actor, settings):
    settings.DAY1 = {"embedder": "minilm"}
    many = [*(f"Anything else, part {number}?" for number in range(4)), "It has an elephant, as I say."]
    for name, roles in (("row", ["user"] * 5), ("turns", ["user", "assistant"] * 2 + ["user"])):
        talk = ConversationEngine().create_conversation(actor=actor, session_id=name)
        story = [("assistant", "Our database is Postgres."), *zip(roles, many, strict=True)]
        said = [{"role": role, "content": text} for role, text in story]
        MESSAGES.write_messages(conversation_id=talk.uid, messages=said, actor=actor)
    EmbeddingEngine().embed_pending(actor.project_id)
    hits = MESSAGES.search_messages(query="Which database has an elephant?", actor=actor, limit=20).hits
    windows = {hit.row.session_id: hit.signals["window"] for hit in hits if hit.row.content == many[-1]}
    assert windows["row"] > windows["turns"] + 0.05  # "database" stands five messages before


def test_neighbours_that_a_filter_leaves_out_are_no_hits(told, actor):
    filters = MessageFilter.from_values({"role": "user"})
    assert found(actor, "database of the ledger", filters=filters) == [STORY[0][1]]


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"session_id": "s1"}, 2),
        ({"session_id": "s2"}, 0),
        ({"role": ["assistant", "user"]}, 2),
        ({"before": "2020-01-01"}, 0),
        ({"after": "2020-01-01"}, 2),
    ],
)
def test_filters_hold_before_ranking(told, actor, filters, count):
    assert len(found(actor, "ledger database", filters=MessageFilter.from_values(filters))) == count


def test_a_past_point_a_branch_and_a_project_are_apart(told, actor, other_project):
    manager = BranchManager()
    manager.create_branch(name="side", actor=actor)
    MESSAGES.write_message(
        conversation_id=told[0].conversation_id,
        actor=actor,
        branch_name="side",
        role="user",
        content="The ledger moves to another database.",
    )
    assert len(found(actor, "ledger", branch_name="side")) == 3
    assert len(found(actor, "ledger")) == 2
    assert found(actor, "ledger", at=0) == []
    assert found(local_actor(other_project.pk), "ledger") == []


@pytest.mark.parametrize("query", ["", "*", '"', ") OR tok:b2oq", "half \ud800", "𝔩𝔢𝔡𝔤𝔢𝔯", "x " * 4000])
def test_no_text_makes_it_fail(told, actor, query):
    assert len(found(actor, query)) <= 10
