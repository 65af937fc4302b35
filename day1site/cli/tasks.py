"""The commands on agents' tasks."""

from typing import Any

from day1site.cli.declared_fields import field_options, filter_options, split_filters
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import WHOLE, argument, drop_empty, listing_options, option
from day1site.cli.rest import Answer

task_argument = argument("task", "TASK")
agent_option = option("--agent", "agent_id", metavar="ID", help="who it is; default: the agent of the key")
result_option = field_options("task", "option", "update")


@command(
    "create",
    "Make a task with its branch task/NAME, which its agents branch off.",
    'day1 task create "Fix the login" --objective "Find the cause" --objective "Mend it"',
)
@argument("name", "NAME")
@field_options("task", "option", "create")
def create(run: Invocation, **options: Any) -> None:
    row = run.open_client(makes_store=True).create_task(drop_empty(options))
    run.show_line(row, f"{row['slug']}\tmade on {row['branch']}, objectives: {len(row['objectives'])}")


@command("list", "List tasks, the newest first.", "day1 task list --state active")
@filter_options("task")
@listing_options
def list_tasks(run: Invocation, **options: Any) -> None:
    filters, options = split_filters("task", options)
    client = run.open_client()
    run.show_list(
        lambda paging: client.list_tasks(filters, paging),
        options,
        ["task", "state", "done", "agents", "made", "name"],
        task_cells,
        "No task here.",
    )


def task_cells(row: Answer) -> list[Any]:
    agents = [agent["agent_id"] for agent in row["agents"]]
    return [row["slug"], row["state"], count_done(row), agents, short_time(row["created_at"]), row["name"]]


def count_done(row: Answer) -> str:
    done = sum(one["state"] == "done" for one in row["objectives"])
    return f"{done}/{len(row['objectives'])}"


@command("show", "Show a task, its objectives and its agents.", "day1 task show fix-login")
@task_argument
def show(run: Invocation, task: str) -> None:
    row = run.open_client().get_task(task)
    run.show(row, lambda out: print_task(out, row))


def print_task(out: Output, row: Answer) -> None:
    out.pairs({name: value for name, value in row.items() if name not in ("objectives", "agents")})
    if row["objectives"]:
        steps = [
            [one["n"], one["state"], one["agent_id"], one["text"], one["note"]] for one in row["objectives"]
        ]
        out.table(["n", "state", "agent", "objective", "note"], steps)
    if row["agents"]:
        agents = [
            [one["agent_id"], one["state"], one["open_conflicts"], one["branch"]] for one in row["agents"]
        ]
        out.table(["agent", "state", "conflicts", "branch"], agents)


@command(
    "context", "Show what an agent should know of a task.", "day1 task context fix-login --max-tokens 800"
)
@task_argument
@option("--max-tokens", type=WHOLE, metavar="N", help="what the facts may cost in a prompt; default 1500")
def context(run: Invocation, task: str, **options: Any) -> None:
    answer = run.open_client().get_task_context(task, drop_empty(options))
    run.show(answer, lambda out: print_context(out, answer))


def print_context(out: Output, answer: Answer) -> None:
    print_task(out, answer["task"])
    learned = [(one["agent"]["agent_id"], fact) for one in answer["agents"] for fact in one["facts"]]
    learned += [(answer["task"]["branch"], fact) for fact in answer["facts"]]
    if learned:
        rows = [[who, fact["id"], fact["category"], fact["essence"]] for who, fact in learned]
        out.table(["learned by", "id", "category", "text"], rows)
    if answer["archived"]:
        note(f"{answer['task']['branch']} is archived: nothing is merged into it until it is restored.")
    print_conflicts(out, answer["conflicts"])


def print_conflicts(out: Output, conflicts: list[Answer]) -> None:
    """Print what a merge left for a decision, and how it is settled."""
    if not conflicts:
        return
    rows = [[one["id"], one["reason"], one["branch"], one["line"]] for one in conflicts]
    out.table(["conflict", "reason", "branch", "text"], rows)
    note(f"Not merged. Decide on them and merge {conflicts[0]['branch']} into {conflicts[0]['into']} again.")


@command("join", "Join a task: it makes a branch for the agent.", "day1 task join fix-login --agent claude")
@task_argument
@agent_option
def join(run: Invocation, task: str, **options: Any) -> None:
    answer = run.open_client().join_task(task, drop_empty(options))
    branch, state = answer["agent"]["branch"], "joined" if answer["created"] else "joined already"
    run.show_line(answer, f"{branch}\t{state}; --branch {branch} writes there")


@command(
    "objective",
    "Change an objective's state, or note something on it.",
    "day1 task objective fix-login 1 --state active",
    'day1 task objective fix-login 1 --state done --note "The clock was wrong."',
)
@task_argument
@argument("n", "N", type=WHOLE)
@field_options("objective", "option", "update")
@agent_option
def objective(run: Invocation, task: str, n: int, **options: Any) -> None:
    row = run.open_client().update_objective(task, n, drop_empty(options))
    run.show_line(row, f"{row['n']}\t{row['state']}")


@command(
    "complete-agent",
    "Merge an agent's branch into the task's: its part is completed, conflicts are named.",
    "day1 task complete-agent fix-login claude",
)
@task_argument
@argument("agent_id", "AGENT")
def complete_agent(run: Invocation, task: str, agent_id: str) -> None:
    answer = run.open_client().complete_agent(task, agent_id)
    run.show(answer, lambda out: print_completed_agent(out, answer))


def print_completed_agent(out: Output, answer: Answer) -> None:
    row = answer["agent"]
    out.line(f"{row['agent_id']}\t{row['state']}, conflicts: {row['open_conflicts']}")
    print_conflicts(out, answer["conflicts"])


@command(
    "complete",
    "Complete a task: offer its durable facts to the parent in a merge request.",
    'day1 task complete fix-login --result "The clock is set by NTP now."',
)
@task_argument
@result_option
def complete(run: Invocation, task: str, **options: Any) -> None:
    answer = run.open_client().end_task("complete", task, drop_empty(options))
    run.show(answer, lambda out: print_completed(out, answer))


def print_completed(out: Output, answer: Answer) -> None:
    row, count = answer["task"], len(answer["durable"])
    request = row["merge_request_id"]
    offered = f"{count} facts offered to {row['parent']} in {request}" if request else "nothing to offer"
    out.line(f"{row['slug']}\tcompleted, {offered}")
    if answer["left"]:
        note(f"Not merged, their part was not completed: {', '.join(answer['left'])}.")
    if answer["conflicting"]:
        note(f"Conflicts wait on the branches of {', '.join(answer['conflicting'])}.")


@command(
    "cancel",
    "Cancel a task and archive its branches: nothing is merged, nothing is deleted.",
    "day1 task cancel fix-login",
)
@task_argument
@result_option
def cancel(run: Invocation, task: str, **options: Any) -> None:
    row = run.open_client().end_task("cancel", task, drop_empty(options))
    run.show_line(row, f"{row['slug']}\t{row['state']}")
