"""What a deletion takes beside what it is about."""

from memory.engines.fields.base import Field, Option
from memory.engines.fields.common import DRY_RUN
from memory.engines.fields.types import Flag, Identifier, ListOf, Reference

MAX_IDS = 1000
ERASE = Field(
    "erase",
    Flag(),
    "true removes the content for good, from every branch and its history; needs the scope admin on all"
    " branches. Default: it is hidden, and can be restored.",
    option=Option("for good, from every branch and its history"),
)
DROP_COPIES = Field(
    "drop_copies",
    Flag(),
    "With erase: true drops the copies of the store that hold it too. Default: false.",
    option=Option("with --erase: drop the copies of the store that hold it too"),
)
MANY = Field(
    "ids", ListOf(Identifier(), 1, MAX_IDS), "Only these.", option=Option("only this one", "--id", "ID")
)
SESSION_IDS = MANY.with_traits(type=ListOf(Reference(200, 1), 1, MAX_IDS))
SESSION = Field("session_id", Reference(200), "Of this session.", option=Option("of this one", "--session"))
DRY_DELETION = DRY_RUN.with_traits(
    help="true deletes nothing, and answers what would be deleted.",
    option=Option("say what would be deleted, and delete nothing"),
)
