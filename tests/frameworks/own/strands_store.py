"""Day1's store in the place of Strands' own on a file: the file is an end user, and shows what Day1 holds."""

import json
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import strands.vended_memory_stores as stores

from day1_client import Day1
from day1_client.strands import Day1MemoryStore

memory = Day1()


class OwnStore(Day1MemoryStore):
    __test__ = False  # as theirs, whose name begins so
    _storage = None

    def __init__(self, *, path=None, persist=True, extraction=None, **options):
        self.path = Path(path) if path and persist else None
        user = sha256(str(path).encode()).hexdigest()[:32] if self.path else uuid4().hex
        super().__init__(memory, user_id=user, extraction=extraction, **options)

    async def add(self, content, metadata=None):
        added = await super().add(content, metadata)
        if self.path:
            self.path.write_text(json.dumps([*self._list_facts()], indent=2), encoding="utf-8")
        return SimpleNamespace(**added)

    def _list_facts(self):
        for fact in memory.facts.list(**self.owner):
            said = {"content": fact["fact_text"], "metadata": fact["metadata"].get("strands")}
            yield {"id": fact["id"], "createdAt": fact["created_at"], **said}


stores.TestMemoryStore = stores.test_memory_store.TestMemoryStore = OwnStore
