"""What agents were told by week equals what is counted from outside, and each number leads to its rows."""

import re
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Fact, Project, RecallLog
from memory.ranking import count_tokens
from tests.amounts import take_share
from tests.analytics.test_figures import Write, backdate, without_vectors, write
from tests.memory.views.conftest import curator

__all__ = ["curator", "without_vectors", "write"]
pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/p/test/insights?days=90"
CELL = re.compile(r'<td[^>]*data-label="([^"]*)">(?:<a[^>]*>)?([\d,]+)(?:</a>)?</td>')
LINE = re.compile(r'<a class="line" href="/p/test/facts/([0-9a-f-]{36})"')
facts = FactEngine()


def tell(project: Project, at: datetime, session: str, told: list[Fact], **other: str) -> None:
    key = UUID(int=(int(at.timestamp() * 1000) << 80) + RecallLog.objects.count())
    ids = [str(fact.uid) for fact in told]
    fields = {"branch": "main", "surface": "hook", "query": "", **other}
    RecallLog.objects.create(id=key, project=project, at=at, fact_ids=ids, session_id=session, **fields)


def read_weeks(client: Client) -> dict[str, dict[str, int]]:
    page = client.get(PATH).content.decode()
    card = page.split('aria-labelledby="told"')[1].split("</section>")[0] if "Week from" in page else ""
    rows = {}
    for row in card.split("<tr>")[2:]:
        day = re.search(r"<td>([^<]+)</td>", row)
        assert day
        rows[day[1]] = {name: int(n.replace(",", "")) for name, n in CELL.findall(row)}
    return rows


def list_shown(client: Client, week: str, group: str) -> set[str]:
    page = client.get(f"{PATH}&week={week}&told={group}").content.decode()
    return set(LINE.findall(page.split('aria-labelledby="told"')[1].split("</section>")[0]))


def find_week(at: datetime) -> str:
    day = at.astimezone(UTC).date()
    return (day - timedelta(days=day.weekday())).isoformat()


@pytest.mark.nightly
@pytest.mark.parametrize("seed", take_share(range(12), 12))
def test_weeks_are_what_was_told(
    seed: int, curator: Client, project: Project, actor: Actor, main: Branch
) -> None:
    random, old = Random(seed), backdate(project, 80)
    every = [facts.write_fact(fact_text=f"Fact {n} of the team.", actor=old).fact for n in range(8)]
    tellings = []
    for number in range(12):
        at = timezone.now() - timedelta(days=random.choice([0, 1, 8, 9, 20, 60]), seconds=5 + number)
        told = random.sample(every, random.randint(1, 4))
        tellings.append((at, f"s{number % 3}", told))
        tell(project, at, f"s{number % 3}", told)
    tell(project, timezone.now(), "s9", every, branch="task/x")  # of another branch
    tell(project, timezone.now(), "s9", every, surface="mcp")  # a search, which is a recall and no telling
    wrong, gone, used = every[0], every[1], every[2]
    facts.set_verification(fact_id=wrong.uid, verdict="invalidated", actor=actor)
    facts.archive_fact(fact_id=gone.uid, actor=actor)
    facts.write_fact(fact_text=used.fact_text, actor=actor.with_origin(agent_id="other"))
    confirmed = facts.get_fact(fact_id=used.uid, actor=actor).confirmation_count
    assert confirmed == 1
    expected = {}
    for week in {find_week(at) for at, _, _ in tellings}:
        own = [(session, told) for at, session, told in tellings if find_week(at) == week]
        uids = {fact.uid for _, told in own for fact in told}
        lines = [fact for _, told in own for fact in told]
        expected[week] = {
            "Sessions": len({session for session, _ in own}),
            "Lines": len(lines),
            "Tokens, estimated": sum(count_tokens(f"- {fact.fact_text}\n") for fact in lines),
            "Facts": len(uids),
            "Used since": int(used.uid in uids),
            "Said to be wrong": int(wrong.uid in uids),
            "Out of date": int(gone.uid in uids),
        }
        assert list_shown(curator, week, "facts") == {str(uid) for uid in uids}
        for group, fact in (("used", used), ("wrong", wrong), ("gone", gone)):
            assert list_shown(curator, week, group) == ({str(fact.uid)} & {str(uid) for uid in uids}), group
    assert read_weeks(curator) == expected


def test_nothing_told_is_said_so_and_an_odd_week_shows_no_rows(
    curator: Client, write: Write, project: Project
) -> None:
    one = write("One.")
    assert "No session was told anything in this range." in curator.get(PATH).content.decode()
    tell(project, timezone.now(), "s1", [one])
    shown: Any = curator.get(f"{PATH}&week=2001-01-01&told=facts")
    assert (shown.status_code, LINE.findall(shown.content.decode())) == (200, [])
    assert curator.get(f"{PATH}&week={find_week(timezone.now())}&told=oops").status_code == 200
