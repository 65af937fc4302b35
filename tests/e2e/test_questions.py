"""Measured memory in the browser: a search is saved as a question, run, and guards a merge."""

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import expect

from tests.browser import check_page
from tests.up_process import Up
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.browser
HOME = "/p/default"
ASKED = "How long do vouchers live?"


def call(server: Up, path: str, body: Any, method: str = "POST") -> Any:
    """Send a REST request with the first key; return the answer."""
    headers = {"Authorization": f"Bearer {server.first['key']}", "Content-Type": "application/json"}
    request = Request(
        f"{server.first['url']}/api/v1{path}", json.dumps(body).encode(), headers, method=method
    )
    with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        return json.loads(answer.read() or b"null")


def write_verified(server: Up, text: str, branch: str = "main") -> str:
    fact = call(server, "/facts", {"fact_text": text, "branch": branch})
    call(server, f"/facts/{fact['id']}/verify", {"verdict": "verified", "reason": "read", "branch": branch})
    return fact["id"]


def test_a_saved_question_stops_the_merge_that_would_lose_it(server: Up, open_page: Any) -> None:
    uid = write_verified(server, "Vouchers live for a year.")
    view = open_page(f"{HOME}/search?q={ASKED.replace(' ', '+')}")
    page = view.page
    page.get_by_role("listitem").filter(has_text="Vouchers live for a year.").get_by_role(
        "button", name="Save question"
    ).click()
    expect(page.get_by_text("The question is saved.")).to_be_visible()

    page.goto(f"{server.first['url']}{HOME}/questions")
    check_page(view, server.first["url"], "questions")
    page.get_by_role("button", name="Run on main").click()
    page.wait_for_url("**/evals/**")
    expect(page.get_by_role("link", name=ASKED)).to_be_visible()
    check_page(view, server.first["url"], "questions")

    for name in ("task/drops", "task/keeps"):
        call(server, "/branches", {"name": name})
    call(server, f"/facts/{uid}", {"branch": "task/drops"}, "DELETE")
    write_verified(server, "Refunds take two days.", "task/keeps")
    numbers = [
        call(server, "/merge-requests", {"source": name})["number"] for name in ("task/drops", "task/keeps")
    ]
    page.goto(f"{server.first['url']}{HOME}/merge-requests/{numbers[0]}")
    page.get_by_role("link", name="recall 1").click()
    expect(page.get_by_text("1 → –")).to_be_visible()
    expect(page.get_by_role("link", name=ASKED, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Merge", exact=True)).to_be_disabled()
    check_page(view, server.first["url"], "questions")

    page.goto(f"{server.first['url']}{HOME}/merge-requests/{numbers[1]}")
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_text("Merged into main.")).to_be_visible()
