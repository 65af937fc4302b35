"""Consolidation of a half year of sessions, made by a seeded generator: what is learned of what was planted.

    python -m bench.consolidation                    # precision, recall, duplicates, echoes, yield
    python -m bench.consolidation --observations 100000   # time and memory

The generator shares no code and no word list with the rules. Of each planted fact it knows in which sessions it
was said, in which words, and what it is about; a learned fact counts as planted when it has its key words.
"""

import argparse
import random
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bench.local_engine import open_store

SUBJECTS = (
    "ledger export", "session tokens", "invoice mailer", "search index", "image resizer", "audit trail", "login page",
    "rate limiter", "webhook sender", "billing cron", "feature flags", "staging cluster", "nightly backup", "API gateway",
    "product feed", "price cache", "refund flow", "customer import", "metrics agent", "release notes", "test fixtures",
    "translation files", "error pages", "docs site", "mobile client", "tax tables", "queue worker", "upload service",
)  # fmt: skip
CHOICES = (
    ("Postgres", "MySQL"), ("Redis", "Memcached"), ("Kafka", "RabbitMQ"), ("gRPC", "plain HTTP"), ("Terraform", "Pulumi"),
    ("Fastly", "Cloudflare"), ("Parquet", "CSV"), ("Argon2", "bcrypt"), ("Vite", "webpack"), ("Poetry", "pip-tools"),
    ("Grafana", "Kibana"), ("Tantivy", "Lucene"), ("Zstandard", "gzip"), ("Ed25519", "RSA"), ("Playwright", "Selenium"),
)  # fmt: skip
PEOPLE = ("Priya", "Tomás", "Ingrid", "Kofi", "Mei", "Lars", "Noor", "Paulo")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
# Ways to say it. The first of each is the plainest; {s} what it is about, {a} what was chosen, {b} what was not.
DECIDED = (
    "We'll build the {s} on {a}.",
    "For the {s} it's {a} from today, {b} is out.",
    "Go with {a} for the {s}, please, and leave {b} alone.",
    "The {s} runs on {a}; nobody touches {b} for it.",
    "Decision for the {s}: {a}, not {b}.",
    "{s} 用 {a}，不要用 {b}。",
)
NUMBERED = (
    "Keep the {s} timeout at {n} seconds.",
    "The {s} may retry {n} times, then it gives up.",
    "Nothing of the {s} is kept longer than {n} days.",
    "Page size of the {s} is {n}, everywhere.",
)
OWNED = (
    "{p} signs off every change to the {s}.",
    "Ask {p} before you touch the {s}, always.",
    "The {s} is {p}'s; she reviews it on {d}.",
)
CHANGED = (
    "The {s} moves off {a}: it is {b} now.",
    "We no longer use {a} for the {s}; use {b} instead.",
    "{s} 改用 {b}，不再用 {a}。",
)
ASKED = (
    "Can you look at why the {s} is slow?", "Run the tests of the {s} again.", "What does this stack trace mean?",
    "Add a test for the empty case in the {s}.", "Thanks, that works.", "Show me the diff before you push.",
    "Should the {s} use {a} or {b}?", "I wonder whether {a} would be quicker for the {s}.", "hm, no idea",
    "Rename the helper in the {s} and push.", "Maybe we try {a} one day.", "Revert that, it broke the {s}.",
    "看一下 {s} 为什么这么慢", "Does {p} know about the {s}?", "Bump the version and tag it.",
)  # fmt: skip
ANSWERED = (
    "I read the module and found two callers.", "The tests pass now.", "I changed the helper as you asked; the diff is small.",
    "It fails because the fixture is missing.", "Done. Anything else?", "The trace points at the parser.",
    "Looking at the {s} next.", "There are 14 call sites; I updated all of them.",
)  # fmt: skip
FAILURES = (
    ("pytest tests/{f}", "E   ModuleNotFoundError: No module named '{m}'", "pip install {m}"),
    ("make {f}", "make: *** missing separator.  Stop.", "sed -i 's/^    /\\t/' Makefile"),
    ("npm run {f}", "Error: Cannot find module '{m}'", "npm install {m}"),
    ("docker build {f}", "ERROR: failed to solve: {m}: not found", "sed -i 's/{m}/{m}:stable/' Dockerfile"),
    ("go test ./{f}", "undefined: {m}.New", "go get example.org/{m}"),
)
MODULES = ("yarnlock", "pgvector", "ujson", "attrs", "zlib", "left-pad", "protobuf", "glibc", "sentry", "boto")


@dataclass
class Planted:
    """A fact of the half year: the ways in which it is said, and what any of them must have."""

    ways: Sequence[str]
    keys: tuple[str, ...]
    kind: str
    changes: "Planted | None" = None
    said: set[str] = field(default_factory=set)  # the sessions that say it
    texts: set[str] = field(default_factory=set)

    def says(self, text: str) -> bool:
        return all(key.casefold() in text.casefold() for key in self.keys)


@dataclass
class HalfYear:
    """Sessions in their order, and what was planted in them."""

    sessions: list[dict[str, Any]]
    planted: list[Planted]
    echoes: list[str]

    @property
    def observations(self) -> int:
        return sum(len(one["calls"]) for one in self.sessions)


def plant(rng: random.Random, count: int) -> list[Planted]:
    """Return facts about different things, some of which later ones change."""
    found: list[Planted] = []
    subjects = [f"{name} of {team}" if team else name for team in ("", "shop", "bank", "lab") for name in SUBJECTS]
    rng.shuffle(subjects)
    for at, subject in enumerate(subjects[:count]):
        a, b = rng.choice(CHOICES)
        n, p, d = rng.randint(2, 900), rng.choice(PEOPLE), rng.choice(DAYS)
        words = {"s": subject, "a": a, "b": b, "n": n, "p": p, "d": d}
        if at % 5 in (0, 1):
            old = Planted([way.format(**words) for way in rng.sample(DECIDED, 3)], (subject, a), "decision")
            found.append(old)
            if at % 10 == 0:
                ways = [way.format(**words) for way in CHANGED]
                found.append(Planted([rng.choice(ways)], (subject, b), "change", changes=old))
        elif at % 5 in (2, 3):
            way = rng.choice(NUMBERED).format(**words)
            found.append(Planted([way], (subject, str(n)), "number"))
        else:
            found.append(Planted([rng.choice(OWNED).format(**words)], (subject, p), "owner"))
    return found


def make_half_year(seed: int, sessions: int, facts: int, calls: int) -> HalfYear:
    """Return sessions over 26 weeks, in which each fact is said in one to four of them."""
    rng = random.Random(seed)
    planted = plant(rng, facts)
    begun = datetime.fromisoformat("2026-05-25T08:00:00+00:00")
    rows = [
        {"key": f"half-{at:05d}", "at": begun + timedelta(days=182 * at / sessions), "said": [], "calls": []}
        for at in range(sessions)
    ]
    for row in rows:
        row["said"] = list(talk(rng))
        row["calls"] = list(work(rng, calls))
    for one in planted:
        say_planted(rng, rows, one)
    echoes = [plant_echo(rng, rows, one) for one in planted[::4] if one.kind != "change"]
    return HalfYear(rows, planted, [text for text in echoes if text])


def talk(rng: random.Random) -> Iterator[tuple[str, str]]:
    for _ in range(rng.randint(2, 5)):
        words = dict(zip("ab", rng.choice(CHOICES), strict=True)) | {"s": rng.choice(SUBJECTS), "p": rng.choice(PEOPLE)}
        yield "user", rng.choice(ASKED).format(**words)
        yield "assistant", rng.choice(ANSWERED).format(**words)


def work(rng: random.Random, calls: int) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield tool calls: reads, searches and edits that teach nothing, and now and then a failure that is repaired."""
    for _ in range(calls):
        file = f"{rng.choice('abcdefgh')}{rng.randint(1, 99)}"
        match rng.randint(0, 3):
            case 0:
                yield "Read", {"file_path": f"src/{file}.py"}, f"def run_{file}(): ..."
            case 1:
                yield "Grep", {"pattern": f"run_{file}"}, f"src/{file}.py:1:def run_{file}"
            case 2:
                yield "Edit", {"file_path": f"src/{file}.py", "old_string": "a", "new_string": "b"}, "ok"
            case _:
                yield "Bash", {"command": f"cat logs/{file}.log"}, "INFO started"


def say_planted(rng: random.Random, rows: list[dict[str, Any]], one: Planted) -> None:
    """Say a fact in up to four sessions, a change after what it changes."""
    later = [at for at, row in enumerate(rows) if one.changes is None or row["key"] > max(one.changes.said, default="")]
    if one.changes is None:
        later = later[: max(4, len(rows) * 2 // 3)]
    for at in sorted(rng.sample(later, min(len(later), rng.choice((1, 1, 2, 3, 4))))):
        text = rng.choice(one.ways)
        rows[at]["said"].insert(rng.randrange(0, len(rows[at]["said"]), 2), ("user", text))
        one.said.add(rows[at]["key"])
        one.texts.add(text)


def plant_echo(rng: random.Random, rows: list[dict[str, Any]], one: Planted) -> str:
    """Have the agent of a later session repeat a fact that memory gave it; return the text."""
    text = sorted(one.texts)[0] if one.texts else ""
    later = [row for row in rows if text and row["key"] > max(one.said)]
    if not later:
        return ""
    row = rng.choice(later)
    row.setdefault("given", []).append(text)
    row["said"].append(("assistant", f"As memory says: {text} {text}"))
    return text


# ---- playing and judging ---------------------------------------------------------------------------------


def play(year: HalfYear, actor: Any) -> tuple[list[Any], float]:
    """Write the sessions, consolidate each as it ends; return the runs and the seconds that those took."""
    from conversations.engines.consolidation.engine import ConsolidationEngine
    from memory.engines.facts.engine import FactEngine
    from memory.engines.sessions.manager import SessionManager
    from memory.models import Session

    runs, seconds = [], 0.0
    for row in year.sessions:
        write_session(row, actor.acting_at(row["at"]))
        if texts := row.get("given"):
            facts = FactEngine().list_facts(actor=actor, limit=100).results
            known = [str(fact.uid) for fact in facts if fact.fact_text in texts]
            context = "<day1-memory>\n" + "\n".join(f"- {text}" for text in texts) + "\n</day1-memory>"
            Session.objects.filter(key=row["key"]).update(context=context, recalled={"start": known})
        SessionManager().end_session(session_id=row["key"], actor=actor)
        began = time.perf_counter()
        runs.append(ConsolidationEngine().consolidate_session(session_id=row["key"], actor=actor).run)
        seconds += time.perf_counter() - began
    return runs, seconds


def write_session(row: dict[str, Any], actor: Any) -> None:
    from conversations.engines.conversations import ConversationEngine
    from conversations.engines.messages import MessageEngine
    from memory.engines.sessions.observations import ObservationEngine

    actor = actor.with_origin(session_id=row["key"], agent_id="builder")
    talk = ConversationEngine().create_conversation(actor=actor)
    said = [{"role": role, "content": text} for role, text in row["said"]]
    MessageEngine().write_messages(conversation_id=talk.uid, messages=said, actor=actor)
    for tool, given, output in row["calls"]:
        ObservationEngine().write_observation(tool_name=tool, raw_input=given, raw_output=output, actor=actor)


def judge(year: HalfYear, actor: Any) -> dict[str, Any]:
    """Compare what was learned with what was planted."""
    from memory.db.backend import get_backend  # noqa: F401
    from memory.models import Fact, FactLink
    from memory.engines.versions.lookup import find_branch

    branch = find_branch(actor, "main")
    facts = Fact.objects.on(branch).filter(status="active").fetch_all()
    matches = {fact.uid: [one for one in year.planted if one.said and one.says(fact.fact_text)] for fact in facts}
    learned = {id(one) for found in matches.values() for one in found}
    spoken = [one for one in year.planted if one.said]
    texts = [fact.fact_text for fact in facts]
    wanted = {(id(one), text) for one in spoken for text in one.texts}
    contested = {(link.from_id, link.to_id) for link in FactLink.objects.on(branch).filter(link_type="CONTESTED_BY").fetch_all()}
    changes = [one for one in spoken if one.changes and one.changes.said]
    found = [one for one in changes if any(is_change(one, facts, pair) for pair in contested)]
    return {
        "facts learned": len(facts),
        "precision": round(sum(map(bool, matches.values())) / max(len(facts), 1), 3),
        "recall": round(len([one for one in spoken if id(one) in learned]) / len(spoken), 3),
        "recall by kind": {
            kind: f"{sum(id(one) in learned for one in spoken if one.kind == kind)}/{sum(one.kind == kind for one in spoken)}"
            for kind in ("decision", "number", "owner", "change")
        },
        "wordings planted": len(wanted),
        "duplicates in words left": len(texts) - len({" ".join(text.casefold().split()) for text in texts}),
        "facts of one planted fact beyond the first": sum(map(len, matches.values())) - len(learned),
        "echoes planted": len(year.echoes),
        "echoes learned": sum("As memory says" in text for text in texts),
        "contradictions found": f"{len(found)}/{len(changes)}",
        "not planted": [fact.fact_text for fact in facts if not matches[fact.uid]][:12],
        "missed": [sorted(one.texts)[0] for one in spoken if id(one) not in learned][:12],
    }


def is_change(one: Planted, facts: Sequence[Any], pair: tuple[Any, Any]) -> bool:
    texts = {fact.uid: fact.fact_text for fact in facts}
    older, newer = (texts.get(uid, "") for uid in pair)
    return bool(one.changes and one.changes.says(older) and one.says(newer))


def run(options: argparse.Namespace) -> dict[str, Any]:
    with open_store() as actor:
        if options.observations:
            sessions = max(options.observations // 100, 1)
            year = make_half_year(options.seed, sessions, min(sessions // 5, 112), 100)
        else:
            year = make_half_year(options.seed, options.sessions, options.facts, 12)
        runs, seconds = play(year, actor)
        return {
            "sessions": len(year.sessions),
            "observations": year.observations,
            "seconds consolidating": round(seconds, 1),
            "peak memory, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "yield": round(sum(one.created for one in runs) / sum(one.messages + one.observations for one in runs), 4),
            "confirmed": sum(one.updated for one in runs),
            **judge(year, actor),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--sessions", type=int, default=260)
    parser.add_argument("--facts", type=int, default=80)
    parser.add_argument("--observations", type=int, default=0)
    for name, value in run(parser.parse_args()).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
