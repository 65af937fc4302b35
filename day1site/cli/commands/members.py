"""The commands on members."""

from day1site.cli.declared_fields import field_choices
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import name_actor, note, print_table, short_time
from day1site.cli.parameters import OneOf, argument
from day1site.cli.transport.rest import Answer

GROUP = Noun("members", "day1 members add vera --role curator")
ROLES = OneOf(field_choices("member", "role"))


def describe_account(row: Answer) -> str:
    return "superuser" if row["superuser"] else "active" if row["active"] else "not active"


def describe_maker(row: Answer) -> str:
    """Return who made a row, with its kind: names may be those of several."""
    return name_actor(row, "created_by", "created_by_kind")


GROUP.add_list(
    "members.list",
    "List the members, in the order in which they joined.",
    "day1 members --role maintainer",
    cells={"account": describe_account, "let in by": describe_maker},
    empty="No members.",
)
GROUP.add_operation(
    "members.create",
    "Make a user of this server a member.",
    "day1 members add vera --role curator",
    name="add",
    line="{username}\t{role}",
)


@GROUP.action("role", "Give a member another role.", "day1 members role vera maintainer")
@argument("username", "USERNAME")
@argument("role", "ROLE", type=ROLES)
def change_role(run: Invocation, username: str, role: str) -> None:
    row = run.open_client().call("members.partial_update", member_id=username, role=role)
    run.show_line(row, f"{row['username']}\t{row['role']}")


@GROUP.operation(
    "members.remove",
    "Remove a member, with the keys, open invitations and logins of theirs. What they wrote stays.",
    "day1 members remove vera --dry-run",
)
def print_departure(done: Answer) -> None:
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
    print_table(["kind", "name", "", "made by"], [*keys, *links])
    counts = ", ".join(f"{name} {number}" for name, number in done["counts"].items())
    for one in done["joined"]:
        note(f"It stays, let in by them: {one['username']}, {one['role']}.")
    verb = "would end" if done["dry_run"] else "ended"
    note(f"{done['member']['username']}: {verb} with the membership: {counts}.")
