"""The proposer that needs no model: small edits of Python lines that failing tests run, as hypotheses with region and effect.

It knows kinds of faults (`mutate_words`), where each could be in the text (`mutate_expr`, `mutate_stmt`), and which lines are
suspect; it knows nothing of what the program is for. An edit changes the characters of one expression or statement and no
others. Candidates are ordered by how suspect their statement is, times how common their kind of fault is, and each further
one of the same statement counts for less, so that the search is broad before it is deep.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..patch.region import Region, as_dict
from . import named, operators, syntax
from .hints import Said, evades, inverted, takes_away
from .kinds import KINDS
from .known import Known
from .source import Edit, Function, Source, diff_of, edited, same
from .statements import buries

if TYPE_CHECKING:
    from ..shapes import Candidate, Suspect

SHOWN = 60
"""Characters of code that a claim quotes."""
AGAIN, RESTORED = 0.985, 0.994
"""What each further edit of a statement is worth, by the one before it; where a statement is lost, many may have stood there."""
RAISED = 1.5
"""How much more credible an edit is of the lines that the first error was raised in."""
DEFAULTS = 0.8
"""How suspect a function's header is by its most suspect line: its defaults are evaluated before any test runs."""
LONGEST = 400_000
LAST = 0.5
"""What an edit is worth that turns a condition round, drops a statement or moves one: such edits pass weak tests (E17)."""
COPIED = 3.0
"""How much more credible an edit is that makes a line the copy of another one of its function."""
NAMED = 2.5
"""How much more credible an edit is that says what the name says that gets the value: `numerator = part.numerator`."""
_NAMED = frozenset(("attribute", "callee", "wrapped"))
MOVES = frozenset(("nesting", "nested"))
"""Kinds of edits that change which block a statement is of: nothing less than its function says what they mean."""


def propose(
    source: str,
    path: str,
    suspects: Sequence[Suspect],
    tried: list[str],
    limit: int,
    message: str = "",
    line: int = 0,
    others: tuple[tuple[str, str], ...] = (),
    told: str = "",
) -> list[Candidate]:
    """Candidates for one file, best first, at most `limit`, none whose `key` is in `tried`; repairs of its
    syntax for what Python does not read.

    `suspects`: `{path, line, score}`, the most suspect first; `message`: the first error's, raised in `line` of this file, or
    elsewhere (0); `told`: what else the failing tests say, with their names. Each candidate has claim, affected_region,
    expected_effect, interpretation, explanation, structural_change `{type, operation}` (HYP-20, 22), intent, confidence
    (0 to 1; comparable between files), diff and key. Nothing is raised, whatever the text is.
    """
    scores = tuple(
        (int(row["line"]), float(row["score"])) for row in suspects if row.get("path", path) == path
    )
    return [
        row.copy()
        for row in _proposed(source, path, scores, tuple(tried), limit, message, line, others, told)
    ]


@functools.lru_cache(maxsize=64)
def _proposed(
    source: str,
    path: str,
    suspects: tuple[tuple[int, float], ...],
    tried: tuple[str, ...],
    limit: int,
    message: str,
    line: int,
    others: tuple[tuple[str, str], ...],
    told: str,
) -> list[Candidate]:
    """What `propose` gives: edits are tried in memory first, and then hypotheses are made of the same ones."""
    scores = dict(suspects)
    if not scores or limit < 1 or len(source) > LONGEST:
        return []
    try:
        parsed = Known(source, message, told)
    except SyntaxError:
        return syntax.repairs(source, path, set(tried))[:limit]
    except (ValueError, RecursionError, MemoryError):
        return []
    order = {line: number for number, line in enumerate(scores)}
    old = set(tried)
    found: list[Candidate] = []
    said: set[tuple[int, str]] = set()
    for edit, score in _ranked(parsed, scores, order, message, line, others):
        key = _key(parsed, edit)
        if key in old or (meant := _meant(parsed, edit)) is None or meant[:2] in said:
            continue
        said.add(meant[:2])
        row = _candidate(parsed, path, edit, score, scores, key)
        turned = row["risky"] and inverted(parsed, edit, message, line)
        turned = turned or (edit.kind == "nested" and meant[2])  # what was never run is run
        mends = turned or meant[2] or _mends(parsed, edit, message)
        evading = evades(edit, message)
        drops = row["risky"] or evading or takes_away(edit, message)
        row |= {"risky": drops and not turned, "mends": mends}
        row |= {"turned": True} if turned else {}
        row |= {"evades": True} if evading else {}
        row |= {"turns_default": True} if _turns_default(parsed, edit) else {}
        found.append({**row, "score": score, "likelier": parsed.likelier(edit.pieces)})
        if len(found) == limit:
            break
    return found


def _ranked(
    source: Known,
    scores: dict[int, float],
    order: dict[int, int],
    message: str = "",
    line: int = 0,
    others: tuple[tuple[str, str], ...] = (),
) -> Iterator[tuple[Edit, float]]:
    """Edits with what they are worth, the best first."""
    by_statement: dict[ast.stmt, list[Edit]] = {}
    suspicion = {
        one: _suspect(source, one, scores) for one in source.nodes if isinstance(one, ast.stmt)
    }
    for table, most in _tables(source, suspicion).items():
        suspicion[table] = max(suspicion[table], most)
    said_types = _types(source)
    nodes = [
        one
        for one in source.nodes
        if one not in said_types
        and (near := source.statement(one)) is not None
        and suspicion[near] > 0
    ]
    lost = list(named.edits(source, message, dict(others)))
    for one in lost:
        statement = source.statement(one.node)
        if statement is not None:  # whatever ran it: the error names what is missing
            suspicion[statement] = max([suspicion[statement], *scores.values()])
    for edit in itertools.chain(lost, operators.edits(source, nodes)):
        statement = source.statement(edit.node)
        if (
            edit.kind == "nesting" and statement is not None
        ):  # what is nested too deep may not be run at all
            statement = source.statement(source.parents[statement])
        if statement is not None and suspicion[statement] > 0:
            by_statement.setdefault(statement, []).append(edit)
    worth: list[tuple[float, int, int, Edit]] = []
    said = Said(message)
    for statement, edits in by_statement.items():
        suspect = suspicion[statement]
        first, last = source.head(statement)
        place = min(
            (order[line] for line in range(first, last + 1) if line in order), default=len(order)
        )
        early = 0.8 + 0.2 / (1 + place / 8)  # suspects that score alike stand by the traceback
        raised = first <= line <= last
        early *= RAISED if raised else 1.0
        seen: set[tuple[tuple[int, int, str], ...]] = set()
        number = 0
        prior = {
            one: one.prior
            * 2 ** source.likelier(one.pieces)
            * said.weight(one.kind, one.old, one.new, raised)
            * NAMED ** (one.kind in _NAMED and source.names_it(one.node, one.old, one.new))
            * (LAST if risky(source, one) else 1.0)
            * (COPIED if source.copies(one.node, one.pieces) else 1.0)
            for one in edits
        }
        for edit in sorted(edits, key=lambda one: -prior[one]):
            if edit.pieces not in seen:
                again = (RESTORED if edit.kind == "restored" else AGAIN) ** number
                worth.append(
                    (suspect * early * prior[edit] * again, statement.lineno, number, edit)
                )
                number += 1
            seen.add(edit.pieces)
    worth.sort(key=lambda row: (-row[0], *row[1:3]))
    for score, _, _, edit in worth:
        yield edit, score


def _types(source: Source) -> set[ast.AST]:
    """What only says of which type something is: no fault of it fails a test."""
    roots = [getattr(one, name, None) for one in source.nodes for name in ("annotation", "returns")]
    return {one for root in roots if isinstance(root, ast.AST) for one in ast.walk(root)}


def risky(source: Known, edit: Edit) -> bool:
    """True for an edit that negates, drops or widens a condition or an answer, exchanges branches, drops or moves a statement.
    One `not` of two is none of these, nor is that of `not x is None`, which no one else in the file writes."""
    near = (edit.node, source.parents.get(edit.node), getattr(edit.node, "operand", None))
    if edit.kind == "negation" and sum(_is_not(one) for one in near) > 1:
        return False
    if edit.kind == "negation" and source.oddly_negated(edit.node):
        return False
    if edit.kind in ("negation", "branches", "removed", "nesting", "nested", "widened"):
        return True
    if edit.kind == "constant" and {edit.old, edit.new} == {"True", "False"}:
        return isinstance(source.parents.get(edit.node), ast.Return | ast.arguments)
    if edit.kind == "operand" and isinstance(edit.node, ast.BoolOp):
        return True  # a guard less
    compared = edit.kind == "comparison"
    pair = [_TOKENS.findall(one) if compared else [] for one in (edit.old, edit.new)]
    return any(
        _OPPOSITE.get(one) == other for one, other in zip(*pair, strict=False) if one != other
    )


def _turns_default(source: Source, edit: Edit) -> bool:
    """True for the other truth value as a parameter's default: whoever does not give it gets another behaviour."""
    turned = edit.kind == "constant" and {edit.old, edit.new} == {"True", "False"}
    return turned and isinstance(source.parents.get(edit.node), ast.arguments)


def _mends(source: Source, edit: Edit, message: str) -> bool:
    """True for an edit that uses a name that its function binds and nothing reads, or that the error misses."""
    lost = source.unused(edit.node) | set(_MISSED.findall(message))
    return not lost.isdisjoint(set(_WORDS.findall(edit.new)) - set(_WORDS.findall(edit.old)))


_MISSED = re.compile(r"(?:NameError|UnboundLocalError): .*?'(\w+)'")
_WORDS = re.compile(r"[^\W\d]\w*")
_TOKENS = re.compile(r"\bis not\b|\bnot in\b|\bis\b|\bin\b|[=!<>]=|[<>]")
_SIDES = (("is", "is not"), ("in", "not in"), ("==", "!="), ("<", ">="), (">", "<="))
_OPPOSITE = {one: other for pair in _SIDES for one, other in (pair, pair[::-1])}


def _tables(source: Source, suspicion: dict[ast.stmt, float]) -> dict[ast.stmt, float]:
    """How suspect the constants of a module are: by the most suspect statement that reads them."""
    tables = {
        to.id: one
        for one in getattr(source.tree, "body", ())
        if isinstance(one, ast.Assign)
        for to in one.targets
        if isinstance(to, ast.Name)
    }
    found: dict[ast.stmt, float] = {}
    for node in source.nodes if tables else ():
        if isinstance(node, ast.Name) and node.id in tables and isinstance(node.ctx, ast.Load):
            reader, table = source.statement(node), tables[node.id]
            if reader is not None and reader is not table:
                found[table] = max(found.get(table, 0.0), DEFAULTS * suspicion[reader])
    return found


def _suspect(source: Source, statement: ast.stmt, scores: dict[int, float]) -> float:
    first, last = source.head(statement)
    found = max((scores.get(line, 0.0) for line in range(first, last + 1)), default=0.0)
    if isinstance(statement, Function):
        body = (
            scores.get(line, 0.0) for line in range(last + 1, (statement.end_lineno or last) + 1)
        )
        found = max(found, DEFAULTS * max(body, default=0.0))
    return found


def _meant(source: Source, edit: Edit) -> tuple[int, str, bool] | None:
    """What the edited statement, or its function, says: its place and meaning, and whether something odd has gone from it.
    None where it says nothing, or the same."""
    moved = edit.kind in MOVES
    for around in (source.statement(edit.node), source.function(edit.node)):
        if around is None or (moved and not isinstance(around, Function)):
            continue
        first, last = source.block(around)
        if not all(first <= start and end <= last for start, end, _ in edit.pieces):
            continue
        before = _meaning(source.text[first:last])
        if before is not None:  # else it is a part of a statement, as `elif` is
            pieces = tuple((start - first, end - first, text) for start, end, text in edit.pieces)
            after = _meaning(edited(source.text[first:last], pieces))
            if after is None or after[0] == before[0] or after[1] > before[1]:
                return None
            return first, after[0], after[1] < before[1]
    return None


@functools.lru_cache(maxsize=1024)
def _meaning(block: str) -> tuple[str, int] | None:
    """What whole lines of Python say, and how often a value is put against itself; None where they say nothing."""
    try:
        tree = ast.parse(f"if 1:\n{block}" if block[:1] in (" ", "\t") else block)
        return ast.dump(tree), sum(_against_itself(one) for one in ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _against_itself(node: ast.AST) -> bool:
    """True for `x is x`, `x or x`, `x - x`, `x = x`, `not not x`: a guard or a result less, in other clothes. And for what
    no run gets to, behind a `return` of its block."""
    if buries(node):
        return True
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.BoolOp):
        sides = node.values
    elif isinstance(node, ast.BinOp) and isinstance(
        node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod
    ):
        sides = [node.left, node.right]
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
        return any(isinstance(to, ast.Name) and to.id == node.value.id for to in node.targets)
    else:
        return _is_not(node) and _is_not(getattr(node, "operand", None))
    said = [ast.dump(one) for one in sides]
    return len(set(said)) < len(said)


def _is_not(node: ast.AST | None) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _key(source: Source, edit: Edit) -> str:
    """What names an edit wherever its lines have moved to: function, line, place in the line, old and new text."""
    start = min(piece[0] for piece in edit.pieces)
    row, twin = source.row(source.line(start))
    function = source.qualified(edit.node)
    said = "\0".join(
        (edit.kind, function, row.strip(), str(twin), str(source.column(start)), edit.old, edit.new)
    )
    return f"{edit.kind}-{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _region(source: Source, path: str, edit: Edit) -> Region:
    statement = source.statement(edit.node)
    assert statement is not None
    lines = [
        *(source.line(start) for start, _, _ in edit.pieces),
        *(source.line(end) for _, end, _ in edit.pieces),
    ]
    first, last = min(lines), max(lines)
    kind = "statement_boundary"
    at: ast.AST = edit.node
    while at is not statement:
        up = source.parents[at]
        if isinstance(up, ast.Lambda) and up.body is at:
            kind = "lambda_body"
        elif isinstance(at, ast.IfExp):
            kind = "conditional_expression"
        elif isinstance(at, ast.Call):
            kind = "enclosing_call_expression"
        if kind != "statement_boundary":
            node = at
            inside = source.line(source.start(node)), source.line(source.end(node))
            if inside[0] <= first and last <= inside[1]:
                return Region(path, *inside, kind)
            kind = "statement_boundary"
        at = up
    head = source.head(statement)
    return Region(path, min(first, head[0]), max(last, head[1]), kind)


def _candidate(
    source: Known, path: str, edit: Edit, score: float, scores: dict[int, float], key: str
) -> Candidate:
    kind = KINDS[edit.kind]
    region = _region(source, path, edit)
    start = min(piece[0] for piece in edit.pieces)
    line, where = source.line(start), source.qualified(edit.node)
    old, new = (_short(one, max(0, same(edit.old, edit.new) - 20)) for one in (edit.old, edit.new))
    place = f"{path}:{line}:{source.column(start)}"
    within = f" of `{where}`" if where else ""
    statement = source.statement(edit.node)
    measured = _suspect(source, statement, scores) if statement is not None else 0.0
    effect = kind.effect.format(old=old, new=new)
    effect += "" if new in effect else f" (`{old}` becomes `{new}`)"
    return {
        "claim": f"{place}{within}: {kind.claim.format(old=old, new=new)}",
        "affected_region": as_dict(region),
        "expected_effect": f"{effect}; the failing tests pass, and those that passed still do",
        "interpretation": f"the {kind.relation} at line {line}{within} is not what the tests expect",
        "explanation": f"failing tests run the statement (suspicion {measured:.2f}), and a fault of this kind is common "
        f"(weight {edit.prior:.2f}); nothing else is known of it",
        "structural_change": {"type": kind.relation, "operation": kind.operation},
        "intent": kind.intent,
        "confidence": round(min(0.99, max(0.001, score)), 4),
        "diff": diff_of(source, path, edit), "kind": edit.kind, "old": edit.old, "new": edit.new,
        "key": key, "risky": risky(source, edit), "pieces": [list(piece) for piece in edit.pieces],
    }  # fmt: skip


def _short(code: str, skip: int) -> str:
    """Code on one line; where it is long, without its first characters, which the edit leaves alone."""
    flat = " ".join(code.split()).replace("`", "'")
    if len(flat) > SHOWN and skip:
        flat = f"…{flat[min(skip, len(flat) - SHOWN + 1) :]}"
    return flat if len(flat) <= SHOWN else f"{flat[: SHOWN - 1]}…"
