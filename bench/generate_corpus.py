"""Write a corpus of short and long texts, code, tables, Chinese and identifiers, with questions.

.venv/bin/python -m bench.generate_corpus generated.jsonl [--seed 1] [--plain | --chinese]

Every line is a turn or a question; the same seed gives the same file. What a question asks about stands in
one turn; other turns say the same of other things, and long ones mention everything in passing.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SAMPLES, SESSIONS, EPISODES = 4, 8, 8  # of the corpus, of a sample, of a session
PARAGRAPHS = (3, 9)  # of a long answer: fewest and most

PEOPLE = (
    "Amara Bruno Chidi Dalia Edwin Farah Goran Hanna Imani Jonas Keiko Lucia Mateo Noor Oskar Priya".split()
)
SERVICES = "billing checkout search inventory notifications identity ledger shipping media pricing".split()
STAGES = ("development", "staging", "production", "the demo")
TASKS = (
    ("writing release notes", "the text that goes out with a new version"),
    ("reviewing migrations", "checking changes of the schema"),
    ("profiling requests", "finding out where time is spent"),
    ("drawing diagrams", "sketches of the architecture"),
    ("testing the mobile app", "trying the phone version"),
    ("planning sprints", "deciding what comes in the next two weeks"),
    ("on-call handovers", "passing the pager on"),
    ("cleaning data", "repairing wrong records"),
)
TOOLS = (
    "Figma Excalidraw Jira Linear Vim Zed Postman Bruno Grafana Datadog Notion Obsidian py-spy Sentry".split()
)
CHOICES = (
    ("database", "PostgreSQL", "MySQL", "because of partial indexes"),
    ("queue", "RabbitMQ", "Kafka", "since nobody wants to run a cluster"),
    ("cache", "Valkey", "Memcached", "for its sorted sets"),
    ("format of logs", "JSON lines", "plain text", "so that fields can be searched"),
    ("way to deploy", "blue-green", "rolling", "to go back within a minute"),
    ("test runner", "pytest", "unittest", "for fixtures"),
    ("style of API", "REST", "GraphQL", "as partners already speak it"),
    ("place for secrets", "Vault", "environment variables", "after the audit"),
)
VERBS = ("retry", "cancel", "archive", "merge", "validate", "export", "rotate", "throttle")
NOUNS = ("invoice", "session", "upload", "webhook", "voucher", "snapshot", "shipment", "password")
CAUSES = (
    "the clock of the client is off by more than five minutes",
    "two workers hold the same lease",
    "the body is larger than the proxy allows",
    "a currency has no rate for the day",
    "the signature was made with the old key",
    "the replica is behind by more than its limit",
)
HABITS = ("running along the river", "baking rye bread", "restoring a wooden boat", "singing in a choir")
PLACES = ("Lisbon", "Nairobi", "Osaka", "Tromsø", "Bogotá", "Kraków")
FILLER = (
    "Start small: agree on one outcome that everybody can check, and write down who owns it.",
    "It helps to separate what is urgent from what is merely loud, and to revisit the list every week.",
    "For {service}, measure first; another {choice} rarely pays off before the slow queries are known.",
    "You may want to involve {person} early, who knows how {service} behaves in {stage}.",
    "Keep the documentation beside the code, so that a review of {verb}_{noun} sees both.",
    "Consider the timeout, the retries and the error codes together: each of them hides the others.",
    "A table of owners, limits and dates is often worth more than a long explanation.",
    "Common pitfalls are unclear ownership, a missing rollback, and alerts that nobody reads.",
    "If {person} prefers another tool for {task}, let both be used for a month and compare.",
    "Finally, plan a short retrospective, and celebrate what went well before you list what did not.",
)
CHINESE_PEOPLE = "李娜 王强 张敏 刘洋 陈静 赵磊 周婷 吴昊".split()
CHINESE_FACTS = (
    ("{person}负责{thing}的上线，时间定在{month}月{day}日。", "{thing}什么时候上线？"),
    ("{person}决定{thing}改用{tool}，因为维护起来更简单。", "{thing}现在用的是什么工具？"),
    ("{thing}的预算是{number}万元，由{person}审批。", "谁审批{thing}的预算？"),
    ("{person}说{thing}每天凌晨{day}点备份一次。", "{thing}几点做备份？"),
)
CHINESE_THINGS = (
    "支付系统 订单服务 推荐引擎 客服平台 数据仓库 会员中心 物流接口 日志平台 登录页面 搜索服务".split()
)
# The same questions in other words, and in English.
CHINESE_OTHER_WORDS = (
    "{thing}哪一天发布？",
    "{thing}换成了哪个软件？",
    "{thing}的花费要经过谁同意？",
    "{thing}在夜里何时保存副本？",
)
ENGLISH_THINGS = (
    "payment system,order service,recommendation engine,customer service platform,data warehouse,"
    "member centre,logistics interface,log platform,login page,search service"
).split(",")
ENGLISH_WORDS = (
    "When does the {thing} go live?",
    "Which tool does the {thing} use now?",
    "Who approves the budget of the {thing}?",
    "At what time is the {thing} backed up?",
)


class Episode(NamedTuple):
    """Turns that follow each other: the speaker and the text of each; questions, each with its evidence."""

    turns: list[tuple[str, str]]
    questions: list[tuple[int, str, list[int]]]  # category, text, numbers of the turns


class Writer:
    """Writer of the episodes of one sample; nothing is asked twice in it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.asked: set[Any] = set()

    def pick(self, values: Any) -> Any:
        return self.random.choice(values)

    def new(self, build: Callable[[], Any]) -> Any:
        """Draw until a value is new in this sample."""
        while (found := build()) in self.asked:
            pass
        self.asked.add(found)
        return found

    # ---- kinds of episodes ---------------------------------------------------------------------------

    def preference(self) -> Episode:
        person, (task, other_words) = self.new(lambda: (self.pick(PEOPLE), self.pick(TASKS)))
        tool = self.pick(TOOLS)
        turns = [(person, f"I use {tool} for {task} these days."), ("assistant", f"Noted, {person}.")]
        return Episode(turns, [(1, f"What does {person} use for {other_words}?", [0])])

    def reply(self) -> Episode:
        person, kind = self.new(lambda: (self.pick(PEOPLE), self.pick(("free time", "holiday"))))
        if kind == "holiday":
            ask, tell = f"{person}, where did you spend your holiday?", f"In {self.pick(PLACES)}, two weeks."
        else:
            ask, tell = f"What do you do in your free time, {person}?", f"Mostly {self.pick(HABITS)}."
        other = self.pick([name for name in PEOPLE if name != person])
        question = f"Where was {person} on vacation?" if kind == "holiday" else f"What is {person}'s hobby?"
        return Episode([(other, ask), (person, tell)], [(1, question, [1])])

    def advice(self) -> Episode:
        (kind, chosen, rejected, reason), service = self.new(
            lambda: (self.pick(CHOICES), self.pick(SERVICES))
        )
        stated = (
            f"For {service} we take {chosen} as our {kind}, not {rejected}, {reason}. How do we go about it?"
        )
        question = f"Why did we decide against {rejected} in {service}?"
        return Episode([("user", stated), ("assistant", self.essay(service, kind))], [(2, question, [0])])

    def essay(self, service: str, kind: str) -> str:
        """Return an answer of several paragraphs that mentions a little of everything."""
        parts = [f"Good choice. Here is how a {kind} for {service} can be introduced step by step."]
        for number in range(1, self.random.randint(*PARAGRAPHS) + 1):
            lines = [self.fill(line) for line in self.random.sample(FILLER, 6)]
            parts.append(f"### Step {number}: {self.pick(TASKS)[0]}\n" + " ".join(lines))
        return "\n\n".join(parts)

    def fill(self, line: str) -> str:
        return line.format(
            service=self.pick(SERVICES),
            choice=self.pick(CHOICES)[0],
            person=self.pick(PEOPLE),
            stage=self.pick(STAGES),
            verb=self.pick(VERBS),
            noun=self.pick(NOUNS),
            task=self.pick(TASKS)[0],
        )

    def finding(self) -> Episode:
        """Return a long answer that says what is asked for in one of its sentences."""
        service, person = self.new(lambda: (self.pick(SERVICES), self.pick(PEOPLE)))
        cause, days = self.pick(CAUSES), self.random.randint(2, 30)
        essay = self.essay(service, "postmortem").split("\n\n")
        told = f"What {person} found out: {service} was down for {days} hours because {cause}."
        essay.insert(self.random.randint(1, len(essay)), told)
        turns = [("user", f"Write up the outage of {service}, please."), ("assistant", "\n\n".join(essay))]
        return Episode(
            turns, [(2, f"How long did the outage last that {person} looked into for {service}?", [1])]
        )

    def code(self) -> Episode:
        verb, noun = self.new(lambda: (self.pick(VERBS), self.pick(NOUNS)))
        times, seconds = self.random.randint(2, 9), self.random.randint(1, 60)
        body = (
            f"```python\ndef {verb}_{noun}({noun}_id: int, timeout: float = {seconds}.0) -> bool:\n"
            f'    """{verb.capitalize()} one {noun}; tries {times} times."""\n'
            f"    for attempt in range({times}):\n        if client.{verb}({noun}_id, timeout=timeout):\n"
            f"            return True\n        time.sleep(2 ** attempt)\n    return False\n```"
        )
        turns = [("user", f"Show me how we {verb} a {noun}."), ("assistant", f"Here it is:\n\n{body}")]
        first = f"How often does {verb}_{noun} try before it gives up?"
        second = f"Which function do we call to {verb} a {noun}, and with what timeout?"
        return Episode(turns, [(3, self.pick((first, second)), [1])])

    def table(self) -> Episode:
        title, stage = self.new(lambda: (self.pick(("timeout", "memory limit", "owner")), self.pick(STAGES)))
        rows = [(name, self.value(title)) for name in self.random.sample(SERVICES, 6)]
        lines = [f"| service | {title} |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
        turns = [("user", f"The {title}s in {stage}:\n\n" + "\n".join(lines))]
        question = f"What is the {title} of {self.pick(rows)[0]} in {stage}?"
        return Episode(turns, [(4, question, [0])])

    def value(self, title: str) -> str:
        if title == "owner":
            return str(self.pick(PEOPLE))
        return f"{self.random.randint(2, 90)} {'s' if title == 'timeout' else 'GiB'}"

    def chinese(self) -> Episode:
        (stated, asked), thing = self.new(lambda: (self.pick(CHINESE_FACTS), self.pick(CHINESE_THINGS)))
        values = self.chinese_values(thing)
        turns = [("user", stated.format(**values)), ("assistant", "好的，已经记下。")]
        return Episode(turns, [(5, asked.format(**values), [0])])

    def chinese_values(self, thing: str) -> dict[str, Any]:
        return {
            "person": self.pick(CHINESE_PEOPLE),
            "thing": thing,
            "tool": self.pick(TOOLS),
            "month": self.random.randint(1, 12),
            "day": self.random.randint(1, 28),
            "number": self.random.randint(5, 90),
        }

    def identifier(self) -> Episode:
        code = self.new(lambda: f"{self.pick(('ERR', 'E', 'LDG'))}_{self.random.randint(1000, 9999)}")
        service, cause = self.pick(SERVICES), self.pick(CAUSES)
        turns = [("user", f"{service} answers {code} when {cause}.")]
        return Episode(turns, [(6, self.pick((f"What does {code} mean?", f"When do we see {code}?")), [0])])

    def setting(self) -> Episode:
        service, verb, noun = self.new(lambda: (self.pick(SERVICES), self.pick(VERBS), self.pick(NOUNS)))
        key, value = f"{service.upper()}_{verb.upper()}_{noun.upper()}_MAX", self.random.randint(1, 500)
        turns = [("user", f"Set {key}={value} in {self.pick(STAGES)}."), ("assistant", "Done.")]
        return Episode(turns, [(6, f"How many {noun}s may {service} {verb} at most?", [0])])


def list_kinds(writer: Writer) -> list[Callable[[], Episode]]:
    return [
        writer.preference,
        writer.reply,
        writer.advice,
        writer.finding,
        writer.code,
        writer.table,
        writer.chinese,
        writer.identifier,
        writer.setting,
    ]


def write_sample(seed: int, number: int, names_speakers: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the lines of a sample: its turns in order, then its questions."""
    writer, sample, asked, at = Writer(seed * 1000 + number), f"generated-{number}", [], 0
    kinds = list_kinds(writer)
    left = {"table": 12}  # kinds that run out of new values
    for episode_number in range(SESSIONS * EPISODES):
        kind = kinds[episode_number % len(kinds)]
        episode = kind() if left.get(kind.__name__, 1) > 0 else writer.setting()
        left[kind.__name__] = left.get(kind.__name__, 1000) - 1
        for speaker, said in episode.turns:
            text = f"{speaker}: {said}" if speaker in PEOPLE and names_speakers else said
            session = f"session_{episode_number // EPISODES + 1}"
            yield {
                "sample": sample,
                "id": f"{number}:{at}",
                "session": session,
                "speaker": speaker,
                "text": text,
            }
            at += 1
        first = at - len(episode.turns)
        asked += [
            (category, text, [first + turn for turn in turns]) for category, text, turns in episode.questions
        ]
    for category, text, turns in asked:
        evidence = [f"{number}:{turn}" for turn in turns]
        yield {"sample": sample, "question": text, "category": category, "evidence": evidence}


def write_chinese(seed: int) -> Iterator[dict[str, Any]]:
    """Yield a Chinese fact of each kind about each thing; then the questions, each asked in three ways."""
    writer, asked = Writer(seed), []
    pairs = [(fact, thing) for fact in range(len(CHINESE_FACTS)) for thing in range(len(CHINESE_THINGS))]
    writer.random.shuffle(pairs)
    for at, (fact, number) in enumerate(pairs):
        thing, (stated, plain) = CHINESE_THINGS[number], CHINESE_FACTS[fact]
        row = {"sample": "chinese", "id": f"c{at}", "session": f"session_{at // EPISODES + 1}"}
        yield row | {"speaker": "user", "text": stated.format(**writer.chinese_values(thing))}
        ways = ((5, plain), (7, CHINESE_OTHER_WORDS[fact]))
        asked += [(category, text.format(thing=thing), at) for category, text in ways]
        asked.append((8, ENGLISH_WORDS[fact].format(thing=ENGLISH_THINGS[number]), at))
    for category, text, at in asked:
        yield {"sample": "chinese", "question": text, "category": category, "evidence": [f"c{at}"]}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the generated corpus.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="texts do not name who speaks")
    parser.add_argument("--chinese", action="store_true", help="Chinese facts alone, asked in three ways")
    chosen = parser.parse_args()
    samples = (write_sample(chosen.seed, number, not chosen.plain) for number in range(1, SAMPLES + 1))
    rows = [*write_chinese(chosen.seed)] if chosen.chinese else [row for rows in samples for row in rows]
    chosen.file.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    print(f"{sum('id' in row for row in rows)} turns, {sum('question' in row for row in rows)} questions")


if __name__ == "__main__":
    main()
