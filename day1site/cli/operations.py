"""Commands of declared operations: arguments, options and the request follow from operations.json.

``python3 manage.py write_fields`` writes that file from the declarations; no engine is loaded for it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from day1site.cli.declared_fields import Description, make_option
from day1site.cli.invocation import Invocation, command
from day1site.cli.parameters import WHOLE, Decorator, argument, combine, drop_empty, listing_options
from day1site.cli.rest import Answer, quote_place

FILE = Path(__file__).with_name("operations.json")
Show = Callable[[Invocation, Answer], None]
Cells = Callable[[Answer], Sequence[Any]]


@cache
def load_operations() -> dict[str, dict[str, Any]]:
    """Return the operations by name, such as ``tasks.join``."""
    operations: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return operations


def operation(
    action: str, name: str, about: str, *examples: str, makes_store: bool = False
) -> Callable[[Show], click.Command]:
    """Declare the command of an operation; the function shows the answer to people."""
    known = load_operations()[action]

    def declare(show: Show) -> click.Command:
        def run_operation(run: Invocation, **values: Any) -> None:
            show(run, send(run, known, values, makes_store))

        return command(name, about, *examples)(declare_inputs(known)(run_operation))

    return declare


def list_operation(
    action: str, name: str, about: str, *examples: str, columns: Sequence[str], empty: str
) -> Callable[[Cells], click.Command]:
    """Declare the command of a list; the function returns the cells of a row."""
    known = load_operations()[action]

    def declare(cells: Cells) -> click.Command:
        def run_list(run: Invocation, **values: Any) -> None:
            names = {one["name"] for one in known["takes"]} | set(known["places"])
            inputs = {name: values.pop(name) for name in names if name in values}
            run.show_list(
                lambda paging: send(run, known, {**inputs, **paging}), values, columns, cells, empty
            )

        return command(name, about, *examples)(declare_inputs(known)(run_list))

    return declare


def declare_inputs(known: Mapping[str, Any]) -> Decorator:
    """Return the arguments and options of an operation: what stands in its path or is needed has no flag."""
    places = [argument(name, name_place(name), type=kind) for name, kind in list_places(known)]
    needed = [argument(one["name"], name_place(one["name"])) for one in known["takes"] if is_argument(one)]
    options = [make_takes_option(one) for one in known["takes"] if "option" in one.get("use", ())]
    return combine(*places, *needed, *options, *([listing_options] if known.get("paged") else []))


def list_places(known: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, WHOLE if kind == "int" else None) for name, kind in known["places"].items()]


def name_place(name: str) -> str:
    return name.removesuffix("_id").upper()


def is_argument(field: Description) -> bool:
    return bool(field.get("required")) and "option" not in field.get("use", ())


def make_takes_option(field: Description) -> Decorator:
    return make_option(field, multiple=True) if "many" in field else make_option(field)


def send(
    run: Invocation, known: Mapping[str, Any], values: Mapping[str, Any], makes_store: bool = False
) -> Answer:
    """Return what the REST API answers to an operation with these values."""
    inputs = drop_empty(values)
    places = {name: quote_place(str(inputs.pop(name))) for name in known["places"]}
    client = run.open_client(makes_store=makes_store)
    method = getattr(client.api, known["verb"])
    answer: Answer = method(known["path"].format(**places), **inputs)
    return answer
