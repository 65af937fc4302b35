"""Writes of single rows that SQLite makes in one statement: an insert into a view, whose trigger makes each.

A statement through Django's cursor takes longer than SQLite needs to write a row.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

MAX_VIEWS = 200  # of a connection: as many different sets of writes
MAX_VALUES = 1500  # of a set; a view has at most 2,000 columns


class JoinedWrites:
    """The writes of a transaction that wait: for the next statement, a look at notes, or the end of the block
    in which they may wait.
    """

    def __init__(self, wrapper: Any) -> None:
        self.wrapper = wrapper
        self._is_open = False
        self._waiting: list[tuple[str, Sequence[Any]]] = []
        self._error: BaseException | None = None  # of writes that waited, after which nothing may be kept
        self._views: dict[tuple[str, ...], str] = {}  # by the statements that each stands for

    @contextmanager
    def join_writes(self) -> Iterator[None]:
        """Let writes inside wait for one another. An error drops them: it takes the transaction back."""
        if self._is_open or not self.wrapper.in_atomic_block:
            yield
            return
        self._is_open = True
        try:
            with self.wrapper.execute_wrapper(self._send_first):
                yield
                if self._error and self.wrapper.needs_rollback:
                    raise self._error
                self.send()
        finally:
            self._is_open, self._waiting, self._error = False, [], None

    def keep_write(self, sql: str, values: Sequence[Any]) -> bool:
        """Keep a write of one row; return False outside of ``join_writes``."""
        if self._is_open:
            self._waiting.append((sql, values))
        return self._is_open

    def send(self, following: str = "") -> None:
        """Make the writes that wait, before a following statement. Whoever expects an error of that one, and
        goes on, would lose them: the transaction can only be taken back, or the savepoint that ends.
        """
        waiting, self._waiting = self._waiting, []
        try:
            self._write_all(waiting)
        except BaseException as error:
            if not following.startswith("RELEASE"):
                self.wrapper.needs_rollback, self._error = True, error
            raise

    def _write_all(self, waiting: Sequence[tuple[str, Sequence[Any]]]) -> None:
        if not waiting:
            return
        values = [value for _, each in waiting for value in each]
        view = self._find_view(tuple(sql for sql, _ in waiting), len(values))
        with self.wrapper.cursor() as cursor:
            if view:
                cursor.execute(f'INSERT INTO "{view}" VALUES ({", ".join(["%s"] * len(values))})', values)
            else:
                for sql, each in waiting:
                    cursor.execute(sql, each)

    def forget_views(self) -> None:
        """Forget which views there are, as a rollback may have dropped some."""
        self._views.clear()

    def drop_views(self) -> None:
        """Drop all views: SQLite changes no table that a trigger names."""
        self._views.clear()
        own = self.wrapper.connection
        names = own.execute("SELECT name FROM temp.sqlite_master WHERE type = 'view'").fetchall()
        for (name,) in names:
            own.execute(f'DROP VIEW temp."{name}"')

    def _send_first(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        self.send(sql)
        return execute(sql, *rest)

    def _find_view(self, statements: tuple[str, ...], count: int) -> str:
        """Return the view that stands for several writes; "" where there is none."""
        is_few = len(self._views) < MAX_VIEWS and count <= MAX_VALUES
        if len(statements) > 1 and is_few and statements not in self._views:
            with self.wrapper.wrap_database_errors:
                self._views[statements] = self._create_view(statements, count)
        return self._views.get(statements, "")

    def _create_view(self, statements: tuple[str, ...], count: int) -> str:
        # Never the name of others, which a rollback may have left.
        name = f"joined_{sha256('; '.join(statements).encode()).hexdigest()[:32]}"
        columns = ", ".join(f"NULL AS v{number}" for number in range(count))
        # The marks of all statements are numbered in one row: what is between them has no other sign of it.
        first, *parts = "; ".join(statements).split("%s")
        body = first + "".join(f"NEW.v{number}{part}" for number, part in enumerate(parts))
        own = self.wrapper.connection
        own.execute(f'CREATE TEMP VIEW IF NOT EXISTS "{name}" AS SELECT {columns}')
        trigger = f'TRIGGER IF NOT EXISTS "{name}_write" INSTEAD OF INSERT ON "{name}"'
        own.execute(f"CREATE TEMP {trigger} BEGIN {body}; END")
        return name
