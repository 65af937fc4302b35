"""Corpora of conversations with questions: LoCoMo, REALTALK, BEAM, or generated ones. They are only read."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from bench import locomo
from bench.locomo import Conversation, Question, Turn

QUESTIONS = Path("probing_questions", "probing_questions.json")  # of a chat of BEAM, beside its chat.json
TRAILER = re.compile(r"\s*->->\s*[\w,]*\s*$")  # a mark of the generator behind a user's text
MAX_BYTES = 64_000  # of a text: a fact has room for 64 KiB
BEAM_CATEGORIES = (
    "information_extraction",
    "multi_session_reasoning",
    "knowledge_update",
    "temporal_reasoning",
    "contradiction_resolution",
    "event_ordering",
    "instruction_following",
    "preference_following",
    "summarization",
)
GENERATED_CATEGORIES = {1: "short", 2: "long", 3: "code", 4: "table", 5: "Chinese", 6: "identifier"} | {
    7: "Chinese in other words",
    8: "English of Chinese",
}

T = TypeVar("T")


class NotACorpus(Exception):
    """A file that is no corpus of its format, with the line where that shows."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}, line {line}: {reason}")


def read_corpus(paths: Iterable[Path], corpus_format: str) -> list[Conversation]:
    """Read the conversations of the files. Raises NotACorpus."""
    return [conversation for path in paths for conversation in FORMATS[corpus_format](path)]


def list_categories(corpus_format: str) -> Mapping[int, str]:
    match corpus_format:
        case "beam":
            return dict(enumerate(BEAM_CATEGORIES, 1))
        case "generated":
            return GENERATED_CATEGORIES
        case _:
            return locomo.CATEGORIES


# ---- LoCoMo: a list of conversations in one file -----------------------------------------------------


def read_locomo(path: Path) -> Iterator[Conversation]:
    for line, sample in _list_items(path):
        yield _checked(path, line, locomo.read_sample, sample)


def _list_items(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the items of a list in JSON, each with the line on which it begins."""
    text, decoder = _text(path), json.JSONDecoder()
    _parse(path, text)
    at = _skip(text, 0)
    if text[at] != "[":
        raise NotACorpus(path, _line(text, at), "a list of conversations is expected.")
    at = _skip(text, at + 1)
    while text[at] != "]":
        item, end = decoder.raw_decode(text, at)
        yield _line(text, at), item
        at = _skip(text, end)


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n,":
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# ---- REALTALK: a chat in a file ----------------------------------------------------------------------


def read_realtalk(path: Path) -> Iterator[Conversation]:
    yield _checked(path, 1, _realtalk, _parse(path, _text(path)), path.stem)


def _realtalk(chat: dict[str, Any], name: str) -> Conversation:
    turns = [
        Turn(turn["dia_id"], key, turn["speaker"], _realtalk_text(turn))
        for key in sorted((key for key in chat if locomo.SESSION.fullmatch(key)), key=locomo.session_number)
        for turn in chat[key]
    ]
    return Conversation(name, tuple(turns), tuple(locomo.list_questions(chat["qa"], turns)))


def _realtalk_text(turn: dict[str, Any]) -> str:
    return locomo.format_text(
        turn["date_time"], turn["speaker"], turn["clean_text"], turn.get("blip_caption")
    )


# ---- BEAM: a folder for each chat --------------------------------------------------------------------


def read_beam(path: Path) -> Iterator[Conversation]:
    """Read a chat.json, and its questions from the folder beside it."""
    name = f"beam-{path.parent.name}"
    turns = _checked(path, 1, _beam_turns, _parse(path, _text(path)))
    asked = path.parent / QUESTIONS
    questions = _checked(
        asked, 1, _beam_questions, _parse(asked, _text(asked)), {turn.dia_id for turn in turns}
    )
    yield Conversation(name, tuple(turns), tuple(questions))


def _beam_turns(batches: Sequence[dict[str, Any]]) -> list[Turn]:
    found: list[Turn] = []
    date = ""
    for number, batch in enumerate(batches, 1):
        for message in (message for group in batch["turns"] for message in group):
            date = message.get("time_anchor") or date
            text = f"[{date}] {message['role']}: {TRAILER.sub('', message['content'])}"
            text = text.encode()[:MAX_BYTES].decode(errors="ignore")
            found.append(Turn(str(message["id"]), f"session_{number}", message["role"], text))
    return found


def _beam_questions(asked: dict[str, Any], known: set[str]) -> list[Question]:
    found: list[Question] = []
    for number, name in enumerate(BEAM_CATEGORIES, 1):
        for item in asked[name]:
            evidence = frozenset(map(str, _flatten(item.get("source_chat_ids")))) & known
            if evidence:
                found.append(Question(item["question"], number, evidence))
    return found


def _flatten(value: Any) -> Iterator[Any]:
    """Yield the ids in lists and dictionaries of any depth."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _flatten(part)
    elif value is not None:
        yield value


# ---- generated: a line for each turn and each question ------------------------------------------------


def read_generated(path: Path) -> Iterator[Conversation]:
    turns: dict[str, list[Turn]] = {}
    questions: dict[str, list[Question]] = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        _checked(path, number, _add_line, _parse(path, line, number), turns, questions)
    for sample, rows in turns.items():
        yield Conversation(sample, tuple(rows), tuple(questions.get(sample, ())))


def _add_line(
    row: dict[str, Any], turns: dict[str, list[Turn]], questions: dict[str, list[Question]]
) -> None:
    if "question" in row:
        asked = Question(row["question"], row["category"], frozenset(row["evidence"]))
        questions.setdefault(row["sample"], []).append(asked)
        return
    turn = Turn(row["id"], row["session"], row["speaker"], row["text"])
    turns.setdefault(row["sample"], []).append(turn)


# ---- pieces ------------------------------------------------------------------------------------------


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise NotACorpus(path, line, "it is no text in UTF-8.") from None
    except OSError as error:
        raise NotACorpus(path, 1, f"{error.strerror}.") from None


def _parse(path: Path, text: str, line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise NotACorpus(path, line + error.lineno - 1, f"it is no JSON: {error.msg}.") from None


def _checked(path: Path, line: int, build: Callable[..., T], value: Any, *rest: Any) -> T:
    """Build from a value; a missing key or a wrong type says that the file is no corpus."""
    try:
        return build(value, *rest)
    except KeyError as error:
        raise NotACorpus(path, line, f"{error.args[0]} is missing.") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise NotACorpus(path, line, f"it has another form: {error}.") from None


FORMATS: Mapping[str, Callable[[Path], Iterator[Conversation]]] = {
    "locomo": read_locomo,
    "realtalk": read_realtalk,
    "beam": read_beam,
    "generated": read_generated,
}
