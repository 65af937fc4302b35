"""Observations: fields derived from a tool call, and what is never refused."""

import random
from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.sessions.observations import ObservationEngine, ObservationFilter
from memory.engines.sessions.tool_calls import MAX_LENGTH, detect_outcome, summarize_call, truncate
from memory.exceptions import BranchArchived, Invalid, NotFound, ScopeMissing, TooLarge, UnknownField
from memory.models import Commit, Observation, Session, Vector
from tests.databases import only_on_sqlite

observation_engine = ObservationEngine()


@pytest.fixture
def observe(actor):
    def write(**fields):
        return observation_engine.write_observation(actor=actor, **{"session_id": "s1", **fields})

    return write


class TestSummaries:
    @pytest.mark.parametrize(
        ("tool", "given", "output", "summary"),
        [
            ("Bash", {"command": "ls  -a"}, "a\nb", "Executed command: ls -a. Result: a\nb"),
            (
                "Bash",
                {"command": "x"},
                {"stdout": "out", "stderr": "err"},
                "Executed command: x. Result: out\nerr",
            ),
            ("Read", {"file_path": "/a.py"}, "text", "Read file: /a.py"),
            ("MultiEdit", {"file_path": "/a.py", "edits": []}, "ok", "Modified file: /a.py"),
            ("NotebookEdit", {"notebook_path": "/a.ipynb"}, "ok", "Modified file: /a.ipynb"),
            ("Grep", {"pattern": "def f"}, "2 files", "Searched for: def f. Found: 2 files"),
            ("Fetch", {"url": "u"}, "page", 'Used Fetch: {"url":"u"}. Result: page'),
            ("Fetch", "plain", None, "Used Fetch: plain. Result: "),
        ],
    )
    def test_by_tool(self, tool, given, output, summary):
        assert summarize_call(tool, given, output) == summary

    def test_a_long_one_is_cut_at_its_limit_with_a_mark(self):
        text = summarize_call("Bash", {"command": "c"}, "é" * 9000)
        assert len(text) == MAX_LENGTH
        assert text.endswith("characters, cut]")

    def test_what_fits_is_not_marked(self):
        assert truncate("x" * MAX_LENGTH) == "x" * MAX_LENGTH


class TestOutcomes:
    @pytest.mark.parametrize(
        ("output", "outcome"),
        [
            ("Exit code 1\nboom", "error"),
            ("Exit code 0\nfine", "success"),
            ({"exit_code": 2, "stdout": ""}, "error"),
            ({"exit_code": 0, "stderr": "error: only a warning"}, "success"),
            ({"is_error": True, "content": "no"}, "error"),
            ({"error": "request timed out"}, "timeout"),
            ({"interrupted": True}, "timeout"),
            ({"code": 200, "codeText": "OK", "result": "a page"}, "success"),
            ({"code": 404, "codeText": "Not Found"}, "error"),
            ({"code": 1, "stdout": ""}, "error"),
            ({"exit_code": 201, "code": 200}, "error"),
            ("Traceback (most recent call last):\n  File", "error"),
            ("fatal: not a git repository", "error"),
            ("bash: foo: command not found", "error"),
            ("grep found 'Error: x' in 3 files", "success"),
            ("no error here", "success"),
            (None, "success"),
        ],
    )
    def test_by_what_came_back(self, output, outcome):
        assert detect_outcome(output) == outcome


class TestWriting:
    def test_a_tool_call_is_compressed_and_its_session_begins(self, observe, project):
        row = observe(tool_name="Bash", raw_input={"command": "make"}, raw_output="done")
        assert (row.summary, row.outcome, row.observation_type) == (
            "Executed command: make. Result: done",
            "success",
            "tool_use",
        )
        assert row.raw_input == '{"command":"make"}'
        assert Session.objects.get(project=project, key="s1").status == "active"

    def test_what_is_stated_is_kept(self, observe):
        row = observe(summary="Chose Redis", observation_type="decision")
        assert (row.summary, row.observation_type, row.tool_name) == ("Chose Redis", "decision", "")

    def test_a_success_after_a_failure_of_the_same_call_is_a_discovery(self, observe):
        call = {"tool_name": "Bash", "raw_input": {"command": "pytest"}}
        failed = observe(**call, raw_output="Exit code 1")
        observe(tool_name="Bash", raw_input={"command": "vi"}, raw_output="")
        fixed = observe(**call, raw_output="3 passed")
        again = observe(**call, raw_output="3 passed")
        assert (failed.observation_type, fixed.observation_type) == ("error", "discovery")
        assert fixed.parent_id == failed.uid
        assert (again.observation_type, again.parent_id) == ("tool_use", None)

    def test_another_sessions_failure_is_not_repaired(self, observe):
        call = {"tool_name": "Bash", "raw_input": "x"}
        observe(**call, raw_output="Exit code 1")
        assert observe(**call, raw_output="ok", session_id="s2").observation_type == "tool_use"

    def test_within_one_batch_too(self, actor):
        call = {"tool_name": "Bash", "raw_input": "x", "session_id": "s"}
        rows = observation_engine.write_observations(
            observations=[{**call, "raw_output": "Exit code 1"}, {**call, "raw_output": "ok"}], actor=actor
        )
        assert [row.observation_type for row in rows] == ["error", "discovery"]
        assert rows[1].parent_id == rows[0].uid
        assert Commit.objects.get(kind="observation.write").added == 2

    def test_only_what_says_something_gets_a_vector(self, observe, settings):
        observe(tool_name="Bash", raw_input="x", raw_output="ok")
        decided = observe(summary="Chose Redis", observation_type="decision")
        asked = observe(tool_name="Bash", raw_input="y", raw_output="ok", embed=True)
        hashes = set(Vector.objects.values_list("content_hash", flat=True))
        assert hashes == ({decided.content_hash, asked.content_hash} if hashes else set())

    @pytest.mark.parametrize("bad", ["a\x00b", "half \ud800 pair", "x" * 5_000_000, "שלום\u202e"])
    def test_no_text_is_refused(self, observe, bad):
        row = observe(tool_name="Bash", raw_input=bad, raw_output=bad)
        kept = Observation._base_manager.get(pk=row.pk)
        assert len(kept.raw_output) <= MAX_LENGTH
        assert "\x00" not in kept.raw_output

    @pytest.mark.django_db(transaction=True)
    def test_refusals_leave_nothing(self, observe, actor, project):
        with pytest.raises(Invalid):
            observe(raw_input="only this")
        with pytest.raises(UnknownField):
            observe(summary="s", colour="red")
        with pytest.raises(Invalid):
            observe(summary="s", outcome="maybe")
        with pytest.raises(Invalid):
            observe(summary="s", parent_id=uuid4())
        with pytest.raises(TooLarge):
            observation_engine.write_observations(observations=[{"summary": "s"}] * 1001, actor=actor)
        with pytest.raises(ScopeMissing):
            observation_engine.write_observation(
                summary="s", actor=replace(actor, scopes=frozenset({"read"}))
            )
        assert not Observation._base_manager.exists()
        assert not Session.objects.exists()

    def test_an_archived_branch_takes_none(self, actor, main):
        manager = BranchManager()
        manager.create_branch(name="old", actor=actor)
        manager.archive_branch(name="old", actor=actor)
        with pytest.raises(BranchArchived):
            observation_engine.write_observation(summary="s", actor=actor, branch_name="old")


def call(n, output="ok", session="s"):
    given = {"tool_name": "Bash", "raw_input": {"command": f"make {n}"}}
    return {**given, "raw_output": output, "session_id": session}


OUTPUTS = ("ok", "ok", "Exit code 1")


def instructions(work):
    """Count the instructions that the database executes for some work."""
    count = 0

    def step():
        nonlocal count
        count += 1

    connection.ensure_connection()
    connection.connection.set_progress_handler(step, 1)
    try:
        work()
    finally:
        connection.connection.set_progress_handler(None, 1)
    return count


class TestLongSessions:
    def write(self, actor, numbers, **more):
        return observation_engine.write_observations(
            observations=[call(n, **more) for n in numbers], actor=actor
        )

    @pytest.mark.slow
    @only_on_sqlite
    @pytest.mark.parametrize("again", [False, True], ids=["other calls", "the same calls"])
    def test_a_batch_costs_the_same_whatever_came_before(self, actor, main, again):
        def batch(first):
            return instructions(lambda: self.write(actor, range(0 if again else first, first + 20)[:20]))

        batch(100)
        early = batch(200)
        for part in range(3):
            self.write(actor, [n % 20 if again else 1000 * (part + 1) + n for n in range(1000)])
        assert batch(300) < early * 1.2

    @pytest.mark.slow
    def test_a_failure_far_back_is_repaired(self, actor, main):
        (failed,) = self.write(actor, [5000], output="Exit code 1")
        self.write(actor, range(1000))
        self.write(actor, [5000], session="other")
        (fixed,) = self.write(actor, [5000])
        assert (fixed.observation_type, fixed.parent_id) == ("discovery", failed.uid)


class TestBatches:
    def plain(self, rows):
        """Return type, place of the parent and what becomes a vector, without ids."""
        places = {row.uid: place for place, row in enumerate(rows)}
        return [(row.observation_type, places.get(row.parent_id), row.embed) for row in rows]

    @pytest.mark.parametrize("seed", range(5))
    def test_a_batch_settles_as_single_writes_do(self, observe, actor, seed):
        """Write the same random calls one by one and in batches, the later ones on a fork."""
        chance = random.Random(seed)
        calls = [
            {**call(chance.randrange(4), session=chance.choice("ab")), "raw_output": chance.choice(OUTPUTS)}
            for _ in range(40)
        ]
        sizes = [chance.randint(1, 9) for _ in calls]
        BranchManager().create_branch(name="early", actor=actor)
        single = [observe(**one, branch_name="early") for one in calls[:20]]
        batched = self.write_all(actor, calls[:20], sizes)
        for name, parent in (("single", "early"), ("batched", "main")):
            BranchManager().create_branch(name=name, actor=actor, parent=parent)
        single += [observe(**one, branch_name="single") for one in calls[20:]]
        batched += self.write_all(actor, calls[20:], sizes, branch_name="batched")
        assert self.plain(batched) == self.plain(single)
        assert {row.observation_type for row in single} == {"error", "discovery", "tool_use"}

    def write_all(self, actor, calls, sizes, **more):
        rows, rest = [], list(calls)
        for size in sizes:
            if batch := rest[:size]:
                rows += observation_engine.write_observations(observations=batch, actor=actor, **more)
            rest = rest[size:]
        return rows

    @only_on_sqlite
    def test_a_batch_of_any_size_takes_as_many_statements(self, actor, observe):
        parent = observe(**call(1))

        def count(size):
            batch = [{**call(n), "parent_id": str(parent.uid)} for n in range(size)]
            with CaptureQueriesContext(connection) as caught:
                observation_engine.write_observations(observations=batch, actor=actor)
            return len(caught)

        count(2)
        assert count(100) == count(2)

    def test_a_parent_stands_earlier_in_the_batch_or_on_the_branch(self, actor, observe):
        known = observe(summary="known")
        later = {"summary": "later", "parent_id": str(known.uid)}
        (row,) = observation_engine.write_observations(observations=[later], actor=actor)
        assert row.parent_id == known.uid
        absent = str(uuid4())
        with pytest.raises(Invalid, match=absent):
            observation_engine.write_observations(
                observations=[later, {"summary": "s", "parent_id": absent}], actor=actor
            )


class TestReading:
    def test_lists_by_filter_newest_first_in_pages(self, observe, actor):
        rows = [observe(summary=f"n{i}", observation_type="insight") for i in range(5)]
        observe(tool_name="Bash", raw_output="Exit code 3")
        filters = ObservationFilter.from_values({"observation_type": "insight"})
        first = observation_engine.list_observations(actor=actor, filters=filters, limit=2)
        rest = observation_engine.list_observations(
            actor=actor, filters=filters, limit=100, cursor=first.next
        )
        assert [row.summary for row in [*first.results, *rest.results]] == ["n4", "n3", "n2", "n1", "n0"]
        failed = observation_engine.list_observations(
            actor=actor, filters=ObservationFilter.from_values({"outcome": "error"})
        )
        assert [row.tool_name for row in failed.results] == ["Bash"]
        assert rows[0].uid != rows[1].uid

    def test_the_timeline_is_between_two_times(self, observe, actor):
        early, middle, late = (observe(summary=f"n{i}") for i in range(3))
        page = observation_engine.list_timeline(actor=actor, after=middle.created_at, before=late.created_at)
        assert [row.uid for row in page.results] == [middle.uid]
        assert early.created_at < middle.created_at

    def test_branches_and_projects_are_apart(self, observe, actor, other_project):
        row = observe(summary="on main")
        BranchManager().create_branch(name="side", actor=actor)
        there = observation_engine.write_observation(summary="aside", actor=actor, branch_name="side")
        seen = observation_engine.list_observations(actor=actor, branch_name="side").results
        assert {r.summary for r in seen} == {"on main", "aside"}
        assert [r.summary for r in observation_engine.list_observations(actor=actor).results] == ["on main"]
        for uid, who, branch in (
            (there.uid, actor, "main"),
            (row.uid, local_actor(other_project.pk), "main"),
        ):
            with pytest.raises(NotFound):
                observation_engine.get_observation(observation_id=uid, actor=who, branch_name=branch)
