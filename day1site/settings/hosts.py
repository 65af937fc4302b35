"""The names that a request may call the server by."""

LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]


def allowed_hosts(host: str, others: list[str]) -> list[str]:
    """This machine's own names, the address that is listened on, and others; all when that is every one."""
    if host in ("0.0.0.0", "::"):
        return ["*"]
    named = f"[{host}]" if ":" in host else host
    return list(dict.fromkeys(name for name in [*LOOPBACK, named, *others] if name))
