"""Earlier words of a person that taught nothing, and that a later statement changes: they stated something.

They are learned with the statement that takes their place, so that a message which holds no more is known as
such.
"""

from collections.abc import Iterable, Iterator, Sequence

from conversations.engines.consolidation.answers import find_withdrawn_sources, list_withdrawals
from conversations.engines.consolidation.exclusions import find_consumed
from conversations.engines.consolidation.finding import Finding
from conversations.engines.consolidation.findings import MIN_STATED, is_step
from conversations.engines.consolidation.matching import Texts, add_texts
from conversations.engines.consolidation.rules import read_rest
from conversations.engines.consolidation.sentence_score import score_sentence
from conversations.models import ConsolidationRun, Message
from memory.engines.search.candidates import embed_query, find_candidates
from memory.engines.statements.changing import announces_change, may_change
from memory.engines.statements.claims import shares_root, shares_topic
from memory.engines.statements.standing import changes
from memory.models import FactLink, Session

SESSION = ConsolidationRun.Level.SESSION
MAX_SESSIONS = 200  # newest ones of a repository whose messages are searched
MAX_CANDIDATES = 20  # messages that share the most words with a statement
MAX_LENGTH = 4000  # characters of a message
MAX_FOUND = 8  # earlier statements of one new one
MIN_SCORE = -2.0  # log-odds of a sentence that may come with a prompt


def find_overruled(session: Session, found: Iterable[Finding], texts: Texts) -> dict[str, list[Finding]]:
    """Return what of earlier prompts of the repository each statement changes, as findings, by its text."""
    batch = list(found)
    own = {one.text for one in batch if not one.is_open}
    changing = [one for one in batch if one.is_persons and one.is_statement]
    changing = [one for one in changing if not one.is_open or (may_change(one.text) and not is_step(one))]
    known = load_earlier(session, [one.text for one in changing])
    overruled = dict[str, list[Finding]]()
    for one in changing:
        earlier = [other for row in known[one.text] for other in list_before(row, one)]
        earlier = [other for other in earlier if other.text not in own]
        changed = [other for other in earlier if changes(one.text, other.text)]
        abroad = {row.uid for row in known[one.text] if row.session_id != session.key}
        changed += find_near(session, one, [other for other in earlier if other.source in abroad], texts)
        overruled[one.text] = list({other.text: other for other in changed}.values())[:MAX_FOUND]
    return overruled


def find_near(session: Session, one: Finding, others: Iterable[Finding], texts: Texts) -> list[Finding]:
    """Return what of other sessions is about the same thing as what a statement lays down by itself: nearly
    all of it, unless the statement says that something changes.
    """
    if one.is_open:
        return []
    shares = shares_root if announces_change(one.text) else shares_topic
    likely = [other for other in others if shares(one.text, other.text)]
    likely = [other for other in likely if score_sentence(other.text) >= MIN_STATED][:MAX_FOUND]
    both = add_texts(texts, session.project_id, [other.text for other in likely], embed=True)
    return [other for other in likely if both.rate_topic(one.text, other.text)]


def load_earlier(session: Session, texts: Sequence[str]) -> dict[str, list[Message]]:
    """Return the messages that share the most words with each text, and taught nothing, by text."""
    if not texts:
        return {}
    messages = Message.objects.on(session.branch)
    rows = messages.filter_indexed(role=Message.Role.USER.value, session_id=list_sessions(session))
    hits: dict[str, list[int]] = {}
    for text in dict.fromkeys(texts):
        query = embed_query(text, None)
        near = find_candidates(rows, query, "keyword", MAX_CANDIDATES, session.project_id, substrings=False)
        hits[text] = sorted(near.rids)
    batch = rows.fetch_by_key("rid", sorted({rid for rids in hits.values() for rid in rids}), MAX_LENGTH)
    sources = [row.uid for row in batch]
    consumed = find_consumed(FactLink.objects.on(session.branch), sources)
    if not consumed.issuperset(sources):
        consumed |= find_withdrawn_sources(list_withdrawals(session.branch, [SESSION]), sources)
    unread = {row.rid: row for row in batch if row.uid not in consumed}
    return {text: [unread[rid] for rid in rids if rid in unread] for text, rids in hits.items()}


def list_before(row: Message, one: Finding) -> Iterator[Finding]:
    """Yield what a message that was sent before a statement may state, sentence by sentence."""
    at = row.said_at or row.created_at
    if row.uid != one.source and one.said_at and at < one.said_at:
        for text in read_rest(row.content, (), one.is_working):
            if score_sentence(text) >= MIN_SCORE:
                yield Finding(text, "decision", row.uid, FactLink.Target.MESSAGE, at, is_persons=True)


def list_sessions(session: Session) -> list[str]:
    """Return the newest sessions of the repository, and the session itself."""
    rows = Session.objects.filter(project=session.project_id, project_path=session.project_path, hidden=False)
    rows = rows.filter(deleted_at=None)
    keys = rows.order_by("-pk").values_list("key", flat=True) if session.project_path else ()
    return [session.key, *(key for key in keys[:MAX_SESSIONS] if key != session.key)]
