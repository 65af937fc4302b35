"""Projects: made with their branch main and their first members, and taken out of a store as a whole.

Both are acts on the store, for the local user only. They are recorded in the audit trail of the project
that the user works in, since the trail of a project goes with it.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Model, QuerySet

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines.audit import record
from memory.engines.branches import create_main
from memory.exceptions import Conflict, Exists, ScopeMissing
from memory.models import Branch, BranchedModel, Fact, Membership, Project, QueueMessage
from memory.models.nodes import next_rid

CHUNK = 500


@rerunning
class ProjectEngine:
    def create_project(
        self,
        *,
        slug: str,
        name: str,
        actor: Actor,
        members: Iterable[Any] = (),
        began: datetime | None = None,
    ) -> Project:
        """A project with an empty branch main; ``members`` are users, who become its maintainers.

        ``began`` lets main begin in the past. Raises Exists for a slug that is taken.
        """
        _local(actor)
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            if Project.objects.filter(slug=slug).exists():
                raise Exists("A project {slug} exists already.", slug=slug)
            project = Project.objects.create(name=name, slug=slug)
            create_main(project, began)
            for user in members:
                Membership.objects.create(project=project, user=user, role=Membership.Role.MAINTAINER)
            record(actor, "project.create", slug)
        return project

    def remove_project(self, *, project: Project, actor: Actor) -> dict[str, int]:
        """Delete a project with everything in it, its history and its audit trail too; returns how many
        rows of each kind are gone. What other projects hold is not touched.

        Raises Conflict for the project that the actor works in.
        """
        _local(actor)
        if project.pk == actor.project_id:
            raise Conflict("A project is removed from another one, whose audit trail then tells of it.")
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            branches = lock_branches(project)
            counts = count_rows(project)
            _forget(project, branches)
            record(actor, "project.remove", project.slug, {"rows": counts, "project": str(project.pk)})
        return counts


def lock_branches(project: Project) -> list[int]:
    """Nobody writes to the project's memory until the running transaction ends. Deepest branches first."""
    branches = Branch.objects.select_for_update().filter(project=project).order_by("-depth", "pk")
    return list(branches.values_list("pk", flat=True))


def count_rows(project: Project) -> dict[str, int]:
    """How many rows each table holds of a project, by the name of its model; without the empty ones.

    What has versions counts once, however many it has; those of facts are counted beside it.
    """
    branches = list(Branch.objects.filter(project=project).values_list("pk", flat=True))
    counts = {model.__name__: _things(rows).count() for model, rows in _rows(project, branches)}
    counts["Version"] = Fact._base_manager.filter(branch__in=branches).count()
    return {name: count for name, count in sorted(counts.items()) if count}


# ---- pieces ----------------------------------------------------------------------------------------


def _local(actor: Actor) -> None:
    """A key or a membership is good for one project: neither makes nor removes projects."""
    if actor.kind != "local":
        raise ScopeMissing("Only the local user of the store may do this.")
    actor.require("admin")


def _rows(project: Project, branches: list[int]) -> Iterator[tuple[type[Model], QuerySet]]:
    """Every table that holds something of the project, with those rows."""
    for model in apps.get_models():
        columns = {field.attname for field in model._meta.concrete_fields}
        if "project_id" in columns:
            yield model, model._base_manager.filter(project_id=project.pk)
        elif "branch_id" in columns:
            yield model, model._base_manager.filter(branch_id__in=branches)


def _things(rows: QuerySet) -> QuerySet:
    """Rows as somebody counts them: the versions of a memory are one thing."""
    return rows.values("uid").distinct() if issubclass(rows.model, BranchedModel) else rows


def _forget_copies(project: Project) -> None:
    """Its frozen copies and workspaces go when the project is gone."""
    copies: Any = connection.copies  # type: ignore[attr-defined]
    for name in project.snapshots.exclude(copy="").values_list("copy", flat=True):
        transaction.on_commit(partial(copies.drop, name))
    for name in project.workspaces.values_list("copy", flat=True):
        transaction.on_commit(partial(copies.drop_fork, name))


def _forget(project: Project, branches: list[int]) -> None:
    waiting = [f"memory.hold_past[{branch}]" for branch in branches]
    waiting += [f'{name}["{project.pk}"]' for name in ("memory.embed", "memory.near")]
    QueueMessage.objects.filter(key__in=waiting).delete()
    _forget_copies(project)
    for model, rows in _rows(project, branches):
        if issubclass(model, BranchedModel):
            _unindex(rows)
        if model is not Branch:
            rows.delete()
    for branch in branches:  # a branch is there as long as one that was forked from it
        Branch.objects.filter(pk=branch).delete()
    project.delete()


def _unindex(rows: QuerySet) -> None:
    last = -1
    while some := list(rows.filter(rid__gt=last).order_by("rid").only("rid")[:CHUNK]):
        last = some[-1].rid
        connection.index.remove(some)  # type: ignore[attr-defined]
