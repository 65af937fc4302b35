"""Bundles: made of a branch, exported, uploaded, imported; none is ever changed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, Unpack
from uuid import UUID

from django.db.models import Manager, Max, Q, QuerySet

from curation.engines.bundles import reading
from curation.engines.bundles.document import (
    FORMAT,
    SCHEMA_VERSION,
    Document,
    check_bundle_name,
    check_document,
    compute_sha256,
    dump_document,
    read_bytes,
)
from curation.engines.bundles.importing import ImportReport, import_document
from curation.engines.bundles.keys import Trust, judge_signature, sign_document
from curation.engines.bundles.uploads import check_upload, find_same, keep_upload, store_bundle
from curation.engines.fields.bundles import (
    BUNDLE,
    BUNDLE_FILTERS,
    DRY_IMPORT,
    DRY_MAKING,
    IMPORT_BRANCH,
    REQUIRE_TRUSTED,
)
from curation.engines.orders import BUNDLES
from curation.engines.quarantine.documents import refuse_hidden
from curation.models import Bundle
from curation.models.bundles import DELETED
from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.work_handles import get_owner_name
from memory.engines.audit.trail import record_entry
from memory.engines.deletion.memories import NOT_DELETED, Deletion, count_deleted, require_filter
from memory.engines.fields.base import Use
from memory.engines.fields.deletion import DRY_DELETION, ERASE, MANY
from memory.engines.fields.filters import make_filter_checks
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.support.usage import count_growth, measure_rows
from memory.engines.versions.branch_access import list_allowed_branches
from memory.engines.versions.commits import lock_branches
from memory.engines.versions.lookup import MAIN
from memory.exceptions import BranchForbidden, Conflict, IllegalTransition, NotFound
from memory.models import Branch
from memory.redaction import redact_text

CHECKS = BUNDLE.field_checks(Use.CREATE) | {"name": check_bundle_name}
FILTERS = make_filter_checks(BUNDLE_FILTERS)
ROW_BYTES = 1000  # of a bundle in a list, without its document
Origin = Bundle.Origin


class Upload(NamedTuple):
    """The result of an upload: the bundle that was kept, the report of its import, what was read."""

    bundle: Bundle | None
    report: ImportReport | None
    document: Document

    @property
    def dropped(self) -> list[str]:
        """Return the names of the first fields that were dropped."""
        return self.document.named_dropped


@retry_methods
class KnowledgeBundleEngine:
    # ---- making --------------------------------------------------------------------------------

    def create_bundle(
        self,
        *,
        name: str,
        actor: Actor,
        branch_name: str = MAIN,
        dry_run: Annotated[bool, DRY_MAKING] = False,
        **options: Any,
    ) -> Bundle:
        """Make a bundle of what a branch shows now: the next version of its name.

        ``options`` are its description, ``only_verified`` and ``relations``, both true by default,
        ``conversations``, by default true where unverified facts are taken too, and ``sign``. With
        ``dry_run`` the bundle is not stored, and has no id. Invalidated and private facts are never taken,
        nor what a search leaves out; secrets are taken out of the texts. Raises Invalid, UnknownField,
        TooLarge, BranchNotFound, BranchArchived, Conflict where it cannot be signed, scope and branch
        refusals.
        """
        values = c.validate({"name": name, **options}, CHECKS)
        actor.require_scope("write", branch_name)
        with write_transaction():
            # An erasure locks the branch too: it comes before the texts are read, or finds the bundle.
            branch = lock_branches(actor, [branch_name])[branch_name]
            bundle = build_bundle(actor, branch, values)
            if dry_run:
                bundle.pk = None
            else:
                store_bundle(actor, bundle, "bundle.create")
        return bundle

    def upload_bundle(
        self,
        *,
        document: Any,
        actor: Actor,
        name: str = "",
        branch_name: str = "",
        imports: bool = False,
        dry_run: bool = False,
        require_trusted: bool = False,
    ) -> Upload:
        """Check a document, keep it, and with ``imports`` import it; a dry run writes nothing at all.

        Fields that nobody knows are neither kept nor imported.

        A document that is here already is not kept twice. Raises Invalid for one of a wrong form, checksum or
        signature, or with secrets inside, TooLarge, Exists for another one of its name and version, Conflict
        for one that holds something in quarantine, and as ``import_bundle``.
        """
        actor.require_scope("write")
        checked = check_upload(document)
        refuse_hidden(actor.project_id, checked.content)
        name = check_bundle_name("name", name) if name else checked.name
        options: dict[str, Any] = {"branch_name": branch_name, "require_trusted": require_trusted}
        options["name"] = name
        if dry_run:
            find_same(actor, name, checked)
            return Upload(None, import_document(checked, actor, dry_run=True, **options), checked)
        with write_transaction():
            bundle = find_same(actor, name, checked) or keep_upload(actor, name, checked)
            if bundle.deleted_at:
                show_again(bundle, actor)
            report = import_document(checked, actor, dry_run=False, **options) if imports else None
        return Upload(bundle, report, checked)

    def delete_bundle(
        self, *, bundle_id: UUID, actor: Actor, erase: Annotated[bool, ERASE] = False
    ) -> Deletion:
        """Delete a bundle, or erase its document for good. What was imported of it stays, and its number is
        not given again.

        Needs the scope write for a bundle of the actor's own, curate for another, and admin to erase. Raises
        NotFound, scope and branch refusals.
        """
        actor.require_scope("admin" if erase else "write", grows=False)
        with write_transaction():
            bundle = find_bundle(actor, bundle_id, Bundle.stored if erase else Bundle.objects, lock=True)
            if not self.may_delete(bundle=bundle, actor=actor):
                actor.require_scope("curate")
            if erase:
                empty_bundle(bundle)
            else:
                bundle.mark_deleted(actor.write_time(), actor.label or actor.kind)
            detail = {"name": bundle.name, "version": bundle.version, "sha256": bundle.sha256}
            record_entry(actor, "bundle.erase" if erase else "bundle.delete", str(bundle.pk), detail)
        return Deletion(1, [str(bundle.pk)], {"bundle": 1})

    def delete_bundles(
        self,
        *,
        actor: Actor,
        name: str = "",
        origin: str = "",
        ids: Annotated[Sequence[UUID], MANY] = (),
        dry_run: Annotated[bool, DRY_DELETION] = False,
    ) -> Deletion:
        """Delete the bundles that fit all filters, all or none. Raises Invalid, scope refusals."""
        actor.require_scope("write", grows=False)
        found = c.drop_empty(c.validate({"name": name, "origin": origin}, FILTERS))
        require_filter(ids, found)
        rows = list_visible_bundles(actor).filter(**found, **({"pk__in": ids} if ids else {}))
        with write_transaction():
            keys = list(rows.values_list("pk", flat=True))
            for bundle in rows.defer("bundle_data"):
                if not self.may_delete(bundle=bundle, actor=actor):
                    actor.require_scope("curate")
            for pk in [] if dry_run else keys:
                self.delete_bundle(bundle_id=pk, actor=actor)
        return count_deleted("bundle", keys, dry_run)

    def restore_bundle(self, *, bundle_id: UUID, actor: Actor) -> Bundle:
        """Restore a deleted bundle. Raises NotFound, IllegalTransition, scope and branch refusals."""
        actor.require_scope("write")
        with write_transaction():
            bundle = find_bundle(actor, bundle_id, Bundle.stored, lock=True)
            if not self.may_delete(bundle=bundle, actor=actor):
                actor.require_scope("curate")
            if not bundle.deleted_at:
                raise IllegalTransition(NOT_DELETED)
            show_again(bundle, actor)
        return bundle

    def read_file(self, *, body: bytes) -> Any:
        """Return the JSON value of an uploaded file. Raises TooLarge, Invalid."""
        return read_bytes(body)

    def import_bundle(
        self,
        *,
        bundle_id: UUID,
        actor: Actor,
        branch_name: Annotated[str, IMPORT_BRANCH] = "",
        dry_run: Annotated[bool, DRY_IMPORT] = False,
        require_trusted: Annotated[bool, REQUIRE_TRUSTED] = False,
    ) -> ImportReport:
        """Import a stored bundle as one commit on a branch, by default on one of its own, made of main.

        What is there already is reported as a duplicate, what was erased is refused. Facts are unverified
        unless the project trusts the signature; with ``require_trusted`` it is refused then. Raises NotFound,
        Conflict, BranchNotFound, BranchArchived, DirectWritesRefused, scope and branch refusals.
        """
        actor.require_scope("write")
        bundle = find_bundle(actor, bundle_id)
        return import_document(
            load_document(bundle),
            actor,
            branch_name=branch_name,
            name=bundle.name,
            dry_run=dry_run,
            require_trusted=require_trusted,
        )

    def may_delete(self, *, bundle: Bundle, actor: Actor) -> bool:
        """Return whether an actor that may see a bundle may delete it."""
        return actor.has_scope("write" if bundle.owner == get_owner_name(actor) else "curate")

    # ---- reading -------------------------------------------------------------------------------

    def get_bundle(self, *, bundle_id: UUID, actor: Actor) -> Bundle:
        """Return a bundle. Raises NotFound, BranchForbidden."""
        actor.require_scope("read")
        return find_bundle(actor, bundle_id)

    def judge_bundle(self, *, bundle: Bundle, actor: Actor) -> Trust:
        """Return whether the project trusts the signature of a bundle."""
        return judge_signature(actor.project_id, load_document(bundle))

    def export_bundle(self, *, bundle_id: UUID, actor: Actor) -> str:
        """Return the document of a bundle as it is sent elsewhere. Raises NotFound, BranchForbidden."""
        actor.require_scope("read")
        bundle = find_bundle(actor, bundle_id)
        with write_transaction():
            record_entry(actor, "bundle.export", str(bundle.pk))
        return bundle.bundle_data

    def list_bundles(
        self, *, actor: Actor, name: str = "", origin: str = "", **paging: Unpack[Sorting]
    ) -> Page[Bundle]:
        """List the bundles that the actor may see, the newest first."""
        actor.require_scope("read")
        values = c.validate({"name": name, "origin": origin}, FILTERS)
        rows = list_visible_bundles(actor).defer("bundle_data")
        rows = rows.filter(**{field: value for field, value in values.items() if value})
        return paginate(rows, BUNDLES, **paging, size=lambda row: ROW_BYTES)

    def count_bundles(self, *, actor: Actor) -> dict[str, int]:
        """Return how many bundles the actor may see, by origin."""
        actor.require_scope("read")
        return {origin: list_visible_bundles(actor).filter(origin=origin).count() for origin in Origin.values}


# ---- making ----------------------------------------------------------------------------------------


def build_bundle(actor: Actor, branch: Branch, values: Mapping[str, Any]) -> Bundle:
    """Read a locked branch into a bundle. Raises TooLarge, Conflict."""
    only_verified = values.get("only_verified", True)
    selection = reading.Selection(
        branch.lineage(),
        only_verified,
        values.get("conversations", not only_verified),
        values.get("relations", True),
    )
    content, redacted = reading.redact_content(reading.read_content(selection))
    bundle = Bundle(
        project_id=actor.project_id,
        name=values["name"],
        version=find_next_version(actor, values["name"]),
        description=redact_text(values.get("description", "")),
        source=branch,
        source_branch=branch.name,
        only_verified=selection.only_verified,
        left_out=selection.left_out,
        redacted=redacted,
        owner=get_owner_name(actor),
        created_by=actor.label,
        created_at=actor.write_time(),
    )
    data = build_data(bundle, content)
    signature = sign_document(actor.project_id, data) if values.get("sign", True) else None
    if values.get("sign") and signature is None:
        raise Conflict("The project has no signing key: make one first.", field="sign")
    return seal_bundle(bundle, data, signature)


def build_data(bundle: Bundle, content: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the document of a bundle without its seals."""
    head = {name: getattr(bundle, name) for name in ("name", "version", "description", "source_branch")}
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        **head,
        "only_verified": bundle.only_verified,
        "created_at": reading.plain_value(bundle.created_at),
        "counts": reading.count_content(content),
        "content": content,
    }


def seal_bundle(bundle: Bundle, data: dict[str, Any], signature: dict[str, str] | None) -> Bundle:
    """Set what a bundle keeps of its document. Raises TooLarge."""
    data = {**data, "sha256": compute_sha256(data), **({"signature": signature} if signature else {})}
    bundle.counts, bundle.sha256 = reading.count_content(data["content"]), data["sha256"]
    bundle.signature = signature["value"] if signature else ""
    bundle.public_key = signature["public_key"] if signature else ""
    bundle.bundle_data = dump_document(data)
    bundle.size = len(bundle.bundle_data.encode("utf-8", "surrogatepass"))
    return bundle


def find_next_version(actor: Actor, name: str) -> int:
    newest = Bundle.every.filter(project=actor.project_id, name=name).aggregate(n=Max("version"))["n"]
    return (newest or 0) + 1


# ---- rows ------------------------------------------------------------------------------------------


def list_visible_bundles(actor: Actor, among: Manager[Bundle] = Bundle.objects) -> QuerySet[Bundle]:
    """Return the project's bundles of branches that the actor may use, and those that it uploaded itself."""
    rows = among.filter(project=actor.project_id, hidden=False)
    if (allowed := list_allowed_branches(actor)) is None:
        return rows
    return rows.filter(Q(source__in=allowed) | Q(owner=get_owner_name(actor)))


def find_bundle(
    actor: Actor, bundle_id: UUID, among: Manager[Bundle] = Bundle.objects, lock: bool = False
) -> Bundle:
    """Return a bundle with its document, locked where that is wanted. Raises NotFound, BranchForbidden."""
    pk = c.parse_uuid("id", bundle_id)
    rows = among.filter(project=actor.project_id, pk=pk, hidden=False)
    found = (rows.select_for_update() if lock else rows.select_related("source")).first()
    if found is None:
        raise NotFound("There is no bundle with this id.")
    if not list_visible_bundles(actor, among).filter(pk=pk).exists():
        raise BranchForbidden("This bundle is of a branch that this key may not use.")
    return found


def load_document(bundle: Bundle) -> Document:
    """Return the checked document of a stored bundle. Raises Invalid for one that was damaged."""
    document = check_document(read_bytes(bundle.bundle_data.encode("utf-8", "surrogatepass")))
    return replace(document, signer=bundle.public_key)


def show_again(bundle: Bundle, actor: Actor) -> None:
    """Take the deletion of a bundle back."""
    bundle.mark_deleted(None)
    record_entry(actor, "bundle.restore", str(bundle.pk))


def empty_bundle(bundle: Bundle) -> None:
    """Delete all of a bundle but its name, version and checksum, under which it may have left."""
    size = measure_rows([bundle])
    bundle.origin, bundle.bundle_data, bundle.description = DELETED, "", ""
    bundle.signature = bundle.public_key = ""
    bundle.size, bundle.counts, bundle.left_out, bundle.redacted = 0, {}, {}, 0
    bundle.save(force_update=True)
    count_growth(bundle.project_id, 0, measure_rows([bundle]) - size)
