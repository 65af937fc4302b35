"""Keyword search on every backend: filters before ranking, any text as a query."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.core.management.color import no_style
from django.db import connection, models, transaction

from memory.actors import Actor
from memory.db.backend import get_index
from memory.engines.branches.manager import BranchManager
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.pinned_versions import pin_versions
from memory.models import Fact
from memory.words import extract_keywords
from tests.databases import ON_SQLITE
from tests.memory.test_branches import content_of, fact, some_actor, write

pytestmark = pytest.mark.django_db(transaction=True)

K = 5
NARROW = {
    "category": "bug_fix",
    "kind": "NOTE",
    "status": "done",
    "session_id": "session-1",
    "agent_id": "agent-1",
}


@pytest.fixture
def actor() -> Actor:
    return some_actor()


def shown(actor: Actor, branch: str = "main", seq: int | None = None) -> Any:
    return Fact.objects.on(find_branch(actor, branch), seq)


def found(rows: Any, *words: str, k: int = 50) -> list[str]:
    """Return the texts found, best first."""
    best, _ = rows.match_words(words, k)
    text_of = dict(rows.values_list("pk", "fact_text"))
    return [text_of[rid] for rid, _ in best]


def change(actor: Actor, old: str, branch: str = "main", **content: Any) -> None:
    with open_commit(actor, branch, "change") as commit:
        commit.change_row(commit.visible_rows(Fact).get(fact_text=old), **content)


# ---- every script ----------------------------------------------------------------------------------

FOUND = (
    ("团队的数据库在东京。", "東京的數據庫"),
    ("團隊的數據庫", "数据库"),
    ("小李养了一只猫很可爱", "猫"),
    ("ﾃﾞｰﾀﾍﾞｰｽのｻｰﾊﾞｰ", "データベース"),
    ("データベースのサーバー", "ｻｰﾊﾞｰ"),
    ("ＡＰＩのキー", "APIキー"),
    ("데이터베이스는 서울에 있다", "데이터베이스가 어디에"),
    ("ฐานข้อมูลของทีมอยู่ที่สิงคโปร์", "ฐานข้อมูลอยู่ไหน"),
    ("ຖານຂໍ້ມູນຢູ່ວຽງຈັນ", "ຖານຂໍ້ມູນ"),
    ("មូលដ្ឋានទិន្នន័យនៅភ្នំពេញ", "ទិន្នន័យនៅណា"),
    ("ဒေတာဘေ့စ်သည်ရန်ကုန်တွင်ရှိသည်", "ဒေတာဘေ့စ်"),
    ("База данных в Казани", "базу данных"),
    ("Поёт сестра", "поет"),
    ("Η βάση δεδομένων", "βάσης"),
    ("قاعدة البيانات والخادم", "بيانات"),
    ("موعد الإطلاق", "اطلاق"),
    ("מסד הנתונים בחיפה", "נתונים"),
    ("डेटाबेस मुंबई में चलता है", "डेटाबेस कहाँ चलेगा"),
    ("Cơ sở dữ liệu ở Đà Nẵng", "dữ liệu"),
    ("Zum Fest 🎉 am Freitag", "🎉"),
    ("Die Größe der Datei", "größe"),
)
NOT_FOUND = (
    ("ฐานข้อมูลของทีมอยู่ที่สิงคโปร์", "สวัสดีครับ"),
    ("ลูกสาวเข้าโรงเรียน", "ขอบคุณมาก"),
    ("团队的数据库在东京。", "早上好"),
    ("データベースのサーバー", "おはよう"),
    ("База данных в Казани", "привет"),
    ("डेटाबेस मुंबई में चलता है", "नमस्ते"),
    ("Zum Fest 🎉 am Freitag", "🚀"),
    ("데이터베이스는 서울에 있다", "안녕"),
    ("ទិន្នន័យ", "សួស្តី"),
)


def test_words_of_every_script_are_found(actor: Actor) -> None:
    for text, query in FOUND:
        write(actor, text)
        assert text in found(shown(actor), *extract_keywords(query)), query
    for text, query in NOT_FOUND:
        write(actor, text) if text not in dict(FOUND) else None
        assert text not in found(shown(actor), *extract_keywords(query)), query


# ---- filters before ranking ------------------------------------------------------------------------


@pytest.mark.parametrize("field", NARROW)
def test_k_results_whenever_k_exist_under_a_filter(actor: Actor, field: str) -> None:
    """Let the worst rows by rank pass, so that a filter after the ranking would starve."""
    write(actor, *[f"amber {'amber ' * 4}{n}" for n in range(60)])
    write(
        actor, *[f"amber {'among many other words ' * 8}{n}" for n in range(K + 1)], **{field: NARROW[field]}
    )
    for rows in (
        shown(actor).filter_indexed(**{field: NARROW[field]}),
        shown(actor).filter(**{field: NARROW[field]}),
        shown(actor).searchable().filter_indexed(**{field: [NARROW[field], "other"]}),
    ):
        best, _ = rows.match_words(["amber"], K)
        assert len(best) == K
        assert {rid for rid, _ in best} <= set(rows.values_list("pk", flat=True))


@pytest.mark.parametrize("condition", [{"confidence__lt": 0.2}, {"pinned": True}, {"task_id": ""}])
def test_k_results_whenever_k_exist_under_a_plain_column(actor: Actor, condition: dict) -> None:
    write(actor, *[f"amber {n}" for n in range(60)], task_id="t")
    write(actor, *[f"amber {'and more ' * 8}{n}" for n in range(K)], confidence=0.1, pinned=True)
    best, _ = shown(actor).filter(**condition).match_words(["amber"], K)
    assert len(best) == K


def test_the_best_come_first_and_scores_fall(actor: Actor) -> None:
    write(actor, *[f"something else {n}" for n in range(20)])  # a word in most texts has little weight
    write(actor, "amber", "amber with some more words beside it", "birch", "amber amber birch")
    best, _ = shown(actor).match_words(["amber", "birch"], K)
    scores = [score for _, score in best]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0
    assert found(shown(actor), "amber", "birch")[0] == "amber amber birch"
    assert found(shown(actor), "amber", "birch", k=1) == ["amber amber birch"]


def test_equal_scores_are_ordered_by_row(actor: Actor) -> None:
    write(actor, *["amber"] * 4)
    best, _ = shown(actor).match_words(["amber"], K)
    assert [rid for rid, _ in best] == sorted(rid for rid, _ in best)


def test_also_gives_the_scores_of_rows_that_are_not_among_the_best(actor: Actor) -> None:
    rows = write(actor, "amber", "amber and much more text around it", "birch")
    best, also = shown(actor).match_words(["amber"], 1, also=[row.pk for row in rows])
    everything, none = shown(actor).match_words(["amber"], K)
    assert [rid for rid, _ in best] == [rows[0].pk]
    assert sorted(also) == sorted(everything)
    assert none == []


def test_also_at_a_past_point(actor: Actor) -> None:
    rows = write(actor, "amber", "birch")
    write(actor, "later")
    best, also = shown(actor, seq=1).match_words(["amber"], 1, also=[row.pk for row in rows])
    assert [rid for rid, _ in best] == [rid for rid, _ in also] == [rows[0].pk]


def test_not_searchable_facts_are_found_only_when_asked_for(actor: Actor) -> None:
    write(actor, "amber one")
    write(actor, "amber two", status="archived")
    assert found(shown(actor).searchable(), "amber") == ["amber one"]
    assert sorted(found(shown(actor), "amber")) == ["amber one", "amber two"]
    change(actor, "amber one", status="superseded")
    change(actor, "amber two", status="active")
    assert found(shown(actor).searchable(), "amber") == ["amber two"]


@pytest.mark.parametrize("empty", [{"uid__in": []}, {"category__in": []}])
def test_a_filter_that_nothing_can_pass_finds_nothing(actor: Actor, empty: dict) -> None:
    write(actor, "amber")
    assert shown(actor).filter(**empty).match_words(["amber"], K) == ([], [])


# ---- branches --------------------------------------------------------------------------------------


def test_a_child_finds_what_its_parent_has_changed_since(actor: Actor) -> None:
    write(actor, *[f"amber {n}" for n in range(K)])
    BranchManager().create_branch(name="task/a", actor=actor)
    for n in range(K):
        change(actor, f"amber {n}", **content_of(f"birch {n}"))
    assert sorted(found(shown(actor, "task/a"), "amber")) == [f"amber {n}" for n in range(K)]
    assert found(shown(actor, "task/a"), "birch") == []
    assert found(shown(actor), "amber") == []


@pytest.mark.parametrize("held", [False, True])
def test_a_child_of_a_past_point_finds_what_was_there(actor: Actor, held: bool) -> None:
    write(actor, "amber one", "amber two")
    change(actor, "amber one", **content_of("birch one"))
    child = BranchManager().create_branch(name="task/a", actor=actor, at=1)
    if held:
        assert pin_versions(child) == pin_versions(child) == 1
    assert sorted(found(shown(actor, "task/a"), "amber")) == ["amber one", "amber two"]
    assert found(shown(actor), "amber") == ["amber two"]


def test_a_grandchild_of_a_past_point_finds_what_was_there(actor: Actor) -> None:
    write(actor, "amber one")
    change(actor, "amber one", **content_of("birch one"))
    BranchManager().create_branch(name="task/a", actor=actor, at=1)
    BranchManager().create_branch(name="task/b", actor=actor, parent="task/a")
    assert found(shown(actor, "task/b"), "amber") == ["amber one"]


def test_a_past_point_is_searched_as_it_was(actor: Actor) -> None:
    write(actor, "amber one")
    change(actor, "amber one", **content_of("birch one"))
    assert found(shown(actor, seq=1), "amber") == ["amber one"]
    assert found(shown(actor, seq=1), "birch") == []


def test_a_commit_between_two_statements_hides_nothing(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    write(actor, "amber one")
    rows, covers = shown(actor), get_index().covers_lineage

    def covers_then_commit(asked: Any) -> bool:
        answer = covers(asked)
        in_another_thread(lambda: change(actor, "amber one", **content_of("birch one")))
        return answer

    monkeypatch.setattr(get_index(), "covers_lineage", covers_then_commit)
    assert found(rows, "amber") == ["amber one"]


def in_another_thread(work: Any) -> None:
    """Run with a connection of its own, and wait for the end."""
    from concurrent.futures import ThreadPoolExecutor

    def alone() -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(alone).result()


# ---- projects --------------------------------------------------------------------------------------


def test_no_question_reaches_another_project(actor: Actor) -> None:
    other = some_actor()
    write(other, "secret amber")
    write(actor, "amber")
    theirs = find_branch(other, "main").pk
    ours = find_branch(actor, "main").pk
    for word in (
        f") OR tok:b{theirs}o",
        f"b{theirs}o",
        f'" OR tok:"b{theirs}o',
        f'") OR tok:(b{theirs}o)',
        "secret",
    ):
        assert found(shown(actor), word) == []
    assert found(shown(actor), f"b{ours}o") == []
    assert found(shown(actor), "amber") == ["amber"]


# ---- hostile words ---------------------------------------------------------------------------------

HARMLESS = [
    '"',
    "'",
    '""',
    "(",
    ")",
    "()",
    "*",
    "am*",
    "^amber",
    "-amber",
    "+",
    "text:amber",
    "tok:x",
    "NEAR",
    "NEAR(amber birch)",
    "AND",
    "OR",
    "NOT",
    "{amber}",
    "\\",
    ";",
    "--",
    "%",
    "_",
    "\x00",
    "am\x00ber",
    "😀",
    "👩‍👩‍👧",
    "\u200b",
    "\u0301",
    "ﬁ",
    "İ",
    " ",
    "\n",
    "",
    "x" * 100_000,
    '"' * 999,
]


@pytest.mark.parametrize("word", HARMLESS, ids=range(len(HARMLESS)))
def test_any_word_is_only_a_word(actor: Actor, word: str) -> None:
    write(actor, "birch")
    assert found(shown(actor), word) == []
    assert found(shown(actor), "birch", word) == ["birch"]


def test_half_a_surrogate_pair_is_only_a_word(actor: Actor) -> None:
    write(actor, "birch")
    assert found(shown(actor), "birch", "\ud83d") == ["birch"]


def test_five_hundred_words_are_a_question(actor: Actor) -> None:
    write(actor, "word7 and more")
    assert found(shown(actor), *[f"word{n}" for n in range(500)]) == ["word7 and more"]


@pytest.mark.parametrize("text", ["NEAR", "don't", "a_b", "C++", "*bold*", "tok:b2o", "naïve", "x\x00y"])
def test_what_was_written_is_found_by_its_own_words(actor: Actor, text: str) -> None:
    write(actor, f"the text {text} here")
    assert len(shown(actor).match_words([text], K)[0]) == 1


def test_a_part_of_a_chinese_sentence_is_found(actor: Actor) -> None:
    write(actor, "数据库连接池的大小是二十", "数据中心的仓库")
    assert found(shown(actor), "连接池") == ["数据库连接池的大小是二十"]
    assert found(shown(actor), "池") == ["数据库连接池的大小是二十"]
    assert found(shown(actor), "数据库")[0] == "数据库连接池的大小是二十"
    assert found(shown(actor), "接连") == []


# ---- in step with the rows -------------------------------------------------------------------------


def test_a_transaction_that_is_rolled_back_leaves_nothing(actor: Actor) -> None:
    write(actor, "amber")
    before = index_rows()
    with suppress(ZeroDivisionError), transaction.atomic():
        write(actor, "birch")
        change(actor, "amber", **content_of("cedar"))
        raise ZeroDivisionError
    assert found(shown(actor), "birch", "cedar") == []
    assert found(shown(actor), "amber") == ["amber"]
    assert index_rows() == before


def index_rows() -> list[tuple]:
    """Return the index rows, where the index is a readable table."""
    if not ON_SQLITE:
        return []
    with connection.cursor() as cursor:
        both = "SELECT rowid, * FROM memory_fact_fts UNION ALL SELECT rowid, * FROM memory_fact_fts_closed"
        cursor.execute(f"{both} ORDER BY rowid, tok")
        return cursor.fetchall()


@pytest.fixture
def remake() -> Iterator[Any]:
    """Alter a column of the facts as a migration would, and restore it at the end."""
    old = Fact._meta.get_field("source")
    new = models.CharField(max_length=333, blank=True, default="", null=True)
    new.set_attributes_from_name("source")
    new.model = Fact

    def alter(before: Any, after: Any) -> None:
        with connection.schema_editor() as editor:
            editor.alter_field(Fact, before, after, strict=False)

    yield lambda: alter(old, new)
    alter(new, old)


def test_the_index_outlives_a_change_of_its_table(actor: Actor, remake: Any) -> None:
    write(actor, "amber one", "birch", "cedar")
    change(actor, "cedar", **content_of("delta"))
    before = index_rows()
    remake()
    assert index_rows() == before
    assert found(shown(actor), "amber") == ["amber one"]
    write(actor, "amber two")
    assert sorted(found(shown(actor), "amber")) == ["amber one", "amber two"]


def test_a_flush_empties_the_index(actor: Actor) -> None:
    write(actor, "amber", "birch")
    change(actor, "birch", **content_of("cedar"))
    tables = [Fact._meta.db_table]
    connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables))
    assert index_rows() == []
    assert Fact.objects.all_versions().count() == 0


def test_cleared_and_filled_anew(actor: Actor) -> None:
    rows = write(actor, "amber one", "amber two")
    with transaction.atomic():
        get_index().clear_model(Fact)
        get_index().index_rows(rows)
    assert sorted(found(shown(actor), "amber")) == ["amber one", "amber two"]


def test_a_search_inside_a_commit_sees_what_the_commit_wrote(actor: Actor) -> None:
    write(actor, "amber one")
    with open_commit(actor, "main", "write") as commit:
        commit.add_rows([fact("amber two")])
        rows = commit.visible_rows(Fact)
        assert sorted(found(rows, "amber")) == ["amber one", "amber two"]
