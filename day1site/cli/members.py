"""The commands on members."""

from typing import Any

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.declared_fields import field_choices
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, name_actor, note, short_time
from day1site.cli.parameters import OneOf, argument, switch
from day1site.cli.rest import Answer

ROLES = OneOf(field_choices("member", "role"))


@list_operation(
    "members.list",
    "list",
    "List the members, in the order in which they joined.",
    "day1 members --role maintainer",
    columns=["name", "role", "account", "let in by"],
    empty="No members.",
)
def list_members(row: Answer) -> list[Any]:
    account = "superuser" if row["superuser"] else "active" if row["active"] else "not active"
    return [row["username"], row["role"], account, describe_maker(row)]


def describe_maker(row: Answer) -> str:
    """Return who made a row, with its kind: names may be those of several."""
    return name_actor(row, "created_by", "created_by_kind")


@operation(
    "members.create", "add", "Make a user of this server a member.", "day1 members add vera --role curator"
)
def add(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['username']}\t{row['role']}")


@command("role", "Give a member another role.", "day1 members role vera maintainer")
@argument("username", "USERNAME")
@argument("role", "ROLE", type=ROLES)
def change_role(run: Invocation, username: str, role: str) -> None:
    row = run.open_client().call("members.partial_update", member_id=username, role=role)
    run.show_line(row, f"{row['username']}\t{row['role']}")


@command(
    "remove",
    "Remove a member, with the keys, open invitations and logins of theirs. What they wrote stays.",
    "day1 members remove vera --dry-run",
)
@argument("username", "USERNAME")
@switch("--dry-run", help="remove nothing: say what would end")
def remove(run: Invocation, username: str, dry_run: bool) -> None:
    done = run.open_client().call("members.remove", member_id=username, dry_run=dry_run)
    run.show(done, lambda out: print_departure(out, done))


def print_departure(out: Output, done: Answer) -> None:
    keys = [["key", one["label"], one["prefix"], describe_maker(one)] for one in done["keys"]]
    links = [
        [
            "invitation",
            one["note"],
            f"{one['role']}, until {short_time(one['expires_at'])}",
            describe_maker(one),
        ]
        for one in done["invitations"]
    ]
    out.table(["kind", "name", "", "made by"], [*keys, *links])
    counts = ", ".join(f"{name} {number}" for name, number in done["counts"].items())
    for one in done["joined"]:
        note(f"It stays, let in by them: {one['username']}, {one['role']}.")
    verb = "would end" if done["dry_run"] else "ended"
    note(f"{done['member']['username']}: {verb} with the membership: {counts}.")


ACTIONS = {
    "list": lazy_command("members:list_members", "List the members"),
    "add": lazy_command("members:add", "Make a user of this server a member"),
    "role": lazy_command("members:change_role", "Give a member another role"),
    "remove": lazy_command("members:remove", "Remove a member, with what they made"),
}
HELP = "people of the project and their roles"
GROUP = build_group("members", HELP, "day1 members add vera --role curator", "list", ACTIONS)
