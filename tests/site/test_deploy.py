"""The recipe of the image, compose, and the chart, rendered where the library of Helm is installed."""

import tomllib
from typing import Any

import pytest
import yaml

from day1site import __version__
from tests.up_process import ROOT

CHART = ROOT / "deploy" / "chart"
SERVER = {
    "DATABASE_URL": "matrixone://dump:111@matrixone:6001/day1",
    "DAY1_BROKER_URL": "redis://redis/0",
    "DAY1_CACHE_URL": "redis://redis/1",
    "DAY1_SECRET_KEY": "k" * 50,
}
HOSTS = {"hosts": ["memory.example.org"], "secrets": {"DAY1_SECRET_KEY": "k"}, "ingress": {"enabled": True}}
WANTED = {
    "one pod": ({}, ["Service day1", "StatefulSet day1 1"]),
    "a name": (HOSTS, ["Ingress day1", "Secret day1", "Service day1", "StatefulSet day1 1"]),
    "a server": (
        {"secrets": SERVER, "web": {"replicas": 3}, "worker": {"replicas": 2}},
        [
            "Deployment day1-beat 1",
            "Deployment day1-worker 2",
            "Secret day1",
            "Service day1",
            "StatefulSet day1 3",
        ],
    ),
}
REFUSED = {
    "web.replicas: SQLite serves one pod": {"web": {"replicas": 2}},
    "secrets.DAY1_BROKER_URL: is needed": {"secrets": {"DATABASE_URL": SERVER["DATABASE_URL"]}},
    "secrets.DAY1_SECRET_KEY: is needed": {"hosts": ["memory.example.org"]},
    "ingress: needs a name": {"ingress": {"enabled": True}},
    "serverDatabase: needs": {"serverDatabase": True},
}


def test_the_image_gets_what_the_wheel_is_made_of_and_the_chart_names_the_release() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    sources = project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    sent = {line[1:] for line in lines if line.startswith("!")}
    assert sent == {*sources, "pyproject.toml", "README.md", "requirements-matrixone.lock"}
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    assert set(compose["services"]) == {"matrixone", "redis", "web", "worker", "beat"}


def render(values: dict[str, Any]) -> list[dict[str, Any]]:
    helm = pytest.importorskip(
        "helm_python", reason="rendering needs helm-python-sdk, or helm template by hand"
    )
    with helm.Chart.load(str(CHART)) as chart:
        files = chart.render(values, name="day1", namespace="default")
    texts = (text for name, text in files.items() if name.endswith(".yaml"))
    return [found for text in texts for found in yaml.safe_load_all(text) if found]


@pytest.mark.parametrize("case", WANTED)
def test_the_chart_renders_what_the_values_say(case: str) -> None:
    values, wanted = WANTED[case]
    found = render(values)
    names = [f"{one['kind']} {one['metadata']['name']}" for one in found]
    counts = [str(one["spec"].get("replicas", "")) if "spec" in one else "" for one in found]
    lines = [f"{name} {count}".strip() for name, count in zip(names, counts, strict=True)]
    assert sorted(lines) == wanted


def test_kubernetes_takes_what_the_chart_renders() -> None:
    kubernetes = pytest.importorskip(
        "kubernetes_validate", reason="the schemas of Kubernetes come with kubernetes-validate"
    )
    for values, _ in WANTED.values():
        for found in render(values):
            kubernetes.validate(found, kubernetes.latest_version(), strict=True)


def test_a_pod_is_bound_and_probed_by_a_name_that_it_takes() -> None:
    (pod,) = (one["spec"]["template"]["spec"] for one in render(HOSTS) if one["kind"] == "StatefulSet")
    (web,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is web["securityContext"]["readOnlyRootFilesystem"] is True
    assert pod["enableServiceLinks"] is False  # a service named day1 would set DAY1_PORT, not a setting
    probes = [web[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")]
    assert [probe["path"].rpartition("/")[2] for probe in probes] == ["live", "live", "ready"]
    assert {header["value"] for probe in probes for header in probe["httpHeaders"]} == {"localhost"}


@pytest.mark.parametrize("reason", REFUSED)
def test_the_chart_refuses_values_that_cannot_work(reason: str) -> None:
    with pytest.raises(Exception, match=reason):
        render(REFUSED[reason])


def test_helm_finds_nothing_wrong() -> None:
    helm = pytest.importorskip("helm_python", reason="linting needs helm-python-sdk, or helm lint by hand")
    found = helm.lint(str(CHART))
    assert found["errors"] == []
    assert [line["error"] for line in found["messages"]] == ["icon is recommended"]
