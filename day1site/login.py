"""Password forms with limits: tries per address and name, and concurrent checks.

Password hashing is slow on purpose. Strangers who try many must neither guess one nor exhaust the threads and
processors.
"""

import os
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.views.generic.edit import FormMixin

from day1site.sub_path import find_client_address
from memory.db.work_slots import work_slots
from memory.engines.access.logins import LoginTrailEngine
from memory.engines.support.rate_limits import count_request, forget_request, hash_caller
from memory.exceptions import RateLimited
from memory.views.text.error_text import error_sentence


def _(text: str) -> str:
    """Mark a text for translation at a later time, in the reader's language."""
    return text


PAIR_RATE = 10  # wrong passwords a minute for one name from one address
ADDRESS_RATE = 20  # from one address, for any name
NAME_RATE = 60  # for one name, from any address: a low limit would let strangers lock a person out
# Concurrent in each process, so that processors are left for others.
MAX_CHECKS = max(1, (os.cpu_count() or 1) // (2 * settings.PROCESSES))
MAX_WAITING = 4  # request threads that check a password or wait to
RETRY_SECONDS = 2
THROTTLED = "throttled"
TRIES = _("Too many tries with a wrong password; try again in {retry_after} s.")
BUSY = _("Too many people log in at this moment; try again in {retry_after} s.")

_waiting = threading.BoundedSemaphore(MAX_WAITING)
_checking = threading.BoundedSemaphore(MAX_CHECKS)


def get_client_address(request: HttpRequest) -> str:
    """Return the client's address; behind proxies, the one seen by the outermost trusted proxy."""
    return find_client_address(
        request.headers.get("X-Forwarded-For", ""), request.META.get("REMOTE_ADDR", "")
    )


@contextmanager
def limit_password_check(request: HttpRequest, name: str) -> Iterator[None]:
    """Reserve a slot for one password check; an exception inside counts as a wrong password.

    Raises RateLimited with the seconds to wait; such a try does not count.
    """
    entries = _count_try(get_client_address(request), name)
    try:
        with _hold_place():
            yield
    except ValidationError:
        raise
    except BaseException:
        _forget(entries)
        raise
    _forget(entries)


def _count_try(address: str, name: str) -> list[str]:
    name = unicodedata.normalize("NFKC", name).casefold()
    limits = [
        (f"{address} {name}", PAIR_RATE),
        (f"address {address}", ADDRESS_RATE),
        (f"name {name}", NAME_RATE),
    ]
    entries: list[str] = []
    try:
        for key, rate in limits:
            entries.append(count_request(f"login:{hash_caller(key)}", rate, TRIES))
    except RateLimited:
        _forget(entries)
        raise
    return entries


def _forget(entries: list[str]) -> None:
    for entry in entries:
        forget_request(entry)


@contextmanager
def _hold_place() -> Iterator[None]:
    if not _waiting.acquire(blocking=False):
        raise RateLimited(BUSY, retry_after=RETRY_SECONDS)
    try:
        with work_slots.leave_slot(), _checking:
            yield
    finally:
        _waiting.release()


def _refuse(error: RateLimited) -> ValidationError:
    return ValidationError(
        error_sentence(error), code=THROTTLED, params={"retry_after": error.data["retry_after"]}
    )


class LoginForm(AuthenticationForm):
    def clean(self) -> dict[str, Any]:
        request: Any = self.request
        name = self.cleaned_data.get("username") or ""
        try:
            with limit_password_check(request, name):
                return super().clean()
        except RateLimited as error:
            record_refusal(request, name, throttled=True)
            raise _refuse(error) from None
        except ValidationError:
            record_refusal(request, name, throttled=False)
            raise


def record_refusal(request: HttpRequest, name: str, throttled: bool) -> None:
    address = get_client_address(request)
    LoginTrailEngine().record_refusal(username=name, address=address, throttled=throttled)


class PasswordForm(PasswordChangeForm):
    request: HttpRequest

    def clean_old_password(self) -> str:
        try:
            with limit_password_check(self.request, self.user.get_username()):
                old: str = super().clean_old_password()
                return old
        except RateLimited as error:
            raise _refuse(error) from None


class ThrottledForms(FormMixin):
    """View mixin for these forms: a rate-limited try gets status 429 and a Retry-After header."""

    request: HttpRequest

    def get_form(self, form_class: Any = None) -> Any:
        form = super().get_form(form_class)
        form.request = self.request
        return form

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        for error in (error for errors in form.errors.as_data().values() for error in errors):
            if error.code == THROTTLED:
                response.status_code = 429
                response["Retry-After"] = str(error.params["retry_after"])
        return response
