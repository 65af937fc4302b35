"""Facts of no repository, and what speaks against telling them in one."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from uuid import UUID

from memory.db.raw_select import Statement, fetch_each, plan_last
from memory.engines.statements.standing import changes
from memory.models import Fact, Session

MAX_SESSIONS = 200  # newest ones of the project, whose repositories are known by name
MAX_COMPARED = 10  # facts of the repository that a general one is compared with
MIN_SHARED = 2  # words of both
MIN_WORD_LENGTH = 3
WORD = re.compile(r"[^\W_]{3,}")
NAME = re.compile(r"[\w.-]+")


class GeneralFacts:
    """Which facts of no repository may be told in a session.

    Nothing in its repository says otherwise, and they name no other repository.
    """

    def __init__(self, own: Iterable[Fact], session: Session) -> None:
        self.texts = {fact.uid: fact.fact_text for fact in own}
        self.session = session

    @cached_property
    def names(self) -> frozenset[str]:
        return list_other_names(self.session)

    @cached_property
    def _by_word(self) -> Mapping[str, set[UUID]]:
        found = defaultdict[str, set[UUID]](set)
        for uid, text in self.texts.items():
            for word in find_words(text):
                found[word].add(uid)
        return found

    def may_tell(self, fact: Fact) -> bool:
        if fact.pinned:
            return True
        if self.names and self.names.intersection(NAME.findall(fact.fact_text.lower())):
            return False
        return not any(
            changes(text, fact.fact_text) or changes(fact.fact_text, text)
            for text in self._find_similar(fact.fact_text)
        )

    def _find_similar(self, text: str) -> list[str]:
        counts = Counter(uid for word in find_words(text) for uid in self._by_word.get(word, ()))
        near = counts.most_common(MAX_COMPARED)
        return [self.texts[uid] for uid, count in near if count >= MIN_SHARED]


def list_other_names(session: Session) -> frozenset[str]:
    """Return the last parts of the addresses of the project's other repositories."""
    paths = {path for (path,) in fetch_each([plan_paths(session)])} - {"", session.project_path}
    names = {path.rstrip("/").rpartition("/")[2].lower() for path in paths}
    own = session.project_path.lower()
    return frozenset(name for name in names if len(name) >= MIN_WORD_LENGTH and name not in own)


def plan_paths(session: Session) -> Statement:
    """Return the statement that reads the repositories of the project's newest sessions."""
    return plan_last(Session, ("project_path",), MAX_SESSIONS, project=session.project_id)


def find_words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))
