"""The commands on invitations."""

from typing import Any

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.declared_fields import field_options
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import short_time
from day1site.cli.parameters import drop_empty
from day1site.cli.rest import Answer


@command(
    "create",
    "Make a link that makes whoever opens it a member: it is shown this once.",
    "day1 invitations create --role curator --note Vera",
)
@field_options("invitation", "option", "create")
def create(run: Invocation, **options: Any) -> None:
    row = run.open_client().api.post("/invitations", **drop_empty(options))
    run.show_line(row, row["link"])


@list_operation(
    "invitations.list",
    "list",
    "List the invitations, the newest first.",
    "day1 invitations list",
    columns=["id", "role", "state", "used", "expires", "by", "for"],
    empty="No invitation yet: day1 invitations create makes one.",
)
def list_invitations(row: Answer) -> list[Any]:
    used, expires = f"{row['uses']}/{row['max_uses']}", short_time(row["expires_at"])
    return [row["id"], row["role"], row["state"], used, expires, row["created_by"], row["note"]]


@operation(
    "invitations.revoke",
    "revoke",
    "Revoke an invitation: its link opens nothing any more.",
    "day1 invitations revoke 0197…",
)
def revoke(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['state']}")


ACTIONS = {
    "create": lazy_command("invitations:create", "Make a link that makes people members"),
    "list": lazy_command("invitations:list_invitations", "List the invitations, the newest first"),
    "revoke": lazy_command("invitations:revoke", "Revoke an invitation"),
}
HELP = "links that make people members of the project"
GROUP = build_group("invitations", HELP, "day1 invitations create --role curator", "list", ACTIONS)
