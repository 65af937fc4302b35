"""The commands on facts: each asks the client once and shows the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from day1site.cli.client import Client
from day1site.cli.declared_fields import (
    FILTERS,
    field_option,
    field_options,
    filter_options,
    split_filters,
    state_options,
)
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.names import FILTER_PREFIX
from day1site.cli.operation_commands import Noun
from day1site.cli.output import name_actor, note, print_pairs, print_rows, strip_control
from day1site.cli.parameters import (
    WHOLE,
    argument,
    at_option,
    branch_option,
    branches_option,
    combine,
    drop_empty,
    expected_version_option,
    listing_options,
    option,
    search_options,
    switch,
)
from day1site.cli.transport.rest import Answer, fact_path
from memory.evidence import INCOMPLETE

COLUMNS = ("id", "status", "category", "essence")
PAGE = 100
NONE_YET = 'No facts yet. Write one with: day1 write-fact "…"  To look around first: day1 demo'

GROUP = Noun("facts", "day1 facts --status archived")
fact_filters = filter_options("fact", FILTER_PREFIX, section=FILTERS, metavar="X")
fact_id_argument = argument("id", "FACT_ID")
reason_option = option(
    "--reason", default="", metavar="TEXT", help="why, in words; the history and the audit keep it"
)
deduplicate_option = option(
    "--no-dedup",
    "deduplicate",
    is_flag=True,
    flag_value=False,
    default=True,
    help="store it even when the text is there",
)


# ---- writing -------------------------------------------------------------------------------------------


@command(
    "write-fact",
    "Store a fact: the same text is stored once.",
    'day1 write-fact "Tokens expire after 15 minutes." --category security --tag auth',
    "git log -1 --format=%B | day1 write-fact - --session s1",
)
@argument("text", "TEXT", help="what is to be remembered; - reads it from standard input")
@branch_option
@field_options("fact")
@state_options("fact")
@field_option("fact", "parent_id")
@switch("--propose", help="keep it, unsearched, until somebody activates it")
@deduplicate_option
def write_fact(run: Invocation, text: str, branch: str, **options: Any) -> None:
    fields = {"branch": branch, "fact_text": read_text(text), **drop_empty(options)}
    fact = run.open_client(makes_store=True).call("facts.create", **fields)
    run.show_line(fact, f"{fact['id']}\t{describe_write(fact, branch)}")


def describe_write(fact: Mapping[str, Any], branch: str) -> str:
    if not fact["created"]:
        return f"known already on {branch}, confirmed {count_times(fact['confirmation_count'])}"
    return f"proposed on {branch}" if fact["status"] == "created" else f"stored on {branch}"


def count_times(count: int) -> str:
    return {0: "never yet", 1: "once"}.get(count, f"{count} times")


# ---- finding -------------------------------------------------------------------------------------------


@command(
    "search",
    "Find facts: by meaning and by words, the best first.",
    "day1 search \"how long do logins last?\" --branch 'task/*' --limit 5",
    'day1 search "how long do logins last?" --max-tokens 500',
)
@argument("query", "QUERY", help="a question or some words")
@branches_option
@search_options
@option(
    "--max-tokens",
    type=WHOLE,
    metavar="N",
    help="as many essences as fit into so many tokens of a prompt",
)
@fact_filters
def search(run: Invocation, query: str, branch: Sequence[str], **options: Any) -> None:
    branches = branch or ["main"]
    several = len(branches) > 1 or "*" in branches[0]
    filters, options = split_filters("fact", options)
    if several and options.get("at"):
        raise UsageError("--at names a point of one branch, so it goes with one --branch.")
    client = run.open_client()
    scope: dict[str, Any] = {"branches": list(branches)} if several else {"branch": branches[0]}
    answer = read_pages(client, {"query": query, **scope, **options, **filters})
    run.show(answer, lambda _: print_hits(client, answer, several))


def read_pages(client: Client, request: dict[str, Any]) -> Answer:
    """Return the answer to a search, with all pages that its limit asks for."""
    limit = request.get("limit") or 1
    is_paged = limit > PAGE and request.get("max_tokens") is None
    request |= {"limit": PAGE} if is_paged else {}
    answer = client.api.post("/facts/search", **request)
    while is_paged and answer["next"] and len(answer["results"]) < limit:
        more = client.api.post("/facts/search", **request, cursor=answer["next"])
        answer |= {"results": [*answer["results"], *more["results"]], "next": more["next"]}
    return answer | {"results": answer["results"][:limit]} if is_paged else answer


def print_hits(client: Client, answer: Answer, several: bool) -> None:
    if answer["results"] and answer["note"]:
        note(strip_control(answer["note"]))
    elif answer["incomplete"]:
        note(INCOMPLETE)
    if answer["context"] is not None:
        print(strip_control(answer["context"]))
    elif answer["results"]:
        columns = ["score", *(f"{name}=fact.{name}" for name in COLUMNS), *(["branches"] if several else [])]
        print_rows(answer["results"], *columns, cells={"score": lambda hit: f"{hit['score']:.3f}"})
    else:
        pages = (client.call("facts.list", branch=name, limit=1) for name in answer["branches"])
        empty = not any(page["results"] for page in pages)
        note(NONE_YET if empty else "Nothing found.")


@command(
    "why",
    "Say why a search finds a fact, or why it does not.",
    'day1 why 0197… "how long do logins last?"',
)
@fact_id_argument
@argument("query", "QUERY")
@branch_option
@search_options
@fact_filters
def why(run: Invocation, id: str, query: str, branch: str, **options: Any) -> None:
    filters, options = split_filters("fact", options)
    api, words = run.open_client().api, {**options, **filters}
    answer = api.get(f"{fact_path(id)}/explain", query=query, branch=branch, **words)
    run.show(answer, print_reason)


def print_reason(answer: Answer) -> None:
    print(f"{answer['reason']}: {strip_control(answer['message'])}")
    essence = answer["fact"] and answer["fact"]["essence"]
    print_pairs({"fact": essence, "score": answer["score"], **answer["signals"]})


# ---- reading -------------------------------------------------------------------------------------------


@GROUP.action(
    "list",
    "List facts of every status, the newest first.",
    "day1 facts list --category decision --all",
    "day1 facts --at 2026-05-01 --format json",
)
@branch_option
@listing_options
@at_option
@fact_filters
def list_facts(run: Invocation, branch: str, **options: Any) -> None:
    filters, options = split_filters("fact", options)
    client = run.open_client()
    narrowed = filters or options.get("cursor") or options.get("at")
    run.show_list(
        lambda paging: client.call("facts.list", branch=branch, **filters, **paging),
        options,
        COLUMNS,
        "No fact here fits." if narrowed else NONE_YET,
    )


GROUP.add_operation(
    "facts.retrieve", "Show everything about a fact.", "day1 facts show 0197… --at 2026-05-01"
)
GROUP.add_list(
    "facts.history",
    "List the versions of a fact, the newest first.",
    "day1 facts history 0197…",
    columns=["version", "at=updated_at", "status", "by", "commit", "essence"],
    cells={
        "status": lambda row: "deleted" if row["deleted"] else row["status"],
        "by": lambda row: name_actor(row["commit"] or {}),
        "commit": lambda row: (row["commit"] or {}).get("kind", ""),
    },
    empty="No version here.",
)


# ---- changing ------------------------------------------------------------------------------------------


def add_action(name: str, about: str, *examples: str, takes_reason: bool = False) -> None:
    """Declare the command that does one thing to many facts: status 1 where one of them is refused."""

    def act(run: Invocation, ids: Sequence[str], branch: str, **options: Any) -> int:
        fields = {"action": name, "branch": branch, "fact_ids": list(ids), **drop_empty(options)}
        report = run.open_client().call("facts.actions", **fields)
        run.show(report, print_report)
        return 1 if any(row["outcome"] == "refused" for row in report["results"]) else 0

    ids = argument("ids", "FACT_ID", nargs=-1, required=True)
    declare = combine(ids, *([reason_option] if takes_reason else []), branch_option)
    GROUP.action(name, about, *examples)(declare(act))


def print_report(report: Answer) -> None:
    for row in report["results"]:
        print(f"{row['id']}\t{strip_control(row['message'])}")
    if report["commit"]:
        note(f"One commit, which undoes it: {report['commit']['id']}")


add_action(
    "accept",
    "Accept proposals: searches find them, and what they replace is superseded.",
    "day1 facts accept 0197… 0198…",
    takes_reason=True,
)
add_action(
    "refuse",
    "Refuse proposals: they are archived.",
    'day1 facts refuse 0197… --reason "guessed, not read"',
    takes_reason=True,
)
GROUP.add_operation(
    "facts.archive",
    "Retire a fact: not searched, not deleted, restorable.",
    "day1 facts archive 0197…",
    line="{id}\tarchived on {branch}",
)
GROUP.add_operation(
    "facts.restore",
    "Bring an archived fact back.",
    "day1 facts restore 0197…",
    line="{id}\trestored on {branch}",
)
GROUP.add_operation(
    "facts.destroy",
    "Delete a fact on this branch: its history stays.",
    "day1 facts delete 0197…",
    prepare=lambda inputs: {"branch": "main", **inputs},
    line="{id}\tdeleted on {branch}",
)


@GROUP.action(
    "supersede",
    "Write a fact that replaces this one.",
    'day1 facts supersede 0197… "Tokens expire after 30 minutes."',
)
@fact_id_argument
@argument("text", "TEXT", help="the new text; - reads it from standard input")
@field_options("fact")
@state_options("fact")
@branch_option
@expected_version_option
@deduplicate_option
def supersede(run: Invocation, id: str, text: str, branch: str, **options: Any) -> None:
    fields = {"branch": branch, "new_fact_text": read_text(text), **drop_empty(options)}
    fact = run.open_client().call("facts.supersede", old_fact_id=id, **fields)
    run.show_line(fact, f"{fact['id']}\t{describe_replacement(fact, branch, id)}")


def describe_replacement(fact: Mapping[str, Any], branch: str, old: str) -> str:
    if fact["status"] == "created":
        return f"proposed on {branch}, supersedes {old} once it is accepted"
    return f"{'stored' if fact['created'] else 'known already'} on {branch}, supersedes {old}"


add_action(
    "pin",
    "Pin facts: a session is told of them first, and ageing leaves them alone.",
    "day1 facts pin 0197…",
)
add_action("unpin", "Unpin facts.", "day1 facts unpin 0197…")


@GROUP.operation(
    "facts.related",
    "List what has to do with a fact, the nearest first.",
    "day1 facts related 0197… --depth 2",
)
def print_related(answer: Answer) -> None:
    if not answer["results"]:
        note("Nothing here has to do with it.")
        return
    columns = ["steps=distance", "id=fact.id", "by", "essence=fact.essence"]
    print_rows(answer["results"], *columns, cells={"by": describe_paths})


def describe_paths(row: Answer) -> list[str]:
    return [f"{path['by']} {path['name']}".strip() for path in row["why"]]


@GROUP.operation("facts.tags", "Count the facts of each tag.", "day1 facts tags --prefix team:")
def show_tags(answer: Answer) -> None:
    print_rows(answer["tags"], "tag", "count")
