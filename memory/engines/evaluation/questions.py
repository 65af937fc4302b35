"""QuestionEngine: saved questions, with the facts that a search should find."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Use
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.orders import QUESTIONS
from memory.engines.fields.questions import QUESTION, QUESTION_FILTERS, QUESTION_LINES
from memory.engines.search.candidates import check_query
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.support.usage import count_rows
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Invalid, NotFound, QueryTooLong, TooLarge
from memory.models import Fact, Project
from memory.models.questions import MAX_EXPECTED, MAX_QUESTIONS, Question

CHECKS = QUESTION.field_checks(Use.CREATE)
FILTERS = make_filter_checks(QUESTION_FILTERS)


@retry_methods
class QuestionEngine:
    def create_question(self, *, actor: Actor, branch_name: str = MAIN, **fields: Any) -> Question:
        """Save a question; the branch must show the facts that it expects. Needs the scope curate.

        Raises Invalid, UnknownField, QueryTooLong, NotFound, TooLarge, scope and branch refusals.
        """
        actor.require_scope("curate", branch_name)
        values = check_question(fields)
        check_shown(actor, branch_name, values["expected"])
        (question,) = store_questions(actor, branch_name, [values])
        return question

    def expect_fact(
        self, *, text: str, fact_id: UUID, actor: Actor, branch_name: str = MAIN
    ) -> tuple[Question, bool]:
        """Save that a question should find a fact: with a saved question of this text, else a new one.

        Returns whether it is new. Raises as ``create_question``.
        """
        actor.require_scope("curate", branch_name)
        text = check_question({"text": text, "expected": [fact_id]})["text"]  # as it is stored
        same = Question.objects.filter(project=actor.project_id, branch=branch_name, text=text, category="")
        if (known := same.filter(repository="").order_by("-pk").first()) is None:
            return self.create_question(
                text=text, expected=[fact_id], actor=actor, branch_name=branch_name
            ), True
        expected = list(dict.fromkeys([*known.expected, str(fact_id)]))
        return self.update_question(question_id=known.pk, actor=actor, expected=expected), False

    def import_questions(
        self,
        *,
        questions: Annotated[Sequence[Mapping[str, Any]], QUESTION_LINES],
        actor: Actor,
        branch_name: str = MAIN,
    ) -> tuple[list[Question], int]:
        """Save several questions, all or none. A run says which of their facts are nowhere.

        Returns them, and how many are new: what the branch has already is not saved twice. Raises as
        ``create_question``, but for facts that the branch does not show; ``field`` names the one at fault.
        """
        actor.require_scope("curate", branch_name)
        find_branch(actor, branch_name)
        if not isinstance(questions, list | tuple) or not 1 <= len(questions) <= MAX_QUESTIONS:
            raise Invalid("{field} needs 1 to {most} entries.", field="questions", most=MAX_QUESTIONS)
        items = c.secrets_found.walk("questions", questions)
        batch = [check_line(one, at) for at, one in enumerate(items)]
        with write_transaction():
            lock_project(actor)
            known = find_same(actor, branch_name)
            new = {key: values for values in batch if (key := identify(values)) not in known}
            known |= zip(new, store_questions(actor, branch_name, [*new.values()]), strict=True)
        return [known[identify(values)] for values in batch], len(new)

    def update_question(self, *, question_id: UUID, actor: Actor, **fields: Any) -> Question:
        """Change fields of a question; a branch must have the facts that are expected newly.

        Another branch than its own may have them: who merges what replaces a fact changes the question
        before. Needs the scope curate on its branch. Raises as its creation.
        """
        question = self.get_question(question_id=question_id, actor=actor)
        actor.require_scope("curate", question.branch)
        now = {name: getattr(question, name) for name in CHECKS}
        values = check_question({**now, **fields})
        if added := [uid for uid in values["expected"] if uid not in question.expected]:
            check_present(actor, added)
        with write_transaction():
            for name, value in values.items():
                setattr(question, name, value)
            question.updated_at = timezone.now()
            question.save()
            record_entry(actor, "question.update", str(question.pk))
        return question

    def delete_question(self, *, question_id: UUID, actor: Actor) -> None:
        """Delete a question; the runs that it was in keep its ranks. Needs the scope curate."""
        question = self.get_question(question_id=question_id, actor=actor)
        actor.require_scope("curate", question.branch)
        with write_transaction():
            record_entry(actor, "question.delete", str(question.pk))
            question.delete()

    def get_question(self, *, question_id: UUID, actor: Actor) -> Question:
        """Return a question of a branch that the actor may use. Raises NotFound."""
        actor.require_scope("read")
        question = Question.objects.filter(project=actor.project_id, pk=question_id).first()
        if question is None or not actor.may_use(question.branch):
            raise NotFound("There is no question with this id.")
        return question

    def list_questions(
        self, *, actor: Actor, category: str = "", **paging: Unpack[Sorting]
    ) -> Page[Question]:
        """List the questions of branches that the actor may use, the newest first."""
        actor.require_scope("read")
        filters = c.validate({"category": category}, FILTERS)
        rows = select_questions(actor).filter(**c.drop_empty(filters))
        return paginate(rows, QUESTIONS, **paging)

    def find_questions(self, *, actor: Actor, ids: Sequence[UUID]) -> dict[UUID, Question]:
        """Return those of the questions that the actor may read, by id."""
        actor.require_scope("read")
        return {one.pk: one for one in select_questions(actor).filter(pk__in=ids)}


def select_questions(actor: Actor) -> QuerySet[Question]:
    """Return the questions of branches that the actor may use."""
    rows = Question.objects.filter(project=actor.project_id)
    if not actor.branch_patterns:
        return rows
    names = rows.order_by().values_list("branch", flat=True).distinct()
    return rows.filter(branch__in=[name for name in names if actor.may_use(name)])


def check_line(fields: Any, at: int) -> dict[str, Any]:
    """Return a checked question of several; an error names its place."""
    if not isinstance(fields, Mapping):
        raise Invalid("questions[{index}] must be an object.", index=at, field=f"questions[{at}]")
    try:
        return check_question(fields)
    except Invalid as error:
        error.name_in_list("questions", at)
        raise


def check_question(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked fields, with those that were left out empty. Raises Invalid, UnknownField."""
    if not isinstance(expected := fields.get("expected"), list | tuple):
        raise Invalid("{field} must be a list of ids.", field="expected")
    uids = check_expected([str(uid) for uid in expected])
    values = c.validate({**fields, "expected": uids}, CHECKS)
    check_text(values.get("text", ""))
    values["expected"] = uids
    return {name: values.get(name, "") for name in CHECKS}


def check_text(text: str) -> None:
    """Check that a search takes a text. Raises Invalid, QueryTooLong."""
    try:
        query = check_query(text)
    except QueryTooLong as error:
        error.data["field"] = "text"
        raise
    if not query.strip():
        raise Invalid("{field} is needed.", field="text")


def check_expected(texts: Sequence[str]) -> list[str]:
    """Return different ids, 1 to 20. Raises Invalid."""
    found = dict.fromkeys(str(c.parse_uuid(f"expected[{at}]", text)) for at, text in enumerate(texts))
    if not 1 <= len(found) <= MAX_EXPECTED:
        raise Invalid("A question expects 1 to {most} facts.", most=MAX_EXPECTED, field="expected")
    return list(found)


def check_shown(actor: Actor, branch_name: str, expected: Sequence[str]) -> None:
    """Check that the branch shows the expected facts, and none was erased. Raises NotFound."""
    uids, rows = [UUID(text) for text in expected], Fact.objects.on(find_branch(actor, branch_name))
    shown = {uid for (uid,) in rows.select_by_key(("uid",), "uid", uids)}
    erased = erased_uids(actor.project_id, uids)  # its row is still there, blanked
    for uid in uids:
        if uid not in shown:
            raise NotFound("{branch} shows no fact {id}.", branch=branch_name, id=uid, field="expected")
        if uid in erased:
            raise NotFound("Fact {id} was erased: no search finds it.", id=uid, field="expected")


def check_present(actor: Actor, expected: Sequence[str]) -> None:
    """Check that a branch which the actor may use has the facts, and none was erased. Raises NotFound."""
    uids = [UUID(text) for text in expected]
    rows = Fact.objects.all_versions().filter(uid__in=uids, branch__project=actor.project_id, deleted=False)
    present = set(filter_allowed_branches(rows, actor).values_list("uid", flat=True))
    erased = erased_uids(actor.project_id, uids)
    for uid in uids:
        if uid in erased:
            raise NotFound("Fact {id} was erased: no search finds it.", id=uid, field="expected")
        if uid not in present:
            raise NotFound("No branch has a fact {id}.", id=uid, field="expected")


def lock_project(actor: Actor) -> None:
    """Serialise additions: two may count the same number."""
    Project.objects.select_for_update().get(pk=actor.project_id)


def find_same(actor: Actor, branch_name: str) -> dict[Hashable, Question]:
    """Return the questions of a branch by what makes them the same."""
    rows = Question.objects.filter(project=actor.project_id, branch=branch_name).order_by("-pk")
    return {identify(vars(row)): row for row in rows}


def identify(values: Mapping[str, Any]) -> Hashable:
    """Return what makes two questions of a branch the same; a note does not."""
    own = (values["text"], values["category"], values["repository"])
    return (*own, frozenset(values["expected"]))


def store_questions(actor: Actor, branch_name: str, batch: Sequence[Mapping[str, Any]]) -> list[Question]:
    """Store checked questions with one audit entry. Raises TooLarge."""
    if not batch:
        return []
    now = actor.write_time()
    own = {"branch": branch_name, "created_at": now, "updated_at": now, "created_by": actor.label}
    with write_transaction():
        lock_project(actor)
        if Question.objects.filter(project=actor.project_id).count() + len(batch) > MAX_QUESTIONS:
            raise TooLarge(
                "A project has at most {most} questions: delete some first.",
                most=MAX_QUESTIONS,
                field="questions",
            )
        rows = [Question(project_id=actor.project_id, **values, **own) for values in batch]
        Question.objects.bulk_create(rows)
        count_rows(rows[0].project_id, rows)
        record_entry(actor, "question.create", str(rows[0].pk), {"count": len(rows)})
    return rows
