"""Tasks on the command line: on the local store, in the shapes of the REST API."""

import json

import pytest

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import AgentTask
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)
CREATE = ("task", "create", "Fix the login", "--objective", "Find the cause.", "--objective", "Mend it.")


def test_a_task_from_its_start_to_its_end(day1: Day1, actor: Actor) -> None:
    assert day1("task") == (0, "", "No task here.\n")
    assert day1(*CREATE, "--type", "bug_fix") == (
        0,
        "fix-the-login\tmade on task/fix-the-login, objectives: 2\n",
        "",
    )
    branch = "task/fix-the-login/ada"
    assert day1("task", "join", "fix-the-login", "--agent", "ada") == (
        0,
        f"{branch}\tjoined; --branch {branch} writes there\n",
        "",
    )
    assert "joined already" in day1("task", "join", "fix-the-login", "--agent", "ada")[1]
    assert day1("task", "objective", "fix-the-login", "1", "--state", "active", "--agent", "ada")[1] == (
        "1\tactive\n"
    )
    FactEngine().write_fact(
        fact_text="Clocks differ.", category="bug_fix", confidence=0.9, branch_name=branch, actor=actor
    )
    status, out, _ = day1("task", "list", "--state", "active", "--agent", "ada")
    row = out.splitlines()[1].split("\t")
    assert (status, row[:4], row[5]) == (0, ["fix-the-login", "active", "0/2", "ada"], "Fix the login")
    shown = day1("task", "context", "fix-the-login", "--max-tokens", "500")[1]
    assert "Clocks differ." in shown
    assert "Find the cause." in shown
    assert day1("task", "complete-agent", "fix-the-login", "ada")[1] == "ada\tcompleted, conflicts: 0\n"
    status, out, _ = day1("--format", "json", "task", "complete", "fix-the-login", "--result", "Mended.")
    ended = json.loads(out)
    assert (status, len(ended["durable"]), ended["task"]["result"]) == (0, 1, "Mended.")
    assert "Mended." in day1("task", "show", "fix-the-login")[1]


def test_a_task_without_anything_durable_and_one_that_is_cancelled(day1: Day1) -> None:
    day1(*CREATE)
    day1("task", "join", "fix-the-login", "--agent", "ada")
    assert day1("task", "complete", "fix-the-login") == (
        0,
        "fix-the-login\tcompleted, nothing to offer\n",
        "Not merged, their part was not completed: ada.\n",
    )
    day1("task", "create", "Other", "--slug", "other", "--description", "Nothing yet.")
    assert day1("task", "cancel", "other") == (0, "other\tcancelled\n", "")


def test_conflicts_are_printed(day1: Day1, actor: Actor) -> None:
    day1(*CREATE)
    task = "task/fix-the-login"
    fact = FactEngine().write_fact(fact_text="Tokens last an hour.", branch_name=task, actor=actor).fact
    for agent in ("ada", "bob"):
        day1("task", "join", "fix-the-login", "--agent", agent)
        FactEngine().update_fact(
            fact_id=fact.uid,
            updates={"fact_text": f"Tokens last as {agent} says."},
            branch_name=f"{task}/{agent}",
            actor=actor,
        )
    day1("task", "complete-agent", "fix-the-login", "ada")
    status, out, err = day1("task", "complete-agent", "fix-the-login", "bob")
    assert (status, out.splitlines()[0]) == (0, "bob\tcompleted, conflicts: 1")
    assert out.splitlines()[2] == f"{fact.uid}\tedited\t{task}/bob\tTokens last as bob says."
    assert err == f"Not merged. Decide on them and merge {task}/bob into {task} again.\n"
    assert day1("task", "complete", "fix-the-login")[2] == "Conflicts wait on the branches of bob.\n"


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("show", "nothing"), 1, "not_found"),
        (("show", "/"), 1, "not_found"),
        (("join", "fix-the-login"), 1, "invalid"),
        (("objective", "fix-the-login", "1", "--state", "done"), 1, "illegal_transition"),
        (("objective", "fix-the-login", "3", "--state", "active"), 1, "not_found"),
        (("objective", "fix-the-login", "1", "--state", "over"), 2, ""),
        (("objective", "fix-the-login", "one", "--state", "done"), 2, ""),
        (("complete-agent", "fix-the-login", "eve"), 1, "not_found"),
        (("create", "Fix the login"), 1, "exists"),
        (("create", "x", "--slug", "No Good"), 1, "invalid"),
        (("list", "--state", "lost"), 2, ""),
    ],
)
def test_what_is_refused(day1: Day1, words: tuple[str, ...], status: int, code: str) -> None:
    day1(*CREATE)
    got, out, err = day1("task", *words)
    assert (got, out, err.startswith(f"{code}: ") or not code) == (status, "", True), err
    assert AgentTask.objects.count() == 1
