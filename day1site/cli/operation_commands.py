"""Commands of declared operations: arguments, options and the request follow from operations.json.

``python3 manage.py write_fields`` writes that file from the declarations; no engine is loaded for it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import click

from day1site.cli.client import load_operations
from day1site.cli.declared_fields import Description, make_argument, make_option
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Cells, note, print_pairs
from day1site.cli.parameters import (
    WHOLE,
    Decorator,
    argument,
    combine,
    drop_empty,
    listing_options,
    page_options,
    paging_options,
)
from day1site.cli.transport.rest import Answer
from day1site.cli.usage import Group

Show = Callable[[Answer], None]
NAMES = {
    "retrieve": "show",
    "partial_update": "update",
    "destroy": "delete",
}  # of commands that are called otherwise than the operation


class Noun(Group):
    """The commands on one noun, in the order of its help, where each has the first clause of its own help."""

    def __init__(self, name: str, example: str, default: str = "list") -> None:
        metavar = "ACTION ..."
        super().__init__(name, table={}, default=default, examples=(example,), subcommand_metavar=metavar)

    def add(self, made: click.Command) -> None:
        self.table[str(made.name)] = (lambda: made), re.split("[:;]", str(made.help))[0].rstrip(".")

    def action(self, name: str, about: str, *examples: str) -> Decorator:
        """Declare a command whose function is called with the Invocation and its parameters."""
        return lambda function: self.add(command(name, about, *examples)(function))

    def operation(self, action: str, about: str, *examples: str, **traits: Any) -> Callable[[Show], Show]:
        """Declare the command of an operation; the function shows the answer to people."""

        def declare(show: Show) -> Show:
            self.add_operation(action, about, *examples, show=show, **traits)
            return show

        return declare

    def add_operation(self, action: str, about: str, *examples: str, **traits: Any) -> None:
        self.add(make_operation(action, about, *examples, **traits))

    def add_deletion(self, prefix: str, one: str, many: str, row: str, example: str, text: str = "") -> None:
        """Add the commands that delete a row, delete those that fit, and restore one; what has a ``text``
        column and is deleted is listed too.
        """
        about = f"Delete {one}, which can be restored; with --erase it is gone for good."
        self.add_operation(f"{prefix}.destroy", about, f"day1 {self.name} delete {row}", show=print_deleted)
        self.add_operation(
            f"{prefix}.delete_many",
            f"Delete the {many} that fit; --dry-run says which these are.",
            f"day1 {self.name} delete-many {example} --dry-run",
            show=print_deletion,
        )
        if text:
            self.add_list(
                f"{prefix}.deleted",
                f"List the deleted {many} that can be restored.",
                f"day1 {self.name} deleted",
                columns=["id", "session=session_id", f"text={text}"],
                empty="Nothing is deleted here.",
            )
        about = f"Undo the deletion of {one}."
        self.add_operation(
            f"{prefix}.restore", about, f"day1 {self.name} restore {row}", line="{id}\trestored"
        )

    def add_list(self, action: str, about: str, *examples: str, **traits: Any) -> None:
        self.add(make_list(action, about, *examples, **traits))


def derive_group(prefix: str) -> Noun:
    """Return the commands on a noun that has no module of its own, with the words of its operations."""
    group = Noun(prefix, f"day1 {prefix}")
    for action, known in load_operations().items():
        if not action.startswith(f"{prefix}."):
            continue
        about, example = f"{known['summary']}.", f"day1 {prefix} {name_action(action)}"
        if known.get("paged"):
            group.add_list(action, about, example, empty="Nothing yet.")
        else:
            group.add_operation(action, about, example)
    return group


def print_deleted(answer: Answer) -> None:
    """Print what was deleted, or what became of its erasure."""
    is_hidden = "deleted" in answer
    print(f"{answer['id']}\tdeleted" if is_hidden else f"{answer['target']}\terased: {answer['state']}")


def print_deletion(found: Answer) -> None:
    """Print how many were deleted, or would be, and the first of them."""
    counts = ", ".join(f"{kind}: {count}" for kind, count in found["counts"].items()) or "nothing"
    print(f"{'would delete' if found['dry_run'] else 'deleted'}\t{counts}")
    for row in found["ids"]:
        print(row)
    if found["commit_id"]:
        note(f"POST /commits/{found['commit_id']}/revert takes it back.")


def make_operation(
    action: str,
    about: str,
    *examples: str,
    name: str = "",
    line: str = "",
    show: Show = print_pairs,
    makes_store: bool = False,
    prepare: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> click.Command:
    """Return the command of an operation; its answer is shown by a function, or as a line with its fields.

    ``prepare`` completes what is sent, where the command line knows more than REST.
    """

    def run_operation(run: Invocation, **values: Any) -> None:
        inputs = prepare(drop_empty(values))
        answer = run.open_client(makes_store, is_of_server(action)).call(action, **inputs)
        if not answer:  # what was deleted is named as it was on the command line
            answer = {"id" if name.endswith("_id") else name: value for name, value in inputs.items()}
            answer["deleted"] = True
        if line:
            run.show_line(answer, line.format_map({**inputs, **answer}))
        else:
            run.show(answer, show)

    return command(name or name_action(action), about, *examples)(declare_inputs(action)(run_operation))


def make_list(
    action: str,
    about: str,
    *examples: str,
    name: str = "",
    columns: Sequence[str] = (),
    empty: str,
    cells: Cells | None = None,
    explain: Show | None = None,
) -> click.Command:
    """Return the command of a list: with its operation's columns, or others as ``print_rows`` takes them.

    ``explain`` prints what is to be known of all of them.
    """
    known = load_operations()[action]
    columns = columns or known["columns"]

    def run_list(run: Invocation, **values: Any) -> None:
        names = ({one["name"] for one in known["takes"]} | set(known["places"])) - {"limit"}
        inputs = drop_empty({name: values.pop(name) for name in names if name in values})
        page = partial(run.open_client(of_server=is_of_server(action)).call, action, **inputs)
        run.show_list(lambda paging: page(**paging), values, columns, empty, cells, explain)

    declare = combine(declare_inputs(action), declare_paging(known))
    return command(name or name_action(action), about, *examples)(declare(run_list))


def is_of_server(action: str) -> bool:
    """Return whether an operation is one of who keeps the server."""
    return bool(load_operations()[action].get("of_server"))


def name_action(action: str) -> str:
    """Return the name of an operation's command."""
    own = action.rpartition(".")[2]
    return NAMES.get(own, own.replace("_", "-"))


def declare_inputs(action: str) -> Decorator:
    """Return the arguments and options of an operation: what stands in its path or is needed has no flag."""
    known = load_operations()[action]
    places = [declare_place(name, kind, known.get("row")) for name, kind in known["places"].items()]
    needed = [make_argument(one) for one in known["takes"] if is_argument(one)]
    options = [make_option(one) for one in known["takes"] if not is_argument(one)]
    return combine(*places, *needed, *options)


def declare_paging(known: Mapping[str, Any]) -> Decorator:
    """Return the options of a list: how many, from where on, and sorted by what, if it is one."""
    if any(one["name"] == "limit" for one in known["takes"]):
        return page_options
    return listing_options if known.get("sorted") else paging_options


def declare_place(name: str, kind: str, row: str | None) -> Decorator:
    """Return the argument of what stands in an address; what names the row itself is called in full."""
    metavar = name if name == row and kind != "key" else name.removesuffix("_id")
    return argument(name, metavar.upper(), type=WHOLE if kind == "int" else None)


def is_argument(field: Description) -> bool:
    return bool(field.get("required")) and "option" not in field.get("use", ())
