"""The commands on branches and keys."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from day1site.cli.client import client
from day1site.cli.facts import listed, said
from day1site.cli.output import Output, note, short


def create_branch(args: Namespace) -> None:
    fields = said(args, ("name", "parent", "purpose", "at"))
    branch = client(args.project, makes_store=True).create_branch(fields)
    out = Output(args.format)
    start = f"from {branch['parent']} at {branch['fork_seq']}"
    out.show(branch, lambda: out.line(f"{branch['name']}\tmade {start}"))


def list_branches(args: Namespace) -> None:
    store = client(args.project)
    names = ["name", "parent", "head", "last change", "purpose", *(["archived"] if args.archived else [])]
    listed(args, lambda paging: store.list_branches(args.archived, paging), names,
           lambda row: _branch(row, args.archived), "No branch here.")  # fmt: skip


def _branch(row: Mapping[str, Any], archived: bool) -> list[Any]:
    cells = [row["name"], row["parent"], row["head"], short(row["head_at"]), row["purpose"]]
    return [*cells, short(row["archived_at"])] if archived else cells


def log(args: Namespace) -> None:
    store = client(args.project)
    names = ["seq", "at", "kind", "by", "surface", "added", "changed", "removed", "message"]
    fields = ["kind", "actor_label", "surface", "added", "changed", "removed", "message"]
    listed(
        args, lambda paging: store.log(args.name, paging), names,
        lambda row: [row["seq"], short(row["at"]), *(row[name] for name in fields)],
        f"No commit on {args.name} yet.",
    )  # fmt: skip


def diff(args: Namespace) -> None:
    store, how = client(args.project), said(args, ("against", "against_at", "type", "change"))
    counts: list[Any] = []

    def page(paging: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = store.diff(args.name, how, paging)
        counts.append(answer["counts"])
        return answer

    listed(args, page, ["change", "id", "fields", "by", "text"], _difference, "No difference.")
    if counts[0] and args.format == "table":
        note("; ".join(f"{kind}s: {_tally(tally)}" for kind, tally in counts[0].items()))


def _difference(row: Mapping[str, Any]) -> list[Any]:
    link = row["link"] or {}
    text = row["fact"]["essence"] if row["fact"] else f"{link['from_id']} {link['link_type']} {link['to_id']}"
    return [row["change"], row["id"], list(row["fields"]), (row["commit"] or {}).get("actor_label", ""), text]


def _tally(tally: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {change}" for change, count in tally.items())


def stats(args: Namespace) -> None:
    found = client(args.project).stats(args.name)
    out = Output(args.format)
    out.show(found, lambda: out.pairs({**found, **{n: _tally(found[n]) for n in ("facts", "verification")}}))


def move_branch(args: Namespace) -> None:
    store = client(args.project)
    branch = store.archive_branch(args.name) if args.action == "archive" else store.restore_branch(args.name)
    out = Output(args.format)
    out.show(branch, lambda: out.line(f"{branch['name']}\t{args.action}d"))


KEY = ("label", "branch_patterns", "agent_id", "default_branch", "rate_per_minute", "expires_at")


def create_key(args: Namespace) -> None:
    fields = said(args, KEY)
    key = client(args.project, makes_store=True).create_key({**fields, "scopes": args.scopes or ["write"]})
    out = Output(args.format)
    out.show(key, lambda: out.line(key["token"]))
    if not out.json:
        note("This is the only time that the token is shown.")


def list_keys(args: Namespace) -> None:
    names = ["id", "label", "prefix", "scopes", "branches", "last used", "state"]
    listed(
        args, client(args.project).list_keys, names, _key, "No keys yet: day1 keys create LABEL makes one."
    )


def _key(row: Mapping[str, Any]) -> list[Any]:
    state = (
        "revoked"
        if row["revoked_at"]
        else f"until {short(row['expires_at'])}"
        if row["expires_at"]
        else "open"
    )
    patterns = row["branch_patterns"] or "all"
    return [
        row["id"],
        row["label"],
        row["prefix"],
        row["scopes"],
        patterns,
        short(row["last_used_at"]),
        state,
    ]


def revoke_key(args: Namespace) -> None:
    key = client(args.project).revoke_key(args.id)
    out = Output(args.format)
    out.show(key, lambda: out.line(f"{key['id']}\trevoked"))
