"""Filters as one line of tokens, and addresses without empty parameters."""

import re
from typing import Any

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.exceptions import Invalid
from memory.views.generic.filter_tokens import read_line
from tests.memory.views.test_page_frame import text

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/p/test/facts"
HTMX = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{LIST}"}
FIELDS = ("verification_status", "agent_id", "tags", "category")


@pytest.fixture
def facts(actor: Actor) -> None:
    for agent, said in (("ledger", "Fees are data."), ("ops", "On call changes on Tuesday.")):
        FactEngine().write_fact(fact_text=said, tags=[agent, "both"], actor=actor.with_origin(agent_id=agent))


def lines(page: str) -> list[str]:
    return re.findall(r'<a class="line"[^>]*>([^<]*)</a>', page)


def tokens(page: str) -> dict[str, str]:
    """Return the tokens of a page, each with the address without it."""
    found = re.findall(r'<a href="([^"]*)"\s+title="[^"]*">\s*<bdi>([^<]*)</bdi>', page)
    return {token.replace("&quot;", '"'): address.replace("&amp;", "&") for address, token in found}


@pytest.mark.parametrize(
    ("line", "filters", "words"),
    [
        (
            "belief:unverified agent:ledger",
            {"verification_status": ["unverified"], "agent_id": ["ledger"]},
            "",
        ),
        ("fees tag:a of tag:b", {"tags": ["a", "b"]}, "fees of"),
        ('agent:"a b" x', {"agent_id": ["a b"]}, "x"),
        ("verification_status:verified", {"verification_status": ["verified"]}, ""),
        ("https://day1.example std::vector 12:30 a: b", {}, "https://day1.example std::vector 12:30 a: b"),
        ('"localhost:8765" "agent:x y"', {}, '"localhost:8765" "agent:x y"'),
        ("", {}, ""),
    ],
)
def test_a_line_is_filters_and_words(line: str, filters: dict[str, list[str]], words: str) -> None:
    assert read_line(line, FIELDS) == (filters, words)


def test_an_unknown_token_says_which_there_are() -> None:
    with pytest.raises(Invalid) as refused:
        read_line("fees colour:red", FIELDS)
    assert refused.value.data["known"] == "agent, belief, category, tag"


def test_a_typed_line_becomes_the_address(viewer: Client, facts: None) -> None:
    answer = viewer.get(f"{LIST}?q=belief:unverified+agent:ledger+fees&category=&tags=")
    assert (answer.status_code, answer["Location"]) == (
        302,
        f"{LIST}?q=fees&verification_status=unverified&agent_id=ledger",
    )
    page = text(viewer.get(answer["Location"]))
    assert lines(page) == ["Fees are data."]
    assert list(tokens(page)) == ["agent:ledger", "belief:unverified"]
    assert 'name="q" type="search" value="fees"' in " ".join(page.split())


def test_tokens_are_taken_away_one_by_one(viewer: Client, facts: None) -> None:
    answer = viewer.get(f"{LIST}?agent_id=ledger&q=agent:ops+agent:ledger")
    assert answer["Location"] == f"{LIST}?agent_id=ledger%2Cops"
    page = text(viewer.get(answer["Location"]))
    assert len(lines(page)) == 2
    assert tokens(page) == {"agent:ledger": f"{LIST}?agent_id=ops", "agent:ops": f"{LIST}?agent_id=ledger"}
    page = text(viewer.get(f"{LIST}?agent_id=ops"))
    assert (lines(page), tokens(page)) == (["On call changes on Tuesday."], {"agent:ops": LIST})


def test_a_filter_that_takes_one_value_is_replaced(viewer: Client, facts: None) -> None:
    answer = viewer.get(f"{LIST}?verification_status=unverified&q=belief:verified")
    assert answer["Location"] == f"{LIST}?verification_status=verified"


def test_an_unknown_token_stays_in_the_field(viewer: Client, facts: None) -> None:
    page = text(viewer.get(f"{LIST}?q=colour:red"))
    assert "There is no filter colour. There are: after, agent, app, before, belief, category," in page
    assert 'value="colour:red"' in page
    assert lines(text(viewer.get(f'{LIST}?q="fees:data"'))) == ["Fees are data."]


def test_a_value_that_there_is_not_is_refused_beside_its_token(viewer: Client, facts: None) -> None:
    page = text(viewer.get(f"{LIST}?q=belief:maybe", follow=True))
    assert 'class="note error" role="alert"' in page
    assert list(tokens(page)) == ["belief:maybe"]


@pytest.mark.parametrize("path", [LIST, "/p/test/search"])
def test_the_form_has_a_field_for_each_filter_of_the_address(viewer: Client, path: str) -> None:
    page = text(viewer.get(f'{LIST}?q=task:"a b"', follow=True))
    assert field(page, "task_id") == "a b"
    assert list(tokens(page)) == ['task:"a b"']
    page = text(viewer.get(f"{path}?min_confidence=0.7&valid_at=2026-05-01T00:00:00Z"))
    shown = field(page, "min_confidence"), field(page, "max_confidence"), field(page, "valid_at")
    assert shown == ("0.7", "", "2026-05-01T00:00:00.000")
    assert list(tokens(page)) == ["min_confidence:0.7", "valid_at:2026-05-01T00:00:00Z"]
    assert field(text(viewer.get("/p/test/sessions?task_id=t1")), "task_id") == "t1"


LISTS = {
    "facts": "There are: after, agent, app, before, belief, category,",
    "search": "There are: after, agent, app, before, belief, category,",
    "sessions": "There are: agent, repository, status, task.",
    "conversations": "There are: agent, app, fork, parent, repository, session, status, task, user.",
    "observations": "There are: after, agent, app, before, outcome,",
    "relations": "There are: open_only, relation, source, target.",
    "audit": "There are: action, after, before, by, kind, request_id, target.",
    "branches": "There are: archived, name, owner, tag.",
    "keys": "There are: agent, state, user.",
    "questions": "There are: category.",
    "erasures": "There are: scope, state.",
    "members": "There are: name, role.",
    "scorings": "There are: conversation, state.",
    "review": "There are: after, agent, app, before, belief, category,",
    "conversations/forks": "There are: agent, app, parent, repository, session, status, task, user.",
    "tasks": "There are: agent, state.",
    "handoffs": "There are: state, target, to, type.",
    "templates": "There are: state, type.",
    "bundles": "There are: name, state.",
    "quarantines": "There are: source, state.",
    "consolidation": "There are: level, state, target.",
    "replays": "There are: conversation, state.",
}


@pytest.mark.parametrize("name", LISTS)
def test_an_unknown_filter_of_an_address_is_refused(maintainer: Client, facts: None, name: str) -> None:
    page = text(maintainer.get(f"/p/test/{name}?colour=red"))
    assert f"There is no filter colour. {LISTS[name]}" in page
    assert lines(page) == []
    if "data-search" in page and name != "review":
        assert tokens(page) == {"colour:red": f"/p/test/{name}"}
    for known in ("branch=main&at=1&limit=5&status=", ""):
        assert "There is no filter" not in text(maintainer.get(f"/p/test/{name}?{known}", follow=True))


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        (
            "facts?belief=verified&tag=a&after=2026",
            "facts?verification_status=verified&tags=a&created_after=2026",
        ),
        ("search?q=a&agent=ops", "search?q=a&agent_id=ops"),
        ("sessions?task=t1", "sessions?task_id=t1"),
        ("observations?type=discovery&after=2026", "observations?observation_type=discovery&after=2026"),
        ("relations?relation=uses", "relations?relation_type=uses"),
        (
            "handoffs?q=type:escalation+to:ops&ordering=created_at",
            "handoffs?ordering=created_at&handoff_type=escalation&to_agent=ops",
        ),
        ("tasks?agent=ops&state=all", "tasks?agent_id=ops&state=all"),
        ("bundles?q=state:Uploaded", "bundles?state=uploaded"),
    ],
)
def test_an_address_may_name_a_filter_as_it_is_typed(viewer: Client, typed: str, address: str) -> None:
    answer = viewer.get(f"/p/test/{typed}")
    assert (answer.status_code, answer["Location"]) == (302, f"/p/test/{address}")


def test_all_that_match_are_none_where_a_filter_is_unknown(
    curator: Client, facts: None, actor: Actor
) -> None:
    chosen = {"all": "1", "action": "archive"}
    answer = curator.post(f"{LIST}?statsu=archived", chosen)
    assert (answer.status_code, "There is no filter statsu." in text(answer)) == (400, True)
    found = FactEngine().list_facts(actor=actor).results
    assert [fact.status for fact in found] == ["active", "active"]


def test_closed_relations_are_left_out_where_only_open_ones_are_asked_for(
    viewer: Client, actor: Actor
) -> None:
    edge = {"source_entity": "API", "relation_type": "uses", "target_entity": "Redis"}
    closed = RelationEngine().write_relation(actor=actor, **edge).relation
    RelationEngine().close_relation(relation_id=closed.uid, actor=actor)
    listed = {
        asked: "Redis" in text(viewer.get(f"/p/test/relations?open_only={asked}", follow=True))
        for asked in ("true", "false", "")
    }
    assert listed == {"true": False, "false": True, "": True}
    page = text(viewer.get("/p/test/relations?open_only=yes"))
    assert "must be true or false." in page


REFUSED = {
    "sessions": "Status must be one of abandoned, running, completed.",
    "conversations": "Status must be one of running, archived, completed.",
    "facts": "Status must be one of active, archived, proposed, done, superseded.",
    "observations": "must be one of decision, discovery, error, insight, use of a tool.",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_has_the_words_of_the_page(viewer: Client, name: str) -> None:
    filtered = "observation_type" if name == "observations" else "status"
    page = text(viewer.get(f"/p/test/{name}?{filtered}=maybe"))
    assert REFUSED[name] in page
    words = REFUSED[name].rstrip(".").rpartition("one of ")[2].split(", ")
    assert sorted(words) == sorted(re.findall(r'<option value="[^"]+"[^>]*>([^<]*)', select(page, filtered)))


def test_a_token_has_the_word_of_the_page_and_is_typed_either_way(viewer: Client, facts: None) -> None:
    for typed in ("proposed", "created"):
        answer = viewer.get(f"{LIST}?q=status:{typed}")
        assert answer["Location"] == f"{LIST}?status=created"
    assert list(tokens(text(viewer.get(f"{LIST}?status=created,active")))) == [
        "status:proposed",
        "status:active",
    ]
    answer = viewer.get("/p/test/conversations?q=status:running")
    assert answer["Location"] == "/p/test/conversations?status=active"
    assert list(tokens(text(viewer.get(answer["Location"])))) == ["status:running"]
    answer = viewer.get('/p/test/observations?q=type:"use of a tool"')
    assert answer["Location"] == "/p/test/observations?observation_type=tool_use"


def field(page: str, name: str) -> str:
    """Return the value of a field of the filters."""
    found = re.search(rf'<input type="[^"]*" name="{name}"(?: value="([^"]*)")?', page)
    assert found, name
    return found[1] or ""


def select(page: str, name: str) -> str:
    return page.split(f'<select name="{name}"')[1].split("</select>")[0]


def test_a_script_is_told_the_address_without_empty_parameters(viewer: Client, facts: None) -> None:
    answer = viewer.get(f"{LIST}?q=&category=&agent_id=ledger", headers=HTMX)
    assert (answer.status_code, answer["HX-Push-Url"]) == (200, f"{LIST}?agent_id=ledger")
    assert list(tokens(text(answer))) == ["agent:ledger"]
    answer = viewer.get(f"{LIST}?q=agent:ops&category=", headers=HTMX)
    assert answer["HX-Redirect"] == f"{LIST}?agent_id=ops"


def test_other_lists_take_tokens(viewer: Client, actor: Actor) -> None:
    for tool in ("bash", "git"):
        ObservationEngine().write_observation(
            observation_type="tool_use", summary=f"Used {tool}.", tool_name=tool, actor=actor
        )
    answer = viewer.get("/p/test/observations?q=tool:bash&outcome=")
    assert answer["Location"] == "/p/test/observations?tool_name=bash"
    page = text(viewer.get(answer["Location"]))
    assert ("Used bash." in page, "Used git." in page) == (True, False)
    assert tokens(page) == {"tool:bash": "/p/test/observations"}
    assert "There is no filter belief." in text(viewer.get("/p/test/observations?q=belief:verified"))


def test_a_fact_beside_its_list_is_the_part_of_its_page(viewer: Client, actor: Actor, facts: None) -> None:
    fact: Any = FactEngine().list_facts(actor=actor).results[0]
    part = text(viewer.get(f"{LIST}/{fact.uid}", headers=HTMX))
    assert ("<html" in part, fact.fact_text in part, "Is it believed?" in part) == (False, True, True)
    assert f'<a href="{LIST}/{fact.uid}">Open its page</a>' in part


def test_a_list_by_state_takes_tokens_too(viewer: Client, actor: Actor) -> None:
    for name in ("ledger", "ops"):
        TaskEngine().create_task(name=f"Task of {name}", objectives=[], actor=actor)
    TaskEngine().join_task(task="task-of-ops", agent_id="ops", actor=actor)
    page = text(viewer.get("/p/test/tasks?q=agent:ops&state=active", follow=True))
    assert ("Task of ops" in page, "Task of ledger" in page) == (True, False)
    assert tokens(page) == {"agent:ops": "/p/test/tasks?state=active"}
    assert '<input type="hidden" name="agent_id" value="ops">' in page
    page = text(viewer.get("/p/test/tasks?q=words"))
    assert "This list is filtered by its tokens, and not searched." in page
    assert ('value="words"' in page, "Task of ops" in page) == (True, False)
    page = text(viewer.get("/p/test/handoffs?handoff_type=none"))
    assert 'class="note error"' in page
    assert list(tokens(page)) == ["type:none"]
