"""Texts that the embedder cannot read: no vector, and what their words do in its place."""

import pytest

from conversations.engines.semantic_diff.engine import WORDS as BY_WORDS
from conversations.engines.semantic_diff.engine import compare_texts
from curation.engines.review.near_duplicates import NearDuplicateEngine
from curation.models import ReviewItem
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding import unread
from memory.engines.embedding.engine import EmbeddingEngine, get_embedding_states
from memory.engines.embedding.enqueue import enqueue_missing
from memory.engines.embedding.worker import advance_clock
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.pairs import Kind, Pairs, Reason, find_pairs
from memory.engines.search.candidates import build_query
from memory.engines.search.engine import SearchEngine
from memory.engines.store.check.engine import CheckEngine
from memory.engines.store.check.repair import plan_repair, repair_store
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch
from memory.models import NearCheck, Vector, VectorClock
from memory.providers.onnx_minilm import DEFAULT_MODEL, OnnxMiniLM
from tests.databases import only_on_sqlite

pytestmark = pytest.mark.django_db(transaction=True)

SERVER, SCHOOL = "ฐานข้อมูลของทีมอยู่บนเซิร์ฟเวอร์ที่สิงคโปร์", "ลูกสาวของฉันจะเข้าโรงเรียนในเดือนกันยายน"
ENGLISH = "The vault key is rotated every night."


@pytest.fixture(autouse=True)
def model(settings):
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}


@pytest.fixture
def write(actor):
    def write(text, branch="main"):
        return FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor).fact

    return write


@pytest.fixture
def embed(project):
    return lambda: EmbeddingEngine().embed_pending(project.pk)


@pytest.fixture
def old_store(project, write, embed):
    """Fill a store as an earlier release did: every text has a vector, and nobody looked at them since."""
    facts = [write(text) for text in (SERVER, SCHOOL, ENGLISH)]
    embed()
    vector = Vector.objects.values_list("data", flat=True).get(state="ready")
    n = advance_clock(project.pk, DEFAULT_MODEL)
    Vector.objects.filter(state="none").update(state="ready", data=vector, words=b"\1" * 48, n=n)
    VectorClock.objects.update(read_by="")
    return facts


def states(project):
    return sorted(Vector.objects.filter(project=project).values_list("state", flat=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cache is cleared.", True),
        ("Größe, naïve, İzmir, Đà Nẵng", True),
        ("ทีมใช้ PostgreSQL และ Redis", True),
        ("5432", True),
        (SERVER, False),
        ("我们的数据库在东京", False),
        ("データベースはどこ", False),
        ("데이터베이스", False),
        ("База данных", False),
        ("Η βάση δεδομένων", False),
        ("قاعدة البيانات", False),
        ("מסד נתונים", False),
        ("डेटाबेस", False),
        ("😀🚀", False),
        ("?!", False),
        ("", False),
    ],
)
def test_what_the_built_in_model_can_read(text, expected):
    assert OnnxMiniLM().can_read(text) is expected


def test_a_text_without_tokens_is_done_with_and_never_tried_again(project, actor, write, embed):
    fact = write(SERVER)
    write(ENGLISH)
    assert embed() == 2
    assert states(project) == ["none", "ready"]
    assert get_embedding_states(project.pk, [fact.content_hash])[fact.content_hash] == ("none", DEFAULT_MODEL)
    rows = Vector.objects.get(content_hash=fact.content_hash)
    assert (rows.data, rows.words, rows.text, rows.error) == (None, None, "", "")
    EmbeddingEngine().want_missing(project.pk)
    with open_commit(actor, "main", "restore") as commit:
        enqueue_missing(commit, [fact])
    assert (embed(), EmbeddingEngine().embed_due(), EmbeddingEngine().reembed_all(project.pk)) == (0, 0, 0)
    assert states(project) == ["none", "ready"]
    backlog = EmbeddingEngine().count_backlog(project.pk)
    assert (backlog["pending"], backlog["failed"], backlog["error"]) == (0, 0, "")


def test_search_of_both_kinds(actor, write, embed):
    thai, english = write(SERVER), write(ENGLISH)
    embed()
    search = SearchEngine().search
    found = search(query="ฐานข้อมูลอยู่ที่ไหน", actor=actor)
    assert ([hit.fact.uid for hit in found.hits], found.signals_used) == ([thai.uid], ["keyword"])
    assert search(query="สวัสดีครับ", actor=actor).hits == []
    found = search(query="vault สิงคโปร์ server", actor=actor)
    assert {hit.fact.uid for hit in found.hits} == {thai.uid, english.uid}
    assert [hit.fact.uid for hit in search(query="when is the vault rotated", actor=actor).hits] == [
        english.uid
    ]
    query = build_query("ฐานข้อมูล", actor.project_id)
    assert (query.vector, query.model) == (None, "")  # not as where an embedder fails


def test_near_duplicates_are_asked_about_by_their_words(project, write, embed):
    texts = (SERVER, SERVER + "ครับ", SCHOOL, "พอร์ตของฐานข้อมูลคือ 5432", "พอร์ตของฐานข้อมูลคือ 5433")
    facts = [write(text) for text in texts]
    embed()
    assert NearDuplicateEngine().check_pending(project.pk) == len(texts)
    asked = {(one.fact_id, one.other_id): one.details for one in ReviewItem.objects.all()}
    assert asked.keys() == {(facts[1].uid, facts[0].uid), (facts[4].uid, facts[3].uid)}
    assert {details["model"] for details in asked.values()} == {"words"}
    assert asked[facts[4].uid, facts[3].uid]["same"] is False
    assert not NearCheck.objects.exists()


def test_a_merge_compares_by_words(project, actor, write, embed):
    BranchManager().create_branch(name="task/one", actor=actor)
    port = write("พอร์ตของฐานข้อมูลคือ 5432")
    write(SERVER)
    arriving = [write(text, "task/one") for text in (SCHOOL, "พอร์ตของฐานข้อมูลคือ 5433")]
    embed()
    source, target = (find_branch(actor, name).lineage() for name in ("task/one", "main"))
    found = find_pairs(arriving, source=source, target=target, project_id=project.pk, exclude=[])
    assert (found.unchecked, found.reason) == ([], Reason.NONE)
    assert {uid: (pair.other_uid, pair.kind) for uid, pair in found.found.items()} == {
        arriving[1].uid: (port.uid, Kind.CONTESTED)
    }
    assert (
        find_pairs(arriving[:1], source=source, target=target, project_id=project.pk, exclude=[]) == Pairs()
    )


def test_vectors_of_an_earlier_release_go_at_the_start_once(project, old_store, actor):
    assert SearchEngine().search(query="hello", actor=actor, search_type="vector").hits != []
    EmbeddingEngine().want_missing(project.pk)
    assert states(project) == ["none", "none", "ready"]
    found = SearchEngine().search(query="vault", actor=actor, search_type="vector").hits
    assert [hit.fact.uid for hit in found] == [old_store[2].uid]
    assert VectorClock.objects.get(project=project).read_by == DEFAULT_MODEL
    Vector.objects.filter(content_hash=old_store[0].content_hash).update(state="ready")
    EmbeddingEngine().want_missing(project.pk)
    assert states(project) == ["none", "ready", "ready"]  # nobody looked again


def test_a_sweep_that_was_stopped_goes_on(project, old_store, monkeypatch):
    monkeypatch.setattr(unread, "BATCH_SIZE", 1)

    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    provider = OnnxMiniLM()
    with pytest.raises(KeyboardInterrupt):
        unread.forget_unread(project.pk, provider, stop)
    assert states(project) == ["none", "ready", "ready"]
    assert VectorClock.objects.get(project=project).read_by == ""
    assert unread.forget_unread(project.pk, provider) == 1
    assert states(project) == ["none", "none", "ready"]


@only_on_sqlite
@pytest.mark.slow
def test_a_check_names_such_vectors_and_its_repair_takes_them(project, old_store, copies_open):
    VectorClock.objects.update(read_by=DEFAULT_MODEL)
    report = CheckEngine().check_store(["vectors"])
    assert report.count_problems() == {"vector_of_an_unread_text": 2}
    assert repair_store(plan_repair(report), lambda *_: None) == {"vector_of_an_unread_text": ""}
    assert states(project) == ["none", "none", "ready"]
    assert CheckEngine().check_store(["vectors"]).count_problems() == {}


def test_conversations_of_such_texts_are_compared_by_words(project):
    class Message:
        def __init__(self, content):
            self.content = self.content_hash = content

    found = compare_texts(project.pk, [Message(SERVER)], [Message(SERVER + "ครับ"), Message(SCHOOL)])
    assert found.method == BY_WORDS
    assert found.matrix[0, 0] > 0.8 > 0.3 > found.matrix[0, 1]
