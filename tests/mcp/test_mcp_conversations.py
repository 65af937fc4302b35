"""Conversations and replays over MCP: read, forked, compared, rated, replayed; and what is refused."""

import pytest

from tests.mcp.conftest import Agent


@pytest.fixture
def talk(agent: Agent) -> str:
    """Return the conversation of a session in which two messages were written."""
    agent.call("log_message", role="user", content="How do we deploy?", session_id="s1")
    agent.call("log_message", role="assistant", content="From main.", session_id="s1")
    return agent.call("conversation_get")["conversations"][0]["id"]


def test_a_conversation_is_read_and_forked_at_a_message(agent: Agent, talk: str) -> None:
    found = agent.call("conversation_get", conversation_id=talk)
    assert [one["content"] for one in found["messages"]] == ["How do we deploy?", "From main."]
    assert (found["conversation"]["id"], found["conversations"]) == (talk, [])
    first = found["messages"][0]["id"]
    fork = agent.call("conversation_fork", conversation_id=talk, message_id=first, title="Tags")[
        "conversation"
    ]
    assert (fork["parent_conversation_id"], fork["fork_point_message_id"]) == (talk, first)
    agent.call("log_message", role="assistant", content="From tags.", conversation_id=fork["id"])
    again = agent.call("conversation_get", conversation_id=talk)
    assert [one["title"] for one in again["conversations"]] == ["Tags"]
    compared = agent.call("conversation_compare", first=talk, second=fork["id"])
    assert (compared["shared"], compared["divergence"]["index"]) == (1, 1)
    assert compared["outcome"]["first_result"] == "From main."


def test_older_messages_follow_with_the_cursor(agent: Agent, talk: str) -> None:
    last = agent.call("conversation_get", conversation_id=talk, limit=1)
    assert [one["content"] for one in last["messages"]] == ["From main."]
    before = agent.call("conversation_get", conversation_id=talk, limit=1, cursor=last["next_cursor"])
    assert [one["content"] for one in before["messages"]] == ["How do we deploy?"]
    assert before["next_cursor"] is None


def test_a_fork_without_a_message_begins_at_the_end_with_its_memory(agent: Agent, talk: str) -> None:
    made = agent.call("conversation_fork", conversation_id=talk, memory_branch="experiment/tags")
    assert (made["branch"], made["conversation"]["title"]) == ("experiment/tags", "")
    assert "experiment/tags" in {one["name"] for one in agent.call("branch_list")["branches"]}


def test_a_replay_by_hand_ends_with_a_comparison(agent: Agent, talk: str) -> None:
    messages = agent.call("conversation_get", conversation_id=talk)["messages"]
    replay = agent.call("replay_create", conversation_id=talk, message_id=messages[0]["id"])["replay"]
    told = agent.call("replay_get", replay_id=replay["id"], context=True)
    assert [one["content"] for one in told["context"]] == ["How do we deploy?"]
    agent.call(
        "log_message", role="assistant", content="From main.", conversation_id=replay["conversation_id"]
    )
    done = agent.call("replay_update", replay_id=replay["id"], do="complete")
    assert (done["replay"]["state"], done["replay"]["comparison"]["verdict"]) == ("done", "equivalent")
    assert done["next"].startswith("conversation_compare")


def test_a_rating_without_a_judge_says_that_it_is_none(agent: Agent, talk: str) -> None:
    found = agent.call("conversation_score", conversation_id=talk, dimensions=["tone: is it kind?"])
    assert (found["scoring"]["state"], found["scoring"]["method"]) == ("done", "heuristic")
    assert [(one["dimension"], one["value"]) for one in found["scores"]] == [("tone", 0.5)]
    assert "No judge" in found["scoring"]["warning"]
