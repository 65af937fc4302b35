"""Commands that worked in several sessions are learned; those of the moment are not."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.consolidation.commands import clean_command, list_commands
from conversations.engines.consolidation.engine import ConsolidationEngine
from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.manager import SessionManager
from memory.models import Confirmation, FactLink, Observation, Session
from tests.conversations.test_consolidation_runs import by_words, run, shown

__all__ = ["by_words"]
pytestmark = pytest.mark.django_db(transaction=True)
engine = ConsolidationEngine()
Did = Callable[..., Observation]
TESTED = "This works here: `make check`."


def work(did: Did, session: str, *commands: str, output: Any = "ok") -> list[Observation]:
    return [did("Bash", {"command": one, "description": session}, output, session) for one in commands]


def texts(actor: Actor) -> list[str]:
    return sorted(fact.fact_text for fact in FactEngine().list_facts(actor=actor).results)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("make check", "make check"),
        ("npm run lint 2>&1 | tail -20", "npm run lint"),
        ("pytest -q tests | grep -v warning", "pytest -q tests"),
        ("CI=1 timeout 60 bin/ci --fast; echo $?", "CI=1 timeout 60 bin/ci --fast"),
        ("cd web && yarn build", "cd web && yarn build"),
        ("cd /srv/ada/shop && make check", "make check"),
        ("python manage.py migrate", "python manage.py migrate"),
        ("pip install -r requirements.txt", "pip install -r requirements.txt"),
        ("npm ci", "npm ci"),
        ("npm install", "npm install"),
        ("cd /srv/other && make check", ""),
        ("git status", ""),
        ("ls -la", ""),
        ("sudo systemctl restart nginx", ""),
        ("cat a.txt | sort", ""),
        ("make check && git commit -am x", ""),
        ("make check > /dev/null || exit 1", ""),
        ("python -c 'print(1)'", ""),
        ("python", ""),
        ("pip install requests", ""),
        ("npm ls --depth 0", ""),
        ("kubectl get pods", ""),
        ("make --version", ""),
        ("pytest /var/tmp/test_once.py", ""),
        ("make deploy TOKEN=[redacted: token]", ""),
        ("kill 48213", ""),
        ("docker rm 4f1c9a0b2d3e5f60", ""),
        ("cat <<'EOF'\nx\nEOF", ""),
        ("echo 'unclosed", ""),
        ("ls", ""),
        ("", ""),
        ("make " + "x" * 120, ""),
    ],
)
def test_what_is_a_command_of_the_project(line: str, kept: str) -> None:
    assert clean_command(line, "github.com/acme/shop") == kept


@given(st.text(max_size=200))
def test_any_text_is_read(line: str) -> None:
    kept = clean_command(line)
    assert clean_command(kept) == kept


def test_a_command_that_worked_in_two_sessions_is_learned(actor: Actor, did: Did) -> None:
    (first,) = work(did, "s1", "make check")
    assert run(actor, "s1").run.created == 0
    work(did, "s2", "make check")
    assert run(actor, "s2").run.created == 0  # twice is not often
    _, last = work(did, "s3", "make check 2>&1 | tail -5", "make check")
    report = run(actor, "s3")
    (change,) = report.changes
    assert (change.action, change.fact.fact_text, change.fact.category) == ("created", TESTED, "pattern")
    assert (change.fact.confidence, change.fact.source_type) == (0.7, "observation")
    assert change.evidence[0].id == last.uid
    assert first.uid in {one.id for one in change.evidence}


def test_a_pipe_hides_whether_it_worked(actor: Actor, did: Did) -> None:
    for session in ("s1", "s2", "s3"):
        work(did, session, *["make check 2>&1 | tail -5"] * 2, output="make: *** No rule to make target")
        assert run(actor, session).run.created == 0
    work(did, "s4", "make check")
    assert run(actor, "s4").run.created == 1


def test_what_failed_or_only_looked_is_not(actor: Actor, did: Did) -> None:
    for session in ("s1", "s2", "s3"):
        work(did, session, "git status", "ls -la", "npm install left-pad")
        work(did, session, "make deploy", output="Exit code 2\nno rights")
        work(did, session, *[f"python once_{session}.py"] * 4)
    for session in ("s1", "s2", "s3"):
        run(actor, session)
    assert texts(actor) == []


@pytest.mark.parametrize("order", list(permutations(("s1", "s2", "s3"))))
def test_twice_is_once_in_any_order(actor: Actor, did: Did, order: tuple[str, ...]) -> None:
    for session in ("s1", "s2", "s3"):
        work(did, session, "make check", "npm ci")
    for session in order:
        run(actor, session)
    before = shown(actor)
    assert sorted(row[0] for row in before) == [TESTED, "This works here: `npm ci`."]
    for session in order:
        run(actor, session)
    assert shown(actor) == before


def test_a_later_session_confirms_it_once(actor: Actor, did: Did) -> None:
    for session in ("s1", "s2"):
        work(did, session, "make check", "make check")
        run(actor, session)
    work(did, "s3", "make check")
    assert run(actor, "s3").run.created == 0
    run(actor, "s3")
    assert list(Confirmation.objects.values_list("source", flat=True)) == ["session:s3"]
    assert len(texts(actor)) == 1


def test_what_memory_told_confirms_nothing(actor: Actor, did: Did) -> None:
    for session in ("s1", "s2"):
        work(did, session, "make check", "make check")
        run(actor, session)
    work(did, "s3", "make check")
    Session.objects.filter(key="s3").update(context=f"<day1-memory>\n- {TESTED}\n</day1-memory>")
    run(actor, "s3")
    assert not Confirmation.objects.exists()


def test_other_repositories_are_others(actor: Actor, did: Did) -> None:
    for session, repository in (("s1", "github.com/acme/shop"), ("s2", "github.com/acme/bank")):
        SessionManager().create_session(session_id=session, actor=actor, project_path=repository)
        work(did, session, "make check", "make check", "make check")
        run(actor, session)
    assert texts(actor) == []


def test_what_was_taken_away_is_not_learned_by_the_next_session(actor: Actor, did: Did) -> None:
    for session in ("s1", "s2"):
        work(did, session, "make check", "make check")
    found = run(actor, "s1").run
    assert found.created == 1
    engine.undo_run(run_id=found.pk, actor=actor)
    assert run(actor, "s2").run.created == 0
    work(did, "s3", "make check")
    assert run(actor, "s3").run.created == 0


def test_what_is_archived_stays_away(actor: Actor, did: Did) -> None:
    for session in ("s1", "s2"):
        work(did, session, "make check", "make check")
    (change,) = run(actor, "s1").changes
    FactEngine().archive_fact(fact_id=change.fact.uid, actor=actor)
    assert run(actor, "s2").run.created == 0


def test_commands_alike_are_two(actor: Actor, did: Did) -> None:
    for session in ("s1", "s2"):
        work(did, session, *["npm run build"] * 2, *["npm run lint"] * 2)
    run(actor, "s1")
    assert texts(actor) == ["This works here: `npm run build`.", "This works here: `npm run lint`."]
    links = FactLink._base_manager.values_list("from_id", flat=True)
    assert len(set(links)) == 2


def test_calls_are_listed_in_their_order(did: Did) -> None:
    calls = work(did, "s1", "make check", "ls", "make check | tail -3")
    assert list_commands(calls, "") == {"make check": [(calls[0].uid, True), (calls[2].uid, False)]}
