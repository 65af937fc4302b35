"""How deletions answer, and the four operations by which memories are deleted and restored."""

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from typing import Any

from rest_framework import serializers as s

from memory.answers.erasures import ErasureShape, erasure
from memory.answers.rendering import build_renderer
from memory.engines.deletion.memories import Deletion, MemoryDeletion
from memory.engines.fields.common import STATED
from memory.engines.fields.filters import FilterField
from memory.models import Erasure
from memory.operations.base import Answer, Resource


class DeletionShape(s.Serializer):
    """What was deleted by a filter; with ``dry_run`` what would be: nothing was deleted."""

    dry_run = s.BooleanField()
    count = s.IntegerField(help_text="How many fit.")
    ids = s.ListField(child=s.CharField(), help_text="The first 10 of them.")
    counts = s.DictField(
        child=s.IntegerField(), help_text="Kind -> number, with what belongs to them and goes along."
    )
    commit_id = s.UUIDField(
        source="commit.pk", allow_null=True, help_text="Undo it to bring all back; null where there is none."
    )


_render_counts = build_renderer(DeletionShape, "commit_id")


def render_deletion(done: Deletion) -> dict[str, Any]:
    """Return what was deleted by a filter."""
    return _render_counts(done, commit_id=str(done.commit.pk) if done.commit else None)


def render_done(result: Any) -> dict[str, Any] | None:
    """Return nothing of what was hidden, and of what was erased the erasure."""
    return erasure(result) if isinstance(result, Erasure) else None


def find_code(result: Any) -> int:
    """Return the status of a deletion: 202 where the erasure still waits for something."""
    if not isinstance(result, Erasure):
        return 204
    return 200 if result.state == Erasure.State.DONE else 202


DELETED = Answer(
    None,
    render_done,
    codes=(204,),
    choose_code=find_code,
    others={200: ErasureShape, 202: ErasureShape},
)
MANY_DELETED = Answer(DeletionShape, render_deletion)


def declare_arguments(method: Callable[..., Any], name: str, filters: type) -> Callable[..., Any]:
    """Return a method of a deletion that calls ``uid`` as addresses do, with the class of its filters."""

    @wraps(method)
    def call_method(**values: Any) -> Any:
        return method(**{"uid" if key == name else key: value for key, value in values.items()})

    known = signature(method)
    arguments = [one.replace(name=name) if one.name == "uid" else one for one in known.parameters.values()]
    vars(call_method)["__signature__"] = known.replace(parameters=arguments)
    call_method.__annotations__ = {**method.__annotations__, "filters": filters}
    return call_method


def add_deletion(
    resource: Resource,
    deletion: MemoryDeletion,
    row: Answer,
    filters: tuple[type, tuple[FilterField, ...]],
    example: dict[str, Any],
    *summaries: str,
) -> None:
    """Declare how memories of a resource are deleted, one or many, listed, and restored.

    ``filters`` are the class of its filters and their fields, ``summaries`` those of the four operations.
    """
    place = resource.row.argument if resource.row else ""
    make = partial(declare_arguments, name=place, filters=filters[0])
    one, many, gone, back = summaries
    traits: dict[str, Any] = {"origin": STATED, "serves_end_users": True}
    resource.add("destroy", make(deletion.delete), one, DELETED, **traits)
    resource.add(
        "delete_many",
        make(deletion.delete_matching),
        many,
        MANY_DELETED,
        path="delete",
        of_row=False,
        body=f"{resource.name.title()}sDeleteInput",
        about="Ids, filters or both: what fits all of them is deleted.",
        filters=filters[1],
        example=example,
        **traits,
    )
    resource.add(
        "deleted", make(deletion.list_deleted), gone, row, verb="get", of_row=False, serves_end_users=True
    )
    traits |= {"body": "RestoreMemoryInput", "about": "The branch and the caller."}
    resource.add("restore", make(deletion.restore), back, row, **traits)
