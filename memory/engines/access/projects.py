"""Projects: created with their branch main and their first members, and removed from a store as a whole.

Only the local user may do either. Both are recorded in the audit trail of the project that the user works in,
since a project's own trail is removed with it.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models import Model, QuerySet

from memory.actors import Actor
from memory.db.backend import get_index, get_store_copies
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.branches.manager import create_main
from memory.engines.support.validation import refuse_secret
from memory.exceptions import Conflict, Exists, ScopeMissing
from memory.models import Branch, BranchedModel, Fact, Membership, Project, QueueMessage

BATCH_SIZE = 500


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
