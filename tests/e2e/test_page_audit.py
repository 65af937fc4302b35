"""The page audit: defects that the screenshot tool must find."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from bench.page_audit import Picture, Window
from tests.browser import check_axe

pytestmark = pytest.mark.browser

PAGE = """<!DOCTYPE html><title>A page</title><style>
    body { margin: 0 }
    .clipped { width: 100px; overflow: hidden; white-space: nowrap }
    .ellipsis { text-overflow: ellipsis }
    td::before { content: attr(data-label) }
    .scrolls { overflow-x: auto }
</style>"""
WIDE = '<div style="width:500px">wide</div>'


@pytest.fixture
def window(browser: Browser) -> Iterator[Window]:
    window = Window(browser, "data:text/html,")
    yield window
    window.close()


def look_at(window: Window, body: str, folder: Path) -> Picture:
    window.open(quote(PAGE + body), 390)
    return window.take_picture(Picture("test", "a page?q=…", 390, "light"), folder)


def test_a_page_that_is_well_has_a_picture_and_nothing_else(window: Window, tmp_path: Path) -> None:
    body = f'<div class="clipped ellipsis">{"long " * 30}</div><div class="scrolls">{WIDE}</div>'
    look = look_at(window, f"{body}<table><tr><td data-label=Name>Ann</td><td></td></table>", tmp_path)
    assert (look.title, look.file) == ("A page", "test/390-light/a-page-q.png")
    assert (tmp_path / look.file).stat().st_size > 0
    assert (look.console, look.wider, look.out, look.cut, look.empty, look.images) == ([], 0, [], [], [], [])
    assert not look.wrong


@pytest.mark.parametrize(
    ("body", "found", "words"),
    [
        (WIDE, "wider", 110),
        (WIDE, "out", ["div. “wide”"]),
        (
            '<div class="clipped">It has too many words for it</div>',
            "cut",
            ["div.clipped “It has too many words for it”"],
        ),
        ("<table><tr><td data-label=Name></td></table>", "empty", ["td. “”"]),
        ('<img src="data:image/png;base64,AAAA">', "images", ["data:image/png;base64,AAAA"]),
        ("<script>console.error('no')</script>", "console", ["error: no"]),
    ],
)
def test_what_is_wrong_is_found(window: Window, tmp_path: Path, body: str, found: str, words: object) -> None:
    look = look_at(window, body, tmp_path)
    assert getattr(look, found) == words
    assert look.wrong == (found in ("wider", "out", "console", "images"))


def test_a_long_page_is_cut_off(window: Window, tmp_path: Path) -> None:
    look = look_at(window, '<div style="height:9000px">long</div>', tmp_path)
    data = (tmp_path / look.file).read_bytes()
    assert [int.from_bytes(data[at : at + 4]) for at in (16, 20)] == [390, 2400]


UNLIKE = (
    "color: #ddd",
    "background: #333",
    "opacity: 0.3",
)


@pytest.mark.parametrize("style", UNLIKE)
def test_axe_sees_what_cannot_be_read(browser: Browser, style: str) -> None:
    """Texts that look like one before are not measured again; one that differs is, wherever it differs."""
    page = browser.new_page()
    page.set_content(
        '<!DOCTYPE html><html lang="en"><title>A page</title><main><h1>Read</h1>'
        "<p>Words</p><p>More</p><div><p>Others</p></div></main></html>"
    )
    check_axe(page)
    for selector in ("p + p", "div", "div p"):
        page.evaluate("([one, style]) => document.querySelector(one).style = style", [selector, style])
        with pytest.raises(AssertionError, match="color-contrast"):
            check_axe(page)
        page.evaluate("one => document.querySelector(one).removeAttribute('style')", selector)
    check_axe(page)
    page.close()
