"""The processor time of a server while live pages are open and nothing happens.

    .venv/bin/python -m bench.live_pages --pages 200 --seconds 60

The reference is the same server, in the same run, without an open page.
"""

import argparse
import http.client
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, build_opener

from bench.server import Running, serving

TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=60, help="of each measurement")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), embedder="off") as server:
        cookie = log_in(server)
        time.sleep(10)  # the work of a start ends
        without = measure_share(server, options.seconds)
        with opened_pages(server, cookie, options.pages):
            time.sleep(5)
            beside = measure_share(server, options.seconds)
    print(f"no page open: {without:.2%} of a core")
    print(f"{options.pages} pages open: {beside:.2%} of a core, {beside - without:.2%} more (5 % at most)")


def log_in(server: Running) -> str:
    """Log in as the first user, and return the cookies of the session."""
    jar = CookieJar()
    browser = build_opener(HTTPCookieProcessor(jar))
    browser.open(f"{server.url}/login").read()
    token = next(cookie.value for cookie in jar if "csrf" in cookie.name)
    first = json.loads((server.folder / "first-key.json").read_text())
    form = {"username": first["user"], "password": first["password"], "csrfmiddlewaretoken": token}
    browser.open(f"{server.url}/login", urlencode(form).encode()).read()
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)


@contextmanager
def opened_pages(server: Running, cookie: str, count: int) -> Iterator[None]:
    """Hold the streams of so many pages open."""
    with ExitStack() as stack:
        for _ in range(count):
            link = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
            stack.enter_context(closing(link))
            link.request("GET", "/live/default/changes?branch=main", headers={"Cookie": cookie})
            answer = link.getresponse()
            assert answer.status == 200, answer.read()
        yield


def measure_share(server: Running, seconds: int) -> float:
    """Return the share of a core that the server's processes take, over so many seconds."""
    before = count_seconds(server)
    time.sleep(seconds)
    return (count_seconds(server) - before) / seconds


def count_seconds(server: Running) -> float:
    """Return the processor time of the server and of the processes that it forked. Needs /proc."""
    main = server.process.pid
    forked = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    return sum(read_seconds(pid) for pid in [str(main), *forked])


def read_seconds(pid: str) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    main()
