"""The commands on snapshots and workspaces."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from day1site.cli.client import client
from day1site.cli.errors import UsageError
from day1site.cli.facts import listed, said
from day1site.cli.output import Output, note, short


def create_snapshot(args: Namespace) -> None:
    if args.store and (args.branch or args.at):
        raise UsageError("--store keeps every branch as it is now: it takes no --branch and no --at.")
    fields = said(args, ("name", "branch", "at", "description"))
    made = client(args.project).create_snapshot(args.store, fields)
    out = Output(args.format)
    out.show(made, lambda: out.line(f"{made['id']}\t{made['name']} keeps {_what(made)}"))


def _what(row: Mapping[str, Any]) -> str:
    if row["kind"] == "branch":
        return f"{row['branch']} at {row['seq']}"
    return f"the store ({row['size'] / 1e6:.1f} MB)" if row["size"] else "the store"


def list_snapshots(args: Namespace) -> None:
    store, which = client(args.project), said(args, ("kind", "branch"))
    listed(
        args, lambda paging: store.list_snapshots(which, paging), ["id", "name", "keeps", "made", "by"],
        lambda row: [row["id"], row["name"], _what(row), short(row["created_at"]), row["created_by"]],
        "No snapshot yet: day1 snapshot create NAME makes one.",
    )  # fmt: skip


def restore_snapshot(args: Namespace) -> None:
    plan = client(args.project).restore_snapshot(args.id, args.dry_run)
    out = Output(args.format)
    out.show(plan, lambda: _plan(out, plan))


def _plan(out: Output, plan: Mapping[str, Any]) -> None:
    rows = [[one["name"], one["head"], one["seq"], _counts(one)] for one in plan["branches"]]
    changed = [row for row in rows if row[3]]
    if changed:
        out.table(["branch", "head", "back to", "what"], changed)
    if plan["mended"]:
        mended = ", ".join(f"{number} {kind}" for kind, number in plan["mended"].items())
        note(f"Lost rows {'to be ' if plan['dry_run'] else ''}put back: {mended}.")
    if not (changed or plan["mended"]):
        note("Everything is as it was: nothing to do.")
    elif plan["dry_run"]:
        note("Nothing was changed.")


def _counts(one: Mapping[str, Any]) -> str:
    parts = [
        f"{number} {kind} {what.replace('_', ' ')}"
        for what, counts in one["counts"].items()
        for kind, number in counts.items()
    ]
    return ", ".join([*parts, *(["archived"] if one["archive"] else []), *_back(one)])


def _back(one: Mapping[str, Any]) -> list[str]:
    return ["back into use"] if one["unarchive"] else []


def drop_snapshot(args: Namespace) -> None:
    client(args.project).drop_snapshot(args.id)
    out = Output(args.format)
    out.show({"id": args.id}, lambda: out.line(f"{args.id}\tdropped"))


def window(args: Namespace) -> None:
    store = client(args.project)
    told = store.get_window() if args.days is None else store.keep_window(args.days)
    out = Output(args.format)
    kept = f"Every state of the last {told['days']} days is kept."
    out.show(told, lambda: out.line(kept if told["days"] else "The database keeps no window of its past."))


# ---- workspaces ------------------------------------------------------------------------------------


def create_workspace(args: Namespace) -> None:
    made = client(args.project).create_workspace(said(args, ("name", "description")))
    out = Output(args.format)
    out.show(made, lambda: out.line(f"{made['id']}\t{made['name']} is in {made['place']}"))


def list_workspaces(args: Namespace) -> None:
    store, which = client(args.project), said(args, ("state",))
    listed(
        args, lambda paging: store.list_workspaces(which, paging), ["id", "name", "state", "made", "place"],
        lambda row: [row["id"], row["name"], row["state"], short(row["created_at"]), row["place"]],
        "No workspace: day1 workspace create NAME makes one.",
    )  # fmt: skip


def diff_workspace(args: Namespace) -> None:
    diff = client(args.project).use_workspace("diff", args.id)
    out = Output(args.format)
    out.show(diff, lambda: _diff(out, diff))


def _diff(out: Output, diff: Mapping[str, Any]) -> None:
    rows = [[one["name"], _seq(one["base"]), one["head"]] for one in diff["branches"]]
    if rows:
        out.table(["branch", "store", "workspace"], rows)
    else:
        note("Nothing was done in it.")
    if tables := diff["tables"]:
        note("; ".join(f"{kind}: {n['added']} new, {n['changed']} changed" for kind, n in tables.items()))
    if diff["moved"]:
        note(f"It cannot be promoted, the store has moved: {', '.join(diff['moved'])}.")


def _seq(base: int | None) -> Any:
    return "" if base is None else base


def promote_workspace(args: Namespace) -> None:
    done = client(args.project).use_workspace("promote", args.id)
    out = Output(args.format)
    out.show(done, lambda: out.line(f"{args.id}\tpromoted {len(done['branches'])} branches"))


def drop_workspace(args: Namespace) -> None:
    row = client(args.project).use_workspace("drop", args.id)
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{args.id}\t{row['state']}"))
