"""What one source file defines, uses, imports and says: the same shape for every language.

Python is read by its own parser. Other languages are read by tree-sitter where its grammar is
installed (the extra `code`), else line by line: `how` says which, and no one has to guess.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterable, Iterator

from fdc_toolchain.api.files import CODE, Document

from . import code_trees
from .code_definitions import TROUBLE, WORDS, Definition, Outline, remark_above

DEFINES = re.compile(
    r"^(?P<indent>\s*)(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?"
    r"|unsafe|extern|inline|override|sealed|partial|open|data|virtual|constexpr|declare|local)\s+)*"
    r"(?P<kind>function\*?|class|interface|struct|enum|trait|type|fn|func|fun|def|defp|module|impl|record|object|namespace|macro)"
    r"\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_$][\w$]*)"
)
BINDS = re.compile(
    r"^(?:export\s+)?(?:const|let|var|val|static)\s+(?P<name>[A-Za-z_$][\w$]*)\s*[:=]"
)
GIVES = re.compile(
    r"^\s*(?:[\w$]+\.)+(?P<name>[\w$]+)\s*=\s*(?:async\s+)?(?:function\b|class\b|\([^()]*\)\s*=>|\w+\s*=>)"
)
KEYED = re.compile(r"^(?P<name>[A-Za-z_][\w-]*)\s*(?:=|:)")
IMPORTS = re.compile(
    r"^\s*(?:import\b|from\s+\S+\s+import\b|use\s+[\w:{]|#\s*include\b|require(?:_relative)?\b|using\s|mod\s+\w+;"
    r"|export\s+.*\bfrom\b|(?:const|let|var)\s.*=\s*require\()"
)
REMARK = re.compile(r"^\s*(?://|#(?!\s*include\b|\[|!\[)|/\*|\*(?:\s|/|$)|--\s|;;|%|<!--)")
CONTINUES = re.compile(r"[)\]}{]|end\b|else\b|catch\b|finally\b|rescue\b|ensure\b")
"""How a line begins that belongs to what stands above it, though it is indented no deeper."""
WORD = re.compile(r"[A-Za-z_$][\w$]*")
DATA = frozenset(
    (
        ".toml",
        ".yaml",
        ".yml",
        ".ini",
        ".cfg",
        ".lark",
        ".plan",
        ".sql",
        ".proto",
        ".tf",
        ".mk",
        ".cmake",
    )
)


def is_code(path: str) -> bool:
    """Whether a file of that name is source text."""
    return os.path.splitext(path)[1].lower() in CODE


def outline(document: Document) -> Outline:
    """The outline of a source file."""
    extension = os.path.splitext(document.path)[1].lower()
    if extension in (".py", ".pyi"):
        found = _python(document)
        if found is not None:
            return found
    return code_trees.outline(document, extension) or by_lines(document, extension)


def _python(document: Document) -> Outline | None:  # noqa: C901
    text = "\n".join(document.lines).replace("\r", " ")  # for the parser it would end a line
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    definitions: list[Definition] = []
    uses: dict[str, list[int]] = {}
    imports: set[int] = set()
    prose = {
        number for number, line in enumerate(document.lines, 1) if line.lstrip().startswith("#")
    }
    trouble: set[int] = set()
    work: list[tuple[ast.AST, str, bool]] = [(tree, "", True)]
    while work:
        node, inside, top = work.pop()
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            said = _docstring(node)
            if said is not None:
                prose.update(range(said.lineno, (said.end_lineno or said.lineno) + 1))
            if not isinstance(node, ast.Module):
                kind = (
                    "class"
                    if isinstance(node, ast.ClassDef)
                    else "method"
                    if inside
                    else "function"
                )
                end = node.end_lineno or node.lineno
                definitions.append(
                    Definition(
                        node.name, inside + node.name, kind, node.lineno, end, _said(document, said)
                    )
                )
                inside, top = f"{inside}{node.name}.", isinstance(node, ast.ClassDef)
        elif isinstance(node, ast.Name):
            uses.setdefault(node.id, []).append(node.lineno)
            continue
        elif isinstance(node, ast.Attribute):
            uses.setdefault(node.attr, []).append(node.end_lineno or node.lineno)
            work.append((node.value, inside, False))
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            for alias in node.names:
                uses.setdefault(alias.name.rpartition(".")[2], []).append(alias.lineno)
        elif isinstance(node, (ast.Raise, ast.ExceptHandler)):
            trouble.add(node.lineno)
        elif top and isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    kind = "constant" if target.id.isupper() else "variable"
                    end = node.end_lineno or node.lineno
                    definitions.append(
                        Definition(target.id, inside + target.id, kind, node.lineno, end)
                    )
        deeper = top and not isinstance(node, (ast.expr, ast.arguments))
        for value in node.__dict__.values():  # as ast.iter_child_nodes, in half the time
            if isinstance(value, list):
                work += [(child, inside, deeper) for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(
                value, (ast.expr_context, ast.Constant)
            ):
                work.append((value, inside, deeper))
    return _made(definitions, uses, imports, prose, trouble, "ast")


def _docstring(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module,
) -> ast.expr | None:
    first = node.body[0] if node.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first.value
    return None


def _said(document: Document, node: ast.expr | None) -> int:
    """The first line of a docstring that has words."""
    if node is None:
        return 0
    for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
        if WORDS.search(document.lines[number - 1].replace('r"""', "")):
            return number
    return 0


def _made(
    definitions: Iterable[Definition],
    uses: dict[str, list[int]],
    imports: set[int],
    prose: set[int],
    trouble: set[int],
    how: str,
) -> Outline:
    ordered = tuple(sorted(definitions, key=lambda one: (one.line, -one.end)))
    named = {name: tuple(sorted(set(lines))) for name, lines in uses.items()}
    return Outline(ordered, named, frozenset(imports), frozenset(prose), frozenset(trouble), how)


def by_lines(document: Document, extension: str) -> Outline:
    """What lines alone tell: a definition ends where the next begins that is indented no deeper."""
    starts: list[tuple[int, int, str, str]] = []
    uses: dict[str, list[int]] = {}
    imports: set[int] = set()
    prose: set[int] = set()
    trouble: set[int] = set()
    commented = False
    for number, line in enumerate(document.lines, 1):
        remark = commented or REMARK.match(line) is not None
        if remark:
            prose.add(number)
            opened, closed = line.rfind("/*"), line.rfind("*/")
            commented = opened > closed or (commented and closed < 0)
            continue
        if len(line) > 1000:
            continue
        if IMPORTS.match(line) and extension not in DATA:
            imports.add(number)
        if TROUBLE.search(line):
            trouble.add(number)
        found = _named(line, extension)
        if found is not None:
            starts.append((number, *found))
        for word in WORD.findall(line):
            if found is None or word != found[2]:
                uses.setdefault(word, []).append(number)
    return _made(_closed(starts, document, prose), uses, imports, prose, trouble, "lines")


def _named(line: str, extension: str) -> tuple[int, str, str] | None:
    found = None if extension in DATA else DEFINES.match(line)
    if found is not None:
        return len(found["indent"]), found["kind"], found["name"]
    found = None if extension in DATA else GIVES.match(line)
    if found is not None:
        return len(line) - len(line.lstrip()), "function", found["name"]
    found = KEYED.match(line) if extension in DATA else BINDS.match(line)
    return None if found is None else (0, "key" if extension in DATA else "constant", found["name"])


def _closed(
    starts: list[tuple[int, int, str, str]], document: Document, prose: set[int]
) -> Iterator[Definition]:
    """Definitions with their ends, in the order of `starts`; those that are open wait in a stack."""
    ends = [0] * len(starts)
    begun = {row[0]: at for at, row in enumerate(starts)}
    open_ones: list[int] = []
    last = 0
    for number, line in enumerate(document.lines, 1):
        bare = line.strip()
        if not bare or (number in prose and number not in begun):
            continue
        least = len(line) - len(line.lstrip()) + (1 if CONTINUES.match(bare) else 0)
        while open_ones and least <= starts[open_ones[-1]][1]:
            ends[open_ones.pop()] = last
        if number in begun:
            open_ones.append(begun[number])
        last = number
    for at, (number, _, kind, name) in enumerate(starts):
        yield Definition(
            name,
            name,
            kind,
            number,
            max(ends[at] or last, number),
            remark_above(number, prose, document.lines),
        )
