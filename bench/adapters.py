"""What the adapters of the Python client cost: milliseconds of calls, beside a bare request of the same run.

    DAY1_URL=… DAY1_KEY=… .venv/bin/python bench/adapters.py langgraph openai-agents anthropic

asks a server that runs, as an end user of its own with 1,000 facts. Any Python will do that has httpx and the
framework; ``DAY1_FRAMEWORKS=FOLDER make nightly`` leaves FOLDER/NAME/bin/python for those that no lock has.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients" / "python" / "src"))

from day1_client import Day1

FACTS, CALLS = 1_000, 40
USER = f"bench-{uuid4().hex[:12]}"
THINGS = "invoice recipe ticket holiday cluster garden budget window coffee library".split()
Call = Callable[[int], Any]
loop = asyncio.new_event_loop()
wait = loop.run_until_complete


def say(number: int) -> str:
    return f"In {2000 + number % 25} the team moved the {THINGS[number % 10]} to shelf {number}."


def ask(number: int) -> str:
    return f"Where did the team move the {THINGS[number % 10]} number {number}?"


# ---- adapters: what is called, by its label ----------------------------------------------------------


def measure_langgraph(memory: Day1) -> dict[str, Call]:
    from day1_client.langgraph import Day1Store

    store, place = Day1Store(memory, fields=["text"]), ("bench", USER)
    return {
        "put": lambda n: store.put(place, str(n), {"text": say(n)}),
        "get": lambda n: store.get(place, str(n)),
        "search": lambda n: store.search(place, query=ask(n)),
    }


def measure_openai_agents(memory: Day1) -> dict[str, Call]:
    from day1_client.openai_agents import Day1Session

    session = Day1Session(USER, memory)
    items = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello!"}]
    return {
        "two items added": lambda n: wait(session.add_items([*items])),
        "items read": lambda n: wait(session.get_items()),
    }


def measure_anthropic(memory: Day1) -> dict[str, Call]:
    from day1_client.anthropic import Day1MemoryTool

    tool = Day1MemoryTool(memory.on(user=USER))

    def run(**command: str) -> object:
        return tool.call({**command})

    def path(number: int) -> str:
        return f"/memories/{number}.md"

    return {
        "create": lambda n: run(command="create", path=path(n), file_text="Likes tea."),
        "view": lambda n: run(command="view", path=path(n)),
        "edit": lambda n: run(command="str_replace", path=path(n), old_str="tea", new_str="coffee"),
    }


def measure_pydantic_ai(memory: Day1) -> dict[str, Call]:
    from types import SimpleNamespace

    from day1_client.pydantic_ai import Day1Toolset

    tools, run = Day1Toolset(memory, user_id=USER), SimpleNamespace(conversation_id=None, agent=None)
    return {
        "recall": lambda n: wait(tools.recall(run, ask(n))),
        "store": lambda n: wait(tools.remember(run, say(FACTS + n))),
    }


def measure_agent_framework(memory: Day1) -> dict[str, Call]:
    from types import SimpleNamespace

    from agent_framework import AgentSession, Message, SessionContext

    from day1_client.agent_framework import Day1ContextProvider

    provider, session = Day1ContextProvider(memory=memory, user_id=USER), AgentSession()

    def run(step: str, *said: str) -> object:
        messages = [Message(role, [text]) for role, text in zip(("user", "assistant"), said, strict=False)]
        context = SessionContext(session_id=session.session_id, input_messages=messages)
        options: Any = {"agent": SimpleNamespace(name="helper"), "session": session, "state": {}}
        return wait(getattr(provider, step)(context=context, **options))

    return {
        "recall": lambda n: run("before_run", ask(n)),
        "store": lambda n: run("after_run", say(FACTS + n), "Noted."),
    }


def measure_google_adk(memory: Day1) -> dict[str, Call]:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part

    from day1_client.google_adk import Day1MemoryService

    service, events = Day1MemoryService(memory), list[Any]()
    fill(memory, app_id="bench")  # there an app is a part of whose memory it is

    def store(number: int) -> object:
        for author, text in (("user", say(FACTS + number)), ("helper", "Noted.")):
            events.append(Event(author=author, content=Content(parts=[Part(text=text)])))
        return wait(
            service.add_session_to_memory(Session(app_name="bench", user_id=USER, id=USER, events=[*events]))
        )

    return {
        "recall": lambda n: wait(service.search_memory(app_name="bench", user_id=USER, query=ask(n))),
        "store": store,
    }


def measure_llamaindex(memory: Day1) -> dict[str, Call]:
    from llama_index.core.base.llms.types import ChatMessage

    from day1_client.llamaindex import Day1Memory

    chat = Day1Memory.from_defaults(memory=memory, user_id=USER)

    def turn(number: int) -> list[Any]:
        said = (("user", say(FACTS + number)), ("assistant", "Noted."))
        return [ChatMessage(role=role, content=text) for role, text in said]

    def recall(number: int) -> object:
        asked = [ChatMessage(role="user", content=ask(number))]
        return wait(chat.memory_blocks[0].aget(asked, session_id=chat.session_id))

    return {"recall": recall, "store": lambda n: wait(chat.aput_messages(turn(n)))}


def measure_crewai(memory: Day1) -> dict[str, Call]:
    from crewai.memory.types import MemoryRecord

    from day1_client.crewai import Day1Storage

    storage = Day1Storage(memory, user_id=USER)

    def make(number: int) -> Any:
        return MemoryRecord(content=say(number), scope="/bench", embedding=storage.embed([say(number)])[0])

    storage.save([make(number) for number in range(FACTS)])
    return {
        "recall": lambda n: storage.search(storage.embed([ask(n)])[0], scope_prefix="/bench"),
        "store": lambda n: storage.save([make(FACTS + n)]),
    }


def measure_strands(memory: Day1) -> dict[str, Call]:
    from day1_client.strands import Day1MemoryStore

    store = Day1MemoryStore(memory, user_id=USER)

    def turn(number: int) -> Any:
        said = (("user", say(FACTS + number)), ("assistant", "Noted."))
        return [{"role": role, "content": [{"text": text}]} for role, text in said]

    return {
        "recall": lambda n: wait(store.search(ask(n))),
        "store": lambda n: wait(store.add_messages(turn(n))),
    }


# ---- the run -------------------------------------------------------------------------------------------


def measure_bare(memory: Day1) -> dict[str, Call]:
    return {
        "search": lambda n: memory.facts.search(ask(n), user_id=USER),
        "write": lambda n: memory.facts.create(say(2 * FACTS + n), user_id=USER),
    }


def time_calls(call: Call) -> list[float]:
    times = []
    for number in range(CALLS):
        started = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - started) * 1000)
    return times


def fill(memory: Day1, **owner: str) -> None:
    for first in range(0, FACTS, 100):
        rows: Any = [{"fact_text": say(number)} for number in range(first, first + 100)]
        memory.facts.create_many(rows, wait="indexed", user_id=USER, **owner)


def main(names: list[str]) -> None:
    with Day1() as memory:
        fill(memory)
        for name in ["bare", *names]:
            measure = globals()[f"measure_{name.replace('-', '_')}"]
            for label, call in measure(memory).items():
                times = time_calls(call)
                found = f"median {statistics.median(times):.0f} ms\tquickest {min(times):.0f} ms"
                print(f"{name}\t{label}\t{found}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
