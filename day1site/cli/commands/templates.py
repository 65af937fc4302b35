"""The commands on templates."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs, print_rows
from day1site.cli.parameters import WHOLE, OneOf, argument, option, paging_options
from day1site.cli.transport.rest import Answer

GROUP = Noun("template", "day1 template instantiate bug-fix task/mobile-login")
template_argument = argument("name", "NAME")

GROUP.add_operation(
    "templates.create",
    "Make a template of a branch: version 1 holds what the branch shows.",
    "day1 template create bug-fix --from task/login --type bug_fix",
    line="{name}\tversion {version}, on {branch}",
)
GROUP.add_list(
    "templates.list",
    "List templates by name.",
    "day1 template list --type bug_fix",
    cells={"text": lambda row: row["description"][:100]},
    empty="No template here.",
)


@GROUP.action(
    "find", "Find the template that fits a task.", 'day1 template find "Fix the login" --type bug_fix'
)
@argument("description", "TEXT", required=False)
@option("--type", "task_type", metavar="NAME", help="the kind of work")
@option("--limit", "limit", type=WHOLE, metavar="N", help="how many to name; default 1")
def find(run: Invocation, **options: Any) -> None:
    run.show(run.open_client().call("templates.find", **options), print_matches)


def print_matches(found: Answer) -> None:
    if not found["results"]:
        note("No template fits.")
        return
    columns = ["name=template.name", "version=template.version", "its kind=type_matches", "meaning"]
    text = {"text": lambda row: row["template"]["description"][:100]}
    print_rows(found["results"], *columns, "success=template.success_rate", "text", cells=text)


@GROUP.operation(
    "templates.retrieve", "Show a template with its versions and uses.", "day1 template show bug-fix"
)
def print_template(row: Answer) -> None:
    print_pairs({name: value for name, value in row.items() if name not in ("versions", "uses")})
    columns = ["version", "branch", "from=source_branch", "at=source_seq", "facts=fact_count"]
    print_rows(row["versions"], *columns, "conversations=conversation_count", "relations=relation_count")
    if row["uses"]:
        print_rows(row["uses"], "used on=branch", "version", "outcome", "by=created_by")


@GROUP.operation(
    "templates.instantiate",
    "Begin a branch from a template: it holds all that the template holds.",
    "day1 template instantiate bug-fix task/mobile-login",
)
def print_begun(row: Answer) -> None:
    place = f", in the workspace {row['workspace']['place']}" if row["workspace"] else ""
    print(f"{row['branch']}\tbegan from {row['template']}, version {row['version']}{place}")


GROUP.add_operation(
    "templates.add_version",
    "Add a version that holds what a branch shows.",
    "day1 template update bug-fix main",
    name="update",
    line="{name}\tversion {version}, on {branch}",
)


@GROUP.action("diff", "List what two versions show differently.", "day1 template diff bug-fix 1 2")
@template_argument
@argument("before", "N", type=WHOLE)
@argument("after", "N", type=WHOLE, required=False)
@paging_options
def diff(run: Invocation, name: str, before: int, after: int | None, **options: Any) -> None:
    client, versions = run.open_client(), {"name": name, "before": before, "after": after}
    run.show_list(
        lambda paging: client.call("templates.diff", **versions, **paging),
        options,
        ["change", "id", "text=line"],
        "They show the same facts.",
    )


GROUP.add_operation(
    "templates.deprecate",
    "Deprecate a template: it is not found or suggested any more.",
    "day1 template deprecate bug-fix",
    line="{name}\t{state}",
)


@GROUP.action(
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
