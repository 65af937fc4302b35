"""Prefixes of branch names that belong to an engine: nobody else makes such a branch, or archives one."""

from memory.exceptions import Invalid

PREFIXES: set[str] = set()


def reserve_prefix(prefix: str) -> None:
    """Reserve the names that start so for ``BranchManager.create_reserved_branch``."""
    PREFIXES.add(prefix)


def check_unreserved(name: str) -> None:
    """Check that a name belongs to no engine. Raises Invalid."""
    for prefix in PREFIXES:
        if name.startswith(prefix):
            raise Invalid(
                "Branches named {prefix}… are made and kept by Day1 itself.", prefix=prefix, field="name"
            )
