"""What an engine's refusal says, in the reader's language."""

from django.utils.translation import gettext

from memory.exceptions import Day1Error


def sentence(error: Day1Error) -> str:
    """The error's text; names of fields and branches in it stay as they are."""
    said = gettext(error.template)
    return said.format(**error.data) if error.data else said
