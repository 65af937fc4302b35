"""Enter in a field decides nothing, with and without scripts."""

# ruff: noqa: F401, F811  fixtures

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.e2e.key_scene import (
    QUEUES,
    ask,
    go,
    resolutions,
    server,
    states,
    visit,
    write,
)
from tests.up_process import Up

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("path", "scripts"), [(QUEUES[1], False)])
def test_enter_in_the_reason_answers_no_question(
    visit: Callable[..., Page], server: Up, path: str, scripts: bool
) -> None:
    ask(server, 2)
    page = visit(path, java_script_enabled=scripts)
    page.get_by_text("Add a reason").first.click()
    page.get_by_placeholder("Reason").first.fill("I have to think.")
    page.keyboard.press("Enter")
    page.get_by_role("radio").first.press("Enter")
    page.wait_for_timeout(600)
    assert resolutions(server) == []
    assert page.get_by_placeholder("Reason").first.input_value() == "I have to think."


@pytest.mark.parametrize(("place", "scripts"), [("/admin/p/default/facts", True)])
def test_enter_in_the_reason_judges_no_fact(
    visit: Callable[..., Page], server: Up, place: str, scripts: bool
) -> None:
    (uid,) = write(server, f"Enter decides nothing at {place} {scripts}.")
    for path in (f"{place}/{uid}", place):
        page = visit(path, java_script_enabled=scripts)
        if path == place:
            page.locator('input[name="fact"]').first.check()
        for field in page.locator(
            "main form[method=post] :is(input[name=reason], input[name=replaced_by])"
        ).all():
            if field.is_visible():
                field.fill("Why?")
                field.press("Enter")
        page.wait_for_timeout(600)
        assert states(server, [uid]) == ["active unverified"]


def test_no_form_with_several_deciding_buttons_takes_enter(visit: Callable[..., Page], server: Up) -> None:
    """On every page: the first submit button of such a form is one that does nothing."""
    ask(server, 1)
    (uid,) = write(server, "Forms are counted.", propose=True)
    places = (
        "review/questions",
        "review?status=proposed",
        "facts",
        f"facts/{uid}",
        "branches",
        "branches/main",
        "sessions",
    )
    page = visit("/p/default/")
    page.context.unroute_all()  # no key is pressed here, so nothing need be slow
    for path in [f"{frame}/p/default/{place}" for frame in ("", "/admin") for place in places]:
        page.goto(server.first["url"] + path)
        open_forms = page.evaluate(
            """() => [...document.forms].filter((form) => {
                const buttons = [...form.elements].filter((one) => one.type === "submit");
                const deciding = buttons.filter((one) => one.name && !one.disabled);
                return form.method === "post" && deciding.length > 1 && buttons[0].formMethod !== "dialog"
                    && [...form.elements].some((one) => one.matches("input:not([type=hidden])"));
            }).map((form) => form.outerHTML.slice(0, 200))"""
        )
        assert (path, open_forms) == (path, [])
