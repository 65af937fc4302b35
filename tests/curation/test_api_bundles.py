"""/bundles over REST: make, export, upload, import, keys, and what is refused."""

import base64
import json
from typing import Any
from uuid import UUID

import pytest

from curation.engines.bundles.document import compute_sha256
from curation.models import SigningKey
from memory.models import Project
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
WEAK_KEYS = [
    base64.b64encode(bytes.fromhex(one)).decode()
    for one in (
        "01" + "00" * 31,
        "01" + "00" * 30 + "80",
        "00" * 32,
        "ec" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
]
CLOCK = "The clock is two minutes ahead."


@pytest.fixture
def other(other_project: Project) -> Api:
    return api_for(other_project)


@pytest.fixture
def bundle(api: Api) -> dict[str, Any]:
    fact = api.fact(CLOCK)
    api.post(f"/facts/{fact['id']}/verify", {"verdict": "verified", "reason": "seen"})
    answer = api.post("/bundles", {"name": "clocks", "description": "Clocks.", "conversations": True})
    assert answer.status_code == 201, answer.content
    return answer.json()


@pytest.fixture
def document(api: Api, bundle: dict[str, Any]) -> dict[str, Any]:
    return api.get(f"/bundles/{bundle['id']}/export").json()


def reseal(data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    data = {name: value for name, value in data.items() if name not in ("sha256", "signature")} | changes
    return data | {"sha256": compute_sha256(data)}


def test_a_trusted_signature_keeps_verdicts(api: Api, other: Api, bundle: Any) -> None:
    refused(api.get("/signing-key"), 404, "not_found")
    key = api.post("/signing-key").json()
    assert key.keys() == {"public_key", "created_by", "created_at"}
    assert api.get("/signing-key").json() == key
    made = api.post("/bundles", {"name": "clocks", "sign": True, "conversations": True}).json()
    data = api.get(f"/bundles/{made['id']}/export").json()
    private = SigningKey.objects.get().private_key
    assert private not in json.dumps([key, made, data])
    told = other.post("/bundles/upload?branch=main&dry_run=true", data).json()["report"]
    assert (told["trust"], told["signed_by"], len(told["warnings"])) == ("unknown_signature", "", 1)
    with nothing_left():
        answer = other.post("/bundles/upload?branch=main&require_trusted=true", data)
        refused(answer, 409, "conflict", "signature")
    row = other.post("/trusted-keys", {"name": "Acme", "public_key": key["public_key"]}).json()
    assert other.get("/trusted-keys").json() == {"results": [row]}
    done = other.post("/bundles/upload?branch=main&require_trusted=true", data).json()["report"]
    assert (done["trust"], done["signed_by"], done["verified"], done["warnings"]) == (
        "trusted",
        "Acme",
        1,
        [],
    )
    assert other.get("/facts").json()["results"][0]["verification_status"] == "verified"
    assert other.delete("/trusted-keys/Acme").status_code == 204
    assert other.get("/trusted-keys").json() == {"results": []}


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


SECRET = "password=hunter2hunter2"


def add_fact(data: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a document with one more fact, or what calls itself one."""
    content = data["content"]
    return reseal(data, content=content | {"facts": [*content["facts"], {"fact_text": "Hm.", **fields}]})


def add_talk(data: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return reseal(data, content=data["content"] | {"conversations": [{"id": UNKNOWN, **fields}]})


HOSTILE: list[tuple[str, Any, str | None]] = [
    ("wrong format", lambda d: d | {"format": "zip"}, "bundle"),
    ("no object", lambda d: [d], None),
    ("wrong hash", lambda d: d | {"sha256": "0" * 64}, "sha256"),
    ("short hash", lambda d: d | {"sha256": "0"}, "sha256"),
    ("no hash", lambda d: {n: v for n, v in d.items() if n != "sha256"}, "sha256"),
    ("changed text", lambda d: json.loads(json.dumps(d).replace("two minutes", "six minutes")), "sha256"),
    ("changed name", lambda d: d | {"name": "other"}, "sha256"),
    ("schema 2", lambda d: reseal(d, schema_version=2), "schema_version"),
    ("schema true", lambda d: reseal(d, schema_version=True), "schema_version"),
    ("schema none", lambda d: reseal(d, schema_version=None), "schema_version"),
    (
        "secrets",
        lambda d: reseal(json.loads(json.dumps(d).replace("two", "password=hunter2hunter2"))),
        "bundle",
    ),
    ("secret description", lambda d: reseal(d, description=SECRET), "bundle"),
    ("secret branch", lambda d: reseal(d, source_branch=SECRET), "bundle"),
    ("secret in an unknown field", lambda d: reseal(d, note=SECRET), "bundle"),
    ("secret name", lambda d: reseal(d, **{SECRET: 1}), "bundle"),
    ("secret unknown of a fact", lambda d: add_fact(d, note=SECRET), "bundle"),
    ("secret id", lambda d: add_fact(d, id=SECRET), "bundle"),
    ("secret model", lambda d: add_talk(d, model=SECRET), "bundle"),
    ("half a character", lambda d: add_fact(d, fact_text="x \ud800 y"), "bundle"),
    ("half a character in a name", lambda d: add_fact(d, **{"\udfff": 1}), "bundle"),
    ("no content", lambda d: reseal(d, content=[]), "content"),
    ("facts no list", lambda d: reseal(d, content={"facts": {}}), "content.facts"),
    ("facts no objects", lambda d: reseal(d, content={"facts": ["x"]}), "content.facts"),
    ("name path", lambda d: reseal(d, name="../../etc/passwd"), "name"),
    ("name empty", lambda d: reseal(d, name=""), "name"),
    ("name long", lambda d: reseal(d, name="x" * 101), "name"),
    ("name rtl", lambda d: reseal(d, name="‮sgnp"), "name"),
    ("name nul", lambda d: reseal(d, name="x\u0000"), "name"),
    ("name newline", lambda d: reseal(d, name="x\n"), "name"),
    ("name number", lambda d: reseal(d, name=7), "name"),
    ("version 0", lambda d: reseal(d, version=0), "version"),
    ("version most", lambda d: reseal(d, version=2**31 - 1), "version"),
    ("version text", lambda d: reseal(d, version="1"), "version"),
    ("signature none", lambda d: d | {"signature": "x"}, "signature"),
    ("signature rsa", lambda d: d | {"signature": {"algorithm": "rsa"}}, "signature"),
    (
        "signature wrong",
        lambda d: (
            d
            | {
                "signature": {
                    "algorithm": "ed25519",
                    "public_key": base64.b64encode(bytes(32)).decode(),
                    "value": base64.b64encode(bytes(64)).decode(),
                }
            }
        ),
        "signature",
    ),
    (
        "signature junk",
        lambda d: d | {"signature": {"algorithm": "ed25519", "public_key": "é", "value": "??"}},
        "signature",
    ),
]


@pytest.mark.parametrize(("name", "change", "field"), HOSTILE, ids=[one[0] for one in HOSTILE])
def test_a_foreign_document_is_refused(other: Api, document: Any, name: str, change: Any, field: Any) -> None:
    with nothing_left():
        refused(other.post("/bundles/upload?branch=main", change(document)), 400, "invalid", field)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"not json", 400, "invalid"),
        (b"", 400, "invalid"),
        (b"\xff\xfe", 400, "invalid"),
        (b'{"a": NaN}', 400, "invalid"),
        (b'{"format": "day1-bundle", "schema_version": 1, "x": 1e999}', 400, "invalid"),
        (b"[" * 100_000, 400, "invalid"),
        (json.dumps({"format": "day1-bundle", "x": deep(80)}).encode(), 400, "invalid"),
        (b'{"format": "' + b"x" * (9 * 1024 * 1024) + b'"}', 413, "too_large"),
    ],
    ids=["text", "empty", "bytes", "nan", "infinity", "open", "deep", "large"],
)
def test_what_is_no_document_is_refused(other: Api, body: bytes, status: int, code: str) -> None:
    with nothing_left():
        problem = other.post("/bundles/upload?branch=main", body).json()
        assert (problem["status"], problem["code"]) == (status, code), problem


def test_more_than_one_commit_writes_is_refused(other: Api, document: Any) -> None:
    facts = [{"id": str(UUID(int=n + 1)), "fact_text": f"Fact {n}."} for n in range(2501)]
    data = reseal(document, content={"facts": facts})
    with nothing_left():
        for options in ("?import=true&dry_run=true", "?branch=main", ""):
            answer = other.post(f"/bundles/upload{options}", data)
            assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), answer.content


def test_keys_are_refused(api: Api, project: Project) -> None:
    key = api.post("/signing-key").json()["public_key"]
    assert api.post("/trusted-keys", {"name": "Me", "public_key": key}).status_code == 201
    writer = api_for(project, scopes=["merge"])
    with nothing_left():
        refused(api.post("/trusted-keys", {"name": "Me", "public_key": key}), 409, "exists")
        refused(api.post("/trusted-keys", {"name": "", "public_key": key}), 400, "invalid", "name")
        for weak in ("x", *WEAK_KEYS):
            refused(
                api.post("/trusted-keys", {"name": "X", "public_key": weak}), 400, "invalid", "public_key"
            )
        refused(api.delete("/trusted-keys/no"), 404, "not_found")
        refused(writer.post("/signing-key"), 403, "scope_missing")
        refused(writer.post("/trusted-keys", {"name": "X", "public_key": key}), 403, "scope_missing")
        refused(writer.delete("/trusted-keys/Me"), 403, "scope_missing")
