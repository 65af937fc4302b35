"""The commands on relations and the graph that they make."""

from typing import Any

from day1site.cli.client import with_point
from day1site.cli.declared_fields import field_options, filter_options, split_filters, state_options
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import (
    argument,
    at_option,
    branch_option,
    drop_empty,
    listing_options,
    option,
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
@field_options("relation")
@branch_option
@state_options("relation")
def write_relation(run: Invocation, branch: str, **options: Any) -> None:
    row = run.open_client(makes_store=True).call("relations.create", branch=branch, **drop_empty(options))
    done = "stored" if row["created"] else f"stated {row['strength']} times"
    run.show_line(row, f"{row['id']}\t{done} on {branch}")


@operation(
    "relations.graph",
    "graph",
    "Show what is connected to something: the nearest first.",
    "day1 graph billing --depth 3",
)
def graph(run: Invocation, answer: Answer) -> None:
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
@filter_options("relation", metavar="NAME")
@branch_option
@listing_options
@at_option
def list_relations(run: Invocation, branch: str, **options: Any) -> None:
    filters, options = split_filters("relation", options)
    client = run.open_client()
    run.show_list(
        lambda paging: client.call("relations.list", branch=branch, **filters, **with_point(paging)),
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
    row = run.open_client().call("relations.close", relation_id=id, branch=branch, **drop_empty(options))
    run.show_line(row, f"{row['id']}\tclosed on {branch}")
