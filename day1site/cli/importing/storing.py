"""What was read becomes sessions, conversations, messages and observations; a second time adds nothing."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from day1site.cli.client import Answer, Client
from day1site.cli.facts import pages
from day1site.cli.importing import parts
from day1site.cli.importing.parts import Report, Said, Talk

MOST = 200  # messages in one request
MOST_BYTES = 3 * 1024 * 1024
OVER = timedelta(hours=1)  # without a word: the session has ended
LIVE = "captured already while it was said"


class Storing:
    """One run. ``counts`` holds what is new and known of each kind."""

    def __init__(self, client: Client, branch: str, report: Report, dry: bool) -> None:
        self.client, self.branch, self.report, self.dry = client, branch, report, dry
        self.counts: Counter[tuple[str, str]] = Counter()

    def take(self, talks: Sequence[Talk]) -> None:
        """The conversations of one session."""
        session = talks[0].session
        known, stored = self._known(session), 0
        for talk in talks:
            fresh = [said for said in talk.messages if self._is_fresh(said, known)]
            self.counts["conversations", "new"] += bool(fresh)
            self.counts["messages", "new"] += len(fresh)
            self.counts["observations", "new"] += sum(bool(said.call) for said in fresh)
            stored += len(fresh)
            if not self.dry:
                self._store(talk, fresh, known)
        if stored and not self.dry and max(talk.last for talk in talks) < ago(OVER):
            self._end(session, talks)

    def _end(self, session: str, talks: Sequence[Talk]) -> None:
        summary = next((text for talk in talks if (text := talk.summary or talk.title)), "")
        self.client.end_session(session, {"summary": parts.storable(summary)[:16000]})

    # ---- what is there -----------------------------------------------------------------------------

    def _known(self, session: str) -> "Known":
        known = Known()
        where = {"session_id": [session]}
        for talk in self._all(lambda paging: self.client.list_conversations(self.branch, where, paging)):
            known.add(talk, self._messages_of(talk["id"]))
        if known.messages:
            found = self._all(lambda paging: self.client.list_observations(self.branch, where, paging))
            known.observed = {row["message_id"] for row in found}
        return known

    def _messages_of(self, uid: str) -> Iterator[Answer]:
        return self._all(lambda paging: self.client.list_messages(uid, self.branch, {}, paging))

    def _all(self, page: Any) -> Iterator[Answer]:
        return (row for answer in pages(page, {}, all_pages=True) for row in answer["results"])

    def _is_fresh(self, said: Said, known: "Known") -> bool:
        if said.source in known.messages:
            self.counts["messages", "known"] += 1
            return False
        if known.live and said.at >= known.live:
            self.report.skip(LIVE)
            return False
        return True

    # ---- writing -----------------------------------------------------------------------------------

    def _store(self, talk: Talk, fresh: Sequence[Said], known: "Known") -> None:
        here = {said.source for said in talk.messages}
        stored = {source: uid for source, uid in known.messages.items() if source in here}
        if fresh:
            conversation = known.open.get(talk.agent) or self._begin(talk)
            for some in _batches(fresh):
                rows = self.client.write_messages(
                    conversation, self.branch, [_message(s, talk) for s in some]
                )
                stored |= {said.source: row["id"] for said, row in zip(some, rows, strict=True)}
        missing = [
            said for said in talk.messages
            if said.call and said.source in stored and stored[said.source] not in known.observed
        ]  # fmt: skip
        for some in _batches(missing):
            seen = [_observation(said, talk, stored[said.source]) for said in some]
            self.client.write_observations(self.branch, seen)

    def _begin(self, talk: Talk) -> str:
        who = {"session_id": talk.session, "agent_id": talk.agent}
        path = parts.storable(parts.project_of(talk.path))[:1000]
        self.client.create_session(self.branch, {**who, "project_path": path})
        title = " ".join(parts.storable(talk.title).split())[:300]
        return str(self.client.create_conversation(self.branch, {**who, "title": title})["id"])


class Known:
    """What the store has of one session."""

    def __init__(self) -> None:
        self.messages: dict[str, str] = {}  # id in the file -> id of the message
        self.observed: set[str] = set()  # ids of messages that have their observation
        self.open: dict[str, str] = {}  # agent -> conversation of an import that takes more
        self.live = ""  # when the first word came that no import brought

    def add(self, talk: Answer, messages: Iterator[Answer]) -> None:
        imported = False
        for row in messages:
            if source := row["metadata"].get("source_id"):
                self.messages[source] = row["id"]
                imported = True
            else:
                at = parts.moment(row["said_at"] or row["created_at"])
                self.live = min(self.live or at, at)
        if imported and talk["status"] == "active":
            self.open[talk["agent_id"]] = talk["id"]


def _batches(said: Sequence[Said]) -> Iterator[list[Said]]:
    some: list[Said] = []
    size = 0
    for one in said:
        length = min(len(one.content), parts.MOST_BYTES) + len(one.thinking)
        if some and (len(some) == MOST or size + length > MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(one)
        size += length
    if some:
        yield some


def _message(said: Said, talk: Talk) -> Answer:
    call = said.call
    fields: Answer = {
        "role": said.role,
        "content": parts.within(parts.storable(said.content)),
        "thinking": parts.within(parts.storable(said.thinking)),
        "model": said.model[:200],
        "said_at": said.at or None,
        "metadata": {"source_id": said.source, "source": talk.agent.partition("/")[0]},
    }
    if call:
        fields["tool_calls"] = [
            {"id": call.id, "name": call.name, "input": parts.brief(parts.storable(call.input))}
        ]
    return {name: value for name, value in fields.items() if value not in (None, "")} | {
        "content": fields["content"]
    }


def _observation(said: Said, talk: Talk, message: str) -> Answer:
    assert said.call is not None
    given, output = parts.storable(said.call.input), parts.storable(said.content)
    failed = {"is_error": True} if said.call.failed else {}
    return {
        "tool_name": said.call.name[:200],
        "raw_input": given if isinstance(given, str | dict) else json.dumps(given),
        "raw_output": {**failed, "content": parts.brief(output)},
        "message_id": message,
        "metadata": {"source_id": said.source, **({"said_at": said.at} if said.at else {})},
        "session_id": talk.session,
        "agent_id": talk.agent,
    }


def ago(span: timedelta) -> str:
    return (datetime.now(UTC) - span).isoformat()
