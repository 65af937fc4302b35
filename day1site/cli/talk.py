"""The commands on conversations and messages."""

from argparse import Namespace

from day1site.cli.capture import WHO
from day1site.cli.client import client
from day1site.cli.facts import filters, listed, said, show, text_of
from day1site.cli.output import Output, short


def list_conversations(args: Namespace) -> None:
    store = client(args.project)
    listed(
        args, lambda paging: store.list_conversations(args.branch, filters(args), paging),
        ["id", "began", "status", "messages", "session", "text"],
        lambda row: [row["id"], short(row["created_at"]), row["status"], row["message_count"],
                     row["session_id"], row["title"]],
        "No conversation here.",
    )  # fmt: skip


def start_conversation(args: Namespace) -> None:
    fields = said(args, ("title", "model", *WHO))
    row = client(args.project, makes_store=True).create_conversation(args.branch, fields)
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{row['id']}\tbegun on {args.branch}"))


def show_conversation(args: Namespace) -> None:
    show(args, client(args.project).get_conversation(args.id, args.branch, args.at))


def close_conversation(args: Namespace) -> None:
    row = client(args.project).close_conversation(args.id, args.branch)
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{row['id']}\t{row['status']} on {args.branch}"))


def list_messages(args: Namespace) -> None:
    store, which = client(args.project), said(args, ("role",))
    listed(
        args, lambda paging: store.list_messages(args.id, args.branch, which, paging),
        ["seq", "id", "role", "at", "text"],
        lambda row: [row["sequence_num"], row["id"], row["role"],
                     short(row["said_at"] or row["created_at"]), row["content"]],
        "No message here.",
    )  # fmt: skip


def show_message(args: Namespace) -> None:
    show(args, client(args.project).get_message(args.id, args.branch, args.at))


def write_message(args: Namespace) -> None:
    fields = {
        "role": args.role,
        "content": text_of(args),
        **said(args, ("model", "said_at", "metadata", *WHO)),
    }
    (row,) = client(args.project).write_messages(args.id, args.branch, [fields])
    out = Output(args.format)
    out.show(row, lambda: out.line(f"{row['id']}\tmessage {row['sequence_num']} on {args.branch}"))
