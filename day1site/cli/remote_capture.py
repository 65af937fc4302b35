"""The part of a server's client on what was said, done and connected."""

from typing import Any
from urllib.parse import quote

from day1site.cli.client import Answer, Given


class RemoteCapture:
    api: Any

    # ---- observations and relations ----------------------------------------------------------------

    def write_observation(self, branch: str, fields: Given) -> Answer:
        return self.api.post("/observations", branch=branch, **fields)

    def write_observations(self, branch: str, observations: list[Answer]) -> list[Answer]:
        return [self.write_observation(branch, one) for one in observations]

    def get_observation(self, uid: str, branch: str, at: str | None) -> Answer:
        return self.api.get(f"/observations/{_in_path(uid)}", branch=branch, at=at)

    def list_observations(self, branch: str, filters: Given, paging: Given) -> Answer:
        return self.api.get("/observations", branch=branch, **filters, **paging)

    def write_relation(self, branch: str, fields: Given) -> Answer:
        return self.api.post("/relations", branch=branch, **fields)

    def list_relations(self, branch: str, which: Given, paging: Given) -> Answer:
        return self.api.get("/relations", branch=branch, **which, **paging)

    def close_relation(self, uid: str, branch: str, fields: Given) -> Answer:
        return self.api.post(f"/relations/{_in_path(uid)}/close", branch=branch, **fields)

    def graph(self, branch: str, which: Given) -> Answer:
        return self.api.get("/relations/graph", branch=branch, **which)

    # ---- sessions ----------------------------------------------------------------------------------

    def create_session(self, branch: str, fields: Given) -> Answer:
        return self.api.post("/sessions", branch=branch, **fields)

    def list_sessions(self, which: Given, paging: Given) -> Answer:
        return self.api.get("/sessions", **which, **paging)

    def get_session(self, session_id: str) -> Answer:
        return self.api.get(f"/sessions/{quote(session_id)}")

    def session_context(self, session_id: str, limits: Given) -> Answer:
        return self.api.get(f"/sessions/{quote(session_id)}/context", **limits)

    def end_session(self, session_id: str, fields: Given) -> Answer:
        return self.api.post(f"/sessions/{quote(session_id)}/end", **fields)

    # ---- conversations -----------------------------------------------------------------------------

    def create_conversation(self, branch: str, fields: Given) -> Answer:
        return self.api.post("/conversations", branch=branch, **fields)

    def get_conversation(self, uid: str, branch: str, at: str | None) -> Answer:
        return self.api.get(f"/conversations/{_in_path(uid)}", branch=branch, at=at)

    def list_conversations(self, branch: str, filters: Given, paging: Given) -> Answer:
        return self.api.get("/conversations", branch=branch, **filters, **paging)

    def close_conversation(self, uid: str, branch: str) -> Answer:
        return self.api.post(f"/conversations/{_in_path(uid)}/complete", branch=branch)

    def write_messages(self, conversation: str, branch: str, messages: list[Answer]) -> list[Answer]:
        path = f"/conversations/{_in_path(conversation)}/messages/batch"
        return list(self.api.post(path, branch=branch, messages=messages)["results"])

    def list_messages(self, conversation: str, branch: str, which: Given, paging: Given) -> Answer:
        path = f"/conversations/{_in_path(conversation)}/messages"
        return self.api.get(path, branch=branch, **which, **paging)

    def get_message(self, uid: str, branch: str, at: str | None) -> Answer:
        return self.api.get(f"/messages/{_in_path(uid)}", branch=branch, at=at)


def _in_path(uid: str) -> str:
    return quote(uid, safe="")
