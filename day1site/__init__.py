"""The site: settings, routes, server, command line. It assembles the apps; nothing imports it."""
