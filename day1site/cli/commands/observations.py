"""The commands on observations."""

from typing import Any

from day1site.cli.declared_fields import FILTERS, field_options, filter_options, split_filters, state_options
from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.names import FILTER_PREFIX
from day1site.cli.operation_commands import Noun
from day1site.cli.parameters import (
    argument,
    at_option,
    branch_option,
    drop_empty,
    listing_options,
    paging_options,
)

GROUP = Noun("observations", "day1 observations --type error")
observation_filters = filter_options("observation", FILTER_PREFIX, section=FILTERS, metavar="X")


@command(
    "write-observation",
    "Keep what was noticed or done: a sentence, or a tool call.",
    'day1 write-observation "Retries hide the real error." --type insight',
    'day1 write-observation --tool Bash --input "pytest -q" --output "exit code 1"',
)
@argument("text", "TEXT", required=False, help="in words; - reads it from standard input")
@field_options("observation")
@branch_option
@state_options("observation")
def write_observation(run: Invocation, text: str | None, branch: str, **options: Any) -> None:
    fields = drop_empty({**options, "summary": None if text is None else read_text(text)})
    row = run.open_client(makes_store=True).call("observations.create", branch=branch, **fields)
    run.show_line(row, f"{row['id']}\t{row['observation_type']} stored on {branch}")


def show_observations(run: Invocation, branch: str, options: dict[str, Any]) -> None:
    filters, options = split_filters("observation", options)
    client = run.open_client()
    run.show_list(
        lambda paging: client.call("observations.list", branch=branch, **filters, **paging),
        options,
        ["id", "at=created_at", "type=observation_type", "outcome", "tool=tool_name", "text=summary"],
        "No observation here.",
    )


@GROUP.action("list", "List observations, the newest first.", "day1 observations list --all")
@branch_option
@listing_options
@observation_filters
@at_option
def list_observations(run: Invocation, branch: str, **options: Any) -> None:
    show_observations(run, branch, options)


@GROUP.action(
    "timeline",
    "List what was observed between two times, the newest first.",
    "day1 observations timeline --after 2026-05-01 --before 2026-05-02 --all",
)
@branch_option
@paging_options
@observation_filters
def timeline(run: Invocation, branch: str, **options: Any) -> None:
    show_observations(run, branch, options)


GROUP.add_operation("observations.retrieve", "Show an observation.", "day1 observations show 0197…")
GROUP.add_deletion("observations", "an observation", "observations", "0197…", "--session s1", "summary")
