"""Uploads of documents: checked, compared with what is here, and kept."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Max, Q, QuerySet

from curation.engines.bundles import reading
from curation.engines.bundles.document import (
    FIELD,
    PARTS,
    SEALS,
    Document,
    check_document,
    compute_sha256,
    dump_document,
    list_sealed,
)
from curation.engines.bundles.keys import check_signature
from curation.engines.quarantine.documents import IN_QUARANTINE
from curation.models import Bundle, TrustedKey
from curation.models.bundles import DELETED
from memory.actors import Actor
from memory.engines.access.work_handles import get_owner_name
from memory.engines.audit.trail import record_entry
from memory.engines.support.write_quotas import check_count
from memory.exceptions import Conflict, Exists, Invalid

HEAD_FIELDS = frozenset(
    "format schema_version name version description source_branch only_verified created_at counts content"
    " sha256 signature".split()
)
SIGNATURE_FIELDS = frozenset(("algorithm", "public_key", "value"))
ITEM_FIELDS = {
    "facts": frozenset(("id", *reading.FACT_FIELDS, *reading.ITEM_NAMES, *reading.VERDICT_FIELDS)),
    "conversations": frozenset(("id", "title", "model", "created_at", *reading.FORK_FIELDS, "messages")),
    "messages": frozenset(("id", *reading.MESSAGE_FIELDS)),
    "links": frozenset(("id", *reading.LINK_FIELDS)),
    "relations": frozenset(("id", *reading.RELATION_FIELDS)),
}
NAME_LENGTH = 80  # characters of a field that is named
MAX_LEAP = 10_000  # versions that an upload may be ahead of ours: the next ones must fit too
Origin = Bundle.Origin


def check_upload(data: Any) -> Document:
    """Return a document, without what is not known here, whose form, checksum and signature are right.

    Raises Invalid, also for one with secrets.
    """
    document = check_document(data)
    reading.check_content(document.content)
    check_signature(document)
    if count := reading.count_secrets(list_sealed(document.data)):
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
        counts=reading.count_content(dict(document.content)),
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


def list_kept(project_id: UUID) -> QuerySet[Bundle]:
    """Return the bundles of a project that are not deleted."""
    return Bundle.objects.filter(project=project_id, deleted_at=None)


def count_kept(project_id: UUID) -> int:
    return list_kept(project_id).count()


def store_bundle(actor: Actor, bundle: Bundle, action: str) -> None:
    check_count(actor, "bundles", list_kept(actor.project_id))
    try:
        bundle.save(force_insert=True)
    except IntegrityError:
        raise Exists("Version {n} of {name} exists already.", n=bundle.version, name=bundle.name) from None
    detail = {"name": bundle.name, "version": bundle.version, "sha256": bundle.sha256}
    record_entry(actor, action, str(bundle.pk), detail)


# ---- known fields ------------------------------------------------------------------------------------


class Pruning:
    """Values without what nobody knows, and the names of that."""

    def __init__(self) -> None:
        self.dropped: set[str] = set()

    def keep_known(self, value: Any, known: Collection[str], place: str = "") -> Any:
        """Return an object with known fields only; another value as it is."""
        if not isinstance(value, Mapping):
            return value
        for name in value.keys() - known:
            self.dropped.add(f"{place}{name}"[:NAME_LENGTH])
        return {name: one for name, one in value.items() if name in known}

    def prune_items(self, kind: str, items: list[Any]) -> list[Any]:
        kept = [self.keep_known(item, ITEM_FIELDS[kind], f"{kind}.") for item in items]
        if kind == "conversations":
            for item in kept:
                if isinstance(item.get("messages"), list):
                    item["messages"] = self.prune_items("messages", item["messages"])
        return kept

    def prune_head(self, data: Mapping[str, Any], content: Mapping[str, list[Any]]) -> dict[str, Any]:
        """Return the data of a document with known fields only."""
        kept: dict[str, Any] = self.keep_known(data, HEAD_FIELDS)
        if "counts" in kept:
            kept["counts"] = self.keep_known(kept["counts"], (*PARTS, "messages"), "counts.")
        if kept.get("signature") is not None:
            kept["signature"] = self.keep_known(kept["signature"], SIGNATURE_FIELDS, "signature.")
        return kept | {"content": content}


def prune_document(document: Document) -> Document:
    """Return a checked document without unknown fields; ``dropped`` names the first of them.

    One that loses any is hashed anew, and has no signature more: that was of all of it. Who signed it was
    checked, and stays known.
    """
    pruning = Pruning()
    pruning.keep_known(document.data["content"], PARTS, "content.")
    content = {kind: pruning.prune_items(kind, document.content[kind]) for kind in PARTS}
    written = {kind: content[kind] for kind in PARTS if kind in document.data["content"]}
    data = pruning.prune_head(document.data, written)
    if not pruning.dropped:
        return document
    signature = document.signature
    if list_sealed(data) != list_sealed(document.data):
        signature = None
        data = {name: value for name, value in data.items() if name not in SEALS}
        data["sha256"] = compute_sha256(data)
    return replace(
        document,
        content=content,
        data=data,
        sha256=data["sha256"],
        signature=signature,
        dropped=tuple(sorted(pruning.dropped)),
    )
