"""Error numbers of MatrixOne and their meaning."""

from collections.abc import Sequence

# A value is NULL where none may be, or out of range: MySQL's numbers.
NO_CONSTRAINT = 20101  # also, among others, for a reference to a missing row
TOO_MUCH_AT_ONCE = 1105  # a bulk insert into a table with a compound unique key may fail for its size

UNKNOWN_DATABASE = 1049
WRONG_LOGIN = (1044, 1045, 1698)
AWAY = (2002, 2003, 2005)  # no server answers
LOST = (2006, 2013, 2055)  # the connection was lost after the server had answered

# The transaction was aborted and may be run again from its start: a table changed meanwhile, a write
# conflict, a deadlock, or a lock timeout.
RERUN = (20619, 20628, 20631, 20701, 1213, 20400, 1205)


def get_error_code(error: BaseException) -> int:
    """Return the server's number of an error raised by Django or the driver; 0 for none."""
    number = error.args[0] if error.args else 0
    return number if isinstance(number, int) else 0


def breaks_reference(arguments: Sequence[object]) -> bool:
    """Return whether a driver's error reports a violated foreign key."""
    return arguments[0] == NO_CONSTRAINT and "foreign key" in str(arguments[-1]).lower()


def tells_wrong_login(arguments: Sequence[object]) -> bool:
    text = str(arguments[-1]).lower()
    return arguments[0] in WRONG_LOGIN or (
        arguments[0] == NO_CONSTRAINT and ("password" in text or "user" in text)
    )


def lacks_right(arguments: Sequence[object]) -> bool:
    return "privilege" in str(arguments[-1]).lower()
