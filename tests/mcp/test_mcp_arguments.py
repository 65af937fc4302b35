"""Arguments in the shapes in which models send them, and answers that are too long for one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from day1site.mcp.arguments import MAX_LENGTH, read_arguments
from day1site.mcp.schemas import ANSWER_TOKENS, cost
from day1site.mcp.tools import ALL
from day1site.mcp.tools.facts import METADATA_REST
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Fact
from tests.mcp.conftest import Agent, read_data

# Those of one type: what may be any JSON is taken as it comes.
ARGUMENTS = [
    (tool, name) for tool in ALL.values() for name, kind in tool.input["properties"].items() if "type" in kind
]
LETTERS = st.characters(
    min_codepoint=33, max_codepoint=0x2FFF, exclude_characters=",", exclude_categories=["Cs", "Z"]
)
WORDS = st.one_of(
    st.text(LETTERS, min_size=1), st.sampled_from(["5", "true", "null", "[1]", '{"a": 1}', '"x"', "NaN"])
)
NUMBERS = st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
OBJECTS = st.dictionaries(WORDS, NUMBERS | WORDS | st.booleans(), min_size=1)


def plain_values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values of a schema's type, as a caller who keeps to it sends them."""
    kind = schema["type"]
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if kind == "array":
        return st.lists(plain_values(schema["items"]), min_size=1, max_size=4)
    if kind == "object":
        fields = {name: plain_values(one) for name, one in schema.get("properties", {}).items()}
        return st.fixed_dictionaries(fields) if fields else OBJECTS
    return {
        "string": WORDS,
        "integer": st.integers(-(10**9), 10**9),
        "number": NUMBERS,
        "boolean": st.booleans(),
    }[kind]


def list_shapes(schema: dict[str, Any], value: Any) -> list[Any]:
    """Return the other shapes in which models send a value."""
    if schema["type"] == "string":
        return [value]
    shapes = [value, json.dumps(value), f" {json.dumps(value, ensure_ascii=False)}\n"]
    if schema["type"] == "boolean":
        shapes += [str(value), int(value)]
    if schema["type"] == "array" and len(value) == 1 and (one := value[0]) not in ("null", "[1]"):
        shapes += [one] if isinstance(one, str) else [one, json.dumps(one)]
    return shapes


@given(st.data())
def test_each_argument_in_each_shape_is_the_plain_one(data: st.DataObject) -> None:
    tool, name = data.draw(st.sampled_from(ARGUMENTS))
    schema = tool.input["properties"][name]
    value = data.draw(plain_values(schema))
    for shape in list_shapes(schema, value):
        assert read_arguments(tool.input, {name: shape}) == {name: value}, shape
    if name not in tool.input.get("required", ()):
        nothing = [None, ""] + ([" ", "null", "[]", []] if schema.get("minItems") else [])
        assert all(read_arguments(tool.input, {name: one}) == {} for one in nothing)


def test_names_may_stand_in_one_text_and_sentences_may_have_commas() -> None:
    assert read_arguments(ALL["memory_search"].input, {"tags": "ops, web", "kind": "NOTE,TASK"}) == {
        "tags": ["ops", "web"],
        "kind": ["NOTE", "TASK"],
    }
    blocked = {"blockers": "Waiting for Bob, who is away."}
    assert read_arguments(ALL["handoff_create"].input, blocked) == {"blockers": [blocked["blockers"]]}
    assert read_arguments(ALL["memory_write"].input, {"tags": [2024, "", None]}) == {"tags": ["2024"]}
    assert read_arguments(ALL["memory_update"].input, {"tags": [], "category": 2024}) == {
        "tags": [],  # which takes them away
        "category": "2024",
    }


def test_a_day_of_odd_shapes_is_understood(agent: Agent) -> None:
    made = agent.call(
        *("memory_write",),
        fact_text="Deploys run from main.",
        tags='["ops", "web"]',
        confidence="0.9",
        category="decision",
        valid_from="",
        metadata='{"file": "a.py"}',
        pinned="True",
    )
    uid = made["fact"]["id"]
    (read,) = agent.call("memory_get", fact_ids=uid, history="false", at=None)["facts"]
    assert (read["tags"], read["confidence"], read["metadata"]) == (["ops", "web"], 0.9, {"file": "a.py"})
    odd = {"category": '["decision"]', "tags": "ops", "limit": "5", "kind": "", "session_id": None, "at": ""}
    assert [row["id"] for row in agent.call("memory_search", query="deploys", **odd)["results"]] == [uid]
    kept = {"valid_from": None, "valid_until": "", "expires_at": None, "essence": ""}
    agent.call("memory_update", fact_id=uid, valid_until="2030-01-01", expires_at="2031-01-01")
    agent.call("memory_update", fact_id=uid, priority="P1", **kept)
    (row,) = agent.call("memory_get", fact_ids=[uid])["facts"]
    assert (row["priority"], row["valid_until"][:4], row["expires_at"][:4]) == ("P1", "2030", "2031")
    assert "null and empty texts stand for" in agent.refused("memory_update", "invalid", fact_id=uid, **kept)
    assert agent.call("memory_write", fact_text='["5"]')["fact"]["essence"] == '["5"]'
    again = {"fact_text": "Once.", "idempotency_key": "k"}
    assert agent.call("memory_write", tags=["a"], **again) == agent.call(
        "memory_write", tags='["a"]', **again
    )


WRONG = {"integer": "many", "number": "high", "boolean": "perhaps", "array": [[]], "object": "things"}


@pytest.mark.slow
def test_what_is_not_understood_is_refused_by_its_name(agent: Agent) -> None:
    """Everything but texts, which may be anything, with values for what a tool needs first."""
    fact = agent.call("memory_write", fact_text="One.")["fact"]["id"]
    talk = agent.call("log_message", role="user", content="Hi.", session_id="s")["conversation_id"]
    known = {
        "fact_id": fact,
        "fact_ids": [fact],
        "conversation_id": talk,
        "task": "t",
        "replay_id": agent.call("replay_create", conversation_id=talk)["replay"]["id"],
        "do": "run",
        "kind": "message",
    }
    known |= {"first": talk, "second": talk, "snapshot_id": fact, "dry_run": True}
    refusals = {}
    for tool, name in ARGUMENTS:
        kind = tool.input["properties"][name].get("type")
        if kind in (None, "string") or (tool.name, name) == ("memory_more", "arguments"):
            continue
        needed = {one: known.get(one, "x") for one in tool.input.get("required", ())}
        found = agent.refused(tool.name, "invalid", **{**needed, name: WRONG[kind]})
        if name not in found:
            refusals[tool.name, name] = found
    assert refusals == {}
    assert "arguments must be" in agent.refused("memory_more", "invalid", tool="branch_list", arguments="x")


@pytest.mark.slow
def test_an_argument_of_five_million_characters_is_refused(agent: Agent) -> None:
    long = "x " * 2_500_000

    async def story(client: Any) -> list[Any]:
        calls = [
            ("memory_write", {"fact_text": long}),
            ("memory_search", {"query": "x", "category": [long]}),
            ("memory_update", {"fact_id": "123456", "metadata": {"a": {"b": long}}}),
            ("memory_get", {"fact_ids": ["a"] * 1_000_000}),
            ("memory_more", {"tool": "memory_write", "arguments": {"fact_text": long}}),
            ("memory_search", {"query": "deploys"}),  # the connection lives on
        ]
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    *refused, last = agent.run(story)
    texts = [one.content[0].text for one in refused]
    limit = f"is over the limit of {MAX_LENGTH:,} characters. Shorten it, or store it in several facts."
    names = ("fact_text", "category", "metadata", "fact_ids", "arguments")
    assert texts == [f"too_large: {name} {limit}" for name in names]
    assert read_data(last)["count"] == 0
    assert not Fact.objects.all_versions().exists()


# ---- answers -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_twenty_long_facts_are_read_to_their_end(agent: Agent) -> None:
    texts = [
        f"Rule {number}. " + f"{number:03} The gateway waits for the ledger. " * 1500 for number in range(20)
    ]
    uids = [agent.call("memory_write", fact_text=text)["fact"]["id"] for text in texts]
    first = agent.call("memory_get", fact_ids=uids)
    assert [row["id"] for row in first["facts"]] == uids
    assert cost(first) <= ANSWER_TOKENS
    where = f'"fact_ids": ["{uids[0]}"], "offset": {first["facts"][0]["next_offset"]}'
    assert first["next"] == f"memory_get {{{where}}} for the rest"
    read, offset = "", 0
    while offset is not None:
        (row,) = agent.call("memory_get", fact_ids=[uids[7]], offset=offset)["facts"]
        assert (cost(row) <= ANSWER_TOKENS, row["length"]) == (True, len(texts[7]))
        read, offset = read + row["fact_text"], row.get("next_offset")
    assert read == texts[7]


@pytest.mark.slow
def test_a_page_of_long_rows_is_shorter_and_its_cursor_right(agent: Agent, actor: Any) -> None:
    for number in range(60):
        ObservationEngine().write_observation(
            actor=actor,
            session_id="s",
            observation_type="decision",
            summary=f"{number:02} " + "0 1 2 3 4 " * 40,
        )
    seen, cursor = [], ""
    while cursor is not None:
        page = agent.call("memory_timeline", limit=100, cursor=cursor)
        assert cost(page) <= ANSWER_TOKENS
        seen, cursor = seen + [row["summary"][:2] for row in page["results"]], page["next_cursor"]
    assert seen == [f"{number:02}" for number in reversed(range(60))]


@pytest.mark.slow
def test_long_messages_are_read_to_their_end(agent: Agent, actor: Any) -> None:
    talk = ConversationEngine().create_conversation(actor=actor, session_id="s")
    texts = [f"{number:02} " + "word " * 900 for number in range(40)]
    texts[3] = "".join(f"line {number}\n" for number in range(9000)).strip()
    rows = [{"role": "user", "content": text} for text in texts]
    MessageEngine().write_messages(conversation_id=talk.uid, messages=rows, actor=actor)
    seen, cursor = [], ""
    while cursor is not None:
        page = agent.call("conversation_get", conversation_id=str(talk.uid), limit=40, cursor=cursor)
        assert cost(page) <= ANSWER_TOKENS
        seen, cursor = page["messages"] + seen, page["next_cursor"]
    assert [row["sequence_num"] for row in seen] == list(range(1, 41))
    assert seen[3]["content"].endswith(f"… (1000 of {len(texts[3])} characters)")
    read, offset = "", 0
    while len(read) < len(texts[3]):
        (row,) = (answer := agent.call("conversation_get", message_id=seen[3]["id"], offset=offset))[
            "messages"
        ]
        assert cost(answer) <= ANSWER_TOKENS
        read, offset = read + row["content"], offset + len(row["content"])
    assert (read, answer["next"]) == (texts[3], "conversation_get")


def test_other_answers_say_what_was_cut(agent: Agent) -> None:
    steps = [f"Step {number}: " + "1 a " * 120 for number in range(50)]
    made = agent.call("task_create", name="Long", objectives=steps)
    assert (cost(made) <= ANSWER_TOKENS, len(made["task"]["objectives"])) == (True, 50)
    assert made["task"]["objectives"][0]["text"].endswith(f"of {len(steps[0])} characters)")
    assert made["cut"] == {"rest": ALL["task_create"].rest}


@pytest.mark.parametrize("metadata", [{"a": "x" * 60_000}, {f"key {n}": n for n in range(3000)}])
def test_long_metadata_is_cut_and_its_resource_has_it(agent: Agent, metadata: dict[str, Any]) -> None:
    uid = agent.call("memory_write", fact_text="One.", metadata=metadata)["fact"]["id"]
    read = agent.call("memory_get", fact_ids=[uid])
    assert (cost(read) <= ANSWER_TOKENS, read["facts"][0]["fact_text"]) == (True, "One.")
    assert read["cut"] == {"rest": METADATA_REST}
    found = agent.run(lambda client: client.read_resource(f"day1://facts/{uid}"))
    assert json.loads(found.contents[0].text)["metadata"] == metadata
