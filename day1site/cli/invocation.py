"""What every command is called with: the project, the form of the output, and the way to the memory."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from day1site.cli.client import Client, open_client
from day1site.cli.errors import CliError
from day1site.cli.output import Cells, note, print_json, print_pairs, print_rows
from day1site.cli.parameters import common_options
from day1site.cli.transport.rest import Answer, Page, iterate_pages
from day1site.cli.usage import Command


@dataclass
class Invocation:
    """One command line; its fields are set by the common options."""

    project: str = ""
    format: str = "table"

    def open_client(self, makes_store: bool = False, of_server: bool = False) -> Client:
        return open_client(self.project, makes_store, of_server)

    @property
    def is_json(self) -> bool:
        return self.format == "json"

    def show(self, value: Any, render: Callable[[Any], None] = print_pairs) -> None:
        """Print the value as JSON, or let ``render`` write it for people."""
        (print_json if self.is_json else render)(value)

    def show_line(self, value: Any, text: str) -> None:
        self.show(value, lambda _: print(text))

    def show_list(
        self,
        page: Page,
        options: dict[str, Any],
        columns: Sequence[str],
        empty: str,
        cells: Cells | None = None,
        explain: Callable[[Answer], None] | None = None,
    ) -> None:
        """Print one page, or all of them, with the way to the next one; see ``print_rows``."""

        def render(answer: Answer) -> None:
            if answer["results"]:
                print_rows(answer["results"], *columns, cells=cells)
            else:
                note(empty)
            if answer["next"]:
                note(f"There are more: --cursor {answer['next']}, or --all.")
            if explain:
                explain(answer)

        self.show(read_list(page, options), render)


def read_list(page: Page, options: dict[str, Any]) -> Answer:
    """Return the page that the options of a list name; every page as one where they say --all."""
    names = ("limit", "cursor", "at", "ordering")
    paging = {name: options[name] for name in names if options.get(name) is not None}
    if not options.get("all"):
        return page(paging)
    pages = list(iterate_pages(page, paging))
    return {**pages[0], "results": [row for answer in pages for row in answer["results"]], "next": None}


def command(name: str, about: str, *examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare a command whose function is called with the Invocation and its parameters."""

    def declare(function: Callable[..., Any]) -> click.Command:
        function = common_options(click.pass_obj(function))
        return click.command(name, cls=Command, help=about, examples=examples)(function)

    return declare


def read_text(text: str) -> str:
    """Return the text, or standard input where it is ``-``. Raises CliError."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode().rstrip("\n")
    except UnicodeDecodeError:
        raise CliError("invalid", "The text on standard input is not UTF-8.") from None
