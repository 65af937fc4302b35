"""Projects: listed, made, changed and removed.

A key reads its own project and changes its settings, an owner removes it; all else is for who keeps the
server.

What is done with whole projects stands in the server's trail, since a project's own is removed with it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Unpack

from django.db import IntegrityError

from memory.actors import SERVER, SERVER_SCOPES, Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access import project_templates as templates
from memory.engines.access.keys import KeyEngine
from memory.engines.access.makers import require_maker
from memory.engines.access.members import require_owner, settle_owner
from memory.engines.access.project_removal import (
    MAX_ROWS_AT_ONCE,
    Removal,
    close_project,
    count_every_version,
    count_rows,
    lock_branches,
    run_removal,
)
from memory.engines.access.project_settings import (
    KEPT_BY_SERVER,
    ChangedFields,
    SettingFields,
    check_settings,
    check_slug,
    refuse_taken,
    store_settings,
)
from memory.engines.audit.server_trail import record_server_entry
from memory.engines.audit.trail import record_entry
from memory.engines.branches.manager import create_main
from memory.engines.fields.base import Use
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.keys import KEY
from memory.engines.fields.orders import PROJECTS
from memory.engines.fields.projects import CONFIRM, FIRST_KEY, MEMBERS, PROJECT_FILTERS, TEMPLATE
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.exceptions import Invalid, NotFound, ScopeMissing, StaleVersion
from memory.models import ApiKey, Membership, Project
from memory.queue.producer import enqueue

FILTERS = make_filter_checks(PROJECT_FILTERS)
KEY_CHECKS = KEY.field_checks(Use.CREATE)


@dataclass(frozen=True)
class NewProject:
    """A project that was made, with its first key and its token, which is told once; None where none is."""

    project: Project
    key: ApiKey | None = None
    token: str | None = None


@retry_methods
class ProjectEngine:
    def list_projects(
        self, *, actor: Actor, slug: str = "", name: str = "", **paging: Unpack[Sorting]
    ) -> Page[Project]:
        """List the projects that the actor may know: its own, or all of them for who keeps the server."""
        found = c.validate({"slug": slug, "name": name}, FILTERS)
        rows = list_visible(actor)
        rows = rows.filter(slug=found["slug"]) if found["slug"] else rows
        rows = rows.filter(name__icontains=found["name"]) if found["name"] else rows
        return paginate(rows, PROJECTS, **paging)

    def get_project(self, *, actor: Actor, project_slug: str = "") -> Project:
        """Return a project that the actor may know, its own without a name. Raises NotFound."""
        named = {"slug": project_slug} if project_slug else {"pk": actor.project_id}
        if project := list_visible(actor).filter(**named).first():
            return project
        raise NotFound("There is no project {slug} here.", slug=ascii(project_slug)[1:-1])

    def create_project(
        self,
        *,
        slug: str,
        actor: Actor,
        template: Annotated[str, TEMPLATE] = "",
        members: Annotated[Sequence[Mapping[str, Any]], MEMBERS] = (),
        key: Annotated[Mapping[str, Any] | None, FIRST_KEY] = None,
        began: datetime | None = None,
        prepare: Callable[[Project], Any] | None = None,
        **settings: Unpack[SettingFields],
    ) -> NewProject:
        """Create a project with an empty branch main, with what a template says, and what else is given: the
        members, the settings, and a first key.

        ``began`` backdates main; ``prepare`` gets the project within the transaction. Needs the scope server.
        Raises Exists for a slug that is taken, NotFound for a template that is not there, Invalid.
        """
        actor.require_scope(SERVER)
        check_slug(slug)
        values = {"name": slug, **check_settings(settings), "slug": slug}
        parts = templates.read_parts(template) if template else {}
        values = {**parts.pop("settings", {}), **values}
        new_key = check_key(key, slug) if key is not None else None
        with write_transaction():
            require_maker(actor)
            refuse_taken(slug)
            project = make_row(values)
            create_main(project, began)
            acting = actor.within(project.pk)
            record_entry(acting, "project.create", slug)
            templates.apply_parts(project, parts, acting)
            templates.apply_members(project, templates.check_members(members), acting)
            settle_owner(project.pk)
            made = NewProject(project, *(KeyEngine().create_key(actor=acting, **new_key) if new_key else ()))
            detail = {"project": str(project.pk), "template": template, "key": made.key and made.key.prefix}
            record_server_entry(actor, "project.create", slug, detail)
            if prepare:
                prepare(project)
        return made

    def update_project(
        self,
        *,
        actor: Actor,
        project_slug: str = "",
        expected_version: int | None = None,
        **settings: Unpack[ChangedFields],
    ) -> Project:
        """Change settings; what is not given stays as it is.

        Needs the scope admin on every branch and for every agent; another slug, the member limit and other
        projects need the scope server. Raises NotFound, Exists, Invalid, UnknownField, StaleVersion,
        BranchForbidden, AgentForbidden.
        """
        require_right(actor, settings)
        values = check_settings(settings)
        with write_transaction():
            found = self.get_project(actor=actor, project_slug=project_slug)
            project = Project.every.select_for_update().get(pk=found.pk)
            refuse_stale(project, expected_version)
            before = {name: getattr(project, name) for name in values}
            changed = {name: value for name, value in values.items() if value != before[name]}
            if changed:
                if "slug" in changed:
                    refuse_taken(changed["slug"])
                store_settings(project, changed)
                record_change(project, actor, changed, {name: before[name] for name in changed})
        return project

    def remove_project(
        self,
        *,
        project_slug: str,
        actor: Actor,
        confirm: Annotated[str, CONFIRM] = "",
        check: Callable[[Project], None] | None = None,
    ) -> Removal:
        """Remove a project with all its content, history, keys, members and audit trail; others stay.

        From the answer on nobody reads or writes in it. A large project is taken away behind the answer; of
        one that is being removed it says how far that is. ``check`` may refuse, when nobody can write.
        Needs the scope owner of the project, on every branch and for every agent, or server. Raises
        NotFound, Invalid where ``confirm`` is not the slug.
        """
        if not actor.has_scope(SERVER):
            require_owner(actor)
        project = self.get_project(actor=actor, project_slug=project_slug)
        require_confirmed(project, confirm)
        if project.removed_at:
            counts, total = {}, project.rows_to_remove
        else:
            counts, total = count_rows(project), count_every_version(project)
            project = begin_removal(project, actor, counts, total, check)
        if actor.kind == "local" or total <= MAX_ROWS_AT_ONCE:
            return Removal(project, counts, run_removal(project))
        enqueue("memory.sweep_removals")
        return Removal(project, counts, False)


def list_visible(actor: Actor) -> Any:
    """Return the projects that an actor may know. Raises ScopeMissing."""
    if actor.has_scope(SERVER):
        return Project.every.all()
    actor.require_scope("read")
    return Project.objects.filter(pk=actor.project_id)


def require_right(actor: Actor, settings: Mapping[str, Any]) -> None:
    """Refuse changes that are not the actor's to make. Raises ScopeMissing and as require_admin_of_all."""
    if not actor.has_scope(SERVER):
        actor.require_admin_of_all()
        if KEPT_BY_SERVER & settings.keys():
            raise ScopeMissing(scope=SERVER)


def refuse_stale(project: Project, expected_version: int | None) -> None:
    if expected_version not in (None, project.version):
        text = "The project is at version {current}, not {expected}: read it again."
        raise StaleVersion(text, current=project.version, expected=expected_version)


def record_change(
    project: Project, actor: Actor, changed: Mapping[str, Any], before: Mapping[str, Any]
) -> None:
    """Tell of changed settings in the project's trail, in the server's too where only its keeper may."""
    detail, is_own = {**changed, "before": before}, project.pk == actor.project_id
    acting = actor if is_own else actor.within(project.pk)
    record_entry(acting, "project.update", project.slug, detail)
    if not is_own or KEPT_BY_SERVER & changed.keys():
        record_server_entry(actor, "project.update", project.slug, detail)


def make_row(values: Mapping[str, Any]) -> Project:
    try:
        return Project.objects.create(**values)
    except IntegrityError:  # another request made it meanwhile
        refuse_taken(values["slug"])
        raise


def open_project(project: Project, owners: Iterable[Any]) -> None:
    """Create the empty branch main and the first owners of a new project."""
    create_main(project)
    add_owners(project, owners)


def add_owners(project: Project, users: Iterable[Any]) -> None:
    for user in users:
        Membership.objects.create(project=project, user=user, role=Membership.Role.OWNER)


def check_key(key: Mapping[str, Any], slug: str) -> dict[str, Any]:
    """Return the fields of a first key. Raises Invalid, UnknownField."""
    if not isinstance(key, Mapping):
        raise Invalid("{field} must be an object.", field="key")
    values = c.validate({"label": slug, **key}, KEY_CHECKS)
    if of_server := set(SERVER_SCOPES).intersection(values.get("scopes", ())):
        raise Invalid("A project's key has no scope {scope}.", scope=min(of_server), field="key")
    return {"scopes": (), **values}


def require_confirmed(project: Project, confirm: str) -> None:
    """Refuse a removal whose request does not repeat the slug. Raises Invalid."""
    if confirm != project.slug:
        raise Invalid(
            "All memory of the project would be gone: to remove it, confirm with its slug, {slug}.",
            slug=project.slug,
            field="confirm",
        )


def begin_removal(
    project: Project,
    actor: Actor,
    counts: Mapping[str, int],
    total: int,
    check: Callable[[Project], None] | None = None,
) -> Project:
    """Close a project, and queue its removal; return it as it is now."""
    with write_transaction():
        project = Project.every.select_for_update().get(pk=project.pk)
        if project.removed_at:
            return project  # by another request
        lock_branches(project)
        if check:
            check(project)
        close_project(project, total)
        detail = {"project": str(project.pk), "name": project.name, "rows": counts}
        record_server_entry(actor, "project.remove", project.slug, detail)
    return project
