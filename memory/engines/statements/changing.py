"""Whether a statement may change others, by its own words. Pure functions, no model."""

from memory.engines.statements.change_words import ALONE, ANYBODY, CEASES
from memory.engines.statements.choices import list_taken
from memory.engines.statements.claims import split_claims, split_clauses
from memory.engines.statements.revision_rules import may_revise


def may_change(text: str) -> bool:
    """Return whether a statement has what the rules need: a number, a denial, a word of change."""
    is_change = may_revise(text) or announces_change(text) or list_taken(text)
    is_reach = ANYBODY.search(text) or ALONE.search(text)
    parts = (part for claim in split_claims(text) for part in (claim, *split_clauses(claim)))
    return bool(is_change or is_reach) or any(part.values or part.is_negated for part in parts)


def announces_change(text: str) -> bool:
    """Return whether a statement says that something changes, ends, or is not to be."""
    return any(
        claim.given_up
        or claim.turned_down
        or claim.topic
        or claim.is_change
        or claim.is_correction
        or CEASES.search(claim.text)
        for claim in split_claims(text)
    )
