"""What can be said on the command line, and the texts that teach it."""

import argparse
from typing import Any

from day1site.cli import options as o
from day1site.cli.capture_parser import add_capture

Parser = argparse.ArgumentParser
DEFAULT_ACTIONS = dict.fromkeys(
    (
        "facts", "branch", "keys", "snapshot", "workspace", "observations", "relations", "sessions",
        "conversations",
    ),
    "list",
)  # fmt: skip
WITH_VALUE = ("--format", "--project", "--data-dir")

ABOUT = """Memory for AI agents: write facts, find them, work on branches.

It works on the local store, or on a server when DAY1_URL and DAY1_KEY are set."""

EXAMPLES = """examples:
  day1 write-fact "Deploys run from the main branch only." --category decision
  day1 search "where do deploys run from?"
  day1 facts --category decision
  day1 up

exit status: 0 done, 1 an error (one line on standard error), 2 the command line is not understood"""


def build() -> Parser:
    parser = Parser(
        prog="day1", description=ABOUT, epilog=EXAMPLES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    _common(parser, form="table", project="")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for add in (_server, _facts, _branches, _snapshots, _workspaces, _keys, _files, _upkeep, _demo, _mcp):
        add(commands)
    add_capture(commands, command=_command, group=_group)
    return parser


def parse(argv: list[str]) -> argparse.Namespace:
    """What was said. Raises SystemExit: 0 after --help, 2 where it is not understood."""
    return build().parse_args(_with_default_action(argv))


def _with_default_action(argv: list[str]) -> list[str]:
    """``day1 facts --limit 5`` is ``day1 facts list --limit 5``."""
    place = 0
    while place < len(argv) and argv[place].startswith("-"):
        place += 2 if argv[place] in WITH_VALUE else 1
    action = DEFAULT_ACTIONS.get(argv[place]) if place < len(argv) else None
    after = argv[place + 1] if place + 1 < len(argv) else "--"
    if action is None or after in ("-h", "--help") or not after.startswith("-"):
        return argv
    return [*argv[: place + 1], action, *argv[place + 1 :]]


def _common(parser: Parser, form: Any = argparse.SUPPRESS, project: Any = argparse.SUPPRESS) -> None:
    group = parser.add_argument_group("everywhere")
    group.add_argument(
        "--format", choices=("table", "json"), default=form, help="json prints what the REST API answers"
    )
    group.add_argument(
        "--project", metavar="SLUG", default=project, help="of the local store; default: default"
    )
    # Read before the settings are, by bootstrap.py; here for --help.
    group.add_argument(
        "--data-dir", metavar="DIR", default=argparse.SUPPRESS, help="where the local store is"
    )


def _command(commands: Any, name: str, about: str, example: str, run: str) -> Parser:
    parser = commands.add_parser(
        name, help=about.split(": ")[0].rstrip("."), description=about, epilog=f"example:\n  {example}",
        allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.set_defaults(run=run)
    _common(parser)
    return parser


def _group(commands: Any, name: str, about: str, example: str) -> Any:
    parser = commands.add_parser(
        name, help=about, description=f"{about[0].upper()}{about[1:]}.", epilog=f"example:\n  {example}",
        allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    return parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")


# ---- commands --------------------------------------------------------------------------------------


def _server(commands: Any) -> None:
    for name, about in (("up", "start the server"), ("test", "run the tests")):
        parser = commands.add_parser(name, help=about, add_help=False, prefix_chars="\0")
        parser.add_argument("rest", nargs="*")
        parser.set_defaults(run="manage")


def _facts(commands: Any) -> None:
    write = _command(
        commands, "write-fact", "Store a fact: the same text is stored once.",
        'day1 write-fact "Tokens expire after 15 minutes." --category security --tag auth\n'
        "  git log -1 --format=%B | day1 write-fact - --session s1", "write_fact",
    )  # fmt: skip
    write.add_argument(
        "text", metavar="TEXT", help="what is to be remembered; - reads it from standard input"
    )
    o.branch(write)
    o.content(write)
    o.who(write)
    write.add_argument("--parent", dest="parent_id", metavar="ID", help="the fact that it replaces")
    write.add_argument(
        "--propose", action="store_true", help="keep it, unsearched, until somebody activates it"
    )
    write.add_argument(
        "--no-dedup", dest="deduplicate", action="store_false", help="store it even when the text is there"
    )
    search = _command(
        commands, "search", "Find facts: by meaning and by words, the best first.",
        'day1 search "how long do logins last?" --branch \'task/*\' --limit 5', "search",
    )  # fmt: skip
    search.add_argument("query", metavar="QUERY", help="a question or some words")
    o.branch(search, many=True)
    o.wish(search)
    search.add_argument(
        "--max-tokens", type=int, metavar="N", help="as many essences as fit into so many tokens of a prompt"
    )
    o.filters(search)
    why = _command(
        commands, "why", "Say why a search finds a fact, or why it does not.",
        'day1 why 0197… "how long do logins last?"', "why",
    )  # fmt: skip
    why.add_argument("id", metavar="FACT_ID")
    why.add_argument("query", metavar="QUERY")
    o.branch(why)
    o.wish(why)
    o.filters(why)
    _fact_actions(
        _group(commands, "facts", "list facts, read and change one", "day1 facts --status archived")
    )
    _verify(commands)


def _verify(commands: Any) -> None:
    verify = _command(
        commands, "verify", "Give your verdict on what a fact says now.",
        'day1 verify 0197… verified --reason "read the code"', "verify",
    )  # fmt: skip
    verify.add_argument("id", metavar="FACT_ID")
    verify.add_argument("verdict", choices=("verified", "invalidated", "unverified"))
    verify.add_argument("--reason", default="", metavar="TEXT")
    o.branch(verify)
    o.expecting(verify)


def _fact_actions(actions: Any) -> None:
    listing = _command(
        actions, "list", "List facts of every status, the newest first.",
        "day1 facts list --category decision --all", "list_facts",
    )  # fmt: skip
    o.branch(listing)
    o.paging(listing)
    o.at(listing)
    o.filters(listing)
    for name, about, run in (
        ("show", "Show everything about a fact.", "show_fact"),
        ("history", "List the versions of a fact, the newest first.", "fact_history"),
        ("archive", "Retire a fact: not searched, not deleted, restorable.", "change_fact"),
        ("restore", "Bring an archived fact back.", "change_fact"),
        ("delete", "Delete a fact on this branch: its history stays.", "change_fact"),
        ("supersede", "Write a fact that replaces this one.", "supersede"),
    ):
        tail = ' "Tokens expire after 30 minutes."' if name == "supersede" else ""
        one = _command(actions, name, about, f"day1 facts {name} 0197…{tail}", run)
        one.add_argument("id", metavar="FACT_ID")
        if name == "supersede":
            one.add_argument("text", metavar="TEXT", help="the new text; - reads it from standard input")
            o.content(one)
            o.who(one)
        o.branch(one)
        if name == "show":
            o.at(one)
        elif name == "history":
            o.paging(one)
        else:
            o.expecting(one)
    about = "List what has to do with a fact, the nearest first."
    related = _command(actions, "related", about, "day1 facts related 0197… --depth 2", "related")
    related.add_argument("id", metavar="FACT_ID")
    related.add_argument("--depth", type=int, metavar="N", help="relations between, 0 to 6; default 1")
    related.add_argument("--limit", type=int, metavar="N", help="at most so many, 1 to 100; default 10")
    o.branch(related)
    o.at(related)


def _branches(commands: Any) -> None:
    actions = _group(commands, "branch", "make, list and archive branches", "day1 branch create task/login")
    create = _command(
        actions, "create", "Make a branch: it starts with all that its parent holds.",
        'day1 branch create task/login --purpose "try refresh tokens"', "create_branch",
    )  # fmt: skip
    create.add_argument("name", metavar="NAME")
    create.add_argument("--parent", default="main", metavar="NAME", help="default main")
    create.add_argument("--purpose", metavar="TEXT")
    o.at(create)
    listing = _command(actions, "list", "List the branches by name.", "day1 branch list", "list_branches")
    listing.add_argument("--archived", action="store_true", help="archived ones too")
    o.paging(listing)
    log = _command(
        actions, "log", "List a branch's commits, the newest first.", "day1 branch log main", "log"
    )
    log.add_argument("name", metavar="NAME", nargs="?", default="main", help="default main")
    o.paging(log)
    diff = _command(
        actions, "diff", "List what a branch shows otherwise than when it began: or than another branch.",
        "day1 branch diff task/login\n  day1 branch diff task/login --against main --type link", "diff",
    )  # fmt: skip
    diff.add_argument("name", metavar="NAME")
    diff.add_argument("--against", metavar="NAME", help="compare with this branch as it is now")
    diff.add_argument("--against-at", metavar="POINT", help="or with this point of it (of the parent)")
    diff.add_argument("--type", choices=("fact", "link"), help="default fact")
    diff.add_argument("--change", action="append", choices=("added", "changed", "removed"))
    o.paging(diff)
    o.at(diff)
    for name, about in (
        ("archive", "Archive a branch: no more writes, not listed, nothing deleted."),
        ("restore", "Take an archived branch back into use."),
        ("stats", "Count what a branch holds and who works on it."),
    ):
        one = _command(actions, name, about, f"day1 branch {name} task/login",
                       "stats" if name == "stats" else "move_branch")  # fmt: skip
        one.add_argument("name", metavar="NAME")


def _snapshots(commands: Any) -> None:
    actions = _group(commands, "snapshot", "keep points to go back to", "day1 snapshot create monday --store")
    create = _command(
        actions, "create", "Keep a point of a branch, or the whole store: read it and go back to it later.",
        "day1 snapshot create before-merge --branch main\n  day1 snapshot create monday --store",
        "create_snapshot",
    )  # fmt: skip
    create.add_argument("name", metavar="NAME")
    create.add_argument("--store", action="store_true", help="a frozen copy of everything")
    create.add_argument("--branch", metavar="NAME", help="default main")
    o.at(create)
    create.add_argument("--description", metavar="TEXT")
    listing = _command(
        actions, "list", "List the snapshots, the newest first.", "day1 snapshot list", "list_snapshots"
    )
    listing.add_argument("--kind", choices=("branch", "store"))
    listing.add_argument("--branch", metavar="NAME", help="points of this branch")
    o.paging(listing)
    restore = _command(
        actions, "restore", "Go back to a snapshot: by new commits, nothing leaves the history.",
        "day1 snapshot restore 0197… --dry-run", "restore_snapshot",
    )  # fmt: skip
    restore.add_argument("id", metavar="SNAPSHOT_ID")
    restore.add_argument("--dry-run", action="store_true", help="tell what would be done, do nothing")
    drop = _command(
        actions,
        "drop",
        "Forget a snapshot, and remove its copy.",
        "day1 snapshot drop 0197…",
        "drop_snapshot",
    )
    drop.add_argument("id", metavar="SNAPSHOT_ID")
    window = _command(
        actions, "window", "How long the database itself keeps every state: MatrixOne does, SQLite does not.",
        "day1 snapshot window --days 7", "window",
    )  # fmt: skip
    window.add_argument("--days", type=int, metavar="N", help="keep so many, 1 to 100; 0 ends it")


def _workspaces(commands: Any) -> None:
    actions = _group(commands, "workspace", "copy the store to work apart", "day1 workspace create cleaning")
    create = _command(
        actions, "create", "Copy the store to work in apart: promoted as a whole later, or dropped.",
        "day1 workspace create cleaning", "create_workspace",
    )  # fmt: skip
    create.add_argument("name", metavar="NAME")
    create.add_argument("--description", metavar="TEXT")
    listing = _command(
        actions, "list", "List the workspaces, the newest first.", "day1 workspace list", "list_workspaces"
    )
    listing.add_argument("--state", choices=("open", "promoted", "dropped"))
    o.paging(listing)
    for name, about, run in (
        ("diff", "Show what was done in a workspace.", "diff_workspace"),
        ("promote", "Take over all that was done in it: while the store has not moved.", "promote_workspace"),
        ("drop", "Throw a workspace away.", "drop_workspace"),
    ):
        one = _command(actions, name, about, f"day1 workspace {name} 0197…", run)
        one.add_argument("id", metavar="WORKSPACE_ID")


def _keys(commands: Any) -> None:
    actions = _group(commands, "keys", "make, list and revoke API keys", "day1 keys create ci --scope write")
    create = _command(
        actions, "create", "Make an API key: its token is shown this once.",
        "day1 keys create ci --scope write --branch-pattern 'task/*'", "create_key",
    )  # fmt: skip
    create.add_argument("label", metavar="LABEL")
    create.add_argument(
        "--scope", dest="scopes", action="append", metavar="SCOPE",
        help="read, propose, write (default), curate, merge, admin; each includes those before it",
    )  # fmt: skip
    create.add_argument("--branch-pattern", dest="branch_patterns", action="append", metavar="PATTERN",
                        help="only these branches, such as 'task/*'; default: all")  # fmt: skip
    create.add_argument("--agent", dest="agent_id", metavar="ID", help="bind it to this agent")
    create.add_argument("--default-branch", metavar="NAME",
                        help="where MCP works when a call names no branch; default: main")  # fmt: skip
    create.add_argument("--rate", dest="rate_per_minute", type=int, metavar="N", help="requests per minute")
    create.add_argument("--expires-at", metavar="TIME")
    listing = _command(actions, "list", "List the keys, the newest first.", "day1 keys list", "list_keys")
    o.paging(listing)
    revoke = _command(
        actions, "revoke", "Revoke a key: it opens nothing any more.", "day1 keys revoke 0197…", "revoke_key"
    )
    revoke.add_argument("id", metavar="KEY_ID")


def _files(commands: Any) -> None:
    taking = _command(
        commands, "import", "Import facts from a file: one JSON object a line.",
        'day1 import facts.jsonl --dry-run\n'
        '  echo \'{"fact_text": "Tea is in the kitchen."}\' | day1 import -', "import_file",
    )  # fmt: skip
    taking.add_argument("file", metavar="FILE.jsonl", help="- reads standard input")
    o.branch(taking)
    taking.add_argument(
        "--dry-run", action="store_true", help="count new, known and broken lines, write nothing"
    )
    giving = _command(
        commands, "export", "Export a branch's facts: one JSON object a line, as import reads it.",
        "day1 export --output facts.jsonl", "export_file",
    )  # fmt: skip
    o.branch(giving)
    o.at(giving)
    giving.add_argument("--output", metavar="FILE", help="default: standard output")
    giving.add_argument("--include-private", action="store_true", help="private facts stay here otherwise")


def _upkeep(commands: Any) -> None:
    _command(commands, "reindex", "Rebuild the full-text index from the facts.", "day1 reindex", "reindex")
    again = _command(
        commands, "reembed", "Give every fact a vector of the model in force: after another one was set.",
        "day1 reembed\n  DAY1_EMBEDDER=openai day1 reembed --forget-others", "reembed",
    )  # fmt: skip
    again.add_argument("--forget-others", action="store_true", help="then delete the vectors of other models")
    move = _command(
        commands, "migrate-store", "Carry a whole store to another database: with history, keys and audit.",
        "day1 migrate-store --to matrixone://user:password@host:6001/day1", "migrate_store",
    )  # fmt: skip
    move.add_argument("--to", required=True, metavar="URL", help="as in DATABASE_URL; new, or left half done")
    move.add_argument(
        "--from", dest="source", metavar="URL", help="default: DATABASE_URL, or the local store"
    )
    backup = _command(
        commands, "backup", "Copy the whole store to a file while it is in use.",
        "day1 backup day1-monday.sqlite3", "backup",
    )  # fmt: skip
    backup.add_argument("file", metavar="FILE")
    backup.add_argument("--force", action="store_true", help="replace the file if it is there")


def _demo(commands: Any) -> None:
    demo = _command(
        commands, "demo", "Load a memory to look at: half a year of a made-up team, in a project of its own.",
        "day1 demo\n  day1 demo --remove", "demo",
    )  # fmt: skip
    demo.add_argument("--remove", action="store_true", help="take it out of the store again")
    demo.add_argument("--yes", action="store_true", help="do not ask before it is removed")
    demo.add_argument("--force", action="store_true", help="remove it with what others wrote into it, too")


def _mcp(commands: Any) -> None:
    mcp = _command(
        commands, "mcp", "Serve MCP on standard input and output, for clients that start their servers.",
        "day1 mcp --branch task/login", "mcp",
    )  # fmt: skip
    mcp.add_argument(
        "--branch", default="", metavar="NAME", help="where a call works that names none; default: main"
    )
