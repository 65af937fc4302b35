"""The pages of curation, below the address of a project in both frames."""

from django.utils.translation import gettext_lazy as _

from conversations.views.conversations import CONVERSATION_PANELS
from curation.views.bundles import (
    BundleDownload,
    BundleKeys,
    BundlePage,
    Bundles,
    BundleUpload,
)
from curation.views.handoffs import HandoffPage, Handoffs
from curation.views.imports import ImportPage, Imports
from curation.views.quarantines import QuarantinePage, Quarantines
from curation.views.queue import ChangeView, MovedQueue, QueuePage, SaveView
from curation.views.review import Answer, Review
from curation.views.review_panels import count_decisions, load_questions, load_review_figure, load_waiting
from curation.views.scores import ScoreConversation, Scorings, load_scores
from curation.views.templates import TemplatePage, Templates
from curation.views.verification import AskJudge, CalibrationPage, JobPage, VerificationPage, load_panel
from memory.views.frame.frames import WEB, Page, build_patterns
from memory.views.frame.navigation import SAFETY, SHARE, Section, add_section, add_setting
from memory.views.frame.panels import FACT_PANELS, HOME_PANELS
from memory.views.frame.view_context import REVIEW, add_counter
from memory.views.generic.list_page import describe_list
from memory.views.sessions.home import add_home_figure

PAGES: list[Page] = [
    ("review", QueuePage, "review"),
    ("review/questions", Review, "review-questions"),
    ("review/<uuid:item_id>", Answer, "review-answer"),
    ("queue", MovedQueue, "queue"),
    ("review/views", SaveView, "save-view"),
    ("review/views/<uuid:view_id>", ChangeView, "change-view"),
    ("verification", VerificationPage, "verification"),
    ("verification/calibration", CalibrationPage, "calibration"),
    ("verification/jobs/<uuid:job_id>", JobPage, "verification-job"),
    ("facts/<uuid:fact_id>/judge", AskJudge, "fact-judge"),
    ("handoffs", Handoffs, "handoffs"),
    ("handoffs/<uuid:handoff_id>", HandoffPage, "handoff"),
    ("imports", Imports, "imports"),
    ("imports/<uuid:import_id>", ImportPage, "import"),
    ("quarantines", Quarantines, "quarantines"),
    ("quarantines/<uuid:quarantine_id>", QuarantinePage, "quarantine"),
    ("bundles", Bundles, "bundles"),
    ("bundles/upload", BundleUpload, "bundle-upload"),
    ("bundles/keys", BundleKeys, "bundle-keys"),
    ("bundles/<uuid:bundle_id>", BundlePage, "bundle"),
    ("bundles/<uuid:bundle_id>/document", BundleDownload, "bundle-document"),
    ("conversations/<uuid:conversation_id>/score", ScoreConversation, "score-conversation"),
    ("scorings", Scorings, "scorings"),
    ("templates", Templates, "templates"),
    ("templates/<str:name>", TemplatePage, "template"),
]
urlpatterns = build_patterns(PAGES, WEB)

add_section(Section("review", _("Review"), "inbox", "r", scope="curate", order=10, place="review"))
add_section(
    Section(
        "verification",
        _("Verification"),
        "verified",
        "v",
        scope="curate",
        order=20,
        place="review",
        is_tab=False,
    )
)
for part, title, drawing, letter, order, listed in (
    ("handoffs", _("Handoffs"), "out", "w", 50, Handoffs),
    ("templates", _("Templates"), "copy", "p", 60, Templates),
    ("bundles", _("Bundles"), "project", "d", 70, Bundles),
    ("imports", _("Imports"), "in", "", 75, Imports),
):
    add_setting(part, title, drawing, letter, group=SHARE, order=order, describe=describe_list(listed))
add_setting(
    "quarantines",
    _("Quarantine"),
    "archived",
    "y",
    scope="curate",
    group=SAFETY,
    order=80,
    describe=describe_list(Quarantines),
)
FACT_PANELS.add("fact/rating.html", load_panel)
FACT_PANELS.add("fact/questions.html", load_questions)
add_counter(REVIEW, count_decisions)
add_home_figure(load_review_figure)
HOME_PANELS.add("review_waiting.html", load_waiting)
CONVERSATION_PANELS.add("conversation/scores.html", load_scores)
