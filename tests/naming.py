"""Names that are still in the way; ``python -m tests.naming`` writes the list anew."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
APPS = ("memory", "conversations", "curation", "analytics", "day1site")
LIST = Path(__file__).with_name("naming.json")

# Words of no field: what they mean is known only to whoever wrote them.
BANNED = frozenset(
    "said told asked wanted beside held some wish deed deeds look room given here there how what".split()
)
# A name ends in _of only where the field says so: JSON Schema's anyOf and oneOf, and a feature of Django.
ALLOWED_OF = {"any_of", "one_of", "has_select_for_update_of"}
# A constant is called by what it counts and its unit: MAX_BRANCHES, BATCH_SIZE, TTL_SECONDS.
CONSTANT = re.compile(
    r"_*(?:(?:MOST|LONGEST|LEAST|SHORTEST|HIGHEST|DEEPEST)(?:_\w+)?|CHUNK|TOGETHER|PART|AT_ONCE"
    r"|PATIENCE|KEPT|LOOK|MORE|ROOM|ENGINE|[A-Z])"
)
TYPE_VARIABLE = "T"


def files() -> Iterator[Path]:
    for app in APPS:
        yield from (file for file in sorted((ROOT / app).rglob("*.py")) if "migrations" not in file.parts)


@cache
def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


@cache
def walk(file: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file, which many look through."""
    return tuple(ast.walk(parse(file)))


def bound_names(file: Path) -> Iterator[str]:
    """Yield each name where it is given: a definition, a variable, a parameter, an attribute of self."""
    for node in walk(file):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname


def constants(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name)) if target else ()


def is_banned(name: str) -> bool:
    return name.strip("_").lower() in BANNED or (name.endswith("_of") and name not in ALLOWED_OF)


def banned(file: Path) -> int:
    return sum(map(is_banned, bound_names(file)))


def odd_constants(file: Path) -> list[str]:
    found = (name for name in constants(parse(file)) if CONSTANT.fullmatch(name))
    return sorted(name for name in found if name != TYPE_VARIABLE)


def is_declared(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is a declaration for types, which repeats the name of what it describes."""
    return isinstance(last := node.body[-1], ast.Expr) and ast.unparse(last) == "..."


def one_word_percent(app: str) -> float:
    """Return the share of functions whose name is one word, special methods aside."""
    counts: Counter[bool] = Counter()
    for file in (file for file in files() if file.relative_to(ROOT).parts[0] == app):
        for node in walk(file):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_declared(node):
                continue
            if not node.name.startswith("__"):
                counts["_" not in node.name.strip("_")] += 1
    return round(100 * counts[True] / counts.total(), 1)


def debt() -> dict[str, object]:
    named = {str(file.relative_to(ROOT)): file for file in files()}
    return {
        "one_word_percent": one_word_percent("memory"),
        "constants": {name: odd for name, file in named.items() if (odd := odd_constants(file))},
        "banned": {name: count for name, file in named.items() if (count := banned(file))},
    }


if __name__ == "__main__":
    LIST.write_text(json.dumps(debt(), indent=1) + "\n")
