"""Documents of programs: read from public servers alone, without redirects, within bounds."""

import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from day1site.oauth.views import MAX_BYTES, fetch_document, is_document_address
from memory.engines.access.oauth_clients import OAuthClientEngine
from memory.engines.support.public_servers import is_public
from memory.exceptions import Invalid
from memory.models import OAuthClient
from tests.access.oauth_program import BACK

PRIVATE = [
    *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1"),
    *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1"),
    *("::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::1"),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_none_of_the_public_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "2002:808:808::"])
def test_public_addresses_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("address", "taken"),
    [
        ("https://claude.ai/oauth/client", True),
        ("https://a.example:8443/client.json?v=1", True),
        ("http://claude.ai/oauth/client", False),
        ("https://claude.ai/", False),
        ("https://claude.ai", False),
        ("https://user@claude.ai/client", False),
        ("https://claude.ai/a/../client", False),
        ("https://claude.ai/client#part", False),
        ("https://claude.ai/cli ent", False),
        ("file:///etc/passwd", False),
        ("https://[::1/client", False),
        ("https://a.example/" + "a" * 500, False),
    ],
)
def test_a_client_id_is_an_address_in_one_form(address: str, taken: bool) -> None:
    assert is_document_address(address) is taken


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1"])
def test_a_document_on_this_machine_is_not_asked_for(name: str, server: "Documents") -> None:
    with pytest.raises(Invalid, match="it is not on a public server"):
        fetch_document(f"https://{name}:{server.port}/document", context=server.trust)
    assert server.asked == []


class Documents:
    """An HTTPS server under the name localhost, and the trust of its certificate."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self.http = HTTPServer(("127.0.0.1", 0), self.build_handler())
        self.port = self.http.server_port
        files = make_certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.trust = ssl.create_default_context(cafile=str(files[0]))
        self.address = f"https://localhost:{self.port}/document"

    def build_handler(self) -> type[BaseHTTPRequestHandler]:
        documents = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                documents.asked.append(self.path)
                status, body = documents.answer(self.path)
                self.send_response(status)
                self.send_header("Location", documents.address)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

        return Handler

    def answer(self, path: str) -> tuple[int, bytes]:
        document = {"client_id": self.address, "client_name": "Claude", "redirect_uris": [BACK]}
        return {
            "/document": (200, json.dumps(document).encode()),
            "/moved": (302, b""),
            "/large": (200, json.dumps("x" * MAX_BYTES).encode()),
            "/broken": (200, b"{"),
        }.get(path, (404, b""))

    def fetch(self, path: str) -> Any:
        url = f"https://localhost:{self.port}{path}"
        return fetch_document(url, is_allowed=lambda address: True, context=self.trust)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Documents]:
    documents = Documents(tmp_path)
    thread = threading.Thread(target=documents.http.serve_forever, args=(0.01,))
    thread.start()
    yield documents
    documents.http.shutdown()
    thread.join()
    documents.http.server_close()


@pytest.mark.django_db
def test_a_document_is_read_and_kept_under_its_address(server: Documents) -> None:
    document = server.fetch("/document")
    client = OAuthClientEngine().keep_document(address=server.address, document=document)
    assert (client.client_id, client.name, client.redirect_uris) == (server.address, "Claude", [BACK])
    with pytest.raises(Invalid, match="does not name its own address"):
        OAuthClientEngine().keep_document(address=server.address + "2", document=document)
    assert OAuthClient.objects.count() == 1


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/moved", "the answer is HTTP 302"),
        ("/gone", "the answer is HTTP 404"),
        ("/large", "it has more than 16384 bytes"),
        ("/broken", "it does not answer as it should"),
    ],
)
def test_what_is_no_document_is_refused(server: Documents, path: str, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        server.fetch(path)
    assert server.asked == [path]


def test_a_certificate_that_nobody_trusts_is_refused(server: Documents) -> None:
    with pytest.raises(Invalid, match="it does not answer as it should"):
        fetch_document(server.address, is_allowed=lambda address: True)
    assert server.asked == []


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate of localhost, and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = (
        builder.not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    return certificate, secret
