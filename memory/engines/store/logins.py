"""Logins: in the database, and in files beside it while the store is damaged and takes no writes.

Nobody is locked out by damage, a logout holds at once, and a login of that time ends with the repair.
See decision 0068.
"""

import shutil
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import update_last_login
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import CreateError, UpdateError
from django.core import signing
from django.dispatch import receiver

from memory.db import atomic_files
from memory.db.backend import get_features, get_file_check
from memory.engines.store.health import is_damaged
from memory.exceptions import StoreDamaged

SUFFIX = "-logins"
ENDED = ""  # what the file of a login says that was logged out, which the database may still have


def find_folder() -> Path | None:
    """Return where logins are kept while the store is damaged; None for a database that is no file."""
    if not get_features().has_online_backup:
        return None
    path = get_file_check().path
    return path.with_name(f"{path.name}{SUFFIX}")


class SessionStore(db.SessionStore):
    """A login by its key. What has a file is as the file says, whatever the database still has."""

    def load(self) -> dict[str, Any]:
        if (kept := self._read_file(self.session_key)) is None:
            try:
                return dict(super().load())
            except StoreDamaged:  # nobody is kept from the login by the row of another one
                kept = ENDED
        try:
            age = self.get_session_cookie_age()
            return dict(signing.loads(kept, salt=self.key_salt, serializer=self.serializer, max_age=age))
        except signing.BadSignature:
            self._session_key = None
            return {}

    def exists(self, session_key: str) -> bool:
        if (kept := self._read_file(session_key)) is not None:
            return kept != ENDED
        try:
            return bool(super().exists(session_key))
        except StoreDamaged:
            return False

    def save(self, must_create: bool = False) -> None:
        if not is_damaged() or self.session_key is None:
            super().save(must_create)
            return
        base: Any = super()  # whose private part Django's types do not say
        data = base._get_session(no_load=must_create)
        if self.exists(self.session_key) is must_create:
            raise CreateError if must_create else UpdateError
        self._write_file(self.session_key, self.encode(data))

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if not is_damaged():
            super().delete(session_key)
        elif key and self.exists(key):
            self._write_file(key, ENDED)

    @staticmethod
    def _read_file(key: str | None) -> str | None:
        folder = find_folder()
        if folder is None or not folder.is_dir():
            return None
        if not is_damaged():
            end_kept(folder)
        try:
            return (folder / key).read_text(encoding="utf-8") if key and key.isalnum() else None
        except OSError:
            return None

    @staticmethod
    def _write_file(key: str, text: str) -> None:
        folder = find_folder()
        assert folder is not None  # only a store in a file is marked
        folder.mkdir(mode=0o700, exist_ok=True)
        atomic_files.write_file(folder / key, text)


def end_kept(folder: Path) -> None:
    """End the logins that were begun, changed or ended while the store was damaged."""
    for file in folder.iterdir():
        db.SessionStore(file.name).delete()
    shutil.rmtree(folder, ignore_errors=True)


user_logged_in.disconnect(dispatch_uid="update_last_login")  # Django's own


@receiver(user_logged_in)
def note_login(**options: Any) -> None:
    """Write down when somebody logged in, where the store takes it."""
    if not is_damaged():
        update_last_login(**options)


class PasswordHasher(PBKDF2PasswordHasher):
    """Django's hasher, which hashes an older password anew at its next login, where the store takes it."""

    def must_update(self, encoded: str) -> bool:
        return not is_damaged() and super().must_update(encoded)
