"""What a press decides: one answer to the question that is shown, at any latency."""

# ruff: noqa: F401, F811  fixtures

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.key_scene import (
    DONE,
    LOADED,
    WAITING,
    ask,
    go,
    late,
    resolutions,
    server,
    settle,
    states,
    visit,
    write,
)
from tests.up_process import Up

pytestmark = pytest.mark.browser


# ---- a key acts on the marked row or on nothing --------------------------------------------------------


def test_a_key_on_a_marked_row_leaves_the_fact_of_the_page_alone(
    visit: Callable[..., Page], server: Up
) -> None:
    one, two = write(server, "The page is about this fact.", "Another fact is linked to it.")
    server.run_python(
        f"{LOADED}\nfrom uuid import UUID\nfrom memory.engines.facts.links import LinkEngine\n"
        f"LinkEngine().write_link(from_id=UUID('{one}'), to_id=UUID('{two}'), "
        "link_type='ASSOCIATED', actor=actor)",
    )
    page = visit(f"/p/default/facts/{one}")
    page.keyboard.press("j")
    expect(page.locator("main .at")).to_have_count(1)
    for key in "vix":
        page.keyboard.press(key)
    page.wait_for_timeout(500)
    assert states(server, [one, two]) == ["active unverified"] * 2
    page.keyboard.press("Escape")
    expect(page.locator("main .at")).to_have_count(0)
    page.keyboard.press("i")
    expect(page.locator(".fact .badge.invalidated")).to_be_visible()
    assert states(server, [one, two]) == ["active invalidated", "active unverified"]


def test_a_key_without_a_marked_row_judges_no_row(visit: Callable[..., Page], server: Up) -> None:
    uids = write(server, "First of two.", "Second of two.")
    page = visit("/p/default/facts")
    page.keyboard.press("v")
    page.keyboard.press("i")
    page.wait_for_timeout(500)
    assert states(server, uids) == ["active unverified"] * 2


def test_keys_work_on_the_rows_of_the_facts(visit: Callable[..., Page], server: Up) -> None:
    uids = write(server, *(f"Row {number} of five." for number in range(5)))
    page = visit("/admin/p/default/facts")
    page.keyboard.type("jvjijvjijv")  # newest first, far quicker than the server answers
    expect(page.locator("[data-sent]")).to_have_count(0)
    verdicts = ["verified", "invalidated", "verified", "invalidated", "verified"]
    assert states(server, uids[::-1]) == [f"active {one}" for one in verdicts]
    page.keyboard.type("uu")
    expect(page.get_by_text("Undone.").first).to_be_visible()
    assert states(server, uids[:2]) == ["active unverified"] * 2
    assert states(server, uids[2:]) == [f"active {one}" for one in verdicts[:3][::-1]]
    settle(page)
    page.keyboard.type("jx")
    expect(page.get_by_text("1 chosen")).to_be_visible()
    page.keyboard.press("e")
    page.wait_for_url(f"**{uids[-1]}**")


# ---- quick presses -------------------------------------------------------------------------------------


def test_a_double_click_is_one_answer(visit: Callable[..., Page], server: Up) -> None:
    ask(server, 4)
    page = visit("/admin/p/default/review/questions")
    page.get_by_role("button", name="Keep both").first.dblclick()
    expect(page.locator(DONE)).to_have_count(1)
    page.wait_for_timeout(800)
    assert len(resolutions(server)) == 1
    expect(page.locator(WAITING)).to_have_count(3)


def test_a_held_key_answers_once(visit: Callable[..., Page], server: Up) -> None:
    ask(server, 4)
    page = visit("/p/default/review/questions")
    for _ in range(5):
        page.keyboard.down("i")  # without letting it go: a browser repeats it
    page.keyboard.up("i")
    expect(page.locator(DONE)).to_have_count(1)
    page.wait_for_timeout(500)
    assert len(resolutions(server)) == 1


def test_an_answer_that_is_refused_leaves_the_question_open(visit: Callable[..., Page], server: Up) -> None:
    ask(server, 3)
    page = visit("/p/default/review/questions", refused=True)
    page.context.route(
        "**/review/*-*", lambda route: route.abort() if route.request.method == "POST" else late(route)
    )
    page.keyboard.press("i")
    expect(page.get_by_text("The server did not take this answer").first).to_be_visible()
    expect(page.locator(WAITING)).to_have_count(3)
    page.keyboard.press("u")
    page.wait_for_timeout(500)
    assert resolutions(server) == []


def test_the_queue_goes_on_after_its_first_page(visit: Callable[..., Page], server: Up) -> None:
    ask(server, 27)
    page = visit("/p/default/review/questions", refused=True)
    busy: list[Route] = []

    def refuse(route: Route) -> None:
        busy.append(route)
        route.fulfill(status=503, content_type="text/html", body="<p>The server is busy.</p>")

    page.route("**/review/questions?*", refuse, times=1)
    expect(page.locator(WAITING)).to_have_count(20)
    for answered in range(1, 28):
        page.keyboard.press("i")
        expect(page.locator(f"{DONE}, .question[data-sent]")).to_have_count(answered)
    expect(page.locator(DONE)).to_have_count(27)
    assert len(resolutions(server)) == 27
    assert len(busy) == 1
    expect(page.get_by_text("All of these are answered.")).to_be_visible()
    expect(page.get_by_role("link", name="Look for more")).to_be_focused()


def test_what_is_typed_for_the_editor_answers_nothing(visit: Callable[..., Page], server: Up) -> None:
    ask(server, 4)
    page = visit("/p/default/review/questions")
    page.reload(wait_until="commit")
    page.locator(".question.at").wait_for()  # marked, and perhaps not drawn yet
    page.keyboard.type("evive la vie, iuvi")
    expect(page.locator("textarea:focus")).to_have_count(1)
    page.wait_for_timeout(500)
    assert resolutions(server) == []
    expect(page.locator(WAITING)).to_have_count(4)


def test_keys_before_the_question_is_drawn_wait_for_it_until_e(
    visit: Callable[..., Page], server: Up
) -> None:
    ask(server, 4)
    page = visit("/p/default/review/questions")
    # All in one turn of the page: none of the questions behind the first was drawn when they are pressed.
    page.evaluate(
        """for (const key of "ievijuvi".split("")) {
            const options = { key, bubbles: true, cancelable: true };
            document.body.dispatchEvent(new KeyboardEvent("keydown", options));
        }"""
    )
    expect(page.locator(DONE)).to_have_count(1)
    expect(page.locator("textarea:focus")).to_have_count(1)
    page.wait_for_timeout(500)
    assert [answer for _text, answer in resolutions(server)] == ["keep_both"]
    expect(page.locator(WAITING)).to_have_count(3)


# ---- undoing several -----------------------------------------------------------------------------------


def test_undo_goes_back_several_steps(visit: Callable[..., Page], server: Up) -> None:
    one, two = write(server, "It is judged first.", "It is judged second.")
    page = visit(f"/p/default/facts/{one}")
    page.keyboard.press("v")
    expect(page.get_by_text("Verified.", exact=True)).to_be_visible()
    go(page, f"{server.first['url']}/p/default/facts/{two}")
    page.keyboard.press("i")
    expect(page.get_by_text("Judged to be wrong.")).to_be_visible()
    settle(page)
    page.keyboard.type("uu")
    expect(page.get_by_text("Undone.")).to_have_count(2)
    assert states(server, [one, two]) == ["active unverified"] * 2
    settle(page)
    page.keyboard.press("u")  # no third action: nothing
    page.wait_for_timeout(500)
    assert states(server, [one, two]) == ["active unverified"] * 2
    page.get_by_role("button", name="Redo").first.click()
    expect(page.get_by_text("Done again.")).to_be_visible()
    assert sorted(states(server, [one, two])) == ["active invalidated", "active unverified"]
    settle(page)
    page.keyboard.press("u")
    expect(page.get_by_text("Undone.")).to_have_count(1)
    assert states(server, [one, two]) == ["active unverified"] * 2


def test_undo_pressed_before_the_page_is_here_undoes_the_last_action(
    visit: Callable[..., Page], server: Up
) -> None:
    one, two = write(server, "Earlier action.", "Later action.")
    page = visit(f"/p/default/facts/{one}")
    page.keyboard.press("v")
    expect(page.get_by_text("Verified.", exact=True)).to_be_visible()
    go(page, f"{server.first['url']}/p/default/facts/{two}")
    page.keyboard.type("vu")
    expect(page.get_by_text("Undone.")).to_have_count(1)
    assert states(server, [one, two]) == ["active verified", "active unverified"]


def test_undo_pressed_before_the_scripts_are_here_is_not_lost(visit: Callable[..., Page], server: Up) -> None:
    one, two = write(server, "Undone at once.", "Undone next.")
    page = visit(f"/p/default/facts/{one}")
    page.keyboard.press("v")
    expect(page.get_by_text("Verified.", exact=True)).to_be_visible()
    held: list[Route] = []
    page.route("**/js/day1*.js", lambda route: held.append(route), times=1)
    page.goto(f"{server.first['url']}/p/default/facts/{two}", wait_until="commit")
    page.get_by_role("heading", name="Undone next.").wait_for()
    page.keyboard.press("u")
    held[0].continue_()
    expect(page.get_by_text("Undone.")).to_have_count(1)
    assert states(server, [one]) == ["active unverified"]


def test_what_a_page_told_before_its_scripts_were_here_is_undone_from_the_next(
    visit: Callable[..., Page], server: Up
) -> None:
    one, two = write(server, "Left at once.", "Read next.")
    page = visit(f"/p/default/facts/{one}")
    held: list[Route] = []
    page.route("**/js/day1*.js", lambda route: held.append(route), times=1)
    page.keyboard.press("v")
    expect(page.get_by_text("Verified.", exact=True)).to_be_visible()
    page.goto(f"{server.first['url']}/p/default/facts/{two}")
    page.keyboard.press("u")
    expect(page.get_by_text("Undone.")).to_have_count(1)
    assert len(held) == 1
    assert states(server, [one]) == ["active unverified"]


# ---- Esc -----------------------------------------------------------------------------------------------


def test_escape_leaves_a_field_and_then_the_editor(visit: Callable[..., Page], server: Up) -> None:
    ask(server, 2)
    (uid,) = write(server, "It is edited, or not.")
    page = visit("/admin/p/default/review/questions")
    page.keyboard.press("e")
    expect(page.locator("textarea:focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("textarea:focus")).to_have_count(0)
    expect(page.locator("details.combine[open]")).to_have_count(0)
    page.keyboard.press("i")  # a command again
    expect(page.locator(DONE)).to_have_count(1)
    go(page, f"{server.first['url']}/admin/p/default/facts/{uid}/edit")
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.press("Escape")
    expect(page.locator("textarea:focus")).to_have_count(0)
    page.get_by_label("Text", exact=True).fill("It is edited.")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")  # what was typed is not thrown away
    expect(page.get_by_label("Text", exact=True)).to_have_value("It is edited.")
    page.get_by_label("Text", exact=True).fill("It is edited, or not.")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_url(f"**/facts/{uid}")


def test_escape_leaves_a_search_with_its_words(visit: Callable[..., Page], server: Up) -> None:
    for path in ("/p/default/search", "/admin/p/default/facts"):
        page = visit(path)
        page.keyboard.press("Escape")  # a search may have the focus from the start
        page.keyboard.press("/")
        page.keyboard.type("release")
        page.keyboard.press("Escape")
        expect(page.locator("main input[type=search]")).to_have_value("release")
        expect(page.locator("main input[type=search]:focus")).to_have_count(0)
