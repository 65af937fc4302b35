"""What of a session is not learned: sources that were read before, and what Day1 itself gave it."""

from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from conversations.engines.consolidation.answers import Withdrawal, list_withdrawals
from conversations.engines.consolidation.sentences import sentences
from conversations.models import ConsolidationRun, Message
from memory.db.raw_select import select_equal
from memory.models import Branch, Fact, FactLink, RecallLog, Session
from memory.texts import LATER, UUID_PATTERN, WAS

BATCH_SIZE = 500
LEVEL = ConsolidationRun.Level.SESSION.value
CONSUMING = frozenset({FactLink.Type.DERIVED_FROM.value, FactLink.Type.CONSOLIDATED_FROM.value})


def read_runs(branch: Branch, key: str) -> tuple[datetime | None, Sequence[Withdrawal]]:
    """Return up to which commit's time earlier runs have read a session, and what was taken away of them."""
    where: dict[str, Any] = {"branch": [branch.pk], "level": [LEVEL], "target": [key]}
    runs = select_equal(ConsolidationRun, ("read_to", "state", "answers"), **where)
    is_answered = any(answers or state == ConsolidationRun.State.UNDONE for _, state, answers in runs)
    read_to = max((at for at, *_ in runs if at), default=None)
    return read_to, list_withdrawals(branch, [LEVEL], key) if is_answered else []


def find_consumed(links: Any, sources: Sequence[UUID], own: Container[tuple[int, int]] = ()) -> set[UUID]:
    """Return the sources that a visible link shows as consumed, by others than the ``own`` commits."""
    columns = ("to_id", "link_type", "branch_id", "seq_from")
    rows = links.select_by_key(columns, "to_id", dict.fromkeys(sources))
    return {uid for uid, kind, *commit in rows if kind in CONSUMING and tuple(commit) not in own}


def list_recalled_ids(session: Session) -> set[UUID]:
    """Return the memories that Day1 gave this session: at its start, with prompts and as search results."""
    recalls = RecallLog.objects.filter(project=session.project_id, session_id=session.key)
    newest = recalls.order_by("-id").values_list("fact_ids", flat=True)[:BATCH_SIZE]
    ids = {UUID(uid) for fact_ids in newest for uid in fact_ids}
    at_start = UUID_PATTERN.findall("\n".join(list_given_lines(session)))
    return ids | set(map(UUID, [*at_start, *chain.from_iterable(session.recalled.values())]))


def list_given_lines(session: Session) -> list[str]:
    """Return the lines of the start context, without what holds no more: a person may go back to that."""
    lines = [line.removeprefix("- ") for line in session.context.splitlines()]
    return [line.partition(LATER)[2] if line.startswith(WAS) else line for line in lines]


def list_known_texts(session: Session, recalled: Iterable[UUID]) -> list[str]:
    """Return the texts that Day1 gave this session: at its start, with prompts, and as search results."""
    ids, lineage = list(recalled), session.branch.lineage()
    facts, messages = (
        model.objects.in_lineage(lineage).select_by_key((column,), "uid", ids)
        for model, column in ((Fact, "fact_text"), (Message, "content"))
    )
    parts = (part for (content,) in messages for part in sentences(content))
    return [*list_given_lines(session), *(text for (text,) in facts), *parts]
