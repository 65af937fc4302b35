"""The command that reads the past."""

from collections.abc import Mapping, Sequence
from typing import Any

from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note, short_time
from day1site.cli.parameters import POINT, OneOf, argument, branch_option, option, paging_options
from day1site.cli.transport.rest import Answer

COLUMNS = {
    "fact": ("id", "status", "verification_status", "essence"),
    "relation": ("id", "source_entity", "relation_type", "target_entity"),
    "observation": ("id", "observation_type", "outcome", "summary"),
    "conversation": ("id", "status", "message_count", "title"),
    "message": ("sequence_num", "role", "content"),
}


@command(
    "time-travel",
    "Read what a branch held at a point of its past: a seq, the id of a commit or snapshot, or a time.",
    "day1 time-travel 2026-05-01T12:00 --branch main",
    "day1 time-travel 340 --type relation --filter source=billing",
)
@argument("at", "POINT", type=POINT)
@branch_option
@option("--type", "kind", type=OneOf(tuple(COLUMNS)), default="fact", help="default fact")
@option("--filter", "filters", multiple=True, metavar="NAME=VALUE", help="a filter of that kind's list")
@paging_options
def time_travel(
    run: Invocation, at: str, branch: str, kind: str, filters: Sequence[str], **options: Any
) -> None:
    chosen = dict(split_filter(text) for text in filters)
    client = run.open_client()
    answers: list[Answer] = []

    def read_page(paging: Mapping[str, Any]) -> Answer:
        answers.append(client.api.get("/time-travel", branch=branch, type=kind, at=at, **chosen, **paging))
        return answers[-1]

    run.show_list(read_page, options, COLUMNS[kind], "There was nothing of this kind then.")
    if not run.is_json:
        note(describe_point(answers[0]))


def describe_point(answer: Answer) -> str:
    """Return the sentence that says which point was read."""
    commit = answer["commit"]
    if commit is None:
        return f"{answer['branch']} before its first commit."
    return f"{answer['branch']} at {commit['seq']}, {short_time(commit['at'])}: {commit['title']}"


def split_filter(text: str) -> tuple[str, str]:
    """Return the name and the value of a filter. Raises UsageError."""
    name, found, value = text.partition("=")
    if not found:
        raise UsageError(f"--filter is NAME=VALUE, not {text}")
    return name, value
