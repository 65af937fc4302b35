"""Commands of declared operations: arguments, options and the request follow from operations.json.

``python3 manage.py write_fields`` writes that file from the declarations; no engine is loaded for it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import click

from day1site.cli.client import load_operations
from day1site.cli.declared_fields import Description, make_argument, make_option
from day1site.cli.invocation import Invocation, command
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
from day1site.cli.rest import Answer

Show = Callable[[Invocation, Answer], None]
Cells = Callable[[Answer], Sequence[Any]]


def operation(
    action: str,
    name: str,
    about: str,
    *examples: str,
    makes_store: bool = False,
    prepare: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Callable[[Show], click.Command]:
    """Declare the command of an operation; the function shows the answer to people.

    ``prepare`` completes what is sent, where the command line knows more than REST.
    """
    known = load_operations()[action]

    def declare(show: Show) -> click.Command:
        def run_operation(run: Invocation, **values: Any) -> None:
            inputs = prepare(drop_empty(values))
            show(run, run.open_client(makes_store=makes_store).call(action, **inputs))

        return command(name, about, *examples)(declare_inputs(known)(run_operation))

    return declare


def list_operation(
    action: str,
    name: str,
    about: str,
    *examples: str,
    columns: Sequence[str],
    empty: str,
    explain: Callable[[Answer], None] | None = None,
) -> Callable[[Cells], click.Command]:
    """Declare the command of a list; the function returns the cells of a row.

    ``explain`` prints what is to be known of all of them.
    """
    known = load_operations()[action]

    def declare(cells: Cells) -> click.Command:
        def run_list(run: Invocation, **values: Any) -> None:
            names = ({one["name"] for one in known["takes"]} | set(known["places"])) - {"limit"}
            inputs = drop_empty({name: values.pop(name) for name in names if name in values})
            page = partial(run.open_client().call, action, **inputs)
            run.show_list(lambda paging: page(**paging), values, columns, cells, empty, explain)

        return command(name, about, *examples)(declare_inputs(known)(declare_paging(known)(run_list)))

    return declare


def declare_inputs(known: Mapping[str, Any]) -> Decorator:
    """Return the arguments and options of an operation: what stands in its path or is needed has no flag."""
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
