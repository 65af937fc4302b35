"""A server that others reach: `up` with the settings of production, in a process of its own."""

from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.site.test_up import PATIENCE, Up

NAME = "memory.example.org"
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "day1site.settings.production",
    "DAY1_SECRET_KEY": "fifty characters that are no secret to this test..",
    "DAY1_ALLOWED_HOSTS": NAME,
}


@pytest.fixture(scope="module")
def production(tmp_path_factory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("production") / "data"
    server = Up(folder, "--no-worker", "--host", "0.0.0.0", **SETTINGS)
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
        status, content = production.get(path)
        assert (status, b"{" in content) == (200, True)


def test_cookies_go_over_https_only(production: Up) -> None:
    with urlopen(f"{production.first['url']}/login", timeout=PATIENCE) as answer:
        assert "; Secure" in answer.headers["Set-Cookie"]
