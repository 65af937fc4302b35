"""The built-in model, and a model at a path."""

import json
import threading

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.providers import onnx_minilm
from memory.providers.embedding import get_provider
from memory.providers.onnx_minilm import OnnxMiniLM


def cosine(left, right):
    return float(left @ right)


@pytest.fixture(scope="module")
def minilm():
    return OnnxMiniLM()


class TestLocalModel:
    def test_name_and_dimensions_are_known_before_the_model_is_read(self):
        fresh = OnnxMiniLM()
        assert (fresh.model, fresh.dimensions) == ("minilm-l6-int8", 384)

    def test_no_texts_give_no_rows(self, minilm):
        assert minilm.embed([]).shape == (0, 384)

    def test_rows_are_float32_of_length_one(self, minilm):
        vectors = minilm.embed(["The cat sat on the mat.", "", "\0", "日本語", "\ud800", "word " * 300])
        assert vectors.shape == (6, 384)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)

    def test_the_same_text_gives_the_same_row(self, minilm):
        text = "Caroline went to the support group on 7 May 2023."
        assert np.array_equal(minilm.embed([text]), minilm.embed([text]))

    @pytest.mark.slow
    def test_a_row_does_not_depend_on_its_batch(self, minilm):
        texts = [f"{'note ' * (at * 7 % 40)}number {at}" for at in range(70)] + ["", "long " * 700]
        single = np.concatenate([minilm.embed([text]) for text in texts])
        np.testing.assert_allclose(minilm.embed(texts), single, atol=1e-4)

    def test_the_first_numbers_are_those_of_the_original_model(self, minilm):
        vector = minilm.embed(["hello world"])[0]
        original = [-0.0345, 0.0310, 0.0067, 0.0261, -0.0394, -0.1603]  # all-MiniLM-L6-v2 in float32
        np.testing.assert_allclose(vector[:6], original, atol=0.01)

    def test_meaning_counts_more_than_words(self, minilm):
        base, near, far = minilm.embed(
            ["The build fails on Windows.", "Compilation breaks under Win32.", "The soup needs more salt."]
        )
        assert cosine(base, near) > cosine(base, far) + 0.3

    def test_the_end_of_a_long_text_counts(self, minilm):
        filler = "The weather was mild and nothing happened that day. " * 60
        plain, with_end, end = minilm.embed(
            [filler, filler + "The database password is rotated monthly. " * 40, "database password rotation"]
        )
        assert cosine(with_end, end) > cosine(plain, end) + 0.1

    def test_a_text_of_20_000_characters_is_seen_to_its_end(self, minilm):
        filler = ("The weather was mild and nothing happened. " * 500)[:17_000]
        text = filler + ("Database passwords rotate monthly. " * 100)[:3_000]
        plain, vector, end = minilm.embed([filler, text, "database password rotation"])
        assert len(text) == 20_000
        assert cosine(vector, end) > cosine(plain, end)

    def test_threads_share_one_model(self, monkeypatch):
        loads, fresh, real = [], OnnxMiniLM(), onnx_minilm.create_session
        monkeypatch.setattr(
            onnx_minilm, "create_session", lambda path, threads: loads.append(path) or real(path, threads)
        )
        threads = [threading.Thread(target=fresh.embed, args=(["hi"],)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert loads == [None]

    def test_a_model_of_another_checksum_is_refused(self, monkeypatch):
        monkeypatch.setattr(onnx_minilm, "DEFAULT_SHA256", "0" * 64)
        with pytest.raises(ProviderUnavailable, match="sha256 differs"):
            OnnxMiniLM().embed(["hi"])

    @pytest.mark.parametrize("is_cut", [False, True])
    def test_a_file_that_is_no_model_or_was_cut_is_unavailable(self, tmp_path, is_cut):
        path = tmp_path / "broken.onnx"
        path.write_bytes(onnx_minilm.read_default_model()[:100_000] if is_cut else b"not a model")
        with pytest.raises(ProviderUnavailable, match="cannot be loaded"):
            OnnxMiniLM(path).embed(["hi"])


class TestModelAtAPath:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "own-model.onnx"
        path.symlink_to(onnx_minilm.find_default_model())
        return path

    def test_name_holds_the_files_hash_and_vectors_equal(self, path):
        own = OnnxMiniLM(path)
        assert (own.model, own.dimensions) == ("onnx:own-model:8199be6f", None)
        assert np.array_equal(own.embed(["hi there"]), OnnxMiniLM().embed(["hi there"]))
        assert own.dimensions == 384

    def test_prefixes_beside_it_stand_before_queries_and_texts_and_are_no_words(self, path):
        settings = {"query_prefix": "query: ", "passage_prefix": "passage: ", "floor": 0.7, "dimensions": 384}
        path.with_suffix(".json").write_text(json.dumps(settings))
        own, plain = OnnxMiniLM(path), OnnxMiniLM()
        assert (own.floor, plain.floor) == (0.7, 0.0)
        assert own.model.startswith("onnx:own-model:8199be6f:")
        vectors, words = own.embed_words(["red car"])
        np.testing.assert_allclose(vectors[0], plain.embed(["passage: red car"])[0], atol=1e-6)
        query, query_words = own.query_words("red car")
        np.testing.assert_allclose(query, plain.query_words("query: red car")[0], atol=1e-6)
        assert (len(words[0]), len(query_words)) == (2 * 384 // 8, 2)

    def test_other_prefixes_are_another_model(self, path):
        names = set()
        for prefix in ("", "a: ", "b: "):
            path.with_suffix(".json").write_text(json.dumps({"query_prefix": prefix}))
            names.add(OnnxMiniLM(path).model)
        assert len(names) == 3

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("{", "cannot be read"),
            ("[]", "is no object"),
            ('{"prefix": "x"}', "knows dimensions, floor, passage_prefix, query_prefix, not prefix"),
            ('{"floor": 1}', "floor cannot be 1"),
            ('{"floor": true}', "floor cannot be True"),
            ('{"dimensions": 7}', "dimensions cannot be 7"),
            ('{"query_prefix": 3}', "query_prefix cannot be 3"),
        ],
    )
    def test_settings_that_cannot_be_are_refused(self, path, text, reason):
        path.with_suffix(".json").write_text(text)
        with pytest.raises(ImproperlyConfigured, match=reason):
            OnnxMiniLM(path)

    def test_vectors_of_another_length_than_the_settings_say_are_refused(self, path):
        path.with_suffix(".json").write_text('{"dimensions": 768}')
        with pytest.raises(ProviderNonsense, match="gives 384 numbers, and its settings say 768"):
            OnnxMiniLM(path).embed(["hi"])

    @pytest.mark.parametrize("content", [b"not a model", b""])
    def test_a_file_that_is_no_model_is_told_at_the_start(self, tmp_path, settings, content):
        path = tmp_path / "broken.onnx"
        path.write_bytes(content)
        settings.DAY1 = {**settings.DAY1, "embedder": str(path)}
        with pytest.raises(ImproperlyConfigured, match="is no ONNX model"):
            get_provider()

    def test_the_vocabulary_beside_it_is_used(self, path):
        path.with_name("vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\n")
        own = OnnxMiniLM(path)
        assert np.array_equal(own.embed(["one"]), own.embed(["two"]))  # both are [UNK]
        assert not np.array_equal(own.embed(["one"]), own.embed(["hello"]))

    def test_a_useless_vocabulary_beside_it_is_told(self, path):
        path.with_name("vocab.txt").write_text("hello\n")
        with pytest.raises(ProviderUnavailable, match=r"no \[PAD\]"):
            OnnxMiniLM(path).embed(["hi"])


@pytest.mark.parametrize(
    ("query", "count"),
    [("账本用什么数据库？", 0), ("the ledger 账本 database", 2), ("ledger database", 2), ("データベース", 0)],
)
def test_words_of_scripts_without_spaces_are_not_matched_by_the_default_model(query: str, count: int) -> None:
    vector, words = OnnxMiniLM().query_words(query)
    assert (vector.shape, words.shape) == ((384,), (count, 384))
