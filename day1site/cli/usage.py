"""Click commands with the usage rules and the refusals that this command line has always had.

Options may stand before, between and after the arguments. A word that begins with ``-`` is an argument
when it is a negative number, holds a space or follows ``--``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem

from day1site.cli.errors import UsageError
from day1site.cli.names import FILTER_PREFIX

NEGATIVE_NUMBER = re.compile(r"-\d+|-\d*\.\d+")
HELP_FLAGS = ("-h", "--help")
SETTINGS = {"help_option_names": HELP_FLAGS, "max_content_width": 100}
OPTIONS = "options"
EVERYWHERE = "everywhere"


class Option(click.Option):
    """An option that is shown under the heading ``section`` of the help."""

    def __init__(self, *flags: Any, section: str = OPTIONS, **attrs: Any) -> None:
        self.section = section
        super().__init__(*flags, **attrs)


class UsageFormat(click.Command):
    """The parts of help and usage that commands and groups share."""

    examples: Sequence[str] = ()

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = self.collect_usage_pieces(ctx)
        formatter.write_usage(ctx.command_path, " ".join(pieces), prefix="usage: ")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("examples" if len(self.examples) > 1 else "example"):
                formatter.write("".join(f"  {line}\n" for line in self.examples))
        super().format_epilog(ctx, formatter)

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        params = self.get_params(ctx)
        arguments = [param for param in params if isinstance(param, click.Argument)]
        write_section(ctx, formatter, "arguments", arguments)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        params = self.get_params(ctx)
        options = [param for param in params if isinstance(param, click.Option)]
        sections = dict.fromkeys(get_section(option) for option in options)
        for section in sorted(sections, key=lambda name: name == EVERYWHERE):
            rows = [option for option in options if get_section(option) == section]
            write_section(ctx, formatter, section, rows)


def get_section(option: click.Option) -> str:
    return getattr(option, "section", OPTIONS)


def write_section(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, params: Iterable[click.Parameter]
) -> None:
    records = [record for param in params if (record := param.get_help_record(ctx)) and record[1]]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


class Command(UsageFormat):
    """One command; ``examples`` are shown at the end of its help."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attrs: Any) -> None:
        self.examples = examples
        super().__init__(*args, **{"context_settings": SETTINGS, **attrs})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        rest = super().parse_args(ctx, arrange_words(self, ctx, args))
        check_text(ctx)
        return rest


class Group(UsageFormat, click.Group):
    """Commands that are imported when they are called for; ``table`` imports each and has its help.

    ``day1 facts --limit 5`` is ``day1 facts list --limit 5`` where ``default`` is list.
    """

    def __init__(
        self,
        *args: Any,
        table: dict[str, tuple[Callable[[], click.Command], str]],
        default: str = "",
        examples: Sequence[str] = (),
        **attrs: Any,
    ) -> None:
        self.table, self.default, self.examples = table, default, examples
        super().__init__(*args, **{"context_settings": SETTINGS, "no_args_is_help": False, **attrs})

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.table:
            return None
        load, about = self.table[name]
        command = load()
        command.help = command.help or f"{about[0].upper()}{about[1:]}."
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(self.title):
            formatter.write_dl([(name, text) for name, (_, text) in self.table.items()])

    @property
    def title(self) -> str:
        return f"{(self.subcommand_metavar or '').split()[0].lower()}s"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        begins_with_option = args and args[0].startswith("-") and args[0] not in HELP_FLAGS
        # Of no words at all a shell completes the names of all actions.
        if self.default and (begins_with_option or not (args or ctx.resilient_parsing)):
            args = [self.default, *args]
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, arrange_words(self, ctx, args))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and args[0] not in self.table:
            name = (self.subcommand_metavar or "").split()[0]
            raise click.UsageError(f"argument {name}: {invalid_choice(args[0], self.table)}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete also the options of the action that a group alone stands for."""
        if self.default and incomplete.startswith("-") and (command := self.get_command(ctx, self.default)):
            with command.make_context(self.default, [], parent=ctx, resilient_parsing=True) as inner:
                return command.shell_complete(inner, incomplete)
        return super().shell_complete(ctx, incomplete)


# ---- words of a command line -------------------------------------------------------------------------


def arrange_words(command: click.Command, ctx: click.Context, words: Sequence[str]) -> list[str]:
    """Return the options first and then, behind ``--``, the arguments. Raises click.UsageError."""
    line = CommandWords(command, ctx, words)
    if line.eager:
        return [line.eager]
    line.check()
    return [*line.options, "--", *line.arguments]


class CommandWords:
    """The words of one command sorted into options and arguments."""

    def __init__(self, command: click.Command, ctx: click.Context, words: Sequence[str]) -> None:
        self.command, self.ctx = command, ctx
        self.options: list[str] = []
        self.arguments: list[str] = []
        self.unknown: list[tuple[int, str]] = []
        self.positions: list[int] = []
        self.seen: set[str] = set()
        self.eager = ""  # help or version: of the words nothing else counts
        options = [param for param in command.params if isinstance(param, click.Option)]
        self.flags = {flag: one for one in options for flag in (*one.opts, *one.secondary_opts)}
        self._sort(list(words))

    def _sort(self, words: list[str]) -> None:
        index, only_arguments = 0, False
        while index < len(words) and not self.eager:
            word = words[index]
            if isinstance(self.command, click.Group) and self.arguments:
                self.arguments += words[index:]  # of the command that was named
                return
            if word == "--" and not only_arguments:
                only_arguments = True
            elif only_arguments or not self._is_option(word):
                self.arguments.append(word)
                self.positions.append(index)
            else:
                index += self._take_option(word, words[index + 1 :], index)
            index += 1

    def _take_option(self, word: str, following: Sequence[str], index: int) -> int:
        """Sort one option in; return how many of the following words are its value."""
        flag, has_value, value = word.partition("=")
        option = self.flags.get(flag)
        if word in HELP_FLAGS:
            self.eager = "--help"
        elif option is not None and option.is_eager:
            self.eager = word
        elif option is None:
            self.unknown.append((index, word))
        elif option.is_flag:
            self._refuse_value(flag, has_value, value)
            self._keep(flag, [word])
        elif has_value:
            self._keep(flag, [flag, value])
        elif following and not self._is_option(following[0]):
            self._keep(flag, [flag, following[0]])
            return 1
        else:
            raise click.UsageError(f"argument {flag}: expected one argument", self.ctx)
        return 0

    def _is_option(self, word: str) -> bool:
        if len(word) < 2 or not word.startswith("-"):
            return False
        known = word.partition("=")[0] in self.flags
        return known or not (NEGATIVE_NUMBER.fullmatch(word) or " " in word)

    def _keep(self, flag: str, words: list[str]) -> None:
        self.seen.add(flag)
        self.options += words

    def _refuse_value(self, flag: str, has_value: str, value: str) -> None:
        if has_value:
            raise click.UsageError(f"argument {flag}: ignored explicit argument {value!r}", self.ctx)

    def check(self) -> None:
        """Refuse what is missing, and then what nobody knows."""
        if missing := [*self._missing_arguments(), *self._missing_options()]:
            names = ", ".join(missing)
            raise click.UsageError(f"the following arguments are required: {names}", self.ctx)
        if unknown := sorted([*self.unknown, *self._extra_arguments()]):
            words = " ".join(word for _, word in unknown)
            raise click.UsageError(f"unrecognized arguments: {words}", self.ctx)

    def _missing_arguments(self) -> list[str]:
        if isinstance(self.command, click.Group):
            return [] if self.arguments else [str(self.command.subcommand_metavar).split()[0]]
        required = [param for param in self._parameters() if param.required]
        return [param.make_metavar(self.ctx) for param in required[len(self.arguments) :]]

    def _missing_options(self) -> list[str]:
        return [flag for flag, option in self.flags.items() if option.required and flag not in self.seen]

    def _extra_arguments(self) -> list[tuple[int, str]]:
        parameters = self._parameters()
        if isinstance(self.command, click.Group) or any(param.nargs < 0 for param in parameters):
            return []
        count = len(parameters)
        return list(zip(self.positions[count:], self.arguments[count:], strict=True))

    def _parameters(self) -> list[click.Argument]:
        return [param for param in self.command.params if isinstance(param, click.Argument)]


def invalid_choice(value: str, choices: Iterable[str]) -> str:
    choices = list(choices)
    near = get_close_matches(value, choices, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"invalid choice: {value!r} (choose from {', '.join(map(repr, choices))}){hint}"


PATHS = ("file", "output", "path")


def check_text(ctx: click.Context) -> None:
    """Refuse halves of surrogate pairs, which stand for bytes that are no UTF-8; a path may hold them."""
    for name, value in ctx.params.items():
        words = value if isinstance(value, tuple) else (value,)
        if name not in PATHS and not all(is_text(word) for word in words):
            raise UsageError(f"{name.removeprefix(FILTER_PREFIX)} is not UTF-8.")


def is_text(word: object) -> bool:
    return not isinstance(word, str) or not any("\ud800" <= letter <= "\udfff" for letter in word)
