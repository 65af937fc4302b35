"""What may be done with saved questions."""

from memory.answers import questions as shapes
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.fields.base import Use
from memory.engines.fields.orders import QUESTIONS as ORDER
from memory.engines.fields.questions import QUESTION, QUESTION_FILTERS
from memory.models.questions import Question
from memory.operations.base import GONE, Answer, Resource, Row
from memory.operations.columns import Column

engine = QuestionEngine()
ROW = Answer(shapes.SavedQuestionShape, shapes.render)

QUESTIONS = Resource("questions", "question", row=Row("question_id", "pk", "uuid"), model=Question)
QUESTIONS.add(
    "create",
    engine.create_question,
    "Save a question",
    ROW,
    body="SavedQuestionInput",
    about="A new question. The branch shows the facts that it expects.",
    fields=QUESTION.select_fields(Use.CREATE),
)
QUESTIONS.add(
    "bulk",
    engine.import_questions,
    "Save several questions",
    Answer(shapes.SavedQuestionsShape, shapes.render_saved, codes=(201,)),
    of_row=False,
    body="QuestionsInput",
    about="Several questions, saved all or none.",
)
QUESTIONS.add(
    "list",
    engine.list_questions,
    "List questions, newest first",
    ROW,
    filters=QUESTION_FILTERS,
    order=ORDER,
)
QUESTIONS.show(
    "list",
    Column("id", head="id"),
    Column("text", head="text"),
    Column("expected", head="expected"),
    Column("branch", head="branch"),
    Column("note", head="note"),
)
QUESTIONS.add("retrieve", engine.get_question, "Read a question", ROW)
QUESTIONS.add(
    "partial_update",
    engine.update_question,
    "Change a question",
    ROW,
    body="SavedQuestionUpdateInput",
    about="Changed fields of a question.",
    fields=tuple(field.as_optional() for field in QUESTION.select_fields(Use.UPDATE)),
)
QUESTIONS.add("destroy", engine.delete_question, "Delete a question", GONE)
