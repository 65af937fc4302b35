"""What may be done with items."""

from operator import attrgetter

from memory.answers import items as shapes
from memory.engines.fields import items as f
from memory.engines.fields.base import Use
from memory.engines.fields.common import STATED
from memory.engines.items.batch import ItemBatchEngine
from memory.engines.items.engine import ItemEngine
from memory.models import Fact
from memory.operations.base import GONE, Answer, Resource, Row

engine = ItemEngine()
ROW = Answer(shapes.ItemShape, shapes.item, takes=("branch",))
WRITTEN = Answer(shapes.WrittenItemShape, shapes.written_item, attrgetter("created"), takes=("branch",))
KEY = "<key>"

ITEMS = Resource("items", "item", row=Row("namespace", "namespace", "path", ".+"), model=Fact, origin=STATED)
ITEMS.add(
    "list", engine.list_items, "List items in the order of namespace and key", ROW, serves_end_users=True
)
ITEMS.add_read("get_item", engine.get_item, "Read the item under a key", ROW, path=KEY, serves_end_users=True)
ITEMS.add(
    "put_item",
    engine.put_item,
    "Make or replace the item under a key",
    WRITTEN,
    verb="put",
    path=KEY,
    body="ItemInput",
    about="What shall stand under the key.",
    fields=tuple(one.with_traits(use=Use.CREATE) for one in (*f.FACT_FIELDS, f.EXPIRES)),
    example={"value": {"theme": "dark"}, "text": "Ada prefers the dark theme."},
    waits=True,
    serves_end_users=True,
)
ITEMS.add(
    "delete_item",
    engine.delete_item,
    "Delete the item under a key",
    GONE,
    verb="delete",
    path=KEY,
    serves_end_users=True,
)
ITEMS.add_read(
    "namespaces",
    engine.list_namespaces,
    "List the namespaces of items",
    Answer(shapes.NamespacesShape, shapes.namespaces_shape),
    of_row=False,
    serves_end_users=True,
)
ITEMS.add(
    "batch",
    ItemBatchEngine().run_calls,
    "Put, get, delete and search up to 1,000 items at once",
    Answer(shapes.ItemResultsShape, shapes.results_shape, takes=("branch",)),
    of_row=False,
    body="ItemBatchInput",
    about="Calls: what is read is what stood before the writes, which are one commit.",
    example={"calls": [{"op": "put", "namespace": "users/ada", "key": "theme", "value": "dark"}]},
    waits=True,
    serves_end_users=True,
)
