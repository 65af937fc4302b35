"""An agent of LlamaIndex with Day1's memory."""

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from scenes import play_all

from day1_client.llamaindex import Day1Memory


async def talk(day1, user, prompts):
    llm = OpenAILike(model="scripted", is_chat_model=True, is_function_calling_model=True)
    agent = FunctionAgent(llm=llm, tools=[])
    memory = Day1Memory.from_defaults(memory=day1, user_id=user)
    return [str(await agent.run(prompt, memory=memory)) for prompt in prompts]


play_all(lambda *given: asyncio.run(talk(*given)))
