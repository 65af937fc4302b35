"""What a run of dreaming takes in, and what makes a group."""

from dataclasses import dataclass

from memory.models import Fact, Project
from memory.texts import split_names

PREFIX = "dream/"  # of the branches of runs, which nobody else may make

# What all members of a group share, and their reflection with them.
BOUNDS = ("repository", "valid_from", "valid_until", "expires_at", "user_id", "app_id")
# What each reflection is.
REFLECTED = {
    "kind": Fact.Kind.REFLECTION.value,
    "origin": Fact.Origin.DREAMING.value,
    "source_type": Fact.SourceType.CONSOLIDATION.value,
}


@dataclass(frozen=True)
class DreamRules:
    """The gates of a run; the last one is that of the nightly run alone."""

    min_size: int = 3
    cohesion: float = 0.83  # cosine to the centroid
    min_age_cycles: int = 0
    allow_zero_confirmation: bool = True
    origins: tuple[str, ...] = (Fact.Origin.EXPERIENCE.value,)
    every_n_cycles: int = 0


def read_rules(project: Project) -> DreamRules:
    """Return the gates that a project has set."""
    return DreamRules(
        min_size=project.dream_min_size,
        cohesion=project.dream_cohesion,
        min_age_cycles=project.dream_min_age_cycles,
        allow_zero_confirmation=project.dream_allow_zero_confirmation,
        origins=tuple(split_names(project.dream_origins)) or DreamRules.origins,
        every_n_cycles=project.dream_every_n_cycles,
    )
