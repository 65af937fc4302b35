"""What may be done with the rules by which sessions are learned from."""

from conversations.answers.remember import RuleShape, render_rule
from conversations.engines.learning import LearningEngine
from memory.models import Project
from memory.operations.base import Answer, Resource, Row

engine = LearningEngine()

LEARNING = Resource("learning", "learning", row=Row("name", "name", pattern="[a-z]+"), model=Project)
LEARNING.add(
    "list",
    engine.list_rules,
    "The rules of learning, and what they made",
    Answer(RuleShape, render_rule, is_complete=True),
)
LEARNING.add(
    "partial_update",
    engine.switch_rule,
    "Switch a rule on or off",
    Answer(RuleShape, render_rule),
    body="RuleInput",
    about="The switch of a rule.",
)
