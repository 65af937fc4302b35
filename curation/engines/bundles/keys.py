"""Keys of bundles: the one with which a project signs, and those of others whose signatures it trusts."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.fernet import InvalidToken
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.db import IntegrityError

from curation.engines.bundles.document import ALGORITHM, Document, dump_canonical, list_sealed
from curation.models import SigningKey, TrustedKey
from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.support import validation as c
from memory.engines.support.ciphers import build_cipher
from memory.exceptions import Conflict, Exists, Invalid, NotFound

FIELD_PRIME, SIGN_BIT = 2**255 - 19, 1 << 255
# The curve's points of small order, by y: of such a key anybody can make signatures.
SMALL_ORDER = {
    0,
    1,
    FIELD_PRIME - 1,
    0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
}
MAX_TRUSTED = 100
PURPOSE = b"day1 signing keys of bundles"
NAME = c.redact_stored(c.text_check(100, min_length=1))
UNSIGNED, UNKNOWN, TRUSTED = "unsigned", "unknown_signature", "trusted"


@dataclass(frozen=True)
class Trust:
    """What a project makes of a document's signature; ``name`` is that of the trusted key."""

    state: str
    name: str = ""

    @property
    def is_trusted(self) -> bool:
        return self.state == TRUSTED


@retry_methods
class BundleKeyEngine:
    def find_signing_key(self, *, actor: Actor) -> SigningKey | None:
        """Return the key with which the project signs, if it has one."""
        actor.require_scope("read")
        return SigningKey.objects.filter(project=actor.project_id).first()

    def get_signing_key(self, *, actor: Actor) -> SigningKey:
        """Return the key with which the project signs. Raises NotFound."""
        if (found := self.find_signing_key(actor=actor)) is None:
            raise NotFound("This project has no signing key.")
        return found

    def make_signing_key(self, *, actor: Actor) -> SigningKey:
        """Make the project's key, or a new one in its place: former bundles stay signed by the old one."""
        actor.require_admin_of_all()
        private = Ed25519PrivateKey.generate()
        public = encode(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        sealed = build_cipher(PURPOSE).encrypt(private.private_bytes_raw()).decode()
        with write_transaction():
            SigningKey.objects.filter(project=actor.project_id).delete()
            made = SigningKey.objects.create(
                project_id=actor.project_id,
                private_key=sealed,
                public_key=public,
                created_by=actor.label,
                created_at=actor.write_time(),
            )
            record_entry(actor, "bundle.key", public)
        return made

    def list_trusted_keys(self, *, actor: Actor) -> list[TrustedKey]:
        """Return the keys that the project trusts, by name."""
        actor.require_scope("read")
        return list(TrustedKey.objects.filter(project=actor.project_id))

    def trust_key(self, *, name: str, public_key: str, actor: Actor) -> TrustedKey:
        """Trust a key: facts that it signed as verified arrive as verified.

        Raises Invalid, Exists for a name or key that is there, ScopeMissing.
        """
        actor.require_admin_of_all()
        name, public_key = NAME("name", name).strip(), check_public_key("public_key", public_key)
        rows = TrustedKey.objects.filter(project=actor.project_id)
        with write_transaction():
            if rows.count() >= MAX_TRUSTED:
                raise Invalid("A project trusts at most {most} keys.", most=MAX_TRUSTED, field="name")
            try:
                made = TrustedKey.objects.create(
                    project_id=actor.project_id,
                    name=name,
                    public_key=public_key,
                    created_by=actor.label,
                    created_at=actor.write_time(),
                )
            except IntegrityError:
                raise Exists("A trusted key of this name, or this key, is there already.") from None
            record_entry(actor, "bundle.trust", name, {"public_key": public_key})
        return made

    def distrust_key(self, *, name: str, actor: Actor) -> None:
        """Trust a key no more; what was imported stays as it is. Raises NotFound, ScopeMissing."""
        actor.require_admin_of_all()
        with write_transaction():
            rows = TrustedKey.objects.filter(project=actor.project_id, name=drop_unstorable(name))
            if not rows.delete()[0]:
                raise NotFound("No trusted key has this name.")
            record_entry(actor, "bundle.distrust", name[:100])


# ---- signing and checking --------------------------------------------------------------------------


def sign_document(project_id: UUID, data: dict[str, Any]) -> dict[str, str] | None:
    """Return the signature of a document by the project's key; None without one. Raises Conflict."""
    key = SigningKey.objects.filter(project=project_id).first()
    if key is None:
        return None
    try:
        private = Ed25519PrivateKey.from_private_bytes(
            build_cipher(PURPOSE).decrypt(key.private_key.encode())
        )
    except InvalidToken:
        raise Conflict(
            "The signing key was made with another secret key of the server: make a new one."
        ) from None
    value = encode(private.sign(dump_canonical(list_sealed(data))))
    return {"algorithm": ALGORITHM, "public_key": key.public_key, "value": value}


def check_signature(document: Document) -> None:
    """Check that a signature, if there is one, is by the key that it names. Raises Invalid."""
    if (signature := document.signature) is None:
        return
    try:
        public = load_public_key(signature.public_key)
        public.verify(decode(signature.value), dump_canonical(list_sealed(document.data)))
    except (InvalidSignature, ValueError):
        raise Invalid(
            "The signature of the bundle is not by the key that it names.", field="signature"
        ) from None


def judge_signature(project_id: UUID, document: Document) -> Trust:
    """Return whether the project trusts who signed: its own key, or one that it named."""
    if not document.signer:
        return Trust(UNSIGNED)
    key = encode(decode(document.signer))
    if SigningKey.objects.filter(project=project_id, public_key=key).exists():
        return Trust(TRUSTED, "this project")
    found = TrustedKey.objects.filter(project=project_id, public_key=key).first()
    return Trust(TRUSTED, found.name) if found else Trust(UNKNOWN)


def check_public_key(name: str, value: Any) -> str:
    """Check for the base64 of an Ed25519 public key. Raises Invalid."""
    text = c.text_check(100, min_length=1)(name, value).strip()
    try:
        load_public_key(text)
    except ValueError:
        raise Invalid("{field} must be an Ed25519 public key: 32 bytes in base64.", field=name) from None
    return encode(decode(text))


def load_public_key(text: str) -> Ed25519PublicKey:
    """Return the key of a base64 text. Raises ValueError, also for one that proves nothing."""
    raw = decode(text)
    point = int.from_bytes(raw, "little") & ~SIGN_BIT
    if point in SMALL_ORDER or point >= FIELD_PRIME:
        raise ValueError("a point of small order, or one that is not written as it must be")
    return Ed25519PublicKey.from_public_bytes(raw)


def encode(value: bytes) -> str:
    return base64.b64encode(value).decode()


def decode(text: str) -> bytes:
    """Return the bytes of a base64 text. Raises ValueError."""
    try:
        return base64.b64decode(text.encode(), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def drop_unstorable(name: str) -> str:
    """Return a name that every database can look up."""
    return name.replace("\x00", "").encode("utf-8", "ignore").decode()
