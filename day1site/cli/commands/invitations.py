"""The commands on invitations."""

from typing import Any

from day1site.cli.declared_fields import field_options
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.parameters import drop_empty

GROUP = Noun("invitations", "day1 invitations create --role curator")


@GROUP.action(
    "create",
    "Make a link that makes whoever opens it a member: it is shown this once.",
    "day1 invitations create --role curator --note Vera",
)
@field_options("invitation", "option", "create")
def create(run: Invocation, **options: Any) -> None:
    row = run.open_client().api.post("/invitations", **drop_empty(options))
    run.show_line(row, row["link"])


GROUP.add_list(
    "invitations.list",
    "List the invitations, the newest first.",
    "day1 invitations list",
    cells={"used": lambda row: f"{row['uses']}/{row['max_uses']}"},
    empty="No invitation yet: day1 invitations create makes one.",
)
GROUP.add_operation(
    "invitations.revoke",
    "Revoke an invitation: its link opens nothing any more.",
    "day1 invitations revoke 0197…",
    line="{id}\t{state}",
)
