"""The command ``hook`` as click understands it."""

from day1site.cli import hook as hooks
from day1site.cli.invocation import Invocation, command
from day1site.cli.parameters import option, switch
from day1site.launcher import join_command


@command(
    "hook",
    "Hand an event of an agent's program to Day1: it is read from standard input.",
    "day1 hook --print --client codex",
)
@option("--client", default=hooks.DEFAULT_CLIENT, metavar="NAME", help="the program, such as claude-code")
@option("--config", metavar="FILE", help="with url and key; default: ~/.config/day1/hooks.json")
@switch("--print", "print_command", help="print the command that a program runs")
def hook(run: Invocation, client: str, config: str | None, print_command: bool) -> None:
    if not print_command:
        hooks.hand_over(client, config or "")
        return
    words = hooks.command_line(client, config or "")
    run.show_line({"command": words}, join_command(words))
