"""The commands on what was said, done and connected, and the texts that teach them."""

import argparse
from collections.abc import Callable
from typing import Any

from day1site.cli import options as o

Add = Callable[..., Any]
TYPES = ("tool_use", "discovery", "decision", "error", "insight")
OUTCOMES = ("success", "error", "timeout")
KINDS = ("claude-code", "codex", "instructions", "chatgpt", "claude")
PROGRAMS = ("claude-code", "cursor", "codex", "gemini", "vscode", "windsurf", "opencode", "print")
ROLES = ("user", "assistant", "tool_call", "tool_result", "system")


def add_capture(commands: Any, command: Add, group: Add) -> None:
    _observations(commands, command, group)
    _relations(commands, command, group)
    _sessions(commands, command, group)
    _conversations(commands, command, group)
    _messages(commands, command, group)
    _importing(commands, command)
    _hook(commands, command)
    _following(commands, command)
    _connecting(commands, command)


def _observations(commands: Any, command: Add, group: Add) -> None:
    write = command(
        commands, "write-observation", "Keep what was noticed or done: a sentence, or a tool call.",
        'day1 write-observation "Retries hide the real error." --type insight\n'
        '  day1 write-observation --tool Bash --input "pytest -q" --output "exit code 1"',
        "write_observation",
    )  # fmt: skip
    write.add_argument("text", metavar="TEXT", nargs="?", help="in words; - reads it from standard input")
    write.add_argument("--type", dest="observation_type", choices=TYPES, help="worked out where not said")
    write.add_argument("--tool", dest="tool_name", metavar="NAME", help="the tool that was called")
    write.add_argument("--input", dest="raw_input", metavar="TEXT", help="what it was given")
    write.add_argument("--output", dest="raw_output", metavar="TEXT", help="what it gave back")
    write.add_argument("--outcome", choices=OUTCOMES, help="worked out where not said")
    write.add_argument("--metadata", type=o.json_object, metavar="JSON")
    o.branch(write)
    o.who(write)
    actions = group(commands, "observations", "list and read observations", "day1 observations --type error")
    for name, about in (
        ("list", "List observations, the newest first."),
        ("timeline", "List what was observed between two times, the newest first."),
    ):
        listing = command(actions, name, about, f"day1 observations {name} --all", "list_observations")
        o.branch(listing)
        o.paging(listing)
        _observed(listing)
        if name == "list":
            o.at(listing)
        else:
            listing.set_defaults(at=None)
    show = command(
        actions, "show", "Show an observation.", "day1 observations show 0197…", "show_observation"
    )
    _one(show, "OBSERVATION_ID")


def _observed(parser: argparse.ArgumentParser) -> None:
    for flag, name, words in (
        ("--type", "observation_type", TYPES),
        ("--outcome", "outcome", OUTCOMES),
        ("--tool", "tool_name", None),
        ("--session", "session_id", None),
        ("--agent", "agent_id", None),
        ("--task", "task_id", None),
    ):
        more: dict[str, Any] = {"choices": words} if words else {}
        parser.add_argument(flag, dest=f"filter_{name}", action="append", metavar="X", **more,
                            help=f"one of {', '.join(words)}" if words else "of one of these")  # fmt: skip
    parser.add_argument("--after", dest="filter_after", metavar="TIME", help="recorded then or later")
    parser.add_argument("--before", dest="filter_before", metavar="TIME", help="recorded before")


def _relations(commands: Any, command: Add, group: Add) -> None:
    write = command(
        commands, "write-relation", "State how two things are connected: stated again, it gets stronger.",
        "day1 write-relation billing depends_on postgres", "write_relation",
    )  # fmt: skip
    write.add_argument("source_entity", metavar="SOURCE")
    write.add_argument("relation_type", metavar="TYPE")
    write.add_argument("target_entity", metavar="TARGET")
    write.add_argument("--properties", type=o.json_object, metavar="JSON", help="such as '{\"port\": 5432}'")
    write.add_argument("--confidence", type=float, metavar="X", help="0 to 1; default 1")
    write.add_argument("--valid-from", metavar="TIME", help="since when it is true in the world")
    write.add_argument("--valid-until", metavar="TIME", help="until when")
    o.branch(write)
    o.who(write)
    graph = command(
        commands, "graph", "Show what is connected to something: the nearest first.",
        "day1 graph billing --depth 3", "graph",
    )  # fmt: skip
    graph.add_argument("entity", metavar="ENTITY")
    graph.add_argument("--depth", type=int, metavar="N", help="steps away, 1 to 6; default 2")
    graph.add_argument("--type", dest="relation_type", metavar="TYPE", help="only edges of this type")
    o.branch(graph)
    o.at(graph)
    actions = group(commands, "relations", "list and close relations", "day1 relations --source billing")
    listing = command(actions, "list", "List relations.", "day1 relations list", "list_relations")
    for flag, name in (("--source", "source"), ("--target", "target"), ("--type", "relation_type")):
        listing.add_argument(flag, dest=name, metavar="NAME")
    listing.add_argument(
        "--open", dest="open_only", action="store_true", default=None, help="not closed ones"
    )
    o.branch(listing)
    o.paging(listing)
    o.at(listing)
    close = command(actions, "close", "Say that it is true no more.", "day1 relations close 0197…",
                    "close_relation")  # fmt: skip
    close.add_argument("id", metavar="RELATION_ID")
    close.add_argument("--valid-until", metavar="TIME", help="default: now")
    o.branch(close)


def _sessions(commands: Any, command: Add, group: Add) -> None:
    actions = group(commands, "sessions", "list, begin, read and end sessions", "day1 sessions --limit 5")
    listing = command(actions, "list", "List sessions, the last begun first.", "day1 sessions list",
                      "list_sessions")  # fmt: skip
    listing.add_argument("--branch", metavar="NAME", help="default: every branch")
    listing.add_argument("--status", choices=("active", "completed", "abandoned"))
    for name in ("agent", "task"):
        listing.add_argument(f"--{name}", dest=f"{name}_id", metavar="ID", help=f"of this {name}")
    o.paging(listing)
    for name, about, run in (
        ("start", "Begin a session, or find it.", "start_session"),
        ("show", "Show a session.", "show_session"),
        ("context", "Show what the next session should know of this one.", "session_context"),
        ("end", "End a session: its conversations end with it.", "end_session"),
    ):
        one = command(actions, name, about, f"day1 sessions {name} s1", run)
        one.add_argument("session_id", metavar="SESSION_ID")
        _session_options(one, name)


def _session_options(parser: argparse.ArgumentParser, action: str) -> None:
    add = parser.add_argument
    if action == "start":
        o.branch(parser)
        add("--path", dest="project_path", metavar="PATH", help="where the work is done")
        add("--parent", dest="parent_session", metavar="ID", help="the session that it goes on from")
        for name in ("agent", "task"):
            add(f"--{name}", dest=f"{name}_id", metavar="ID")
    elif action == "context":
        add("--messages", dest="message_limit", type=int, metavar="N", help="default 50")
        add("--facts", dest="fact_limit", type=int, metavar="N", help="default 20")
    elif action == "end":
        add("--summary", metavar="TEXT", help="what came of it")
        add("--status", choices=("completed", "abandoned"), help="default completed")


def _conversations(commands: Any, command: Add, group: Add) -> None:
    actions = group(
        commands, "conversations", "list, begin, read and close conversations", "day1 conversations --all"
    )
    listing = command(actions, "list", "List conversations, the newest first.", "day1 conversations list",
                      "list_conversations")  # fmt: skip
    for name in ("session", "agent", "task"):
        listing.add_argument(f"--{name}", dest=f"filter_{name}_id", action="append", metavar="ID")
    listing.add_argument("--status", dest="filter_status", action="append", metavar="STATUS",
                         choices=("active", "completed", "archived"))  # fmt: skip
    o.branch(listing)
    o.paging(listing)
    o.at(listing)
    start = command(actions, "start", "Begin a conversation.", 'day1 conversations start --title "Login"',
                    "start_conversation")  # fmt: skip
    start.add_argument("--title", metavar="TEXT")
    start.add_argument("--model", metavar="NAME")
    o.branch(start)
    o.who(start)
    show = command(actions, "show", "Show a conversation.", "day1 conversations show 0197…",
                   "show_conversation")  # fmt: skip
    _one(show, "CONVERSATION_ID")
    close = command(actions, "close", "Close a conversation: it takes no more messages.",
                    "day1 conversations close 0197…", "close_conversation")  # fmt: skip
    close.add_argument("id", metavar="CONVERSATION_ID")
    o.branch(close)


def _messages(commands: Any, command: Add, group: Add) -> None:
    actions = group(commands, "messages", "write and read messages", "day1 messages list 0197… --all")
    listing = command(actions, "list", "List the messages of a conversation, in order.",
                      "day1 messages list 0197… --role user", "list_messages")  # fmt: skip
    listing.add_argument("id", metavar="CONVERSATION_ID")
    listing.add_argument("--role", action="append", choices=ROLES, metavar="ROLE", help=", ".join(ROLES))
    o.branch(listing)
    o.paging(listing)
    o.at(listing)
    show = command(actions, "show", "Show a message.", "day1 messages show 0197…", "show_message")
    _one(show, "MESSAGE_ID")
    write = command(actions, "write", "Append a message to a conversation.",
                    'day1 messages write 0197… user "How long do tokens live?"', "write_message")  # fmt: skip
    write.add_argument("id", metavar="CONVERSATION_ID")
    write.add_argument("role", choices=ROLES, metavar="ROLE", help=", ".join(ROLES))
    write.add_argument("text", metavar="TEXT", help="what was said; - reads it from standard input")
    write.add_argument("--model", metavar="NAME", help="that said it")
    write.add_argument("--said-at", metavar="TIME", help="when it was said, if that was before")
    write.add_argument("--metadata", type=o.json_object, metavar="JSON")
    o.branch(write)
    o.who(write)


def _importing(commands: Any, command: Add) -> None:
    taking = command(
        commands, "import-from", "Import what another program remembers: a second time adds nothing.",
        "day1 import-from claude-code ~/.claude/projects --since 30 --dry-run\n"
        "  day1 import-from instructions .\n"
        "  day1 import-from chatgpt export.zip", "import_from",
    )  # fmt: skip
    taking.add_argument("kind", choices=KINDS, metavar="PROGRAM", help=", ".join(KINDS))
    taking.add_argument("path", metavar="PATH", help="a file, or a folder with all that is below it")
    taking.add_argument("--since", type=int, metavar="DAYS", help="only what went on in these last days")
    taking.add_argument("--dry-run", action="store_true", help="count what would come, write nothing")
    o.branch(taking)


def _following(commands: Any, command: Add) -> None:
    events = command(
        commands, "events", "Follow what happens, a line for each event: until Ctrl-C.",
        "day1 events --branch 'task/*' --kind 'fact.*'", "events",
    )  # fmt: skip
    for name, about in (
        ("branch", "this branch, or a pattern; several times, too; default: every branch"),
        ("kind", "such as fact.write, or a pattern; several times, too; default: everything"),
    ):
        events.add_argument(f"--{name}", action="append", metavar="NAME", help=about)
    events.add_argument(
        "--after",
        dest="last_event_id",
        type=int,
        metavar="ID",
        help="go on after this event; 0: the first",
    )


def _connecting(commands: Any, command: Add) -> None:
    connect = command(
        commands, "connect", "Connect an agent's program: MCP and hooks in its settings, with a way back.",
        "day1 connect claude-code --dry-run\n  day1 connect claude-code --undo", "connect",
    )  # fmt: skip
    connect.add_argument("program", choices=PROGRAMS, metavar="PROGRAM", help=", ".join(PROGRAMS))
    connect.add_argument("--url", metavar="URL", help="of the server; default: DAY1_URL, else this machine's")
    connect.add_argument("--dry-run", action="store_true", help="show the changes, make none")
    command(
        commands, "doctor", "Say which programs are connected, and whether that works.",
        "day1 doctor", "doctor",
    )  # fmt: skip
    connect.add_argument("--undo", action="store_true", help="take everything back, and revoke its key")


def _one(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument("id", metavar=name)
    o.branch(parser)
    o.at(parser)


def _hook(commands: Any, command: Add) -> None:
    hook = command(
        commands, "hook", "Hand an event of an agent's program to Day1: it is read from standard input.",
        "day1 hook --print --client codex", "hook",
    )  # fmt: skip
    hook.add_argument("--client", default="agent", metavar="NAME", help="the program, such as claude-code")
    hook.add_argument("--config", metavar="FILE", help="with url and key; default: ~/.config/day1/hooks.json")
    hook.add_argument(
        "--print", dest="print_command", action="store_true", help="print the command that a program runs"
    )
