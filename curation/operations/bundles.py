"""What may be done with bundles; an uploaded document is taken by hand."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from curation.answers import bundles as shapes
from curation.engines.bundles.document import read_bytes
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.fields.bundles import BUNDLE, BUNDLE_FILTERS
from curation.engines.orders import BUNDLES as ORDER
from curation.models import Bundle
from memory.engines.fields.base import Use
from memory.engines.fields.common import STATED
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column
from memory.operations.deletion import DELETED, MANY_DELETED


def render_document(text: str) -> Any:
    """Return the document of a bundle."""
    return read_bytes(text.encode("utf-8", "surrogatepass"))


engine = KnowledgeBundleEngine()
ROW = Answer(shapes.BundleShape, shapes.render_bundle)

BUNDLES = Resource("bundles", "bundle", row=Row("bundle_id", "pk", "uuid"), model=Bundle)
BUNDLES.add(
    "create",
    engine.create_bundle,
    "Make a bundle of a branch",
    ROW,
    body="BundleInput",
    about="A new bundle of what a branch shows.",
    fields=BUNDLE.select_fields(Use.CREATE),
    origin=STATED,
)
BUNDLES.add(
    "list", engine.list_bundles, "List bundles, newest first", ROW, filters=BUNDLE_FILTERS, order=ORDER
)
BUNDLES.show(
    "list",
    Column("id", head="id"),
    Column("name", _("Bundle"), "name", tone="text"),
    Column("version", head="version"),
    Column("origin", head="origin"),
    Column("source_branch", _("From branch"), "from", tone="maybe"),
    Column("facts", _("Facts"), "facts", "number", of="counts.facts"),
    Column("size", _("Size"), "size", "size"),
    Column("signature", head="signed"),
    Column("created_at", _("Made"), "made", "time"),
)
BUNDLES.add("retrieve", engine.get_bundle, "Read what a bundle holds", ROW)
BUNDLES.add("destroy", engine.delete_bundle, "Delete a bundle", DELETED)
BUNDLES.add(
    "delete_many",
    engine.delete_bundles,
    "Delete the bundles that fit",
    MANY_DELETED,
    path="delete",
    of_row=False,
    body="BundlesDeleteInput",
    about="Ids, filters or both: what fits all of them is deleted.",
    filters=BUNDLE_FILTERS,
    example={"name": "payments", "dry_run": True},
)
BUNDLES.add("restore", engine.restore_bundle, "Restore a deleted bundle", ROW)
BUNDLES.add_read(
    "export",
    engine.export_bundle,
    "Export the document",
    Answer(shapes.BundleDocumentShape, render_document),
)
BUNDLES.add(
    "import_stored",
    engine.import_bundle,
    "Import a bundle on a branch",
    Answer(shapes.BundleReportShape, shapes.render_report),
    path="import",
    body="BundleImportInput",
    about="Where a bundle is imported.",
    origin=STATED,
)
