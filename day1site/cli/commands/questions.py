"""The commands on saved questions, and ``eval``, which puts them to a branch."""

import json
import re
from operator import itemgetter
from typing import Any

from day1site.cli.client import Client
from day1site.cli.commands.import_export import open_source
from day1site.cli.declared_fields import field_names, field_options
from day1site.cli.errors import CliError, Refused
from day1site.cli.fact_jsonl import read_lines
from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs
from day1site.cli.parameters import (
    WHOLE,
    argument,
    at_option,
    branch_option,
    drop_empty,
    option,
)
from day1site.cli.transport.rest import Answer, iterate_rows
from day1site.cli.waiting import wait_for

ENDED = ("done", "failed")
LINE_FIELD_PATTERN = re.compile(r"questions\[(\d+)\]")  # the field of a refusal
LINE_FIELDS = field_names("question", "import")
GROUP = Noun("questions", "day1 questions list")


@GROUP.action(
    "save",
    "Save a question with the facts that a search should find.",
    'day1 questions save "How long do tokens live?" --expect 0197…',
)
@argument("text", "TEXT", help="- reads it from standard input")
@field_options("question")
@branch_option
def save(run: Invocation, text: str, branch: str, **options: Any) -> None:
    fields = drop_empty({**options, "expected": list(options["expected"])})
    row = run.open_client().call("questions.create", text=read_text(text), branch=branch, **fields)
    run.show_line(row, f"{row['id']}\t{row['text']}")


GROUP.add_list(
    "questions.list",
    "List the questions, the newest first.",
    "day1 questions list --all",
    cells={"expected": lambda row: len(row["expected"])},
    empty="No questions are saved yet.",
)
GROUP.add_operation(
    "questions.destroy", "Delete a question.", "day1 questions delete 0197…", line="{id}\tdeleted"
)


@GROUP.action(
    "import",
    "Save the questions of a file: one JSON object a line, with text and expected.",
    "day1 questions import questions.jsonl",
)
@argument("file", "FILE.jsonl", help="- reads standard input")
@branch_option
def import_questions(run: Invocation, file: str, branch: str) -> None:
    """Save all of them, or none where a line is no question: they go in one request."""
    lines = read_questions(file)
    client, questions = run.open_client(makes_store=True), [line for _, line in lines]
    try:
        answer = client.call("questions.bulk", questions=questions, branch=branch)
    except Refused as error:
        raise explain_refusal(error, lines) from error
    saved = answer["created"]
    known = f", {len(lines) - saved} were there" if saved < len(lines) else ""
    run.show_line({"saved": saved, "branch": branch}, f"saved {saved} questions on {branch}{known}")


def explain_refusal(error: Refused, lines: list[tuple[int, Answer]]) -> CliError:
    """Return a refusal with the number of the line at fault, where it is about one, or with what helps."""
    if error.field == "questions":
        return CliError(error.code, f"{error.text} Nothing was saved.")
    if error.code == "too_large" and not error.field:
        return CliError(error.code, f"{error.text} Nothing was saved: import the file in parts.")
    if not (found := LINE_FIELD_PATTERN.match(error.field)):
        return error
    number, _ = lines[int(found[1])]
    return CliError(error.code, f"line {number}: {error.text} Nothing was saved.")


def read_questions(file: str) -> list[tuple[int, Answer]]:
    """Return the questions of a file with their numbers. Raises CliError for a line that is none."""
    with open_source(file) as (stream, _total):
        lines = list(read_lines(stream))
    for number, line, reason in lines:
        if fault := reason.removeprefix("invalid: ") or find_fault(line):
            raise CliError("invalid", f"line {number}: {fault} Nothing was saved.")
    if not lines:
        raise CliError("invalid", "The file has no questions.")
    return [(number, line) for number, line, _ in lines]


def find_fault(line: Answer) -> str:
    """Return what is wrong with a line, as far as it shows without a store."""
    if unknown := line.keys() - LINE_FIELDS:
        return f"There is no field named {min(unknown)}."
    if not isinstance(line.get("text"), str) or not line["text"].strip():
        return "text is needed."
    expected = line.get("expected")
    if not isinstance(expected, list) or not expected or not all(isinstance(one, str) for one in expected):
        return "expected must be a list of ids."
    return ""


@GROUP.action(
    "export", "Print the questions, one JSON object a line.", "day1 questions export > questions.jsonl"
)
def export_questions(run: Invocation) -> None:
    client = run.open_client()
    for row in iterate_rows(lambda paging: client.call("questions.list", **paging)):
        line = {name: value for name, value in row.items() if name in LINE_FIELDS and value}
        print(json.dumps(line, ensure_ascii=False))


GROUP.add_list(
    "evals.list",
    "List the runs of the questions, the newest first.",
    "day1 questions runs --limit 5",
    name="runs",
    cells={
        "recall": lambda row: row["figures"].get("recall"),
        "mrr": lambda row: row["figures"].get("mrr"),
        "lost": lambda row: row["figures"].get("lost"),
        "created_at": itemgetter("created_at"),
    },
    empty="No run yet: day1 eval makes one.",
)


@command(
    "eval",
    "Put the saved questions to a branch, and compare it with another, a point in time or a recipe.",
    "day1 eval --branch task/login --against main",
    "day1 eval --recipe timeless --against-recipe default",
)
@branch_option
@at_option
@option("--recipe", metavar="NAME", help="how the parts of the score are mixed; default the project's")
@option("--k", type=WHOLE, metavar="N", help="how many facts of a search count, 1 to 100; default 10")
@option("--against", metavar="NAME", help="compare with this branch")
@option("--against-at", metavar="POINT", help="compare with this point")
@option("--against-recipe", metavar="NAME", help="compare with this recipe")
def run_eval(run: Invocation, branch: str, **options: Any) -> int:
    """End with status 1 where a question was lost."""
    other = {"branch": options["against"], "at": options["against_at"], "recipe": options["against_recipe"]}
    side = {"branch": branch, **{name: options[name] for name in ("at", "recipe", "k")}}
    client = run.open_client()
    body = drop_empty({**side, "against": drop_empty(other) or None})
    row = wait_for(client, "evals.retrieve", client.call("evals.create", **body), ENDED, "Asking")
    if row["state"] == "failed":
        raise CliError("eval_failed", row["error"])
    run.show(row, lambda _: print_run(client, row))
    return 1 if row["figures"].get("lost") else 0


def print_run(client: Client, row: Answer) -> None:
    figures = row["figures"]
    before = figures.get("before", {})
    print_pairs(
        {
            "id": row["id"],
            "branch": f"{row['branch']} at {row['seq']}, recipe {row['recipe']}",
            "questions": f"{figures['scored']} of {row['questions']} count",
            f"recall@{row['k']}": describe_change(before.get("recall"), figures["recall"]),
            "MRR": describe_change(before.get("mrr"), figures["mrr"]),
            "lost, gained, moved": [figures[name] for name in ("lost", "gained", "moved")] if before else "",
            "p of the recall": describe_test(figures.get("significance", {}).get("recall")),
        }
    )
    for one in list_changed(row):
        print(f"{one.get('change', 'unscored')}\t{one['question']}\t{read_question(client, one)}")
    if silent := figures.get("by_words"):
        note(f"The embedder did not answer: {silent} questions were put by their words alone.")
    if figures["scored"] < row["questions"]:
        note("Questions that were erased, or whose facts were erased or are on no branch, do not count.")


def read_question(client: Client, result: Answer) -> str:
    """Return the first line of a question; one that was deleted since has none."""
    try:
        text: str = client.call("questions.retrieve", question_id=result["question"])["text"]
    except CliError:
        return ""
    return text.split("\n")[0][:100]


def list_changed(row: Answer) -> list[Answer]:
    """Return the questions that a reader looks for: lost, gained, and those that nothing can answer."""
    shown = ("lost", "gained", "unscored")
    return [one for one in row["results"] if one.get("change") in shown or not one["ranks"]]


def describe_change(before: float | None, now: float | None) -> str:
    text = "none" if now is None else f"{now:.3f}"
    return text if before is None else f"{before:.3f} → {text}"


def describe_test(test: Answer | None) -> str:
    if not test:
        return ""
    return (
        f"{test['p']:.3f}, difference {test['difference']:+.3f} ({test['low']:+.3f} to {test['high']:+.3f})"
    )
