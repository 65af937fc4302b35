"""What may be done with the key with which a project signs its bundles: its public half is shown."""

from curation.answers import bundles as shapes
from curation.engines.bundles.keys import BundleKeyEngine
from curation.models import SigningKey
from memory.operations.base import Answer, Resource, Row

engine = BundleKeyEngine()
ROW = Answer(shapes.SigningKeyShape, shapes.render_signing_key)

SIGNING_KEY = Resource("signing-key", "signing-key", row=Row("key_id", "pk", "uuid"), model=SigningKey)
SIGNING_KEY.add("list", engine.get_signing_key, "Read the public key of the project", ROW)
SIGNING_KEY.add("create", engine.make_signing_key, "Make the project's key, or a new one", ROW)
