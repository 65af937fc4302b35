"""What only one of the databases has, skipped by name on the others."""

import pytest
from django.db import connection

ON_SQLITE = connection.vendor == "sqlite"

only_on_sqlite = pytest.mark.skipif(not ON_SQLITE, reason="about the files or plans of SQLite")
only_on_matrixone = pytest.mark.skipif(ON_SQLITE, reason="needs a MatrixOne server: DAY1_TEST_DATABASE_URL")
