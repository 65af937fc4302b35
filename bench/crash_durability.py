"""Crash test: kill -9 during concurrent writes, repeatedly on one folder; no acknowledged write is lost.

DATABASE_URL may name an empty database elsewhere.

.venv/bin/python -m bench.crash_durability [--rounds 10] [--clients 20]
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from bench.durability_checks import (
    all_words,
    gaps,
    halves,
    lost,
    send_again,
    stored,
    unfound,
    wait_for_vectors,
    without_vector,
)
from bench.killable_server import Server
from bench.server import Client, Refused
from bench.write_load import BRANCHES, Request, Round, Writer, Written

MOMENT = (0.5, 3.0)  # seconds of writing before the kill
EARLIER, MEANT = 200, 20  # per round: facts of earlier rounds searched by keyword; facts searched by vector


def write_and_kill(server: Server, writers: Sequence[Writer], round: Round, seconds: float) -> None:
    """Run all clients, and kill the server after some seconds."""
    for writer in writers:
        writer.start()
    time.sleep(seconds)
    if server.process.poll() is not None:
        round.trouble.append(f"The server ended by itself: {server.process.returncode}")
    server.kill()
    for writer in writers:
        writer.join()


@dataclass
class Proof:
    """Test state of one folder, with everything that was acknowledged on it."""

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
        """Write, kill, restart and check; return the line to print."""
        seconds, done = self.chance.uniform(*self.moment), Round()
        write_and_kill(self.server, self.writers(done), done, seconds)
        start, before = self.server.start(), len(self.trouble)
        with closing(self.server.client()) as client:
            pending = client.ask("GET", "/health")["embedding"]["pending"]
            kept = self.find_losses(client, done)
        return (
            f"round {number:2}: killed after {seconds:.1f} s: {len(done.written):4} facts acknowledged,"
            f" {len(done.cut)} requests cut off ({kept} of them stored);"
            f" up in {start:.1f} s with {pending} vectors to make; {len(self.trouble) - before} wrong"
        )

    def writers(self, done: Round) -> list[Writer]:
        chances = [random.Random(self.chance.random()) for _ in range(self.clients)]
        return [Writer(self.server, done, chance, self.numbers) for chance in chances]

    def find_losses(self, client: Client, done: Round) -> int:
        """Check what must hold after a restart; return how many unanswered requests were stored."""
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
        """Check what must hold once every vector is ready."""
        facts = stored(client)
        self.trouble += lost(facts, self.written) + halves(facts, self.cut)
        self.trouble += without_vector(facts) + gaps(client, facts)
        texts = {row["id"]: row["fact_text"] for rows in facts.values() for row in rows}
        known = [one for one in self.written if one.id in texts]
        self.trouble += unfound(client, self.chance.sample(known, min(MEANT, len(known))), texts)

    def end(self) -> None:
        """Stop the server cleanly; then check the file and the log."""
        if status := self.server.stop():
            self.trouble.append(f"The server stopped with status {status}.")
        self.trouble += self.server.damage() + self.server.faults()


def prove(folder: Path, rounds: int, clients: int, seed: int, moment: tuple[float, float] = MOMENT) -> Proof:
    """Run all rounds on one folder. The server is dead afterwards in any case."""
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
