"""A list with a line of tokens, and without a form of its filters."""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import HttpResponse

from memory.exceptions import Invalid
from memory.views.error_text import error_sentence
from memory.views.exports import ExportedList
from memory.views.filter_tokens import TokenFilters, list_chips, list_unknown, refuse_unknown, refuse_words
from memory.views.filterset_form import list_choices
from memory.views.labels import WORDS


class TokenList(TokenFilters, ExportedList):
    """The rows that the tokens leave. With ``filters``, those of the API, the page has the line of tokens.

    A refused token stays in the line for correction. A page has ``list_filtered``; its ``extra_context`` has
    the words, ``search`` those of the line.
    """

    filters: Any = None
    words: Mapping[str, Any] = WORDS  # of the values
    chosen_elsewhere: Collection[str] = ("branch",)  # filters that are no tokens: the bar has the branch
    parameters: Collection[str] = ()  # of the address, beside filters

    def list_filtered(self, filters: Mapping[str, Any]) -> Any:
        """Return a page of the rows with these filters. Raises Invalid."""
        raise NotImplementedError

    @property
    def token_fields(self) -> Collection[str]:
        names = self.filters.base_filters if self.filters else ()
        return [name for name in names if name not in self.chosen_elsewhere]

    @property
    def token_choices(self) -> Mapping[str, Mapping[str, Any]]:
        return list_choices(self.filters, self.words) if self.filters else {}

    @property
    def active_tokens(self) -> dict[str, str]:
        """Return the filters of the address."""
        found = {name: self.request.GET.get(name, "") for name in self.token_fields}
        return {name: text for name, text in found.items() if text}

    def load_exported(self) -> Any:
        refuse_unknown(self.request, self.token_fields, self.parameters)
        if self.typed_line[1]:
            refuse_words()
        return self.list_filtered(self.active_tokens)

    def load_listed(self) -> dict[str, Any]:
        """Return the page of the list, or why there is none: what was typed stays for correction."""
        try:
            return {"page": self.load_exported()}
        except Invalid as error:
            return {"error": error_sentence(error, self.words)}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # An unknown token is shown too, so that it can be taken away.
        shown = self.active_tokens | list_unknown(self.request, {*self.token_fields, *self.parameters})
        chips = list(list_chips(self.request, shown, choices=self.token_choices))
        kwargs = {"filtered": bool(chips), **self.load_listed(), **kwargs}
        return super().get_context_data(
            tokens=self.active_tokens,
            query=self.request.GET.get("q", ""),
            chips=chips,
            may_filter=kwargs["filtered"] or "error" in kwargs or bool(kwargs["page"].results),
            **kwargs,
        )

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        refused = {"status": Invalid.status} if context.get("error") else {}
        return super().render_to_response(context, **{**refused, **kwargs})
