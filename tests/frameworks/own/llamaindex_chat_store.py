"""Day1's chat store in the place of LlamaIndex's own on SQL: each is the memory of an end user of its own."""

from uuid import uuid4

import llama_index.core.storage.chat_store.sql as own

from day1_client import Day1
from day1_client.llamaindex import Day1ChatStore

memory = Day1()
own.SQLAlchemyChatStore = lambda **_tables: Day1ChatStore(memory=memory, user_id=uuid4().hex)
