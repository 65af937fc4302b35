"""The site: settings, routes, server, command line. It assembles the apps; none of them imports it."""

__version__ = "0.1.0"
