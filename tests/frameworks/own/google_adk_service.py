"""Day1's service in the place of ADK's own in memory: each is on a branch of its own.

What is added is found by meaning when it was added, as what a search finds until then depends on the machine.
"""

import asyncio
from types import SimpleNamespace
from uuid import uuid4

import google.adk.memory.in_memory_memory_service as own

from day1_client import Day1
from day1_client.google_adk import UNKNOWN_SESSION, Day1MemoryService

root = Day1()
POLL_SECONDS = 0.02


class OwnService(Day1MemoryService):
    def __init__(self):
        branch = root.branches.create(f"own-{uuid4().hex}")["name"]
        super().__init__(Day1(branch=branch))
        self.added = set()

    async def add_events_to_memory(self, *, app_name, user_id, session_id=None, **events):
        self.added.add((app_name, user_id, session_id or UNKNOWN_SESSION))
        await super().add_events_to_memory(
            app_name=app_name, user_id=user_id, session_id=session_id, **events
        )
        while self.memory.messages.search("-", app_id=app_name, user_id=user_id)["incomplete"]:
            await asyncio.sleep(POLL_SECONDS)

    @property
    def _session_events(self):
        """Return what Day1 holds of the sessions that were added, in the form of the service's own rows."""
        found = {}
        for app, user, session in self.added:
            found.setdefault((app, user), {})[session] = list(self._list_events(app, user, session))
        return found

    def _list_events(self, app, user, session):
        owner, messages = {"app_id": app, "user_id": user}, self.memory.conversations
        rows = [
            row
            for talk in messages.list(session_id=session, **owner)
            for row in messages.messages(talk["id"], **owner)
        ]
        for event in dict.fromkeys(row["metadata"]["adk"]["event_id"] for row in rows):
            yield SimpleNamespace(id=event)


own.InMemoryMemoryService = OwnService
