"""Links that log a user in once: made by who may read the store's files, used on the same machine."""

import secrets
from datetime import timedelta
from ipaddress import IPv6Address, ip_address
from typing import Any

from django.contrib.auth import get_user_model
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.known_callers import hash_secret
from memory.engines.access.logins import record_action
from memory.exceptions import Conflict, NotFound
from memory.models import LoginLink

VALID_MINUTES = 10
ELSEWHERE = _("A login link works only in a browser on the machine of the server: log in with your password.")
UNKNOWN = _("There is no such login link: it may be cut off, or a newer one was made.")
USED = _("This login link was used already: `day1 login` makes another.")
LATE = _("This login link has expired: `day1 login` makes another.")
CLOSED = _("The account of this login link is closed.")


@retry_methods
class LoginLinkEngine:
    def create_link(self, *, username: str) -> str:
        """Create a link for a user; return its secret, which is not stored. Earlier links of the user end.

        Raises NotFound for a name that no active user has.
        """
        user = get_user_model().objects.filter(username=username, is_active=True).first()
        if user is None:
            raise NotFound("There is no active user {name}.", name=username)
        secret = secrets.token_urlsafe(32)
        expires_at = timezone.now() + timedelta(minutes=VALID_MINUTES)
        with write_transaction():
            LoginLink.objects.filter(user=user).delete()
            LoginLink.objects.create(secret_hash=hash_secret(secret), user=user, expires_at=expires_at)
        return secret

    def find_user(self, *, secret: str, address: str) -> Any:
        """Return whom a link would log in now. Raises NotFound, Conflict: used, late, closed, elsewhere."""
        if not is_loopback(address):  # asked first: who is elsewhere learns nothing of links
            raise Conflict(ELSEWHERE)
        link = LoginLink.objects.select_related("user").filter(secret_hash=hash_secret(secret)).first()
        if link is None:
            raise NotFound(UNKNOWN)
        if link.used_at:
            raise Conflict(USED)
        if link.expires_at <= timezone.now():
            raise Conflict(LATE)
        if not link.user.is_active:
            raise Conflict(CLOSED)
        return link.user

    def use_link(self, *, secret: str, address: str) -> Any:
        """Use a link up and return its user; the login is in the trail of each project of theirs.

        Raises as ``find_user`` does.
        """
        with write_transaction():
            user = self.find_user(secret=secret, address=address)
            open_links = LoginLink.objects.filter(secret_hash=hash_secret(secret), used_at=None)
            if not open_links.update(used_at=timezone.now()):
                raise Conflict(USED)
            record_action(user, "login.link", {}, user)
        return user


def is_loopback(address: str) -> bool:
    """Return whether an address is one of a machine's own, which nobody else can speak from."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return (mapped or parsed).is_loopback
