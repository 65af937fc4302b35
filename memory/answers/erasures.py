"""Serializers for erasures."""

from typing import Any

from rest_framework import serializers as s

from memory.answers.rendering import build_renderer
from memory.engines.erasure.engine import ErasurePlan, Verification
from memory.models import Erasure

SCOPES = list(Erasure.Scope.values)


class ErasureInput(s.Serializer):
    """What to erase. Without ``confirm``, or with ``dry_run``, nothing is erased, and the answer says what
    would be.
    """

    scope = s.ChoiceField(choices=SCOPES)
    target = s.CharField(
        max_length=1000,
        help_text="The id of the fact, session or agent; of an actor, the id of an agent or the name"
        " of a person as the history shows it, refused where it is that of several kinds: user:ID, key:ID and"
        " local: name one alone; of a match, the text to look for.",
    )
    dry_run = s.BooleanField(
        required=False, help_text="true erases nothing. Default: true without confirm, else false."
    )
    confirm = s.CharField(
        max_length=200, required=False, help_text="The name that the dry run asks for: erases for good."
    )
    drop_copies = s.BooleanField(
        required=False, help_text="true drops the copies of the store that hold it too. Default: false."
    )


class ErasureShape(s.Serializer):
    """An erasure, without what was erased."""

    id = s.UUIDField()
    scope = s.ChoiceField(choices=SCOPES)
    target = s.CharField(help_text="Empty for a match: the text is not kept.")
    state = s.ChoiceField(choices=Erasure.State.choices)
    waits_for = s.CharField(help_text="Why it is pending; it goes on by itself.")
    counts = s.DictField(child=s.IntegerField(), help_text="Kind of memory -> number.")
    to_drop = s.ListField(
        source="undropped", child=s.CharField(), help_text="Copies of the store that are still to be dropped."
    )
    dropped = s.ListField(child=s.CharField(), help_text="Copies of the store that were dropped.")
    proof = s.CharField(help_text="SHA-256 over the keyed digests of all memories, whose keys are destroyed.")
    requested_at = s.DateTimeField()
    requested_by = s.CharField()
    requested_by_kind = s.CharField(help_text="key, user or local, the command line; empty: unknown.")
    requested_by_id = s.CharField(help_text="The id of the key or user; else empty.")
    done_at = s.DateTimeField(allow_null=True)


class ErasureCheckShape(ErasureShape):
    """An erasure, and whether everything that it covers is still blank."""

    holds = s.BooleanField(help_text="Done, nothing is back, and the digests give the proof.")
    versions_left = s.IntegerField(help_text="Versions that have content.")


class ErasureExampleShape(s.Serializer):
    kind = s.CharField()
    id = s.UUIDField()
    line = s.CharField(help_text="The beginning of its text.")
    why = s.CharField(help_text="Of what stays: derived, replaces, source, repeats.")


class StoreCopyShape(s.Serializer):
    kind = s.ChoiceField(choices=["snapshot", "workspace", "window", "backup"])
    name = s.CharField(help_text="Empty for a copy that another project made.")
    own = s.BooleanField()


class IdentityShape(s.Serializer):
    """A person, a key or the command line; names may be those of several."""

    kind = s.CharField()
    id = s.CharField()
    label: Any = s.CharField()  # the serializer's own has the same name


class ErasurePlanShape(s.Serializer):
    """What an erasure would do. Nothing was erased."""

    dry_run = s.BooleanField(help_text="true: nothing was erased.")
    scope = s.ChoiceField(choices=SCOPES)
    target = s.CharField()
    actors = IdentityShape(many=True, help_text="Whom an erasure of an actor is about, without agents.")
    confirm = s.CharField(help_text="The name to send as confirm.")
    counts = s.DictField(child=s.IntegerField())
    examples = ErasureExampleShape(many=True)
    left = ErasureExampleShape(many=True, help_text="What repeats it or comes from it, and stays.")
    copies = StoreCopyShape(many=True, help_text="Copies of the store that hold it too.")
    backups = StoreCopyShape(many=True, help_text="Database files beside the store: delete them yourself.")


erasure = build_renderer(ErasureShape)
_plan = build_renderer(ErasurePlanShape, "dry_run")


def erasure_check(found: Verification) -> dict[str, Any]:
    return {**erasure(found.erasure), "holds": found.holds, "versions_left": found.versions_left}


def erasure_plan(plan: ErasurePlan) -> dict[str, Any]:
    return _plan(plan, dry_run=True)
