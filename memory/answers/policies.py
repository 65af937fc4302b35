"""Response serializers of branch policies."""

from typing import Any

from memory.answers.declared_serializers import AnswerShape, declare_answer, declare_fields
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.policies import POLICY
from memory.models import BranchPolicy

PolicyShape = declare_answer(POLICY, "The policy of a branch or a pattern of names.")


@declare_fields([POLICY["pattern"], *POLICY.select_fields(Use.UPDATE)])
class PolicyInForceShape(AnswerShape):
    """The policy in force on a branch; ``pattern`` names the entry that gave it."""


render = build_renderer(PolicyShape)
render_in_force = build_renderer(PolicyInForceShape)


def render_written(done: tuple[BranchPolicy, bool]) -> dict[str, Any]:
    """Return an entry that was set."""
    return render(done[0])
