"""How deletions answer, and the four operations by which memories are deleted and restored."""

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from typing import Any

from memory.answers import deletion as shapes
from memory.answers.erasures import ErasureShape
from memory.engines.deletion.memories import MemoryDeletion
from memory.engines.fields.common import STATED
from memory.engines.fields.filters import FilterField
from memory.operations.base import Answer, Resource

DELETED = Answer(
    None,
    shapes.render_done,
    codes=(204,),
    choose_code=shapes.find_code,
    others={200: ErasureShape, 202: ErasureShape},
)
MANY_DELETED = Answer(shapes.DeletionShape, shapes.render_deletion)


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
