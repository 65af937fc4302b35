"""The web pages of the memory: all of a project's stand below /p/<its slug>/.

A page that has a branch in its path calls it branch_name; the others have ?branch= and ?at=.
"""

from django.urls import path
from django.utils.translation import gettext_lazy as _

from memory.views.home import Help, Home
from memory.views.navigation import Section, add_section
from memory.views.place import Go

urlpatterns = [
    path("", Home.as_view(), name="home"),
    path("go", Go.as_view(), name="go"),
    path("help", Help.as_view(), name="project-help"),
]

add_section(Section("home", _("Home"), "home", "h", place=10))
