"""The page of a branch's policy, in both frames: what is in force, the form, and refusals."""

import pytest
from django.test import Client

from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import BranchPolicy

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/p/test/policy/main"
FORM = {
    "pattern": "main",
    "direct_writes": "refuse",
    "gates": ["conflicts", "secrets"],
    "accept_methods": ["human"],
    "approvals": "2",
}


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


def test_a_maintainer_sets_a_policy_and_sees_it_in_force(maintainer: Client) -> None:
    before = text_of(maintainer.get(PAGE))
    assert "Nothing is set for this branch: these are the defaults." in before
    assert "Every fact that arrives is verified ·" in before
    assert maintainer.post(PAGE, FORM).headers["Location"] == PAGE
    after = text_of(maintainer.get(PAGE))
    assert "Set for this branch." in after
    assert "The policy for main is saved." in after
    assert "2 approvals, not the author’s own" in after
    assert "a person’s</dd>" in after
    entry = BranchPolicy.objects.get()
    assert (entry.direct_writes, entry.gates, entry.accept_methods, entry.approvals) == (
        "refuse",
        ["conflicts", "secrets"],
        ["human"],
        2,
    )
    assert (entry.author_may_approve, entry.updated_by) == (False, "max")


def test_a_branch_says_which_pattern_gave_its_policy(maintainer: Client, actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    maintainer.post(PAGE, {**FORM, "pattern": "task/*"})
    assert "Set for every branch that matches task/*." in text_of(maintainer.get("/p/test/policy/task/a"))
    other = text_of(maintainer.get(f"{PAGE}?pattern=task/*"))
    assert "these are the defaults" in other
    assert 'value="task/*"' in other


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("pattern", "No Such", "is no branch pattern"),
        ("accept_methods", [], "must name at least one"),
        ("direct_writes", "deny", "must be one of allow, propose, refuse."),
        ("approvals", "9", "must be a whole number from 0 to 5."),
    ],
)
def test_a_bad_value_is_refused_and_the_form_keeps_its_input(maintainer, field, value, said) -> None:
    answer = maintainer.post(PAGE, {**FORM, field: value})
    assert answer.status_code == 400
    assert said in text_of(answer)
    assert {name: answer.context["form"][name].value() for name in FORM} == {**FORM, field: value}
    assert BranchPolicy.objects.count() == 0


def test_where_a_branch_refuses_no_button_is_shown_that_would_be_refused(curator: Client, actor) -> None:
    fact = FactEngine().write_fact(fact_text="Alpha.", actor=actor).fact
    proposal = FactEngine().write_fact(fact_text="Beta.", propose=True, actor=actor).fact
    page = f"/p/test/facts/{fact.uid}"
    assert {"archive", "edit", "supersede"} <= buttons(curator, page)
    PolicyEngine().set_policy(pattern="main", actor=actor, direct_writes="refuse")
    assert buttons(curator, page) == {"verify", "invalidate"}
    assert buttons(curator, f"/p/test/facts/{proposal.uid}") == {"accept", "refuse"}
    answer = curator.post(f"{page}/act", {"action": "archive"})
    assert answer.status_code == 409
    assert "The branch main takes no direct writes" in text_of(answer)
    form = curator.get(f"{page}/edit").context["form"]
    fields = {field.name: field.value() or "" for field in form} | {"fact_text": "Alpha, edited."}
    typed = curator.post(f"{page}/edit", fields)
    assert typed.status_code == 409
    assert "Alpha, edited." in text_of(typed)
    curator.post(f"/p/test/facts/{proposal.uid}/act", {"action": "accept"})
    assert FactEngine().get_fact(fact_id=proposal.uid, actor=actor).status == "active"
    PolicyEngine().set_policy(pattern="main", actor=actor, direct_writes="propose")
    assert {"archive", "edit", "supersede"} <= buttons(curator, page)


def buttons(person: Client, page: str) -> set[str]:
    """Return what can be done on the page of a fact."""
    shown = text_of(person.get(page))
    names = {"accept", "refuse", "verify", "invalidate", "archive"}
    found = {name for name in names if f'name="action" value="{name}"' in shown}
    edit = {"edit"} if f'action="{page}/edit"' in shown else set()
    return found | edit | ({"supersede"} if f'href="{page}/edit?as=new"' in shown else set())
