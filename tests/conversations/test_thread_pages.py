"""The pages of conversations: threads, forks, comparison, replays."""

import re
from datetime import timedelta
from html import unescape
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from conversations.capture.engine import IngestEngine
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.engine import PARAMETERS, ReplayEngine
from conversations.engines.told import answer_told_fact
from conversations.models import Conversation, Message, Replay
from conversations.views.replay_form import ORDER
from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.sessions.manager import SessionManager
from memory.exceptions import Conflict
from memory.models import AuditEntry, Branch, Commit, Fact
from tests.conversations.fake_model import FakeModel, completion
from tests.curation.test_queue_pages import text
from tests.memory.views.conftest import browser, curator, maintainer, person, viewer

__all__ = ["browser", "curator", "maintainer", "person", "viewer"]
pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/p/test/conversations"
conversations, messages, replays = ConversationEngine(), MessageEngine(), ReplayEngine()


def use(name: str, given: Any, output: str, **more: Any) -> dict[str, Any]:
    call = {"id": f"call {output}", "name": name, "input": given}
    return {"role": "tool_result", "content": output, "tool_calls": [call], **more}


@pytest.fixture
def talk(actor: Actor, main: Branch) -> tuple[Conversation, list[Message]]:
    one = conversations.create_conversation(actor=actor, title="Login <b>", model="first")
    rows = [
        {"role": "user", "content": "Why does the login fail?"},
        use("Bash", {"command": "date -u"}, "yesterday", metadata={"duration_ms": 2300}),
        use("Read", {"path": "auth.py"}, "Error: no such file", metadata={"is_error": True}),
        {"role": "assistant", "content": "The clock is `wrong` <script>."},
    ]
    return one, list(messages.write_messages(conversation_id=one.uid, messages=rows, actor=actor))


def learn(message: Message, actor: Actor, words: str = "The clock was wrong.", branch: str = "main") -> UUID:
    fact = FactEngine().write_fact(fact_text=words, actor=actor, branch_name=branch).fact
    LinkEngine().write_link(
        from_id=fact.uid,
        to_id=message.uid,
        to_type="message",
        link_type="MESSAGE_OF",
        actor=actor,
        branch_name=branch,
    )
    return fact.uid


class TestThread:
    def test_a_call_is_one_line_with_duration_and_outcome(self, viewer: Client, talk: Any) -> None:
        page = viewer.get(f"{PATH}/{talk[0].uid}")
        assert "Bash date -u 2.3 s done" in text(page)
        assert "Read auth.py failed" in text(page)
        html = page.content.decode()
        assert len(re.findall('<details class="call"', html)) == 2
        assert "<script>." not in html
        assert "Login &lt;b&gt;" in html

    @pytest.mark.parametrize(
        ("took", "shown"), [(1234, "1.2 s"), (12.4, "12 ms"), ("x", ""), (-1, ""), (True, "")]
    )
    def test_a_hook_says_how_long_a_call_took(
        self, viewer: Client, actor: Actor, main: Branch, took: Any, shown: str
    ) -> None:
        event = {
            "hook_event_name": "PostToolUse",
            "session_id": "s",
            "cwd": "/x",
            "tool_name": "Bash",
            "tool_use_id": "t",
            "tool_input": {"command": "make"},
            "tool_response": {"stdout": "fine"},
            "duration_ms": took,
        }
        IngestEngine().ingest(events=[event], actor=actor, client="claude-code")
        (one,) = conversations.list_conversations(actor=actor).results
        assert " ".join(f"Bash make {shown} done".split()) in text(viewer.get(f"{PATH}/{one.uid}"))

    def test_the_result_of_a_call_stands_with_it(self, viewer: Client, actor: Actor, main: Branch) -> None:
        one = conversations.create_conversation(actor=actor)
        now = timezone.now() - timedelta(minutes=5)
        call = {"id": "c1", "type": "function", "function": {"name": "Grep", "arguments": '{"q": "x"}'}}
        rows = [
            {"role": "assistant", "content": "I look.", "tool_calls": [call], "said_at": now.isoformat()},
            {
                "role": "tool_result",
                "content": "found",
                "metadata": {"tool_call_id": "c1"},
                "said_at": (now + timedelta(seconds=90)).isoformat(),
            },
        ]
        messages.write_messages(conversation_id=one.uid, messages=rows, actor=actor)
        page = viewer.get(f"{PATH}/{one.uid}")
        assert "Grep x 90.0 s done" in text(page)
        assert page.content.decode().count('<li class="turn') == 1
        assert 'id="m2"' in page.content.decode()

    def test_facts_at_the_message_that_they_come_from(self, viewer: Client, talk: Any, actor: Actor) -> None:
        uid = learn(talk[1][3], actor)
        page = viewer.get(f"{PATH}/{talk[0].uid}")
        assert "→ 1 fact The clock was wrong." in text(page)
        fact = viewer.get(f"/p/test/facts/{uid}").content.decode()
        address = f"/p/test/messages/{talk[1][3].uid}"
        assert address in fact
        assert f"{PATH}/{talk[0].uid}?message={talk[1][3].uid}" in viewer.get(address).content.decode()

    def test_a_long_one_by_pages_from_any_message_and_from_the_end(
        self, viewer: Client, actor: Actor, main: Branch
    ) -> None:
        one = conversations.create_conversation(actor=actor)
        rows = messages.write_messages(
            conversation_id=one.uid,
            messages=[{"role": "user", "content": f"word{n:03}"} for n in range(130)],
            actor=actor,
        )
        address = f"{PATH}/{one.uid}"
        assert words(viewer.get(address)) == list(range(50))
        assert words(viewer.get(f"{address}?end=1")) == list(range(80, 130))
        middle = viewer.get(f"{address}?message={rows[60].uid}")
        assert words(middle) == list(range(60, 110))
        earlier = re.search(r'rel="prev"\s+href="([^"]+)"', middle.content.decode())
        later = re.search(r'rel="next"\s+href="([^"]+)"', middle.content.decode())
        assert earlier
        assert later
        assert words(viewer.get(earlier[1].replace("&amp;", "&"))) == list(range(10, 60))
        assert words(viewer.get(later[1].replace("&amp;", "&"))) == list(range(110, 130))
        first = viewer.get(f"{address}?message={rows[0].uid}").content.decode()
        assert 'rel="prev"' not in first


def words(page: Any) -> list[int]:
    assert page.status_code == 200
    return [int(n) for n in re.findall(r"word(\d{3})", text(page))]


class TestForks:
    def test_from_any_message(self, curator: Client, talk: Any, actor: Actor) -> None:
        one, rows = talk
        address = f"{PATH}/{one.uid}/fork?message={rows[1].uid}"
        assert f"fork?message={rows[1].uid}" in curator.get(f"{PATH}/{one.uid}").content.decode()
        assert "Message 2" in text(curator.get(address))
        done = curator.post(address, {"title": "Another way"}, follow=True)
        assert "Forked." in text(done)
        assert "Nothing was said in this fork yet" in text(done)
        fork = Conversation.objects.all_versions().get(title="Another way")
        assert (fork.parent_conversation_id, fork.fork_point_message_id) == (one.uid, rows[1].uid)
        page = curator.get(f"{PATH}/{one.uid}")
        assert "1 fork" in text(page)
        assert "Another way" in text(page)
        assert "Forked from Login" in text(curator.get(f"{PATH}/{fork.uid}"))

    def test_with_a_branch_of_the_memory(self, curator: Client, talk: Any) -> None:
        address = f"{PATH}/{talk[0].uid}/fork?message={talk[1][0].uid}"
        done = curator.post(address, {"memory_branch": "experiment/clock"})
        assert "branch=experiment%2Fclock" in done["Location"]
        assert curator.get(done["Location"]).status_code == 200
        refused = curator.post(address, {"memory_branch": "experiment/clock", "title": "Typed"})
        assert refused.status_code == 409
        assert 'value="Typed"' in refused.content.decode()

    def test_the_tree_of_a_conversation(self, viewer: Client, talk: Any, actor: Actor) -> None:
        one, rows = talk
        late, early = (
            conversations.fork_conversation(
                conversation_id=one.uid, message_id=rows[place].uid, title=f"Fork {place}", actor=actor
            )
            for place in (2, 0)
        )
        (said,) = messages.write_messages(
            conversation_id=late.uid, messages=[{"role": "user", "content": "On."}], actor=actor
        )
        conversations.fork_conversation(
            conversation_id=late.uid, message_id=said.uid, title="Fork of a fork", actor=actor
        )
        page = viewer.get(f"{PATH}/{early.uid}/forks")
        told = text(page).partition("that both share.")[2]
        order = [told.index(name) for name in ("Login", "Fork 0", "Fork 2", "Fork of a fork")]
        assert order == sorted(order)
        assert "Fork 0 this one" in told
        assert f"compare/{one.uid}" in page.content.decode()
        assert viewer.get(f"{PATH}/{UUID(int=1)}/forks").status_code == 404


class TestComparison:
    @pytest.fixture
    def fork(self, talk: Any, actor: Actor) -> Conversation:
        one = conversations.fork_conversation(
            conversation_id=talk[0].uid, message_id=talk[1][1].uid, title="Other", actor=actor
        )
        rows = [
            use("Read", {"path": "clock.py"}, "the time"),
            {"role": "assistant", "content": "The password is wrong."},
        ]
        messages.write_messages(conversation_id=one.uid, messages=rows, actor=actor)
        return one

    def test_what_they_share_is_folded_and_the_divergence_marked(
        self, viewer: Client, talk: Any, fork: Conversation, actor: Actor
    ) -> None:
        learn(talk[1][3], actor)
        page = viewer.get(f"{PATH}/{talk[0].uid}/compare/{fork.uid}")
        told = text(page)
        assert "2 messages in common" in told
        assert told.count("Here they diverge") == 1
        assert told.index("Here they diverge") < told.index("The password is wrong.")
        assert "What each learned The clock was wrong. No fact comes from it." in told
        assert "no result" not in told
        assert re.search(r"(equivalent|similar|divergent|mixed)", told)

    def test_by_pages(self, viewer: Client, talk: Any, fork: Conversation, actor: Actor) -> None:
        rows = [{"role": "user", "content": f"more{n:03}"} for n in range(60)]
        messages.write_messages(conversation_id=fork.uid, messages=rows, actor=actor)
        page = viewer.get(f"{PATH}/{talk[0].uid}/compare/{fork.uid}")
        following = re.search(r'rel="next"\s+href="([^"]+)"', page.content.decode())
        assert following
        second = viewer.get(following[1].replace("&amp;", "&"))
        assert "more059" in text(second)
        assert "more059" not in text(page)
        assert "Here they diverge" not in text(second)


class TestReplays:
    def begin(self, client: Client, talk: Any, **fields: str) -> Any:
        return client.post(f"{PATH}/{talk[0].uid}/replay?message={talk[1][0].uid}", fields, follow=True)

    def test_without_a_model_the_form_says_so_and_makes_one(self, curator: Client, talk: Any) -> None:
        form = curator.get(f"{PATH}/{talk[0].uid}/replay?message={talk[1][0].uid}")
        assert "No model is set" in text(form)
        assert "Run it now" not in text(form)
        shown, folded = form.content.decode().split("<summary>More</summary>")
        assert re.findall(r'<(?:input|textarea)[^>]* name="(\w+)"', shown.split("What is different")[1]) == [
            "model",
            "branch",
            "system_prompt",
        ]
        assert 'name="temperature"' in folded
        page = self.begin(curator, talk, model="other", temperature="0.5", tools_deny="Bash, ")
        row = Replay.objects.get()
        assert (row.model, row.temperature, row.tools_deny, row.state) == ("other", 0.5, ["Bash"], "ready")
        assert "It has taken no step yet." in text(page)
        assert "No model is set: have an agent go on" in text(page)
        assert 'value="run"' not in page.content.decode()
        assert "Not these tools Bash" in text(page)
        refused = curator.post(f"/p/test/replays/{row.pk}", {"do": "run"}, follow=True)
        assert "DAY1_REPLAY_MODEL" in text(refused)

    def test_the_report_of_one(self, curator: Client, talk: Any, actor: Actor, model: FakeModel) -> None:
        FactEngine().write_fact(fact_text="The login fails when the clock is wrong.", actor=actor)
        form = curator.get(f"{PATH}/{talk[0].uid}/replay?message={talk[1][0].uid}")
        assert "Run it now" in text(form)
        page = self.begin(curator, talk, run="on", branch="main", at="")
        row = Replay.objects.get()
        assert (row.state, "Queued" in text(page)) == ("queued", True)
        assert "Run it, or have an agent go on" not in text(page)
        assert 'hx-trigger="load delay:2s"' in page.content.decode()
        model.next += [completion("", ("Bash", {"command": "date -u"})), completion("It is the clock.")]
        replays.execute_replay(row.pk)
        page = curator.get(f"/p/test/replays/{row.pk}")
        told = text(page)
        assert "Done" in told
        assert "2 steps, 220 tokens" in told
        assert "The login fails when the clock is wrong." in told
        assert "Bash date -u" in told
        assert "It is the clock." in told
        assert "By fixed thresholds" in told
        compare = re.search(r'href="([^"]+/compare/[^"]+)"', page.content.decode())
        assert compare
        assert curator.get(compare[1].replace("&amp;", "&")).status_code == 200
        script = curator.get(f"/p/test/replays/{row.pk}", headers={"HX-Request": "true"})
        assert script["HX-Refresh"] == "true"

    def test_cancelled_and_completed(self, curator: Client, viewer: Client, talk: Any) -> None:
        self.begin(curator, talk, model="one")
        one = Replay.objects.get()
        assert viewer.post(f"/p/test/replays/{one.pk}", {"do": "cancel"}).status_code == 403
        assert "Complete" not in text(viewer.get(f"/p/test/replays/{one.pk}"))
        assert "Completed" in text(curator.post(f"/p/test/replays/{one.pk}", {"do": "complete"}, follow=True))
        again = curator.post(f"/p/test/replays/{one.pk}", {"do": "complete"}, follow=True)
        assert "This replay is done." in text(again)
        one.refresh_from_db()
        assert one.state == "done"

    def test_a_limit_is_raised(self, curator: Client, viewer: Client, talk: Any, model: FakeModel) -> None:
        self.begin(curator, talk, model="one", max_steps="1", run="on")
        row = Replay.objects.get()
        model.next.append(completion("", ("Bash", {"command": "date +%s"})))
        replays.execute_replay(row.pk)
        address = f"/p/test/replays/{row.pk}"
        page = curator.get(address)
        assert "It has reached its limit of steps, 1." in text(page)
        assert "Bash date +%s not recorded" in text(page)  # and not done
        assert re.search(r'name="max_steps"[^>]*value="1"', page.content.decode())
        assert "Go on" not in text(viewer.get(address))
        refused = curator.post(address, {"do": "run", "max_steps": "many"}, follow=True)
        assert "max_steps" in text(refused)
        curator.post(address, {"do": "run", "max_steps": "2"})
        row.refresh_from_db()
        assert (row.state, row.max_steps) == ("queued", 2)

    def test_judges_may_be_asked_for(self, curator: Client, talk: Any) -> None:
        self.begin(curator, talk, model="one", score="yes")
        self.begin(curator, talk, model="two")
        rows = {row.model: row for row in Replay.objects.all()}
        assert {name: row.score for name, row in rows.items()} == {"one": True, "two": False}
        shown = [text(curator.get(f"/p/test/replays/{rows[name].pk}")) for name in ("one", "two")]
        assert ["Judges rate both sides yes" in page for page in shown] == [True, False]


def test_the_form_offers_only_what_a_replay_takes() -> None:
    assert set(ORDER) == PARAMETERS


REPOSITORY = "github.com/acme/shop"
PORT, QUEUE = "The gateway listens on port 9443.", "The mail queue is Sidekiq."


def hear(actor: Actor, key: str, prompt: str = "", root: str = REPOSITORY) -> str:
    """Begin a session, or send a prompt in one; return what it is told."""
    one = {"session_id": key, "cwd": root, "day1": {"client": "claude-code", "root": root}}
    one |= {"hook_event_name": "SessionStart"}
    if prompt:
        one |= {"hook_event_name": "UserPromptSubmit", "prompt": prompt, "prompt_id": f"{key}-{prompt}"}
    answer = IngestEngine().ingest(events=[one], actor=actor, answered=True) or {}
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


class TestWhatASessionWasTold:
    @pytest.fixture
    def told(self, actor: Actor) -> dict[str, Fact]:
        """Return two facts that a session was told: one at its start, one with its prompt."""
        facts = FactEngine()
        port = facts.write_fact(fact_text=PORT, category="decision", actor=actor).fact
        hear(actor, "s1")
        queue = facts.write_fact(fact_text=QUEUE, category="decision", actor=actor).fact
        hear(actor, "s1", "Which mail queue is it: Sidekiq?")
        return {"start": port, "prompt": queue}

    def answer(self, client: Client, answer: str, fact: Fact, **more: Any) -> Any:
        value = f"{answer}:{fact.uid}:{fact.version}"
        return client.post("/p/test/session/told", {"key": "s1", "answer": value}, follow=True, **more)

    def test_each_line_stands_with_its_prompt_and_why(self, curator: Client, told: dict[str, Fact]) -> None:
        page = curator.get("/p/test/session?key=s1")
        words = text(page)
        assert re.search(rf"At its start 1 line {re.escape(PORT)} decision just now", words)
        assert f"Which mail queue is it: Sidekiq? now 1 line {QUEUE}" in words.replace("just now", "now")
        assert "shares mail, queue, sidekiq" in words
        answers = ["wrong", "outdated", "not_here", "replaced"]
        assert re.findall(r'value="(\w+):', page.content.decode()) == answers * 2

    def test_a_session_is_called_by_its_first_prompt(
        self, viewer: Client, actor: Actor, told: dict[str, Fact]
    ) -> None:
        hear(actor, "s2", "word " * 60)
        FactEngine().write_fact(fact_text="Queues are Redis.", actor=actor.with_origin(session_id="s4"))
        made = SessionManager().create_session(session_id="s3", actor=actor).session
        page = viewer.get("/p/test/session?key=s1").content.decode()
        assert re.search(r"<h1[^>]*>Which mail queue is it: Sidekiq\?</h1>", page)
        names = re.findall(r"<bdi>([^<]+)</bdi></a>\s*<div", viewer.get("/p/test/sessions").content.decode())
        assert names[0] == f"{made.started_at:%Y-%m-%d %H:%M}"
        assert names[1:4] == ["Queues are Redis.", "word " * 23 + "word…", "Which mail queue is it: Sidekiq?"]

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [("wrong", "fact.verify"), ("outdated", "fact.update"), ("not_here", "fact.update")],
    )
    def test_the_next_context_obeys_and_an_undo_takes_it_back(
        self, curator: Client, actor: Actor, told: dict[str, Fact], answer: str, kind: str
    ) -> None:
        page = self.answer(curator, answer, told["start"])
        assert page.status_code == 200
        assert PORT not in hear(actor, "s2")
        assert PORT not in hear(actor, "s3", "On which port does the gateway listen?")
        elsewhere = hear(actor, "s4", root="github.com/acme/docs")
        assert (PORT in elsewhere) == (answer == "not_here")
        commit = Commit.objects.get(kind=kind)
        assert AuditEntry.objects.filter(action=kind, actor_label="cora").exists()
        curator.post(f"/p/test/undo/{commit.pk}")
        assert PORT in hear(actor, "s5")

    @pytest.mark.parametrize(("answer", "word"), [("wrong", "Wrong"), ("not_here", "Not here")])
    def test_a_message_is_told_no_more_until_that_is_taken_back(
        self, curator: Client, viewer: Client, actor: Actor, answer: str, word: str
    ) -> None:
        question = "How does the billing worker drain its queue?"
        hear(actor, "s0", "The billing worker drains its queue on SIGTERM.")
        assert "on SIGTERM" in hear(actor, "s1", question)
        line = Message.objects.all_versions().get(session_id="s0")
        buttons = re.findall(r'value="(\w+):', curator.get("/p/test/session?key=s1").content.decode())
        assert buttons == ["wrong", "not_here"]
        sent = {"key": "s1", "answer": f"{answer}:{line.uid}:"}
        assert viewer.post("/p/test/session/told", sent).status_code == 403
        page = curator.post("/p/test/session/told", sent, follow=True)
        assert re.search(rf"on SIGTERM\. {word} a person’s words.* Changed by cora", text(page))
        assert re.findall(r'value="(\w+):', page.content.decode()) == ["here"]
        assert hear(actor, "s2", question) == ""
        commit = Commit.objects.get(kind="message.update")
        assert (commit.changed, commit.actor_label) == (1, "cora")
        curator.post(f"/p/test/undo/{commit.pk}")
        assert "on SIGTERM" in hear(actor, "s3", question)
        curator.post("/p/test/session/told", sent)
        curator.post("/p/test/session/told", {**sent, "answer": f"here:{line.uid}:"})
        assert "on SIGTERM" in hear(actor, "s4", question)

    @pytest.mark.parametrize("answer", ["outdated", "loud"])
    def test_what_no_message_can_be_is_refused(self, curator: Client, actor: Actor, answer: str) -> None:
        hear(actor, "s0", "The billing worker drains its queue on SIGTERM.")
        line = Message.objects.all_versions().get(session_id="s0")
        curator.post("/p/test/session/told", {"key": "s0", "answer": f"{answer}:{line.uid}:"})
        assert not Commit.objects.filter(kind="message.update").exists()

    def test_what_came_of_a_line_is_told(self, curator: Client, actor: Actor, told: dict[str, Fact]) -> None:
        facts, port, queue = FactEngine(), told["start"], told["prompt"]
        facts.write_fact(fact_text=QUEUE, actor=actor.with_origin(session_id="s7"))
        facts.set_verification(fact_id=queue.uid, verdict="verified", actor=actor)
        other = "The gateway listens on port 9444."
        facts.supersede_fact(old_fact_id=port.uid, new_fact_text=other, actor=actor)
        words = text(curator.get("/p/test/session?key=s1"))
        before, _, after = words.rpartition("Which mail queue is it: Sidekiq?")
        assert f"Its place was taken by: {other}" in before
        assert f"Changed by {actor.label}" in before
        assert re.search(rf"Verified by {actor.label}\..* Confirmed once more\.", after)
        self.answer(curator, "wrong", queue)
        after = text(curator.get("/p/test/session?key=s1")).rpartition("Which mail queue is it: Sidekiq?")[2]
        assert "Wrong, says cora." in after
        assert "Changed by" not in after

    def test_what_changed_meanwhile_is_refused_in_words(self, curator: Client, told: dict[str, Fact]) -> None:
        stale = told["start"]
        self.answer(curator, "not_here", stale)
        page = self.answer(curator, "outdated", stale)
        assert "Changed: Metadata" in text(page)
        fact = Fact.objects.all_versions().filter(uid=stale.uid).latest("version")
        assert fact.valid_until is None
        page = self.answer(curator, "here", fact)
        assert "told it again" in text(page)

    def test_an_answer_is_about_the_text_that_was_told(
        self, curator: Client, actor: Actor, told: dict[str, Fact]
    ) -> None:
        newer = {"start": "The gateway listens on port 9444.", "prompt": "The mail queue is Celery."}
        for name, text_now in newer.items():
            FactEngine().update_fact(fact_id=told[name].uid, updates={"fact_text": text_now}, actor=actor)
            pinned = FactEngine().update_fact(fact_id=told[name].uid, updates={"pinned": True}, actor=actor)
            assert pinned.version == 3
        for path in ("/p/test/session?key=s1", "/p/test/"):
            page = curator.get(path)
            card = re.search(r'<section class="card"[^>]*"told".*?</section>', page.content.decode(), re.S)
            assert card
            words = " ".join(re.sub(r"<[^>]*>", " ", card[0]).split())
            for older, name in ((PORT, "start"), (QUEUE, "prompt")):
                assert re.search(rf"{older} .*Changed since to: {newer[name]} just now", words)
            assert 'name="answer"' not in card[0]
        for name, version, word in product(newer, (1, 3), ("wrong", "outdated", "not_here")):
            value = f"{word}:{told[name].uid}:{version}"
            page = curator.post("/p/test/session/told", {"key": "s1", "answer": value}, follow=True)
            assert "The fact was changed since the session was told it" in text(page)
            with pytest.raises(Conflict):
                answer_told_fact(session_id="s1", fact_id=told[name].uid, answer=word, actor=actor)
            fact = FactEngine().get_fact(fact_id=told[name].uid, actor=actor)
            assert (fact.version, fact.verification_status, fact.valid_until) == (3, "unverified", None)

    def test_a_fact_told_again_as_it_is_now_has_its_buttons(
        self, curator: Client, actor: Actor, told: dict[str, Fact]
    ) -> None:
        newer = "The gateway listens on port 9444."
        FactEngine().update_fact(fact_id=told["start"].uid, updates={"fact_text": newer}, actor=actor)
        hear(actor, "s2", "On which port does the gateway listen?")
        page = curator.get("/p/test/session?key=s2")
        assert (newer in text(page), "Changed since" in text(page)) == (True, False)
        assert f'value="wrong:{told["start"].uid}:2"' in page.content.decode()
        value = f"wrong:{told['start'].uid}:2"
        curator.post("/p/test/session/told", {"key": "s2", "answer": value})
        fact = FactEngine().get_fact(fact_id=told["start"].uid, actor=actor)
        assert fact.verification_status == "invalidated"

    def test_a_line_is_the_one_that_was_given(self, curator: Client, actor: Actor) -> None:
        said = (
            "Look at this. The billing worker drains its queue on SIGTERM. "
            + "Nobody knows more of it. " * 20
        )
        hear(actor, "s0", said)
        FactEngine().write_fact(fact_text=PORT + " Anna from finance asked for it." * 20, actor=actor)
        given = [
            hear(actor, "s1", "How does the billing worker drain its queue?"),
            hear(actor, "s1", "On which port does the gateway listen?"),
        ]
        given_lines = [
            line[2:].rpartition(" [")[0] for line in "\n".join(given).splitlines() if line[:2] == "- "
        ]
        page = unescape(curator.get("/p/test/session?key=s1").content.decode())
        shown = [" ".join(line.split()) for line in re.findall(r'<a class="line"[^>]*>(.*?)</a>', page, re.S)]
        assert shown == given_lines
        assert shown[0].startswith("The billing worker drains its queue on SIGTERM. Nobody")
        assert shown[1] == PORT + " Anna from finance asked for it." * 5
