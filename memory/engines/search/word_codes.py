"""Codes of the words of texts, of which a process keeps those that it compared last."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock
from uuid import UUID

from memory.db.raw_select import Statement, fetch_each, fetch_one, plan_equal
from memory.engines.search.candidates import PreparedQuery
from memory.models import Vector, VectorClock
from memory.models.vectors import vector_slots

MAX_BYTES = 16 * 2**20  # in one process: the codes of some 13,000 short texts
OVERHEAD = 200  # bytes of an entry besides its codes
Space = tuple[UUID, int, str]  # project, its epoch, model
NONE: Mapping[str, bytes] = {}


class CodeCache:
    """Codes by the hashes of texts, in spaces of a project and model. They follow from both and never change;
    an erasure begins an epoch, which has a space of its own. Of too many, those that were read first go.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        # Ordered ones: the first of a plain dict is looked for past all that were dropped.
        self._spaces: OrderedDict[Space, OrderedDict[str, bytes]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def find(self, space: Space, hashes: Iterable[str]) -> dict[str, bytes]:
        known = self._spaces.get(space, NONE)
        return {value: codes for value in hashes if (codes := known.get(value))}

    def add(self, space: Space, found: Mapping[str, bytes]) -> None:
        with self._lock:
            if space not in self._spaces:
                self._drop_before(space)
            known = self._spaces.setdefault(space, OrderedDict())
            for value, codes in found.items():
                if value not in known:
                    known[value] = codes
                    self._size += len(codes) + OVERHEAD
            while self._size > self.max_bytes:
                self._drop_first()

    def _drop_before(self, space: Space) -> None:
        """Drop what was read in earlier epochs of a project."""
        for other in [one for one in self._spaces if one[0] == space[0] and one[1] < space[1]]:
            self._size -= sum(len(codes) + OVERHEAD for codes in self._spaces.pop(other).values())

    def _drop_first(self) -> None:
        space, known = next(iter(self._spaces.items()))
        if known:
            _, codes = known.popitem(last=False)
            self._size -= len(codes) + OVERHEAD
        else:
            del self._spaces[space]


cache = CodeCache()


def load_codes(hashes: Iterable[str], question: PreparedQuery, project_id: UUID) -> dict[str, bytes]:
    """Return the codes of texts by their hashes, of those that have some."""
    space, requested = find_space(question, project_id), set(hashes)
    known = cache.find(space, requested)
    if len(known) == len(requested):
        return known
    rows = fetch_each(plan_new(space, requested - known.keys()))
    found = {value: bytes(codes) for value, codes in rows if codes}
    cache.add(space, found)
    return known | found


def plan_codes(hashes: Iterable[str], question: PreparedQuery, project_id: UUID) -> list[Statement]:
    """Return the statements of ``load_codes``, for ``read_together``."""
    if question.word_vectors is None:
        return []
    space, requested = find_space(question, project_id), set(hashes)
    return plan_new(space, requested - cache.find(space, requested).keys())


def plan_new(space: Space, hashes: Iterable[str]) -> list[Statement]:
    project_id, _, model = space
    # By key alone: with a condition on the state, the planner reads every vector in that state.
    slots = map(vector_slots(project_id, model), sorted(hashes))
    return plan_equal(Vector, ("content_hash", "words"), slot=slots)


def find_space(question: PreparedQuery, project_id: UUID) -> Space:
    clock = fetch_one(VectorClock, project=project_id)
    return project_id, clock.epoch if clock else 0, question.model
