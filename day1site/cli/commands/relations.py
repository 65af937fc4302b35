"""The commands on relations and the graph that they make."""

from typing import Any

from day1site.cli.declared_fields import field_options, filter_options, split_filters, state_options
from day1site.cli.invocation import Invocation, command
from day1site.cli.operation_commands import Noun, make_operation
from day1site.cli.output import note, print_rows
from day1site.cli.parameters import argument, at_option, branch_option, drop_empty, listing_options
from day1site.cli.transport.rest import Answer

GROUP = Noun("relations", "day1 relations --source billing")
EDGE_COLUMNS = ["source=source_entity", "type=relation_type", "target=target_entity"]


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


def print_graph(answer: Answer) -> None:
    if not answer["edges"]:
        note(f"Nothing is known to be connected to {answer['entity']}.")
        return
    steps = {node["entity"]: node["distance"] for node in answer["nodes"]}

    def count_steps(edge: Answer) -> int:
        return max(steps.get(edge[end], 0) for end in ("source_entity", "target_entity"))

    print_rows(answer["edges"], "steps", *EDGE_COLUMNS, cells={"steps": count_steps})
    if answer["truncated"]:
        note("There are more: these are the nearest 1,000.")


graph = make_operation(
    "relations.graph",
    "Show what is connected to something: the nearest first.",
    "day1 graph billing --depth 3",
    show=print_graph,
)


@GROUP.action("list", "List relations.", "day1 relations list --source billing --open")
@filter_options("relation", metavar="NAME")
@branch_option
@listing_options
@at_option
def list_relations(run: Invocation, branch: str, **options: Any) -> None:
    filters, options = split_filters("relation", options)
    client = run.open_client()
    run.show_list(
        lambda paging: client.call("relations.list", branch=branch, **filters, **paging),
        options,
        ["id", *EDGE_COLUMNS, "strength", "until=valid_until"],
        "No relation here.",
    )


GROUP.add_operation(
    "relations.close",
    "Say that it is true no more.",
    "day1 relations close 0197…",
    line="{id}\tclosed on {branch}",
)
