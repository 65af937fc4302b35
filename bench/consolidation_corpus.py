"""A half year of sessions with planted facts, made by a seed.

It shares no code and no word list with the rules. Of each planted fact it knows in which sessions it was said
and in which words; a learned fact counts as the planted one when it has its key words.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

SUBJECTS = (
    "ledger export",
    "session tokens",
    "invoice mailer",
    "search index",
    "image resizer",
    "audit trail",
    "login page",
    "rate limiter",
    "webhook sender",
    "billing cron",
    "feature flags",
    "staging cluster",
    "nightly backup",
    "API gateway",
    "product feed",
    "price cache",
    "refund flow",
    "customer import",
    "metrics agent",
    "release notes",
    "test fixtures",
    "translation files",
    "error pages",
    "docs site",
    "mobile client",
    "tax tables",
    "queue worker",
    "upload service",
)
CHOICES = (
    ("Postgres", "MySQL"),
    ("Redis", "Memcached"),
    ("Kafka", "RabbitMQ"),
    ("gRPC", "plain HTTP"),
    ("Terraform", "Pulumi"),
    ("Fastly", "Cloudflare"),
    ("Parquet", "CSV"),
    ("Argon2", "bcrypt"),
    ("Vite", "webpack"),
    ("Poetry", "pip-tools"),
    ("Grafana", "Kibana"),
    ("Tantivy", "Lucene"),
    ("Zstandard", "gzip"),
    ("Ed25519", "RSA"),
    ("Playwright", "Selenium"),
)
PEOPLE = ("Priya", "Tomás", "Ingrid", "Kofi", "Mei", "Lars", "Noor", "Paulo")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
# Ways to say it: {s} is what it is about, {a} what was chosen, {b} what was not.
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
    "Can you look at why the {s} is slow?",
    "Run the tests of the {s} again.",
    "What does this stack trace mean?",
    "Add a test for the empty case in the {s}.",
    "Thanks, that works.",
    "Show me the diff before you push.",
    "Should the {s} use {a} or {b}?",
    "I wonder whether {a} would be quicker for the {s}.",
    "hm, no idea",
    "Rename the helper in the {s} and push.",
    "Maybe we try {a} one day.",
    "Revert that, it broke the {s}.",
    "看一下 {s} 为什么这么慢",
    "Does {p} know about the {s}?",
    "Bump the version and tag it.",
)
ANSWERED = (
    "I read the module and found two callers.",
    "The tests pass now.",
    "I changed the helper as you asked; the diff is small.",
    "It fails because the fixture is missing.",
    "Done. Anything else?",
    "The trace points at the parser.",
    "Looking at the {s} next.",
    "There are 14 call sites; I updated all of them.",
)
NOISE = (
    "We decided nothing about the {s} today.",
    "At my last company we used {a} for the {s}.",
    "The docs say that {a} suits the {s}.",
    "For this run only, use {a}.",
    "I think {a} would do for the {s}, but let us see first.",
    "{p} said on the phone that {b} is slow.",
    "If we ever use {a}, the {s} has to change.",
    "We tried {a} once and it was fine.",
    "暂时先用 {a} 跑一下 {s}。",
    "Is the {s} still on {b}?",
)
FAILURES = (
    ("pytest tests/{f}", "E   ModuleNotFoundError: No module named '{m}'", "pip install {m}"),
    ("make {f}", "make: *** missing separator.  Stop.", "sed -i 's/^    /\\t/' Makefile"),
    ("npm run {f}", "Error: Cannot find module '{m}'", "npm install {m}"),
    ("docker build {f}", "ERROR: failed to solve: {m}: not found", "sed -i 's/{m}/{m}:stable/' Dockerfile"),
    ("go test ./{f}", "undefined: {m}.New", "go get example.org/{m}"),
)
# How a project is built and tested, and what is typed as often and teaches nothing.
WORK = (
    "make check",
    "npm run lint -- --max-warnings 0",
    "docker compose up -d ledger-db",
    "bin/ci --fast",
    "cargo test --workspace",
    "python manage.py migrate --noinput",
    "./gradlew assemble",
    "tox -e py312",
    "cd web && yarn build",
    "bundle exec rspec",
)
IDLE = (
    "git status",
    "git diff --stat",
    "ls -la src",
    "docker ps",
    "cat README.md",
    "python -c 'print(1)'",
    "npm ls --depth 0",
    "kubectl get pods",
    "rg import src | wc -l",
    "pip install requests",
    "cd ../scratch && ls",
    "tail -f logs/app.log",
    "curl -s localhost:8080/health",
    "sed -n 1,40p src/main.py",
    "make --version",
)
KINDS = ("decision", "number", "owner", "change", "repair", "command")
MODULES = (
    "yarnlock",
    "pgvector",
    "ujson",
    "attrs",
    "zlib",
    "left-pad",
    "protobuf",
    "glibc",
    "sentry",
    "boto",
)


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
        plain = " ".join(text.casefold().split())
        return all(" ".join(key.casefold().split()) in plain for key in self.keys)


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
    subjects = [
        f"{name} of {team}" if team else name for team in ("", "shop", "bank", "lab") for name in SUBJECTS
    ]
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
    planted += [plant_failure(rng, rng.choice(rows), at) for at in range(facts // 4)]
    own = random.Random(f"commands {seed}")  # the rest is what it was without them
    planted += [plant_command(own, rows, command) for command in own.sample(WORK, 6)]
    repeat_idly(own, rows)
    echoes = [plant_echo(rng, rows, one) for one in planted[::4] if one.kind not in ("change", "repair")]
    return HalfYear(rows, planted, [text for text in echoes if text])


def talk(rng: random.Random) -> Iterator[tuple[str, str]]:
    for _ in range(rng.randint(2, 5)):
        words = dict(zip("ab", rng.choice(CHOICES), strict=True)) | {
            "s": rng.choice(SUBJECTS),
            "p": rng.choice(PEOPLE),
        }
        yield "user", rng.choice((*ASKED, *NOISE)).format(**words)
        yield "assistant", rng.choice(ANSWERED).format(**words)


def work(rng: random.Random, calls: int) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield tool calls that teach nothing."""
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
    later = [
        at
        for at, row in enumerate(rows)
        if one.changes is None or row["key"] > max(one.changes.said, default="")
    ]
    if one.changes is None:
        later = later[: max(4, len(rows) * 2 // 3)]
    for at in sorted(rng.sample(later, min(len(later), rng.choice((1, 1, 2, 3, 4))))):
        text = rng.choice(one.ways)
        rows[at]["said"].insert(rng.randrange(0, len(rows[at]["said"]), 2), ("user", text))
        one.said.add(rows[at]["key"])
        one.texts.add(text)


def plant_failure(rng: random.Random, row: dict[str, Any], number: int) -> Planted:
    """Have a command of a session fail, and work after another one."""
    words = {"f": f"part{number}", "m": rng.choice(MODULES)}
    command, error, repair = (part.format(**words) for part in rng.choice(FAILURES))
    failed, ok = f"Exit code 1\n{error}", "ok"
    place = rng.randrange(len(row["calls"]) + 1)
    calls = [({"command": command}, failed), ({"command": repair}, ok), ({"command": command}, ok)]
    row["calls"][place:place] = [("Bash", given, output) for given, output in calls]
    return Planted([command], (command, repair), "repair", said={row["key"]}, texts={command})


def plant_command(rng: random.Random, rows: list[dict[str, Any]], command: str) -> Planted:
    """Have a command work in several sessions, at times with its output cut."""
    one = Planted([command], (command,), "command", texts={command})
    for row in sorted(rng.sample(rows, rng.randint(3, 7)), key=lambda row: str(row["key"])):
        for _ in range(rng.randint(1, 3)):
            typed = command + rng.choice(("", "", " 2>&1 | tail -20"))
            row["calls"].append(("Bash", {"command": typed, "description": rng.choice(ASKED)}, "ok"))
        one.said.add(row["key"])
    return one


def repeat_idly(rng: random.Random, rows: list[dict[str, Any]]) -> None:
    """Have commands that only look in many sessions, some scripts in one session alone, and one that always
    fails.
    """
    for row in rows:
        for command in rng.sample(IDLE, 2):
            row["calls"].append(("Bash", {"command": command}, "ok"))
    for at, row in enumerate(rng.sample(rows, 5)):
        row["calls"] += [("Bash", {"command": f"python scratch_{at}.py"}, "ok")] * 3
    for row in rng.sample(rows, 5):
        row["calls"].append(("Bash", {"command": "make deploy"}, "Exit code 2\nno rights"))


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
