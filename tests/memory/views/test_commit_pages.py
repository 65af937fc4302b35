"""The page of a commit: its changes, on the web and in the admin, and the links to it."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from curation.engines.review.review_queue import ReviewEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.audit.trail import record_entry
from memory.engines.branches.commit_changes import CommitEngine
from memory.engines.branches.commit_titles import list_kinds
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.versions.lookup import find_branch
from memory.exceptions import BranchForbidden, Invalid, NotFound
from memory.models import Branch, Commit, Fact, Membership, Project
from memory.templatetags.words import CHANGE_KINDS
from tests.memory.views.conftest import browser, person
from tests.memory.views.test_fact_pages import text, write

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, COMMITS = FactEngine(), CommitEngine()


def newest(actor: Actor, branch: str = "main") -> Commit:
    found = find_branch(actor, branch).commits.first()
    assert found is not None
    return found


def question(actor: Actor, one: Fact, other: Fact) -> ReviewItem:
    return ReviewItem.objects.create(
        project_id=actor.project_id,
        branch=Branch.objects.get(project=actor.project_id, name="main"),
        kind="near_duplicate",
        fact_id=one.uid,
        other_id=other.uid,
        score=0.9,
        created_at=timezone.now(),
        pair=f"{one.uid}{other.uid}",
    )


def did(actor: Actor, commit: Commit) -> dict[str, list[tuple[str, Any]]]:
    """Return a commit's changes by kind: (change, id)."""
    counts = COMMITS.count_changes(commit_id=commit.pk, actor=actor)
    found = {
        kind: [
            (one.change, one.uid) for one in COMMITS.list_changes(commit_id=commit.pk, actor=actor, kind=kind)
        ]
        for kind in counts
    }
    assert {kind: len(rows) for kind, rows in found.items()} == counts
    return found


# ---- the engine ------------------------------------------------------------------------------------------


def test_every_kind_of_change_is_told(actor: Actor) -> None:
    one = write(actor, "Tokens live an hour.", session_id="s1")
    assert did(actor, newest(actor)) == {"fact": [("added", one.uid)]}
    FACTS.write_fact(fact_text="Tokens live an hour.", session_id="s2", actor=actor)
    assert did(actor, newest(actor)) == {"confirmation": [("added", one.uid)]}
    FACTS.set_verification(fact_id=one.uid, verdict="verified", reason="read", actor=actor)
    assert did(actor, newest(actor)) == {"verdict": [("added", one.uid)]}
    two = write(actor, "Tokens live a day.")
    link = LinkEngine().write_link(from_id=one.uid, to_id=two.uid, link_type="ASSOCIATED", actor=actor)
    assert did(actor, newest(actor)) == {"link": [("added", link.uid)]}
    relation = RelationEngine().write_relation(
        source_entity="api", relation_type="uses", target_entity="redis", actor=actor
    )
    assert did(actor, newest(actor)) == {"relation": [("added", relation.relation.uid)]}
    seen = ObservationEngine().write_observation(observation_type="insight", summary="Slow.", actor=actor)
    assert did(actor, newest(actor)) == {"observation": [("added", seen.uid)]}
    talk = ConversationEngine().create_conversation(title="Tokens", session_id="s1", actor=actor)
    assert did(actor, newest(actor)) == {"conversation": [("added", talk.uid)]}
    said = MessageEngine().write_message(
        conversation_id=talk.uid, role="user", content="How long?", actor=actor
    )
    assert did(actor, newest(actor))["message"] == [("added", said.uid)]


def test_an_answer_and_its_undoing(actor: Actor) -> None:
    one, two = write(actor, "Tokens live an hour."), write(actor, "Tokens live for one hour.")
    item = question(actor, one, two)
    resolved = ReviewEngine().resolve_item(item_id=item.pk, decision="supersede", keeper=two.uid, actor=actor)
    made = did(actor, resolved.commit)
    assert made["answer"] == [("changed", item.pk)]
    assert ("changed", one.uid) in made["fact"]
    undone = RevertEngine().revert_commit(commit_id=resolved.commit.pk, actor=actor)
    assert did(actor, undone)["answer"] == [("changed", item.pk)]


def test_what_was_removed_is_told_with_what_it_was(actor: Actor) -> None:
    one = write(actor, "Tokens live an hour.")
    BranchManager().create_branch(name="task/a", actor=actor)
    FACTS.delete_fact(fact_id=one.uid, actor=actor, branch_name="task/a")
    (change,) = COMMITS.list_changes(commit_id=newest(actor, "task/a").pk, actor=actor)
    assert (change.change, change.before.fact_text, change.after) == ("removed", "Tokens live an hour.", None)


def test_confirmations_taken_back_are_told(actor: Actor) -> None:
    one = write(actor, "Tokens live an hour.", session_id="s1")
    FACTS.write_fact(fact_text="Tokens live an hour.", session_id="s2", actor=actor)
    undone = RevertEngine().revert_commit(commit_id=newest(actor).pk, actor=actor)
    assert did(actor, undone) == {"confirmation": [("removed", one.uid)]}


def test_pages_of_a_large_commit(actor: Actor) -> None:
    FACTS.write_facts(facts=[{"fact_text": f"fact {n}"} for n in range(5)], actor=actor)
    commit, texts, cursor = newest(actor), [], ""
    while True:
        page = COMMITS.list_changes(commit_id=commit.pk, actor=actor, limit=2, cursor=cursor)
        texts += [one.after.fact_text for one in page]
        if not (cursor := page.next or ""):
            break
    assert texts == [f"fact {n}" for n in range(5)]


def test_refusals(actor: Actor, other_project: Project) -> None:
    write(actor, "one")
    commit = newest(actor)
    with pytest.raises(Invalid):
        COMMITS.list_changes(commit_id=commit.pk, actor=actor, kind="x")
    with pytest.raises(BranchForbidden):
        COMMITS.count_changes(commit_id=commit.pk, actor=replace(actor, branch_patterns=("task/*",)))
    with pytest.raises(NotFound):
        COMMITS.list_changes(commit_id=commit.pk, actor=replace(actor, project_id=other_project.pk))
    with pytest.raises(NotFound):
        COMMITS.find_commit(branch_name="main", seq=2, actor=actor)


def test_all_kinds_have_a_name() -> None:
    assert list_kinds() == list(CHANGE_KINDS)


# ---- the pages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["/p/test", "/admin/p/test"])
def test_the_page_says_all_that_it_did(root: str, admin_page: Client, actor: Actor) -> None:
    one = write(actor, "Tokens live an hour.")
    FACTS.update_fact(fact_id=one.uid, updates={"fact_text": "Tokens live a day."}, actor=actor)
    commit = newest(actor)
    for name in (str(commit.pk), "2"):
        page = text(admin_page.get(f"{root}/commits/{name}"))
        assert "Tokens live <del>an hour</del><ins>a day</ins>." in page
        assert f'href="{root}/facts/{one.uid}"' in page
        assert "corrected a fact" in page.lower()
    FACTS.set_verification(fact_id=one.uid, verdict="invalidated", reason="It is two.", actor=actor)
    page = text(admin_page.get(f"{root}/commits/3"))
    assert ("Verdicts" in page, "It is two." in page, "Tokens live a day." in page) == (True, True, True)
    for gone in ("4", "x", "01970000-0000-7000-8000-000000000000"):
        assert admin_page.get(f"{root}/commits/{gone}").status_code == 404


def test_messages_and_sources_lead_to_their_pages(admin_page: Client, actor: Actor) -> None:
    talk = ConversationEngine().create_conversation(title="About tokens", session_id="s1", actor=actor)
    assert "About tokens" in text(admin_page.get("/p/test/commits/1"))
    said = MessageEngine().write_message(
        conversation_id=talk.uid, role="user", content="How long do they live?", actor=actor
    )
    fact = write(actor, "Tokens live an hour.")
    LinkEngine().write_link(
        from_id=fact.uid, to_id=said.uid, to_type="message", link_type="MESSAGE_OF", actor=actor
    )
    for commit in (2, 4):
        page = text(admin_page.get(f"/p/test/commits/{commit}"))
        assert f'href="/p/test/messages/{said.uid}"' in page
        assert "How long do they live?" in page


def test_every_link_to_a_commit_opens_its_page(admin_page: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    fact = write(actor, "Tokens live an hour.", branch_name="task/a")
    commit = newest(actor, "task/a")
    address = f"commits/{commit.pk}?branch=task%2Fa"
    for page in ("branches/task/a?tab=log", "branches/task/a?tab=diff", f"facts/{fact.uid}?branch=task/a"):
        assert f'href="/p/test/{address}"' in text(admin_page.get(f"/p/test/{page}")), page
    for page in ("branches/task/a", f"facts/{fact.uid}?branch=task/a"):
        assert f'href="/admin/p/test/{address}"' in text(admin_page.get(f"/admin/p/test/{page}")), page
    audit = text(admin_page.get("/admin/p/test/audit"))
    assert 'href="/admin/p/test/commits/1?branch=task%2Fa"' in audit
    assert admin_page.get("/admin/p/test/commits/1?branch=task%2Fa").status_code == 200


def test_the_audit_says_counts_in_words(admin_page: Client, actor: Actor) -> None:
    record_entry(actor, "quarantine.create", "x", {"counts": {"fact": 37, "observation": 1}, "job": "7"})
    page = text(admin_page.get("/p/test/audit"))
    assert ("fact: 37, observation: 1" in page, "Counts:" in page, "Batch:" in page) == (True, True, True)


def test_a_learned_fact_leads_to_where_it_comes_from(
    admin_page: Client, viewer: Client, actor: Actor
) -> None:
    seen = ObservationEngine().write_observation(observation_type="insight", summary="Slow.", actor=actor)
    talk = ConversationEngine().create_conversation(title="Tokens", session_id="s1", actor=actor)
    said = MessageEngine().write_message(
        conversation_id=talk.uid, role="user", content="We decided on <b>an hour</b>.", actor=actor
    )
    fact = write(actor, "Tokens live an hour.")
    for kind, uid, link_type in (
        ("observation", seen.uid, "DERIVED_FROM"),
        ("message", said.uid, "CONSOLIDATED_FROM"),
    ):
        LinkEngine().write_link(from_id=fact.uid, to_id=uid, to_type=kind, link_type=link_type, actor=actor)
    for root in ("/p/test", "/admin/p/test"):
        page = text(admin_page.get(f"{root}/facts/{fact.uid}"))
        assert f'<a href="{root}/observations/{seen.uid}" dir="auto">Slow.</a>' in page
        assert f'<a href="{root}/messages/{said.uid}" dir="auto">We decided on &lt;b&gt;an' in page
    page = text(viewer.get(f"/p/test/facts/{fact.uid}"))
    assert f'<a href="/p/test/observations/{seen.uid}" dir="auto">Slow.</a>' in page


@pytest.fixture
def admin_page(project: Project) -> Client:
    """Return the browser of a maintainer who may use the admin."""
    user = person("mia", project, Membership.Role.MAINTAINER)
    user.is_staff = True
    user.save()
    return browser(user)


def test_a_commit_is_called_by_what_it_wrote_and_its_session_by_its_title(
    admin_page: Client, actor: Actor
) -> None:
    talk = ConversationEngine().create_conversation(actor=actor.with_origin(session_id="s-0815"))
    message = {"role": "user", "content": "How are `payouts` <i>sent</i>?"}
    said = actor.with_origin(session_id="s-0815")
    MessageEngine().write_messages(conversation_id=talk.uid, messages=[message], actor=said)
    FACTS.write_facts(facts=[{"fact_text": f"Payouts {n}."} for n in range(2)], actor=said)
    FACTS.write_fact(fact_text="Told.", actor=actor)
    titles = re.findall(
        r'<a class="line"[^>]*>(.*?)</a>', text(admin_page.get("/p/test/branches/main?tab=log"))
    )
    assert titles == [
        "Added 1 fact: Told.",
        "Added 2 facts: Payouts 0.",
        "Added 1 message: How are <code>payouts</code> &lt;i&gt;sent&lt;/i&gt;?",
        "Began 1 conversation",
    ]
    page = text(admin_page.get(f"/p/test/commits/{Commit.objects.get(seq=3).pk}"))
    assert "Added 2 facts: Payouts 0." in page
    assert re.search(r'<a href="/p/test/session\?key=s-0815" dir="auto">How are <code>payouts', page)
    assert ">s-0815<" not in page
