"""Day1's store in the place of LangGraph's own in memory: each is the memory of an end user of its own."""

from uuid import uuid4

import langgraph.store.memory as own

from day1_client import Day1
from day1_client.langgraph import Day1Store


class OwnStore(Day1Store):
    def __init__(self, *, index=None):
        options = {"fields": index.get("fields") or (), "search_type": "vector"} if index else {}
        super().__init__(Day1(user=f"own-{uuid4().hex}"), **options)
        self.index_config = index


own.InMemoryStore = OwnStore
