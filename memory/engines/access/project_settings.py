"""The settings of a project: what they may be, for a change of them and for templates."""

import re
from collections.abc import Mapping
from typing import Any, TypedDict

from django.db import transaction

from memory import limits, ranking
from memory.engines.fields.base import Use
from memory.engines.fields.facts import FACT
from memory.engines.fields.projects import MAX_DAYS, PROJECT
from memory.engines.support import validation as c
from memory.engines.support.model_budgets import forget_refusals
from memory.engines.support.validation import refuse_secret
from memory.exceptions import Exists, Invalid
from memory.models import Fact, Project
from memory.models.usage import forget_known
from memory.texts import split_names

CHECKS = PROJECT.field_checks(Use.UPDATE)
KEPT_BY_SERVER = frozenset({"slug", "member_limit"})  # settings that no key of the project changes
CHECK_DAYS = c.integer_check(1, MAX_DAYS)
MAX_CATEGORIES = 50  # with days to live
CHECK_ORIGIN = c.one_of([name for name in Fact.Origin.values if name != Fact.Origin.DREAMING])
SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
MAX_FORMER_SLUGS = 20


class SettingFields(TypedDict, total=False):
    """The settings of a project, in Python."""

    name: str
    recipe: str
    least_evidence: float | None
    redact_secrets: bool
    durable_categories: str
    age_facts: bool
    category_ttl_days: dict[str, int]
    stale_after_days: int | None
    fact_budget: int | None
    consolidate_agents: bool
    propose_reflections: bool
    dream_min_size: int
    dream_cohesion: float
    dream_min_age_cycles: int
    dream_every_n_cycles: int
    dream_allow_zero_confirmation: bool
    dream_origins: str
    member_limit: int | None
    user_fact_limit: int | None
    limits: dict[str, int]


class ChangedFields(SettingFields, total=False):
    """The settings, with another slug."""

    slug: str


def check_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return valid settings. Raises Invalid, UnknownField."""
    values = c.validate(settings, CHECKS)
    check_recipe(values.get("recipe", ""))
    check_category_days(values.get("category_ttl_days", {}))
    check_origins(values.get("dream_origins", ""))
    check_limits(values.get("limits", {}))
    if "slug" in values:
        check_slug(values["slug"])
    return values


def check_slug(slug: str, field: str = "slug") -> str:
    """Return the name of a project or template in addresses. Raises Invalid."""
    if not SLUG.fullmatch(slug):
        raise Invalid(
            "{field} has 1 to 100 lower-case letters, digits, hyphens and underscores, and begins with a"
            " letter or a digit, such as acme-support.",
            field=field,
        )
    refuse_secret(field, slug)
    return slug


def refuse_taken(slug: str) -> None:
    """Refuse a slug that a project has, also one that is being removed. Raises Exists."""
    if found := Project.every.filter(slug=slug).first():
        if found.removed_at:
            raise Exists("A project {slug} is being removed: wait until it is gone.", slug=slug)
        raise Exists("A project {slug} exists already.", slug=slug)


def check_recipe(name: str) -> None:
    """Check the name of a ranking recipe. Raises Invalid."""
    if name and name not in ranking.RECIPES:
        known = ", ".join(sorted(ranking.RECIPES))
        raise Invalid("There is no recipe {name}; there are {known}.", name=name, known=known, field="recipe")


def check_category_days(days: Mapping[str, Any]) -> None:
    """Check the days to live by category. Raises Invalid."""
    if len(days) > MAX_CATEGORIES:
        raise Invalid("{field} may have {most} categories.", field="category_ttl_days", most=MAX_CATEGORIES)
    for category, number in days.items():
        FACT["category"].check("category_ttl_days", category)
        CHECK_DAYS("category_ttl_days", number)


def check_limits(values: Mapping[str, Any]) -> None:
    """Check limits by name. Raises Invalid."""
    try:
        limits.check_limits(values)
    except ValueError as error:
        raise Invalid("{field}: {reason}.", field="limits", reason=error) from None


def check_origins(names: str) -> None:
    """Check the origins that dreaming reads: what it made itself is none of them. Raises Invalid."""
    for name in split_names(names):
        CHECK_ORIGIN("dream_origins", name)


def store_settings(project: Project, values: Mapping[str, Any]) -> None:
    """Store settings that have changed, as the next version of them."""
    if "slug" in values:
        former = [slug for slug in (*project.former_slugs, project.slug) if slug != values["slug"]]
        values = {**values, "former_slugs": former[-MAX_FORMER_SLUGS:]}
    for name, value in {**values, "version": project.version + 1}.items():
        setattr(project, name, value)
    project.save(update_fields=[*values, "version"])
    if "limits" in values:
        transaction.on_commit(forget_limits)


def forget_limits() -> None:
    """Read limits anew: they were changed."""
    forget_known()
    forget_refusals()
