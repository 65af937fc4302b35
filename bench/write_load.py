"""Write load: clients that write facts, each with a unique word, until the server is gone."""

import http.client
import json
import random
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from bench.killable_server import Server

BRANCHES = ("main", "task/left", "task/right")
BULK, ONE_IN = 20, 12  # facts of a bulk write; one request in so many is a bulk write
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
    """Fact that the server acknowledged."""

    id: str
    branch: str
    word: str


@dataclass(frozen=True)
class Request:
    """Request to write. Only one with ``key`` may be sent again without doubling its facts."""

    path: str
    branch: str
    words: tuple[str, ...]
    body: dict[str, Any]
    key: str = ""


@dataclass
class Round:
    """Results of one round's clients: acknowledged facts, unanswered requests, and unexpected responses."""

    written: list[Written] = field(default_factory=list)
    cut: list[Request] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)


class Writer(threading.Thread):
    """Client that writes over a persistent connection until the server is gone."""

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
        """Send a request; return False without a complete response: then nothing is acknowledged."""
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
        template, thing = self.chance.choice(FACTS), self.chance.choice(THINGS)
        return template.format(word=one, thing=thing, number=self.chance.randrange(2, 1000))


def word(number: int) -> str:
    """Return a word unique to the number, without an ending that a stemmer would cut."""
    letters = ""
    for _ in range(6):
        number, digit = divmod(number, len(LETTERS))
        letters = LETTERS[digit] + letters
    return f"x{letters}q"


def post(link: http.client.HTTPConnection, request: Request, headers: dict[str, str]) -> tuple[int, Any]:
    """Send a request; return status and body of the complete response."""
    sent = headers | ({"Idempotency-Key": request.key} if request.key else {})
    link.request("POST", f"/api/v1{request.path}", json.dumps(request.body).encode(), sent)
    answer = link.getresponse()
    return answer.status, json.loads(answer.read())


def written(request: Request, answer: Any) -> list[Written]:
    rows = answer.get("results", [answer])
    return [Written(row["id"], request.branch, one) for row, one in zip(rows, request.words, strict=True)]
