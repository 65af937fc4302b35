"""The tree of branches, the page of those that are done with, and what a branch's page tells and takes."""

import json
import re
from datetime import UTC, datetime
from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.models import Branch, Commit, Project
from tests.memory.test_topology import age, make, merge, write

pytestmark = pytest.mark.django_db(transaction=True)
ROOTS = ("/p/test", "/admin/p/test")
TAG = re.compile(r"<[^>]*>")
DETAILS = {"purpose": "Try", "owner": "Ada", "ttl_days": "14", "tags": "auth, slow,"}


def text(page: str) -> str:
    """Return what a page says, without its tags."""
    return " ".join(unescape(TAG.sub("", page)).split())


@pytest.mark.parametrize("root", ROOTS)
def test_the_tree_nests_and_folds(maintainer: Client, actor: Actor, root: str) -> None:
    make(actor, "task/a", owner="Ada", tags=["auth"])
    make(actor, "task/a/x", parent="task/a")
    make(actor, "task/b")
    write(actor, "one", "task/a", agent_id="bo")
    write(actor, "later on main")
    if root.startswith("/admin"):
        maintainer = admin(maintainer)
    page = maintainer.get(f"{root}/branches/topology").content.decode()
    assert page.count("<details open>") == 2  # main and task/a
    inside = page[page.index(">task/a<") : page.index(">task/b<")]
    assert ">task/a/x<" in inside
    assert f'href="{root}/branches/task/a"' in page
    shown = text(page)
    for words in ("1 ahead", "1 behind", "1 fact", "1 agent", "Ada", "auth"):
        assert words in shown
    assert "<style" not in page
    assert " style=" not in page


def admin(client: Client) -> Client:
    get_user_model().objects.filter(username="max").update(is_staff=True, is_superuser=True)
    return client


def test_a_large_tree_is_folded_and_a_filter_unfolds_it(
    viewer: Client, actor: Actor, project: Project
) -> None:
    main = Branch.objects.get(project=project)
    traits = {"project": project, "head_at": main.head_at, "created_at": main.created_at}
    tasks = [Branch(name=f"task/{n:02}", parent=main, depth=1, **traits) for n in range(49)]
    Branch.objects.bulk_create(tasks)
    kept = Branch.objects.filter(parent=main)
    Branch.objects.bulk_create(Branch(name=f"{one.name}/x", parent=one, depth=2, **traits) for one in kept)
    page = viewer.get("/p/test/branches/topology").content.decode()
    assert (page.count("<details open>"), page.count("<details>")) == (1, 49)
    assert "?open=all" in page
    page = viewer.get("/p/test/branches/topology?open=all").content.decode()
    assert page.count("<details open>") == 50
    page = viewer.get("/p/test/branches/topology?name=07").content.decode()
    assert (page.count('class="node"'), page.count("<details open>")) == (3, 2)
    assert "2 branches fit." in text(page)
    assert "No branch matches." in text(viewer.get("/p/test/branches/topology?owner=nobody").content.decode())
    assert viewer.get("/p/test/branches/topology?state=dead").status_code == 400
    assert viewer.get("/p/test/branches/topology?color=red").status_code == 400


def test_what_is_done_with_is_listed_with_its_reason_and_archived(
    maintainer: Client, viewer: Client, actor: Actor
) -> None:
    make(actor, "task/a", "task/b", ttl_days=1)
    make(actor, "task/b/x", parent="task/b")
    for name in ("task/a", "task/b"):
        age(actor, name, 3)
    shown = text(maintainer.get("/p/test/branches/expired").content.decode())
    assert "Archive 1 branch" in shown
    assert "It is left: 1 branch that was made from it is in use." in shown
    assert "Archive 1" not in text(viewer.get("/p/test/branches/expired").content.decode())
    assert viewer.post("/p/test/branches/expired").status_code == 403
    assert not Branch.objects.exclude(archived_at=None).exists()
    answer = maintainer.post("/p/test/branches/expired", follow=True)
    assert "1 branch is archived." in text(answer.content.decode())
    assert [branch.name for branch in Branch.objects.exclude(archived_at=None)] == ["task/a"]


def test_a_branch_tells_how_far_it_is_by_whom_and_for_what(maintainer: Client, actor: Actor) -> None:
    make(actor, "task/a", owner="Ada", tags=["auth"], ttl_days=7, purpose="Shorter tokens")
    write(actor, "one", "task/a", agent_id="ledger")
    write(actor, "two", "task/a", agent_id="bo")
    write(actor, "later on main")
    shown = text(maintainer.get("/p/test/branches/task/a").content.decode())
    for words in ("2 commits ahead of main", "1 behind", "ledger", "bo", "owner Ada", "expires"):
        assert words in shown
    assert "later on main" not in shown  # it is behind, not removed
    assert "0facts removed" in shown
    merge(actor, "task/a", "main")
    shown = text(maintainer.get("/p/test/branches/task/a").content.decode())
    assert "Changes since the last merge with main." in shown
    assert "0 commits ahead of main" in shown


def test_details_are_edited_on_the_page(maintainer: Client, viewer: Client, actor: Actor) -> None:
    make(actor, "task/a")
    address = "/p/test/branches/task/a?do=enrich"
    assert viewer.post(address, DETAILS).status_code == 403
    assert 'value="enrich"' not in viewer.get("/p/test/branches/task/a").content.decode()
    assert maintainer.post(address, DETAILS).status_code == 302
    branch = Branch.objects.get(name="task/a")
    assert (branch.purpose, branch.owner, branch.ttl_days, branch.tags) == (
        "Try",
        "Ada",
        14,
        ["auth", "slow"],
    )
    page = maintainer.get("/p/test/branches/task/a").content.decode()
    assert 'value="auth, slow"' in page
    for wrong in ("0", "soon", "99999999999"):
        refused = maintainer.post(address, DETAILS | {"owner": "Bo", "ttl_days": wrong})
        assert refused.status_code == 400, wrong
        assert 'value="Bo"' in refused.content.decode()
    assert maintainer.post(address, DETAILS | {"ttl_days": "", "tags": ""}).status_code == 302
    branch.refresh_from_db()
    assert (branch.owner, branch.ttl_days, branch.tags) == ("Ada", None, [])


def test_a_new_branch_takes_its_details(maintainer: Client) -> None:
    new = DETAILS | {"name": "task/a", "parent": "", "at": ""}
    assert maintainer.post("/p/test/branches", new).status_code == 302
    assert Branch.objects.get(name="task/a").ttl_days == 14
    refused = maintainer.post("/p/test/branches", new | {"name": "task/b", "ttl_days": "0"})
    assert refused.status_code == 400
    assert not Branch.objects.filter(name="task/b").exists()


def test_the_log_is_grouped_by_day_with_titles(viewer: Client, actor: Actor) -> None:
    for day in (1, 1, 2):
        moment = datetime(2026, 3, day, 12, tzinfo=UTC)
        write(actor.acting_at(moment), f"fact {day} {Commit.objects.count()}")
    Branch.objects.filter(name="main").update(head_at=datetime(2026, 3, 2, 12, tzinfo=UTC))
    Commit.objects.filter(seq__lte=2).update(at=datetime(2026, 3, 1, 12, tzinfo=UTC))
    Commit.objects.filter(seq=3).update(at=datetime(2026, 3, 2, 9, 30, tzinfo=UTC), message="Why it is so")
    page = viewer.get("/p/test/branches/main").content.decode()
    assert page.count('class="day"') == 2
    shown = text(page)
    assert shown.index("2026-03-02") < shown.index("Why it is so") < shown.index("2026-03-01")
    assert shown.count("Added 1 fact") == 2
    assert "09:30" in shown
    commit = Commit.objects.get(seq=1)
    shown = text(viewer.get(f"/p/test/commits/{commit.pk}").content.decode())
    assert "Added 1 fact" in shown
    assert "wrote a fact" in shown


def test_the_list_tells_ahead_and_behind(viewer: Client, actor: Actor) -> None:
    make(actor, "task/a", owner="Ada")
    write(actor, "one", "task/a")
    shown = text(viewer.get("/p/test/branches").content.decode())
    assert "1 / 0" in shown
    assert "Ada" in shown
    assert BranchManager().get_branch(name="task/a", actor=actor).ahead == 1


def test_the_file_of_all_branches_has_main_once(viewer: Client, project: Project) -> None:
    main = Branch.objects.get(project=project)
    traits = {"project": project, "head_at": main.head_at, "created_at": main.created_at}
    names = [f"agent/{n:03}" for n in range(150)]  # more than the page of an engine
    Branch.objects.bulk_create(Branch(name=name, parent=main, depth=1, **traits) for name in names)
    rows = json.loads(b"".join(viewer.get("/p/test/branches?format=json").streaming_content))
    assert [row["name"] for row in rows] == ["main", *names]


def test_main_is_the_first_branch_of_the_first_page_alone(
    viewer: Client, actor: Actor, project: Project
) -> None:
    main = Branch.objects.get(project=project)
    traits = {"project": project, "head_at": main.head_at, "created_at": main.created_at}
    Branch.objects.bulk_create(
        Branch(name=f"agent/{n:02}", parent=main, depth=1, **traits) for n in range(60)
    )
    listed, pages, address = list[str](), 0, "/p/test/branches"
    while address:
        page = viewer.get(address).content.decode()
        listed += re.findall(r'<a href="/p/test/branches/([^"?]*)"><strong>', page)
        pages += 1
        after = re.search(r'rel="next" href="([^"]*)"', page)
        address = unescape(after[1]) if after else ""
    assert (pages, listed) == (2, ["main", *(f"agent/{n:02}" for n in range(60))])
    assert "<strong>main<" not in viewer.get("/p/test/branches?name=agent/07").content.decode()
