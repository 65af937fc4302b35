"""The commands on agents' tasks."""

from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs, print_rows
from day1site.cli.transport.rest import Answer

MADE = 'day1 task create "Fix the login" --objective "Find the cause" --objective "Mend it"'
GROUP = Noun("task", MADE)


@GROUP.operation(
    "tasks.create",
    "Make a task with its branch task/NAME, which its agents branch off.",
    MADE,
    makes_store=True,
)
def print_created(row: Answer) -> None:
    print(f"{row['slug']}\tmade on {row['branch']}, objectives: {len(row['objectives'])}")


def count_done(row: Answer) -> str:
    done = sum(one["state"] == "done" for one in row["objectives"])
    return f"{done}/{len(row['objectives'])}"


GROUP.add_list(
    "tasks.list",
    "List tasks, the newest first.",
    "day1 task list --state active",
    cells={"done": count_done, "agents": lambda row: [agent["agent_id"] for agent in row["agents"]]},
    empty="No task here.",
)


@GROUP.operation("tasks.retrieve", "Show a task, its objectives and its agents.", "day1 task show fix-login")
def print_task(row: Answer) -> None:
    print_pairs({name: value for name, value in row.items() if name not in ("objectives", "agents")})
    if row["objectives"]:
        print_rows(row["objectives"], "n", "state", "agent=agent_id", "objective=text", "note")
    if row["agents"]:
        print_rows(row["agents"], "agent=agent_id", "state", "conflicts=open_conflicts", "branch")


@GROUP.operation(
    "tasks.context",
    "Show what an agent should know of a task.",
    "day1 task context fix-login --max-tokens 800",
)
def print_context(answer: Answer) -> None:
    print_task(answer["task"])
    learned = [{**fact, "by": one["agent"]["agent_id"]} for one in answer["agents"] for fact in one["facts"]]
    learned += [{**fact, "by": answer["task"]["branch"]} for fact in answer["facts"]]
    if learned:
        print_rows(learned, "learned by=by", "id", "category", "text=essence")
    if answer["archived"]:
        note(f"{answer['task']['branch']} is archived: nothing is merged into it until it is restored.")
    print_conflicts(answer["conflicts"])


def print_conflicts(conflicts: list[Answer]) -> None:
    """Print what a merge left for a decision, and how it is settled."""
    if not conflicts:
        return
    print_rows(conflicts, "conflict=id", "reason", "branch", "text=line")
    note(f"Not merged. Decide on them and merge {conflicts[0]['branch']} into {conflicts[0]['into']} again.")


@GROUP.operation(
    "tasks.join",
    "Join a task: it makes a branch for the agent.",
    "day1 task join fix-login --agent claude",
)
def print_joined(answer: Answer) -> None:
    branch, state = answer["agent"]["branch"], "joined" if answer["created"] else "joined already"
    print(f"{branch}\t{state}; --branch {branch} writes there")


GROUP.add_operation(
    "tasks.objective",
    "Change an objective's state, or note something on it.",
    "day1 task objective fix-login 1 --state active",
    'day1 task objective fix-login 1 --state done --note "The clock was wrong."',
    line="{n}\t{state}",
)


@GROUP.operation(
    "tasks.complete_agent",
    "Merge an agent's branch into the task's: its part is completed, conflicts are named.",
    "day1 task complete-agent fix-login claude",
)
def print_completed_agent(answer: Answer) -> None:
    row = answer["agent"]
    print(f"{row['agent_id']}\t{row['state']}, conflicts: {row['open_conflicts']}")
    print_conflicts(answer["conflicts"])


@GROUP.operation(
    "tasks.complete",
    "Complete a task: offer its durable facts to the parent in a merge request.",
    'day1 task complete fix-login --result "The clock is set by NTP now."',
)
def print_completed(answer: Answer) -> None:
    row, count = answer["task"], len(answer["durable"])
    request = row["merge_request_id"]
    offered = f"{count} facts offered to {row['parent']} in {request}" if request else "nothing to offer"
    print(f"{row['slug']}\tcompleted, {offered}")
    if answer["left"]:
        note(f"Not merged, their part was not completed: {', '.join(answer['left'])}.")
    if answer["conflicting"]:
        note(f"Conflicts wait on the branches of {', '.join(answer['conflicting'])}.")


GROUP.add_operation(
    "tasks.cancel",
    "Cancel a task and archive its branches: nothing is merged, nothing is deleted.",
    "day1 task cancel fix-login",
    line="{slug}\t{state}",
)
