"""Forks: the form that makes one at a message, and the tree of a conversation."""

from functools import cached_property
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.conversations import ConversationEngine
from conversations.engines.fork_tree import load_fork_tree
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message
from conversations.views.conversations import Conversations
from memory.engines.support import validation as c
from memory.exceptions import Day1Error, Invalid
from memory.views.base import ProjectPage
from memory.views.flash import flash_success
from memory.views.widgets import add_form_error

conversation_engine, message_engine = ConversationEngine(), MessageEngine()
CODE = {"autocomplete": "off", "spellcheck": "false"}


class ForkForm(forms.Form):
    """A form whose fields are all texts: the engine checks them."""

    title = forms.CharField(
        label=lazy("Title"),
        help_text=lazy("Empty: that of its source."),
        widget=forms.TextInput({"dir": "auto", "maxlength": 300}),
    )
    model = forms.CharField(
        label=lazy("Model"), help_text=lazy("Empty: that of its source."), widget=forms.TextInput(CODE)
    )
    memory_branch = forms.CharField(
        label=lazy("Memory branch"),
        help_text=lazy("A new branch with the memory as it was at this message. Empty: this branch."),
        widget=forms.TextInput({"placeholder": "experiment/…", **CODE}),
    )
    use_required_attribute = False


class ThreadForm(ProjectPage):
    """The base of forms about one message of a conversation, named by ?message=; without it, its last."""

    section, scope = "conversations", "write"
    template_name = "conversation/form.html"
    extra_context = {"list_title": Conversations.title}

    def build_form(self, data: Any = None) -> forms.Form:
        raise NotImplementedError

    def carry_out(self, form: forms.Form, typed: dict[str, Any]) -> str:
        """Do what was asked; return the address of what was made. Raises Day1Error."""
        raise NotImplementedError

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        talk, message = self.load_point()
        kwargs.setdefault("form", self.build_form())
        return super().get_context_data(talk=talk, message=message, **kwargs)

    def load_point(self) -> tuple[Conversation, Message]:
        """Return the conversation and the message, as both are now. Raises NotFound, Invalid."""
        where, uid = self.reader.write_args, self.kwargs["conversation_id"]
        talk = conversation_engine.get_conversation(conversation_id=uid, **where)
        return talk, message_engine.get_message(message_id=self.message_id, **where)

    @cached_property
    def message_id(self) -> UUID:
        """Return the message of the address, else the last one. Raises Invalid, NotFound."""
        if text := self.request.GET.get("message", ""):
            return c.parse_uuid("message", text)
        where, uid = self.reader.write_args, self.kwargs["conversation_id"]
        last = message_engine.list_messages(conversation_id=uid, from_end=True, limit=1, **where)
        if not last.results:
            raise Invalid("Nothing was said here yet, so there is nothing to go on from.")
        return last.results[0].uid

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = self.build_form(request.POST)
        form.is_valid()  # every field is an optional text: the engine validates
        typed = {name: text for name in form.fields if (text := request.POST.get(name, "").strip())}
        try:
            return redirect(self.carry_out(form, typed))
        except Day1Error as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)


class ForkPage(ThreadForm):
    title = lazy("Fork this conversation")
    extra_context = {
        **ThreadForm.extra_context,
        "lead": lazy(
            "The fork shares all that was said up to this message. The conversation stays as it is."
        ),
        "verb": lazy("Fork"),
        "drawing": "branch",
    }

    def build_form(self, data: Any = None) -> forms.Form:
        return ForkForm(data)

    def carry_out(self, form: forms.Form, typed: dict[str, Any]) -> str:
        fork = conversation_engine.fork_conversation(
            conversation_id=self.kwargs["conversation_id"],
            message_id=self.message_id,
            **self.reader.write_args,
            **typed,
        )
        flash_success(self.request, _("Forked. An agent goes on with it by its id."))
        branch = typed.get("memory_branch") or self.reader.branch.name
        return self.reader.url("conversation", fork.uid, branch=branch, end=1)


class ForkTreePage(ProjectPage):
    """The tree that a conversation belongs to."""

    reads_past = True
    template_name = "conversation/tree.html"
    section, title = "conversations", lazy("Tree of forks")
    extra_context = {"list_title": Conversations.title}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        uid: UUID = kwargs.pop("conversation_id")
        one = conversation_engine.get_conversation(conversation_id=uid, **self.reader.read_args)
        tree = load_fork_tree(conversation_id=uid, **self.reader.read_args)
        return super().get_context_data(one=one, tree=tree, **kwargs)
