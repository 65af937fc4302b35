"""Validation of the server, as messages for people."""

from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import DatabaseError, NotSupportedError
from django.db.backends.base.validation import BaseDatabaseValidation

from memory.db.matrixone import errors

# Required features: a statement, and the feature that its failure shows to be missing.
NEEDED = {
    "SELECT cosine_similarity('[1,0]', '[1,0]')": "vectors",
    "SELECT @@ft_relevancy_algorithm": "full-text ranking",
    "SELECT 'a' ILIKE 'A'": "ILIKE",
    "SELECT count(*) FROM mo_catalog.mo_indexes WHERE 1 = 0": "the list of indexes",
}


class DatabaseValidation(BaseDatabaseValidation):
    connection: Any

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        """Return the first problem that prevents use of the server, or nothing."""
        if trouble := self.find_problem():
            return [Error(trouble, hint="docs/matrixone.md tells what is needed.", id="day1.E008")]
        return []

    def find_problem(self) -> str:
        """Return a problem as a sentence; "" for a usable server, or one that only lacks the database."""
        try:
            self.connection.ensure_connection()
        except NotSupportedError as error:
            return str(error)
        except DatabaseError as error:
            return self._unreachable_text(error)
        return next(filter(None, map(self._missing_feature, NEEDED.items())), "")

    def _missing_feature(self, needed: tuple[str, str]) -> str:
        sql, feature = needed
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(sql)
                cursor.fetchall()
        except DatabaseError as error:
            return f"The server ({self.connection.server_version}) lacks {feature}: {error.args[-1]}."
        return ""

    def _unreachable_text(self, error: DatabaseError) -> str:
        settings, code = self.connection.settings_dict, errors.get_error_code(error)
        address = f"{settings['HOST']}:{settings['PORT']}"
        if code == errors.UNKNOWN_DATABASE:
            return ""
        if code in (*errors.AWAY, *errors.LOST):
            return f"No MatrixOne server answers at {address}."
        if errors.tells_wrong_login(error.args):
            return f"The server at {address} refuses the user {settings['USER']} or the password."
        return f"The server at {address} cannot be used: {error.args[-1]}."

    def check_field_type(self, field: Any, field_type: str) -> list[CheckMessage]:
        return []
