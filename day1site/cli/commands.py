"""All commands: where each is, and its line in the help. A command is imported when it is called for."""

from collections.abc import Callable
from importlib import import_module

import click

from day1site.cli.declared_fields import list_groups
from day1site.cli.parameters import common_options
from day1site.cli.usage import Group

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
Entry = tuple[Callable[[], click.Command], str]


def lazy_command(path: str, help: str) -> Entry:
    """Return the entry of the command that stands at ``module:name``."""
    module, _, name = path.partition(":")
    return (lambda: getattr(import_module(f"day1site.cli.{module}"), name)), help


def group(name: str, help: str, example: str, default: str, **actions: Entry) -> Entry:
    """Return the entry of a group of commands on one noun."""
    return (lambda: build_group(name, help, example, default, actions)), help


def build_group(name: str, help: str, example: str, default: str, actions: dict[str, Entry]) -> Group:
    return Group(
        name,
        table=actions,
        default=default,
        help=f"{help[0].upper()}{help[1:]}.",
        examples=(example,),
        subcommand_metavar="ACTION ...",
        no_args_is_help=False,
    )


TABLE: dict[str, Entry] = {
    "up": lazy_command("maintenance:up", "start the server"),
    "celery": lazy_command("maintenance:celery", "run background work in processes of its own"),
    "test": lazy_command("maintenance:test", "run the tests"),
    "write-fact": lazy_command("facts:write_fact", "Store a fact"),
    "search": lazy_command("facts:search", "Find facts"),
    "why": lazy_command("facts:why", "Say why a search finds a fact, or why it does not"),
    "facts": group(
        "facts",
        "list facts, read and change one",
        "day1 facts --status archived",
        "list",
        list=lazy_command("facts:list_facts", "List facts of every status, the newest first"),
        show=lazy_command("facts:show", "Show everything about a fact"),
        history=lazy_command("facts:history", "List the versions of a fact, the newest first"),
        accept=lazy_command("facts:accept", "Accept proposals"),
        refuse=lazy_command("facts:refuse", "Refuse proposals"),
        archive=lazy_command("facts:archive", "Retire a fact"),
        restore=lazy_command("facts:restore", "Bring an archived fact back"),
        delete=lazy_command("facts:delete", "Delete a fact on this branch"),
        supersede=lazy_command("facts:supersede", "Write a fact that replaces this one"),
        pin=lazy_command("facts:pin", "Pin facts"),
        unpin=lazy_command("facts:unpin", "Unpin facts"),
        related=lazy_command("facts:related", "List what has to do with a fact, the nearest first"),
    ),
    "verify": lazy_command("verification:verify", "Give your verdict on what a fact says now"),
    "verification": group(
        "verification",
        "verify many facts, and measure the judge",
        "day1 verification batch --limit 200",
        "jobs",
        batch=lazy_command("verification:start_batch", "Verify facts of a branch"),
        jobs=lazy_command("verification:list_jobs", "List the batches, the newest first"),
        job=lazy_command("verification:show_one", "Show how far a batch is"),
        summary=lazy_command("verification:summary", "Count the facts of a branch by verdict"),
        gate=lazy_command("verification:check_gate", "Say whether a branch passes the verification gate"),
        calibration=lazy_command("verification:calibration", "Compare the judge with people's verdicts"),
    ),
    "analytics": group(
        "analytics",
        "figures of agents and memory",
        "day1 analytics --days 7",
        "overview",
        overview=lazy_command("analytics:overview", "Show what a branch holds, and what happened there"),
        session=lazy_command("analytics:session", "Show what a session did"),
        agent=lazy_command("analytics:agent", "Show what an agent did, and what became of its facts"),
        trends=lazy_command("analytics:trends", "Show what was written in each day or hour"),
        conversation=lazy_command("analytics:conversation", "Show who said how much in a conversation"),
        curation=lazy_command("analytics:curation", "Show verdicts, answers, and what is junk"),
    ),
    "age": group(
        "age",
        "archive what is expired, old or over the budget",
        "day1 age --dry-run",
        "run",
        run=lazy_command("ageing:run", "Archive the facts of a branch that have aged"),
        runs=lazy_command("ageing:list_runs", "List the runs on a branch, the newest first"),
        undo=lazy_command("ageing:undo", "Bring back what a run archived"),
        pressure=lazy_command("ageing:pressure", "Show how full a branch is"),
    ),
    "branch": group(
        "branch",
        "make, list and archive branches",
        "day1 branch create task/login",
        "list",
        create=lazy_command("branches:create", "Make a branch"),
        list=lazy_command("branches:list_branches", "List the branches by name"),
        log=lazy_command("branches:log", "List a branch's commits, the newest first"),
        diff=lazy_command("branches:diff", "List what a branch changed since it left its parent"),
        archive=lazy_command("branches:archive", "Archive a branch"),
        restore=lazy_command("branches:restore", "Take an archived branch back into use"),
        stats=lazy_command("branches:stats", "Count what a branch holds and who works on it"),
        topology=lazy_command("topology:topology", "Show the tree of branches"),
        enrich=lazy_command("topology:enrich", "Change what is kept about a branch"),
        expired=lazy_command("topology:expired", "List branches whose days are over"),
        merge=lazy_command("merges:merge_branch", "Merge a branch into another"),
        **{"auto-archive": lazy_command("topology:auto_archive", "Archive branches whose days are over")},
    ),
    "merge-request": group(
        "merge-request",
        "ask for merges, decide conflicts, approve and merge",
        "day1 merge-request create task/login",
        "list",
        create=lazy_command("merges:create", "Ask for a merge"),
        list=lazy_command("merges:list_requests", "List merge requests, the newest first"),
        show=lazy_command("merges:show", "Show a merge request with its checks and approvals"),
        plan=lazy_command("merges:plan", "List what a merge request would merge, and what was decided"),
        decide=lazy_command("merges:decide", "Decide conflicts"),
        approve=lazy_command("merges:approve", "Approve a merge request as its branch is now"),
        withdraw=lazy_command("merges:withdraw", "Take back your approval, or a decision"),
        reject=lazy_command("merges:reject", "Close a merge request without a merge"),
        merge=lazy_command("merges:merge", "Merge a merge request whose checks pass"),
        revert=lazy_command("merges:revert", "Take the merge of a request back by a new commit"),
    ),
    "task": group(
        "task",
        "share work between agents, each on a branch",
        'day1 task create "Fix the login" --objective "Find the cause" --objective "Mend it"',
        "list",
        create=lazy_command("tasks:create", "Make a task with its branch"),
        list=lazy_command("tasks:list_tasks", "List tasks, the newest first"),
        show=lazy_command("tasks:show", "Show a task, its objectives and its agents"),
        context=lazy_command("tasks:context", "Show what an agent should know of a task"),
        join=lazy_command("tasks:join", "Join a task: it makes a branch for the agent"),
        objective=lazy_command("tasks:objective", "Change an objective's state, or note something on it"),
        **{"complete-agent": lazy_command("tasks:complete_agent", "Merge an agent's branch into the task's")},
        complete=lazy_command("tasks:complete", "Complete a task: offer its durable facts to the parent"),
        cancel=lazy_command("tasks:cancel", "Cancel a task and archive its branches"),
    ),
    "handoff": group(
        "handoff",
        "hand work over to another agent or session",
        'day1 handoff create --from task/login/ada --to task/login/bob --instructions "Mend the clock."',
        "list",
        create=lazy_command("handoffs:create", "Hand work over"),
        list=lazy_command("handoffs:list_handoffs", "List handoffs, the newest first"),
        show=lazy_command("handoffs:show", "Show a handoff with its packet"),
        accept=lazy_command("handoffs:accept", "Accept a handoff"),
        reject=lazy_command("handoffs:reject", "Reject a handoff with a reason"),
    ),
    "template": group(
        "template",
        "keep what a branch holds, and begin work from it",
        "day1 template instantiate bug-fix task/mobile-login",
        "list",
        create=lazy_command("templates:create", "Make a template of a branch"),
        list=lazy_command("templates:list_templates", "List templates by name"),
        find=lazy_command("templates:find", "Find the template that fits a task"),
        show=lazy_command("templates:show", "Show a template with its versions and uses"),
        instantiate=lazy_command("templates:instantiate", "Begin a branch from a template"),
        update=lazy_command("templates:update", "Add a version that holds what a branch shows"),
        diff=lazy_command("templates:diff", "List what two versions show differently"),
        deprecate=lazy_command("templates:deprecate", "Deprecate a template"),
        outcome=lazy_command("templates:outcome", "Say what came of the work on a branch"),
    ),
    "bundle": group(
        "bundle",
        "carry knowledge to another project",
        "day1 bundle create payments --branch main",
        "list",
        create=lazy_command("bundles:create", "Make a bundle of what a branch shows"),
        list=lazy_command("bundles:list_bundles", "List bundles, the newest first"),
        show=lazy_command("bundles:show", "Show what a bundle holds"),
        export=lazy_command("bundles:export", "Write the document of a bundle to a file"),
        upload=lazy_command("bundles:upload", "Import the document of a bundle from a file"),
        **{"import": lazy_command("bundles:import_stored", "Import a stored bundle on a branch")},
        delete=lazy_command("bundles:delete", "Delete a bundle"),
        key=lazy_command("bundles:show_key", "Show the public key with which the project signs"),
        trust=lazy_command("bundles:trust", "Trust the key of somebody else"),
        trusted=lazy_command("bundles:list_trusted", "List the keys that the project trusts"),
        distrust=lazy_command("bundles:distrust", "Trust a key no more"),
    ),
    "snapshot": group(
        "snapshot",
        "keep points to go back to",
        "day1 snapshot create monday --store",
        "list",
        create=lazy_command("snapshots:create", "Keep a point of a branch, or the whole store"),
        list=lazy_command("snapshots:list_snapshots", "List the snapshots, the newest first"),
        restore=lazy_command("snapshots:restore", "Go back to a snapshot"),
        drop=lazy_command("snapshots:drop", "Forget a snapshot, and remove its copy"),
        window=lazy_command("snapshots:window", "How long the database itself keeps every state"),
    ),
    "time-travel": lazy_command("time_travel:time_travel", "Read what a branch held at a point of its past"),
    "workspace": group(
        "workspace",
        "copy the store to work apart",
        "day1 workspace create cleaning",
        "list",
        create=lazy_command("workspaces:create", "Copy the store to work in apart"),
        list=lazy_command("workspaces:list_workspaces", "List the workspaces, the newest first"),
        diff=lazy_command("workspaces:diff", "Show what was done in a workspace"),
        promote=lazy_command("workspaces:promote", "Take over all that was done in it"),
        drop=lazy_command("workspaces:drop", "Throw a workspace away"),
    ),
    "eval": lazy_command("questions:run_eval", "Put the saved questions to a branch"),
    "erase": lazy_command("erasures:erase", "Remove memory for good, on every branch"),
    "erasures": group(
        "erasures",
        "list what was erased, and check it",
        "day1 erasures show 0197…",
        "list",
        list=lazy_command("erasures:list_erasures", "List the erasures, the newest first"),
        show=lazy_command("erasures:show", "Show an erasure, and check that nothing of it is back"),
    ),
    "keys": group(
        "keys",
        "make, list and revoke API keys",
        "day1 keys create ci --scope write",
        "list",
        create=lazy_command("keys:create", "Make an API key"),
        list=lazy_command("keys:list_keys", "List the keys, the newest first"),
        revoke=lazy_command("keys:revoke", "Revoke a key"),
    ),
    "import": lazy_command("import_export:import_file", "Import facts from a file"),
    "export": lazy_command("import_export:export_file", "Export a branch's facts"),
    "reindex": lazy_command("maintenance:reindex", "Rebuild the full-text index from the facts"),
    "reembed": lazy_command("maintenance:reembed", "Give every fact a vector of the model in force"),
    "migrate-store": lazy_command("migrate_store:migrate_store", "Carry a whole store to another database"),
    "salvage": lazy_command("salvage:salvage", "Write every row of a damaged store to a new one"),
    "check": lazy_command("check:check", "Check the whole store, and repair what can be derived"),
    "backup": lazy_command("backup:backup", "Copy the whole store to a file, or check a copy"),
    "demo": lazy_command("demo:demo", "Load a memory to look at"),
    "mcp": lazy_command(
        "mcp:mcp", "Serve MCP on standard input and output, for clients that start their servers"
    ),
    "write-observation": lazy_command("observations:write_observation", "Keep what was noticed or done"),
    "observations": group(
        "observations",
        "list and read observations",
        "day1 observations --type error",
        "list",
        list=lazy_command("observations:list_observations", "List observations, the newest first"),
        timeline=lazy_command(
            "observations:timeline", "List what was observed between two times, the newest first"
        ),
        show=lazy_command("observations:show", "Show an observation"),
    ),
    "write-relation": lazy_command("relations:write_relation", "State how two things are connected"),
    "graph": lazy_command("relations:graph", "Show what is connected to something"),
    "relations": group(
        "relations",
        "list and close relations",
        "day1 relations --source billing",
        "list",
        list=lazy_command("relations:list_relations", "List relations"),
        close=lazy_command("relations:close", "Say that it is true no more"),
    ),
    "sessions": group(
        "sessions",
        "list, begin, read and end sessions",
        "day1 sessions --limit 5",
        "list",
        list=lazy_command("sessions:list_sessions", "List sessions, the last begun first"),
        start=lazy_command("sessions:start", "Begin a session, or find it"),
        show=lazy_command("sessions:show", "Show a session"),
        context=lazy_command("sessions:context", "Show what the next session should know of this one"),
        end=lazy_command("sessions:end", "End a session"),
    ),
    "conversations": group(
        "conversations",
        "list, begin, fork, compare, read, close, export and import conversations",
        "day1 conversations --all",
        "list",
        list=lazy_command("conversations:list_conversations", "List conversations, the newest first"),
        start=lazy_command("conversations:start", "Begin a conversation"),
        fork=lazy_command("conversations:fork", "Fork a conversation at a message"),
        show=lazy_command("conversations:show", "Show a conversation"),
        close=lazy_command("conversations:close", "Close a conversation"),
        compact=lazy_command("comparisons:compact", "Summarize the earlier messages of a conversation"),
        diff=lazy_command("comparisons:diff", "Show the differences of two conversations by message"),
        export=lazy_command("comparisons:export", "Write a conversation to a file"),
        **{
            "semantic-diff": lazy_command("comparisons:semantic_diff", "Show how two conversations differ"),
            "import": lazy_command("comparisons:import_file", "Store the conversation of a file"),
        },
    ),
    "cherry-pick": lazy_command("conversations:cherry_pick", "Copy messages to the end of another"),
    "remember": lazy_command("instructions:remember", "Learn from what was said, at once"),
    "instructions": group(
        "instructions",
        "say what is to be remembered",
        "day1 instructions set --preset assistant",
        "show",
        show=lazy_command("instructions:show", "Show what the project wants remembered"),
        set=lazy_command("instructions:set_instructions", "Set what the project wants remembered"),
        versions=lazy_command(
            "instructions:list_versions", "List the versions of the instructions, the newest first"
        ),
    ),
    "messages": group(
        "messages",
        "write and read messages",
        "day1 messages list 0197… --all",
        "",
        list=lazy_command("messages:list_messages", "List the messages of a conversation, in order"),
        show=lazy_command("messages:show", "Show a message"),
        write=lazy_command("messages:write", "Append a message to a conversation"),
    ),
    "import-from": lazy_command("importing.command:import_from", "Import what another program remembers"),
    "hook": lazy_command("hook_command:hook", "Hand an event of an agent's program to Day1"),
    "events": lazy_command("events:events", "Follow what happens, a line for each event"),
    "context": lazy_command("context:context", "Show what the next session here would be told"),
    "connect": lazy_command("connect.command:connect", "Connect an agent's program"),
    "doctor": lazy_command(
        "connect.doctor:doctor", "Test each connected program, up to what the server stored"
    ),
    "completion": lazy_command(
        "completion:completion", "Print the script that completes commands in a shell"
    ),
}


def build() -> Group:
    """Return the program: all groups and commands, none of them imported yet."""
    groups = {name: lazy_command(f"{name}:GROUP", help) for name, help in list_groups()}
    program = Group(
        "day1",
        table={**TABLE, **groups},
        help=ABOUT,
        examples=EXAMPLES,
        epilog=EXIT_STATUS,
        subcommand_metavar="COMMAND ...",
        no_args_is_help=False,
    )
    common_options(program)
    program.params.reverse()  # they were declared as for a function, the last one first
    return program
