"""The login: wrong passwords are rate-limited by name and address, and concurrent checks are few."""

import threading
from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client, RequestFactory

from day1site import login
from memory.engines.support import rate_limits
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
NAME, PASSWORD = "ann", "a secret of ann"


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    cache.clear()


@pytest.fixture(autouse=True)
def user(django_user_model: Any) -> Any:
    return django_user_model.objects.create_user(NAME, password=PASSWORD)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock = [1_000_000.0 * rate_limits.MINUTE]
    monkeypatch.setattr(rate_limits.time, "time", lambda: clock[0])
    return clock


def attempt(
    name: str = NAME, password: str = "wrong", address: str = "192.0.2.1", **headers: str
) -> HttpResponse:
    return Client(REMOTE_ADDR=address).post(
        "/login", {"username": name, "password": password}, headers=headers
    )


@pytest.mark.slow
def test_after_some_wrong_passwords_it_says_how_long_to_wait(now: list[float]) -> None:
    assert [attempt().status_code for _ in range(login.PAIR_RATE)] == [200] * login.PAIR_RATE
    answer = attempt(password=PASSWORD)
    assert answer.status_code == 429
    wait = int(answer["Retry-After"])
    assert f"Too many tries with a wrong password; try again in {wait} s." in answer.content.decode()
    assert [attempt().status_code for _ in range(20)] == [429] * 20  # they do not prolong the wait
    now[0] += wait
    answer = attempt(password=PASSWORD)
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.slow
def test_right_passwords_do_not_count(now: list[float]) -> None:
    tries = [attempt(password=PASSWORD).status_code for _ in range(login.NAME_RATE + 1)]
    assert set(tries) == {302}


def test_another_address_and_another_name_are_not_held_up(now: list[float], django_user_model: Any) -> None:
    django_user_model.objects.create_user("ben", password=PASSWORD)
    for _ in range(login.PAIR_RATE):
        attempt()
    assert attempt(password=PASSWORD).status_code == 429
    assert attempt(password=PASSWORD, address="192.0.2.2").status_code == 302
    assert attempt("ben", PASSWORD).status_code == 302


@pytest.mark.slow
def test_an_address_that_tries_many_names_waits(now: list[float]) -> None:
    for number in range(login.ADDRESS_RATE):
        assert attempt(f"nobody{number}").status_code == 200
    assert attempt("nobody").status_code == 429
    assert attempt("nobody", address="192.0.2.2").status_code == 200


@pytest.mark.slow
def test_a_name_that_many_addresses_try_waits(now: list[float]) -> None:
    for number in range(login.NAME_RATE):
        assert attempt(address=f"198.51.100.{number}").status_code == 200
    assert attempt(address="203.0.113.1").status_code == 429
    assert attempt("ben", address="203.0.113.1").status_code == 200


def test_the_name_counts_however_it_is_written(now: list[float]) -> None:
    for number in range(login.PAIR_RATE):
        attempt("ANN" if number % 2 else "ａｎｎ")
    assert attempt(password=PASSWORD).status_code == 429


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "198.51.100.7, 203.0.113.9", "203.0.113.9"),
        (2, "198.51.100.7, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "203.0.113.9", "192.0.2.1"),
        (1, "", "192.0.2.1"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
        (1, "::1", "::1"),
        (1, "x" * 1000, "x" * 64),
    ],
)
def test_the_address_behind_proxies(settings: Any, proxies: int, forwarded: str, address: str) -> None:
    settings.TRUSTED_PROXIES = proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = RequestFactory(REMOTE_ADDR="192.0.2.1").get("/login", headers=headers)
    assert login.get_client_address(request) == address


def test_a_client_behind_a_proxy_waits_alone(now: list[float], settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    for _ in range(login.PAIR_RATE):
        attempt(X_Forwarded_For="203.0.113.9")
    assert attempt(password=PASSWORD, X_Forwarded_For="203.0.113.9").status_code == 429
    assert attempt(password=PASSWORD, X_Forwarded_For="203.0.113.8").status_code == 302


@pytest.mark.slow
def test_few_passwords_are_checked_at_once_and_the_rest_is_told_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Try from many addresses at once: the request threads stay available."""
    at_once, most, go_on = [0], [0], threading.Event()
    mutex = threading.Lock()

    def check(*_: object, **__: object) -> None:
        with mutex:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        go_on.wait(TIMEOUT_SECONDS)
        with mutex:
            at_once[0] -= 1

    monkeypatch.setattr(ModelBackend, "authenticate", check)
    answers: list[HttpResponse] = []
    done = threading.Semaphore(0)

    def knock(number: int) -> None:
        answers.append(attempt("nobody", address=f"198.51.100.{number}"))
        done.release()

    threads = [threading.Thread(target=knock, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for _ in range(40 - login.MAX_WAITING):
        assert done.acquire(timeout=TIMEOUT_SECONDS)
    assert [answer.status_code for answer in answers] == [429] * (40 - login.MAX_WAITING)
    assert {answer["Retry-After"] for answer in answers} == {str(login.RETRY_SECONDS)}
    go_on.set()
    for thread in threads:
        thread.join()
    assert most[0] <= login.MAX_CHECKS
    monkeypatch.undo()
    assert attempt(password=PASSWORD).status_code == 302


def test_the_admin_checks_no_password_of_its_own() -> None:
    answer = Client().post("/admin/login/", {"username": NAME, "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, "/login?next=/admin/")


def test_the_old_password_is_no_way_around(now: list[float], user: Any) -> None:
    client = Client(REMOTE_ADDR="192.0.2.1")
    client.force_login(user)
    form = {"old_password": "wrong", "new_password1": "another secret 1", "new_password2": "another secret 1"}
    tries = [client.post("/account/password", form).status_code for _ in range(login.PAIR_RATE + 1)]
    assert tries == [200] * login.PAIR_RATE + [429]
    now[0] += 2 * rate_limits.MINUTE
    assert client.post("/account/password", {**form, "old_password": PASSWORD}).status_code == 302
