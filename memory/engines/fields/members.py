"""The filters of the list of members."""

from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Choice, Reference
from memory.models import Membership

MEMBER_FILTERS = (
    one_of("name", Reference(150), "Members whose names have this part."),
    one_of("role", Choice(Membership.Role.choices), "Members with this role."),
)
