"""Conversations: a long one opened, forked, read beside many forks, and two compared; beside bare statements.

.venv/bin/python -m bench.conversations [--messages 5000] [--forks 10000] [--compared 500] [--cpu] [--runs 20]

The reference, in the same run: what the step cannot do without, in statements of Python's sqlite3. Exit
status 1 when a bound is missed.
"""

import argparse
import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench import local_engine, many_rows, report
from bench.report import Figure, p50, p95, table, times

PAGE = 50
OPEN_MS, FORK_MS, DIFF_MS, RATIO = 100, 5, 500, 1.3
TOOLS = ("Read", "Grep", "Edit", "Bash")
WORDS = "the cache clock login session token gateway test build shop order queue worker error retry".split()


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        local_engine.set_up(Path(folder), "minilm")
        figures = list(Run(Path(folder), options).list_figures())
    print("\n" + table(figures))
    sys.exit(0 if all(figure.kept for figure in figures) else 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Long conversations and their forks.")
    parser.add_argument("--messages", type=int, default=5_000, help="of the long conversation")
    parser.add_argument("--forks", type=int, default=10_000)
    parser.add_argument("--compared", type=int, default=500, help="messages of each that is compared")
    parser.add_argument("--cpu", action="store_true", help="measure processor time: others use the machine")
    parser.add_argument("--runs", type=int, default=20)
    return parser.parse_args()


class Run:
    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        from conversations.engines.conversations import ConversationEngine
        from conversations.engines.messages import MessageEngine
        from memory.models import Project

        self.options, self.actor = options, local_engine.local()
        clock = time.process_time if options.cpu else time.perf_counter
        self.timed = partial(report.timed, clock=clock)
        self.talks, self.messages = ConversationEngine(), MessageEngine()
        self.main = Project.objects.get(slug="default").branches.get(name="main")
        self.database = sqlite3.connect(folder / "day1.sqlite3")
        self.browser, self.key = open_browser(self.actor), create_key(self.actor)

    def measure(self, work: Callable[[], Any], runs: int = 0) -> list[float]:
        for _ in range(2):  # they warm up
            work()
        return [self.timed(work) for _ in range(runs or self.options.runs)]

    def list_figures(self) -> Iterator[Figure]:
        self.talk = self.write_talk(self.options.messages, seed=1)
        local_engine.optimize()
        local_engine.freeze_gc()
        yield from self.measure_opening()
        yield from self.measure_forks()
        yield from self.measure_diff()

    # ---- a long conversation -------------------------------------------------------------------

    def write_talk(self, count: int, seed: int) -> Any:
        row = self.talks.create_conversation(actor=self.actor, title="Long", session_id=f"bench-{seed}")
        fields = {"embed": False} if seed == 1 else {}
        batch = [build_message(number, seed) | fields for number in range(count)]
        for start in range(0, count, 1000):
            self.messages.write_messages(
                conversation_id=row.uid, messages=batch[start : start + 1000], actor=self.actor
            )
        return row

    def measure_opening(self) -> Iterator[Figure]:
        bare = p95(self.measure(self.read_bare))
        says = "50 rows by sqlite3"
        for name, work in self.list_openings(self.talk.uid).items():
            name = f"{name} of {self.options.messages:,} messages, first page, p95"
            yield Figure(name, p95(self.measure(work)), "ms", OPEN_MS, f"≤ {OPEN_MS} ms", bare, says)

    def list_openings(self, uid: Any) -> dict[str, Callable[[], Any]]:
        """Return how a conversation is opened, by a person and by a program."""
        from django.urls import reverse

        page = reverse("conversation", args=["default", uid])
        return {
            "the page": lambda: self.fetch(page),
            "REST": lambda: self.fetch(
                f"/api/v1/conversations/{uid}/messages?limit={PAGE}", authorization=f"Bearer {self.key}"
            ),
        }

    def fetch(self, address: str, **headers: str) -> None:
        answer = self.browser.get(address, headers=headers)
        assert answer.status_code == 200, (address, answer.status_code)

    def read_bare(self) -> None:
        sql = (
            "SELECT * FROM conversations_message WHERE branch_id = ? AND conversation_id = ? AND seq_to = ? "
            "ORDER BY sequence_num LIMIT ?"
        )
        self.database.execute(sql, (self.main.pk, self.talk.uid.hex, 2**62, PAGE)).fetchall()

    # ---- forks ---------------------------------------------------------------------------------

    def measure_forks(self) -> Iterator[Figure]:
        middle = self.find_message(self.options.messages // 2)
        fork = partial(
            self.talks.fork_conversation, conversation_id=self.talk.uid, message_id=middle, actor=self.actor
        )
        spent = p50(self.measure(fork))
        bare = p50(self.measure(self.insert_bare))
        says = "a row inserted by sqlite3"
        yield Figure("a fork, p50", spent, "ms", FORK_MS, f"≤ {FORK_MS} ms", bare, says)
        forked = fork()
        few = {name: self.measure_reads(uid) for name, uid in self.name_sides(forked).items()}
        many_rows.put(self.build_forks(forked))
        local_engine.optimize()
        for name, uid in self.name_sides(forked).items():
            for step, value in self.measure_reads(uid).items():
                text = f"{step} of {name} with {self.options.forks:,} forks, p50"
                yield times(text, value, few[name][step], RATIO, "with few")
        yield from self.measure_list()

    def measure_list(self) -> Iterator[Figure]:
        """Measure the list of all forks, as a page and over REST."""
        from django.urls import reverse

        bare = p50(self.measure(self.read_bare))
        addresses = {"the page": reverse("forks", args=["default"])}
        addresses["REST"] = f"/api/v1/conversations?fork=true&limit={PAGE}"
        for name, address in addresses.items():
            headers = {"authorization": f"Bearer {self.key}"} if name == "REST" else {}
            spent = p50(self.measure(partial(self.fetch, address, **headers)))
            text = f"{name} of the list of {self.options.forks:,} forks, first page, p50"
            yield Figure(text, spent, "ms", OPEN_MS, f"≤ {OPEN_MS} ms", bare, "50 rows by sqlite3")

    def name_sides(self, forked: Any) -> dict[str, Any]:
        return {"the source": self.talk.uid, "a fork": forked.uid}

    def measure_reads(self, uid: Any) -> dict[str, float]:
        return {name: p50(self.measure(work)) for name, work in self.list_openings(uid).items()}

    def find_message(self, number: int) -> Any:
        from conversations.models import Message

        rows = Message._base_manager.filter(conversation_id=self.talk.uid, sequence_num=number)
        return rows.values_list("uid", flat=True)[0]

    def insert_bare(self) -> None:
        with self.database:
            self.database.execute("CREATE TABLE IF NOT EXISTS bench_fork (id TEXT PRIMARY KEY, title TEXT)")
            self.database.execute("INSERT INTO bench_fork VALUES (?, 'Long')", (uuid.uuid4().hex,))

    def build_forks(self, forked: Any) -> list[Any]:
        from conversations.models import Conversation

        points = {name: getattr(forked, name) for name in ("parent_conversation_id", "fork_point_message_id")}
        self.main.refresh_from_db()
        return [
            Conversation(title="Long", **points, **many_rows.version(self.main))
            for _ in range(self.options.forks)
        ]

    # ---- comparison ----------------------------------------------------------------------------

    def measure_diff(self) -> Iterator[Figure]:
        from conversations.engines.semantic_diff.engine import SemanticDiffEngine
        from memory.engines.embedding.engine import EmbeddingEngine

        sides = [self.write_talk(self.options.compared, seed) for seed in (2, 3)]
        engine, count = SemanticDiffEngine(), self.options.compared
        both: dict[str, Any] = {"conversation_id": sides[0].uid, "other": sides[1].uid, "actor": self.actor}
        bare = p50(self.measure(lambda: self.read_sides(sides)))
        for how in ("by words", "by vectors"):
            name = f"semantic diff of two of {count} messages, {how}, p50"
            spent = p50(self.measure(lambda: engine.semantic_diff(**both)))
            yield Figure(name, spent, "ms", DIFF_MS, f"≤ {DIFF_MS} ms", bare, "both read by sqlite3")
            EmbeddingEngine().embed_pending(self.actor.project_id, 10_000)
        spent = p50(self.measure(lambda: engine.diff_rows(**both)))
        name = f"row diff of two of {count} messages, p50"
        yield Figure(name, spent, "ms", DIFF_MS, f"≤ {DIFF_MS} ms", bare, "both read by sqlite3")

    def read_sides(self, sides: list[Any]) -> None:
        sql = "SELECT * FROM conversations_message WHERE branch_id = ? AND conversation_id = ? AND seq_to = ?"
        for side in sides:
            self.database.execute(sql, (self.main.pk, side.uid.hex, 2**62)).fetchall()


def build_message(number: int, seed: int) -> dict[str, Any]:
    """Return a message: a turn is a prompt, an answer with a call, its result, and an answer."""
    said = " ".join(WORDS[(number * seed + step * step) % len(WORDS)] for step in range(12 + number % 60))
    place = number % 4
    call = {"id": f"c{number}", "name": TOOLS[(number // 4 * seed) % 4], "input": {"n": number % 7}}
    if place == 0:
        return {"role": "user", "content": f"{number} {said}"}
    if place == 2:
        return {"role": "tool_result", "content": f"{said}\n" * 5, "tool_calls": [call]}
    return {"role": "assistant", "content": f"{number} {said}", "tool_calls": [call] if place == 1 else []}


def create_key(actor: Any) -> str:
    from memory.engines.access.keys import KeyEngine

    return KeyEngine().create_key(label="bench", scopes=["read"], actor=actor, rate_per_minute=100_000)[1]


def open_browser(actor: Any) -> Any:
    """Return a browser of a maintainer, in this process."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    from memory.models import Membership

    users: Any = get_user_model().objects
    user = users.create_user("bench")
    Membership.objects.create(user=user, project_id=actor.project_id, role=Membership.Role.MAINTAINER)
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client


if __name__ == "__main__":
    main()
