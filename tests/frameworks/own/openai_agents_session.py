"""Day1's session in the place of the SDK's on SQLite: the file of a session is an end user."""

from hashlib import sha256
from uuid import uuid4

import agents

from day1_client import Day1
from day1_client.openai_agents import Day1Session


class OwnSession(Day1Session):
    def __init__(self, session_id, db_path=":memory:", *_tables, session_settings=None):
        path = str(db_path) if str(db_path) != ":memory:" else uuid4().hex
        user = f"own-{sha256(path.encode()).hexdigest()[:32]}"
        super().__init__(session_id, Day1(user=user), session_settings=session_settings)

    def close(self):
        self.memory.close()


agents.SQLiteSession = OwnSession
