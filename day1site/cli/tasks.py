"""The commands on agents' tasks."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.rest import Answer


@operation(
    "tasks.create",
    "create",
    "Make a task with its branch task/NAME, which its agents branch off.",
    'day1 task create "Fix the login" --objective "Find the cause" --objective "Mend it"',
    makes_store=True,
)
def create(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['slug']}\tmade on {row['branch']}, objectives: {len(row['objectives'])}")


@list_operation(
    "tasks.list",
    "list",
    "List tasks, the newest first.",
    "day1 task list --state active",
    columns=["task", "state", "done", "agents", "made", "name"],
    empty="No task here.",
)
def list_tasks(row: Answer) -> list[Any]:
    agents = [agent["agent_id"] for agent in row["agents"]]
    return [row["slug"], row["state"], count_done(row), agents, short_time(row["created_at"]), row["name"]]


def count_done(row: Answer) -> str:
    done = sum(one["state"] == "done" for one in row["objectives"])
    return f"{done}/{len(row['objectives'])}"


@operation(
    "tasks.retrieve", "show", "Show a task, its objectives and its agents.", "day1 task show fix-login"
)
def show(run: Invocation, row: Answer) -> None:
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


@operation(
    "tasks.context",
    "context",
    "Show what an agent should know of a task.",
    "day1 task context fix-login --max-tokens 800",
)
def context(run: Invocation, answer: Answer) -> None:
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


@operation(
    "tasks.join",
    "join",
    "Join a task: it makes a branch for the agent.",
    "day1 task join fix-login --agent claude",
)
def join(run: Invocation, answer: Answer) -> None:
    branch, state = answer["agent"]["branch"], "joined" if answer["created"] else "joined already"
    run.show_line(answer, f"{branch}\t{state}; --branch {branch} writes there")


@operation(
    "tasks.objective",
    "objective",
    "Change an objective's state, or note something on it.",
    "day1 task objective fix-login 1 --state active",
    'day1 task objective fix-login 1 --state done --note "The clock was wrong."',
)
def objective(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['n']}\t{row['state']}")


@operation(
    "tasks.complete_agent",
    "complete-agent",
    "Merge an agent's branch into the task's: its part is completed, conflicts are named.",
    "day1 task complete-agent fix-login claude",
)
def complete_agent(run: Invocation, answer: Answer) -> None:
    run.show(answer, lambda out: print_completed_agent(out, answer))


def print_completed_agent(out: Output, answer: Answer) -> None:
    row = answer["agent"]
    out.line(f"{row['agent_id']}\t{row['state']}, conflicts: {row['open_conflicts']}")
    print_conflicts(out, answer["conflicts"])


@operation(
    "tasks.complete",
    "complete",
    "Complete a task: offer its durable facts to the parent in a merge request.",
    'day1 task complete fix-login --result "The clock is set by NTP now."',
)
def complete(run: Invocation, answer: Answer) -> None:
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


@operation(
    "tasks.cancel",
    "cancel",
    "Cancel a task and archive its branches: nothing is merged, nothing is deleted.",
    "day1 task cancel fix-login",
)
def cancel(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['slug']}\t{row['state']}")
