"""What may be done with imports from other products."""

from django.utils.translation import gettext_lazy as _

from curation.answers import imports as shapes
from curation.engines.fields.imports import IMPORT, IMPORT_FILTERS
from curation.engines.imports.engine import ImportEngine
from curation.engines.orders import IMPORTS as ORDER
from curation.models import MemoryImport
from memory.answers import merges as merge_shapes
from memory.engines.fields.base import Use
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = ImportEngine()
ROW = Answer(shapes.ImportShape, shapes.render_import)
REPORT = Answer(shapes.ImportReportShape, shapes.render_report)

IMPORTS = Resource("imports", "import", row=Row("import_id", "pk", "uuid"), model=MemoryImport)
IMPORTS.add(
    "create",
    engine.begin_import,
    "Begin an import from another product, or begin it again",
    ROW,
    body="ImportInput",
    about="What is imported.",
    fields=IMPORT.select_fields(Use.CREATE),
)
IMPORTS.add(
    "list", engine.list_imports, "List imports, newest first", ROW, filters=IMPORT_FILTERS, order=ORDER
)
IMPORTS.show(
    "list",
    Column("id", head="id"),
    Column("product", _("Product"), "product"),
    Column("file", _("File"), "file", tone="text"),
    Column("state", head="state"),
    Column("branch", _("Branch"), "branch", of="branch.name", tone="maybe"),
    Column("records", _("Records"), "records", "number", of="counts.records"),
    Column("new", _("New"), "new", "number", of="counts.new"),
    Column("created_at", _("Begun"), "begun", "time"),
)
IMPORTS.add("retrieve", engine.get_import, "Read an import with its report", REPORT)
IMPORTS.add(
    "records",
    engine.write_records,
    "Write records of an import",
    ROW,
    body="ImportRecordsInput",
    about="A portion of what a product remembered, at most 500 records.",
)
IMPORTS.add(
    "finish",
    engine.finish_import,
    "Finish an import",
    REPORT,
    body="ImportFinishInput",
    about="What could not be read.",
)
IMPORTS.add(
    "propose",
    engine.propose_import,
    "Ask for a merge of what is good of an import",
    Answer(merge_shapes.MergeRequestShape, merge_shapes.request_shape),
    body="ImportProposeInput",
    about="What is left out.",
)
