"""Tools for items: values under a namespace and a key."""

from typing import Any

from day1site.mcp import schemas
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.declared_schemas import WHO, input_property
from day1site.mcp.tools.operation_parameters import take_offered
from memory.answers import items as shapes
from memory.answers.rendering import build_renderer
from memory.engines.fields import items as f
from memory.engines.items.engine import ItemEngine
from memory.engines.support import validation as c
from memory.operations.items import ITEMS

engine = ItemEngine()
PLACE = {one.name: input_property(one) for one in (f.NAMESPACE, f.KEY)}
NAMES = tuple(PLACE)
ANY = {"description": "Any JSON, at most 64 KiB; a secret in it is refused."}
SHOWN = ("id", "version", "namespace", "key", "value", "text", "tags", "metadata", "expires_at", "updated_at")
ITEM_PART = schemas.only(shapes.ItemShape, *SHOWN)
render_item = build_renderer(ITEM_PART)
ITEM = schemas.schema(ITEM_PART)
PUT = ("text", "ttl", "embed", "only_new", "only_present", "expected_version", "tags", "metadata")
PAGE = {"where": b.plain(f.WHERE.help), "limit": b.LIMIT, "cursor": b.CURSOR}


def take_place(call: Call) -> dict[str, Any]:
    return {name: call.need(name, c.plain_text) for name in NAMES}


def choose(operation: str, names: tuple[str, ...]) -> b.Schema:
    """Return the schemas of some parameters of an operation."""
    known = {one.name: one.field for one in ITEMS[operation].parameters}
    return {name: input_property(known[name]) for name in names}


@b.tool(
    title="Put an item",
    about=(
        "Keep a value under a key, such as a setting or a record that a program reads back by its name; what "
        "stood there is replaced, and stays in the history. For what is to be recalled by its meaning, "
        "memory_write."
    ),
    takes={**PLACE, "value": ANY, **choose("put_item", PUT), **WHO},
    needs=(*NAMES, "value"),
    gives={"item": ITEM, "created": b.flag("false: an item stood there.")},
    scope="write",
    writes=True,
    serves_end_users=True,
)
def item_put(call: Call) -> b.Answer:
    place, where = take_place(call), call.where
    options = take_offered(ITEMS["put_item"], call, "value", *PUT)
    call.end()
    written = engine.put_item(**place, **where, **options)
    after = f'item_get {{"namespace": "{place["namespace"]}", "key": "{place["key"]}"}}'
    return {
        "item": render_item(written.fact),
        "created": written.created,
        "branch": call.branch,
        "next": after,
    }


@b.tool(
    title="Read an item",
    about="Read the value under a key.",
    takes={**PLACE, "at": b.AT, **WHO},
    needs=NAMES,
    gives={"item": ITEM},
    scope="read",
    serves_end_users=True,
)
def item_get(call: Call) -> b.Answer:
    place, where = take_place(call), call.where
    options = take_offered(ITEMS["get_item"], call, "at")
    call.end()
    row = engine.get_item(**place, **where, **options)
    return {"item": render_item(row), "branch": call.branch, "next": "item_put to change it"}


@b.tool(
    title="List items",
    about="List what stands under a namespace, or under all, in the order of namespace and key.",
    takes={**choose("list", ("prefix",)), **PAGE, **WHO},
    gives={"items": b.many("The items.", ITEM), "cursor": {"type": ["string", "null"]}},
    scope="read",
    serves_end_users=True,
)
def item_list(call: Call) -> b.Answer:
    where = call.where
    options: dict[str, Any] = take_offered(ITEMS["list"], call, "prefix", *PAGE)
    call.end()
    page = engine.list_items(**where, **options)
    rows = [render_item(row) for row in page.results]
    return {"items": rows, "cursor": page.next, "branch": call.branch, "next": "item_get for one of them"}


@b.tool(
    title="Delete an item",
    about="Delete what stands under a key on this branch; its history stays, and item_put brings it back.",
    takes={**PLACE, **choose("delete_item", ("expected_version",)), **WHO},
    needs=NAMES,
    gives={"deleted": b.flag("true.")},
    scope="write",
    writes=True,
    destructive=True,
    serves_end_users=True,
)
def item_delete(call: Call) -> b.Answer:
    place, where = take_place(call), call.where
    options = take_offered(ITEMS["delete_item"], call, "expected_version")
    call.end()
    engine.delete_item(**place, **where, **options)
    return {"deleted": True, "branch": call.branch, "next": "item_list"}
