"""An agent of Strands with Day1's memory store."""

from scenes import play_all
from strands import Agent
from strands.memory import MemoryManager
from strands.models.openai import OpenAIModel

from day1_client.strands import Day1MemoryStore


def play(memory, user, prompts):
    store = Day1MemoryStore(memory, user_id=user, agent_id="helper")
    manager = MemoryManager(stores=[store], add_tool_config=True)
    agent = Agent(model=OpenAIModel(model_id="scripted"), memory_manager=manager, callback_handler=None)
    return [str(agent(prompt)).strip() for prompt in prompts]


play_all(play)
