"""A public server: `up` with the production settings, in another process."""

import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.up_process import ROOT, Up, environment, prepared
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.slow
NAME = "memory.example.org"
SECURE = {"X-Forwarded-Proto": "https"}
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "day1site.settings.production",
    "DAY1_SECRET_KEY": "fifty characters that are no secret to this test..",
    "DAY1_ALLOWED_HOSTS": NAME,
}


@pytest.fixture(scope="module")
def production(tmp_path_factory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("production") / "data"
    server = Up(prepared(folder), "--no-worker", "--host", "0.0.0.0", **SETTINGS)
    try:
        yield server.ready()
    finally:
        server.end()


def test_the_names_it_answers_to_are_told(production: Up) -> None:
    assert f"and answers to the names localhost, 127.0.0.1, [::1], {NAME}:" in production.output()


@pytest.mark.parametrize("host", [NAME, "localhost", "127.0.0.1:8765"])
def test_it_answers_to_them(production: Up, host: str) -> None:
    assert production.get("/api/v1/health/ready", Host=host)[0] == 200


def test_and_to_no_others(production: Up) -> None:
    with pytest.raises(HTTPError) as refused:
        production.get("/api/v1/health/ready", Host="evil.example")
    assert refused.value.code == 400


def test_styles_need_no_step_before_the_start(production: Up) -> None:
    for path in ("/static/day1/day1.css", "/static/admin/css/base.css"):
        status, content = production.get(path, **SECURE)
        assert (status, b"{" in content) == (200, True)


def test_cookies_go_over_https_only(production: Up) -> None:
    page = Request(f"{production.first['url']}/login", headers=SECURE)
    with urlopen(page, timeout=TIMEOUT_SECONDS) as answer:
        assert "; Secure" in answer.headers["Set-Cookie"]
        assert answer.headers["Strict-Transport-Security"] == "max-age=2592000"


def test_pages_lead_to_https_and_the_api_answers(production: Up) -> None:
    link = HTTPConnection(urlsplit(production.first["url"]).netloc, timeout=TIMEOUT_SECONDS)
    behind = {"Host": NAME, "X-Forwarded-For": "203.0.113.9"}
    for prefix in ("", "/tools/day1"):
        for path, answer in (
            ("/login", (301, f"https://{NAME}{prefix}/login")),
            ("/api/v1/health/live", (200, None)),
        ):
            link.request("GET", path, headers={**behind, "X-Forwarded-Prefix": prefix})
            response = link.getresponse()
            response.read()
            assert (response.status, response.headers["Location"]) == answer
    link.close()


@pytest.mark.slow
def test_the_check_of_a_deployment_finds_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    key = {"DAY1_SECRET_KEY": "abcdefghijklmnopqrstuvwxyz 0123456789 and some more of it"}
    env = environment(**SETTINGS | key, DAY1_DATA_DIR=str(tmp_path))
    check = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True)
    assert (check.returncode, check.stderr) == (0, "")
