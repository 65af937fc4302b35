"""The admin's pages of conversations, observations and relations."""

import html as markup
import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.texts import MAX_DEPTH
from tests.memory.admin.conftest import HOME
from tests.memory.admin.test_admin_facts import page
from tests.memory.api.client import UNKNOWN, api_for

pytestmark = pytest.mark.django_db(transaction=True)

LISTS = ("observations", "relations", "conversations")
KEPT = MAX_DEPTH - 4  # brackets below calls, call, input and a; what lies deeper is kept as its text
DEEP = "[" * KEPT + "&quot;" + "[" * (500 - KEPT) + "]" * (500 - KEPT) + "&quot;" + "]" * KEPT


def observe(actor, summary="", **fields):
    given = {"observation_type": "insight", **({"summary": summary} if summary else {}), **fields}
    return ObservationEngine().write_observation(actor=actor, **given)


def relate(actor, source, kind, target, **more):
    edge = {"source_entity": source, "relation_type": kind, "target_entity": target}
    return RelationEngine().write_relation(**edge, actor=actor, **more).relation


def talk(actor, *contents, **fields):
    conversation = ConversationEngine().create_conversation(actor=actor, **fields)
    said = [
        {"role": "user" if place % 2 == 0 else "assistant", "content": text}
        for place, text in enumerate(contents)
    ]
    rows = (
        MessageEngine().write_messages(conversation_id=conversation.uid, messages=said, actor=actor)
        if said
        else []
    )
    return conversation, rows


def body(html):
    return html.split("<main")[1].split("</main>")[0]


@pytest.mark.parametrize("name", ["observations", "relations"])
def test_the_command_of_an_empty_list_fills_it(viewer, project, name):
    command = markup.unescape(
        re.findall(r'<pre id="copy-curl">(curl .*)</pre>', page(viewer, HOME + name))[0]
    )
    path, given = re.fullmatch(r"curl http://testserver/api/v1(\S+) .* -d '(.*)'", command).groups()
    assert api_for(project).post(path, json.loads(given)).status_code == 201
    assert ">curl" not in page(viewer, HOME + name)


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_list_says_what_would_be_there(viewer, main, name):
    assert "yet." in body(page(viewer, HOME + name))
    html = page(viewer, f"{HOME}{name}?q=nothing")
    assert "matches." in body(html)
    assert f'href="{HOME}{name}"' in body(html)
    section = {"relations": "graph"}.get(name, name)
    assert f'href="{HOME}{section}" aria-current="page"' in html


class TestObservations:
    def test_listed_filtered_and_searched(self, viewer, actor):
        observe(actor, "Retries hide the cause.", session_id="s1", agent_id="bee")
        observe(
            actor,
            tool_name="Bash",
            raw_input={"command": "make"},
            raw_output="Exit code 2",
            observation_type="tool_use",
        )
        html = body(page(viewer, f"{HOME}observations"))
        assert html.index("Executed command") < html.index("Retries hide")
        assert "Retries" not in body(page(viewer, f"{HOME}observations?tool_name=Bash"))
        assert "Executed" not in body(page(viewer, f"{HOME}observations?session_id=s1&agent_id=bee"))
        found = body(page(viewer, f"{HOME}observations?q=cause"))
        assert "Retries hide" in found
        assert ("Oldest first" in html, "Oldest first" in found, "best answers first" in found) == (
            True,
            False,
            True,
        )

    def test_one_with_what_it_was_given_and_what_comes_from_it(self, viewer, actor, write):
        seen = observe(
            actor,
            tool_name="Bash",
            raw_input={"command": "make <b>"},
            raw_output="done",
            observation_type="tool_use",
            session_id="s1",
            task_id="t1",
        )
        fact = write("Builds take long.")
        LinkEngine().write_link(
            from_id=fact.uid, to_id=seen.uid, to_type="observation", link_type="DERIVED_FROM", actor=actor
        )
        html = body(page(viewer, f"{HOME}observations/{seen.uid}"))
        for part in (
            "make &lt;b&gt;",
            "done",
            "Builds take long.",
            f"{HOME}facts/{fact.uid}",
            "facts?session_id=s1",
            "facts?task_id=t1",
            "conversations?session_id=s1",
        ):
            assert part in html, part
        page(viewer, f"{HOME}observations/{UNKNOWN}", 404)

    def test_a_wrong_filter_is_told_and_stays(self, viewer, main):
        html = body(page(viewer, f"{HOME}observations?after=yesterday", 400))
        assert 'role="alert"' in html
        assert 'value="yesterday"' in html

    def test_pages(self, viewer, actor):
        ObservationEngine().write_observations(
            observations=[{"summary": f"Seen {n}.", "observation_type": "insight"} for n in range(60)],
            actor=actor,
        )
        first = body(page(viewer, f"{HOME}observations"))
        assert (first.count("<tr>"), "Seen 59." in first, "Seen 9." in first) == (51, True, False)
        older = re.search(r'rel="next"\s+href="([^"]+)"', first)[1].replace("&amp;", "&")
        assert body(page(viewer, older)).count("<tr>") == 11


class TestRelations:
    def test_listed_filtered_and_by_entity(self, viewer, actor):
        relate(actor, "Billing", "uses", "Redis")
        relate(actor, "Login", "uses", "Postgres")
        html = body(page(viewer, f"{HOME}relations"))
        assert "Billing" in html
        assert "Login" in html
        assert "Login" not in body(page(viewer, f"{HOME}relations?source=billing"))
        assert "Billing" not in body(page(viewer, f"{HOME}relations?q=POSTGRES"))
        assert "Login" not in body(page(viewer, f"{HOME}relations?q=postgres&relation_type=owns"))
        assert 'role="alert"' in body(page(viewer, f"{HOME}relations?q=postgres&source=Login", 400))

    @pytest.mark.slow
    def test_an_entity_with_very_many_shows_some_and_says_so(self, viewer, actor):
        for number in range(52):
            one = relate(actor, "hub", "knows", f"leaf {number}")
        around = body(page(viewer, f"{HOME}relations/{one.uid}"))
        assert (around.count("<tr>"), "These are the first 50." in around) == (51, True)
        html = body(page(viewer, f"{HOME}relations?q=hub"))
        assert (html.count("<tr>"), "These are the first 50." in html) == (51, True)
        assert "These are the first" not in body(page(viewer, f"{HOME}relations?q=leaf+1"))

    def test_one_with_what_is_around_it(self, viewer, actor):
        one = relate(
            actor,
            "Billing",
            "uses",
            "Redis",
            properties={"port": 6379},
            valid_until=timezone.now() + timedelta(1),
        )
        relate(actor, "Redis", "runs_on", "db-1")
        html = " ".join(body(page(viewer, f"{HOME}relations/{one.uid}")).split())
        until = f"until {one.valid_until:%Y-%m-%d %H:%M}"
        for part in ("Billing", "port", "6379", "runs_on", "db-1", "1 ×", until):
            assert part in html, part
        assert "These are the first" not in html
        page(viewer, f"{HOME}relations/{UNKNOWN}", 404)


class TestConversations:
    def test_listed_filtered_and_messages_found(self, viewer, actor):
        talk(actor, "Why is login slow?", "The pool is full.", title="Login", session_id="s1")
        talk(actor, title="Empty")
        html = body(page(viewer, f"{HOME}conversations"))
        assert html.index("Empty") < html.index("Login")
        assert re.search(r'data-label="Messages">2<', html)
        assert "Empty" not in body(page(viewer, f"{HOME}conversations?session_id=s1"))
        found = body(page(viewer, f"{HOME}conversations?q=pool"))
        assert "The pool is full." in found
        assert "without a title" not in found
        assert "The pool is full." in body(page(viewer, f"{HOME}conversations?q=pool&session_id=s1"))
        assert "The pool" not in body(page(viewer, f"{HOME}conversations?q=pool&session_id=s2"))
        assert 'role="alert"' in body(page(viewer, f"{HOME}conversations?q=pool&status=active", 400))

    def test_the_messages_in_their_order_with_what_comes_from_them(self, viewer, actor, write):
        one, (first, _) = talk(actor, "Use tabs <i>.", "x" * 2500, title="Style")
        fact = write("We use tabs.")
        LinkEngine().write_link(
            from_id=fact.uid, to_id=first.uid, to_type="message", link_type="DERIVED_FROM", actor=actor
        )
        html = body(page(viewer, f"{HOME}conversations/{one.uid}"))
        assert html.index("Use tabs &lt;i&gt;.") < html.index("We use tabs.") < html.index("xxx")
        assert "x" * 2001 not in html
        assert "xxx" not in body(page(viewer, f"{HOME}conversations/{one.uid}?role=user"))
        page(viewer, f"{HOME}conversations/{UNKNOWN}", 404)
        assert 'role="alert"' in body(page(viewer, f"{HOME}conversations/{one.uid}?role=nobody"))

    def test_a_message_by_itself_and_thinking_for_curators_only(self, viewer, curator, actor):
        one, _ = talk(actor, title="T")
        row = MessageEngine().write_message(
            conversation_id=one.uid,
            role="assistant",
            content="y" * 2500,
            thinking="Hm, a secret.",
            actor=actor,
        )
        path = f"{HOME}messages/{row.uid}"
        assert "y" * 2500 in page(viewer, path)
        assert "Hm, a secret." not in page(viewer, path)
        assert "Hm, a secret." in page(curator, path)
        assert "Hm, a secret." not in page(viewer, f"{HOME}conversations/{one.uid}")
        page(viewer, f"{HOME}messages/{UNKNOWN}", 404)

    def test_pages_go_forward_in_time(self, viewer, actor):
        one, _ = talk(actor, *(f"Line {n:02}." for n in range(60)))
        first = body(page(viewer, f"{HOME}conversations/{one.uid}"))
        assert ("Line 00." in first, "Line 49." in first, "Line 50." in first) == (True, True, False)
        later = re.search(r'rel="next"\s+href="([^"]+)"', first)[1].replace("&amp;", "&")
        assert "Line 59." in body(page(viewer, later))


def test_branch_and_time_are_kept(viewer, actor):
    observe(actor, "On main.")
    BranchManager().create_branch(name="task/x", actor=actor)
    observe(actor, "On the branch.", branch_name="task/x")
    assert "On the branch." not in page(viewer, f"{HOME}observations")
    html = body(page(viewer, f"{HOME}observations?branch=task/x"))
    assert "On the branch." in html
    assert re.search(r'href="/admin/p/test/observations/[0-9a-f-]+\?branch=task%2Fx"', html)
    assert "On main." not in body(page(viewer, f"{HOME}observations?at=0"))


class TestCalls:
    """Tool calls: input and output are readable in any program's format."""

    @pytest.mark.parametrize(
        ("call", "seen"),
        [
            ({"name": "Bash", "input": {"command": "make <b>"}}, ("Bash", "make &lt;b&gt;")),
            ({"name": "Edit", "input": {"path": "a.py", "old": "x"}}, ("Edit", "old: x\npath: a.py")),
            ({"function": {"name": "lookup", "arguments": '{"id": 7}'}, "type": "function"}, ("lookup", "7")),
            ({"odd": ["设", 1]}, ("[\n  &quot;设&quot;,\n  1\n]",)),
            ({"name": "cut", "input": '{"command": "ma'}, ("{&quot;command&quot;: &quot;ma",)),
            ({"name": "", "input": {}}, ("{}",)),
            ({"name": "half", "input": '{"sign": "\\ud83d", "设": 1}'}, ("sign: \\ud83d\n设: 1",)),
            ({"name": "deep", "input": "[" * 500 + "]" * 500}, ("[" * 500 + "]" * 500,)),
            ({"name": "deep", "input": {"a": {"b": json.loads("[" * 500 + "]" * 500)}}}, (DEEP,)),
        ],
    )
    def test_in_a_conversation(self, viewer, actor, call, seen):
        conversation, _ = talk(actor)
        said = {"role": "tool_result", "content": "a   b\n c  d", "tool_calls": [call]}
        (row,) = MessageEngine().write_messages(
            conversation_id=conversation.uid, messages=[said], actor=actor
        )
        for address in (f"conversations/{conversation.uid}", f"messages/{row.uid}"):
            html = body(page(viewer, HOME + address))
            assert '<pre dir="auto">a   b\n c  d</pre>' in html
            for part in seen:
                assert part in html, part

    def test_an_observation_of_a_hook_leads_to_the_message_that_holds_the_answer(self, viewer, actor):
        _, (row, _) = talk(actor, "What make said", "so")
        seen = observe(actor, tool_name="Bash", raw_input={"command": "make"}, message_id=row.uid)
        html = body(page(viewer, f"{HOME}observations/{seen.uid}"))
        assert f'href="{HOME}messages/{row.uid}"' in html
        assert '<pre dir="auto">make</pre>' in html


@pytest.mark.parametrize("name", LISTS)
def test_how_many_filters_are_set_is_told_where_they_are_folded(viewer, main, name):
    field = "source" if name == "relations" else "session_id"
    assert 'class="count"' not in body(page(viewer, f"{HOME}{name}?q=x"))
    assert '<span class="count">1</span>' in body(page(viewer, f"{HOME}{name}?{field}=x"))


def test_the_roles_of_a_conversation_are_filtered_and_cleared(viewer, actor):
    conversation, _ = talk(actor, "Why?", "Because.")
    address = f"{HOME}conversations/{conversation.uid}"
    html = body(page(viewer, f"{address}?role=user"))
    assert ("Why?" in html, "Because." in html, '<span class="count">1</span>' in html) == (True, False, True)
    assert f'href="{address}"' in html
    assert "Clear" not in body(page(viewer, address))


@pytest.mark.parametrize("name", ["observations", "conversations"])
def test_the_agent_of_a_row_filters_the_list_and_its_session_leads_to_its_page(viewer, actor, name):
    observe(actor, "Noticed.", session_id="s&1", agent_id="bee")
    talk(actor, session_id="s&1", agent_id="bee")
    html = body(page(viewer, HOME + name))
    assert f'href="{HOME}{name}?agent_id=bee"' in html
    session = re.search(r'href="([^"]*/session\?key=[^"]*)"', html)[1]
    assert viewer.get(markup.unescape(session)).status_code == 200
