"""Embedding models of a project: the one in force, and after a change the one before until all is done.

Searches use the vectors of one model. After another one was set, that is the model before, until every text
that a branch shows was given to the new one; new texts get vectors of both meanwhile. ``VectorClock.read_by``
names the model that searches use: it is written once, at the end, so that a kill leaves nothing half done.
"""

import logging
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured

from memory.conf import conf
from memory.db.raw_select import fetch_one
from memory.exceptions import ProviderUnavailable
from memory.models import Vector, VectorClock
from memory.providers.embedding import EmbeddingProvider, find_provider, get_provider

log = logging.getLogger(__name__)
OFF = "off"
VectorState = tuple[int, int, str]  # vectors ready, times that some were erased, and the model


def embedder_is_on() -> bool:
    """Return whether new texts are embedded."""
    return conf().embedder != OFF


def active_provider() -> EmbeddingProvider | None:
    """Return the configured provider; None when embedding is off.

    Raises ProviderUnavailable for unusable settings (no key, no such model file).
    """
    try:
        provider = get_provider()
        _ = provider and provider.model  # for a model in a file, reading the name opens the file
    except ImproperlyConfigured as error:
        raise ProviderUnavailable(reason=str(error)) from error
    return provider


def model_in_force() -> str | None:
    """Return the embedding model's name; None when off or, with a warning in the log, unusable."""
    try:
        provider = active_provider()
    except ProviderUnavailable as error:
        log.warning("No embedding model: %s", error)
        return None
    return provider.model if provider else None


# ---- a change of the model -------------------------------------------------------------------------


def searched_provider(project_id: UUID) -> EmbeddingProvider | None:
    """Return the provider whose vectors searches of a project use; None when embedding is off.

    Raises ProviderUnavailable as ``active_provider`` does.
    """
    provider = active_provider()
    return provider and (previous_provider(project_id, provider.model) or provider)


def usable_provider(project_id: UUID) -> EmbeddingProvider | None:
    """Return the same; None with unusable settings too, which the log says."""
    try:
        return searched_provider(project_id)
    except ProviderUnavailable as error:
        log.warning("No embedding model: %s", error)
        return None


def previous_provider(project_id: UUID, model: str) -> EmbeddingProvider | None:
    """Return the provider of the model before, while a change to this one is under way.

    None also where the settings of now name no way to it.
    """
    previous = find_previous(project_id, model)
    return find_provider(previous) if previous else None


def find_previous(project_id: UUID, model: str) -> str:
    """Return the name of the model before, while a change to this one is under way; "" else."""
    previous = read_searched(project_id)
    return "" if previous in (None, model) else str(previous)


def read_searched(project_id: UUID) -> str | None:
    """Return the name that is stored for searches, "" where earlier releases noted none; None without any
    vector.
    """
    clock = fetch_one(VectorClock, project=project_id)
    return clock.read_by if clock else None


def read_vector_state(project_id: UUID) -> VectorState:
    """Return what changes with each vector of a project that is stored or taken."""
    clock = fetch_one(VectorClock, project=project_id) or VectorClock()
    return clock.n, clock.epoch, clock.read_by


def note_searched(project_id: UUID, model: str) -> None:
    VectorClock.objects.filter(project=project_id).update(read_by=model)


def guess_searched(project_id: UUID, model: str) -> str:
    """Return the model to note where none was: this one, unless all vectors are of another."""
    ready = Vector.objects.filter(project=project_id, state=Vector.State.READY, n__gt=0)
    if ready.filter(model=model).exists():
        return model
    return ready.values_list("model", flat=True).first() or model
