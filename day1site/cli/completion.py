"""``completion``: the script by which a shell completes the words of ``day1``."""

import click
from click.shell_completion import get_completion_class, shell_complete

from day1site.cli.invocation import Invocation, command
from day1site.cli.names import COMPLETION_VARIABLE, PROGRAM
from day1site.cli.parameters import OneOf, argument

SHELLS = ("bash", "zsh", "fish")


@command(
    "completion",
    "Print the script that completes commands and options in a shell.",
    "day1 completion bash > ~/.local/share/bash-completion/completions/day1",
    "day1 completion zsh > ~/.zfunc/_day1",
    "day1 completion fish > ~/.config/fish/completions/day1.fish",
)
@argument("shell", "SHELL", type=OneOf(SHELLS), help=", ".join(SHELLS))
def completion(run: Invocation, shell: str) -> None:
    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(root, {}, PROGRAM, COMPLETION_VARIABLE).source()
    run.show_line({"shell": shell, "script": script}, script)


def answer_shell(root: click.Command, instruction: str) -> int:
    """Print what a shell may complete, as its script asks for it."""
    return shell_complete(root, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
