"""Prompts and resources over MCP: topics of many words, what pickers show, what is unknown."""

import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from memory.engines.branches.manager import BranchManager
from memory.engines.sessions.manager import SessionManager
from tests.mcp.conftest import Agent
from tests.memory.api.client import UNKNOWN

MODES = ("auto", "legacy")
NOT_FOUND = {"auto": -32602, "legacy": -32002}  # revisions before 2026-07-28 have a code of their own


def recall(agent: Agent, **arguments: str) -> str:
    answer = agent.run(lambda client: client.get_prompt("recall", arguments))
    return answer.messages[0].content.text


def split_at_blanks(agent: Agent, line: str) -> str:
    """Recall as Claude Code does: each word goes to the next listed argument, the rest is dropped."""

    async def get(client: Any) -> str:
        prompts = {one.name: one for one in (await client.list_prompts()).prompts}
        names = [argument.name for argument in prompts["recall"].arguments]
        arguments = dict(zip(names, line.split(" "), strict=False))
        return (await client.get_prompt("recall", arguments)).messages[0].content.text

    return agent.run(get)


def index(text: str) -> dict[str, Any]:
    return json.loads(text[text.index("\n{") :])


# ---- the topic -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["why do deploys run from main", '"why do deploys run from main"'])
def test_a_topic_arrives_whole_however_a_program_splits_it(line: str, agent: Agent) -> None:
    uid = agent.call("memory_write", fact_text="Deploys run from main.")["fact"]["id"]
    told = split_at_blanks(agent, line)
    assert told.startswith('Tell me what our memory holds about: "why do deploys run from main"\n')
    assert [row["id"] for row in index(told)["results"]] == [uid]
    assert recall(agent, topic="why do deploys run from main") == told
    assert recall(agent, word3="do deploys run", word12="from main", topic="why").startswith(
        'Tell me what our memory holds about: "why do deploys run from main"\n'
    )


def test_words_that_may_be_missing_are_mentioned(agent: Agent) -> None:
    note = "the person may have typed more words than these 12"
    assert note in split_at_blanks(agent, "a b c d e f g h i j k l m n")
    assert note not in split_at_blanks(agent, "a b c d e f g h i j k")


def test_only_the_topic_is_required_and_no_word_is_a_branch(agent: Agent, actor: Any) -> None:
    async def listed(client: Any) -> Any:
        return {one.name: one.arguments for one in (await client.list_prompts()).prompts}

    prompts = agent.run(listed)
    assert [one.name for one in prompts["recall"] if one.required] == ["topic"]
    assert [one.name for one in prompts["catch_up"]] == ["session_id"]
    assert "branch" not in [one.name for one in prompts["recall"]]
    BranchManager().create_branch(name="task/a", actor=actor)
    agent.call("memory_write", fact_text="Deploys run from tags.", branch="task/a")
    assert index(recall(agent, topic="deploys"))["count"] == 0
    assert index(recall(agent, topic="deploys", branch="task/a"))["count"] == 1


def test_prompts_that_cannot_be_given(agent: Agent) -> None:
    for arguments in ({}, {"topic": " "}, {"topic": '""'}, {"word2": " "}):
        said = agent.fails(lambda client, given=arguments: client.get_prompt("recall", given))
        assert said.startswith("invalid: topic is needed.")
    said = agent.fails(lambda client: client.get_prompt("recall", {"topic": "x", "branch": "none"}))
    assert said.startswith("not_found: There is no branch named none. Check the id and the branch: ")
    said = agent.fails(lambda client: client.get_prompt("recall", {"topic": "x", "colour": "red"}))
    assert said.startswith("unknown_field: There is no field named colour.")


# ---- what is unknown -----------------------------------------------------------------------------------


def caught(agent: Agent, work: Any) -> Any:
    async def failing(client: Any) -> Any:
        with pytest.raises(MCPError) as error:
            await work(client)
        return error.value.error

    return agent.run(failing)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "uri",
    [
        "day1://facts/x",
        f"day1://facts/{UNKNOWN}",
        "day1://sessions/none/context",
        "day1://other/1",
        "day1://[x",
        "file:///etc/passwd",
        f"day1://facts/{UNKNOWN}?branch=none",
    ],
)
def test_an_unknown_resource_is_named(uri: str, mode: str, agent: Agent) -> None:
    error = caught(agent.at(mode=mode), lambda client: client.read_resource(uri))
    assert (error.code, error.data) == (NOT_FOUND[mode], {"uri": uri})
    assert error.message.startswith(f"not_found: There is no resource {uri}")
    assert "memory_search" not in error.message


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_prompt_is_named(mode: str, agent: Agent) -> None:
    error = caught(agent.at(mode=mode), lambda client: client.get_prompt("other"))
    assert (error.code, error.data) == (-32602, {"prompt": "other"})
    assert error.message == "not_found: There is no prompt named other. The prompts are recall, catch_up."


def test_a_resource_at_no_point_in_time_is_invalid(agent: Agent) -> None:
    uid = agent.call("memory_write", fact_text="One.")["fact"]["id"]
    error = caught(agent, lambda client: client.read_resource(f"day1://facts/{uid}?at=never"))
    assert (error.code, error.message.split(":")[0]) == (-32602, "invalid")


# ---- what pickers show ---------------------------------------------------------------------------------


def test_a_picker_shows_the_fact_before_its_state(agent: Agent, actor: Any) -> None:
    agent.call("memory_write", fact_text="Deploys run from main.")
    sessions = SessionManager()
    sessions.create_session(session_id="s1", actor=actor)
    sessions.create_session(session_id="s2", actor=actor)
    sessions.end_session(session_id="s2", actor=actor, summary="The clock\nwas wrong.")
    fact, ended, running = agent.run(lambda client: client.list_resources()).resources
    date = fact.description.rpartition("[")[2].split(",")[0]
    assert fact.name == "Deploys run from main."
    assert fact.description == f"Deploys run from main. [{date}, active, unverified, on main]"
    assert (ended.name, ended.description) == ("session s2", "The clock was wrong. [session s2]")
    assert (running.name, running.description) == ("session s1", "session s1, without a summary")
