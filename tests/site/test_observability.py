"""What an operator reads of three processes that serve: figures, log lines, one id for a request, spans."""

import json
import os
import re
import signal
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError

import pytest
from prometheus_client.parser import text_string_to_metric_families
from werkzeug import Response

from day1site.request_log import name_route
from memory.metrics import METRICS
from tests.curation.fake_judge import FakeJudge
from tests.http_doubles import DoubleServer
from tests.site.test_processes import Client
from tests.systems import needs_fork, needs_proc
from tests.up_process import ROOT, Up, prepared
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, needs_fork, needs_proc]
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture(scope="module")
def collector() -> Iterator[DoubleServer]:
    with DoubleServer(host="127.0.0.1", port=0) as server:
        server.expect_request("/v1/traces", method="POST").respond_with_response(Response(b""))
        yield server


@pytest.fixture(scope="module")
def judge() -> Iterator[FakeJudge]:
    with FakeJudge() as server:
        yield server


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, collector: DoubleServer, judge: FakeJudge
) -> Iterator[Up]:
    told = {"DAY1_PROCESSES": "3", "DAY1_LOG_FORMAT": "json", "DAY1_ACCESS_LOG": "true"}
    told |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url_for(""), "OTEL_BSP_SCHEDULE_DELAY": "100"}
    told |= {f"DAY1_{name.upper()}": str(value) for name, value in judge.settings().items()}
    server = Up(prepared(tmp_path_factory.mktemp("operated") / "data"), **told)
    try:
        yield server.ready()
    finally:
        server.end()


@pytest.fixture(scope="module")
def key(running: Up) -> str:
    """Return a key that reads the figures and nothing else."""
    return running.run_python(
        "from memory.actors import Actor, NO_PROJECT\n"
        "from memory.engines.access.keys import KeyEngine\n"
        "keeper = Actor(NO_PROJECT, 'local', label='local', scopes=frozenset({'server'}))\n"
        "print(KeyEngine().create_key(label='prometheus', scopes=['metrics'], actor=keeper)[1])"
    ).strip()


def read_metrics(server: Up, key: str) -> dict[tuple[str, ...], float]:
    """Return each figure by its name and the values of its labels, as Prometheus reads them."""
    text = server.get("/metrics", Authorization=f"Bearer {key}")[1].decode()
    samples = (one for family in text_string_to_metric_families(text) for one in family.samples)
    return {(one.name, *one.labels.values()): one.value for one in samples}


def await_lines(server: Up, text: str, count: int = 1) -> list[dict[str, Any]]:
    """Return the lines of the access log with a text; they come after the answer."""
    lines: list[str] = []

    def find() -> bool:
        lines[:] = [line for line in server.output().splitlines() if '"day1.access"' in line and text in line]
        return len(lines) >= count

    wait_until(find)
    return [json.loads(line) for line in lines]


def test_figures_of_all_processes_are_as_counted_outside(running: Up, key: str) -> None:
    before = read_metrics(running, key)
    for number, process in enumerate(running.processes):
        client = Client(running, process)  # which asks /health/live once
        for text in range(number + 1):
            client.write(f"Fact {number} {text} of the process.")
        client.search("process")
        assert client.send("GET", "/api/v1/facts/none")[0] == 400
        assert client.send("GET", f"/made-up-{number}")[0] == 404
    after = read_metrics(running, key)
    counted = {name: value - before.get(name, 0) for name, value in after.items()}
    requests = "day1_http_requests_total"
    assert counted[requests, "POST", "/api/v1/facts", "201"] == 6
    assert counted[requests, "GET", "/api/v1/facts/search", "200"] == 3
    assert counted[requests, "GET", "/api/v1/facts/{pk}", "400"] == 3
    assert counted[requests, "GET", "/api/v1/health/live", "200"] == 3
    assert counted[requests, "GET", "unmatched", "404"] == 3
    assert counted["day1_commits_total", "fact.write"] == 6
    assert counted["day1_http_request_seconds_count", "/api/v1/facts"] == 6
    assert counted["day1_search_part_seconds_count", "whole"] == 3
    assert after["day1_queue_set_aside",] == 0
    assert after["day1_log_bytes",] > 0


def test_what_models_cost_is_as_the_model_counts(running: Up, key: str, judge: FakeJudge) -> None:
    running.run_python(
        "from memory.actors import local_actor\n"
        "from memory.engines.access.projects import ProjectEngine\n"
        "from memory.models import Project\n"
        "project = Project.objects.get(slug='default')\n"
        "actor, limits = local_actor(project.pk), {'model_calls': 2}\n"
        "ProjectEngine().update_project(actor=actor, project_slug='default', limits=limits)"
    )
    before, client = read_metrics(running, key), Client(running, running.processes[0])
    for word in ("Tea", "Coffee", "Bread"):
        client.write(f"{word} is bought on Mondays at the market.")
    told = {"Content-Type": "application/json"}
    assert client.send("POST", "/api/v1/verification/batch", b"{}", **told)[0] == 202
    calls = "day1_model_calls_total"
    wait_until(lambda: read_metrics(running, key).get((calls, "refused")))
    after = read_metrics(running, key)
    counted = {name: after[name] - before.get(name, 0) for name in after if name[0].startswith("day1_model")}
    assert counted[calls, "sent"] == len(judge.prompts) == 2
    assert counted["day1_model_tokens_total", "sent"] == 200
    assert counted["day1_model_tokens_total", "answered"] == 20


def test_an_open_stream_is_counted_until_its_process_is_gone(running: Up, key: str) -> None:
    process = running.processes[0]
    client = Client(running, process)
    client.wire.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {client.key}"})
    assert client.wire.getresponse().status == 200
    assert read_metrics(running, key)["day1_streams", "/api/v1/events"] == 1
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: process not in running.processes and len(running.processes) == 3)
    assert read_metrics(running, key).get(("day1_streams", "/api/v1/events"), 0) == 0


def test_figures_are_for_keys_of_the_server(running: Up, key: str) -> None:
    for headers, status in (({}, 401), ({"Authorization": f"Bearer {running.first['key']}"}, 403)):
        with pytest.raises(HTTPError) as refused:
            running.get("/metrics", **headers)
        assert refused.value.code == status
    for path in ("/api/v1/projects", "/api/v1/server/trail", "/api/v1/keys", "/api/v1/facts"):
        with pytest.raises(HTTPError) as refused:
            running.get(path, Authorization=f"Bearer {key}")
        assert refused.value.code == 403


def test_one_id_stands_in_answer_problem_log_and_audit(running: Up) -> None:
    client = Client(running, running.processes[0])
    headers = {"X-Request-Id": "proxy-17", "Content-Type": "application/json"}
    assert client.send("POST", "/api/v1/facts", b'{"fact_text": "Said once."}', **headers)[0] == 201
    status, body = client.send("POST", "/api/v1/facts", b"{}", **headers)
    assert (status, json.loads(body)["request_id"]) == (400, "proxy-17")
    _, body = client.send("GET", "/api/v1/facts/none", **{"X-Request-Id": "two words"})
    made = json.loads(body)["request_id"]
    assert len(made) == 32
    lines = await_lines(running, "proxy-17", 2)
    assert [one["message"].rpartition(" in ")[0] for one in lines] == [
        "POST /api/v1/facts 201",
        "POST /api/v1/facts 400",
    ]
    assert await_lines(running, made)[0]["level"] == "INFO"
    found = running.run_python(
        "from memory.models import AuditEntry\n"
        "print([*AuditEntry.objects.filter(request_id='proxy-17').values_list('action', flat=True)])"
    )
    assert found.strip() == "['fact.write']"


def test_the_log_does_not_tell_the_secret_of_a_link(running: Up) -> None:
    with pytest.raises(HTTPError):
        running.get("/login/very-secret")
    (line,) = await_lines(running, "/login/")
    assert line["message"].startswith("GET /login/{secret} 404 in ")


def test_spans_are_named_after_methods_and_belong_to_the_callers_trace(
    running: Up, collector: DoubleServer
) -> None:
    client = Client(running, running.processes[0])
    headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "Content-Type": "application/json"}
    assert client.send("POST", "/api/v1/facts", b'{"fact_text": "Traced."}', **headers)[0] == 201

    def sent() -> bool:
        bodies = [request.get_data() for request, _ in collector.log]
        return any(b"FactEngine.write_fact" in body and bytes.fromhex(TRACE) in body for body in bodies)

    wait_until(sent)


def test_the_dashboard_asks_for_what_is_counted(running: Up, key: str) -> None:
    dashboard = (ROOT / "deploy/grafana.json").read_text()
    requested = {
        re.sub("_(total|bucket|sum|count)$", "", name) for name in re.findall(r"day1_\w+", dashboard)
    }
    assert requested <= {*METRICS, *(name for name, *_ in read_metrics(running, key))}


@pytest.mark.parametrize(
    ("route", "named"),
    [
        ("api/v1/^facts/(?P<pk>[^/.]+)/?$", "/api/v1/facts/{pk}"),
        ("p/<slug:slug>/facts/<uuid:fact_id>", "/p/{slug}/facts/{fact_id}"),
        ("", "/"),
    ],
)
def test_a_route_is_named_as_people_write_it(route: str, named: str) -> None:
    assert name_route(route) == named


def test_each_answer_tells_what_is_left_of_limits(running: Up) -> None:
    """All processes count together."""
    clients = [Client(running, process) for process in running.processes[:2]]
    fresh = running.run_python(
        "from memory.actors import local_actor\n"
        "from memory.engines.access.keys import KeyEngine\n"
        "from memory.models import Project\n"
        "actor = local_actor(Project.objects.get(slug='default').pk)\n"
        "print(KeyEngine().create_key(label='counted', scopes=['read'], actor=actor)[1])"
    ).strip()
    policies, left, resets = set(), [], []
    for client in (*clients, clients[0]):
        client.wire.request("GET", "/api/v1/branches", headers={"Authorization": f"Bearer {fresh}"})
        answer = client.wire.getresponse()
        answer.read()
        policies.add(answer.headers["RateLimit-Policy"])
        state = re.fullmatch(r'"key_requests";r=(\d+);t=(\d+)', answer.headers["RateLimit"])
        assert state
        assert 0 < int(state[2]) <= 60
        left.append(int(state[1]))
        resets.append(int(state[2]))
    assert policies == {'"key_requests";q=6000;w=60'}
    assert max(left) < 6000
    if resets == sorted(resets, reverse=True):  # all in one minute
        assert left == [5999, 5998, 5997]
