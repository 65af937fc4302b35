"""The numbers that MatrixOne gives to what went wrong, and what they mean to us."""

from collections.abc import Sequence

# A value is NULL where none may be, or out of range: MySQL's numbers.
NO_CONSTRAINT = 20101  # among many other things a reference to a row that is not there
TOO_MUCH_AT_ONCE = 1105  # a bulk insert into a table with a compound unique key may fail for its size

UNKNOWN_DATABASE = 1049
WRONG_LOGIN = (1044, 1045, 1698)
AWAY = (2002, 2003, 2005)  # nobody answers
LOST = (2006, 2013, 2055)  # somebody did, and the connection is gone

# The transaction was given up, and may be run again from its start: a table was changed under it, it wrote
# what another wrote, it was one of two that waited for each other, it waited for a lock for too long.
RERUN = (20619, 20628, 20631, 20701, 1213, 20400, 1205)


def code_of(error: BaseException) -> int:
    """The server's number of an error, as Django or the driver raised it; 0 where there is none."""
    number = error.args[0] if error.args else 0
    return number if isinstance(number, int) else 0


def breaks_reference(arguments: Sequence[object]) -> bool:
    """Whether an error of the driver says that a foreign key points to nothing, or is pointed to."""
    return arguments[0] == NO_CONSTRAINT and "foreign key" in str(arguments[-1]).lower()


def tells_wrong_login(arguments: Sequence[object]) -> bool:
    text = str(arguments[-1]).lower()
    return arguments[0] in WRONG_LOGIN or (
        arguments[0] == NO_CONSTRAINT and ("password" in text or "user" in text)
    )


def lacks_right(arguments: Sequence[object]) -> bool:
    return "privilege" in str(arguments[-1]).lower()
