"""The local store: Django is started here, and only when a command needs it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from day1site.bootstrap import WrongSetting, read_settings
from day1site.cli.errors import CliError, UsageError
from day1site.cli.output import note

if TYPE_CHECKING:
    from memory.actors import Actor

ROOT = Path(__file__).resolve().parents[3]
APPS = (
    "memory",
    "conversations",
    "curation",
    "analytics",
    "day1site",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",  # logins end with a membership
)
DEFAULT_PROJECT = "default"
DEFAULT_URL = "http://127.0.0.1:8765"


def start_django(whole: bool = False) -> None:
    """Start Django. Raises UsageError with the sentence of a setting that cannot be followed.

    ``whole`` starts everything that a server has; reading and writing memory needs a third of it.
    """
    import django
    from django.apps import apps
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    if apps.ready:
        return
    load_settings()
    try:
        if not whole:
            settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if name in APPS]
        django.setup()
    except ImproperlyConfigured as error:
        raise UsageError(str(error)) from None


def load_settings() -> None:
    """Load the settings. Raises UsageError with the sentence of one that cannot be followed."""
    try:
        read_settings()
    except WrongSetting as error:
        raise UsageError(str(error)) from None


def open_store(make: bool = False) -> None:
    """Make the store ready for use; a first write makes it.

    Raises CliError: no_store, truncated_file, store_outdated.
    """
    folder, found = _locate()
    if found is None:
        start_django(whole=make)
        found = _has_tables()
    if not found and not make:
        store = "the database of DATABASE_URL" if "DATABASE_URL" in os.environ else folder
        text = (
            f"There is no store in {store}. If it should be there, look at --data-dir and DAY1_DATA_DIR;"
            " a first write-fact or import makes one, and so does `up`."
        )
        raise CliError("no_store", text)
    start_django(whole=not found)
    if not found:
        _make(folder)
        return
    _refuse_stranger()
    _refuse_outdated(folder)


@contextmanager
def hold_data_dir(why: str) -> Iterator[None]:
    """Keep every server from writing to the data directory meanwhile. Raises CliError with ``why``."""
    from django.conf import settings

    from day1site.server.process import CannotStart, data_dir_lock, database_file

    try:
        with data_dir_lock(Path(settings.DATA_DIR), database_file()):
            yield
    except CannotStart as error:
        raise CliError("conflict", f"{error} {why}") from None


def find_actor(project: str, surface: str = "cli") -> "Actor":
    """Return the local user in a project, who may do everything. Raises CliError without such a project."""
    from memory.actors import local_actor
    from memory.models import Project

    slug = project or DEFAULT_PROJECT
    pk = Project.objects.filter(slug=slug).values_list("pk", flat=True).first()
    if pk is None:
        known = ", ".join(Project.objects.values_list("slug", flat=True)[:20]) or "none"
        raise CliError("not_found", f"There is no project {slug} in this store; there is: {known}.")
    return local_actor(pk, surface=surface)


def find_keeper(surface: str = "cli") -> "Actor":
    """Return the local user as the one who keeps the server, in no project."""
    from memory.actors import NO_PROJECT, SERVER, Actor

    return Actor(NO_PROJECT, "local", label="local", scopes=frozenset({SERVER}), surface=surface)


def name_only_project(makes_store: bool) -> str:
    """Return the store's project where there is only one; "" where several are. Raises CliError."""
    open_store(make=makes_store)
    from memory.models import Project

    slugs = list(Project.objects.values_list("slug", flat=True)[:2])
    return str(slugs[0]) if len(slugs) == 1 else ""


def make_login_link(username: str, url: str = "") -> str:
    """Return a new link to the server of the store at hand, at the address that it was started with last."""
    open_store()
    from django.conf import settings

    from day1site.settings.first_key import find_file, name_store, read_file
    from memory.engines.access.login_links import LoginLinkEngine

    secret = LoginLinkEngine().create_link(username=username)
    folder = Path(settings.DATA_DIR)
    first = read_file(find_file(folder, name_store(settings.DATABASES["default"], folder)))
    return f"{url or first.get('url') or DEFAULT_URL}/login/{secret}"


def _locate() -> tuple[Path, bool | None]:
    """Return the data directory, and whether a store is there, without making it.

    None where the store is no file: only the database can tell.
    """
    from django.conf import settings

    load_settings()
    database = settings.DATABASES["default"]
    found = None if database.get("HOST") else Path(str(database["NAME"])).exists()
    return Path(settings.DATA_DIR), found


def _has_tables() -> bool:
    from django.db import connection

    connection.prepare_database()
    return "django_migrations" in connection.introspection.table_names()


def _refuse_stranger() -> None:
    from memory.engines.store.strangers import find_stranger

    if stranger := find_stranger():
        raise CliError(stranger.code, stranger.text)


def _refuse_outdated(folder: Path) -> None:
    from django.db import connection

    from memory.engines.store.release import list_applied, list_known

    applied = set(list_applied(connection))
    if not applied:
        text = f"The store in {folder} has no tables yet: run `up` once, which makes them."
        raise CliError("no_store", text)
    if not list_known() <= applied:
        text = f"The store in {folder} is not up to date with this Day1: run `up` once, which sees to it."
        raise CliError("store_outdated", text)


def _make(folder: Path) -> None:
    from day1site.server.provisioning import find_first_key, prepare

    os.umask(0o077)  # what is kept is nobody else's to read
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if prepare(folder, DEFAULT_URL):
        file = find_first_key(folder)
        note(f"Made a store in {folder}; user, password and key for the server are in {file}.")
