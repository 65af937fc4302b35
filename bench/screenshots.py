"""Screenshots of every page at 390, 1280 and 1920 pixels, with the defects that a script can find.

  .venv/bin/python -m bench.screenshots OUT [--state demo,nothing,many] [--only home,admin:facts]

Three states, each with a server of its own on a temporary folder: ``demo``, also in dark mode and in Chinese,
and with users' actions; ``nothing``, as after the first start; ``many``, with 100,000 facts. OUT gets the
screenshots, index.html to view them, and index.json; screenshots that are not retaken stay. Exit status 1
where a page has a console error, is wider than its window or misses an image.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, sync_playwright

from bench import store_builder
from bench.page_audit import CHROMIUM, QUIET, Picture, Window
from bench.screenshot_scenes import FORBIDDEN, Scene, scenes, sign_out_and_save
from bench.server import ROOT, Running, serving

STATES = {"nothing": "default", "many": "default", "demo": "demo"}  # and the project of each
LIGHT = ((390, "light"), (1280, "light"), (1920, "light"))
DARK = (1280, "dark")
CHINESE = "zh-hans"
BEFORE_LOGIN = "login"  # the page for anonymous users
PASSWORD = "correct horse battery"
# A viewer, a key to rotate and revoke, and a crontab to show.
PEOPLE = """
from django.contrib.auth.models import User
from django_celery_beat.models import CrontabSchedule
from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.models import Membership, Project
project = Project.objects.get(slug="{project}")
user = User.objects.create_user("vera", password="{password}")
Membership.objects.create(project=project, user=user, role="viewer")
if not project.keys.exists():
    KeyEngine().create_key(label="an agent", scopes=["read"], actor=local_actor(project.pk))
if project.slug == "demo":
    CrontabSchedule.objects.create(minute="30", hour="4", day_of_week="1-5")
"""


def main() -> None:
    options = arguments()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        looks: list[Picture] = []
        for state in options.state:
            looks += taken(browser, state, options)
            write_index(options.out, looks)
        browser.close()
    print(table(looks))
    sys.exit(1 if any(picture.wrong for picture in looks) else 0)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A picture of every page at 390, 1280 and 1920 pixels.")
    parser.add_argument("out", type=Path, help="the folder for the pictures")
    parser.add_argument("--state", default=",".join(STATES), type=lambda text: text.split(","))
    parser.add_argument("--only", default="", help="names of pages and scenes, with commas")
    parser.add_argument("--facts", type=int, default=100_000, help="of the state many, in thousands")
    parser.add_argument(
        "--data-dir", type=Path, help="where the store of many facts is kept for the next run"
    )
    return parser.parse_args()


def taken(browser: Browser, state: str, options: argparse.Namespace) -> Iterator[Picture]:
    """Take all screenshots of a state, page by page."""
    if not options.only:
        shutil.rmtree(options.out / state, ignore_errors=True)
    with store(state, options) as folder, serving(folder) as server:
        settle(server)
        project = STATES[state]
        manage(folder, "shell", "-v", "0", "-c", PEOPLE.format(project=project, password=PASSWORD))
        round_ = Round(browser, server, state, options)
        yield from round_.pages()
        if state == "demo":
            yield from round_.chinese()
            yield from round_.scenes(scenes(project))
            yield from round_.refusals()


# ---- stores --------------------------------------------------------------------------------------------


@contextmanager
def store(state: str, options: argparse.Namespace) -> Iterator[Path]:
    """Yield a data folder in this state, for one server."""
    with tempfile.TemporaryDirectory(prefix="day1-pictures-", ignore_cleanup_errors=True) as parent:
        folder = Path(parent) / "data"
        if state == "demo":
            manage(folder, "day1", "demo")
        elif state == "many":
            made = store_builder.store(options.data_dir or Path(parent), store_builder.Size(options.facts))
            shutil.copytree(made, folder)
            command = [
                sys.executable,
                "-m",
                "bench.many_rows",
                str(folder),
                str(options.facts // 10),
            ]
            subprocess.run(command, cwd=ROOT, check=True)
        yield folder


def manage(folder: Path, *words: str) -> None:
    env = {**os.environ, "DAY1_DATA_DIR": str(folder), "DAY1_NO_BOOTSTRAP": "1"}
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)


def settle(server: Running) -> None:
    """Wait until every text has its vector."""
    client = server.client()
    while client.ask("GET", "/health")["embedding"]["pending"]:
        time.sleep(1)
    client.close()


def addresses(folder: Path, project: str) -> dict[str, str]:
    command = [sys.executable, "-m", "bench.page_urls", str(folder), project]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


# ---- rounds --------------------------------------------------------------------------------------------


class Round:
    """Screenshots of one server's pages."""

    def __init__(self, browser: Browser, server: Running, state: str, options: argparse.Namespace) -> None:
        self.browser, self.server, self.state, self.out = browser, server, state, options.out
        self.only = options.only.split(",") if options.only else []
        self.urls = addresses(server.folder, STATES[state])
        self.password = json.loads((server.folder / "first-key.json").read_text())["password"]
        self.admin = self.signed_in("admin", self.password)

    def pages(self) -> Iterator[Picture]:
        kinds = (*LIGHT, DARK) if self.state == "demo" else LIGHT
        with self.window(self.admin) as window, self.window() as nobody:
            for page, url in self.pages_to_open():
                at = nobody if page == BEFORE_LOGIN else window
                at.open(url, *kinds[0])
                for width, scheme in kinds:
                    at.dress(width, scheme)
                    yield at.take_picture(Picture(self.state, page, width, scheme), self.out)

    def chinese(self) -> Iterator[Picture]:
        with self.window(self.admin, CHINESE) as window, self.window(language=CHINESE) as nobody:
            for page, url in self.pages_to_open():
                at = nobody if page == BEFORE_LOGIN else window
                at.open(url, 390)
                yield at.take_picture(Picture(self.state, page, 390, "chinese"), self.out)

    def scenes(self, chosen: list[Scene]) -> Iterator[Picture]:
        """Take each scene in a window of its own, at every width, so that scenes stay independent."""
        for scene in chosen:
            for width, scheme in LIGHT if self.is_wanted(scene.name) else ():
                with self.window(self.admin) as window:
                    yield self.scene(window, scene, width, scheme)

    def scene(self, window: Window, scene: Scene, width: int, scheme: str) -> Picture:
        window.open(self.urls.get(scene.start, scene.start), width, scheme)
        picture = Picture(self.state, scene.name, width, scheme)
        try:
            scene.act(window.page)
        except Error as error:
            window.heard.append(f"The scene cannot be played: {error.message.splitlines()[0]}")
        return window.take_picture(picture, self.out, scene.whole)

    def refusals(self) -> Iterator[Picture]:
        """Take what a viewer may not open, and a form that was sent after the session expired."""
        vera = self.signed_in("vera", PASSWORD)
        for width, scheme in LIGHT if self.is_wanted("refusals") else ():
            with self.window(vera) as window:
                for page in FORBIDDEN:
                    window.open(self.urls[page], width, scheme)
                    yield window.take_picture(
                        Picture(self.state, f"forbidden {page}", width, scheme), self.out
                    )
            with self.window(self.signed_in("admin", self.password)) as window:
                window.open(self.urls["fact-edit"], width, scheme)
                sign_out_and_save(window)
                yield window.take_picture(
                    Picture(self.state, "a session that ran out", width, scheme), self.out
                )

    def pages_to_open(self) -> list[tuple[str, str]]:
        return [(page, url) for page, url in self.urls.items() if self.is_wanted(page)]

    def is_wanted(self, name: str) -> bool:
        return not self.only or name in self.only

    def signed_in(self, name: str, password: str) -> Any:
        with self.window() as window:
            return window.sign_in(name, password)

    @contextmanager
    def window(self, cookies: Any = None, language: str = "") -> Iterator[Window]:
        window = Window(self.browser, self.server.url, cookies, language)
        yield window
        window.close()


# ---- output --------------------------------------------------------------------------------------------


def write_index(out: Path, looks: list[Picture]) -> None:
    """Write index.json and index.html, keeping other states and pages of earlier runs."""
    file = out / "index.json"
    rows = {row["file"]: row for row in (json.loads(file.read_text()) if file.exists() else [])}
    rows |= {picture.file: asdict(picture) for picture in looks}
    present = [row for name, row in rows.items() if (out / name).exists()]
    file.write_text(json.dumps(present, ensure_ascii=False, indent=1))
    (out / "index.html").write_text(html(present))


STYLE = "body{font:14px system-ui}img{width:240px;border:1px solid #999}td{vertical-align:top;padding:4px}"


def html(rows: list[dict[str, Any]]) -> str:
    by_page: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        by_page.setdefault((row["state"], row["page"]), []).append(cell(row))
    lines = (f"<tr><th>{escape(' · '.join(of))}{''.join(cells)}" for of, cells in by_page.items())
    return f"<!DOCTYPE html><meta charset=utf-8><style>{STYLE}</style><table>{''.join(lines)}</table>"


def cell(row: dict[str, Any]) -> str:
    file, title = escape(row["file"], True), escape(f"{row['status']} {row['title']} {row['url']}", True)
    image = f'<a href="{file}"><img loading=lazy src="{file}" alt="" title="{title}"></a>'
    return f"<td>{row['width']} {row['kind']}<br>{image}<br>{escape(found(row))}"


def found(row: dict[str, Any]) -> str:
    """Return the defects of one screenshot as text; "" for none."""
    wide = [f"{row['wider']} px wider than the window"] if row["wider"] > 0 else []
    names = (("out", "sticks out"), ("cut", "is cut"), ("empty", "is empty"), ("images", "did not come"))
    notes = [f"{words}: {' | '.join(row[name])}" for name, words in names if row[name]]
    return "; ".join(row["console"] + wide + notes)


def table(looks: list[Picture]) -> str:
    lines = ["| state | page | width | status | found |", "|---|---|---|---|---|"]
    for picture in looks:
        if words := found(asdict(picture)):
            cells = (
                picture.state,
                picture.page,
                f"{picture.width} {picture.kind}",
                str(picture.status),
                words,
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(
        [*lines, "", f"{len(looks)} pictures, {sum(picture.wrong for picture in looks)} with an error"]
    )


if __name__ == "__main__":
    main()
