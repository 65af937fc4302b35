"""Settings of a project: read by all of its members and keys, changed by maintainers."""

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Use
from memory.engines.fields.facts import FACT
from memory.engines.fields.projects import PROJECT
from memory.engines.search.ranked import get_recipe
from memory.engines.support import validation as c
from memory.exceptions import Invalid, NotFound
from memory.models import Fact, Project
from memory.models.projects import MAX_DAYS
from memory.texts import split_names

CHECKS = PROJECT.field_checks(Use.UPDATE)
CHECK_DAYS = c.integer_check(1, MAX_DAYS)
MAX_CATEGORIES = 50  # with days to live
CHECK_ORIGIN = c.one_of([name for name in Fact.Origin.values if name != Fact.Origin.DREAMING])


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


@retry_methods
class ProjectSettingsEngine:
    def get_project(self, *, actor: Actor, slug: str = "") -> Project:
        """Return the actor's project. Raises NotFound for the name of another one."""
        actor.require_scope("read")
        project = Project.objects.get(pk=actor.project_id)
        if slug not in ("", project.slug):
            raise NotFound("There is no project {slug} here.", slug=ascii(slug)[1:-1])
        return project

    def update_project(self, *, actor: Actor, slug: str = "", **settings: Unpack[SettingFields]) -> Project:
        """Change settings; what is not given stays as it is.

        Needs the scope admin on every branch and for every agent. Raises NotFound, Invalid, UnknownField,
        BranchForbidden, AgentForbidden.
        """
        actor.require_admin_of_all()
        values = check_settings(actor, settings)
        with write_transaction():
            Project.objects.select_for_update().get(pk=actor.project_id)
            project = self.get_project(actor=actor, slug=slug)
            before = {name: getattr(project, name) for name in values}
            changed = {name: value for name, value in values.items() if value != before[name]}
            if changed:
                store_settings(project, changed)
                old = {name: before[name] for name in changed}
                record_entry(actor, "project.update", project.slug, {**changed, "before": old})
        return project


def check_settings(actor: Actor, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return valid settings. Raises Invalid, UnknownField."""
    values = c.validate(settings, CHECKS)
    if values.get("recipe"):
        get_recipe(actor, values["recipe"])
    check_category_days(values.get("category_ttl_days", {}))
    check_origins(values.get("dream_origins", ""))
    return values


def check_category_days(days: Mapping[str, Any]) -> None:
    """Check the days to live by category. Raises Invalid."""
    if len(days) > MAX_CATEGORIES:
        raise Invalid("{field} may have {most} categories.", field="category_ttl_days", most=MAX_CATEGORIES)
    for category, number in days.items():
        FACT["category"].check("category_ttl_days", category)
        CHECK_DAYS("category_ttl_days", number)


def check_origins(names: str) -> None:
    """Check the origins that dreaming reads: what it made itself is none of them. Raises Invalid."""
    for name in split_names(names):
        CHECK_ORIGIN("dream_origins", name)


def store_settings(project: Project, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(project, name, value)
    project.save(update_fields=list(values))
