"""A curator clears the queue of fifty with keys alone, over a slow network: every press is one answer."""

# ruff: noqa: F401, F811  fixtures

import json
from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser import SCHEMES, check_axe, check_fits, choose_axe_looks, settle, take_picture
from tests.e2e.key_scene import (
    DONE,
    LOADED,
    WAITING,
    go,
    resolutions,
    server,
    visit,
)
from tests.up_process import Up

pytestmark = pytest.mark.browser
FILLED = f"""{LOADED}
import json
from memory.engines.facts.bulk_actions import ActionEngine
items = pairs(actor, 15)
ReviewItem.objects.filter(pk__in=[item.pk for item in items[:5]]).update(kind="contested")
paired = [uid for item in items for uid in (item.fact_id, item.other_id)]
ActionEngine().apply_action(action="verify", fact_ids=paired, actor=actor)
texts = [{{"fact_text": f"Nobody has checked statement {{number}}."}} for number in range(30)]
single = [one.fact.uid for one in facts.write_facts(facts=texts, actor=actor).results]
texts = [{{"fact_text": f"An agent proposes statement {{number}}."}} for number in range(5)]
proposed = [one.fact.uid for one in facts.write_facts(facts=texts, actor=actor, propose=True).results]
print(json.dumps([[str(uid) for uid in uids] for uids in (proposed, single)]))
"""
# By worth, the newest first: five proposals, five contested, ten near duplicates, thirty unverified facts.
KEYS = "iiiii" + "vvvvv" + "vi" * 5 + "via" * 10
VERDICTS = {"v": "active verified", "i": "active invalidated", "a": "archived unverified"}


def read_states(server: Up, uids: list[str]) -> list[str]:
    """Return status and verdict of each fact, in one look."""
    code = f"""{LOADED}
import json
found = [facts.get_fact(fact_id=uid, actor=actor) for uid in {uids!r}]
print(json.dumps([f"{{one.status}} {{one.verification_status}}" for one in found]))
"""
    states: list[str] = json.loads(server.run_python(code))
    return states


def test_a_queue_of_fifty_is_cleared_by_fifty_presses(visit: Callable[..., Page], server: Up) -> None:
    proposed, single = json.loads(server.run_python(FILLED))
    page = visit("/admin/p/default/review")
    sent: list[str] = []

    def count(request: Request) -> None:
        if request.method == "POST":
            sent.append(request.url)

    page.on("request", count)
    expect(page.locator(WAITING)).to_have_count(10)
    expect(page.locator("[data-preview] #belief")).to_be_visible()  # the story of what is marked
    look(page, "queue")
    page.keyboard.type(KEYS)
    expect(page.get_by_text("All of these are answered.")).to_be_visible()
    expect(page.locator(DONE)).to_have_count(50)
    settle(page)
    assert len(sent) == len(KEYS) == 50
    assert read_states(server, proposed) == ["archived unverified"] * 5
    decided = [VERDICTS[key] for key in KEYS[20:]]
    assert read_states(server, single[::-1]) == decided
    answers = [answer for _text, answer in resolutions(server)]
    assert answers == ["supersede"] * 5 + ["same", "keep_both"] * 5
    page.keyboard.type("uuu")
    expect(page.locator(WAITING)).to_have_count(3)
    settle(page)
    assert read_states(server, single[:3]) == ["active unverified"] * 3
    page.keyboard.type("vvv")
    expect(page.locator(WAITING)).to_have_count(0)
    settle(page)
    go(page, page.url)
    expect(page.get_by_text("facts that nobody has checked, that end soon")).to_be_visible()
    expect(page.locator(".question")).to_have_count(0)
    look(page, "queue-empty")


def look(page: Page, name: str) -> None:
    """Look at the page in both schemes and at the widths of a phone and a laptop; axe reads it in one."""
    axe_looks = choose_axe_looks(name)
    for scheme, width in product(SCHEMES, (390, 1280)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_load_state()  # without its styles it would be wider
        take_picture(page, f"{name}-{scheme}-{width}")
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) == 0
        if (width, scheme) in axe_looks:
            check_axe(page)
