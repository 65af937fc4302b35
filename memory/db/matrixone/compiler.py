"""SQL compilers for MatrixOne; an expression that differs there has the method ``as_matrixone``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.db.backends.mysql import compiler
from django.db.models import Case, Exists, Value
from django.db.models.expressions import Col
from django.db.models.fields import json
from django.db.models.functions import Greatest
from django.db.models.lookups import (
    BuiltinLookup,
    Contains,
    EndsWith,
    Exact,
    IContains,
    IEndsWith,
    IExact,
    In,
    IStartsWith,
    PatternLookup,
    StartsWith,
)
from django.db.models.sql.where import AND, NothingNode, WhereNode

Rendering = Callable[[Any, Any, Any], Any]  # expression, compiler, connection: SQL and its parameters


if TYPE_CHECKING:
    Compiler = compiler.SQLCompiler
else:
    Compiler = object  # a mixin: each compiler below keeps its own order of methods


class _Ours(Compiler):
    def compile(self, node: Any) -> Any:
        ours = getattr(node, "as_matrixone", None)
        if ours is not None:
            return ours(self, self.connection)
        return super().compile(node)


class SQLCompiler(_Ours, compiler.SQLCompiler):
    pass


class SQLInsertCompiler(_Ours, compiler.SQLInsertCompiler):
    pass


class SQLDeleteCompiler(_Ours, compiler.SQLDeleteCompiler):
    pass


class SQLUpdateCompiler(_Ours, compiler.SQLUpdateCompiler):
    pass


class SQLAggregateCompiler(_Ours, compiler.SQLAggregateCompiler):
    pass


def _render(kind: Any) -> Callable[[Rendering], Rendering]:
    """Decorate a function: it renders expressions of this kind."""

    def register(rendering: Rendering) -> Rendering:
        kind.as_matrixone = rendering
        return rendering

    return register


@_render(json.HasKeyLookup)
def _has_key(lookup: Any, compiler: Any, connection: Any) -> tuple[str, tuple]:
    """Render has_key: MatrixOne has no JSON_CONTAINS_PATH. A key whose value is null counts as missing."""
    sql, params = lookup.as_sql(compiler, connection, template="JSON_EXTRACT(%s, %%s) IS NOT NULL")
    return sql, tuple(params)


@_render(Exists)
def _render_exists(exists: Any, compiler: Any, connection: Any) -> Any:
    """Render EXISTS without Django's LIMIT 1, with which a correlated subquery finds nothing."""
    plain = exists.copy()
    plain.query = exists.query.clone()
    plain.query.clear_limits()
    return plain.as_sql(compiler, connection)


@_render(Greatest)
def _render_greatest(greatest: Any, compiler: Any, connection: Any) -> tuple[str, tuple]:
    """Render GREATEST as CASE: MatrixOne has no GREATEST."""
    (sql, params), *others = [compiler.compile(part) for part in greatest.get_source_expressions()]
    for other, more in others:
        sql, params = (
            f"CASE WHEN {sql} >= {other} THEN {sql} ELSE {other} END",
            (*params, *more, *params, *more),
        )
    return sql, tuple(params)


@_render(Case)
def _render_case(case: Any, compiler: Any, connection: Any) -> Any:
    """Render NULL for a CASE with only NULL results: it has no type, so a time column refuses it."""
    answers = [*(when.result for when in case.cases), case.default]
    if all(isinstance(answer, Value) and answer.value is None for answer in answers):
        return "NULL", ()
    return case.as_sql(compiler, connection)


@_render(Exact)
def _render_exact(lookup: Any, compiler: Any, connection: Any) -> Any:
    """Render a boolean as "= TRUE": the planner panics on a bare column once its table has statistics."""
    sql, params = lookup.as_sql(compiler, connection)
    if lookup.rhs is True and isinstance(lookup.lhs, Col):
        column, _ = compiler.compile(lookup.lhs)
        return (f"{column} = TRUE", ()) if sql == column else (sql, params)
    return sql, params


@_render(WhereNode)
def _render_where(node: Any, compiler: Any, connection: Any) -> Any:
    """Render an = beside an IN or NOT IN of the same column as what both mean: MatrixOne mistakes them."""
    equal = {_name_column(one): one.rhs for one in node.children if _compares_whole(one, Exact)}
    if not equal or node.negated or node.connector != AND:
        return node.as_sql(compiler, connection)
    plain = node.clone()
    plain.children = [_replace_list(one, equal) for one in node.children]
    plain.children = [one for one in plain.children if one is not None]
    return plain.as_sql(compiler, connection)


def _replace_list(condition: Any, equal: Any) -> Any:
    """Return a condition as it is, or, for a list of a column whose value is known, None or nothing."""
    is_not = isinstance(condition, WhereNode) and condition.negated
    inner = condition.children[0] if is_not and len(condition.children) == 1 else condition
    if not _compares_whole(inner, In) or _name_column(inner) not in equal:
        return condition
    is_within = equal[_name_column(inner)] in inner.rhs
    return None if is_within != is_not else NothingNode()


def _compares_whole(lookup: Any, kind: Any) -> bool:
    """Return whether a lookup of this kind compares a column with whole numbers."""
    if not isinstance(lookup, kind) or not isinstance(lookup.lhs, Col) or not lookup.rhs_is_direct_value():
        return False
    values = lookup.rhs if kind is In else [lookup.rhs]
    return all(isinstance(value, int) and not isinstance(value, bool) for value in values)


def _name_column(lookup: Any) -> tuple[str, str]:
    return lookup.lhs.alias, lookup.lhs.target.column


# With an escaped character in its pattern, LIKE reads the others as a regular expression.


@_render(Contains)
def _render_contains(lookup: Any, compiler: Any, connection: Any) -> Any:
    if not lookup.rhs_is_direct_value() or not lookup.rhs:
        return lookup.as_sql(compiler, connection)
    text, params, part = _text_and_part(lookup, compiler, connection)
    return f"REPLACE({text}, %s, '') <> {text}", (*params, *part, *params)


@_render(IContains)
def _render_icontains(lookup: Any, compiler: Any, connection: Any) -> Any:
    if not lookup.rhs_is_direct_value() or not lookup.rhs:
        return lookup.as_sql(compiler, connection)
    text, params, part = _text_and_part(lookup, compiler, connection)
    return f"INSTR({text}, %s) > 0", (*params, *part)  # INSTR ignores case


def _text_and_part(lookup: Any, compiler: Any, connection: Any) -> tuple[str, Any, Any]:
    text, params = lookup.process_lhs(compiler, connection)
    _, part = super(PatternLookup, lookup).process_rhs(compiler, connection)
    return text, params, part


def _affix_renderer(name: str, any_case: bool = False) -> Rendering:
    """Return a compiler of prefix or suffix lookups: LEFT or RIGHT with the length of the value."""

    def render_affix(lookup: Any, compiler: Any, connection: Any) -> Any:
        text, params = lookup.process_lhs(compiler, connection)
        part, more = super(PatternLookup, lookup).process_rhs(compiler, connection)
        if any_case:
            text, part = f"LOWER({text})", f"LOWER({part})"
        return f"{name}({text}, CHAR_LENGTH({part})) = {part}", (*params, *more, *more)

    return render_affix


_render(StartsWith)(_affix_renderer("LEFT"))
_render(EndsWith)(_affix_renderer("RIGHT"))
_render(IStartsWith)(_affix_renderer("LEFT", any_case=True))
_render(IEndsWith)(_affix_renderer("RIGHT", any_case=True))


@_render(IExact)
def _render_iexact(lookup: Any, compiler: Any, connection: Any) -> Any:
    text, params = lookup.process_lhs(compiler, connection)
    other, more = super(BuiltinLookup, lookup).process_rhs(compiler, connection)
    return f"LOWER({text}) = LOWER({other})", (*params, *more)
