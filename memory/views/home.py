"""Home: is memory healthy, what waits for me, what did agents learn today."""

from memory.views.base import ProjectPage


class Home(ProjectPage):
    template_name = "home.html"
    section = "home"


class Help(ProjectPage):
    """The keys, and what the words mean."""

    template_name = "help.html"
