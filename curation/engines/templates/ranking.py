"""Which template fits a task: by its kind of work, then by meaning, then by success, then the newest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection

from curation.engines.fields.templates import MAX_CANDIDATES
from curation.engines.templates.rows import attach_counts, list_visible_templates, measure_success
from curation.models import Template
from memory.actors import Actor
from memory.engines.embedding.models import active_provider
from memory.engines.support.model_budgets import paid_by
from memory.exceptions import ProviderUnavailable
from memory.providers.embedding import get_floor, read_query
from memory.words import extract_keywords

MIN_MEANING = 0.4
MIN_SHARED_WORDS = 2
LEVELS = 10  # of meaning: within one of them success decides
MAX_READ_LENGTH = 2000  # characters of a description that are compared
MAX_CACHED_VECTORS = 512


@dataclass(frozen=True)
class TemplateMatch:
    """A template that fits, with what speaks for it."""

    template: Template
    type_matches: bool
    meaning: float
    success_rate: float

    @property
    def rank(self) -> tuple[Any, ...]:
        """Return the key by which the best match comes last."""
        level = round(self.meaning * LEVELS)
        return (
            self.type_matches,
            level,
            round(self.success_rate, 3),
            self.template.updated_at,
            self.template.pk,
        )


def rank_templates(actor: Actor, task_type: str, description: str) -> list[TemplateMatch]:
    """Return the active templates that fit, the best first. Writes nothing."""
    rows = (
        list_visible_templates(actor)
        .filter(state=Template.State.ACTIVE)
        .order_by("-updated_at")[:MAX_CANDIDATES]
    )
    templates = list(rows)
    attach_counts(templates)
    meanings = measure_meanings(description[:MAX_READ_LENGTH], templates)
    found = [
        TemplateMatch(one, matches_type(one, task_type), meaning, measure_success(one))
        for one, meaning in zip(templates, meanings, strict=True)
    ]
    fitting = [one for one in found if one.type_matches or one.meaning >= MIN_MEANING]
    return sorted(fitting, key=lambda one: one.rank, reverse=True)


def matches_type(template: Template, task_type: str) -> bool:
    """Return whether a template is for this kind of work, in any case of its letters."""
    return bool(task_type) and task_type.casefold() in {one.casefold() for one in template.task_types}


def measure_meanings(text: str, templates: Sequence[Template]) -> list[float]:
    """Return how much of a text each template is about, between 0 and 1."""
    if not text.strip() or not templates:
        return [0.0] * len(templates)
    described = [describe_template(one) for one in templates]
    shared = [share_words(text, one) for one in described]
    cosines = compare_vectors(templates[0].project_id, text, described)
    return [max(pair) for pair in zip(shared, cosines, strict=True)]


def describe_template(template: Template) -> str:
    """Return the words that a template is found by."""
    names = [template.name, *template.task_types]
    return "\n".join([" ".join(names).replace("_", " ").replace("-", " "), template.description])


def share_words(text: str, described: str) -> float:
    """Return the share of the keywords of a text that a description has; a single word says too little."""
    requested = set(extract_keywords(text))
    shared = requested & set(extract_keywords(described))
    return len(shared) / len(requested) if len(shared) >= MIN_SHARED_WORDS else 0.0


# ---- vectors ---------------------------------------------------------------------------------------


def compare_vectors(project_id: UUID, text: str, described: Sequence[str]) -> list[float]:
    """Return the cosine of each description with a text, above the floor of the model; 0 where it cannot read
    one of them.

    Zeros without an embedder, when it fails, and in a transaction, where no provider is called.
    """
    try:
        provider = None if connection.in_atomic_block else active_provider()
        with paid_by(project_id):
            read = read_query(provider, text) if provider else None
            if provider is None or read is None:
                return [0.0] * len(described)
            vectors = [
                embed_description(provider.model, one) if provider.can_read(one) else None
                for one in described
            ]
    except ProviderUnavailable:
        return [0.0] * len(described)
    floor = get_floor(provider)
    cosines = (0.0 if vector is None else float(np.dot(read[0], vector)) for vector in vectors)
    return [min(max((cosine - floor) / (1 - floor), 0.0), 1.0) for cosine in cosines]


@lru_cache(maxsize=MAX_CACHED_VECTORS)
def embed_description(model: str, text: str) -> np.ndarray:
    """Return the vector of a description by the model in force. Raises ProviderUnavailable."""
    provider = active_provider()
    if provider is None or provider.model != model:
        raise ProviderUnavailable(reason="the embedder was changed")
    vector: np.ndarray = provider.embed([text])[0]
    return vector


# ---- for new tasks ---------------------------------------------------------------------------------


class TemplateRanking:
    """What memory asks for a new task, see DAY1["template_suggester"]."""

    def suggest_template(self, *, task_type: str, description: str, actor: Actor) -> str | None:
        """Return the name of the template that fits best, if one does."""
        found = rank_templates(actor, task_type, description)
        return found[0].template.name if found else None
