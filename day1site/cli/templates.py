"""The commands on templates."""

from typing import Any

from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import WHOLE, OneOf, argument, option, paging_options
from day1site.cli.rest import Answer

template_argument = argument("name", "NAME")


@operation(
    "templates.create",
    "create",
    "Make a template of a branch: version 1 holds what the branch shows.",
    "day1 template create bug-fix --from task/login --type bug_fix",
)
def create(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['name']}\tversion {row['version']}, on {row['branch']}")


@list_operation(
    "templates.list",
    "list",
    "List templates by name.",
    "day1 template list --type bug_fix",
    columns=["name", "version", "state", "types", "used", "succeeded", "failed", "updated", "text"],
    empty="No template here.",
)
def list_templates(row: Answer) -> list[Any]:
    counts = [row["used"], row["succeeded"], row["failed"], short_time(row["updated_at"])]
    types = ", ".join(row["task_types"])
    return [row["name"], row["version"], row["state"], types, *counts, row["description"][:100]]


@command("find", "Find the template that fits a task.", 'day1 template find "Fix the login" --type bug_fix')
@argument("description", "TEXT", required=False)
@option("--type", "task_type", metavar="NAME", help="the kind of work")
@option("--limit", "limit", type=WHOLE, metavar="N", help="how many to name; default 1")
def find(run: Invocation, **options: Any) -> None:
    found = run.open_client().call("templates.find", **options)
    run.show(found, lambda out: print_matches(out, found))


def print_matches(out: Output, found: Answer) -> None:
    if not found["results"]:
        note("No template fits.")
        return
    columns = ["name", "version", "its kind", "meaning", "success", "text"]
    out.table(columns, [match_cells(one) for one in found["results"]])


def match_cells(one: Answer) -> list[Any]:
    row = one["template"]
    kind = "yes" if one["type_matches"] else "no"
    return [row["name"], row["version"], kind, one["meaning"], row["success_rate"], row["description"][:100]]


@operation(
    "templates.retrieve",
    "show",
    "Show a template with its versions and uses.",
    "day1 template show bug-fix",
)
def show(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: print_template(out, row))


def print_template(out: Output, row: Answer) -> None:
    out.pairs({name: value for name, value in row.items() if name not in ("versions", "uses")})
    columns = ["version", "branch", "from", "at", "facts", "conversations", "relations"]
    out.table(columns, [version_cells(one) for one in row["versions"]])
    if row["uses"]:
        uses = [[one["branch"], one["version"], one["outcome"], one["created_by"]] for one in row["uses"]]
        out.table(["used on", "version", "outcome", "by"], uses)


def version_cells(one: Answer) -> list[Any]:
    counts = [one["fact_count"], one["conversation_count"], one["relation_count"]]
    return [one["version"], one["branch"], one["source_branch"], one["source_seq"], *counts]


@operation(
    "templates.instantiate",
    "instantiate",
    "Begin a branch from a template: it holds all that the template holds.",
    "day1 template instantiate bug-fix task/mobile-login",
)
def instantiate(run: Invocation, row: Answer) -> None:
    place = f", in the workspace {row['workspace']['place']}" if row["workspace"] else ""
    run.show_line(row, f"{row['branch']}\tbegan from {row['template']}, version {row['version']}{place}")


@operation(
    "templates.add_version",
    "update",
    "Add a version that holds what a branch shows.",
    "day1 template update bug-fix main",
)
def update(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['name']}\tversion {row['version']}, on {row['branch']}")


@command("diff", "List what two versions show differently.", "day1 template diff bug-fix 1 2")
@template_argument
@argument("before", "N", type=WHOLE)
@argument("after", "N", type=WHOLE, required=False)
@paging_options
def diff(run: Invocation, name: str, before: int, after: int | None, **options: Any) -> None:
    client, versions = run.open_client(), {"name": name, "before": before, "after": after}
    run.show_list(
        lambda paging: client.call("templates.diff", **versions, **paging),
        options,
        ["change", "id", "text"],
        lambda row: [row["change"], row["id"], row["line"]],
        "They show the same facts.",
    )


@operation(
    "templates.deprecate",
    "deprecate",
    "Deprecate a template: it is not found or suggested any more.",
    "day1 template deprecate bug-fix",
)
def deprecate(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['name']}\t{row['state']}")


@command(
    "outcome",
    "Say what came of the work on a branch that began from a template.",
    "day1 template outcome bug-fix task/mobile-login success",
)
@template_argument
@argument("branch", "BRANCH")
@argument("outcome", "OUTCOME", type=OneOf(("success", "failure")))
def outcome(run: Invocation, **options: Any) -> None:
    row = run.open_client().call("templates.outcome", **options)
    run.show_line(row, f"{row['branch']}\t{row['outcome']}")
