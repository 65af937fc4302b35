"""Each figure of a page equals what is counted from outside, in plain Python over the lists of REST.

Its link leads to a page with exactly these rows.
"""

import html
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from curation.engines.quarantine.engine import QuarantineEngine
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.exceptions import IllegalTransition, NotFound
from memory.models import Branch, Project
from tests.amounts import take_share
from tests.analytics.test_figures import ask, backdate, without_vectors
from tests.memory.api.client import Api
from tests.memory.views.conftest import curator

__all__ = ["curator", "without_vectors"]
pytestmark = pytest.mark.django_db(transaction=True)
facts, branches = FactEngine(), BranchManager()
CHILD, DAYS = "task/x", 30
LINK = re.compile(r'<a href="([^"]*)"[^>]*><strong>([\d,]+)</strong> ([^<]+)')
TAB = re.compile(r'<a href="[^"]*junk=(\w+)#junk"[^>]*>[^<]*<span class="count">([\d,]+)</span>')
AGENT = re.compile(r'agent_id=(\w+)&(?:amp;)?verification_status=invalidated">(\d+)</a>')
ROW = re.compile(r'id="fact-([0-9a-f-]{36})"')
USED = ("active", "done")


def play(seed: int, project: Project, actor: Actor, did: Any) -> None:
    """Write facts of some days on two branches, and judge, change and remove some of them."""
    random, rows = Random(seed), list[Any]()
    days = sorted((random.choice([0, 0, 1, 29, 30, 45]) for _ in range(14)), reverse=True)
    for number, day in enumerate(days):
        end = timezone.now() + timedelta(days=random.choice([-1, 3])) if random.random() < 0.4 else None
        who = backdate(project, day).with_origin(agent_id=random.choice("ab"), session_id="s1")
        rows.append(facts.write_fact(fact_text=f"Fact {number}.", valid_until=end, actor=who).fact)
    did("Bash", "make", agent_id="a")
    branches.create_branch(name=CHILD, actor=actor)
    own = facts.write_fact(fact_text="Own.", actor=actor, branch_name=CHILD).fact
    for number in range(12):
        name, on = random.choice([("main", rows), (CHILD, [*rows, own])])
        change(random, number, random.choice(on).uid, {"actor": actor, "branch_name": name})
    main = Branch.objects.get(name="main")
    for kind in ("contested", "near_duplicate"):
        one, other = random.sample(rows, 2)
        ask(main, one, other, kind=kind)
    if random.random() < 0.5:
        QuarantineEngine().create_quarantine(source="agent", target="b", actor=actor)


def change(random: Random, number: int, uid: Any, on: dict[str, Any]) -> None:
    changes: list[Callable[[], Any]] = [
        lambda: facts.set_verification(fact_id=uid, verdict="verified", **on),
        lambda: facts.set_verification(fact_id=uid, verdict="invalidated", **on),
        lambda: facts.update_fact(fact_id=uid, updates={"fact_text": f"Anew {number}."}, **on),
        lambda: facts.archive_fact(fact_id=uid, **on),
        lambda: facts.delete_fact(fact_id=uid, **on),
    ]
    with suppress(NotFound, IllegalTransition):  # what is gone or archived is left as it is
        random.choice(changes)()


def read_all(api: Api, path: str, branch: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = api.get(f"{path}?branch={branch}&limit=5&cursor={cursor}").json()
        found += page["results"]
        if not (cursor := page.get("next") or ""):
            return found


def read_links(client: Client, path: str) -> dict[str, tuple[int, str]]:
    page = html.unescape(client.get(path).content.decode())
    return {text.strip(): (int(n.replace(",", "")), url) for url, n, text in LINK.findall(page)}


def list_shown(client: Client, url: str) -> set[str]:
    """Return the facts of a page and the ones behind it."""
    shown, seen = set[str](), 0
    while url:
        page = client.get(url).content.decode()
        shown |= set(ROW.findall(page))
        after = re.search(r'href="([^"]*cursor=[^"]*)"[^>]*rel="next"', page)
        url, seen = html.unescape(after[1]) if after else "", seen + 1
        assert seen < 20
    return shown


def text(client: Client, branch: str) -> str:
    return client.get(f"/p/test/insights?branch={branch}").content.decode()


def is_since(row: dict[str, Any], day: datetime) -> bool:
    return datetime.fromisoformat(row["created_at"]) >= day


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("branch", ["main", CHILD])
@pytest.mark.parametrize("seed", take_share(range(12), 12))
def test_figures_are_the_rows_that_they_lead_to(
    seed: int, branch: str, api: Api, curator: Client, project: Project, actor: Actor, did: Any
) -> None:
    play(seed, project, actor, did)
    rows = read_all(api, "/facts", branch)
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    month = today - timedelta(days=DAYS - 1)
    home, page = (read_links(curator, f"/p/test/{path}?branch={branch}") for path in ("", "insights"))
    checked = {
        name: (figures[name], {row["id"] for row in rows if is_since(row, since)})
        for figures, since, names in (
            (home, today, ("Fact added today", "Facts added today")),
            (page, month, ("Facts written",)),
        )
        for name in names
        if name in figures
    }
    assert len(checked) == 2
    for name, ((count, url), expected) in checked.items():
        assert (count, list_shown(curator, url)) == (len(expected), expected), name
    verified = [row for row in rows if row["verification_status"] == "verified"]
    shown = re.search(r"<strong>(\d+)%</strong> of the facts are verified", text(curator, branch))
    assert shown
    assert int(shown[1]) == round(100 * len(verified) / len(rows))
    seen = read_all(api, "/observations", branch)
    assert page["Observations"][0] == len([one for one in seen if is_since(one, month)])


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("branch", ["main", CHILD])
@pytest.mark.parametrize("seed", take_share(range(12), 12))
def test_junk_is_stale_contradicted_doubled_or_rejected(
    seed: int, branch: str, api: Api, curator: Client, project: Project, actor: Actor, did: Any
) -> None:
    play(seed, project, actor, did)
    rows = [row for row in read_all(api, "/facts", branch) if row["status"] in USED]
    now, used = timezone.now(), {row["id"] for row in rows}
    asked = [
        one
        for one in read_all(api, "/review-items", branch)
        if one["fact"] and one["other"] and {one["fact"]["id"], one["other"]["id"]} <= used
    ]
    expected = {
        "stale": {
            row["id"]
            for row in rows
            if row["valid_until"] and datetime.fromisoformat(row["valid_until"]) <= now
        },
        "contradicted": {one["fact"]["id"] for one in asked if one["kind"] == "contested"},
        "near_duplicate": {one["fact"]["id"] for one in asked if one["kind"] == "near_duplicate"},
        "rejected": {row["id"] for row in rows if row["verification_status"] == "invalidated"},
    }
    address = f"/p/test/insights?branch={branch}"
    page = curator.get(address).content.decode()
    assert {name: int(count) for name, count in TAB.findall(page)} == {
        name: len(uids) for name, uids in expected.items()
    }
    for name, uids in expected.items():
        assert list_shown(curator, f"{address}&junk={name}") == uids, name
    everything = read_all(api, "/facts", branch)
    for agent, count in AGENT.findall(html.unescape(page)):
        wrong = [
            row
            for row in everything
            if row["agent_id"] == agent and row["verification_status"] == "invalidated"
        ]
        assert int(count) == len(wrong)
