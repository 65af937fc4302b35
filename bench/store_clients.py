"""Clients of a store: over REST, or with the engines in this process."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

from bench import local_engine
from bench.locomo import Conversation
from bench.server import Client, Refused

BULK = 500


class Store(Protocol):
    def load(self, conversation: Conversation) -> dict[str, str]:
        """Write the turns in order on a branch of their own; return their dia_ids by fact id."""

    def pending(self) -> int:
        """Return how many texts are not embedded yet."""

    def search(self, branch: str, query: str, recipe: str, search_type: str) -> tuple[list[str], float]:
        """Search; return the ids found, best first, and the caller's milliseconds."""


class RestStore:
    def __init__(self, client: Client) -> None:
        self.client = client

    def make_branch(self, name: str) -> None:
        try:
            self.client.ask("POST", "/branches", {"name": name})
        except Refused as refusal:
            if refusal.status == 409:
                raise SystemExit(f"The server already has the branch {name}.") from None
            raise

    def load(self, conversation: Conversation) -> dict[str, str]:
        self.make_branch(conversation.branch)
        dia_ids: dict[str, str] = {}
        for turns in in_bulk(conversation.turns):
            # Without deduplication, so that equal turns are two facts, as in the data.
            body = {
                "branch": conversation.branch,
                "facts": [turn.fact(conversation.sample) for turn in turns],
                "deduplicate": False,
            }
            answer = self.client.ask("POST", "/facts/bulk", body)["results"]
            dia_ids |= {row["id"]: turn.dia_id for row, turn in zip(answer, turns, strict=True)}
        return dia_ids

    def pending(self) -> int:
        return self.client.ask("GET", "/health")["embedding"]["pending"]

    def search(self, branch: str, query: str, recipe: str, search_type: str) -> tuple[list[str], float]:
        body = {"query": query, "branch": branch, "limit": 20, "search_type": search_type}
        started = time.perf_counter()
        answer = self.client.ask("POST", "/facts/search", {**body, "recipe": recipe} if recipe else body)
        took = (time.perf_counter() - started) * 1000
        return [hit["fact"]["id"] for hit in answer["results"]], took


class RestMessageStore(RestStore):
    """Store with the turns as messages: a session is a conversation, the first speaker its user."""

    def load(self, conversation: Conversation) -> dict[str, str]:
        self.make_branch(conversation.branch)
        where, dia_ids = {"branch": conversation.branch}, dict[str, str]()
        for session, turns in conversation.sessions():
            name = f"{conversation.sample}/{session}"
            talk = self.client.ask("POST", "/conversations", {"session_id": name, **where})
            body = {**where, "messages": [turn.message(turns[0].speaker) for turn in turns]}
            answer = self.client.ask("POST", f"/conversations/{talk['id']}/messages/batch", body)["results"]
            dia_ids |= {row["id"]: turn.dia_id for row, turn in zip(answer, turns, strict=True)}
        return dia_ids

    def search(self, branch: str, query: str, recipe: str, search_type: str) -> tuple[list[str], float]:
        parameters = {"q": query, "branch": branch, "limit": 20, "search_type": search_type}
        words = urlencode({**parameters, "recipe": recipe} if recipe else parameters)
        started = time.perf_counter()
        answer = self.client.ask("GET", f"/messages/search?{words}")
        took = (time.perf_counter() - started) * 1000
        return [hit["message"]["id"] for hit in answer["results"]], took


class EngineStore:
    def __init__(self, folder: Path, embedder: str = "minilm") -> None:
        local_engine.set_up(folder, embedder)
        self.actor = local_engine.local()

    def load(self, conversation: Conversation) -> dict[str, str]:
        from memory.engines.branches.manager import BranchManager
        from memory.engines.facts.engine import FactEngine

        BranchManager().create_branch(name=conversation.branch, actor=self.actor)
        dia_ids: dict[str, str] = {}
        for turns in in_bulk(conversation.turns):
            facts = [turn.fact(conversation.sample) for turn in turns]
            written = FactEngine().write_facts(
                facts=facts, actor=self.actor, branch_name=conversation.branch, deduplicate=False
            )
            stored = [str(row.fact.uid) for row in written.results]
            dia_ids |= dict(zip(stored, (turn.dia_id for turn in turns), strict=True))
        return dia_ids

    def pending(self) -> int:
        """Embed some texts, since no worker runs in this process; return how many are left."""
        from memory.engines.embedding.engine import EmbeddingEngine

        EmbeddingEngine().embed_pending(self.actor.project_id, limit=64)
        return EmbeddingEngine().count_backlog(self.actor.project_id)["pending"]

    def search(self, branch: str, query: str, recipe: str, search_type: str) -> tuple[list[str], float]:
        from memory.engines.search.engine import SearchEngine

        options: dict[str, Any] = {"limit": 20, "search_type": search_type, "recipe": recipe}
        started = time.perf_counter()
        found = SearchEngine().search(query=query, actor=self.actor, branch_name=branch, **options)
        took = (time.perf_counter() - started) * 1000
        return [str(hit.fact.uid) for hit in found.hits], took


class MessageStore(EngineStore):
    """Store with the turns as messages, through the engines."""

    def load(self, conversation: Conversation) -> dict[str, str]:
        from conversations.engines.conversations import ConversationEngine
        from conversations.engines.messages import MessageEngine
        from memory.engines.branches.manager import BranchManager

        BranchManager().create_branch(name=conversation.branch, actor=self.actor)
        dia_ids: dict[str, str] = {}
        where = {"actor": self.actor, "branch_name": conversation.branch}
        for session, turns in conversation.sessions():
            name = f"{conversation.sample}/{session}"
            talk = ConversationEngine().create_conversation(session_id=name, **where)
            messages = [turn.message(turns[0].speaker) for turn in turns]
            rows = MessageEngine().write_messages(conversation_id=talk.uid, messages=messages, **where)
            dia_ids |= {str(row.uid): turn.dia_id for row, turn in zip(rows, turns, strict=True)}
        return dia_ids

    def search(self, branch: str, query: str, recipe: str, search_type: str) -> tuple[list[str], float]:
        from conversations.engines.messages import MessageEngine

        options: dict[str, Any] = {"limit": 20, "search_type": search_type, "recipe": recipe}
        started = time.perf_counter()
        found = MessageEngine().search_messages(query=query, actor=self.actor, branch_name=branch, **options)
        took = (time.perf_counter() - started) * 1000
        return [str(hit.row.uid) for hit in found.hits], took


def in_bulk(rows: Sequence[Any]) -> list[Sequence[Any]]:
    return [rows[start : start + BULK] for start in range(0, len(rows), BULK)]
