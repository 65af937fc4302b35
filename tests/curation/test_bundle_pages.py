"""The pages of bundles: list, upload with its report, download, import, keys, and what each role may do."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from curation.engines.bundles.document import compute_sha256
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.models import Bundle, SigningKey, TrustedKey
from memory.actors import Actor, local_actor
from memory.models import Branch, Fact, Project
from tests.curation.test_handoffs import write_fact
from tests.memory.api.client import nothing_left
from tests.memory.views.test_page_frame import get_page, text

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/p/test/bundles"
UPLOAD, KEYS = f"{LIST}/upload", f"{LIST}/keys"


@pytest.fixture
def bundle(actor: Actor, main: Branch) -> Bundle:
    write_fact(actor, "The clock is `two minutes` ahead of <b>all</b>.", branch="main")
    return KnowledgeBundleEngine().create_bundle(
        name="clocks", description="<i>Clocks</i>.", conversations=True, actor=actor
    )


@pytest.fixture
def foreign(other_project: Project) -> str:
    """Return the document of a bundle of another project."""
    actor = local_actor(other_project.pk)
    write_fact(actor, "Batteries last <b>a year</b>.", branch="main")
    return (
        KnowledgeBundleEngine().create_bundle(name="batteries", conversations=True, actor=actor).bundle_data
    )


def send(client: Client, document: str | bytes, **fields: Any) -> Any:
    body = document.encode() if isinstance(document, str) else document
    return client.post(UPLOAD, {"file": SimpleUploadedFile("b.json", body), **fields})


def test_the_page_of_lean_items_is_shown(curator: Client, foreign: str) -> None:
    data = json.loads(foreign)
    talks = [{"title": 3, "messages": 3}, {"messages": [3, {"role": None, "content": {"a": 1}}, {}]}]
    facts = [{"fact_text": "Lean clock."}, {"essence": None, "created_at": {}, "category": 7}, {}]
    data = {name: value for name, value in data.items() if name not in ("sha256", "signature")}
    data["content"] = {"facts": facts, "conversations": talks}
    assert send(curator, json.dumps(data | {"sha256": compute_sha256(data)}), do="import").status_code == 302
    assert "Lean clock." in get_page(curator, f"{LIST}/{Bundle.objects.get(origin='uploaded').pk}")


def test_a_curator_makes_one(curator: Client, actor: Actor, main: Branch) -> None:
    write_fact(actor, "Clocks differ.", verdict="", branch="main")
    chosen = {"name": "clocks", "branch": "main", "conversations": "yes"}
    told = text(curator.post(LIST, {**chosen, "do": "check"}))
    assert ("What goes along" in told, "Clocks differ." in told, Bundle.objects.count()) == (True, True, 0)
    assert 'value="create" form="make"' in told
    made = curator.post(LIST, {**chosen, "do": "create"})
    row = Bundle.objects.get()
    assert (made.status_code, made["Location"]) == (302, f"{LIST}/{row.pk}")
    assert (row.only_verified, row.counts["facts"]) == (False, 1)
    assert "clocks" in get_page(curator, f"{LIST}?state=created")
    refused = curator.post(LIST, {"name": "a b"})
    assert (refused.status_code, Bundle.objects.count()) == (400, 1)


def test_the_page_shows_what_the_receiver_gets(viewer: Client, bundle: Bundle) -> None:
    page = viewer.get(f"{LIST}/{bundle.pk}").content.decode()
    assert "<code>two minutes</code> ahead of &lt;b&gt;all&lt;/b&gt;." in page
    assert "&lt;i&gt;Clocks&lt;/i&gt;." in page
    assert bundle.sha256 in page
    assert "Import it on a branch" not in page
    assert viewer.post(f"{LIST}/{bundle.pk}", {"do": "import"}).status_code == 403


def test_an_upload_tells_first_and_writes_then(curator: Client, foreign: str) -> None:
    with nothing_left():
        told = send(curator, foreign, do="check")
    page = text(told)
    assert (told.status_code, "bundle/batteries/v1" in page, "arrive as unverified" in page) == (
        200,
        True,
        True,
    )
    sha256 = json.loads(foreign)["sha256"]
    assert sha256 in told.content.decode()
    with nothing_left():
        other = send(curator, foreign, do="import", sha256="0" * 64)
        assert (other.status_code, "another file" in text(other)) == (400, True)
    done = send(curator, foreign, do="import", sha256=sha256)
    assert (done.status_code, done["Location"]) == (302, "/p/test/branches/bundle/batteries/v1")
    branch = Branch.objects.get(name="bundle/batteries/v1")
    assert Fact.objects.on(branch).get().fact_text == "Batteries last <b>a year</b>."
    again = text(send(curator, foreign, do="check", target_branch="bundle/batteries/v1"))
    assert "Nothing in it is new here." in again


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"not json", "no JSON document"),
        (b"[1]", "no JSON document"),
        (b'{"format": "zip"}', "no bundle"),
        (b"[" * 5000, "no JSON document"),
    ],
)
def test_a_file_that_is_no_bundle_is_refused(curator: Client, main: Branch, body: bytes, words: str) -> None:
    with nothing_left():
        answer = send(curator, body, do="import")
    assert (answer.status_code, words in text(answer)) == (400, True)


def test_keys_are_the_maintainers(curator: Client, maintainer: Client, main: Branch) -> None:
    assert "There is none" in get_page(curator, KEYS)
    assert curator.post(KEYS, {"do": "make"}).status_code == 403
    assert maintainer.post(KEYS, {"do": "make"}).status_code == 302
    key = SigningKey.objects.get()
    page = maintainer.get(KEYS).content.decode()
    assert (key.public_key in page, key.private_key in page) == (True, False)
    typed = {"do": "trust", "name": "<Acme>", "public_key": key.public_key}
    assert maintainer.post(KEYS, typed).status_code == 302
    assert "&lt;Acme&gt;" in maintainer.get(KEYS).content.decode()
    assert maintainer.post(KEYS, typed).status_code == 409
    assert maintainer.post(KEYS, {"do": "distrust:<Acme>"}).status_code == 302
    assert TrustedKey.objects.count() == 0
    assert maintainer.post(KEYS, {"do": "paint"}).status_code == 400
