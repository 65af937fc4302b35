"""Embedding providers: a server with the OpenAI API, the choice by settings, and cached queries."""

import json
import re
import socket
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from werkzeug import Response

from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.providers.chat import ChatServer, Message
from memory.providers.embedding import find_provider, get_provider, read_query
from memory.providers.metering import Tokens, paying
from memory.providers.openai_compat import OpenAICompatible
from memory.providers.openai_server import MAX_ABANDONED_REQUESTS
from memory.providers.tool_chat import ToolChatServer
from tests.memory.fake_provider import dripping
from tests.systems import needs_fork
from tests.waiting import TIMEOUT_SECONDS

FORK = """
import os
from memory.providers.onnx_minilm import OnnxMiniLM
model = OnnxMiniLM()
model.embed(["in the parent"])
child = os.fork()
if child == 0:
    print(model.embed(["in the child"]).shape, flush=True)
    os._exit(0)  # as Celery and multiprocessing end theirs
for _ in range(150):
    if os.waitpid(child, os.WNOHANG)[0]:
        os._exit(0)
    __import__("time").sleep(0.1)
os.kill(child, 9)
os._exit(1)
"""


KEY = "sk-proj-verysecret"


def answer(*rows, order=None):
    order = order or range(len(rows))
    return {
        "object": "list",
        "model": "m",
        "data": [{"object": "embedding", "index": at, "embedding": rows[at]} for at in order],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


class Purse:
    """A payer without a budget, which knows what was bought."""

    def __init__(self):
        self.spent = []

    def buy(self, expected):
        return self

    def settle(self, spent):
        self.spent.append(spent)


@pytest.fixture(autouse=True)
def purse():
    purse = Purse()
    with paying(purse):
        yield purse


@pytest.fixture
def server(httpserver, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return httpserver


@pytest.fixture
def remote(server):
    def build(dimensions=0, timeout=TIMEOUT_SECONDS, base_url=None, key=KEY, **more):
        return OpenAICompatible(base_url or server.url_for("/v1"), key, "m", dimensions, timeout, **more)

    return build


def embeddings(server):
    return server.expect_request("/v1/embeddings", method="POST")


class TestServer:
    def test_sends_what_the_api_asks_for(self, server, remote):
        embeddings(server).respond_with_json(answer([3.0, 4.0]))
        provider = remote(dimensions=2)
        np.testing.assert_allclose(provider.embed(["hi"]), [[0.6, 0.8]])
        request = server.log[0][0]
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        assert request.json == {"model": "m", "input": ["hi"], "encoding_format": "float", "dimensions": 2}
        assert (provider.model, provider.dimensions) == ("openai:m:2", 2)

    def test_dimensions_are_unknown_until_the_first_answer(self, server, remote):
        embeddings(server).respond_with_json(answer([1, 0, 0]))
        provider = remote()
        assert (provider.model, provider.dimensions) == ("openai:m", None)
        vectors = provider.embed(["hi"])
        assert (provider.dimensions, vectors.dtype) == (3, np.float32)
        assert "dimensions" not in server.log[0][0].json

    def test_rows_come_in_the_order_of_the_texts(self, server, remote):
        embeddings(server).respond_with_json(answer([1, 0], [0, 1], [-1, 0], order=[2, 0, 1]))
        np.testing.assert_array_equal(remote().embed(["a", "b", "c"]), [[1, 0], [0, 1], [-1, 0]])

    def test_no_texts_ask_nothing(self, server, remote):
        assert remote().embed([]).shape == (0, 0)
        assert remote(dimensions=7).embed([]).shape == (0, 7)
        assert server.log == []

    def test_many_texts_go_in_several_requests(self, server, remote):
        def respond(request):
            rows = [[float(text), 1.0] for text in request.json["input"]]
            return Response(json.dumps(answer(*rows)), content_type="application/json")

        embeddings(server).respond_with_handler(respond)
        vectors = remote(batch=2).embed(["1", "2", "3", "4", "5"])
        np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [1, 2, 3, 4, 5], rtol=1e-6)
        assert [len(request.json["input"]) for request, _ in server.log] == [2, 2, 1]

    def test_texts_that_a_server_would_refuse_are_made_sendable(self, server, remote):
        embeddings(server).respond_with_json(answer([1, 0], [0, 1]))
        remote().embed(["", "a\ud800b"])
        assert server.log[0][0].json["input"] == [" ", "a?b"]

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 422, 429, 500, 502, 503])
    def test_refusals_are_unavailable_and_never_tell_the_key(self, server, remote, status):
        words = f"key {KEY} is bad"
        embeddings(server).respond_with_json({"error": {"message": words}}, status=status)
        with pytest.raises(ProviderUnavailable, match=f"HTTP {status}") as caught:
            remote().embed(["hi"])
        assert type(caught.value) is ProviderUnavailable
        assert caught.value.data["status"] == status
        assert "retry_after" not in caught.value.data
        assert KEY not in "".join(traceback.format_exception(caught.value))
        assert len(server.log) == 1  # retries are the task's business

    @pytest.mark.parametrize("body", [{"error": {"message": "no m\nhere"}}, {"error": "no m\nhere"}])
    def test_the_servers_words_are_for_the_log_alone(self, server, remote, caplog, body):
        embeddings(server).respond_with_json(body, status=404)
        with pytest.raises(ProviderUnavailable) as caught:
            remote().embed(["hi"])
        assert caught.value.data == {
            "reason": "it does not know the address or the model (HTTP 404)",
            "status": 404,
        }
        assert r"answered HTTP 404: 'no m\nhere'" in caplog.text  # one line, whatever it says

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_a_redirect_is_not_followed(self, server, remote, status):
        """Nothing reaches the address behind it, by any of the three clients."""
        server.expect_request("/inner").respond_with_json({"error": {"message": "INNER-SECRET"}}, status=404)
        elsewhere = server.url_for("/inner").replace("localhost", "127.0.0.1")
        server.expect_request(re.compile("/v1/.*")).respond_with_data(
            "INNER-SECRET", status=status, headers={"Location": elsewhere}
        )
        url = server.url_for("/v1")
        for ask in (
            lambda: remote().embed(["hi"]),
            lambda: ChatServer(url, KEY, "m", 5.0).complete([Message("user", "hi")]),
            lambda: ToolChatServer(url, KEY, 5.0).take_step("m", [{"role": "user", "content": "hi"}], []),
        ):
            server.clear_log()
            with pytest.raises(ProviderUnavailable, match=rf"which is not followed \(HTTP {status}\)$"):
                ask()
            assert [request.path.startswith("/v1/") for request, _ in server.log] == [True]

    @pytest.mark.parametrize(("status", "words"), [(400, "no"), (413, ""), (500, "the input is too large")])
    def test_a_text_that_is_too_long_is_cut_for_its_vector(self, server, remote, status, words):
        def respond(request):
            if max(map(len, request.json["input"])) > 2000:
                return Response(json.dumps({"error": {"message": words}}), status=status)
            return Response(json.dumps(answer([3.0, 4.0])), content_type="application/json")

        embeddings(server).respond_with_handler(respond)
        np.testing.assert_allclose(remote().embed(["é" * 65_536]), [[0.6, 0.8]])
        np.testing.assert_allclose(remote().query_words("é" * 8000)[0], [0.6, 0.8])
        lengths = [len(request.json["input"][0]) for request, _ in server.log]
        assert lengths == [65_536, 24_000, 6000, 1500, 8000, 6000, 1500]

    def test_a_text_that_is_refused_at_every_length_is_refused(self, server, remote):
        embeddings(server).respond_with_json({}, status=400)
        with pytest.raises(ProviderUnavailable, match="HTTP 400"):
            remote().embed(["a" * 1000])
        assert [len(request.json["input"][0]) for request, _ in server.log] == [1000, 400]

    def test_an_error_page_in_html_is_unavailable(self, server, remote):
        embeddings(server).respond_with_data("<html>Bad gateway", status=502, content_type="text/html")
        with pytest.raises(ProviderUnavailable, match="HTTP 502"):
            remote().embed(["hi"])

    @pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("0.2", 1), ("-3", 0)])
    def test_retry_after_in_seconds(self, server, remote, header, seconds):
        embeddings(server).respond_with_json({}, status=429, headers={"Retry-After": header})
        with pytest.raises(ProviderUnavailable) as caught:
            remote().embed(["hi"])
        assert caught.value.data["retry_after"] == seconds

    @pytest.mark.parametrize("header", ["soon", "nan", "inf", "1e999"])
    def test_retry_after_that_says_nothing_is_left_out(self, server, remote, header):
        embeddings(server).respond_with_json({}, status=503, headers={"Retry-After": header})
        with pytest.raises(ProviderUnavailable) as caught:
            remote().embed(["hi"])
        assert "retry_after" not in caught.value.data

    def test_retry_after_as_a_date(self, server, remote):
        moment = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 60))
        embeddings(server).respond_with_json({}, status=429, headers={"Retry-After": moment})
        with pytest.raises(ProviderUnavailable) as caught:
            remote().embed(["hi"])
        assert 50 <= caught.value.data["retry_after"] <= 60

    def test_a_slow_server_is_given_up(self, server, remote):
        release = threading.Event()
        embeddings(server).respond_with_handler(lambda _: release.wait(TIMEOUT_SECONDS) and Response("{}"))
        with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.3 s"):
            remote(timeout=0.3).embed(["hi"])
        release.set()

    @pytest.mark.parametrize("pause", [0.1, 5.0])
    def test_a_server_whose_answer_drips_or_stops_is_given_up(self, server, remote, pause):
        def drip(request):
            def parts():
                yield b" "
                for _ in range(int(TIMEOUT_SECONDS / pause)):
                    if release.wait(pause):
                        break
                    yield b" "

            return Response(parts(), content_type="application/json")

        release = threading.Event()
        embeddings(server).respond_with_handler(drip)
        with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.5 s"):
            remote(timeout=0.5).embed(["hi"])
        release.set()

    @pytest.mark.slow
    @pytest.mark.parametrize("start", ["200 OK\r\nX-A: ", "400 No\r\nContent-Length: 99\r\n\r\n"])
    def test_headers_or_an_error_that_drip_are_given_up(self, remote, start):
        with dripping(f"HTTP/1.1 {start}".encode()) as url:
            before, slow = set(threading.enumerate()), remote(base_url=url, query_timeout=0.5)
            for _ in range(MAX_ABANDONED_REQUESTS):
                with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.5 s"):
                    slow.query_words("hi")
            for left in set(threading.enumerate()) - before:
                left.join(TIMEOUT_SECONDS)
                assert not left.is_alive()
            with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.5 s"):
                slow.query_words("hi")  # it is called again

    def test_an_answer_without_end_is_nonsense(self, server, remote):
        part = b" " * 2**20
        embeddings(server).respond_with_handler(lambda request: Response(part for _ in range(70)))
        with pytest.raises(ProviderNonsense, match="it is longer than 64 MiB"):
            remote(timeout=TIMEOUT_SECONDS).embed(["hi"])

    def test_a_query_waits_for_less_than_a_text(self, server, remote):
        release = threading.Event()
        embeddings(server).respond_with_handler(lambda _: release.wait(TIMEOUT_SECONDS) and Response("{}"))
        with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.3 s"):
            remote(timeout=TIMEOUT_SECONDS, query_timeout=0.3).query_words("hi")
        with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.2 s"):
            remote(timeout=0.2).query_words("hi")
        release.set()

    def test_a_server_that_is_down(self, remote):
        with socket.socket() as taken:  # bound, but not listening
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
            with pytest.raises(ProviderUnavailable, match="no connection"):
                remote(base_url=url).embed(["hi"])

    @pytest.mark.parametrize("url", ["not an address", "ftp://127.0.0.1/v1", "http://[bad/v1"])
    def test_a_bad_address_is_unavailable(self, remote, url):
        with pytest.raises(ProviderUnavailable, match="no connection"):
            remote(base_url=url).embed(["hi"])

    @pytest.mark.parametrize("key", ["sk-\nsecret", "sk-sécret", "sk-日本secret"])
    def test_a_key_that_is_no_header_is_not_told(self, server, remote, key):
        with pytest.raises(ProviderUnavailable) as caught:
            remote(key=key).embed(["hi"])
        assert "cret" not in "".join(traceback.format_exception(caught.value, chain=True)).replace(
            "secrets", ""
        )

    def test_a_key_with_a_line_end_works(self, server, remote):
        embeddings(server).respond_with_json(answer([1.0]))
        remote(key=f"{KEY}\n").embed(["hi"])
        assert server.log[0][0].headers["Authorization"] == f"Bearer {KEY}"


NONSENSE = {
    "html": "<html>Welcome</html>",
    "empty": "",
    "cut off": '{"data": [',
    "no data": "{}",
    "data is null": '{"data": null}',
    "a list": "[]",
    "a number": "5",
    "too few": json.dumps(answer([1, 0])),
    "too many": json.dumps(answer([1, 0], [0, 1], [1, 1])),
    "one index twice": json.dumps(answer([1, 0], [0, 1], order=[0, 0])),
    "index out of range": json.dumps(answer([1, 0], [0, 1], [1, 1], order=[0, 2])),
    "no index": '{"data": [{"embedding": [1]}, {"embedding": [2]}]}',
    "no vector": '{"data": [{"index": 0}, {"index": 1}]}',
    "different dimensions": json.dumps(answer([1, 0], [0, 1, 0])),
    "no dimension": json.dumps(answer([], [])),
    "NaN": '{"data": [{"index": 0, "embedding": [NaN, 1]}, {"index": 1, "embedding": [0, 1]}]}',
    "infinity": '{"data": [{"index": 0, "embedding": [1e999, 1]}, {"index": 1, "embedding": [0, 1]}]}',
    "huge": json.dumps(answer([10**400, 1], [0, 1])),
    "zero": json.dumps(answer([0, 0], [0, 1])),
    "text": json.dumps(answer(["1", "0"], ["0", "1"])),
    "base64": json.dumps(answer("AAAAAA==", "AAAAAA==")),
    "null": json.dumps(answer([None, 1], [0, 1])),
    "truth": json.dumps(answer([True, False], [0, 1])),
    "nested": json.dumps(answer([[1, 0]], [[0, 1]])),
    "deep": "[" * 200_000,
}


class TestNonsense:
    @pytest.mark.parametrize("body", NONSENSE.values(), ids=NONSENSE.keys())
    @pytest.mark.parametrize("kind", ["application/json", "text/html"])
    def test_an_answer_that_cannot_be_used(self, server, remote, body, kind):
        embeddings(server).respond_with_data(body, content_type=kind)
        provider = remote()
        with pytest.raises(ProviderNonsense):
            provider.embed(["a", "b"])
        assert provider.dimensions is None  # nothing is learnt from an invalid response

    def test_bytes_that_are_no_text(self, server, remote):
        embeddings(server).respond_with_data(b"\xff\xfe\x00{", content_type="application/json")
        with pytest.raises(ProviderNonsense):
            remote().embed(["a"])

    def test_another_dimension_than_asked(self, server, remote):
        embeddings(server).respond_with_json(answer([1, 0, 0]))
        with pytest.raises(ProviderNonsense, match="vectors of 3 dimensions came, not 2"):
            remote(dimensions=2).embed(["a"])

    def test_another_dimension_than_before(self, server, remote):
        server.expect_ordered_request("/v1/embeddings").respond_with_json(answer([1, 0]))
        server.expect_ordered_request("/v1/embeddings").respond_with_json(answer([1, 0, 0]))
        provider = remote()
        provider.embed(["a"])
        with pytest.raises(ProviderNonsense, match="3 dimensions came, not 2"):
            provider.embed(["a"])

    def test_large_numbers_that_are_finite_are_fine(self, server, remote):
        embeddings(server).respond_with_json(answer([3e30, 4e30]))
        np.testing.assert_allclose(remote().embed(["a"]), [[0.6, 0.8]], rtol=1e-6)


class TestChoice:
    def test_the_local_model_needs_no_settings(self, settings):
        settings.DAY1 = {}
        assert get_provider().model == "minilm-l6-int8"

    def test_one_instance_also_when_other_settings_differ(self, settings):
        settings.DAY1 = {}
        first = get_provider()
        settings.DAY1 = {"recipe": "other"}
        assert get_provider() is first

    def test_off(self, settings):
        settings.DAY1 = {"embedder": "off"}
        assert get_provider() is None

    def test_openai(self, settings):
        settings.DAY1 = {"embedder": "openai", "embedding_api_key": KEY, "embedding_dimensions": 256}
        assert get_provider().model == "openai:text-embedding-3-small:256"
        assert get_provider() is get_provider()

    @pytest.mark.parametrize("key", ["", "  \n"])
    def test_openai_without_a_key(self, settings, key):
        settings.DAY1 = {"embedder": "openai", "embedding_api_key": key}
        with pytest.raises(ImproperlyConfigured, match="embedding_api_key"):
            get_provider()

    @pytest.mark.parametrize("embedder", ["miniln", "/no/such/model.onnx", "", "/"])
    def test_a_path_that_does_not_exist(self, settings, embedder):
        settings.DAY1 = {"embedder": embedder}
        with pytest.raises(ImproperlyConfigured, match="nor a file that exists"):
            get_provider()

    def test_a_path(self, settings, tmp_path):
        path = tmp_path / "own.onnx"
        path.write_bytes(b"\x08")
        settings.DAY1 = {"embedder": str(path)}
        assert get_provider().model == "onnx:own:beead779"

    @pytest.mark.parametrize(
        ("embedder", "model", "found"),
        [
            ("openai", "openai:another-one", True),
            ("openai", "openai:nomic-embed-text:latest", True),
            ("openai", "openai:text-embedding-3-small:256", True),
            ("openai", "minilm-l6-int8", True),
            ("minilm", "openai:text-embedding-3-small", False),  # no text goes to it any more
            ("new.onnx", "onnx:own:beead779", True),
            ("new.onnx", "onnx:own:00000000", False),  # another file under that name
            ("new.onnx", "onnx:gone:beead779", False),
            ("minilm", "onnx:own:beead779", False),
            ("minilm", "of another program", False),
        ],
    )
    def test_the_model_before_is_found_by_its_name(self, settings, tmp_path, embedder, model, found):
        for name in ("own.onnx", "new.onnx"):
            (tmp_path / name).write_bytes(b"\x08")
        path = tmp_path / embedder
        settings.DAY1 = {
            "embedder": str(path) if path.suffix else embedder,
            "embedding_api_key": KEY,
            "embedding_dimensions": 64,
        }
        assert getattr(find_provider(model), "model", None) == (model if found else None)

    @needs_fork
    def test_a_forked_child_can_embed(self):
        ended = subprocess.run(
            [sys.executable, "-c", FORK], timeout=TIMEOUT_SECONDS, capture_output=True, text=True
        )
        assert (ended.returncode, ended.stdout) == (0, "(1, 384)\n"), ended.stderr


class TestQuery:
    @pytest.fixture
    def asked(self, server, settings):
        settings.DAY1 = {
            "embedder": "openai",
            "embedding_api_key": KEY,
            "embedding_base_url": server.url_for("/v1"),
        }
        embeddings(server).respond_with_json(answer([3, 4]))
        return lambda: len(server.log)

    def test_the_same_query_is_asked_once(self, asked):
        first, words = read_query(get_provider(), "where?")
        np.testing.assert_allclose(first, [0.6, 0.8], rtol=1e-6)
        assert words is None
        assert read_query(get_provider(), "where?")[0] is first
        assert asked() == 1
        read_query(get_provider(), "when?")
        assert asked() == 2

    def test_a_shared_vector_cannot_be_changed(self, asked):
        with pytest.raises(ValueError, match="read-only"):
            read_query(get_provider(), "where?")[0][0] = 0

    def test_another_model_is_asked_anew(self, asked, settings):
        read_query(get_provider(), "where?")
        settings.DAY1 = {**settings.DAY1, "embedding_model": "other"}
        read_query(get_provider(), "where?")
        assert asked() == 2

    def test_a_failure_is_not_remembered(self, server, settings, asked):
        server.clear()
        server.expect_ordered_request("/v1/embeddings").respond_with_json({}, status=503)
        server.expect_ordered_request("/v1/embeddings").respond_with_json(answer([1, 0]))
        with pytest.raises(ProviderUnavailable):
            read_query(get_provider(), "where?")
        np.testing.assert_array_equal(read_query(get_provider(), "where?")[0], [1, 0])


class TestWhatIsPaid:
    def test_an_answer_costs_what_its_server_tells(self, server, remote, purse):
        server.expect_request("/v1/embeddings").respond_with_json(answer([1.0, 0.0]))
        remote().embed(["a text of some words"])
        assert purse.spent == [Tokens(1, 0)]

    def test_a_refusal_costs_nothing(self, server, remote, purse):
        server.expect_request("/v1/embeddings").respond_with_data("no", status=429)
        with pytest.raises(ProviderUnavailable):
            remote().embed(["a text"])
        assert purse.spent == [Tokens()]

    def test_what_was_not_sent_costs_nothing(self, remote, purse):
        with pytest.raises(ProviderUnavailable):
            remote(base_url="http://127.0.0.1:1/v1").embed(["a text"])
        assert purse.spent == [Tokens()]

    def test_what_did_not_arrive_in_time_is_estimated(self, server, remote, purse):
        server.expect_request("/v1/embeddings").respond_with_handler(
            lambda _: time.sleep(1) or Response("{}")
        )
        with pytest.raises(ProviderUnavailable, match="no answer within"):
            remote(timeout=0.2).embed(["a text"])
        assert purse.spent == [Tokens(3, 0, are_estimated=True)]
