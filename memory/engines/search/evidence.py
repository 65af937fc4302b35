"""Evidence of hits: whether the words and the meaning of a question stand in them at all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol
from uuid import UUID

from django.utils.text import Truncator

from memory.db.raw_select import select_equal
from memory.db.segmentation import search_phrases
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.late_interaction import match_words
from memory.engines.search.scoring import Scored
from memory.evidence import MIN_EVIDENCE, Likeness, rate_evidence
from memory.models import Project
from memory.ranking import Recipe
from memory.word_forms import WORD_PATTERN, fold_text
from memory.words import is_small_talk

MIN_STEM_LENGTH, MAX_ENDING = 4, 2  # characters
MAX_CACHED_WORDS = 20_000
MAX_NEAREST = 120  # characters of the text that is nearest
UNKNOWN = "Nothing is known here on this."
NEAREST = "Nothing is known here on this; nearest: “{text}”"


class Rated(Protocol):
    """Hit with its evidence."""

    @property
    def evidence(self) -> float: ...

    @property
    def text(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Result of a search that says whether the answer is known. ``evidence`` is the best of all that the
    query finds, however many hits are shown; nothing is ``known`` below the project's least.
    """

    hits: Sequence[Rated]
    evidence: float
    known: bool

    @property
    def nearest(self) -> str:
        """Return the beginning of the shown text with the best evidence, in one line."""
        best = max(self.hits, key=attrgetter("evidence"), default=None)
        return Truncator(" ".join(best.text.split())).chars(MAX_NEAREST) if best else ""

    @property
    def note(self) -> str:
        """Return what is told where nothing is known, in the same words on every surface; "" else."""
        if self.known:
            return ""
        return NEAREST.format(text=self.nearest) if self.hits else UNKNOWN


def rate_hits(hits: Sequence[Scored], question: PreparedQuery) -> list[float]:
    """Return the evidence of each hit."""
    stems = list_stems(question.words)
    return [rate_hit(hit, stems) for hit in hits]


def rate_hit(hit: Scored, requested: set[str]) -> float:
    return rate_text(hit.row.text, requested, hit.cosine, hit.words, is_by_other(hit))


def is_by_other(hit: Scored) -> bool:
    """Return whether the question names who speaks in other hits, and not in this one."""
    named = hit.columns.get("speaker")
    return named is not None and not named[hit.at] and bool(named.any())


def rate_rows(
    rows: Sequence[Any],
    cosines: Mapping[int, float],
    question: PreparedQuery,
    recipe: Recipe,
    project_id: UUID,
) -> list[float]:
    """Return the evidence that each of these rows would have as a hit of a search."""
    texts = {row.rid: getattr(row, row.TEXT) for row in rows}
    hashes = {row.rid: row.content_hash for row in rows}
    words = match_words(hashes, question, project_id).take_off(recipe.length_allowance).list_means()
    stems = list_stems(question.words)
    return [rate_text(text, stems, cosines.get(rid), words.get(rid)) for rid, text in texts.items()]


def rate_text(
    text: str, requested: set[str], cosine: float | None, words: float | None, by_other: bool = False
) -> float:
    """Return the evidence of a text for a question with the requested stems."""
    own = list_stems(WORD_PATTERN.findall(fold_text(text))) if requested else set()
    share = len(requested & own) / len(requested) if requested else 0.0
    return rate_evidence(Likeness(share, cosine, words, by_other))


def list_stems(words: Iterable[str]) -> set[str]:
    """Return words without their endings; pairs of units in scripts without spaces."""
    return {stem for word in set(words) for stem in cut_word(word)}


@lru_cache(maxsize=MAX_CACHED_WORDS)
def cut_word(word: str) -> tuple[str, ...]:
    """Return the stems of one word; most words of a text repeat in others."""
    return tuple(phrase[: max(MIN_STEM_LENGTH, len(phrase) - MAX_ENDING)] for phrase in search_phrases(word))


def judge_evidence(hits: Sequence[Scored], question: PreparedQuery, project_id: UUID) -> tuple[float, bool]:
    """Return the best evidence of all that a query finds, and whether that counts as known in the project.

    Where the project has no least, a question is unknown only by a model that one was measured with.
    """
    best, least = find_best(hits, question), read_least(project_id)
    if least is None:
        is_measured = any(hit.words is not None for hit in hits)
        least = MIN_EVIDENCE.get(question.model, 0.0) if is_measured else 0.0
    return best, bool(hits) and best >= least and not (least and is_small_talk(question.words))


def find_best(hits: Iterable[Scored], question: PreparedQuery) -> float:
    """Return the best evidence of hits; a text is read only where it could have a better one."""
    stems, best = list_stems(question.words), 0.0
    bounds = ((rate_evidence(Likeness(1.0, hit.cosine, hit.words, is_by_other(hit))), hit) for hit in hits)
    for bound, hit in sorted(bounds, key=lambda pair: -pair[0]):
        if bound <= best:
            break
        best = max(best, rate_hit(hit, stems))
    return best


def read_least(project_id: UUID) -> float | None:
    """Return the least evidence that counts as known in a project, where it has its own."""
    ((least,),) = select_equal(Project, ("least_evidence",), id=[project_id])
    return None if least is None else float(least)
