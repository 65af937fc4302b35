"""How deletions answer, whatever is deleted."""

from memory.answers import deletion as shapes
from memory.answers.erasures import ErasureShape
from memory.operations.base import Answer

DELETED = Answer(
    None,
    shapes.render_done,
    codes=(204,),
    choose_code=shapes.find_code,
    others={200: ErasureShape, 202: ErasureShape},
)
MANY_DELETED = Answer(shapes.DeletionShape, shapes.render_deletion)
