"""Random histories over REST of a running server; rows are read as stored, by a process beside it."""

import base64
import json
import pickle
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from bench import server
from tests.memory.merging.oracle import Key, Row
from tests.memory.merging.transports import Choice, Item, Merged, Refused
from tests.up_process import Up

OBSERVE = """
import base64, pickle
from memory.actors import local_actor
from memory.models import Project
from tests.memory.merging.transports import EngineTransport

shown = EngineTransport(local_actor(Project.objects.get(slug={slug!r}).pk)).observe({branch!r}, {seq!r})
print(base64.b64encode(pickle.dumps(shown)).decode())
"""

EMBED = """
from memory.engines.embedding.engine import EmbeddingEngine
from memory.models import Project

EmbeddingEngine().embed_pending(Project.objects.get(slug={slug!r}).pk)
"""

CREATE = """
from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import create_main
from memory.models import Project

project = Project.objects.create(name={slug!r}, slug={slug!r})
create_main(project)
key = {{"label": "history", "scopes": ["admin"], "rate_per_minute": 1_000_000}}
print(KeyEngine().create_key(actor=local_actor(project.pk), **key)[1])
"""


class RestTransport:
    """The calls of ``EngineTransport`` over REST, in a new project."""

    def __init__(self, up: Up, slug: str) -> None:
        self.up, self.slug, self.snapshots = up, slug, 0
        self.client = server.Client(up.first["url"], up.run_python(CREATE.format(slug=slug)).strip())

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; return the answer. Raises Refused."""
        packed = None if body is None else json.dumps(body).encode()
        status, _, text = self.client.raw(method, path, packed)
        answer = json.loads(text) if text else None
        if status >= 400:
            raise Refused(answer["code"], answer["detail"])
        return answer

    # ---- writing -------------------------------------------------------------------------------

    def write_fact(self, branch: str, text: str, **fields: Any) -> None:
        self.ask("POST", "/facts", {"fact_text": text, "branch": branch, **fields})

    def update_fact(self, branch: str, uid: str, updates: Mapping[str, Any]) -> None:
        self.ask("PATCH", f"/facts/{uid}", {"branch": branch, **updates})

    def delete_fact(self, branch: str, uid: str) -> None:
        self.ask("DELETE", f"/facts/{uid}?branch={quote(branch)}")

    def replace_fact(self, branch: str, uid: str, text: str) -> None:
        self.ask("POST", f"/facts/{uid}/supersede", {"branch": branch, "new_fact_text": text})

    def judge_fact(self, branch: str, uid: str, verdict: str) -> None:
        self.ask("POST", f"/facts/{uid}/verify", {"branch": branch, "verdict": verdict})

    def write_link(self, branch: str, start: str, end: str, end_type: str) -> None:
        body = {"branch": branch, "to_id": end, "to_type": end_type, "link_type": "BRIDGE"}
        self.ask("POST", f"/facts/{start}/links", body)

    def delete_link(self, branch: str, start: str, uid: str) -> None:
        self.ask("DELETE", f"/facts/{start}/links/{uid}?branch={quote(branch)}")

    def write_relation(self, branch: str, target: str, properties: Mapping[str, Any]) -> None:
        ends = {"source_entity": "app", "relation_type": "uses", "target_entity": target}
        self.ask("POST", "/relations", {"branch": branch, **ends, "properties": properties})

    def close_relation(self, branch: str, uid: str) -> None:
        self.ask("POST", f"/relations/{uid}/close", {"branch": branch})

    def write_observation(self, branch: str, text: str) -> None:
        self.ask("POST", "/observations", {"branch": branch, "summary": text})

    def create_conversation(self, branch: str, title: str) -> None:
        self.ask("POST", "/conversations", {"branch": branch, "title": title})

    def close_conversation(self, branch: str, uid: str) -> None:
        self.ask("POST", f"/conversations/{uid}/complete", {"branch": branch})

    def write_message(self, branch: str, uid: str, text: str) -> None:
        body = {"branch": branch, "role": "user", "content": text}
        self.ask("POST", f"/conversations/{uid}/messages", body)

    def erase_fact(self, uid: str) -> None:
        self.ask("POST", "/erasures", {"scope": "fact", "target": uid, "confirm": self.slug})

    def embed(self) -> None:
        self.up.run_python(EMBED.format(slug=self.slug))

    # ---- branches ------------------------------------------------------------------------------

    def create_branch(self, name: str, parent: str, at: int) -> None:
        self.ask("POST", "/branches", {"name": name, "parent": parent, "at": at})

    def read_head(self, branch: str) -> int:
        return int(self.ask("GET", f"/branches/{branch}")["head"])

    def revert(self, branch: str, seq: int) -> None:
        self.ask("POST", f"/commits/{self._find_commit(branch, seq)}/revert", {})

    def _find_commit(self, branch: str, seq: int) -> str:
        path, cursor = f"/branches/{branch}/log?limit=100", ""
        while cursor is not None:
            page = self.ask("GET", f"{path}&cursor={quote(cursor)}")
            for commit in page["results"]:
                if commit["seq"] == seq:
                    return str(commit["id"])
            cursor = page["next"]
        raise AssertionError(f"{branch} has no commit {seq}")

    def restore(self, branch: str, seq: int) -> None:
        self.snapshots += 1
        made = self.ask("POST", "/snapshots", {"name": f"s{self.snapshots}", "branch": branch, "at": seq})
        self.ask("POST", f"/snapshots/{made['id']}/restore", {})

    # ---- merging -------------------------------------------------------------------------------

    def plan(self, source: str, target: str, strategy: str = "auto") -> list[Item]:
        """Return the whole plan, read in pages of few."""
        body = {"target": target, "strategy": strategy, "dry_run": True, "limit": 7}
        items: list[Item] = []
        cursor: str | None = ""
        while cursor is not None:
            page = self.ask("POST", f"/branches/{source}/merge", {**body, "cursor": cursor})
            items += map(read_item, page["results"])
            cursor = page["next"]
        return items

    def merge(
        self, source: str, target: str, strategy: str, choices: Sequence[Choice] = (), ids: Sequence[str] = ()
    ) -> Merged:
        decisions = [
            {
                "id": one.item.uid,
                "type": one.item.kind,
                "choice": one.choice,
                "token": one.item.token,
                "text": one.text,
            }
            for one in choices
        ]
        # main wants what is merged into it to be verified; these histories are about something else.
        body = {
            "target": target,
            "strategy": strategy,
            "ids": list(ids),
            "decisions": decisions,
            "force": True,
        }
        done = self.ask("POST", f"/branches/{source}/merge", body)
        return Merged(done["commit"] and done["commit"]["id"], done["open_conflicts"])

    # ---- reading -------------------------------------------------------------------------------

    def observe(self, branch: str, seq: int | None = None) -> dict[Key, Row]:
        """Return all that a branch shows, or showed at a seq."""
        printed = self.up.run_python(OBSERVE.format(slug=self.slug, branch=branch, seq=seq))
        return cast("dict[Key, Row]", pickle.loads(base64.b64decode(printed)))


def read_item(row: Mapping[str, Any]) -> Item:
    other = (row["other"] or {}).get("id", "")
    return Item(row["type"], row["id"], row["class"], row["reason"], row["token"], other)
