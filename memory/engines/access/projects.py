"""Projects: created with their branch main and first members, changed in their settings, and removed whole.

Only the local user creates or removes one. Both are recorded in the audit trail of the project that
the user works in, since a project's own trail is removed with it.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypedDict, Unpack

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Model, QuerySet

from memory.actors import Actor, local_actor
from memory.db.backend import get_index, get_store_copies
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.keys import KeyEngine
from memory.engines.audit.trail import record_entry
from memory.engines.branches.manager import create_main
from memory.engines.fields.base import Use
from memory.engines.fields.facts import FACT
from memory.engines.fields.projects import PROJECT
from memory.engines.search.ranked import get_recipe
from memory.engines.support import validation as c
from memory.engines.support.validation import refuse_secret
from memory.exceptions import Conflict, Exists, Invalid, NotFound, ScopeMissing
from memory.models import Branch, BranchedModel, Fact, Membership, Project, QueueMessage
from memory.models.projects import MAX_DAYS
from memory.texts import split_names

BATCH_SIZE = 500
CHECKS = PROJECT.field_checks(Use.UPDATE)
CHECK_DAYS = c.integer_check(1, MAX_DAYS)
MAX_CATEGORIES = 50  # with days to live
CHECK_ORIGIN = c.one_of([name for name in Fact.Origin.values if name != Fact.Origin.DREAMING])
SLUG, USER = "default", "admin"


@retry_methods
class ProjectEngine:
    def create_project(
        self,
        *,
        slug: str,
        name: str,
        actor: Actor,
        members: Iterable[Any] = (),
        began: datetime | None = None,
        prepare: Callable[[Project], Any] | None = None,
    ) -> Project:
        """Create a project with an empty branch main; the users in ``members`` become its maintainers.

        ``began`` backdates main; ``prepare`` gets the project within the transaction.

        Raises Exists for a slug that is taken, Invalid for one that holds a secret.
        """
        require_user(actor)
        refuse_secret("slug", slug)
        with write_transaction():
            if Project.objects.filter(slug=slug).exists():
                raise Exists("A project {slug} exists already.", slug=slug)
            project = Project.objects.create(name=name, slug=slug)
            self.open_project(project=project, members=members, began=began)
            record_entry(actor, "project.create", slug)
            if prepare:
                prepare(project)
        return project

    def open_project(
        self, *, project: Project, members: Iterable[Any] = (), began: datetime | None = None
    ) -> None:
        """Create the empty branch main and the first maintainers of a new project."""
        create_main(project, began)
        for user in members:
            Membership.objects.create(project=project, user=user, role=Membership.Role.MAINTAINER)

    def remove_project(
        self, *, project: Project, actor: Actor, check: Callable[[Project], None] | None = None
    ) -> dict[str, int]:
        """Delete a project with all its content, history and audit trail; return the number of rows deleted
        by model name. Other projects are not touched.

        ``check`` may refuse once nobody can write into the project any more. Raises Conflict for the project
        that the actor works in.
        """
        require_user(actor)
        if project.pk == actor.project_id:
            raise Conflict("A project is removed from another one, whose audit trail then tells of it.")
        with write_transaction():
            branches = lock_branches(project)
            if check:
                check(project)
            counts = count_rows(project)
            delete_project(project, branches)
            record_entry(actor, "project.remove", project.slug, {"rows": counts, "project": str(project.pk)})
        return counts


def lock_branches(project: Project) -> list[int]:
    """Lock the project against writes until the transaction ends; return its branch ids, deepest first."""
    branches = Branch.objects.select_for_update().filter(project=project).order_by("-depth", "pk")
    return list(branches.values_list("pk", flat=True))


def count_rows(project: Project) -> dict[str, int]:
    """Count a project's rows in each table, by model name, without empty tables.

    A versioned row counts once, however many versions it has; fact versions count separately as "Version".
    """
    branches = list(Branch.objects.filter(project=project).values_list("pk", flat=True))
    counts = {
        model.__name__: count_memories(rows).count() for model, rows in list_project_rows(project, branches)
    }
    counts["Version"] = Fact._base_manager.filter(branch__in=branches).count()
    return {name: count for name, count in sorted(counts.items()) if count}


# ---- pieces ----------------------------------------------------------------------------------------


def require_user(actor: Actor) -> None:
    """Refuse all but the local user: a key or membership is valid for one project only."""
    if actor.kind != "local":
        raise ScopeMissing("Only the local user of the store may do this.")
    actor.require_scope("admin")


def list_project_rows(project: Project, branches: list[int]) -> Iterator[tuple[type[Model], QuerySet]]:
    """Yield every model that has rows of the project, with those rows."""
    for model in apps.get_models():
        columns = {field.attname for field in model._meta.concrete_fields}
        if "project_id" in columns:
            yield model, model._base_manager.filter(project_id=project.pk)
        elif "branch_id" in columns:
            yield model, model._base_manager.filter(branch_id__in=branches)


def count_memories(rows: QuerySet) -> QuerySet:
    """Count logical rows: the versions of one memory are one row."""
    return rows.values("uid").distinct() if issubclass(rows.model, BranchedModel) else rows


def _forget_copies(project: Project) -> None:
    """Drop the project's snapshots and workspaces once the transaction commits."""
    copies = get_store_copies()
    for name in project.snapshots.exclude(copy="").values_list("copy", flat=True):
        transaction.on_commit(partial(copies.drop_snapshot, name))
    for name in project.workspaces.values_list("copy", flat=True):
        transaction.on_commit(partial(copies.drop_workspace, name))


def delete_project(project: Project, branches: list[int]) -> None:
    waiting = [f"memory.hold_past[{branch}]" for branch in branches]
    waiting += [f'{name}["{project.pk}"]' for name in ("memory.embed", "memory.near")]
    QueueMessage.objects.filter(key__in=waiting).delete()
    _forget_copies(project)
    for model, rows in list_project_rows(project, branches):
        if issubclass(model, BranchedModel):
            unindex_rows(rows)
        if model is not Branch:
            rows.delete()
    for branch in branches:  # a branch cannot be deleted before the branches forked from it
        Branch.objects.filter(pk=branch).delete()
    project.delete()


def unindex_rows(rows: QuerySet) -> None:
    last = -1
    while batch := list(rows.filter(rid__gt=last).order_by("rid").only("rid")[:BATCH_SIZE]):
        last = batch[-1].rid
        get_index().remove_rows(batch)


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


@dataclass(frozen=True)
class FirstStart:
    """Credentials of the first start, to be shown once. ``password`` is "" when the owner chose it."""

    user: str
    password: str
    key: str


class ProvisioningEngine:
    def provision(self, *, password: str = "", keep: Callable[[FirstStart], None]) -> FirstStart | None:
        """Create what a first start needs, and return its credentials; None where there is a project.

        ``keep`` stores the credentials within the transaction: an interrupted start leaves all or nothing.
        """
        if Project.objects.exists():  # a store that takes no writes can be served
            return None
        with write_transaction():
            if Project.objects.exists():
                return None
            first = create_first(password)
            keep(first)
        return first

    def set_password(self, *, password: str) -> bool:
        """Set the admin user's password; return False where that user is gone."""
        user = get_user_model().objects.filter(username=USER).first()
        if user is None:
            return False
        user.set_password(password)
        user.save(update_fields=["password"])
        return True


def create_first(password: str) -> FirstStart:
    project = Project.objects.create(name="Default", slug=SLUG)
    user, shown = get_or_create_admin(password)
    ProjectEngine().open_project(project=project, members=[user])
    actor = local_actor(project.pk, label="first start")
    _, token = KeyEngine().create_key(label="first key", scopes=["admin"], actor=actor)
    return FirstStart(USER, shown, token)


def get_or_create_admin(password: str) -> tuple[Any, str]:
    """Return the admin user and the password to show; "" when the owner chose it, now or with
    createsuperuser.
    """
    users = get_user_model().objects
    if user := users.filter(username=USER).first():
        return user, ""
    chosen = password or secrets.token_urlsafe(12)
    return users.create_superuser(USER, password=chosen), "" if password else chosen
