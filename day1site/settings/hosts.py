"""Allowed host names of requests."""

LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]


def allowed_hosts(host: str, others: list[str]) -> list[str]:
    """Return the loopback names, the listening address, and others; ["*"] when listening on every address."""
    if host in ("0.0.0.0", "::"):
        return ["*"]
    named = f"[{host}]" if ":" in host else host
    return list(dict.fromkeys(name for name in [*LOOPBACK, named, *others] if name))
