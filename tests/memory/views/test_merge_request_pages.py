"""The pages of merge requests: their list, the form, one request with its conflicts, and who may do what."""

import re
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.models import Branch, Fact, MergeDecision, MergeRequest, Project
from tests.memory.fake_provider import FakeProvider, beside

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, ENGINE = FactEngine(), MergeRequestEngine()
TASK = "task/tokens"
PAGE = "/p/test/merge-requests/1"


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def verify(actor: Actor, uid: UUID, branch: str) -> None:
    ActionEngine().apply_action(action="verify", fact_ids=[uid], branch_name=branch, actor=actor)


def diverge(actor: Actor, count: int, branch: str = TASK) -> list[Fact]:
    """Make a branch with a new verified fact and so many facts that main changes too."""
    found = [
        FACTS.write_fact(fact_text=f"Token {n} of {branch} lives for a day.", actor=actor).fact
        for n in range(count)
    ]
    BranchManager().create_branch(name=branch, purpose="How long tokens live", actor=actor)
    for fact in found:
        for side, span in (("main", "two days"), (branch, "an hour")):
            updates = {"fact_text": fact.fact_text.replace("a day", span)}
            FACTS.update_fact(fact_id=fact.uid, updates=updates, branch_name=side, actor=actor)
            verify(actor, fact.uid, side)
    new = FACTS.write_fact(fact_text="Builds run at night.", category="ops", branch_name=branch, actor=actor)
    verify(actor, new.fact.uid, branch)
    return found


def ask(branch: str, actor: Actor, **more: Any) -> MergeRequest:
    return ENGINE.create_request(source=branch, actor=actor, **more)


def conflicting(actor: Actor, count: int) -> list[Fact]:
    """Open a request whose branch brings a new fact, and so many conflicts with main."""
    found = diverge(actor, count)
    ask(TASK, actor, title="What the login task learned", description="Look at `token 0`.")
    return found


def want_another(actor: Actor) -> None:
    """Let merges into main need the approval of somebody else."""
    PolicyEngine().set_policy(pattern="main", approvals=1, author_may_approve=False, actor=actor)


BROUGHT = r'class=(?:conflict|applied)&amp;type=\w+"><strong>(\d+)</strong>'


def conflict_url(fact: Fact) -> str:
    return f"{PAGE}/conflicts/fact/{fact.uid}"


def token(page: str) -> str:
    return re.findall(r'name="token" value="(\w+)"', page)[0]


def shown(project: Project) -> set[str]:
    return {row.fact_text for row in Fact.objects.on(Branch.objects.get(project=project, name="main"))}


# ---- the list and the form -----------------------------------------------------------------------------


def test_the_list_shows_requests_by_state_and_their_checks(viewer: Client, actor: Actor) -> None:
    conflicting(actor, 1)
    page = text(viewer.get("/p/test/merge-requests"))
    assert "What the login task learned" in page
    assert f'hx-get="{PAGE}/checks"' in page
    assert re.search(r'<span class="count" id="open-requests" data-branch="[^"]*">1</span>', page)
    for state, there in (("open", True), ("merged", False), ("rejected", False)):
        listed = text(viewer.get(f"/p/test/merge-requests?state={state}"))
        assert ("What the login task learned" in listed) == there
    checks = text(viewer.get(f"{PAGE}/checks", headers={"HX-Request": "true"}))
    assert "conflicts <strong>1</strong>" in checks
    assert viewer.get(f"{PAGE}/checks").headers["Location"] == PAGE


def test_a_request_is_opened_from_the_page_of_its_branch(curator: Client, actor: Actor) -> None:
    BranchManager().create_branch(name=TASK, purpose="How long tokens live", actor=actor)
    branch, form = f"/p/test/branches/{TASK}", f"/p/test/merge-requests/new?source={TASK.replace('/', '%2F')}"
    assert "Open a merge request" not in text(curator.get(branch))
    FACTS.write_fact(fact_text="Tokens live for an hour.", branch_name=TASK, actor=actor)
    assert f'href="{form}"' in text(curator.get(branch))
    page = text(curator.get(form))
    assert 'value="How long tokens live"' in page
    assert 'name="target" value="main"' in page
    assert "squash: all new facts arrive as one fact" in page
    sent = {"title": "Tokens", "description": "", "target": "main", "strategy": "theirs"}
    answer = curator.post(form, sent, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    request = MergeRequest.objects.get()
    assert (request.title, request.strategy, request.author_label) == ("Tokens", "theirs", "cora")
    assert "Merge request #1" not in text(curator.get("/p/test/"))
    assert f'href="{PAGE}"' in text(curator.get(branch))
    again = curator.post(form, sent)
    assert (again.status_code, "is open already" in text(again)) == (409, True)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"strategy": "x"}, 400),
        ({"target": "none"}, 404),
        ({"target": TASK}, 409),
        ({"title": "x" * 201}, 400),
    ],
)
def test_a_refused_form_keeps_its_input(
    curator: Client, actor: Actor, change: dict[str, str], status: int
) -> None:
    BranchManager().create_branch(name=TASK, actor=actor)
    sent = {"title": "My own title", "description": "Much typed", "target": "main", "strategy": "auto"}
    answer = curator.post(f"/p/test/merge-requests/new?source={TASK}", {**sent, **change})
    assert answer.status_code == status
    assert "Much typed" in text(answer)
    assert not MergeRequest.objects.exists()


# ---- one request ---------------------------------------------------------------------------------------


def test_the_page_shows_gates_conversation_changes_and_commits(viewer: Client, actor: Actor) -> None:
    (fact,) = conflicting(actor, 1)
    page = text(viewer.get(PAGE))
    assert "What the login task learned" in page
    assert "Look at <code>token 0</code>." in page
    assert "Conflicts without a decision: 1." in page
    (count,) = re.findall(r'\?tab=changes">Changes <span class="count">(\d+)<', page)
    assert int(count) == sum(map(int, re.findall(BROUGHT, page)))
    assert "Token 0 of task/tokens lives for <del>a day</del><ins>two days</ins>." in page
    assert "Builds run at night." in page
    assert "Not ready to merge." in page
    changes = text(viewer.get(f"{PAGE}?tab=changes"))
    assert "Token 0 of task/tokens lives for <del>a day</del><ins>two days</ins>." in changes
    assert "Token 0 of task/tokens lives for <del>a day</del><ins>an hour</ins>." in changes
    assert "Builds run at night." in changes
    assert changes.index(str(fact.uid)) < changes.index("Builds run at night.")
    assert 'name="choice"' not in changes  # a viewer decides nothing
    listed = text(viewer.get(f"{PAGE}?tab=changes&class=applied&type=fact"))
    assert ("Builds run at night." in listed, "an hour" in listed) == (True, False)
    assert 'dir="auto">Added 1 fact: Builds run at night.</a>' in text(viewer.get(f"{PAGE}?tab=commits"))


def test_what_waits_stands_above_the_branches_and_a_change_says_what_changed(
    maintainer: Client, actor: Actor
) -> None:
    fact = FACTS.write_fact(fact_text="Deploys run on Tuesdays.", category="ops", actor=actor).fact
    BranchManager().create_branch(name=TASK, actor=actor)
    changed = {"category": "process", "priority": "P1"}
    FACTS.update_fact(fact_id=fact.uid, updates=changed, branch_name=TASK, actor=actor)
    ask(TASK, actor, title="Another category")
    waiting = text(maintainer.get("/p/test/branches")).split("Waiting to be merged")[1].split("</section>")[0]
    assert f'href="{PAGE}" dir="auto">Another category</a>' in waiting
    page = text(maintainer.get(PAGE))  # two presses from any page: Branches, and its title
    assert '<dt>Category</dt> <dd dir="auto"> <del>ops</del>' in page
    assert "<ins>process</ins>" in page
    assert ("<del>P3</del>" in page, "<ins>P1</ins>" in page) == (True, True)
    maintainer.post(PAGE, {"do": "reject", "reason": "No."})
    assert "Waiting to be merged" not in text(maintainer.get("/p/test/branches"))


def test_a_gate_leads_to_the_facts_that_fail_it(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name=TASK, actor=actor)
    for line in ("Nobody has read this.", "This was read."):
        fact = FACTS.write_fact(fact_text=line, branch_name=TASK, actor=actor).fact
    verify(actor, fact.uid, TASK)
    ENGINE.create_request(source=TASK, actor=actor)
    assert "unverified <strong>1</strong>" in text(viewer.get(PAGE))
    page = text(viewer.get(f"{PAGE}?tab=changes&gate=require_verified"))
    assert ("Nobody has read this." in page, "This was read." in page) == (True, False)
    assert viewer.get(f"{PAGE}?tab=changes&gate=none").status_code == 400


def test_a_curator_verifies_the_facts_that_the_page_shows(
    viewer: Client, curator: Client, actor: Actor
) -> None:
    conflicting(actor, 0)
    one, two = (
        FACTS.write_fact(fact_text=f"Night {n} is long.", branch_name=TASK, actor=actor).fact
        for n in range(2)
    )
    address = f"{PAGE}?tab=changes&gate=require_verified"
    assert "I have read them" not in text(viewer.get(address))
    assert "Verify these 2 facts: I have read them" in text(curator.get(PAGE))  # below the changes
    waiting = text(curator.get("/p/test/")).split('id="waiting"')[1].split("</section>")[0]
    assert f'href="{PAGE}"' in waiting
    page = text(curator.get(address))
    assert "Have a person verify them on task/tokens, all in one action" in page
    assert "Verify these 2 facts: I have read them" in page
    read = re.findall(r'name="fact" value="([^"]+)"', page)
    assert sorted(read) == sorted(f"{fact.uid}:1" for fact in (one, two))
    FACTS.update_fact(
        fact_id=two.uid, updates={"fact_text": "Nights are short."}, branch_name=TASK, actor=actor
    )
    assert viewer.post(PAGE, {"do": "verify", "fact": read}).status_code == 403
    answer = curator.post(PAGE, {"do": "verify", "fact": read}, follow=True)
    assert answer.redirect_chain == [(address, 302)]
    page = text(answer)
    assert "Facts verified: 1." in page
    assert "Not verified, since they changed or are gone: 1." in page
    assert "Verify this fact: I have read it" in page
    states = [FACTS.get_fact(fact_id=fact.uid, branch_name=TASK, actor=actor) for fact in (one, two)]
    assert [fact.verification_status for fact in states] == ["verified", "unverified"]
    assert [fact.verified_by for fact in states] == ["cora", ""]
    verify(actor, two.uid, TASK)
    page = text(curator.get(address))
    assert ("Show all changes" in page, "Night 0 is long." in page) == (False, True)


def test_links_and_verdicts_are_shown_by_the_facts_that_they_are_about(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name=TASK, actor=actor)
    one, two = (
        FACTS.write_fact(fact_text=line, branch_name=TASK, actor=actor).fact
        for line in ("The first says this.", "The second says that.")
    )
    link = {"from_id": one.uid, "to_id": two.uid, "link_type": "DEPENDS_ON"}
    LinkEngine().write_link(**link, branch_name=TASK, actor=actor)
    verify(actor, one.uid, TASK)
    ask(TASK, actor)
    links = text(viewer.get(f"{PAGE}?tab=changes&class=applied&type=link"))
    assert "depends on" in links
    assert links.index("The first says this.") < links.index("The second says that.")
    assert "The first says this." in text(viewer.get(f"{PAGE}?tab=changes&class=applied&type=verdict"))


def test_it_is_decided_approved_by_another_merged_and_undone(
    maintainer: Client, curator: Client, project: Project, actor: Actor
) -> None:
    want_another(actor)
    one, two = conflicting(actor, 2)
    before = shown(project)
    read = token(text(curator.get(conflict_url(one))))
    answer = curator.post(conflict_url(one), {"choice": "source", "token": read})
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{PAGE}?tab=changes")
    assert maintainer.post(PAGE, {"do": "merge"}).status_code == 409
    curator.post(
        conflict_url(two), {"choice": "edited", "text": "Token 1 of task/tokens lives for\r\na week."}
    )
    decided = {row.uid: (row.choice, row.text, row.by) for row in MergeDecision.objects.all()}
    assert decided[one.uid] == ("source", "", "cora")
    assert decided[two.uid] == ("edited", "Token 1 of task/tokens lives for\na week.", "cora")
    assert "unverified <strong>1</strong>" in text(maintainer.get(PAGE))  # nobody has read the new text
    curator.post(conflict_url(two), {"choice": "target"})
    assert "Approvals: 0 of 1." in text(maintainer.get(PAGE))
    head = Branch.objects.get(project=project, name=TASK).head
    maintainer.post(PAGE, {"do": "approve", "source_seq": head})
    assert MergeRequest.objects.get().state == "approved"
    merged = text(maintainer.post(PAGE, {"do": "merge"}, follow=True))
    assert "Undo the merge" in merged
    assert shown(project) == {
        "Token 0 of task/tokens lives for an hour.",
        "Token 1 of task/tokens lives for two days.",
        "Builds run at night.",
    }
    story = text(maintainer.get(PAGE))
    told = ("opened it", "decided conflicts: 2", "approved it", "merged it")
    assert sorted(told, key=story.index) == list(told)
    assert "shows what the merge changed" in text(maintainer.get(f"{PAGE}?tab=changes"))
    maintainer.post(f"{PAGE}?do=revert")
    assert shown(project) == before
    assert "took the merge back" in text(maintainer.get(PAGE))


def test_two_facts_that_say_nearly_the_same_stand_side_by_side(
    curator: Client, actor: Actor, settings: Any, project: Project
) -> None:
    there, arriving = "The cache is cleared every night.", "Every night the cache gets cleared."
    with FakeProvider() as fake:
        settings.DAY1 = fake.settings(batch=64)
        fake.vectors[arriving] = beside(there, 0.9)
        BranchManager().create_branch(name=TASK, actor=actor)
        FACTS.write_fact(fact_text=there, actor=actor)
        fact = FACTS.write_fact(fact_text=arriving, branch_name=TASK, actor=actor).fact
        verify(actor, fact.uid, TASK)
        EmbeddingEngine().embed_pending(actor.project_id)
        ask(TASK, actor)
        page = text(curator.get(f"{PAGE}?tab=changes"))
        assert "nearly the same as a fact that is there" in page
        assert ("0.90" in page, there in page, arriving in page, "What differs" in page) == (True,) * 4
        assert re.findall(r'name="choice" value="(\w+)"[^>]*data-', page) == [
            "target",
            "source",
            "both",
            "skip",
        ]
        curator.post(f"{PAGE}?do=settle", {"reasons": "near_duplicate", "choice": "both"})
        assert MergeDecision.objects.get().choice == "both"
        assert "Ready to merge." in text(curator.get(PAGE))


def test_a_conflict_that_changed_is_shown_anew_and_keeps_the_typed_text(
    curator: Client, actor: Actor
) -> None:
    (fact,) = conflicting(actor, 1)
    read = token(text(curator.get(conflict_url(fact))))
    FACTS.update_fact(
        fact_id=fact.uid, updates={"fact_text": "Token 0 of task/tokens lives for three days."}, actor=actor
    )
    sent = {"choice": "edited", "token": read, "text": "My long text"}
    answer = curator.post(conflict_url(fact), sent)
    page = text(answer)
    assert answer.status_code == 409
    assert "three days" in page
    assert "My long text" in page
    assert token(page) != read
    assert not MergeDecision.objects.exists()


def test_a_conflict_shows_what_is_merged_whatever_is_decided(curator: Client, actor: Actor) -> None:
    (fact,) = conflicting(actor, 1)
    for branch, updates in (("main", {"priority": "P1"}), (TASK, {"priority": "P2", "tags": ["login"]})):
        FACTS.update_fact(fact_id=fact.uid, updates=updates, branch_name=branch, actor=actor)
    rows = re.findall(r"<tr>(.*?)</tr>", text(curator.get(conflict_url(fact))), re.DOTALL)
    cells = [
        [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        for row in rows
    ]
    found = {row[0]: row[1:] for row in cells if row}
    assert found["Priority"] == ["P3", "P1", "P2", "as you decide"]
    assert found["Tags"] == ["none", "none", "login", "login"]


def test_a_conflict_that_is_gone_says_so(curator: Client, actor: Actor) -> None:
    (fact,) = conflicting(actor, 1)
    read = token(text(curator.get(conflict_url(fact))))
    FACTS.update_fact(
        fact_id=fact.uid, updates={"fact_text": "Token 0 of task/tokens lives for an hour."}, actor=actor
    )
    script = {"HX-Request": "true"}
    answer = curator.post(conflict_url(fact), {"choice": "source", "token": read}, headers=script)
    assert (answer.status_code, "This is no conflict any more." in text(answer)) == (200, True)
    assert curator.get(conflict_url(fact)).status_code == 404


def test_a_script_gets_the_answer_with_the_gates_and_can_take_it_back(curator: Client, actor: Actor) -> None:
    (fact,) = conflicting(actor, 1)
    script = {"HX-Request": "true"}
    page = text(curator.post(conflict_url(fact), {"choice": "source"}, headers=script))
    assert "data-answered" in page
    assert "Ready to merge." in page
    assert f'action="{conflict_url(fact)}?do=withdraw"' in page
    assert curator.post(f"{conflict_url(fact)}?do=withdraw", headers=script).status_code == 204
    assert not MergeDecision.objects.exists()
    again = text(curator.get(conflict_url(fact), headers=script))
    assert ('name="choice" value="source"' in again, "<html" in again) == (True, False)
    assert curator.post(f"{conflict_url(fact)}?do=withdraw").status_code == 404


def test_all_conflicts_of_a_reason_are_settled_at_once(curator: Client, actor: Actor) -> None:
    first, *_rest = conflicting(actor, 3)
    curator.post(conflict_url(first), {"choice": "target"})
    page = text(curator.get(f"{PAGE}?tab=changes"))
    assert "both sides changed it <strong>2</strong>" in page
    curator.post(f"{PAGE}?do=settle", {"reasons": "edited", "choice": "source"})
    choices = {row.uid: row.choice for row in MergeDecision.objects.all()}
    assert choices.pop(first.uid) == "target"
    assert list(choices.values()) == ["source", "source"]
    assert "Ready to merge." in text(curator.get(PAGE))


def test_an_approval_is_of_the_decisions_on_the_page(maintainer: Client, actor: Actor) -> None:
    (first,) = conflicting(actor, 1)
    approval = re.compile(r'name="decided_at" form="approve" value="([^"]+)"')
    (opened,) = approval.findall(text(maintainer.get(PAGE)))
    script = {"HX-Request": "true"}
    answer = text(maintainer.post(conflict_url(first), {"choice": "source"}, headers=script))
    (decided,) = approval.findall(answer)  # comes with the answer, so that this page may approve
    refused = maintainer.post(f"{PAGE}?do=approve", {"decided_at": opened})
    assert refused.status_code == 409
    assert "The decisions on merge request 1 changed meanwhile" in text(refused)
    assert maintainer.post(f"{PAGE}?do=approve", {"decided_at": decided}).status_code == 302
    assert ENGINE.get_request(request_id=1, actor=actor).state == "approved"


def test_what_was_settled_at_once_is_undecided_at_once(curator: Client, actor: Actor) -> None:
    first, second, _third = conflicting(actor, 3)
    curator.post(conflict_url(first), {"choice": "target"})
    page = text(curator.post(f"{PAGE}?do=settle", {"reasons": "edited", "choice": "source"}, follow=True))
    (undo,) = re.findall(r'action="([^"]*do=unsettle[^"]*)"', page)
    curator.post(conflict_url(second), {"choice": "skip"})  # decided anew, so that it stays
    assert curator.post(undo.replace("&amp;", "&")).status_code == 302
    choices = {row.uid: row.choice for row in MergeDecision.objects.all()}
    assert choices == {first.uid: "target", second.uid: "skip"}
    assert curator.post(undo.replace("&amp;", "&")).status_code == 404
    assert curator.post(f"{PAGE}?do=unsettle&decided_at=x").status_code == 400
    assert "made conflicts undecided again: 1" in text(curator.get(PAGE))


def test_a_pick_of_half_a_replacement_is_warned_of(curator: Client, actor: Actor) -> None:
    old = FACTS.write_fact(fact_text="Tokens live for a day.", actor=actor).fact
    BranchManager().create_branch(name=TASK, actor=actor)
    new = FACTS.supersede_fact(
        old_fact_id=old.uid, new_fact_text="Tokens live for an hour.", branch_name=TASK, actor=actor
    )
    ask(TASK, actor, strategy="cherry_pick", ids=[new.uid])
    page = text(curator.get(f"{PAGE}?tab=changes"))
    assert "This change has a second part that is not picked; without it both facts stay, or none:" in page
    assert "<bdi>Tokens live for a day.</bdi>" in page


# ---- who may what --------------------------------------------------------------------------------------


def test_who_approved_it_takes_the_approval_back(
    maintainer: Client, curator: Client, actor: Actor, project: Project
) -> None:
    conflicting(actor, 0)
    assert 'value="withdraw"' not in text(maintainer.get(PAGE))
    maintainer.post(PAGE, {"do": "approve"})
    page = text(maintainer.get(PAGE))
    assert ('value="withdraw"' in page, 'value="approve"' in page) == (True, False)
    assert 'value="withdraw"' not in text(curator.get(PAGE))
    assert curator.post(PAGE, {"do": "withdraw"}).status_code == 403
    FACTS.write_fact(fact_text="One more.", branch_name=TASK, actor=actor)  # the approval counts no more
    page = text(maintainer.get(PAGE))
    assert ('value="withdraw"' in page, 'value="approve"' in page) == (True, True)
    assert maintainer.post(PAGE, {"do": "withdraw"}).status_code == 302
    assert not MergeRequest.objects.get().approvals.exists()
    page = text(maintainer.get(PAGE))
    assert ('value="withdraw"' in page, "took the approval back" in page) == (False, True)
    assert maintainer.post(PAGE, {"do": "withdraw"}).status_code == 404
