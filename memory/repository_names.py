"""Names of repositories: one form for every way to write a remote's address, or a folder. Pure functions."""

import re

ANY = "*"  # no repository in particular
FOLDER = re.compile(r"[/\\~.]|[A-Za-z]:(?:[/\\]|\Z)")  # how a path begins, on Windows with its drive
PORT = re.compile(r":\d*\Z")
END = re.compile(r"(?:/|\.git)+\Z")


def normalise_repository(text: str) -> str:
    """Return a remote as host/path, without scheme, user, port and .git; a folder without a slash at its end.

    ``git@github.com:acme/shop.git`` and ``https://me@GitHub.com/acme/shop/`` are both github.com/acme/shop.
    """
    name, before = text.strip(), ""
    while name != before:  # once for every address; a name of nonsense may become an address
        name, before = _shorten(name).strip(), name
    return name


def _shorten(name: str) -> str:
    _, scheme, rest = name.rpartition("://")
    if not scheme and FOLDER.match(name):
        return name.rstrip("/\\") or name[:1]
    before, _, path = rest.partition("/")
    _, user, host = before.rpartition("@")
    if scheme or (not user and PORT.search(host)):  # host:2222/a/b
        host = PORT.sub("", host)
    elif ":" in host:  # git@host:a/b
        host, _, start = host.partition(":")
        path = f"{start}/{path}"
    elif not user and "." not in host:
        return name.rstrip("/")  # a word, no address
    return END.sub("", f"{host.lower()}/{path.lstrip('/')}") or "/"
