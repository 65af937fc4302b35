"""``user``: accounts of this server, for who may read the store's files."""

from day1site.cli.client import server_url
from day1site.cli.errors import local_only
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.parameters import argument
from day1site.cli.transport.local_store import open_store

GROUP = Noun("user", "day1 user reset-second-factor vera")


@GROUP.action(
    "reset-second-factor",
    "Take the second factor of a person away, whose authenticator and recovery codes are lost.",
    "day1 user reset-second-factor vera",
)
@argument("username", "USERNAME")
def reset_second_factor(run: Invocation, username: str) -> None:
    """Reset it; where a project requires one, the person is asked for a new one."""
    if server_url():
        raise local_only("user")
    open_store()
    from memory.engines.access.second_factors import SecondFactorEngine

    SecondFactorEngine().reset_factor(username=username)
    run.show_line({"username": username}, f"{username}\tno second factor")
