"""Pictures of a merge request for the guides: at 390, 1280 and 1920 pixels, light and dark, in 200 colours.

  .venv/bin/python -m bench.merge_pictures docs/images

They show the window, on a server of its own with a branch that disagrees with main in two facts and adds two
more. Needs Debian's Chromium, and ImageMagick's convert.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from bench.page_audit import CHROMIUM, QUIET, Window
from bench.screenshots import settle
from bench.server import Client, Running, serving

WIDTHS, SCHEMES, COLOURS = (390, 1280, 1920), ("light", "dark"), "200"
BRANCH = "task/gateway"
TITLE = "How long login tokens live"
WHY = "Found while logins failed on Monday: look at the clock of the login server first."
DISPUTED = [  # before, on main, on the branch
    (
        "Login tokens live for a day; the gateway drops older ones without a message.",
        "Login tokens live for two hours; the gateway drops older ones without a message.",
        "Login tokens live for an hour; the gateway drops older ones and logs `token_expired`.",
    ),
    (
        "The build of the gateway needs `make -j4`; with more processes the linker runs out of memory.",
        "The build of the gateway needs `make -j2`; with more processes the linker runs out of memory.",
        "The build of the gateway needs `make -j8`; with more processes the linker runs out of memory.",
    ),
]
LEARNED = [
    "The clock of the login server runs four minutes fast since the move to the new rack.",
    "A login fails when the clocks of gateway and login server differ by more than a minute.",
]


def main() -> None:
    out = Path(sys.argv[1])
    with (
        tempfile.TemporaryDirectory(prefix="day1-pictures-", ignore_cleanup_errors=True) as folder,
        serving(Path(folder) / "data") as server,
    ):
        number = open_request(server)
        settle(server)
        take_pictures(server, f"/p/default/merge-requests/{number}?tab=changes", out)


# ---- the scene -----------------------------------------------------------------------------------------


def open_request(server: Running) -> int:
    """Let an agent ask for a merge that a person has to decide; return the request's number."""
    admin = server.client()
    admin.ask("PATCH", "/policies/main", {"approvals": 1})
    made = admin.ask("POST", "/keys", {"label": "builder", "scopes": ["write"]})
    agent = Client(server.url, made["token"])
    facts = [write(admin, before, "main") for before, _here, _there in DISPUTED]
    agent.ask("POST", "/branches", {"name": BRANCH, "purpose": TITLE})
    for fact, (_before, here, there) in zip(facts, DISPUTED, strict=True):
        admin.ask("PATCH", f"/facts/{fact}", {"fact_text": here, "confidence": 0.9})
        agent.ask("PATCH", f"/facts/{fact}", {"fact_text": there, "branch": BRANCH})
    for text in LEARNED:
        write(agent, text, BRANCH)
    request = {"source": BRANCH, "title": TITLE, "description": WHY}
    number: int = agent.ask("POST", "/merge-requests", request)["number"]
    return number


def write(client: Client, text: str, branch: str) -> str:
    body: Any = {"fact_text": text, "branch": branch, "category": "operations"}
    uid: str = client.ask("POST", "/facts", body)["id"]
    return uid


# ---- the pictures --------------------------------------------------------------------------------------


def take_pictures(server: Running, address: str, out: Path) -> None:
    password = json.loads((server.folder / "first-key.json").read_text())["password"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        window = Window(browser, server.url)
        window.sign_in("admin", password)
        for scheme in SCHEMES:
            for width in WIDTHS:
                window.open(address, width, scheme)
                file = out / f"merge-request-{width}-{scheme}.png"
                window.page.screenshot(path=file)
                reduce_colours(file)
        browser.close()


def reduce_colours(file: Path) -> None:
    """Write a picture anew with a palette, which makes it a third as large."""
    options = ["+dither", "-colors", COLOURS, "-strip", "-define", "png:compression-level=9"]
    subprocess.run(["convert", str(file), *options, f"PNG8:{file}"], check=True)


if __name__ == "__main__":
    main()
