"""The commands of the command line, walked and parsed without being carried out."""

from collections.abc import Iterator, Sequence

import click

from day1site.cli.invocation import Invocation
from day1site.cli.registry import build

PROGRAM = "day1"


def walk_commands(
    command: click.Command | None = None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with the words that name it, the program itself first."""
    command = build() if command is None else command
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), name)
            assert inner is not None
            yield from walk_commands(inner, (*path, name))


def parse_words(words: Sequence[str]) -> click.Context:
    """Return the context of the command that the words name. Raises click's exceptions."""
    ctx = build().make_context(PROGRAM, list(words), obj=Invocation())
    while isinstance(ctx.command, click.Group):
        rest = [*ctx._protected_args, *ctx.args]
        name, command, rest = ctx.command.resolve_command(ctx, rest)
        assert command is not None
        ctx = command.make_context(name, rest, parent=ctx)
    return ctx
