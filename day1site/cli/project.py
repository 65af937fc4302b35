"""The commands on the settings of the project."""

from typing import Any
from urllib.parse import quote

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.declared_fields import field_options
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation, command
from day1site.cli.parameters import OneOf, option, switch
from day1site.cli.rest import NULL


@command("show", "Show the settings of the project.", "day1 project show")
def show(run: Invocation) -> None:
    (row,) = run.open_client().api.get("/projects")["results"]
    run.show(row, lambda out: out.pairs(row))


@command(
    "set",
    "Change settings of the project: what is not given stays as it is.",
    "day1 project set --least-evidence 0.2",
    "day1 project set --redact-secrets true",
)
@field_options("project")
@switch("--no-least-evidence", help="as long as anything is found, it is known")
@option(
    "--redact-secrets", type=OneOf(("true", "false")), help="whether secrets are taken out of what is written"
)
def set_settings(run: Invocation, no_least_evidence: bool, **options: Any) -> None:
    settings = {name: value for name, value in options.items() if value is not None}
    if "redact_secrets" in settings:
        settings["redact_secrets"] = settings["redact_secrets"] == "true"
    if no_least_evidence:
        if "least_evidence" in settings:
            raise UsageError("--no-least-evidence and --least-evidence exclude each other.")
        settings["least_evidence"] = NULL
    api = run.open_client(makes_store=True).api
    (own,) = api.get("/projects")["results"]
    row = api.patch(f"/projects/{quote(own['slug'], safe='')}", **settings)
    run.show(row, lambda out: out.pairs(row))


ACTIONS = {
    "show": lazy_command("project:show", "Show the settings of the project"),
    "set": lazy_command("project:set_settings", "Change settings of the project"),
}
HELP = "show and change the settings of the project"
GROUP = build_group("project", HELP, "day1 project show", "show", ACTIONS)
