"""Marks of what was erased and hidden, by which long work finds that it must read the memory again."""

from typing import NamedTuple
from uuid import UUID

from django.db.models import Max

from memory.models import Erasure, HiddenVersion


class Stale(Exception):
    """Something was erased or hidden since a run has read its source."""


class ErasureMark(NamedTuple):
    """It differs from an earlier one when something was erased, or hidden by a quarantine, in between."""

    erasure: UUID | None
    blanked_at: object
    hidden: int | None
    is_under_way: bool

    @classmethod
    def read(cls, project_id: UUID) -> "ErasureMark":
        erasures = Erasure.objects.filter(project=project_id).order_by()
        hidden = HiddenVersion.objects.filter(project=project_id).order_by()
        return cls(
            erasures.order_by("-pk").values_list("pk", flat=True).first(),
            erasures.aggregate(found=Max("blanked_at"))["found"],
            hidden.aggregate(found=Max("pk"))["found"],
            erasures.filter(blanked_at=None).exists(),
        )
