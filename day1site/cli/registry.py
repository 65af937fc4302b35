"""All commands: where each is, and its line in the help. A command is imported when it is called for."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import click

from day1site import __version__
from day1site.cli.declared_fields import list_groups
from day1site.cli.parameters import common_options
from day1site.cli.usage import Group, Option

ABOUT = """Memory for AI agents: write facts, find them, work on branches.

It works on the local store, or on a server when DAY1_URL and DAY1_KEY are set."""
EXAMPLES = (
    'day1 write-fact "Deploys run from the main branch only." --category decision',
    'day1 search "where do deploys run from?"',
    "day1 facts --category decision",
    "day1 up",
)
EXIT_STATUS = (
    "exit status: 0 done, 1 an error (one line on standard error), 2 the command line is not understood"
)
COMMANDS = "day1site.cli.commands"
Entry = tuple[Callable[[], click.Command], str]


def lazy_command(path: str, help: str) -> Entry:
    """Return the entry of the command at ``module:name``, as seen from the folder of the commands."""
    module, _, name = path.partition(":")
    return (lambda: getattr(import_module(module, COMMANDS), name)), help


TABLE: dict[str, Entry] = {
    "up": lazy_command(".maintenance:up", "start the server"),
    "celery": lazy_command(".maintenance:celery", "run background work in processes of its own"),
    "test": lazy_command(".maintenance:test", "run the tests"),
    "write-fact": lazy_command(".facts:write_fact", "Store a fact"),
    "search": lazy_command(".facts:search", "Find facts"),
    "why": lazy_command(".facts:why", "Say why a search finds a fact, or why it does not"),
    "facts": lazy_command(".facts:GROUP", "list facts, read and change one"),
    "verify": lazy_command(".verification:verify", "Give your verdict on what a fact says now"),
    "verification": lazy_command(".verification:GROUP", "verify many facts, and measure the judge"),
    "analytics": lazy_command(".analytics:GROUP", "figures of agents and memory"),
    "age": lazy_command(".ageing:GROUP", "archive what is expired, old or over the budget"),
    "branch": lazy_command(".merges:BRANCH", "make, list and archive branches"),
    "merge-request": lazy_command(".merges:GROUP", "ask for merges, decide conflicts, approve and merge"),
    "task": lazy_command(".tasks:GROUP", "share work between agents, each on a branch"),
    "handoff": lazy_command(".handoffs:GROUP", "hand work over to another agent or session"),
    "template": lazy_command(".templates:GROUP", "keep what a branch holds, and begin work from it"),
    "bundle": lazy_command(".bundles:GROUP", "carry knowledge to another project"),
    "snapshot": lazy_command(".snapshots:GROUP", "keep points to go back to"),
    "time-travel": lazy_command(".time_travel:time_travel", "Read what a branch held at a point of its past"),
    "workspace": lazy_command(".workspaces:GROUP", "copy the store to work apart"),
    "eval": lazy_command(".questions:run_eval", "Put the saved questions to a branch"),
    "erase": lazy_command(".erasures:erase", "Remove memory for good, on every branch"),
    "erasures": lazy_command(".erasures:GROUP", "list what was erased, and check it"),
    "limits": lazy_command(".limits:GROUP", "show what is used of the limits"),
    "keys": lazy_command(".keys:GROUP", "make, list and revoke API keys"),
    "import": lazy_command(".import_export:import_file", "Import facts from a file"),
    "export": lazy_command(".import_export:export_file", "Export a branch's facts"),
    "user": lazy_command(".user:GROUP", "reset the second factor of an account"),
    "login": lazy_command(".login:login", "Make a link that logs you in once"),
    "reindex": lazy_command(".maintenance:reindex", "Rebuild the full-text index from the facts"),
    "reembed": lazy_command(".maintenance:reembed", "Give every fact a vector of the model in force"),
    "migrate-store": lazy_command(".migrate_store:migrate_store", "Carry a whole store to another database"),
    "salvage": lazy_command(".salvage:salvage", "Write every row of a damaged store to a new one"),
    "check": lazy_command(".check:check", "Check the whole store, and repair what can be derived"),
    "backup": lazy_command(".backup:backup", "Copy the whole store to a file, or check a copy"),
    "demo": lazy_command(".demo:demo", "Load a memory to look at"),
    "mcp": lazy_command(
        ".mcp:mcp", "Serve MCP on standard input and output, for clients that start their servers"
    ),
    "write-observation": lazy_command(".observations:write_observation", "Keep what was noticed or done"),
    "observations": lazy_command(".observations:GROUP", "list and read observations"),
    "write-relation": lazy_command(".relations:write_relation", "State how two things are connected"),
    "graph": lazy_command(".relations:graph", "Show what is connected to something"),
    "relations": lazy_command(".relations:GROUP", "list and close relations"),
    "sessions": lazy_command(".sessions:GROUP", "list, begin, read and end sessions"),
    "conversations": lazy_command(
        ".conversations:GROUP", "list, begin, fork, compare, read, close, export and import conversations"
    ),
    "cherry-pick": lazy_command(".conversations:cherry_pick", "Copy messages to the end of another"),
    "remember": lazy_command(".instructions:remember", "Learn from what was said, at once"),
    "instructions": lazy_command(".instructions:GROUP", "say what is to be remembered"),
    "messages": lazy_command(".conversations:MESSAGES", "write and read messages"),
    "import-from": lazy_command("..importing.command:import_from", "Import what another program remembers"),
    "service": lazy_command("..connect.service.commands:GROUP", "keep Day1 running as a service"),
    "hook": lazy_command(".hook_command:hook", "Hand an event of an agent's program to Day1"),
    "events": lazy_command(".events:events", "Follow what happens, a line for each event"),
    "context": lazy_command(".context:context", "Show what the next session here would be told"),
    "connect": lazy_command("..connect.command:connect", "Connect an agent's program"),
    "doctor": lazy_command(
        "..connect.doctor:doctor", "Test each connected program, up to what the server stored"
    ),
    "completion": lazy_command(
        "..completion:completion", "Print the script that completes commands in a shell"
    ),
}


def load_group(name: str) -> click.Command:
    """Return the commands on a declared noun: those of its module, else what follows from its operations."""
    if find_spec(f".{name}", COMMANDS) is None:
        from day1site.cli.operation_commands import derive_group

        return derive_group(name)
    return lazy_command(f".{name}:GROUP", "")[0]()


def build() -> Group:
    """Return the program: all groups and commands, none of them imported yet."""
    groups = {name: ((lambda name=name: load_group(name)), help) for name, help in list_groups()}
    program = Group(
        "day1",
        table={**TABLE, **groups},
        help=ABOUT,
        examples=EXAMPLES,
        epilog=EXIT_STATUS,
        subcommand_metavar="COMMAND ...",
    )
    common_options(program)
    program.params.reverse()  # they were declared as for a function, the last one first
    program.params.append(
        Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=print_version,
            help="print the version and end",
        )
    )
    return program


def print_version(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        print(f"day1 {__version__}")
        ctx.exit()
