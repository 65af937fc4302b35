"""``login``: a link that logs a person in once, on this machine."""

from day1site.cli.client import server_url
from day1site.cli.errors import local_only
from day1site.cli.invocation import Invocation, command
from day1site.cli.parameters import argument
from day1site.cli.transport.local_store import make_login_link

ADMIN = "admin"


@command(
    "login",
    "Make a link that logs you in once, within minutes, in a browser on this machine.",
    "day1 login",
    "day1 login vera",
)
@argument("username", "USERNAME", required=False, default=ADMIN)
def login(run: Invocation, username: str) -> None:
    """Whoever may read the store's files may do everything: the link needs no password."""
    if server_url():
        raise local_only("login")
    link = make_login_link(username)
    from memory.engines.access.login_links import VALID_MINUTES

    run.show_line({"link": link, "username": username, "minutes": VALID_MINUTES}, link)
