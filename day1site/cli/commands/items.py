"""The commands on items: values under a namespace and a key."""

import json

from day1site.cli.operation_commands import Noun
from day1site.cli.output import strip_control
from day1site.cli.transport.rest import Answer


def write_value(row: Answer) -> str:
    """Return the value of an item as a line of JSON."""
    return strip_control(json.dumps(row["value"], ensure_ascii=False))


GROUP = Noun("items", "day1 items --prefix users")

GROUP.add_operation(
    "items.put_item",
    "Make or replace the item under a key.",
    'day1 items put users/ada theme \'{"color": "dark"}\'',
    line="{id}\t{namespace}/{key}\tversion {version} on {branch}",
    name="put",
    makes_store=True,
)
GROUP.add_operation(
    "items.get_item",
    "Show the value under a key.",
    "day1 items get users/ada theme",
    name="get",
    show=lambda row: print(write_value(row)),
)
GROUP.add_operation(
    "items.delete_item",
    "Delete the item under a key.",
    "day1 items delete users/ada theme",
    name="delete",
    line="{namespace}/{key}\tdeleted",
)
GROUP.add_list(
    "items.list",
    "List items in the order of namespace and key.",
    "day1 items list --prefix users",
    columns=["namespace", "key", "version", "value"],
    cells={"value": write_value},
    empty="No item here.",
)


@GROUP.operation("items.namespaces", "List the namespaces of items.", "day1 items namespaces --depth 1")
def show_namespaces(answer: Answer) -> None:
    for namespace in answer["namespaces"]:
        print(namespace)
