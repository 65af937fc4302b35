"""LoCoMo as memories and questions: a conversation is a branch, a turn is a fact. The data is read-only."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}  # 5 has no true answer
SESSION = re.compile(r"session_(\d+)")
TURN = re.compile(r"D:?(\d+):(\d+)")  # "D8:6; D9:17" names two turns; "D:11:26" and "D30:05" occur


@dataclass(frozen=True)
class Turn:
    dia_id: str
    session: str
    speaker: str
    text: str

    def message(self, user: str) -> dict[str, Any]:
        """Return the turn as a message; ``user`` is the speaker in the user's role."""
        return {"role": "user" if self.speaker == user else "assistant", "content": self.text}

    def fact(self, sample: str) -> dict[str, Any]:
        """Return the turn as the body of an API request."""
        return {
            "fact_text": self.text,
            "session_id": f"{sample}/{self.session}",
            "agent_id": self.speaker,
            "metadata": {"dia_id": self.dia_id, "speaker": self.speaker},
        }


@dataclass(frozen=True)
class Question:
    """Question, with the turns that contain its evidence."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    sample: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def sessions(self) -> list[tuple[str, list[Turn]]]:
        """Return the turns of each session, in order."""
        found: dict[str, list[Turn]] = {}
        for turn in self.turns:
            found.setdefault(turn.session, []).append(turn)
        return list(found.items())

    @property
    def branch(self) -> str:
        return "experiment/" + re.sub(r"[^a-z0-9._-]+", "-", self.sample.lower())


def read_sample(sample: dict[str, Any]) -> Conversation:
    """Read a conversation of a LoCoMo file, with its questions of categories 1 to 4 that have evidence."""
    turns = tuple(_turns(sample["conversation"]))
    return Conversation(str(sample["sample_id"]), turns, tuple(list_questions(sample["qa"], turns)))


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    # A session_N_date_time may exist without its session_N.
    for key in sorted((key for key in conversation if SESSION.fullmatch(key)), key=session_number):
        date = conversation.get(f"{key}_date_time", "")
        for turn in conversation[key] or ():
            text = format_text(date, turn["speaker"], turn.get("text", ""), turn.get("blip_caption"))
            yield Turn(_named(turn["dia_id"])[0], key, turn["speaker"], text)


def session_number(key: str) -> int:
    return int(key.removeprefix("session_"))


def format_text(date: str, speaker: str, text: str, caption: str | None) -> str:
    image = f" [image: {caption}]" if caption else ""
    return f"[{date}] {speaker}: {text}{image}"


def list_questions(qa: Sequence[dict[str, Any]], turns: Sequence[Turn]) -> Iterator[Question]:
    known = {turn.dia_id for turn in turns}
    for item in qa:
        named = _named(" ".join(map(str, item.get("evidence") or ())))
        evidence = frozenset(named) & known
        if item["category"] in CATEGORIES and evidence:
            yield Question(str(item["question"]), item["category"], evidence)


def _named(text: str) -> list[str]:
    return [f"D{int(session)}:{int(turn)}" for session, turn in TURN.findall(text)]
