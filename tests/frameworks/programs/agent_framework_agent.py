"""An agent of Microsoft's Agent Framework with Day1's context provider."""

import asyncio

from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
from scenes import play_all

from day1_client.agent_framework import Day1ContextProvider


async def talk(memory, user, prompts):
    provider = Day1ContextProvider(memory=memory, user_id=lambda session: session.state["user"])
    agent = Agent(OpenAIChatCompletionClient(model="scripted"), name="helper", context_providers=[provider])
    session = agent.create_session()
    session.state["user"] = user
    return [(await agent.run(prompt, session=session)).text for prompt in prompts]


play_all(lambda *given: asyncio.run(talk(*given)))
