"""Forks: the form that makes one at a message, and the tree of a conversation."""

from functools import cached_property
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as lazy

from conversations.engines.conversations import ConversationEngine
from conversations.engines.fork_tree import load_fork_tree
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message
from conversations.operations.conversations import CONVERSATIONS
from conversations.views.conversations import Conversations
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.views.frame.base import ProjectPage
from memory.views.generic.actions import Action, ActionPage

conversation_engine, message_engine = ConversationEngine(), MessageEngine()
AS_SOURCE = lazy("Empty: that of its source.")


class ThreadForm(ActionPage):
    """The base of forms about one message of a conversation, named by ?message=; without it, its last."""

    section, scope = "conversations", "write"
    template_name = "conversation/form.html"
    extra_context = {"list_title": Conversations.title}

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        return super().carry_out(name, {**values, "message_id": self.message_id})

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        talk, message = self.load_point()
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


class ForkPage(ThreadForm):
    title = lazy("Fork this conversation")
    actions = {
        "create": Action(
            CONVERSATIONS["fork"],
            lazy("Forked. An agent continues it by its id."),
            fields=("title", "model", "memory_branch"),
            words={"title": (lazy("Title"), AS_SOURCE), "model": (lazy("Model"), AS_SOURCE)},
            button=lazy("Fork"),
            drawing="branch",
        )
    }
    extra_context = {
        **ThreadForm.extra_context,
        "lead": lazy(
            "The fork shares all that was said up to this message. The conversation stays as it is."
        ),
    }

    def find_next(self, action: Action, result: Conversation) -> str:
        branch = self.request.POST.get("memory_branch", "").strip() or self.reader.branch.name
        return self.reader.url("conversation", result.uid, branch=branch, end=1)


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
