"""How large the project is and how it is built: ``python3 -m tests.count [BEFORE]`` prints a table.

BEFORE is the folder of an older checkout, for a column before this one. All is read from the sources;
what is an approximation says so.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from statistics import median, quantiles
from typing import TypeVar

ROOT = Path(__file__).parent.parent
APPS = ("memory", "conversations", "curation", "analytics", "day1site")
MIN_ROOM_LINES = 500  # smaller rooms are in the sum of their app alone
SMALL_FILE_LINES = 50
CALLS = ("ensure_lease()", "atomic(savepoint=False)")
PAGES = "views templatetags urls admin admin_site account_views error_views join login"  # of web and admin
SURFACES = {
    **dict.fromkeys(("api", "api_router"), "REST"),
    **dict.fromkeys(PAGES.split(), "pages"),
    **{name: name for name in ("mcp", "cli", "events")},
}
ROOTS = ("day1site.urls",)  # which has the addresses of all surfaces
ROUTES = frozenset("list create retrieve update partial_update destroy".split())
DECLARING = ("add", "add_read")  # of an operation, by its name: TASKS.add("join", engine.join_task, …)
DOCUMENTED = frozenset("_meta _base_manager _default_manager _state _fields _replace _asdict".split())
FRAMEWORKS = ("django", "rest_framework", "django_filters")
FRAMEWORK_NAME = re.compile(
    r"^\s+(?:async )?def (_[a-z]\w*)\((?:self|cls)"
    r"|^\s+(?:self\.|attrs\[.)?(_[a-z]\w*)(?:.\])?\s*(?::[^=\n]+)?= ",
    re.MULTILINE,
)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)
Rows = Iterator[tuple[str, int | str]]


class Module:
    """A file of Python below one of the apps."""

    def __init__(self, root: Path, file: Path) -> None:
        self.path, self.text = file.relative_to(root), file.read_text()
        self.lines = len(self.text.splitlines())
        self.nodes = list(ast.walk(ast.parse(self.text)))
        self.name = ".".join(self.path.with_suffix("").parts).removesuffix(".__init__")
        self.surface = None if self.name in ROOTS else SURFACES.get(f"{self.name}.".split(".")[1])

    def list_nodes(self, kind: type[Node]) -> Iterator[Node]:
        return (node for node in self.nodes if isinstance(node, kind))

    def list_functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, Function)]


class Project:
    """A checkout of the project."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def list_files(self, *folders: str, pattern: str = "*.py") -> Iterator[Path]:
        return (file for folder in folders for file in (self.root / folder).rglob(pattern))

    @cached_property
    def migrations(self) -> list[Path]:
        return [file for file in self.list_files(*APPS) if file.parent.name == "migrations"]

    @cached_property
    def modules(self) -> dict[str, Module]:
        files = set(self.list_files(*APPS)) - set(self.migrations)
        return {one.name: one for one in (Module(self.root, file) for file in sorted(files))}

    def count_lines(self) -> Rows:
        rooms: Counter[str] = Counter()
        for module in self.modules.values():
            app, room = module.path.parts[0], "/".join(module.path.parent.parts[:2])
            rooms.update(dict.fromkeys({app, room}, module.lines))
        yield "Lines: Python of the product", sum(rooms[app] for app in APPS)
        yield from ((f"Lines: {name}", n) for name, n in sorted(rooms.items()) if n >= MIN_ROOM_LINES)
        yield "Lines: templates", sum_lines(self.list_files("templates", pattern="*.html"))
        yield "Lines: tests", sum_lines(self.list_files("tests"))
        yield "Lines: benchmarks", sum_lines(self.list_files("bench"))
        yield "Lines: migrations", sum_lines(self.migrations)
        yield "Migrations", sum(file.name[:1].isdigit() for file in self.migrations)
        small = [one for one in self.modules.values() if 0 < one.lines < SMALL_FILE_LINES]
        yield f"Files of under {SMALL_FILE_LINES} lines", len(small)

    def count_code(self) -> Rows:
        functions = [node for module in self.modules.values() for node in module.list_functions()]
        lengths = [(node.end_lineno or 0) - node.lineno + 1 for node in functions]
        most = quantiles(lengths, n=10, method="inclusive")[-1]
        yield (
            "Lines of a function: median, 90 %, longest",
            f"{median(lengths):.0f}, {most:.0f}, {max(lengths)}",
        )
        names = [node.name for node in functions if not node.name.startswith("__")]
        single = sum("_" not in name.strip("_") for name in names)
        yield "Functions with a name of one word", f"{100 * single / len(names):.1f} %"
        by_hand, declared = sum(1 for _ in self.list_routes()), sum(1 for _ in self.list_declared())
        yield "REST operations", by_hand + declared
        yield "… by hand", f"{by_hand} ({100 * by_hand / (by_hand + declared):.0f} %)"
        yield "Imports of a surface by another", len(set(self.list_crossings()))
        yield "Private names of Django, used or overridden", len(set(self.list_private()))
        for call in CALLS:
            calls = re.compile(rf"(?<!def )\b{re.escape(call)}")
            yield f"`{call}`", sum(len(calls.findall(module.text)) for module in self.modules.values())

    def list_routes(self) -> Iterator[str]:
        """Yield the methods of ViewSets that answer a route, by their names or a decorator."""
        for module in (one for one in self.modules.values() if one.surface == "REST"):
            for view in module.list_nodes(ast.ClassDef):
                methods = (node for node in view.body if isinstance(node, Function))
                yield from (f"{view.name}.{node.name}" for node in methods if is_route(node))

    def list_declared(self) -> Iterator[str]:
        """Yield the operations that are declared: calls of ``add`` with a name, in modules of operations."""
        for module in (one for one in self.modules.values() if "operations" in one.path.parts):
            for call in module.list_nodes(ast.Call):
                names = [one.value for one in call.args[:1] if isinstance(one, ast.Constant)]
                if names and getattr(call.func, "attr", "") in DECLARING:
                    yield f"{module.name}: {names[0]!r}"

    def list_crossings(self) -> Iterator[tuple[str, str]]:
        """Yield each module of a surface with each of another that it imports."""
        for module in (one for one in self.modules.values() if one.surface):
            for node in module.list_nodes(ast.ImportFrom):
                for alias in node.names:
                    target = self.modules.get(f"{node.module}.{alias.name}") or self.modules.get(
                        f"{node.module}"
                    )
                    if target and target.surface not in (None, module.surface):
                        yield module.name, target.name

    def list_private(self) -> Iterator[str]:
        """Yield the private names of frameworks that a file uses, or that a class with such a base has.

        An approximation: names that a framework defines and the file does not, of anything but self; and
        those that a class defines or takes of self, where one of its bases is imported from a framework.
        """
        names = find_framework_names()
        for module in self.modules.values():
            attributes = list(module.list_nodes(ast.Attribute))
            own = {node.name for node in module.list_functions()}
            others = [node for node in attributes if getattr(node.value, "id", "") not in ("self", "cls")]
            stored = (node for node in set(attributes).difference(others) if isinstance(node.ctx, ast.Store))
            own |= {node.attr for node in stored}
            reached = {node.attr for node in others}
            froms = (node for node in module.list_nodes(ast.ImportFrom) if is_framework(node))
            bases = {alias.asname or alias.name for node in froms for alias in node.names}
            for view in module.list_nodes(ast.ClassDef):
                if bases & {re.split(r"[.\[]", ast.unparse(base))[0] for base in view.bases}:
                    reached |= {node.attr for node in ast.walk(view) if isinstance(node, ast.Attribute)}
                    own -= (defined := {getattr(node, "name", "") for node in view.body})
                    reached |= defined
            yield from (f"{module.path}: {name}" for name in names & reached - own)


def sum_lines(files: Iterator[Path] | list[Path]) -> int:
    return sum(len(file.read_text(errors="replace").splitlines()) for file in files)


def is_route(node: Function) -> bool:
    decorators = " ".join(map(ast.unparse, node.decorator_list))
    is_named = node.name in ROUTES and [arg.arg for arg in node.args.args[:2]] == ["self", "request"]
    return is_named or re.search(r"\baction\(|\.mapping\.", decorators) is not None


def is_framework(node: ast.ImportFrom) -> bool:
    return (node.module or "").split(".")[0] in FRAMEWORKS


def find_framework_names() -> set[str]:
    """Return the private names that the installed frameworks define; none where they are not installed."""
    folders = (folder for name in FRAMEWORKS for folder in ROOT.glob(f".venv/lib/*/site-packages/{name}"))
    texts = (file.read_text() for folder in folders for file in folder.rglob("*.py"))
    return {one or other for text in texts for one, other in FRAMEWORK_NAME.findall(text)} - DOCUMENTED


def describe(root: Path) -> dict[str, int | str]:
    return dict((*(project := Project(root)).count_lines(), *project.count_code()))


def print_table(columns: dict[str, dict[str, int | str]]) -> None:
    print(f"| | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for name in dict.fromkeys(name for column in reversed(columns.values()) for name in column):
        values = (column.get(name, "–") for column in columns.values())
        print(f"| {name} | {' | '.join(f'{one:,}' if isinstance(one, int) else one for one in values)} |")


if __name__ == "__main__":
    before = {"before": describe(Path(sys.argv[1]))} if sys.argv[1:] else {}
    print_table({**before, "now": describe(ROOT)})
