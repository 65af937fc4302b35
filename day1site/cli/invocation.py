"""What every command is called with: the project, the form of the output, and the way to the memory."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from day1site.cli.client import Client, open_client
from day1site.cli.errors import CliError
from day1site.cli.output import Output, note
from day1site.cli.parameters import common_options
from day1site.cli.rest import Answer, Page, iterate_pages
from day1site.cli.usage import Command


@dataclass
class Invocation:
    """One command line; its fields are set by the common options."""

    project: str = ""
    format: str = "table"

    def open_client(self, makes_store: bool = False) -> Client:
        return open_client(self.project, makes_store)

    @property
    def out(self) -> Output:
        return Output(self.format)

    def show(self, value: Any, render: Callable[[Output], None]) -> None:
        """Print the value as JSON, or let ``render`` write it for people."""
        out = self.out
        out.show(value, lambda: render(out))

    def show_line(self, value: Any, text: str) -> None:
        self.show(value, lambda out: out.line(text))

    def show_pairs(self, value: Answer) -> None:
        self.show(value, lambda out: out.pairs(value))

    def show_list(
        self,
        page: Page,
        options: dict[str, Any],
        columns: Sequence[str],
        cells: Callable[[Answer], Sequence[Any]],
        empty: str,
        explain: Callable[[Answer], None] | None = None,
    ) -> None:
        """Print one page, or all of them, with the way to the next one."""
        answer = read_list(page, options)

        def render(out: Output) -> None:
            print_page(out, answer, columns, cells, empty)
            if explain:
                explain(answer)

        self.show(answer, render)


def read_list(page: Page, options: dict[str, Any]) -> Answer:
    """Return the page that the options of a list name; every page as one where they say --all."""
    names = ("limit", "cursor", "at", "ordering")
    paging = {name: options[name] for name in names if options.get(name) is not None}
    if not options.get("all"):
        return page(paging)
    pages = list(iterate_pages(page, paging))
    return {**pages[0], "results": [row for answer in pages for row in answer["results"]], "next": None}


def print_page(
    out: Output,
    answer: Mapping[str, Any],
    columns: Sequence[str],
    cells: Callable[[Answer], Sequence[Any]],
    empty: str,
) -> None:
    if not answer["results"]:
        note(empty)
        return
    out.table(columns, [cells(row) for row in answer["results"]])
    if answer["next"]:
        note(f"There are more: --cursor {answer['next']}, or --all.")


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
