"""The commands on relations and the graph that they make."""

from typing import Any

from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import (
    JSON_OBJECT,
    NUMBER,
    WHOLE,
    argument,
    at_option,
    branch_option,
    drop_empty,
    option,
    paging_options,
    switch,
    who_options,
)
from day1site.cli.rest import Answer


@command(
    "write-relation",
    "State how two things are connected: stated again, it gets stronger.",
    "day1 write-relation billing depends_on postgres",
)
@argument("source_entity", "SOURCE")
@argument("relation_type", "TYPE")
@argument("target_entity", "TARGET")
@option("--properties", type=JSON_OBJECT, metavar="JSON", help="such as '{\"port\": 5432}'")
@option("--confidence", type=NUMBER, metavar="X", help="0 to 1; default 1")
@option("--valid-from", metavar="TIME", help="since when it is true in the world")
@option("--valid-until", metavar="TIME", help="until when")
@branch_option
@who_options
def write_relation(run: Invocation, branch: str, **options: Any) -> None:
    row = run.open_client(makes_store=True).write_relation(branch, drop_empty(options))
    done = "stored" if row["created"] else f"stated {row['strength']} times"
    run.show_line(row, f"{row['id']}\t{done} on {branch}")


@command(
    "graph",
    "Show what is connected to something: the nearest first.",
    "day1 graph billing --depth 3",
)
@argument("entity", "ENTITY")
@option("--depth", type=WHOLE, metavar="N", help="steps away, 1 to 6; default 2")
@option("--type", "relation_type", metavar="TYPE", help="only edges of this type")
@branch_option
@at_option
def graph(run: Invocation, branch: str, **options: Any) -> None:
    answer = run.open_client().get_graph(branch, drop_empty(options))
    run.show(answer, lambda out: print_graph(out, answer))


def print_graph(out: Output, answer: Answer) -> None:
    if not answer["edges"]:
        note(f"Nothing is known to be connected to {answer['entity']}.")
        return
    steps = {node["entity"]: node["distance"] for node in answer["nodes"]}
    rows = [
        [max(steps.get(end, 0) for end in edge_cells(edge)[::2]), *edge_cells(edge)]
        for edge in answer["edges"]
    ]
    out.table(["steps", "source", "type", "target"], rows)
    if answer["truncated"]:
        note("There are more: these are the nearest 1,000.")


def edge_cells(row: Answer) -> list[Any]:
    return [row["source_entity"], row["relation_type"], row["target_entity"]]


@command("list", "List relations.", "day1 relations list --source billing --open")
@option("--source", metavar="NAME", help="from this one")
@option("--target", metavar="NAME", help="to this one")
@option("--type", "relation_type", metavar="NAME", help="of this type")
@switch("--open", "open_only", default=None, help="not closed ones")
@branch_option
@paging_options
@at_option
def list_relations(run: Invocation, branch: str, **options: Any) -> None:
    names = ("source", "target", "relation_type", "open_only")
    filters = drop_empty({name: options[name] for name in names})
    client = run.open_client()
    run.show_list(
        lambda paging: client.list_relations(branch, filters, paging),
        options,
        ["id", "source", "type", "target", "strength", "until"],
        lambda row: [row["id"], *edge_cells(row), row["strength"], short_time(row["valid_until"])],
        "No relation here.",
    )


@command("close", "Say that it is true no more.", "day1 relations close 0197…")
@argument("id", "RELATION_ID")
@option("--valid-until", metavar="TIME", help="default: now")
@branch_option
def close(run: Invocation, id: str, branch: str, **options: Any) -> None:
    row = run.open_client().close_relation(id, branch, drop_empty(options))
    run.show_line(row, f"{row['id']}\tclosed on {branch}")
