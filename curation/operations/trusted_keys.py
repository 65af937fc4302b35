"""What may be done with the keys whose signatures a project trusts."""

from curation.answers import bundles as shapes
from curation.engines.bundles.keys import BundleKeyEngine
from curation.engines.fields.bundles import TRUSTED_KEY
from curation.models import TrustedKey
from memory.engines.fields.base import Use
from memory.operations.base import GONE, Answer, Resource, Row

engine = BundleKeyEngine()

TRUSTED_KEYS = Resource("trusted-keys", "trusted-key", row=Row("name", "name"), model=TrustedKey)
TRUSTED_KEYS.add(
    "create",
    engine.trust_key,
    "Trust a key",
    Answer(shapes.TrustedKeyShape, shapes.render_trusted_key),
    body="TrustedKeyInput",
    about="A key to trust.",
    fields=TRUSTED_KEY.select_fields(Use.CREATE),
)
TRUSTED_KEYS.add(
    "list",
    engine.list_trusted_keys,
    "List trusted keys by name",
    Answer(shapes.TrustedKeysShape, shapes.render_keys),
)
TRUSTED_KEYS.add("destroy", engine.distrust_key, "Trust a key no more", GONE)
