"""What may be done with API keys. A token is told once."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.answers.keys import KeyShape, NewKeyShape
from memory.answers.keys import key as render_key
from memory.engines.access.keys import KeyEngine
from memory.engines.fields.base import Use
from memory.engines.fields.keys import KEY, KEY_FILTERS
from memory.engines.fields.orders import KEYS as ORDER
from memory.models import ApiKey
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column


def render_new(made: tuple[ApiKey, str]) -> dict[str, Any]:
    """Return a new key with its token."""
    key, token = made
    return {**render_key(key), "token": token}


engine = KeyEngine()
ROW = Answer(KeyShape, render_key)
NEW_KEY = Answer(NewKeyShape, render_new, codes=(201,), untold={"token": None})

KEYS = Resource("keys", "key", row=Row("key_id", "pk", "uuid"), model=ApiKey)
KEYS.add(
    "create",
    engine.create_key,
    "Make an API key; its token is told once",
    NEW_KEY,
    body="KeyInput",
    about="The scopes, branches, rate and expiry of a key.",
    fields=KEY.select_fields(Use.CREATE),
    example={"label": "reader", "scopes": ["read"]},
)
KEYS.add(
    "list", engine.list_keys, "List the project's keys, newest first", ROW, filters=KEY_FILTERS, order=ORDER
)
KEYS.show(
    "list",
    Column("id", head="id"),
    Column("label", _("Name"), "label"),
    Column("prefix", head="prefix"),
    Column("scopes", _("Rights"), "scopes", "names"),
    Column("branch_patterns", _("Branches"), "branches"),
    Column(
        *("written_facts", _("Quota of facts"), "facts written"),
        of="quota_of_facts",
        tone="maybe number",
        none=_("none"),
    ),
    Column("last_used_at", _("Used"), "last used", "time", none=_("never")),
    Column("created_at", _("Made"), kind="time"),
    Column("expires_at", _("State"), "state"),
)
KEYS.add("revoke", engine.revoke_key, "End a key", ROW)
KEYS.add(
    "rotate",
    engine.rotate_key,
    "A new key in the place of an old one",
    NEW_KEY,
    body="RotateInput",
    about="The grace period of the old key.",
)
