"""Second factors: codes of an authenticator program (TOTP, RFC 6238), and recovery codes.

The secret is stored encrypted with the server's secret key, so that a copy of the database alone shows no
codes. A code works once, on all processes: the half minute that it is of is written down.
"""

import base64
import hmac
import secrets
import struct
import time
from hashlib import sha1
from typing import Any
from urllib.parse import quote, urlencode

from cryptography.fernet import InvalidToken
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.utils.translation import gettext_noop as _

from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.known_callers import hash_secret
from memory.engines.access.logins import record_action
from memory.engines.support.ciphers import build_cipher
from memory.engines.support.rate_limits import count_request
from memory.exceptions import Conflict, Invalid, NotFound, ScopeMissing
from memory.models import Project, SecondFactor

STEP_SECONDS, DIGITS, WINDOW = 30, 6, 1  # a code of the half minute before or after is right too
RECOVERY_CODES, RECOVERY_BYTES = 10, 10
FACTOR = "second_factor"  # of a session: one was shown, here or to the login provider
TRIES = 5  # codes a minute of a user
MAX_WRONG, DAY_SECONDS = 100, 86_400  # wrong codes of a user in a day, counted where the rates are
ISSUER = "Day1"
PURPOSE = b"second factor"  # of the cipher
WRONG = _("This code is not right. An authenticator shows a new one every half minute.")
HAS_ONE = _("You have a second factor already: remove it first.")
HAS_NONE = _("{name} has no second factor.")
CHANGED_KEY = _("The secret key of this server was changed: ask whoever runs it to reset your second factor.")
FACTOR_MISSING = _("This project requires a second factor: set one up under Your account.")
LOCKED = _("There were {limit} wrong codes within a day: until it is over a recovery code alone is taken.")
TOO_MANY = _("Too many wrong codes; try again in {retry_after} s.")


class FactorMissing(ScopeMissing):
    """A project that requires a second factor, and a login without one."""


@retry_methods
class SecondFactorEngine:
    def add_factor(self, *, user: Any, secret: str, code: str) -> list[str]:
        """Give a user a second factor whose program shows this code now; return its recovery codes, which
        cannot be shown again. Raises Invalid, Conflict, RateLimited.
        """
        count_try(user)
        step = find_step(secret, code)
        if step is None:
            raise Invalid(WRONG, field="code")
        codes = [make_recovery_code() for _ in range(RECOVERY_CODES)]
        hashes = [hash_code(one) for one in codes]
        with write_transaction():
            if SecondFactor.objects.filter(user=user).exists():
                raise Conflict(HAS_ONE)
            kept = {"secret": encrypt(secret), "last_step": step, "recovery_hashes": hashes}
            SecondFactor.objects.create(user=user, **kept)
            record_action(user, "second_factor.add", {}, user)
        return codes

    def check_code(self, *, user: Any, code: str, address: str = "") -> None:
        """Take a code of a user's program, or a recovery code, which works once.

        After many wrong codes in a day only the latter are taken: who knows the password has no year to guess
        in. Raises Invalid, NotFound, RateLimited.
        """
        count_try(user)
        with write_transaction():
            factor = SecondFactor.objects.select_for_update().filter(user=user).first()
            if factor is None:
                raise NotFound(HAS_NONE, name=user.get_username())
            is_right = count_wrong(user) < MAX_WRONG and take_code(factor, code)
            if not is_right and (is_right := take_recovery_code(factor, code)):
                left = {"left": str(len(factor.recovery_hashes))}
                record_action(user, "second_factor.recovery", left, user)
            if not is_right:
                record_action(user, "second_factor.failed", {"address": address}, None)
        if not is_right and count_wrong(user, 1) >= MAX_WRONG:
            raise Invalid(LOCKED, limit=MAX_WRONG, field="code")
        if not is_right:
            raise Invalid(WRONG, field="code")

    def remove_factor(self, *, user: Any) -> None:
        """Take a user's own second factor away. Raises NotFound."""
        self._delete(user, "second_factor.remove", user)

    def reset_factor(self, *, username: str) -> None:
        """Take the second factor of a user away, by who may read the store's files.

        Raises NotFound.
        """
        user = get_user_model().objects.filter(username=username).first()
        if user is None:
            raise NotFound("There is no user {name}.", name=username)
        self._delete(user, "second_factor.reset", None)

    @staticmethod
    def _delete(user: Any, action: str, by: Any) -> None:
        with write_transaction():
            if not SecondFactor.objects.filter(user=user).delete()[0]:
                raise NotFound(HAS_NONE, name=user.get_username())
            record_action(user, action, {}, by)


def has_factor_for(project: Project, session: Any) -> bool:
    """Return whether a login may see a project, as far as a second factor is concerned."""
    return not project.require_second_factor or bool(session.get(FACTOR))


def require_factor(project: Project, session: Any) -> None:
    """Refuse a login without a second factor where the project requires one. Raises FactorMissing."""
    if not has_factor_for(project, session):
        raise FactorMissing(FACTOR_MISSING)


def has_factor(user: Any) -> bool:
    return SecondFactor.objects.filter(user=user).exists()


def count_recovery_codes(user: Any) -> int:
    return sum(len(one.recovery_hashes) for one in SecondFactor.objects.filter(user=user))


def count_try(user: Any) -> None:
    """Count a code that is tried. Raises RateLimited."""
    count_request(f"second-factor:{user.pk}", TRIES, TOO_MANY)


def count_wrong(user: Any, more: int = 0) -> int:
    """Return how many wrong codes of a user were tried in the day that the first one began."""
    key = f"second-factor-wrong:{user.pk}"
    cache.add(key, 0, DAY_SECONDS)
    try:
        return int(cache.incr(key, more))
    except ValueError:  # the cache was full and dropped it at once
        return more


# ---- codes -------------------------------------------------------------------------------------------


def make_secret() -> str:
    return base64.b32encode(secrets.token_bytes(20)).decode()


def build_address(user: Any, secret: str) -> str:
    """Return what an authenticator reads, as text or from a picture of it."""
    query = urlencode({"secret": secret, "issuer": ISSUER})
    return f"otpauth://totp/{ISSUER}:{quote(user.get_username(), safe='')}?{query}"


def draw_address(address: str) -> str:
    """Return an address as a picture (QR code), dark on light in every scheme, for an <img>."""
    import segno  # asked for by a single page

    return str(segno.make(address, error="m").svg_data_uri(dark="black", light="white", omitsize=True))


def build_code(secret: str, step: int) -> str:
    """Return the code of a half minute (RFC 4226)."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), sha1)
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def find_step(secret: str, code: str) -> int | None:
    """Return the half minute that a code is of, if it is near now."""
    now, typed = int(time.time()) // STEP_SECONDS, "".join(code.split())
    steps = range(now - WINDOW, now + WINDOW + 1)
    right = [one for one in steps if hmac.compare_digest(build_code(secret, one).encode(), typed.encode())]
    return right[0] if right else None


def take_code(factor: SecondFactor, code: str) -> bool:
    """Return whether a code is right and was not taken before; it is taken now."""
    step = find_step(decrypt(factor.secret), code)
    if step is None or step <= factor.last_step:
        return False
    factor.last_step = step
    factor.save(update_fields=["last_step"])
    return True


def take_recovery_code(factor: SecondFactor, code: str) -> bool:
    hashed = hash_code(code)
    if hashed not in factor.recovery_hashes:
        return False
    factor.recovery_hashes = [one for one in factor.recovery_hashes if one != hashed]
    factor.save(update_fields=["recovery_hashes"])
    return True


def make_recovery_code() -> str:
    text = base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def hash_code(code: str) -> str:
    # A plain hash is enough: nobody can try all codes of 80 bits.
    return hash_secret("".join(code.lower().replace("-", "").split()))


# ---- the stored secret -------------------------------------------------------------------------------


def encrypt(secret: str) -> str:
    return build_cipher(PURPOSE).encrypt(secret.encode()).decode()


def decrypt(stored: str) -> str:
    """Return a stored secret. Raises Conflict where another key had encrypted it."""
    try:
        return build_cipher(PURPOSE).decrypt(stored.encode()).decode()
    except InvalidToken:
        raise Conflict(CHANGED_KEY) from None
