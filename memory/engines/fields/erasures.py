"""The filters of the list of erasures."""

from memory.engines.fields.base import Option
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Choice
from memory.models import Erasure

ERASURE_FILTERS = (
    one_of(
        "state",
        Choice(Erasure.State.choices),
        "Pending ones, or done.",
        option=Option("only these", checked=True),
    ),
    one_of(
        "scope",
        Choice(Erasure.Scope.choices),
        "Those of this kind.",
        option=Option("only those of this kind", checked=True),
    ),
)
