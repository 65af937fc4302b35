"""What is answered of bundles and of the keys that projects trust."""

from typing import Any

from drf_spectacular.drainage import set_override
from rest_framework import serializers as s

from curation.engines.bundles.document import PARTS
from curation.engines.bundles.importing import ALL_KINDS
from curation.engines.bundles.keys import TRUSTED, UNKNOWN, UNSIGNED
from curation.engines.fields.bundles import BUNDLE, TRUSTED_KEY
from curation.models import TrustedKey
from memory.answers import commits as commit_shapes
from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer


class BundleContentShape(s.Serializer):
    def get_fields(self) -> dict[str, s.Field]:
        return {name: s.ListField(child=s.DictField(), required=False) for name in PARTS}


class BundleSignatureShape(s.Serializer):
    algorithm = s.CharField(help_text="ed25519")
    public_key = s.CharField()
    value = s.CharField(help_text="Of the canonical document without sha256 and signature, in base64.")


class BundleDocumentShape(s.Serializer):
    """The document of a bundle."""

    format = s.CharField(help_text="day1-bundle")
    schema_version = s.IntegerField(help_text="1")
    name = s.CharField()
    version = s.IntegerField()
    description = s.CharField(required=False, allow_blank=True)
    source_branch = s.CharField(required=False, allow_blank=True)
    only_verified = s.BooleanField(required=False)
    created_at = s.DateTimeField(required=False)
    counts = s.DictField(required=False)
    content = BundleContentShape()
    sha256 = s.CharField()
    signature = BundleSignatureShape(required=False)


BundleShape = d.declare_answer(BUNDLE, "A bundle without its document.")


class BundleItemShape(s.Serializer):
    """An item that is not new."""

    kind = s.ChoiceField(choices=[(name, name) for name in ALL_KINDS])
    id = s.CharField(help_text="In the bundle.")
    existing_id = s.CharField(help_text="Of the memory that is here; empty without one.")
    line = s.CharField()
    reason = s.CharField()


class ImportCountShape(s.Serializer):
    new = s.IntegerField()
    duplicate = s.IntegerField()
    refused = s.IntegerField()


class ImportCountsShape(s.Serializer):
    def get_fields(self) -> dict[str, s.Field]:
        return {name: ImportCountShape() for name in ALL_KINDS}


class BundleReportShape(s.Serializer):
    """What an import did, or would do."""

    name = s.CharField()
    version = s.IntegerField()
    sha256 = s.CharField()
    branch = s.CharField(source="branch_name")
    creates_branch = s.BooleanField()
    dry_run = s.BooleanField()
    trust = s.ChoiceField(
        choices=[(name, name) for name in (TRUSTED, UNKNOWN, UNSIGNED)], source="trust.state"
    )
    signed_by = s.CharField(source="trust.name", help_text="The name of the trusted key; empty without one.")
    counts = ImportCountsShape()
    verified = s.IntegerField(help_text="New facts that stay verified.")
    reset = s.IntegerField(help_text="New facts that were verified elsewhere, and are not here.")
    duplicates = BundleItemShape(many=True, help_text="The first 100.")
    refused = BundleItemShape(many=True, help_text="The first 100.")
    warnings = s.ListField(child=s.CharField())
    commit = commit_shapes.CommitShape(
        allow_null=True, help_text="null for a dry run, and when nothing was new."
    )


class BundleUploadShape(s.Serializer):
    """The result of an uploaded document."""

    bundle = BundleShape(allow_null=True, help_text="null for a dry run.")
    report = BundleReportShape(allow_null=True, help_text="null when it was only kept.")
    dropped = s.ListField(
        child=s.CharField(), help_text="Fields that are not known here and were dropped; the first 20."
    )


TrustedKeyShape = d.declare_answer(TRUSTED_KEY, "A key of somebody else whose signature the project trusts.")


class TrustedKeysShape(s.Serializer):
    results = TrustedKeyShape(many=True)


class SigningKeyShape(s.Serializer):
    """The public half of the key with which the project signs; the private half never leaves the server."""

    public_key = s.CharField()
    created_by = s.CharField()
    created_at = s.DateTimeField()


# The actions are called list, but return one object.
set_override(TrustedKeysShape, "many", False)
set_override(SigningKeyShape, "many", False)
render_bundle = build_renderer(BundleShape)
render_trusted_key = build_renderer(TrustedKeyShape)
render_signing_key = build_renderer(SigningKeyShape)
render_report = build_renderer(BundleReportShape)
render_upload = build_renderer(BundleUploadShape)


def render_keys(rows: list[TrustedKey]) -> dict[str, Any]:
    return {"results": [render_trusted_key(row) for row in rows]}
