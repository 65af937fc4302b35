"""Uploads of documents: checked, compared with what is here, and kept."""

from typing import Any

from django.db import IntegrityError
from django.db.models import Max, Q

from curation.engines.bundles.document import FIELD, Document, check_document, dump_document, list_sealed
from curation.engines.bundles.keys import check_signature
from curation.engines.bundles.kinds import check_content, count_content, prune_document
from curation.engines.bundles.reading import count_secrets
from curation.engines.quarantine.hidden_bundles import IN_QUARANTINE
from curation.models import Bundle, TrustedKey
from curation.models.bundles import DELETED
from memory.actors import Actor
from memory.engines.access.work_handles import get_owner_name
from memory.engines.audit.trail import record_entry
from memory.exceptions import Conflict, Exists, Invalid

MAX_LEAP = 10_000  # versions that an upload may be ahead of ours: the next ones must fit too
Origin = Bundle.Origin


def check_upload(data: Any) -> Document:
    """Return a document, without what is not known here, whose form, checksum and signature are right.

    Raises Invalid, also for one with secrets.
    """
    document = check_document(data)
    check_content(document.content)
    check_signature(document)
    if count := count_secrets(list_sealed(document.data)):
        raise Invalid(
            "The bundle holds {count} secrets, such as keys or passwords: take them out where it was made.",
            count=count,
            field=FIELD,
        )
    return prune_document(document)


def find_same(actor: Actor, name: str, document: Document) -> Bundle | None:
    """Return the bundle that was made of the same document. Raises Exists for another in its place."""
    rows = Bundle.every.filter(project=actor.project_id, name=name, version=document.version)
    found = rows.first()
    if found is not None and found.hidden:
        raise Conflict(IN_QUARANTINE)
    if found is not None and found.sha256 != document.sha256:
        raise Exists(
            "Another bundle is called {name}, version {n}: give this one another name.",
            name=name,
            n=document.version,
            field="name",
        )
    if found is not None and found.origin == DELETED:
        return None
    if found is None and document.version - find_vouched_version(actor, name) > MAX_LEAP:
        raise Invalid("{field} is far ahead of the versions that are here.", field="version")
    return found


def keep_upload(actor: Actor, name: str, document: Document) -> Bundle:
    signature = document.signature
    bundle = Bundle(
        project_id=actor.project_id,
        name=name,
        version=document.version,
        description=document.description,
        origin=Origin.UPLOADED,
        source_branch=document.source_branch,
        only_verified=document.only_verified,
        counts=count_content(dict(document.content)),
        sha256=document.sha256,
        signature=signature.value if signature else "",
        public_key=document.signer,
        bundle_data=dump_document(document.data),
        owner=get_owner_name(actor),
        created_by=actor.label,
        created_at=actor.write_time(),
    )
    bundle.size = len(bundle.bundle_data.encode("utf-8", "surrogatepass"))
    # The same document may come back after it was deleted.
    Bundle.every.filter(
        project=actor.project_id, name=name, version=document.version, origin=DELETED
    ).delete()
    store_bundle(actor, bundle, "bundle.upload")
    return bundle


def find_vouched_version(actor: Actor, name: str) -> int:
    """Return the newest version that was made here or that somebody trusted has signed, 0 without one.

    Strangers' uploads would otherwise climb from one to the next, and take the numbers of ours along.
    """
    known = Bundle.objects.filter(project=actor.project_id, name=name)
    keys = TrustedKey.objects.filter(project=actor.project_id).values("public_key")
    vouched = known.filter(Q(origin=Origin.CREATED) | Q(public_key__in=keys))
    return vouched.aggregate(n=Max("version"))["n"] or 0


def store_bundle(actor: Actor, bundle: Bundle, action: str) -> None:
    try:
        bundle.save(force_insert=True)
    except IntegrityError:
        raise Exists("Version {n} of {name} exists already.", n=bundle.version, name=bundle.name) from None
    detail = {"name": bundle.name, "version": bundle.version, "sha256": bundle.sha256}
    record_entry(actor, action, str(bundle.pk), detail)
