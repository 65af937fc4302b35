"""An agent of Google's ADK with Day1's memory service; each turn is added to memory."""

import asyncio

from google.adk.agents import Agent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai.types import Content, Part
from scenes import play_all

from day1_client.google_adk import Day1MemoryService


async def talk(memory, user, prompts):
    sessions, service = InMemorySessionService(), Day1MemoryService(memory)
    agent = Agent(name="helper", model="gemini-scripted", tools=[PreloadMemoryTool()])
    runner = Runner(agent=agent, app_name="shop", session_service=sessions, memory_service=service)
    where = {"app_name": "shop", "user_id": user}
    session = await sessions.create_session(**where)
    answers = []
    for prompt in prompts:
        said = Content(role="user", parts=[Part(text=prompt)])
        async for event in runner.run_async(user_id=user, session_id=session.id, new_message=said):
            if event.is_final_response():
                answers.append(event.content.parts[0].text)
        for _ in range(2):  # adding twice stores once
            await service.add_session_to_memory(await sessions.get_session(**where, session_id=session.id))
    return answers


play_all(lambda *given: asyncio.run(talk(*given)))
