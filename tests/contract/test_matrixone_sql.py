"""SQL for MatrixOne. No server is needed, only its driver."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.core.exceptions import EmptyResultSet
from django.core.management.color import no_style
from django.db import DatabaseError, IntegrityError, OperationalError, connection
from django.db.models import Exists, FloatField, OuterRef, Q, TextField
from django.db.models.functions import ExtractYear, Greatest

from curation.models import Verification
from memory.db import transactions
from memory.db.expressions import ColumnIn, Visible, VisibleByColumn
from memory.db.plain_filters import EndsAfter, IsBeyond, IsNot, IsNull, split_filters
from memory.db.raw_select import Reading
from memory.engines.versions.lookup import find_branch
from memory.models import Branch, Commit, Fact, FactAssessment
from tests.databases import only_on_matrixone
from tests.memory.test_branches import some_actor, write

MySQLdb = pytest.importorskip("MySQLdb", reason="the extra matrixone is not installed")

from memory.db.backend import get_backend  # noqa: E402
from memory.db.matrixone import errors, word_statistics  # noqa: E402
from memory.db.matrixone.base import CursorWrapper, DatabaseWrapper  # noqa: E402
from memory.db.matrixone.search_index import _Ranking, split_plain  # noqa: E402
from memory.db.matrixone.vector_sql import Match, Matches, vector_literal  # noqa: E402
from memory.db.matrixone.word_statistics import Statistics, Word, read_statistics  # noqa: E402
from memory.engines.facts.assessment import has_verdict  # noqa: E402

SETTINGS = {
    "ENGINE": "memory.db.matrixone",
    "NAME": "day1",
    "USER": "u",
    "PASSWORD": "",
    "HOST": "127.0.0.1",
    "PORT": "1",
    "OPTIONS": {},
    "TIME_ZONE": None,
    "CONN_MAX_AGE": 0,
    "CONN_HEALTH_CHECKS": False,
    "AUTOCOMMIT": True,
    "ATOMIC_REQUESTS": False,
    "TEST": {"NAME": None},
}
MAIN = [(1, 9)]
CHILD = [(2, 3), (1, 7)]


@pytest.fixture
def mo() -> DatabaseWrapper:
    return DatabaseWrapper(SETTINGS, "matrixone")


def sql(mo: DatabaseWrapper, rows: Any) -> str:
    text, params = rows.query.get_compiler(connection=mo).as_sql()
    return text % tuple(params)


class Told:
    """Cursor that records the statements and returns no rows."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __enter__(self) -> "Told":
        return self

    def __exit__(self, *error: object) -> None: ...

    def execute(self, sql: str, values: Any) -> None:
        self.told.append(sql % tuple(map(repr, values)))

    def fetchall(self) -> tuple:
        return ()


class Answers(Told):
    """Cursor that answers each statement with the next rows, or with an error."""

    def __init__(self, *answers: list[tuple] | Exception) -> None:
        super().__init__()
        self.answers = list(answers)

    def execute(self, sql: str, values: Any = ()) -> None:
        self.told.append(" ".join((sql % tuple(map(repr, values or ()))).split()))
        if isinstance(self.answers[0], Exception):
            raise self.answers.pop(0)

    def fetchall(self) -> Any:
        return self.answers.pop(0)

    def fetchone(self) -> Any:
        return self.answers.pop(0)[0]


# ---- visibility ------------------------------------------------------------------------------------


def test_main_is_plain_conditions(mo: DatabaseWrapper) -> None:
    text = sql(mo, Fact.objects.in_lineage(MAIN).values("pk"))
    assert text.endswith(
        "WHERE (`memory_fact`.branch_id = 1 AND `memory_fact`.seq_from <= 9"
        " AND `memory_fact`.seq_to > 9 AND NOT `memory_fact`.deleted)"
    )


def test_a_flag_is_compared(mo: DatabaseWrapper) -> None:
    """Compare flags explicitly: a bare flag in WHERE makes the planner panic some minutes later."""
    text = sql(mo, Fact.objects.all_versions().filter(pinned=True, deleted=False).values("pk"))
    assert text.endswith("WHERE (NOT `memory_fact`.`deleted` AND `memory_fact`.`pinned` = TRUE)")


def test_a_lineage_is_a_union_of_its_arms(mo: DatabaseWrapper) -> None:
    text = sql(mo, Fact.objects.in_lineage(CHILD).values("pk"))
    assert (
        "`memory_fact`.`rid` IN (SELECT v.`rid` FROM `memory_fact` v WHERE v.branch_id = 2"
        " AND v.seq_from <= 3"
        " AND v.seq_to > 3 AND NOT v.deleted UNION ALL SELECT v.`rid` FROM `memory_fact` v WHERE" in text
    )
    assert " OR " not in text


def test_rows_under_known_keys_are_asked_one_by_one(mo: DatabaseWrapper) -> None:
    text = sql(mo, Fact.objects.in_lineage(CHILD).rows().filter(pk__in=[5]).values("pk"))
    assert "UNION" not in text


def test_looking_for_rows_by_another_column_leaves_the_index_of_open_rows_alone(mo: DatabaseWrapper) -> None:
    text, values = VisibleByColumn(Fact, CHILD, [1], "t").render(mo)
    arm = "t.branch_id = %s AND t.seq_from + 0 <= %s AND t.seq_to + 0 > %s AND NOT t.deleted"
    shadowed = "s.uid = t.uid AND ((s.branch_id = %s AND s.seq_from <= %s))"
    assert text == f"({arm} AND NOT EXISTS (SELECT 1 FROM `memory_fact` s WHERE {shadowed}))"
    assert values == [1, 7, 7, 2, 3]


def test_filters_of_plain_columns_are_conditions(mo: DatabaseWrapper) -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    told = [
        IsNull(Fact, "parent_id"),
        EndsAfter(Fact, "expires_at", at),
        IsBeyond(Fact, "seq_from", 5, True),
        IsNot(Visible(Fact, MAIN)),
    ]
    assert [one.for_alias("t").render(mo) for one in told] == [
        ("t.`parent_id` IS NULL", ()),
        ("(t.`expires_at` IS NULL OR t.`expires_at` > %s)", ["2026-01-02 03:04:05"]),
        ("t.`seq_from` < %s", [5]),
        ("NOT (t.branch_id = %s AND t.seq_from <= %s AND t.seq_to > %s AND NOT t.deleted)", [1, 9, 9]),
    ]
    plain, others = split_filters(Fact, Fact.objects.in_lineage(MAIN).exclude(kind__in=[]).recorded_filters)
    assert (plain, len(others)) == ([], 1)


def test_a_row_is_locked_by_what_names_it(mo: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch) -> None:
    cursor = Told()
    monkeypatch.setattr(mo, "cursor", lambda: cursor)
    conditions = [ColumnIn(Branch, "project", [UUID(int=7)], "t"), ColumnIn(Branch, "name", ["main"], "t")]
    read = Reading(mo, Branch, ["id", "head"])
    sql, values = read.build(*(one.render(mo) for one in conditions))
    read.fetch(f"{sql} {mo.ops.for_update_sql()}", values)
    assert cursor.told == [
        "SELECT t.`id`, t.`head` FROM `memory_branch` t WHERE"
        f" t.`project_id` IN ('{UUID(int=7).hex}') AND t.`name` IN ('main') FOR UPDATE"
    ]


# ---- full text -------------------------------------------------------------------------------------


def test_match_stands_beside_plain_conditions(mo: DatabaseWrapper) -> None:
    rows = Fact._base_manager.filter(Matches("fact_text", "amber*"), branch_id=1, deleted=False)
    text = sql(
        mo,
        rows.annotate(score=Match("fact_text", "amber*")).order_by("-score").values_list("pk", "score")[:5],
    )
    match = "MATCH(`memory_fact`.`fact_text`) AGAINST (amber* IN BOOLEAN MODE)"
    assert text == (
        f"SELECT `memory_fact`.`rid` AS `pk`, {match} AS `score` FROM `memory_fact` WHERE ({match}"
        " AND `memory_fact`.`branch_id` = 1 AND NOT `memory_fact`.`deleted`) ORDER BY 2 DESC LIMIT 5"
    )


def test_candidates_are_read_with_what_their_scores_are_computed_from(mo: DatabaseWrapper) -> None:
    rows = Fact.objects.in_lineage(MAIN).filter_indexed(kind=["NOTE"])
    words = {"run": Word(("run", "runs"), 2)}
    ranking = _Ranking(rows, ["run"], Statistics("t", 9, 9, 5.0, words))
    text = sql(mo, ranking.select_texts()[:2])
    match = "MATCH(`memory_fact`.`fact_text`) AGAINST (run runs IN BOOLEAN MODE)"
    assert text.startswith(
        "SELECT `memory_fact`.`rid` AS `pk`, SUBSTRING(`memory_fact`.`fact_text`, 1, 10000) AS"
    )
    assert text.endswith(
        f"{match} AS `score` FROM `memory_fact` WHERE ({match} AND `memory_fact`.`branch_id` = 1"
        " AND `memory_fact`.`seq_from` <= 9 AND `memory_fact`.`seq_to` > 9 AND NOT `memory_fact`.`deleted`"
        " AND `memory_fact`.`kind` IN (NOTE)) ORDER BY 10 DESC, 1 ASC LIMIT 2"
    )


def test_words_are_counted_in_the_table_of_the_index(
    mo: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that were counted are counted again when the texts have become a fiftieth more."""
    monkeypatch.setattr(word_statistics, "_known", {})
    forms, counts = [("kid",), ("kids",), ("kidney",)], [(7,)]
    cursor = Answers([(100,)], [("__mo_a",)], [(110, 2000)], [(200,)], forms, counts)
    monkeypatch.setattr(mo, "cursor", lambda: cursor)
    found = read_statistics(mo, Fact, ["kid", "auth_token"])
    assert (found.texts, found.mean_length) == (110, 20.0)
    assert found.words == {"kid": Word(("kid", "kids"), 7), "auth_token": Word((), 0)}
    last = "\\U0010ffff"
    assert cursor.told[0] == "SELECT count(*) FROM `memory_fact`"
    assert cursor.told[1].endswith(
        "t.reldatabase = 'day1' AND t.relname = 'memory_fact' AND i.name = 'memory_fact_fts'"
    )
    assert cursor.told[2] == "SELECT count(*), coalesce(sum(pos), 0) FROM `__mo_a` WHERE word = '__DocLen'"
    assert cursor.told[3].startswith(
        "SELECT coalesce(sum(1+CASE WHEN `category` <> '' THEN 1 ELSE 0 END+CASE"
    )
    assert cursor.told[4:] == [
        f"SELECT DISTINCT word FROM `__mo_a` WHERE word BETWEEN 'kid' AND 'kid{last}'",
        "SELECT count(DISTINCT CASE WHEN word IN ('kid', 'kids') THEN doc_id END) FROM `__mo_a`"
        " WHERE word IN ('kid', 'kids')",
    ]
    for rows, more in ((102, 0), (103, 5)):
        cursor = Answers([(rows,)], [("__mo_a",)], [(110, 2000)], [(200,)], forms, counts)
        read_statistics(mo, Fact, ["kid"])
        assert len(cursor.told) == 1 + more


def test_an_index_that_was_made_anew_is_looked_up_again(
    mo: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {("day1", "memory_fact"): Statistics("`__mo_a`", 100, 100, 20.0)}
    monkeypatch.setattr(word_statistics, "_known", known)
    gone, another = OperationalError(1146, "no such table"), OperationalError(1105, "another error")
    cursor = Answers([(100,)], gone, [(100,)], [("__mo_b",)], [(100, 600)], [(300,)], [], [(100,)], another)
    monkeypatch.setattr(mo, "cursor", lambda: cursor)
    assert read_statistics(mo, Fact, ["kid"]).mean_length == 9.0
    with pytest.raises(OperationalError, match="another error"):
        read_statistics(mo, Fact, ["kid", "birch"])


def test_filters_that_look_at_other_tables_do_not_stand_beside_match() -> None:
    near = (False, (Q(status="active") & ~Q(expires_at=None),), {"category__in": ["a"]})
    far = (False, (Q(has_verdict(["verified"], MAIN)),), {})
    farther = (True, (), {"uid__in": FactAssessment.objects.in_lineage(MAIN).values("uid")})
    assert split_plain([near, far, farther]) == ([near], [far, farther])


def test_exists_has_no_limit(mo: DatabaseWrapper) -> None:
    """Omit LIMIT, with which the server finds nothing."""
    verdicts = FactAssessment._base_manager.filter(uid=OuterRef("uid"))
    text = sql(mo, Fact._base_manager.filter(Exists(verdicts)).values("pk"))
    assert "EXISTS(SELECT 1" in text
    assert "LIMIT" not in text


def test_the_greater_of_two(mo: DatabaseWrapper) -> None:
    text = sql(mo, Branch.objects.annotate(most=Greatest("head", "cycle")).values_list("most"))
    assert "CASE WHEN `memory_branch`.`head` >= `memory_branch`.`cycle` THEN" in text


# ---- vectors -----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_matching_vectors_reads_on_until_a_text_is_below_the_floor(
    mo: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = some_actor()
    a, b = write(actor, "a", "b")
    hidden = [(f"{number:064}", 0.9) for number in range(58)]
    clock = (5, 5)
    cursor = Answers(
        [clock],
        [],  # no index
        [(a.content_hash, 0.97), *hidden, (b.content_hash, 0.849)],
        [clock],
        [(b.content_hash, 0.99), *hidden, ("f" * 64, 0.9)],
        [(b.content_hash, 0.99), *hidden, ("f" * 64, 0.9), (a.content_hash, 0.86)],
    )
    monkeypatch.setattr(mo, "cursor", lambda: cursor)
    monkeypatch.setattr("memory.db.matrixone.vectors._probed", {})
    rows, project = Fact.objects.on(find_branch(actor, "main")), UUID(int=7)
    found = mo.index.match_vectors(rows, np.eye(2, dtype="f4"), 0.85, 5, "m", project)
    assert found == [[(a.pk, 0.97)], [(b.pk, 0.99), (a.pk, 0.86)]]
    nearest = (
        "SELECT content_hash, cosine_similarity(e, '{}') s FROM memory_vector_2"
        f" WHERE project_id = '{project.hex}' AND model = 'm' ORDER BY s DESC LIMIT {{}}"
    )
    assert [sql for sql in cursor.told if "cosine" in sql] == [
        nearest.format("[1.0,0.0]", 60),
        nearest.format("[0.0,1.0]", 60),
        nearest.format("[0.0,1.0]", 240),
    ]


@pytest.mark.django_db(transaction=True)
def test_what_a_damaged_vector_scores_is_left_out_and_read_past(
    mo: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = some_actor()
    a, b = write(actor, "a", "b")
    damaged = [(f"{number:064}", float("nan")) for number in range(59)]
    cursor = Answers(
        [(5, 5)],
        [],  # no index
        [*damaged, (a.content_hash, 0.97)],
        [*damaged, (a.content_hash, 0.97), (b.content_hash, -0.5)],
        [(a.content_hash, float("nan")), (b.content_hash, 0.5)],
    )
    monkeypatch.setattr(mo, "cursor", lambda: cursor)
    monkeypatch.setattr("memory.db.matrixone.vectors._probed", {})
    rows, ask = Fact.objects.on(find_branch(actor, "main")), (np.eye(2, dtype="f4")[0], "m", UUID(int=7))
    assert mo.index.search_vectors(rows, ask[0], 2, *ask[1:]) == [(a.pk, 0.97), (b.pk, -0.5)]
    assert [sql.split()[-1] for sql in cursor.told if "cosine" in sql] == ["60", "240"]
    assert list(mo.index.score_cosines([a.pk, b.pk], rows, *ask)) == [(b.pk, 0.5)]


# ---- lookups, types, DDL ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lookup", "written"),
    [
        ("contains", "REPLACE({}, x%y, '') <> {}"),
        ("icontains", "INSTR({}, x%y) > 0"),
        ("iexact", "LOWER({}) = LOWER(x%y)"),
        ("startswith", "LEFT({}, CHAR_LENGTH(x%y)) = x%y"),
        ("iendswith", "RIGHT(LOWER({}), CHAR_LENGTH(LOWER(x%y))) = LOWER(x%y)"),
    ],
)
def test_what_says_whether_case_counts(mo: DatabaseWrapper, lookup: str, written: str) -> None:
    text = sql(mo, Branch.objects.filter(**{f"name__{lookup}": "x%y"}).order_by().values("pk"))
    assert text.endswith(" WHERE " + written.replace("{}", "`memory_branch`.`name`"))


def test_types(mo: DatabaseWrapper) -> None:
    assert FloatField().db_type(mo) == "double"
    assert Fact._meta.pk.db_type(mo) == "bigint"
    assert TextField().db_type(mo) == "longtext"


def test_full_text_index(mo: DatabaseWrapper) -> None:
    (index,) = [index for index in Fact._meta.indexes if index.suffix == "fts"]
    with mo.schema_editor(collect_sql=True) as editor:
        editor.deferred_sql = []
        assert str(index.create_sql(Fact, editor)) == (
            "CREATE FULLTEXT INDEX `memory_fact_fts` ON `memory_fact` (`fact_text`)"
        )
        assert str(index.remove_sql(Fact, editor)) == "DROP INDEX `memory_fact_fts` ON `memory_fact`"


def test_a_year_is_a_number(mo: DatabaseWrapper) -> None:
    expression = Branch.objects.annotate(year=ExtractYear("created_at")).query.annotations["year"]
    (first, *_) = mo.ops.get_db_converters(expression)
    assert (first("2026", expression, mo), first(None, expression, mo)) == (2026, None)


def test_sequences_are_left_alone(mo: DatabaseWrapper) -> None:
    assert mo.ops.sequence_reset_by_name_sql(no_style(), [{"table": "t", "column": "id"}]) == []


def test_a_vector_keeps_every_bit() -> None:
    vector = np.array([0.1, -1 / 3, 1e-30], dtype="f4")
    assert np.array(eval(vector_literal(vector)), dtype="f4").tobytes() == vector.tobytes()


# ---- errors ----------------------------------------------------------------------------------------


class Driver:
    """Driver cursor that refuses too many rows in one statement, as the server may."""

    def __init__(self, most: int, number: int) -> None:
        self.most, self.number, self.taken = most, number, []

    def execute(self, query: str, args: Any) -> None:
        raise MySQLdb.OperationalError(self.number, "foreign key constraint fails")

    def executemany(self, query: str, args: list) -> None:
        if len(args) > self.most:
            raise MySQLdb.OperationalError(self.number, "panic")
        self.taken += args


def test_a_bulk_insert_that_fails_whole_is_sent_in_parts() -> None:
    driver = Driver(3, errors.TOO_MUCH_AT_ONCE)
    CursorWrapper(driver).executemany("INSERT", list(range(20)))
    assert driver.taken == list(range(20))
    with pytest.raises(MySQLdb.OperationalError):
        CursorWrapper(Driver(0, errors.TOO_MUCH_AT_ONCE)).executemany("INSERT", [1, 2])
    with pytest.raises(MySQLdb.OperationalError):
        CursorWrapper(Driver(3, 1064)).executemany("INSERT", list(range(20)))


def test_a_broken_reference_is_a_breach_of_integrity() -> None:
    with pytest.raises(IntegrityError):
        CursorWrapper(Driver(0, errors.NO_CONSTRAINT)).execute("INSERT")
    with pytest.raises(MySQLdb.OperationalError):
        CursorWrapper(Driver(0, 1064)).execute("INSERT")


@pytest.mark.parametrize("number", errors.RERUN)
def test_what_the_server_gave_up_may_be_run_again(mo: DatabaseWrapper, number: int) -> None:
    assert mo.must_rerun(OperationalError(number, "again"))
    assert not mo.must_rerun(OperationalError(1064, "no"))


def test_work_is_run_again_a_few_times(mo: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "connection", mo)
    monkeypatch.setattr(transactions, "get_backend", lambda: mo)
    monkeypatch.setattr(transactions, "WAIT_SECONDS", 0)
    seen: list[int] = []

    @transactions.retry_transaction
    def work(fails: int, number: int) -> str:
        seen.append(number)
        if len(seen) <= fails:
            raise OperationalError(number, "again")
        return "done"

    assert work(2, 20631) == "done"
    assert len(seen) == 3
    for fails, number, tries in ((9, 20701, transactions.MAX_TRIES), (9, 1064, 1)):
        seen.clear()
        with pytest.raises(DatabaseError):
            work(fails, number)
        assert len(seen) == tries


def test_writers_of_sqlite_are_never_given_up() -> None:
    assert connection.vendor == "mysql" or not get_backend().must_rerun(OperationalError(20631, "again"))


# ---- tables --------------------------------------------------------------------------------------------


def test_an_index_is_left_out_where_it_would_hold_all_rows(mo: DatabaseWrapper) -> None:
    named = {index.name: index for index in Fact._meta.indexes}
    with mo.schema_editor(collect_sql=True, atomic=False) as editor:
        for name in ("fact_proposed", "fact_parent"):
            editor.add_index(Fact, named[name])
            editor.remove_index(Fact, named[name])
    assert editor.collected_sql == [
        "CREATE INDEX `fact_parent` ON `memory_fact` (`parent_id`);",
        "DROP INDEX `fact_parent` ON `memory_fact`;",
    ]
    with mo.schema_editor(collect_sql=True, atomic=False) as editor:
        editor.create_model(Verification)
    made = [sql.split("`")[1] for sql in editor.collected_sql if sql.startswith("CREATE INDEX")]
    assert [name for name in made if name.startswith("verification_")] == [
        "verification_fact",
        "verification_method",
        "verification_age",
    ]


# ---- a server that is not there ----------------------------------------------------------------------


@pytest.mark.django_db
def test_a_server_that_does_not_answer_is_told(mo: DatabaseWrapper) -> None:
    (found,) = mo.validation.check(databases=["matrixone"])
    assert (found.id, found.msg) == ("day1.E008", "No MatrixOne server answers at 127.0.0.1:1.")


@only_on_matrixone
@pytest.mark.django_db
def test_a_server_that_is_too_old_is_refused_at_every_look(monkeypatch) -> None:
    own: Any = connection.copy()
    release = ".".join(map(str, connection.get_database_version()))
    monkeypatch.setattr("django.db.backends.base.base.RAN_DB_VERSION_CHECK", set())
    monkeypatch.setattr(type(own.features), "minimum_database_version", (99, 0, 0))
    for _ in range(2):
        told = f"MatrixOne 99.0.0 or newer is needed; this server is {release}."
        assert own.validation.find_problem() == told


@only_on_matrixone
@pytest.mark.django_db
def test_a_wrong_password_is_told() -> None:
    own: Any = connection.copy()
    own.settings_dict = {**own.settings_dict, "PASSWORD": "wrong"}
    known = own.settings_dict
    told = f"The server at {known['HOST']}:{known['PORT']} refuses the user {known['USER']} or the password."
    assert own.validation.find_problem() == told


def test_in_and_equality_of_one_column_are_one_condition(mo: DatabaseWrapper) -> None:
    rows = Branch.objects.filter(project__isnull=False).values("pk").order_by()
    assert "IN" not in sql(mo, rows.filter(head__in=[1, 2], head=1))
    assert "`head` = 1" in sql(mo, rows.filter(head=1).filter(head__in=[1]))
    with pytest.raises(EmptyResultSet):
        sql(mo, rows.filter(head__in=[2, 3], head=1))
    assert "IN (1, 2)" in sql(mo, rows.filter(Q(head__in=[1, 2]) | Q(head=1)))
    assert "IN (1, 2)" in sql(mo, rows.filter(parent_id=1, head__in=[1, 2]))
    assert "IN" not in sql(mo, Commit.objects.filter(branch__in=[1, 2], branch=1).order_by())
    assert "IN (1, 2)" in sql(mo, rows.exclude(head__in=[1, 2], head=1))
    assert "IN" not in sql(mo, rows.filter(head=3).exclude(head__in=[1, 2]))
    with pytest.raises(EmptyResultSet):
        sql(mo, rows.filter(head=1).exclude(head__in=[1, 2]))
