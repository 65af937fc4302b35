"""Prefixes of branch names that belong to an engine: nobody else makes such a branch, or archives one."""

from memory.exceptions import Invalid
from memory.extensions import load_extensions


def check_unreserved(name: str) -> None:
    """Check that a name belongs to no engine: `create_reserved_branch` alone makes one. Raises Invalid."""
    for prefix in load_extensions("reserved_prefixes").values():
        if name.startswith(prefix):
            raise Invalid(
                "Branches named {prefix}… are made and kept by Day1 itself.", prefix=prefix, field="name"
            )
