"""Verification in the browser: a batch is begun, followed until it ends, and seen on the fact."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import check_page
from tests.e2e.test_questions import call
from tests.up_process import Up

pytestmark = pytest.mark.browser
HOME = "/p/default"


WORK = """
from curation.engines.verification.engine import VerificationEngine
VerificationEngine().resume_jobs()
"""


def test_a_batch_is_begun_and_followed_until_it_ends(server: Up, open_page: Any) -> None:
    fact = call(
        server, "/facts", {"fact_text": "Every gift card of the shop is printed in Lyon " + "word " * 20}
    )
    view = open_page(f"{HOME}/verification")
    page, address = view.page, server.first["url"]
    expect(page.get_by_text("No judge is set")).to_be_visible()
    check_page(view, address, "verification")
    page.get_by_role("button", name="Verify facts of this branch").click()
    page.wait_for_url("**/verification/jobs/**")
    expect(page.locator("#job strong")).to_have_text("queued")
    server.run_python(WORK)
    expect(page.locator("#job strong")).to_have_text("done")
    expect(page.get_by_text("rated by the heuristic")).to_be_visible()
    check_page(view, address, "verification")

    page.goto(f"{address}{HOME}/facts/{fact['id']}")
    expect(page.get_by_text("by a rule alone")).to_be_visible()
    page.goto(f"{address}{HOME}/verification/calibration")
    expect(page.get_by_text("No text has a verdict of both yet.")).to_be_visible()
    check_page(view, address, "verification")
