"""What the forms of the pages share."""

from django import forms

from memory.exceptions import Day1Error
from memory.views.sentences import sentence


def say(form: forms.Form, error: Day1Error) -> None:
    """Put an engine's refusal where the reader looks: at its field, or above the form."""
    field = error.data.get("field")
    form.add_error(field if field in form.fields else None, sentence(error))
