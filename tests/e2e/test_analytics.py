"""Three questions on what agents do, each answered in few clicks, and the pages at every width."""

# ruff: noqa: F401, F811  fixtures

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import settle
from tests.e2e.key_scene import LOADED, go, server, visit
from tests.e2e.test_queue_by_keys import look
from tests.up_process import Up

pytestmark = pytest.mark.browser
FILLED = f"""{LOADED}
from datetime import timedelta
from django.utils import timezone
from memory.engines.sessions.observations import ObservationEngine
Branch.objects.filter(head=0).update(head_at=timezone.now() - timedelta(days=90))
ago = lambda days: actor.acting_at(timezone.now() - timedelta(days=days))
old = ago(40).with_origin(agent_id="ledger", session_id="s-old")
over = ago(1).told_at
ended = [{{"fact_text": f"Over since {{n}}.", "valid_until": over}} for n in range(3)]
facts.write_facts(facts=ended, actor=old)
day = ago(1).with_origin(agent_id="ledger", session_id="s-1")
learned = [{{"fact_text": f"Learned {{n}}.", "category": "decision"}} for n in range(4)]
facts.write_facts(facts=learned, actor=day)
call = {{"tool_name": "Bash", "raw_input": "make", "raw_output": "done"}}
ObservationEngine().write_observations(observations=[call, call], actor=day)
wrong = facts.write_fact(fact_text="The moon is square.", actor=ago(0).with_origin(agent_id="dreamer")).fact
facts.set_verification(fact_id=wrong.uid, verdict="invalidated", actor=actor)
"""


class Clicks:
    """A page whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.count = page, 0

    def click(self, role: Any, name: str, inside: str = "body") -> None:
        self.page.locator(inside).get_by_role(role, name=name).first.click()
        self.count += 1


def test_few_clicks_to_what_agents_did(visit: Callable[..., Page], server: Up) -> None:
    server.run_python(FILLED)
    page = visit("/p/default/search")
    clicks = Clicks(page)
    clicks.click("link", "Home")
    day = page.locator("#yesterday")
    expect(day).to_contain_text("ledger 1 session, 2 calls of tools, 4 new facts decision")
    clicks.click("link", "ledger", "#yesterday")
    expect(page.locator("h1")).to_have_text("Agent ledger")
    assert clicks.count == 2
    look(page, "agent")

    clicks = Clicks(page)
    clicks.click("link", "Insights")
    expect(page.locator("#agents + table tbody tr").first).to_contain_text("dreamer")
    look(page, "insights")
    page.locator("#agents + table tbody tr a").nth(1).click()
    expect(page.get_by_text("The moon is square.").first).to_be_visible()
    assert clicks.count + 1 <= 3

    clicks = Clicks(page)
    clicks.click("link", "Insights")
    clicks.click("link", "Expired or outdated")
    settle(page)  # before, no script hears what is ticked
    clicks.click("checkbox", "All on this page")
    clicks.click("button", "Archive …")
    expect(page.locator("#rows .rows > li")).to_have_count(3)
    clicks.click("button", "Archive these 3 facts")
    expect(page.get_by_text("Nothing here: no fact in use is of this kind.")).to_be_visible()
    clicks.click("button", "Undo")
    expect(page.get_by_text("Over since 0.")).to_be_visible()
    assert clicks.count == 6
    go(page, page.url.partition("?")[0])
    page.keyboard.type("gg")
    expect(page.locator("h1")).to_have_text("Insights")
