"""An agent of Pydantic AI with Day1's toolset."""

import json

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from scenes import play_all

from day1_client.pydantic_ai import Day1Toolset


def play(memory, user, prompts):
    toolset = Day1Toolset(memory, user_id=lambda ctx: ctx.deps)
    agent = Agent(OpenAIChatModel("scripted"), toolsets=[toolset], deps_type=str, name="helper")
    return [agent.run_sync(word(prompt), deps=user).output for prompt in prompts]


def word(prompt):
    """Return the call of a tool that a model makes of what it is told or asked."""
    asked, _, known = prompt.partition(", do you know")
    name, argument = ("recall", "query") if known else ("remember", "text")
    return f"use {name} {json.dumps({argument: asked})}"


play_all(play)
