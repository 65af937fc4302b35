"""The two parts of what is replayed: up to the fork, and what came after it."""

from conversations.engines.conversations import get_visible
from conversations.engines.forks import find_point
from conversations.engines.threads import load_thread
from conversations.models import Message, Replay

MAX_MESSAGES = 5_000
Parts = tuple[list[Message], list[Message]]


def load_parts(replay: Replay) -> Parts:
    """Return the messages of the source up to the fork, and those behind it, as the source was then.

    Raises NotFound, Invalid.
    """
    lineage = replay.source_branch.lineage(replay.source_seq)
    source = get_visible(lineage, replay.source_id)
    point = find_point(lineage, source, replay.message_id)
    thread, rows = load_thread(lineage, source), Message.objects.in_lineage(lineage)
    place = thread.position(point)
    before = list(thread.stream(rows, MAX_MESSAGES, down=True, beyond=place))[::-1]
    after = list(thread.stream(rows, MAX_MESSAGES, beyond=place))
    return [*before, point], after


def load_own(replay: Replay) -> list[Message]:
    """Return the messages that the replay has added."""
    replay.branch.refresh_from_db(fields=["head", "head_at"])
    rows = Message.objects.on(replay.branch).filter(conversation_id=replay.conversation_id)
    return sorted(rows.fetch_all(), key=lambda row: row.sequence_num)
