"""Short ids: the end of an id, which is chance. Contexts show it, and what takes a fact's id takes it too."""

import re
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Invalid, NotFound
from memory.models import Fact

LENGTH = 6  # digits that are shown: of 10,000 facts one in 1,700 shares its own with another
SHORT_ID = re.compile(r"[0-9a-f]{6,12}", re.I)
MAX_NAMED = 5  # of several with the same end


def shorten_id(uid: UUID | str) -> str:
    return str(uid)[-LENGTH:]


def find_fact_id(name: str, value: Any, *, actor: Actor, branch_name: str = MAIN) -> UUID:
    """Return the id that is given whole, or the one of the branch's fact that ends so.

    Raises Invalid where it is neither, or where several facts do; NotFound, scope and branch errors.
    """
    if not (isinstance(value, str) and SHORT_ID.fullmatch(value)):
        return c.parse_uuid(name, value)
    actor.require_scope("read", branch_name)
    rows = Fact.objects.in_lineage(find_branch(actor, branch_name).lineage())
    found = sorted({uid for (uid,) in rows.filter(uid__endswith=value.lower()).gather_values("uid")})
    if not found:
        raise NotFound()
    if len(found) > 1:
        ids = ", ".join(map(str, found[:MAX_NAMED]))
        raise Invalid("Several facts end with {value}: take a whole id, such as {ids}.", value=value, ids=ids)
    return found[0]
