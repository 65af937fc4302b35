"""No acknowledged write is lost: kill -9 in the middle of concurrent writes, again and again, on one folder.

.venv/bin/python bench/kill.py [--rounds 10] [--clients 20]
"""

import argparse
import http.client
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from server import ROOT, Client, Refused, in_path

Stored = dict[str, list[dict[str, Any]]]  # rows of facts by branch

BRANCHES = ("main", "task/left", "task/right")
BULK, ONE_IN = 20, 12  # facts of a bulk; one request in so many is one
MOMENT = (0.5, 3.0)  # seconds of writing before the kill
EARLIER, MEANT = 200, 20  # facts of earlier rounds searched by keyword; facts searched by vector, a round
PATIENCE = 180.0  # seconds for a start, or for the vectors
RATE = 1_000_000
LETTERS = "bdfgklmpqtvz"
THINGS = ("cache", "parser", "invoice", "login page", "nightly build", "schema", "queue", "search index")
FACTS = (
    "The {thing} of service {number} keeps {word} until somebody clears it by hand.",
    "When {word} is missing, the {thing} waits {number} seconds and then gives up.",
    "Customer {number} asked for {word} in the {thing}, and nobody objected.",
    "We decided against {word}: the {thing} would have needed {number} more tables.",
)


@dataclass(frozen=True)
class Written:
    """A fact that the server said it has stored."""

    id: str
    branch: str
    word: str


@dataclass(frozen=True)
class Request:
    """One POST. With ``key`` it may be sent again; nothing else keeps its facts from being doubled."""

    path: str
    branch: str
    words: tuple[str, ...]
    body: dict[str, Any]
    key: str = ""


@dataclass
class Round:
    """What one round's clients were told, what they were not told any more, and what was odd."""

    written: list[Written] = field(default_factory=list)
    cut: list[Request] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)


# ---- the server ------------------------------------------------------------------------------------


class Server:
    """``manage.py up`` on one folder and one port: started, killed, started again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.log = folder / "data", free_port(), folder / "server.log"
        self.url = f"http://127.0.0.1:{self.port}"
        self.key = ""

    def start(self) -> float:
        """Until it says that it is ready; returns the seconds that took."""
        began = time.monotonic()
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("DAY1_", "DJANGO_"))}
        words = ["manage.py", "up", "--port", str(self.port), "--data-dir", str(self.folder)]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, *words], cwd=ROOT, env=kept | {"DAY1_NO_BOOTSTRAP": "1"},
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() - began > PATIENCE:
                raise RuntimeError(f"The server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)
        self.key = self.key or self.make_key()
        return time.monotonic() - began

    def ready(self) -> bool:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as link:
                link.request("GET", "/api/v1/health/ready")
                return link.getresponse().status == 200
        except OSError:
            return False

    def make_key(self) -> str:
        """A key that no number of requests exhausts."""
        first = Client(self.url, json.loads((self.folder / "first-key.json").read_text())["key"])
        wish = {"label": "kill", "scopes": ["read", "write"], "rate_per_minute": RATE}
        with closing(first):
            return first.ask("POST", "/keys", wish)["token"]

    def client(self) -> Client:
        return Client(self.url, self.key)

    def kill(self) -> None:
        """Everything at once, without a word of warning."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    def faults(self) -> list[str]:
        """What the log has of errors, of all starts."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [f"log: {line}" for line in lines if " ERROR " in line or line.startswith("Traceback")]

    def damage(self) -> list[str]:
        """What SQLite finds wrong in the file. Only after the end of the process."""
        with closing(sqlite3.connect(self.folder / "day1.sqlite3")) as database:
            found = [row[0] for row in database.execute("PRAGMA integrity_check")]
            broken = database.execute("PRAGMA foreign_key_check").fetchall()
        return [f"file: {line}" for line in found if line != "ok"] + [f"foreign key: {row}" for row in broken]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


# ---- writing ---------------------------------------------------------------------------------------


class Writer(threading.Thread):
    """One client: writes over a connection that it keeps, until the server is gone."""

    def __init__(self, server: Server, round: Round, chance: random.Random, numbers: Iterator[int]) -> None:
        super().__init__(daemon=True)
        self.round, self.chance, self.numbers = round, chance, numbers
        self.link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}

    def run(self) -> None:
        with closing(self.link):
            while self.send(self.request()):
                pass

    def send(self, request: Request) -> bool:
        """False when the answer did not come whole: then nothing is promised."""
        try:
            status, answer = post(self.link, request, self.headers)
        except (OSError, http.client.HTTPException):
            self.round.cut.append(request)
            return False
        if status == 201:
            self.round.written.extend(written(request, answer))
        else:
            self.round.trouble.append(f"POST {request.path} on {request.branch}: {status} {answer}")
        return True

    def request(self) -> Request:
        branch = self.chance.choice(BRANCHES)
        bulk = self.chance.randrange(ONE_IN) == 0
        words = tuple(word(next(self.numbers)) for _ in range(BULK if bulk else 1))
        facts = [{"fact_text": self.text(one)} for one in words]
        key = f"kill-{words[0]}" if self.chance.random() < 0.5 else ""
        common = {"branch": branch, "session_id": self.name, "deduplicate": False}
        if bulk:
            return Request("/facts/bulk", branch, words, {"facts": facts, **common}, key)
        return Request("/facts", branch, words, {**facts[0], **common}, key)

    def text(self, one: str) -> str:
        how, thing = self.chance.choice(FACTS), self.chance.choice(THINGS)
        return how.format(word=one, thing=thing, number=self.chance.randrange(2, 1000))


def word(number: int) -> str:
    """A word that no other number has, and that has no ending to be cut off."""
    letters = ""
    for _ in range(6):
        number, digit = divmod(number, len(LETTERS))
        letters = LETTERS[digit] + letters
    return f"x{letters}q"


def post(link: http.client.HTTPConnection, request: Request, headers: dict[str, str]) -> tuple[int, Any]:
    """Status and answer, when all of it came."""
    sent = headers | ({"Idempotency-Key": request.key} if request.key else {})
    link.request("POST", f"/api/v1{request.path}", json.dumps(request.body).encode(), sent)
    answer = link.getresponse()
    return answer.status, json.loads(answer.read())


def written(request: Request, answer: Any) -> list[Written]:
    rows = answer.get("results", [answer])
    return [Written(row["id"], request.branch, one) for row, one in zip(rows, request.words, strict=True)]


def write_and_kill(server: Server, writers: Sequence[Writer], round: Round, seconds: float) -> None:
    """All clients write; after some seconds the server is killed."""
    for writer in writers:
        writer.start()
    time.sleep(seconds)
    if server.process.poll() is not None:
        round.trouble.append(f"The server ended by itself: {server.process.returncode}")
    server.kill()
    for writer in writers:
        writer.join()


# ---- what must be there ----------------------------------------------------------------------------


def pages(client: Client, path: str, **query: Any) -> Iterator[dict[str, Any]]:
    """Every row of a list."""
    cursor: str | None = ""
    while cursor is not None:
        told = client.ask("GET", f"{path}?{urlencode({**query, 'limit': 100, 'cursor': cursor})}")
        yield from told["results"]
        cursor = told["next"]


def stored(client: Client) -> Stored:
    """All facts, by branch. The branches were made when main was empty, so each has only its own."""
    return {branch: list(pages(client, "/facts", branch=branch)) for branch in BRANCHES}


def lost(facts: Stored, promised: Sequence[Written]) -> list[str]:
    """What was acknowledged and is not there, on its branch and with its word."""
    there = {
        (row["id"], branch, *words_of(row["fact_text"])) for branch, rows in facts.items() for row in rows
    }
    return [
        f"LOST: {one.id} on {one.branch} ({one.word})"
        for one in promised
        if (one.id, one.branch, one.word) not in there
    ]


def halves(facts: Stored, cut: Sequence[Request]) -> list[str]:
    """Bulks without an answer of which neither all facts are there nor none, and facts that are doubled."""
    seen = all_words(facts)
    trouble = [f"{one} is stored {times} times" for one, times in seen.items() if times > 1]
    for request in cut:
        there = sum(one in seen for one in request.words)
        if there not in (0, len(request.words)):
            trouble.append(f"HALF: {there} of {len(request.words)} facts of a bulk on {request.branch}")
        if request.key and not there:
            trouble.append(f"LOST: sent again with its key, and not there: {request.words[0]}")
    return trouble


def all_words(facts: Stored) -> Counter[str]:
    """How often each unique word is there: once."""
    return Counter(one for rows in facts.values() for row in rows for one in words_of(row["fact_text"]))


def words_of(text: str) -> list[str]:
    """The unique words of a text: one."""
    parts = (part.strip(".,:") for part in text.split())
    return [part for part in parts if len(part) == 8 and part[0] == "x" and set(part[1:-1]) <= set(LETTERS)]


def send_again(server: Server, cut: Sequence[Request]) -> Round:
    """Every request with a key that got no answer, twice more: the second answer repeats the first."""
    round = Round()
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as link:
        for request in (one for one in cut if one.key):
            answers = [post(link, request, headers) for _ in range(2)]
            if answers[0] != answers[1] or answers[0][0] != 201:
                round.trouble.append(f"sent again, {request.key} got {answers}")
            else:
                round.written.extend(written(request, answers[0][1]))
    return round


def unfound(client: Client, facts: Sequence[Written], texts: dict[str, str] | None = None) -> list[str]:
    """Facts that a keyword search for their word, or a vector search for their text, does not find."""
    how = "vector" if texts else "keyword"
    trouble = []
    for one in facts:
        query = texts[one.id] if texts else one.word
        wish = {"query": query, "search_type": how, "branch": one.branch}
        hits = client.ask("POST", "/facts/search", wish)["results"]
        if one.id not in [hit["fact"]["id"] for hit in hits]:
            trouble.append(f"NOT FOUND by {how}: {one.id} on {one.branch} ({query})")
    return trouble


def wait_for_vectors(client: Client) -> None:
    """Until no text waits for its vector."""
    began = time.monotonic()
    while (state := client.ask("GET", "/health")["embedding"])["pending"]:
        if time.monotonic() - began > PATIENCE:
            raise RuntimeError(f"Vectors are still missing after {PATIENCE:.0f} s: {state}")
        time.sleep(0.2)


def without_vector(facts: Stored) -> list[str]:
    rows = [row for some in facts.values() for row in some]
    return [
        f"NO VECTOR: {row['id']} is {row['embedding_state']}"
        for row in rows
        if row["embedding_state"] != "ready"
    ]


def gaps(client: Client, facts: Stored) -> list[str]:
    """Branches whose log is not 1 to head, each once, or tells of another number of facts than are there."""
    trouble = []
    for branch, rows in facts.items():
        head = client.ask("GET", f"/branches/{in_path(branch)}")["head"]
        commits = list(pages(client, f"/branches/{in_path(branch)}/log"))
        if [commit["seq"] for commit in commits] != list(range(head, 0, -1)):
            trouble.append(f"LOG of {branch}: not 1 to {head}, in order")
        if (told := sum(commit["added"] for commit in commits)) != len(rows):
            trouble.append(f"LOG of {branch}: {told} facts added, {len(rows)} there")
    return trouble


# ---- rounds ----------------------------------------------------------------------------------------


@dataclass
class Proof:
    """One folder, and everything that was acknowledged on it."""

    server: Server
    chance: random.Random
    clients: int
    moment: tuple[float, float] = MOMENT
    written: list[Written] = field(default_factory=list)
    cut: list[Request] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def begin(self) -> None:
        self.server.start()
        with closing(self.server.client()) as client:
            for name in BRANCHES[1:]:
                client.ask("POST", "/branches", {"name": name})

    def round(self, number: int) -> str:
        """Write, kill, start, look; the line to print."""
        seconds, done = self.chance.uniform(*self.moment), Round()
        write_and_kill(self.server, self.writers(done), done, seconds)
        start, before = self.server.start(), len(self.trouble)
        with closing(self.server.client()) as client:
            pending = client.ask("GET", "/health")["embedding"]["pending"]
            kept = self.look(client, done)
        return (
            f"round {number:2}: killed after {seconds:.1f} s: {len(done.written):4} facts acknowledged,"
            f" {len(done.cut)} requests cut off ({kept} of them stored);"
            f" up in {start:.1f} s with {pending} vectors to make; {len(self.trouble) - before} wrong"
        )

    def writers(self, done: Round) -> list[Writer]:
        chances = [random.Random(self.chance.random()) for _ in range(self.clients)]
        return [Writer(self.server, done, chance, self.numbers) for chance in chances]

    def look(self, client: Client, done: Round) -> int:
        """Everything that must hold after a restart. How many requests were stored, but not answered."""
        facts = stored(client)
        kept = len(all_words(facts).keys() & {request.words[0] for request in done.cut})
        earlier = self.chance.sample(self.written, min(EARLIER, len(self.written)))
        again = send_again(self.server, done.cut)
        self.written += done.written
        self.cut += done.cut
        self.trouble += done.trouble + again.trouble + lost(facts, self.written)
        self.written += again.written
        self.trouble += unfound(client, [*done.written, *again.written, *earlier])
        wait_for_vectors(client)
        self.look_again(client)
        return kept

    def look_again(self, client: Client) -> None:
        """What must hold when every vector is there."""
        facts = stored(client)
        self.trouble += lost(facts, self.written) + halves(facts, self.cut)
        self.trouble += without_vector(facts) + gaps(client, facts)
        texts = {row["id"]: row["fact_text"] for rows in facts.values() for row in rows}
        known = [one for one in self.written if one.id in texts]
        self.trouble += unfound(client, self.chance.sample(known, min(MEANT, len(known))), texts)

    def end(self) -> None:
        """A clean stop; then the file and the log are looked at."""
        if status := self.server.stop():
            self.trouble.append(f"The server stopped with status {status}.")
        self.trouble += self.server.damage() + self.server.faults()


def prove(folder: Path, rounds: int, clients: int, seed: int, moment: tuple[float, float] = MOMENT) -> Proof:
    """All rounds on one folder. The server has ended afterwards, whatever happens."""
    proof = Proof(Server(folder), random.Random(seed), clients, moment)
    try:
        proof.begin()
        for number in range(1, rounds + 1):
            print(proof.round(number), flush=True)
        proof.end()
    except (Refused, RuntimeError) as error:
        proof.trouble.append(str(error))
    finally:
        proof.server.kill()
    return proof


def main() -> int:
    parser = argparse.ArgumentParser(description="kill -9 during concurrent writes: nothing is lost.")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument(
        "--seed", type=int, default=random.randrange(10**6), help="for the same kinds of writes"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        proof = prove(Path(folder), options.rounds, options.clients, options.seed)
    for line in proof.trouble[:50]:
        print(line)
    print(
        f"{options.rounds} rounds, {options.clients} clients, seed {options.seed}:"
        f" {len(proof.written)} facts acknowledged, {len(proof.cut)} requests cut off;"
        f" {len(proof.trouble)} wrong"
    )
    return 1 if proof.trouble else 0


if __name__ == "__main__":
    sys.exit(main())
