"""Pages in Debian's Chromium: what they report, and how each is checked in its widths and colour schemes."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Request, StorageState, expect, sync_playwright

from bench.page_audit import CHROMIUM, QUIET
from tests.waiting import TIMEOUT_MS, TIMEOUT_SECONDS

WIDTHS = (390, 1280, 1920)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOOKS = ((390, "light"), (1280, "dark"), (1920, "light"))  # colours move nothing: each width in one scheme
AXE_LOOKS = ((390, "light"), (1280, "dark"))  # each layout and each scheme; a page has one of them each time
CHECKED = Counter[str]()  # how often a page of this name was checked
LATER_ROWS = [  # are built like the first ones
    f"{row}:nth-child(n + 6)" for row in (".rows > li", ".queue > li", "tbody > tr")
]
# What leaving or reloading a page drops before it is here; a refusal by the server or the policy reads
# otherwise.
DROPPED_TYPES = {"stylesheet", "script", "image", "font"}
DROPPED_PATHS = ("/icon.svg", "/first-event")  # the icon of the tab, and a question asked again
SERIOUS = {"serious", "critical"}
IN_ONE_PROCESS = "--in-process-gpu"  # drawing in a process of its own takes a twelfth more
AXE_SCRIPT = Axe().axe_script
# Rules whose every finding is milder than what fails a test are left out: they take a third of the time.
# So are, for contrast, texts whose colours, sizes and grounds are those of a text before: the rule measures
# each anew, which took the larger part. Without preload: axe would fetch imported stylesheets from the wrong
# folder.
RUN_AXE = """async context => {
    const repeated = "data-same-look", numbers = new Map(), looks = new Map(), seen = new Set();
    const styles = ["color", "backgroundColor", "backgroundImage", "opacity", "fontSize", "fontWeight",
        "textShadow", "position", "visibility", "display"];
    const later = context.exclude.flat().join(",");
    const hasText = element => [...element.childNodes].some(
        node => node.nodeType === Node.TEXT_NODE && node.textContent.trim().length > 1);
    for (const element of document.querySelectorAll("html, html > body, html > body *")) {
        element.removeAttribute(repeated);
        if (later && element.closest(later)) continue;
        const style = getComputedStyle(element);
        const off = element.matches(":disabled, [aria-disabled=true], [inert], [aria-hidden=true], label");
        const own = [off && element.outerHTML, ...styles.map(name => style[name])].join();
        const whole = `${looks.get(element.parentElement)},${own}`;
        if (!numbers.has(whole)) numbers.set(whole, numbers.size);
        const look = numbers.get(whole);
        looks.set(element, look);
        if (!hasText(element) || !element.getClientRects().length) continue;
        if (seen.has(look)) element.setAttribute(repeated, "");
        seen.add(look);
    }
    axe.configure({rules: [{id: "color-contrast", selector: `*:not([${repeated}])`}]});
    const mild = axe._audit.rules.filter(rule => ["minor", "moderate"].includes(rule.impact));
    const rules = Object.fromEntries(mild.map(rule => [rule.id, {enabled: false}]));
    const found = await axe.run(context, {preload: false, resultTypes: ["violations"], rules});
    return found.violations;
}"""
expect.set_options(timeout=TIMEOUT_MS)
PICTURES = os.environ.get("DAY1_SCREENSHOTS", "")
LISTEN = """
    window.refused = [];
    document.addEventListener("securitypolicyviolation", event =>
        window.refused.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}`));
"""


@dataclass
class View:
    """Open page, with its console messages and foreign requests."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def refused(self) -> list[str]:
        return self.page.evaluate("window.refused")


@contextmanager
def open_chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"NO BROWSER: {CHROMIUM} is missing, so no page was looked at. apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, IN_ONE_PROCESS])
        chromium.on("context", lambda context: context.set_default_timeout(TIMEOUT_MS))
        yield chromium
        chromium.close()


def intercept_from_start(context: BrowserContext) -> None:
    """Have Chromium ask before every request of the context's pages; call it before they are opened.

    Routes are added to an open page while its renderer runs, and a key that is pressed at once comes before
    them: the first request went out unasked.
    """
    context.route("**/never-asked-for", lambda route: route.abort())


# What a page has asked for and not yet got; a stream ends with its page.
WAITING: WeakKeyDictionary[Page, set[Request]] = WeakKeyDictionary()
LOOK_MS, QUIET_LOOKS = 50, 2


def sign_in(page: Page, home: str, name: str, password: str) -> None:
    """Log in as a person would, and wait for the page that follows."""
    page.goto(f"{home}/login")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login" not in url)


def log_in_once(browser: Browser, home: str, name: str, password: str) -> StorageState:
    """Log in and return the cookies, with which later pages begin: each login costs most of a second."""
    context = browser.new_context()
    sign_in(context.new_page(), home, name, password)
    state = context.storage_state()
    context.close()
    return state


def settle(page: Page) -> None:
    """Wait until the page and what its scripts fetch are here: keys work, and leaving aborts nothing."""
    page.wait_for_load_state()
    end, quiet = time.monotonic() + TIMEOUT_SECONDS, 0
    while quiet < QUIET_LOOKS:
        assert time.monotonic() < end, [request.url for request in WAITING[page]]
        page.wait_for_timeout(LOOK_MS)
        quiet = 0 if WAITING[page] else quiet + 1


def watch_requests(page: Page) -> None:
    waiting = WAITING.setdefault(page, set())

    def begin(request: Request) -> None:
        if request.resource_type != "eventsource":
            waiting.add(request)

    page.on("request", begin)
    page.on("requestfinished", lambda request: waiting.discard(request))
    page.on("requestfailed", lambda request: waiting.discard(request))


def listen(view: View, missing: bool) -> None:
    """Record errors and warnings, failed requests, and requests to other servers.

    With ``missing`` a 4xx status is accepted.
    """

    def heard(kind: str, text: str) -> None:
        if kind in ("error", "warning") and not (missing and "status of 4" in text):
            view.complaints.append(f"{kind}: {text}")

    def failed(request: Request) -> None:
        asset = request.resource_type in DROPPED_TYPES or urlsplit(request.url).path.endswith(DROPPED_PATHS)
        # A page that reads itself again, or a fact beside its list, and is left meanwhile.
        is_again = request.method == "GET" and not {"x-live", "hx-request"}.isdisjoint(request.headers)
        left = (asset or is_again) and request.failure == "net::ERR_ABORTED"
        # A stream ends with its page, or before.
        if request.resource_type != "eventsource" and not left:
            heard("error", f"{request.url}: {request.failure}")

    watch_requests(view.page)
    view.page.on("console", lambda message: heard(message.type, message.text))
    view.page.on("pageerror", lambda error: heard("error", str(error)))
    view.page.on("requestfailed", failed)
    view.page.on("request", lambda request: view.elsewhere.append(request.url))


def check_page(view: View, home: str, name: str) -> None:
    """Check a page at each width and in both schemes: as wide as the window, legible, nothing in the console.

    It is loaded once, since the scheme and the width of a window change while a page is open. Pictures are
    of each scheme at each width.
    """
    axe_looks = choose_axe_looks(name)
    for scheme in SCHEMES:
        view.page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            if PICTURES or (width, scheme) in LOOKS:
                look_at(view, name, width, scheme, (width, scheme) in axe_looks)
    assert view.page.locator("h1").count() == 1
    assert view.page.locator("main").count() == 1
    check_clean(view, home)


def choose_axe_looks(name: str) -> tuple[tuple[int, str], ...]:
    """Return the look in which axe reads a page, which costs most of its check.

    Pages have the same parts: half of them show these narrow and light, the others wide and dark. A page that
    is checked again, and its twin in the admin, has the other look. With pictures, each is read in both.
    """
    CHECKED[name] += 1
    place = (len(name.removeprefix("admin")) + CHECKED[name]) % len(AXE_LOOKS)
    return AXE_LOOKS if PICTURES else AXE_LOOKS[place : place + 1]


def look_at(view: View, name: str, width: int, scheme: str, by_axe: bool) -> None:
    view.page.set_viewport_size({"width": width, "height": 844 if width < 500 else 900})
    take_picture(view.page, f"{name}-{scheme}-{width}")
    check_fits(view)
    if by_axe:
        check_axe(view.page)


def take_picture(page: Page, name: str) -> None:
    """Write a screenshot to the folder that DAY1_SCREENSHOTS names, if it is set."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def check_clean(view: View, home: str) -> None:
    assert view.complaints == []
    assert view.refused() == []
    assert [url for url in view.elsewhere if not url.startswith((home, "data:"))] == []


def check_fits(view: View) -> None:
    """Check that nothing scrolls sideways."""
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert view.page.evaluate(wide) == 0


def check_axe(page: Page) -> None:
    """Check that axe finds nothing serious or critical."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    told = [
        (rule["id"], node["html"][:200], node["failureSummary"][:300])
        for rule in page.evaluate(RUN_AXE, {"exclude": [[row] for row in LATER_ROWS]})
        if rule["impact"] in SERIOUS
        for node in rule["nodes"][:3]
    ]
    assert told == []
