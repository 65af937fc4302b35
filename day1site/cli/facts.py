"""The commands on facts: each asks the client once and shows the answer."""

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from day1site.cli.client import Answer, Client, client
from day1site.cli.errors import CliError, UsageError
from day1site.cli.output import Output, clean, note, short

CONTENT = (
    "category", "kind", "priority", "confidence", "essence", "tags", "metadata", "source", "source_id",
    "valid_from", "valid_until", "expires_at", "visibility", "origin", "pinned", "parent_id",
    "session_id", "agent_id", "task_id",
)  # fmt: skip
WISH = ("limit", "search_type", "recipe", "include", "at", "max_tokens")
LIST = ("id", "status", "category", "essence")
NONE_YET = 'No facts yet. Write one with: day1 write-fact "…"  To look around first: day1 demo'


def write_fact(args: Namespace) -> None:
    fields = said(args, CONTENT) | {"fact_text": text_of(args), "propose": args.propose}
    fact = client(args.project, makes_store=True).write_fact(
        args.branch, {**fields, "deduplicate": args.deduplicate}
    )
    out = Output(args.format)
    out.show(fact, lambda: out.line(f"{fact['id']}\t{_written(fact, args.branch)}"))


def _written(fact: Mapping[str, Any], branch: str) -> str:
    if not fact["created"]:
        return f"known already on {branch}, confirmed {times(fact['confirmation_count'])}"
    return f"proposed on {branch}" if fact["status"] == "created" else f"stored on {branch}"


def search(args: Namespace) -> None:
    branches = args.branch or ["main"]
    across = len(branches) > 1 or "*" in branches[0]
    if across and args.at:
        raise UsageError("--at names a point of one branch, so it goes with one --branch.")
    store = client(args.project)
    found = store.search(args.query, branches, said(args, WISH), filters(args))
    out = Output(args.format)
    out.show(found, lambda: _hits(out, store, found, across))


def _hits(out: Output, store: Client, found: Mapping[str, Any], across: bool) -> None:
    if found["context"] is not None:
        out.line(clean(found["context"]))
    elif found["results"]:
        names = ["score", "id", "status", "category", "essence", *(["branches"] if across else [])]
        out.table(names, [_hit(hit, across) for hit in found["results"]])
    else:
        empty = not any(store.list_facts(name, {}, {"limit": 1})["results"] for name in found["branches"])
        note(NONE_YET if empty else "Nothing found.")


def _hit(hit: Mapping[str, Any], across: bool) -> list[Any]:
    fact = hit["fact"]
    return [f"{hit['score']:.3f}", *(fact[name] for name in LIST), *([hit["branches"]] if across else [])]


def why(args: Namespace) -> None:
    answer = client(args.project).explain(args.id, args.query, args.branch, said(args, WISH), filters(args))
    out = Output(args.format)
    out.show(answer, lambda: _because(out, answer))


def _because(out: Output, answer: Mapping[str, Any]) -> None:
    out.line(f"{answer['reason']}: {clean(answer['message'])}")
    known = {"fact": answer["fact"] and answer["fact"]["essence"], "score": answer["score"]}
    out.pairs({**known, **answer["signals"]})


def list_facts(args: Namespace) -> None:
    store = client(args.project)

    def page(paging: Mapping[str, Any]) -> Answer:
        return store.list_facts(args.branch, filters(args), paging)

    listed(args, page, LIST, lambda fact: [fact[name] for name in LIST], _none(args))


def _none(args: Namespace) -> str:
    return "No fact here fits." if filters(args) or args.cursor or args.at else NONE_YET


def show_fact(args: Namespace) -> None:
    fact = client(args.project).get_fact(args.id, args.branch, args.at)
    show(args, fact)


def show(args: Namespace, fact: Answer) -> None:
    out = Output(args.format)
    out.show(fact, lambda: out.pairs(fact))


def related(args: Namespace) -> None:
    found = client(args.project).related(args.id, args.branch, said(args, ("depth", "limit", "at")))
    out = Output(args.format)
    out.show(found, lambda: _relatives(out, found))


def _relatives(out: Output, found: Mapping[str, Any]) -> None:
    if not found["results"]:
        note("Nothing here has to do with it.")
        return
    rows = [
        [one["distance"], one["fact"]["id"], [_way(way) for way in one["why"]], one["fact"]["essence"]]
        for one in found["results"]
    ]
    out.table(["steps", "id", "by", "essence"], rows)


def _way(way: Mapping[str, Any]) -> str:
    return f"{way['by']} {way['name']}".strip()


def fact_history(args: Namespace) -> None:
    store = client(args.project)
    names = ["version", "at", "status", "by", "commit", "essence"]
    listed(
        args, lambda paging: store.history(args.id, args.branch, paging), names, _version, "No version here."
    )


def _version(row: Mapping[str, Any]) -> list[Any]:
    commit = row["commit"] or {}
    status = "deleted" if row["deleted"] else row["status"]
    who = commit.get("actor_label", "")
    return [row["version"], short(row["updated_at"]), status, who, commit.get("kind", ""), row["essence"]]


def change_fact(args: Namespace) -> None:
    fact = client(args.project).change_fact(
        args.action, args.id, args.branch, said(args, ["expected_version"])
    )
    out = Output(args.format)
    done = {"archive": "archived", "restore": "restored", "delete": "deleted"}[args.action]
    answer = fact if fact is not None else {"id": args.id, "branch": args.branch, "deleted": True}
    out.show(answer, lambda: out.line(f"{args.id}\t{done} on {args.branch}"))


def supersede(args: Namespace) -> None:
    fields = said(args, (*CONTENT, "expected_version")) | {"new_fact_text": text_of(args)}
    fact = client(args.project).change_fact("supersede", args.id, args.branch, fields)
    assert fact is not None
    out = Output(args.format)
    out.show(fact, lambda: out.line(f"{fact['id']}\tstored on {args.branch}, supersedes {args.id}"))


def verify(args: Namespace) -> None:
    fields = {"verdict": args.verdict, "reason": args.reason} | said(args, ["expected_version"])
    fact = client(args.project).change_fact("verify", args.id, args.branch, fields)
    assert fact is not None
    out = Output(args.format)
    out.show(fact, lambda: out.line(f"{fact['id']}\t{fact['verification_status']} on {args.branch}"))


# ---- shared with the other commands ------------------------------------------------------------------


def text_of(args: Namespace) -> str:
    """The text that was given, or standard input where it is ``-``."""
    if args.text != "-":
        return args.text
    try:
        return sys.stdin.buffer.read().decode().rstrip("\n")
    except UnicodeDecodeError:
        raise CliError("invalid", "The text on standard input is not UTF-8.") from None


def said(args: Namespace, names: Sequence[str]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name in names if (value := getattr(args, name, None)) is not None}


def filters(args: Namespace) -> dict[str, Any]:
    given = {n.removeprefix("filter_"): v for n, v in vars(args).items() if n.startswith("filter_")}
    return {name: value for name, value in given.items() if value is not None}


def listed(args: Namespace, page: Any, names: Sequence[str], row: Any, nothing: str) -> None:
    """One page, or all of them, with the way to the next one."""
    answers = pages(page, said(args, ["limit", "cursor", "at"]), args.all)
    first = next(answers)
    out = Output(args.format)
    if args.all:
        first = {**first, "results": [*first["results"], *(r for more in answers for r in more["results"])]}
        first["next"] = None
    out.show(first, lambda: _page(out, first, names, row, nothing))


def pages(page: Any, paging: Mapping[str, Any], all_pages: bool) -> Iterator[Answer]:
    paging = {"limit": 100, **paging} if all_pages else dict(paging)
    while True:
        answer = page(paging)
        yield answer
        if not (all_pages and answer["next"]):
            return
        # A cursor knows the point that the first page was read at.
        paging = {"limit": paging["limit"], "cursor": answer["next"]}


def _page(out: Output, answer: Mapping[str, Any], names: Sequence[str], row: Any, nothing: str) -> None:
    if not answer["results"]:
        note(nothing)
        return
    out.table(names, [row(one) for one in answer["results"]])
    if answer["next"]:
        note(f"There are more: --cursor {answer['next']}, or --all.")


def times(count: int) -> str:
    return {0: "never yet", 1: "once"}.get(count, f"{count} times")
