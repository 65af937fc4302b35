"""The commands on observations, relations and sessions."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from day1site.cli.client import client
from day1site.cli.facts import filters, listed, said, show, text_of
from day1site.cli.output import Output, note, short

WHO = ("session_id", "agent_id", "task_id")
OBSERVED = ("observation_type", "tool_name", "raw_input", "raw_output", "outcome", "metadata", *WHO)
RELATED = ("source_entity", "relation_type", "target_entity", "properties", "confidence", "valid_from",
           "valid_until", *WHO)  # fmt: skip


# ---- observations ----------------------------------------------------------------------------------


def write_observation(args: Namespace) -> None:
    fields = said(args, OBSERVED) | ({"summary": text_of(args)} if args.text is not None else {})
    row = client(args.project, makes_store=True).write_observation(args.branch, fields)
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{row['id']}\t{row['observation_type']} stored on {args.branch}"))


def list_observations(args: Namespace) -> None:
    store = client(args.project)
    listed(
        args, lambda paging: store.list_observations(args.branch, filters(args), paging),
        ["id", "at", "type", "outcome", "tool", "text"], _observation, "No observation here.",
    )  # fmt: skip


def _observation(row: Mapping[str, Any]) -> list[Any]:
    kind = (row["observation_type"], row["outcome"], row["tool_name"])
    return [row["id"], short(row["created_at"]), *kind, row["summary"]]


def show_observation(args: Namespace) -> None:
    show(args, client(args.project).get_observation(args.id, args.branch, args.at))


# ---- relations -------------------------------------------------------------------------------------


def write_relation(args: Namespace) -> None:
    row = client(args.project, makes_store=True).write_relation(args.branch, said(args, RELATED))
    done = "stored" if row["created"] else f"stated {row['strength']} times"
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{row['id']}\t{done} on {args.branch}"))


def list_relations(args: Namespace) -> None:
    store, which = client(args.project), said(args, ("source", "target", "relation_type", "open_only"))
    listed(
        args, lambda paging: store.list_relations(args.branch, which, paging),
        ["id", "source", "type", "target", "strength", "until"],
        lambda row: [row["id"], *_edge(row), row["strength"], short(row["valid_until"])],
        "No relation here.",
    )  # fmt: skip


def _edge(row: Mapping[str, Any]) -> list[Any]:
    return [row["source_entity"], row["relation_type"], row["target_entity"]]


def close_relation(args: Namespace) -> None:
    row = client(args.project).close_relation(args.id, args.branch, said(args, ("valid_until",)))
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{row['id']}\tclosed on {args.branch}"))


def graph(args: Namespace) -> None:
    which = said(args, ("entity", "depth", "relation_type", "at"))
    found = client(args.project).graph(args.branch, which)
    out = Output(args.format)
    out.show(found, lambda: _graph(out, found))


def _graph(out: Output, found: Mapping[str, Any]) -> None:
    if not found["edges"]:
        note(f"Nothing is known to be connected to {found['entity']}.")
        return
    steps = {node["entity"]: node["distance"] for node in found["nodes"]}
    rows = [[max(steps.get(end, 0) for end in _edge(edge)[::2]), *_edge(edge)] for edge in found["edges"]]
    out.table(["steps", "source", "type", "target"], rows)
    if found["truncated"]:
        note("There are more: these are the nearest 1,000.")


# ---- sessions --------------------------------------------------------------------------------------


def list_sessions(args: Namespace) -> None:
    store, which = client(args.project), said(args, ("branch", "status", "agent_id", "task_id"))
    listed(
        args, lambda paging: store.list_sessions(which, paging),
        ["id", "status", "began", "agent", "path", "text"],
        lambda row: [row["id"], row["status"], short(row["started_at"]), row["agent_id"],
                     row["project_path"], row["summary"]],
        "No session here.",
    )  # fmt: skip


def start_session(args: Namespace) -> None:
    names = ("session_id", "project_path", "parent_session", "agent_id", "task_id")
    row = client(args.project, makes_store=True).create_session(args.branch, said(args, names))
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{row['id']}\t{'begun' if row['created'] else row['status']}"))


def show_session(args: Namespace) -> None:
    show(args, client(args.project).get_session(args.session_id))


def session_context(args: Namespace) -> None:
    found = client(args.project).session_context(args.session_id, said(args, ("message_limit", "fact_limit")))
    out = Output(args.format)
    out.show(found, lambda: _context(out, found))


def _context(out: Output, found: Mapping[str, Any]) -> None:
    out.pairs({"parent": found["parent_summary"], "summary": found["session"]["summary"]})
    out.pairs({"observations": found["observations_summary"]["by_type"]})
    if found["facts"]:
        names = ("id", "category", "confidence", "fact_text")
        out.table([*names[:3], "text"], [[fact[name] for name in names] for fact in found["facts"]])
    messages = [row for conversation in found["conversations"] for row in conversation["messages"]]
    if messages:
        out.table(["seq", "role", "text"], [[r["sequence_num"], r["role"], r["content"]] for r in messages])


def end_session(args: Namespace) -> None:
    row = client(args.project).end_session(args.session_id, said(args, ("summary", "status")))
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{row['id']}\t{row['status']}"))
