"""The commands on the settings of the project."""

from typing import Any

from day1site.cli.declared_fields import field_options
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.parameters import OneOf, option, switch
from day1site.cli.rest import NULL

GROUP = Noun("project", "day1 project show", default="show")
FLAGS = (
    "redact_secrets",
    "age_facts",
    "consolidate_agents",
    "propose_reflections",
    "dream_allow_zero_confirmation",
)
TRUTHS = OneOf(("true", "false"))
NULLABLE = ("least_evidence", "stale_after_days", "fact_budget")


@GROUP.action("show", "Show the settings of the project.", "day1 project show")
def show(run: Invocation) -> None:
    (row,) = run.open_client().call("projects.list")["results"]
    run.show(row)


@GROUP.action(
    "set",
    "Change settings of the project: what is not given stays as it is.",
    "day1 project set --least-evidence 0.2",
    "day1 project set --redact-secrets true",
    "day1 project set --stale-after-days 180 --fact-budget 20000 --age-facts true",
    "day1 project set --propose-reflections true --dream-min-size 4 --consolidate-agents true",
)
@field_options("project")
@switch("--no-least-evidence", help="the least that was measured for the embedder")
@switch("--no-stale-after-days", help="facts never become stale")
@switch("--no-fact-budget", help="a branch may have any number of facts in use")
@option("--redact-secrets", type=TRUTHS, help="whether secrets are taken out of what is written")
@option("--age-facts", type=TRUTHS, help="whether facts age every day by themselves")
@option("--consolidate-agents", type=TRUTHS, help="whether what agents learned twice is merged every night")
@option("--propose-reflections", type=TRUTHS, help="whether reflections are proposed every night")
@option("--dream-allow-zero-confirmation", type=TRUTHS, help="whether dreaming reads what nobody confirmed")
def set_settings(run: Invocation, **options: Any) -> None:
    emptied = [name for name in NULLABLE if options.pop(f"no_{name}")]
    settings = {name: value for name, value in options.items() if value is not None}
    settings |= {name: settings[name] == "true" for name in FLAGS if name in settings}
    for name in emptied:
        if name in settings:
            flag = name.replace("_", "-")
            raise UsageError(f"--no-{flag} and --{flag} exclude each other.")
        settings[name] = NULL
    client = run.open_client(makes_store=True)
    (own,) = client.call("projects.list")["results"]
    row = client.call("projects.partial_update", slug=own["slug"], **settings)
    run.show(row)
