"""Every page needs no more queries for 12 rows than for 3. The pages come from the URL conf: none is left out
except by name.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from bench.page_urls import NOT_A_PAGE, QUERIES, Values, pages, routes, walk
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.engine import ReplayEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import IllegalTransition
from memory.models import Fact, Membership, Project, RecallLog
from tests.amounts import take_share
from tests.queries import count_queries, nothing_noted

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, LINKS, BRANCHES = FactEngine(), LinkEngine(), BranchManager()
CHILD = "task/child"
# And never opened.
POSTED = {
    *("change-member", "fact-act", "switch-rule", "save-view", "change-view"),
    *("admin:change-member", "admin:fact-act", "admin:switch-rule", "logout"),
    *("admin:save-view", "admin:change-view", "score-conversation", "admin:score-conversation"),
    *("compact", "admin:compact", "session-told", "admin:session-told", "sample", "admin:sample"),
}
IN_THE_PAST = ("search", "facts")


class Scene:
    """Project in which everything that a page lists can grow."""

    def __init__(self, project: Project, actor: Actor) -> None:
        self.project, self.actor, self.made = project, actor, 0
        self.fact = self.write("The fact that is looked at")
        self.talk = ConversationEngine().create_conversation(actor=actor)
        self.message, self.seen = self.say("the first"), self.notice("the first")
        self.edge, self.fork = self.relate("the first"), self.go_on("the first")
        BRANCHES.create_branch(name=CHILD, actor=actor)

    def write(self, text: str, branch: str = "main", **more: Any) -> Fact:
        return FACTS.write_fact(fact_text=text, branch_name=branch, actor=self.actor, **more).fact

    def grow(self, to: int) -> None:
        """Grow everything to so many rows."""
        for n in range(self.made, to):
            for make in (self.memory, self.child, self.capture, self.beside, self.people):
                make(n)
        self.made = to
        buffer.flush()

    def memory(self, n: int) -> None:
        """Add a fact with links in both directions, a version, a verdict, a confirmation and a successor."""
        on = {"fact_id": self.fact.uid, "actor": self.actor}
        other = self.write(f"fact {n}", session_id="s", agent_id=f"agent-{n}")
        LINKS.write_link(from_id=self.fact.uid, to_id=other.uid, link_type="ASSOCIATED", actor=self.actor)
        LINKS.write_link(from_id=other.uid, to_id=self.fact.uid, link_type="BRIDGE", actor=self.actor)
        FACTS.update_fact(**on, updates={"confidence": 0.5 + n / 1000})
        with suppress(IllegalTransition):  # once it has a successor
            FACTS.set_verification(**on, verdict=("verified", "invalidated")[n % 2], reason=f"read {n}")
        self.write(self.fact.fact_text, session_id=f"s-{n}")
        self.write(f"another {n}", parent_id=self.fact.uid)

    def child(self, n: int) -> None:
        """Add branches, and on one branch a new, a changed and a deleted fact, and a link."""
        BRANCHES.create_branch(name=f"task/t-{n}", actor=self.actor)
        BRANCHES.create_branch(name=f"task/old-{n}", actor=self.actor)
        BRANCHES.archive_branch(name=f"task/old-{n}", actor=self.actor)
        new, changed, gone = (self.write(f"{word} {n}", CHILD) for word in ("new", "changed", "gone"))
        on = {"branch_name": CHILD, "actor": self.actor}
        FACTS.update_fact(fact_id=changed.uid, updates={"category": f"c-{n}"}, **on)
        FACTS.delete_fact(fact_id=gone.uid, **on)
        LINKS.write_link(from_id=new.uid, to_id=changed.uid, link_type="ASSOCIATED", **on)

    def capture(self, n: int) -> None:
        """Add a conversation, a message, an observation and a relation, and facts derived from them."""
        ConversationEngine().create_conversation(actor=self.actor, session_id="s")
        self.say(f"said {n}"), self.notice(f"noticed {n}"), self.relate(f"entity {n}")
        self.go_on(f"fork {n}")
        ends = {"message": (self.message, "MESSAGE_OF"), "observation": (self.seen, "DERIVED_FROM")}
        for kind, (row, link) in ends.items():
            fact = self.write(f"learned from {kind} {n}")
            LINKS.write_link(from_id=fact.uid, to_id=row.uid, to_type=kind, link_type=link, actor=self.actor)

    def say(self, text: str) -> Any:
        said = [{"role": "user", "content": text}]
        (row,) = MessageEngine().write_messages(
            conversation_id=self.talk.uid, messages=said, actor=self.actor
        )
        return row

    def go_on(self, text: str) -> Any:
        """Fork the conversation at its first message, with a message and a call of a tool."""
        fork = ConversationEngine().fork_conversation(
            conversation_id=self.talk.uid, message_id=self.message.uid, title=text, actor=self.actor
        )
        call = {"id": text, "name": "Bash", "input": {"command": text}}
        said = [{"role": "tool_result", "content": text, "tool_calls": [call]}]
        MessageEngine().write_messages(conversation_id=fork.uid, messages=said, actor=self.actor)
        ReplayEngine().create_replay(
            conversation_id=self.talk.uid, message_id=self.message.uid, actor=self.actor
        )
        return fork

    def notice(self, text: str) -> Any:
        return ObservationEngine().write_observation(
            observation_type="insight", summary=text, session_id="s", actor=self.actor
        )

    def relate(self, name: str) -> Any:
        ends = {"source_entity": "hub", "relation_type": "knows", "target_entity": name}
        return RelationEngine().write_relation(**ends, actor=self.actor).relation

    def beside(self, n: int) -> None:
        """Add a session, a recall, a branch with two questions, and a key; the audit trail grows too."""
        SessionManager().create_session(session_id=f"run-{n}", agent_id=f"agent-{n}", actor=self.actor)
        RecallLog.objects.create(
            project=self.project,
            at=timezone.now(),
            branch="main",
            query=f"question {n}",
            surface="rest",
            fact_ids=[str(self.fact.uid)],
        )
        other = self.write(f"fact {n}").uid  # an existing fact
        branch = BRANCHES.create_branch(name=f"task/asked-{n}", actor=self.actor)
        for status in ReviewItem.Status.values:
            ReviewItem.objects.create(
                project=self.project,
                branch=branch,
                kind="near_duplicate",
                status=status,
                score=0.9,
                fact_id=self.fact.uid,
                other_id=other,
                pair=f"{status} {n}",
            )
        KeyEngine().create_key(label=f"key {n}", scopes=["read"], actor=self.actor)

    def people(self, n: int) -> None:
        """Add a user, a project and a periodic task: rows of the whole server."""
        every, _ = IntervalSchedule.objects.get_or_create(every=n + 1, period=IntervalSchedule.HOURS)
        CrontabSchedule.objects.create(minute=str(n))
        PeriodicTask.objects.create(name=f"task {n}", task="memory.embed", interval=every)
        user = get_user_model().objects.create_user(f"person-{n}")
        Membership.objects.create(project=self.project, user=user)
        Project.objects.create(name=f"Project {n}", slug=f"project-{n}")

    # ---- addresses -------------------------------------------------------------------------------

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Yield each page's name and URL; of those that stand in both frames, the one of the web."""
        web = {f"admin:{route.name}" for route in routes()}
        for page in pages(self.values()):
            if page.route.name in web:
                continue
            url = (
                f"{page.url}{'&' if '?' in page.url else '?'}limit=100" if page.route.of_project else page.url
            )
            yield page.name, url
            if page.route.name in IN_THE_PAST:
                yield f"{page.name}, past", f"{url}&at=3"

    def values(self) -> Values:
        rows = {
            "fact_id": self.fact.uid,
            "observation_id": self.seen.uid,
            "relation_id": self.edge.uid,
            "conversation_id": self.talk.uid,
            "message_id": self.message.uid,
            "first": self.talk.uid,
            "second": self.fork.uid,
        }
        said = {
            "project_slug": "project-0",
            "words": "fact",
            "session": "s",
            "entity": "hub",
            "category": "general",
        }
        return Values(self.project.slug, (CHILD,), **rows, **said)


@pytest.fixture
def person(project: Project) -> Client:
    """Return the browser of a user with all rights."""
    user = get_user_model().objects.create_superuser("max", password="a long password")
    Membership.objects.create(project=project, user=user, role=Membership.Role.OWNER)
    client = Client()
    client.force_login(user)
    return client


def queries_of(client: Client, name: str, path: str) -> int:
    client = Client() if name == "login" else client
    with nothing_noted():
        return count_queries(client, path)


@pytest.mark.nightly
@pytest.mark.slow
def test_no_page_asks_more_for_more_rows(person: Client, project: Project, actor: Actor) -> None:
    """What a page asks once, for its caches, is at most five queries: fewer than a query a row would add.

    The suite asks for a quarter of the pages, others each day.
    """
    scene = Scene(project, actor)
    today = {name for name, _path in take_share(list(scene.addresses()), 4)}
    scene.grow(3)
    with time_machine.travel(timezone.now(), tick=False):  # no cache ends between two requests
        person.get(f"/p/{project.slug}/")  # fills the caches of all pages
        few = {name: queries_of(person, name, path) for name, path in scene.addresses() if name in today}
    scene.grow(12)
    with time_machine.travel(timezone.now(), tick=False):
        person.get(f"/p/{project.slug}/")
        many = {name: queries_of(person, name, path) for name, path in scene.addresses() if name in today}
        # What the index says of a word is kept from the page before, or asked once more.
        again = {name: path for name, path in scene.addresses() if many.get(name, 0) > few.get(name, 0)}
        many |= {name: queries_of(person, name, path) for name, path in again.items()}
    assert {name: (few[name], many[name]) for name in few if many[name] > few[name]} == {}


def test_no_page_is_forgotten() -> None:
    """Check that exclusions and queries name existing pages."""
    every = {name: path for name, path, _words, _callback in walk(get_resolver().url_patterns) if name}
    pages = {route.name for route in routes()}
    left_out = {name for name, path in every.items() if not path.startswith("api/") and name not in pages}
    assert left_out == NOT_A_PAGE.keys() | POSTED
    assert "docs" in pages
    assert QUERIES.keys() <= pages
