"""No public function of the product says `Any` in its signature.

An alias such as `Program = dict[str, Any]` counts as the `Any` in it, where it is made and where it is imported.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from tests.support.repository import ROOT, files

Function = ast.FunctionDef | ast.AsyncFunctionDef


def says_any(node: ast.AST, loose: set[str]) -> bool:
    """Whether an annotation holds `Any` or an alias of it, quoted ones included."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in loose:
            return True
        if isinstance(part, ast.Attribute) and part.attr == "Any":
            return True
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            try:
                quoted = ast.parse(part.value, mode="eval")
            except SyntaxError:
                continue
            if says_any(quoted, loose):
                return True
    return False


def public_functions(body: Iterable[ast.stmt]) -> Iterator[Function]:
    """The functions and methods that other modules may call."""
    for node in body:
        if isinstance(node, Function) and (node.name == "__init__" or node.name[0] != "_"):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)
        elif isinstance(node, ast.If):
            yield from public_functions([*node.body, *node.orelse])


def annotations(function: Function) -> list[ast.expr]:
    given = function.args
    arguments = [
        *given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg,
    ]  # fmt: skip
    found = [argument.annotation for argument in arguments if argument] + [function.returns]
    return [annotation for annotation in found if annotation]


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under `if TYPE_CHECKING` included."""
    for node in body:
        yield from statements([*node.body, *node.orelse]) if isinstance(node, ast.If) else (node,)


def source(node: ast.ImportFrom, module: str, modules: Iterable[str]) -> str:
    """The name of the module that an import takes names from."""
    if not node.level:
        return node.module or ""
    package = any(name.startswith(f"{module}.") for name in modules)
    above = (
        module.split(".")[: 1 - node.level or None] if package else module.split(".")[: -node.level]
    )
    return ".".join([*above, *filter(None, [node.module])])


def loose_names(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """The names of each module that stand for `Any`, or for a type that holds it."""
    found = {module: {"Any"} for module in trees}
    while True:
        before = sum(map(len, found.values()))
        for module, tree in trees.items():
            for node in statements(tree.body):
                if isinstance(node, ast.ImportFrom):
                    theirs = found.get(source(node, module, found), set())
                    found[module] |= {a.asname or a.name for a in node.names if a.name in theirs}
                elif isinstance(node, ast.Assign) and isinstance(
                    node.value, ast.Subscript | ast.BinOp | ast.Name
                ):
                    if says_any(node.value, found[module]):
                        found[module] |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        if before == sum(map(len, found.values())):
            return found


def room(module: str) -> str:
    return "/".join(module.split(".")[:-1][:2]) or "tooling"


def loose_functions(sources: Mapping[str, str]) -> Counter[str]:
    """How many public functions of each room say `Any`; `sources` are module names and their texts."""
    trees = {module: ast.parse(source) for module, source in sources.items()}
    loose = loose_names(trees)
    return Counter(
        room(module)
        for module, tree in trees.items()
        for function in public_functions(tree.body)
        if any(says_any(annotation, loose[module]) for annotation in annotations(function))
    )


def module_name(path: PurePosixPath) -> str:
    return ".".join(path.relative_to("tooling").with_suffix("").parts).removesuffix(".__init__")


def test_no_public_function_says_any() -> None:
    paths = [
        path
        for path in map(PurePosixPath, files())
        if path.parts[0] == "tooling" and path.suffix == ".py"
    ]
    assert loose_functions({module_name(p): (ROOT / p).read_text("utf-8") for p in paths}) == {}


def test_each_way_to_say_any_is_counted() -> None:
    said = (
        "from typing import Any\nBody = dict[str, Any]\ndef a(x: Any): ...\ndef b() -> 'list[Any]': ...\n"
        "def _c(x: Any): ...\ndef d(x: object) -> None: ...\nclass E:\n    def f(self, *x: Body): ...\n"
    )
    imported = "from core.made.model import Body as Step\ndef g(*, x: Step | None): ...\n"
    assert loose_functions({"core.made.model": said, "core.used.file": imported}) == {
        "core/made": 3,
        "core/used": 1,
    }
