"""Earlier words of a person that taught nothing, and that a later statement changes: they stated something.

They are learned with the statement that takes their place, so that a message which holds no more is known as
such.
"""

from collections.abc import Iterable, Iterator, Sequence

from conversations.engines.consolidation.answers import find_withdrawn_sources, list_withdrawals
from conversations.engines.consolidation.finding import Finding
from conversations.engines.consolidation.findings import find_consumed
from conversations.engines.consolidation.rules import read_rest
from conversations.engines.consolidation.sentence_score import score_sentence
from conversations.models import ConsolidationRun, Message
from memory.engines.search.candidates import find_candidates
from memory.engines.search.query import build_query
from memory.engines.support.standing import changes, may_change
from memory.models import FactLink, Session

SESSION = ConsolidationRun.Level.SESSION
MAX_SESSIONS = 200  # newest ones of a repository whose messages are searched
MAX_CANDIDATES = 20  # messages that share the most words with a statement
MAX_LENGTH = 4000  # characters of a message
MAX_FOUND = 8  # earlier statements of one new one
MIN_SCORE = -2.0  # log-odds of a sentence that may come with a prompt


def find_overruled(session: Session, found: Sequence[Finding]) -> list[Finding]:
    """Return findings of earlier messages of the repository that statements among the findings change."""
    own = {one.text for one in found}
    older: dict[str, Finding] = {}
    for one in found:
        if one.is_persons and one.is_statement and may_change(one.text):
            changed = (other for other in list_earlier(session, one) if other.text not in own)
            fresh = [other for other in changed if changes(one.text, other.text)]
            older |= {other.text: other for other in fresh[:MAX_FOUND]}
    return list(older.values())


def list_earlier(session: Session, one: Finding) -> Iterator[Finding]:
    """Yield the sentences of earlier messages that share words with a statement and taught nothing."""
    messages = Message.objects.on(session.branch)
    rows = messages.filter_indexed(role=Message.Role.USER.value, session_id=list_sessions(session))
    query = build_query(one.text, search_type="keyword")
    hits = find_candidates(rows, query, "keyword", MAX_CANDIDATES, session.project_id, substrings=False)
    batch = rows.fetch_by_key("rid", hits.rids, MAX_LENGTH)
    sources = [row.uid for row in batch]
    consumed = find_consumed(FactLink.objects.on(session.branch), sources)
    consumed |= find_withdrawn_sources(list_withdrawals(session.branch, [SESSION]), sources)
    for row in batch:
        at = row.said_at or row.created_at
        if row.uid not in consumed and row.uid != one.source and one.said_at and at < one.said_at:
            for text in list_sentences(row.content):
                yield Finding(text, "decision", row.uid, FactLink.Target.MESSAGE, at, is_persons=True)


def list_sentences(text: str) -> Iterable[str]:
    """Return what a prompt may state, without what nobody would take for a statement."""
    return (part for part in read_rest(text, ()) if score_sentence(part) >= MIN_SCORE)


def list_sessions(session: Session) -> list[str]:
    """Return the newest sessions of the repository, and the session itself."""
    rows = Session.objects.filter(project=session.project_id, project_path=session.project_path, hidden=False)
    keys = rows.order_by("-pk").values_list("key", flat=True) if session.project_path else ()
    return [session.key, *(key for key in keys[:MAX_SESSIONS] if key != session.key)]
