"""A crew of CrewAI whose memory is in Day1."""

from crewai import LLM, Agent, Crew, Memory, Task
from scenes import play_all

from day1_client.crewai import Day1Storage


def play(day1, user, prompts):
    storage = Day1Storage(day1, user_id=user)
    llm = LLM(model="openai/gpt-5.4-mini")
    memory = Memory(storage=storage, embedder=storage.embed, llm=llm)
    agent = Agent(role="helper", goal="help", backstory="It helps.", llm=llm)
    answers = []
    for prompt in prompts:
        task = Task(description=prompt, expected_output="An answer.", agent=agent)
        answers.append(Crew(agents=[agent], tasks=[task], memory=memory).kickoff().raw)
    memory.close()
    return answers


play_all(play)
