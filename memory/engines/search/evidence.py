"""Evidence of hits: whether the words and the meaning of a question stand in them at all."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol, TypedDict
from uuid import UUID

import numpy as np
from django.utils.text import Truncator

from memory.db.index_tokens import search_phrases
from memory.db.raw_select import fetch_one
from memory.engines.embedding.engine import is_any_waiting
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.scoring import Scored, list_known
from memory.engines.search.speakers import ASKING, name_speaker, weigh_telling
from memory.engines.search.windows import match_words
from memory.evidence import (
    FOR_NO_NAME,
    INCOMPLETE,
    MIN_EVIDENCE,
    NOTHING_EXPECTED,
    SHARPNESS,
    Expectation,
    Likeness,
    expect_answer,
    list_names,
    rate_evidence,
)
from memory.metrics import timed
from memory.models import Project
from memory.ranking import Recipe
from memory.word_forms import WORD_PATTERN, fold_text
from memory.words import is_small_talk

MIN_STEM_LENGTH, MAX_ENDING = 4, 2  # characters
MAX_CACHED_WORDS = 20_000
FOREIGN_LEAST = 0.05  # evidence of a question in a language that the model does not know
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
    query finds, however many hits are shown; nothing is ``known`` below the project's least. It is
    ``incomplete`` while texts wait for their vectors, after a restart for instance.
    """

    hits: Sequence[Rated]
    evidence: float
    known: bool
    incomplete: bool

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
        note = NEAREST.format(text=self.nearest) if self.hits else UNKNOWN
        return f"{note} {INCOMPLETE}" if self.incomplete else note


@dataclass(frozen=True)
class Rater:
    """Evidence of the hits of a search."""

    stems: set[str]
    expected: Expectation
    is_foreign: bool  # then the words alone decide
    model: str  # "" where no vectors were compared

    @classmethod
    def from_hits(cls, hits: Sequence[Scored], question: PreparedQuery) -> "Rater":
        added = expect_answer(question.text, len(hits))
        if any(not stands_anywhere(name, hits) for name in list_names(question.text)):
            added += FOR_NO_NAME
        expected = Expectation(added, weigh_others(hits))
        model = "" if question.vector is None else question.model
        return cls(list_stems(question.words), expected, question.is_foreign, model)

    def rate(self, hit: Scored) -> float:
        if self.is_foreign:
            return rate_foreign(hit.row.text, self.stems)
        return rate_text(hit.row.text, self.stems, hit.cosine, hit.words, self.expected)

    def find_best(self, hits: Iterable[Scored]) -> float:
        """Return the best evidence of hits; a text is read only where it could have a better one."""
        if self.is_foreign:
            return max(map(self.rate, hits), default=0.0)
        best = 0.0
        bounds = ((rate_evidence(Likeness(1.0, hit.cosine, hit.words), self.expected), hit) for hit in hits)
        for bound, hit in sorted(bounds, key=lambda pair: -pair[0]):
            if bound <= best:
                break
            best = max(best, self.rate(hit))
        return best


def stands_anywhere(name: str, hits: Iterable[Scored]) -> bool:
    stems = cut_word(fold_text(name))
    return any(all(stem in text for stem in stems) for text in (fold_text(hit.row.text) for hit in hits))


def weigh_others(hits: Sequence[Scored]) -> float | None:
    """Return the share of others than the named among the texts whose words match best, the better the more,
    and those in which people speak of themselves the most; None where a question names none who speak.
    """
    rated = [hit for hit in hits if hit.bare is not None]
    own = [hit.is_named and name_speaker(hit.row) not in ASKING for hit in rated]
    if not any(own):
        return None
    matches = np.array([hit.bare for hit in rated])
    weights = np.exp(SHARPNESS * (matches - matches.max()))
    telling = weights * np.array([weigh_telling(hit.row.text) for hit in rated])
    weights = telling if telling.any() else weights
    return float(1 - weights[own].sum() / weights.sum())


def rate_rows(
    rows: Sequence[Any],
    cosines: Mapping[int, float],
    question: PreparedQuery,
    recipe: Recipe,
    project_id: UUID,
) -> list[float]:
    """Return the evidence that each of these rows would have as a hit of a search."""
    texts, stems = [getattr(row, row.TEXT) for row in rows], list_stems(question.words)
    if question.is_foreign:
        return [rate_foreign(text, stems) for text in texts]
    matches = match_words([row.content_hash for row in rows], question, project_id)
    words = list_known(matches.take_off(recipe.length_allowance).list_means())
    found = zip(texts, (cosines.get(row.rid) for row in rows), words, strict=True)
    return [rate_text(text, stems, cosine, matched) for text, cosine, matched in found]


def rate_text(
    text: str,
    requested: set[str],
    cosine: float | None,
    words: float | None,
    expected: Expectation = NOTHING_EXPECTED,
) -> float:
    """Return the evidence of a text for a question with the requested stems."""
    share = len(find_shared(text, requested)) / len(requested) if requested else 0.0
    return rate_evidence(Likeness(share, cosine, words), expected)


def rate_foreign(text: str, requested: set[str]) -> float:
    """Return the evidence of a text by its words alone, of which a single short one says nothing."""
    shared = find_shared(text, requested)
    is_enough = shared and (shared == requested or is_telling(shared))
    return rate_evidence(Likeness(len(shared) / len(requested) if is_enough else 0.0))


def is_telling(shared: Collection[str]) -> bool:
    return len(shared) > 1 or any(len(stem) > MIN_STEM_LENGTH for stem in shared)


def find_shared(text: str, requested: set[str]) -> set[str]:
    folded = fold_text(text)
    # Most texts have none of the letters; other scripts have stems that are spelled otherwise.
    possible = {stem for stem in requested if stem in folded or not stem.isascii()}
    return possible & list_stems(WORD_PATTERN.findall(folded)) if possible else possible


def list_stems(words: Iterable[str]) -> set[str]:
    """Return words without their endings; pairs of units in scripts without spaces."""
    return {stem for word in set(words) for stem in cut_word(word)}


@lru_cache(maxsize=MAX_CACHED_WORDS)
def cut_word(word: str) -> tuple[str, ...]:
    """Return the stems of one word; most words of a text repeat in others."""
    return tuple(phrase[: max(MIN_STEM_LENGTH, len(phrase) - MAX_ENDING)] for phrase in search_phrases(word))


class Judgement(TypedDict):
    """What ``Judged`` has beside its hits."""

    evidence: float
    known: bool
    incomplete: bool


@timed("day1_search_part_seconds", part="evidence")
def judge_evidence(
    hits: Sequence[Scored], rater: Rater, question: PreparedQuery, project_id: UUID
) -> Judgement:
    """Return the best evidence of all that a query finds, whether that counts as known in the project, and
    whether more may be found once all texts have vectors: to be asked in the snapshot of the search.

    Where the project has no least, a question is unknown only by a model that one was measured with.
    """
    best, least = rater.find_best(hits), read_least(project_id)
    if least is None:
        is_measured = any(hit.words is not None for hit in hits)
        least = MIN_EVIDENCE.get(question.model, 0.0) if is_measured else 0.0
        least = FOREIGN_LEAST if question.is_foreign else least
    known = bool(hits) and best >= least and not (least and is_small_talk(question.words))
    incomplete = bool(rater.model) and is_any_waiting(project_id, rater.model)
    return {"evidence": best, "known": known, "incomplete": incomplete}


def read_least(project_id: UUID) -> float | None:
    """Return the least evidence that counts as known in a project, where it has its own."""
    project = fetch_one(Project, id=project_id)
    return None if project is None or project.least_evidence is None else float(project.least_evidence)
