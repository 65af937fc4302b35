"""Creation of test databases."""

from django.db.backends.mysql import creation


class DatabaseCreation(creation.DatabaseCreation):
    def _clone_db(self, source_database_name: str, target_database_name: str) -> None:
        """Clone a database with one statement of the server instead of a dump."""
        source, target = map(self.connection.ops.quote_name, (source_database_name, target_database_name))
        with self._nodb_cursor() as cursor:  # type: ignore[attr-defined]  # internal, so not in the stubs
            cursor.execute(f"DROP DATABASE IF EXISTS {target}")
            cursor.execute(f"CREATE DATABASE {target} CLONE {source}")
