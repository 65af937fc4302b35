"""What OpenAPI says. Stubbed for the moment."""


def documented(view):
    return view
