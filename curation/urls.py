"""The pages of curation, below the address of a project in both frames."""

from django.utils.translation import gettext_lazy as _

from curation.views.bundles import BundleDownload, BundleKeys, BundlePage, Bundles, BundleUpload
from curation.views.calibration import CalibrationPage
from curation.views.handoffs import HandoffPage, Handoffs
from curation.views.templates import TemplatePage, Templates
from curation.views.verification import AskJudge, JobPage, VerificationPage, load_panel
from memory.views.fact_panels import add_fact_panel
from memory.views.frames import WEB, Page, build_patterns
from memory.views.navigation import Section, add_section

PAGES: list[Page] = [
    ("verification", VerificationPage, "verification"),
    ("verification/calibration", CalibrationPage, "calibration"),
    ("verification/jobs/<uuid:job_id>", JobPage, "verification-job"),
    ("facts/<uuid:fact_id>/judge", AskJudge, "fact-judge"),
    ("handoffs", Handoffs, "handoffs"),
    ("handoffs/<uuid:handoff_id>", HandoffPage, "handoff"),
    ("bundles", Bundles, "bundles"),
    ("bundles/upload", BundleUpload, "bundle-upload"),
    ("bundles/keys", BundleKeys, "bundle-keys"),
    ("bundles/<uuid:bundle_id>", BundlePage, "bundle"),
    ("bundles/<uuid:bundle_id>/document", BundleDownload, "bundle-document"),
    ("templates", Templates, "templates"),
    ("templates/<str:name>", TemplatePage, "template"),
]
urlpatterns = build_patterns(PAGES, WEB)

add_section(Section("verification", _("Verification"), "verified", "v", scope="curate", order=44))
add_section(Section("handoffs", _("Handoffs"), "out", "w", order=46))
add_section(Section("bundles", _("Bundles"), "project", "d", order=48))
add_section(Section("templates", _("Templates"), "copy", "p", order=47))
add_fact_panel("fact/rating.html", load_panel)
