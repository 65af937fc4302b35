"""The addresses of the desk: those of a project stand below /admin/p/<its slug>/."""

from django.urls import path

from memory.admin.acts import Go, Undo
from memory.admin.branches import Branches, BranchPage
from memory.admin.capture import ObservationPage, Observations, RelationPage, Relations
from memory.admin.fact import FactPage
from memory.admin.facts import Facts
from memory.admin.keys import Keys
from memory.admin.people import Audit, Members, Sessions
from memory.admin.review import Review

P = "p/<slug:slug>/"

urlpatterns = [
    path(f"{P}facts", Facts.at_desk(), name="facts"),
    path(f"{P}facts/<uuid:fact_id>", FactPage.at_desk(), name="fact"),
    path(f"{P}review", Review.at_desk(), name="review"),
    path(f"{P}branches", Branches.at_desk(), name="branches"),
    path(f"{P}branches/<path:branch_name>", BranchPage.at_desk(), name="branch"),
    path(f"{P}sessions", Sessions.at_desk(), name="sessions"),
    path(f"{P}observations", Observations.at_desk(), name="observations"),
    path(f"{P}observations/<uuid:observation_id>", ObservationPage.at_desk(), name="observation"),
    path(f"{P}relations", Relations.at_desk(), name="relations"),
    path(f"{P}relations/<uuid:relation_id>", RelationPage.at_desk(), name="relation"),
    path(f"{P}keys", Keys.at_desk(), name="keys"),
    path(f"{P}members", Members.at_desk(), name="members"),
    path(f"{P}audit", Audit.at_desk(), name="audit"),
    path(f"{P}go", Go.at_desk(), name="go"),
    path(f"{P}undo/<uuid:commit_id>", Undo.at_desk(), name="undo"),
]
