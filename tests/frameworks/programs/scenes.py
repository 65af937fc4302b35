"""What the programs of frameworks share: scenes are read from the input, and what came of them is printed.

A scene is {"user", "say": [PROMPT, …], "url", "key"}; a list of them in the place of one is played at once.
"""

import json
import logging
import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

logging.basicConfig(level=logging.WARNING)


def play_all(play):
    """Play each scene with ``play(memory, user, prompts)``, which returns the agent's answers."""
    answer = os.dup(1)
    os.dup2(2, 1)  # frameworks print; the answer is the only thing that stands on the output
    with ThreadPoolExecutor() as pool:
        done = [
            list(pool.map(lambda one: play_one(play, one), scene))
            if isinstance(scene, list)
            else play_one(play, scene)
            for scene in json.load(sys.stdin)
        ]
    with os.fdopen(answer, "w", encoding="utf-8") as file:
        json.dump(done, file, ensure_ascii=True)


def play_one(play, scene):
    from day1_client import Day1

    try:
        with Day1(scene.get("url"), scene.get("key"), retries=0) as memory:
            return {"answers": play(memory, scene["user"], scene["say"])}
    except Exception as error:
        traceback.print_exc()
        return {"error": type(error).__name__, "text": str(error)}
