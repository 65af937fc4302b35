"""Calibration: how far the judge agrees with the curators."""

from typing import Any

from django.utils.translation import gettext_lazy as lazy

from curation.engines.verification.calibration import VERDICTS, Calibration, calibrate
from memory.views.frame.base import ProjectPage

# Landis and Koch's words for a kappa, by its lower bound.
STRENGTHS = (
    (0.81, lazy("almost perfect")),
    (0.61, lazy("substantial")),
    (0.41, lazy("moderate")),
    (0.21, lazy("fair")),
    (0.0, lazy("slight")),
)


class CalibrationPage(ProjectPage):
    template_name = "calibration.html"
    section, scope, title = "verification", "curate", lazy("Calibration of the judge")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = calibrate(actor=self.reader.actor)
        judges = [describe_calibration(one) for one in (found[1:] if len(found) == 2 else found)]
        return super().get_context_data(judges=judges, verdicts=VERDICTS, **kwargs)


def describe_calibration(one: Calibration) -> dict[str, Any]:
    """Return a judge's agreement as the page shows it; a row of the table for each verdict of a person."""
    rows = [(verdict, [(judge, one.table[verdict][judge]) for judge in VERDICTS]) for verdict in VERDICTS]
    percent = None if one.agreement is None else round(one.agreement * 100)
    return {
        "calibration": one,
        "rows": [row for row in rows if row[0] != "unverified"],  # a cleared verdict decides nothing
        "percent": percent,
        "strength": describe_kappa(one.kappa),
    }


def describe_kappa(kappa: float | None) -> Any:
    if kappa is None:
        return ""
    return next((word for least, word in STRENGTHS if kappa >= least), lazy("none"))
