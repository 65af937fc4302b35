"""What only one of the databases has, skipped by name on the others."""

from urllib.parse import quote

import pytest
from django.db import connection


def url() -> str:
    """The database of this test, as another process names it."""
    known = connection.settings_dict
    if ON_SQLITE:
        return f"sqlite:///{known['NAME']}"
    user, password = quote(known["USER"], safe=""), quote(known["PASSWORD"], safe="")
    return f"matrixone://{user}:{password}@{known['HOST']}:{known['PORT']}/{known['NAME']}"


ON_SQLITE = connection.vendor == "sqlite"

only_on_sqlite = pytest.mark.skipif(not ON_SQLITE, reason="about the files or plans of SQLite")
only_on_matrixone = pytest.mark.skipif(ON_SQLITE, reason="needs a MatrixOne server: DAY1_TEST_DATABASE_URL")
