"""Audit of a page in Debian's Chromium: a screenshot, and defects that a script can find."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page

# Debian's packages; the first one is the browser without its windows, and a fifth quicker.
BROWSERS = [Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")]
CHROMIUM = next(filter(Path.exists, BROWSERS), BROWSERS[-1])
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WINDOW_HEIGHT, MAX_PICTURE_HEIGHT = 900, 2400  # pixels of the window, and of a screenshot
TIMEOUT_MS = 60_000  # milliseconds for a page
LANGUAGE = "django_language"  # the cookie
# Defects, each as a list of texts: elements that overflow the window without a scroll bar, text cut off
# without an ellipsis, cells with a label and nothing else, images that did not load.
AUDIT_SCRIPT = r"""() => {
    const width = document.documentElement.clientWidth;
    const every = [...document.body.querySelectorAll("*")];
    const seen = one =>
        one.checkVisibility({visibilityProperty: true}) && one.getBoundingClientRect().width > 1;
    const says = one => `${one.localName}.${[...one.classList].slice(0, 2).join(".")} ` +
        `“${one.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}”`;
    const told = some => some.slice(0, 5).map(says);
    const held = one => {
        for (let up = one.parentElement; up && up !== document.body; up = up.parentElement)
            if (getComputedStyle(up).overflowX !== "visible") return true;
        return false;
    };
    const out = one => {
        const box = one.getBoundingClientRect();
        return (box.right > width + 1 || box.left < -1 && box.right > 0) && !held(one);
    };
    const words = one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const cut = one => {
        const style = getComputedStyle(one);
        const hidden = value => value === "hidden" || value === "clip";
        const wide = hidden(style.overflowX) && one.scrollWidth > one.clientWidth + 1;
        const high = hidden(style.overflowY) && one.scrollHeight > one.clientHeight + 3;
        return words(one) && !one.closest(".visually-hidden, .skip") && (
            wide && style.textOverflow !== "ellipsis" || high && style.webkitLineClamp === "none");
    };
    const label = one => !["none", "normal", '""'].includes(getComputedStyle(one, "::before").content);
    const shows = "svg, img, input, select, meter, button";
    const empty = one => label(one) && !one.textContent.trim() && !one.querySelector(shows);
    return {
        wider: document.documentElement.scrollWidth - width,
        out: told(every.filter(one => seen(one) && out(one))),
        cut: told(every.filter(one => seen(one) && cut(one))),
        empty: told(every.filter(one => one.localName === "td" && seen(one) && empty(one))),
        images: [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src),
    };
}"""


@dataclass
class Picture:
    """Screenshot and defects. ``wider``: pixels by which the page is wider than the window."""

    state: str
    page: str
    width: int
    kind: str
    url: str = ""
    status: int = 0
    title: str = ""
    file: str = ""
    console: list[str] = field(default_factory=list)
    wider: int = 0
    out: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> bool:
        return bool(self.console or self.wider > 0 or self.images)


class Window:
    """Browser window, signed in or not, that opens pages."""

    def __init__(self, browser: Browser, home: str, cookies: Any = None, language: str = "") -> None:
        size: Any = {"width": 1280, "height": WINDOW_HEIGHT}
        self.context: BrowserContext = browser.new_context(
            viewport=size, reduced_motion="reduce", storage_state=cookies
        )
        if language:
            self.context.add_cookies([{"name": LANGUAGE, "value": language, "url": home}])
        self.home, self.page = home, self.context.new_page()
        self.status, self.heard = 0, list[str]()
        self._listen(self.page)

    def _listen(self, page: Page) -> None:
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("pageerror", lambda error: self._hear("error", str(error)))
        page.on("response", self._answered)

    def _hear(self, kind: str, text: str) -> None:
        """Record errors and warnings; a 4xx response is not one for the page that shows it."""
        if kind in ("error", "warning") and "status of 4" not in text:
            self.heard.append(f"{kind}: {text[:300]}")

    def _answered(self, response: Any) -> None:
        request = response.request
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.status = response.status

    def open(self, path: str, width: int = 1280, scheme: Any = "light") -> None:
        self.heard.clear()
        self.dress(width, scheme)
        try:
            self.page.goto(self.home + path, wait_until="networkidle", timeout=TIMEOUT_MS)
            if self.page.locator("#swagger-ui").count():  # it renders long after the page has loaded
                self.page.locator("#swagger-ui .opblock").first.wait_for(timeout=TIMEOUT_MS)
        except Error as error:
            self.heard.append(f"It did not open: {error.message.splitlines()[0]}")

    def dress(self, width: int, scheme: Any) -> None:
        self.page.set_viewport_size({"width": width, "height": WINDOW_HEIGHT})
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")

    def take_picture(self, picture: Picture, folder: Path, whole: bool = True) -> Picture:
        """Take a screenshot of the open page, in full or of the window, and record its defects."""
        self.page.wait_for_timeout(100)  # for transitions when the width changes
        picture.url, picture.status, picture.title = self.page.url, self.status, self.page.title()
        picture.console = list(self.heard)
        vars(picture).update(self.page.evaluate(AUDIT_SCRIPT))
        picture.file = f"{picture.state}/{picture.width}-{picture.kind}/{file_name(picture.page)}.png"
        (folder / picture.file).parent.mkdir(parents=True, exist_ok=True)
        high = (
            min(self.page.evaluate("document.documentElement.scrollHeight"), MAX_PICTURE_HEIGHT)
            if whole
            else WINDOW_HEIGHT
        )
        if whole:
            self.page.evaluate("window.scrollTo(0, 0)")  # else a sticky bar would cover the middle
        clip: Any = {"x": 0, "y": 0, "width": picture.width, "height": max(high, WINDOW_HEIGHT)}
        self.page.screenshot(path=folder / picture.file, full_page=whole, clip=clip)
        return picture

    def sign_in(self, name: str, password: str) -> Any:
        """Log in and return the cookies."""
        self.open("/login")
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(lambda url: "/login" not in url)
        return self.context.storage_state()

    def close(self) -> None:
        self.context.close()


def file_name(page: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", page.lower()).strip("-")
