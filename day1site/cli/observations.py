"""The commands on observations."""

from typing import Any

from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.output import short_time
from day1site.cli.parameters import (
    OneOf,
    argument,
    at_option,
    branch_option,
    combine,
    drop_empty,
    filter_option,
    metadata_option,
    option,
    paging_options,
    split_filters,
    who_options,
)
from day1site.cli.rest import Answer

TYPES = ("tool_use", "discovery", "decision", "error", "insight")
OUTCOMES = ("success", "error", "timeout")


@command(
    "write-observation",
    "Keep what was noticed or done: a sentence, or a tool call.",
    'day1 write-observation "Retries hide the real error." --type insight',
    'day1 write-observation --tool Bash --input "pytest -q" --output "exit code 1"',
)
@argument("text", "TEXT", required=False, help="in words; - reads it from standard input")
@option("--type", "observation_type", type=OneOf(TYPES), help="worked out where not said")
@option("--tool", "tool_name", metavar="NAME", help="the tool that was called")
@option("--input", "raw_input", metavar="TEXT", help="what it was given")
@option("--output", "raw_output", metavar="TEXT", help="what it gave back")
@option("--outcome", type=OneOf(OUTCOMES), help="worked out where not said")
@metadata_option
@branch_option
@who_options
def write_observation(run: Invocation, text: str | None, branch: str, **options: Any) -> None:
    fields = drop_empty({**options, "summary": None if text is None else read_text(text)})
    row = run.open_client(makes_store=True).write_observation(branch, fields)
    run.show_line(row, f"{row['id']}\t{row['observation_type']} stored on {branch}")


def choice_filter(flag: str, name: str, values: tuple[str, ...]) -> Any:
    return filter_option(flag, name, f"one of {', '.join(values)}", type=OneOf(values))


observation_filters = combine(
    choice_filter("--type", "observation_type", TYPES),
    choice_filter("--outcome", "outcome", OUTCOMES),
    filter_option("--tool", "tool_name", "of one of these"),
    *(filter_option(f"--{name}", f"{name}_id", "of one of these") for name in ("session", "agent", "task")),
    filter_option("--after", "after", "recorded then or later", metavar="TIME", multiple=False),
    filter_option("--before", "before", "recorded before", metavar="TIME", multiple=False),
)


def show_observations(run: Invocation, branch: str, options: dict[str, Any]) -> None:
    filters, options = split_filters(options)
    client = run.open_client()
    run.show_list(
        lambda paging: client.list_observations(branch, filters, paging),
        options,
        ["id", "at", "type", "outcome", "tool", "text"],
        observation_cells,
        "No observation here.",
    )


def observation_cells(row: Answer) -> list[Any]:
    kind = (row["observation_type"], row["outcome"], row["tool_name"])
    return [row["id"], short_time(row["created_at"]), *kind, row["summary"]]


@command("list", "List observations, the newest first.", "day1 observations list --all")
@branch_option
@paging_options
@observation_filters
@at_option
def list_observations(run: Invocation, branch: str, **options: Any) -> None:
    show_observations(run, branch, options)


@command(
    "timeline",
    "List what was observed between two times, the newest first.",
    "day1 observations timeline --after 2026-05-01 --before 2026-05-02 --all",
)
@branch_option
@paging_options
@observation_filters
def timeline(run: Invocation, branch: str, **options: Any) -> None:
    show_observations(run, branch, options)


@command("show", "Show an observation.", "day1 observations show 0197…")
@argument("id", "OBSERVATION_ID")
@branch_option
@at_option
def show(run: Invocation, id: str, branch: str, at: str | None) -> None:
    run.show_pairs(run.open_client().get_observation(id, branch, at))
