"""The proposer that needs no model: small edits of Python lines that failing tests run, as hypotheses with region and effect.

It knows kinds of faults (`kinds`), where each could be in the text (`operators`), and which lines are
suspect; it knows nothing of what the program is for. An edit changes the characters of one expression or statement and no
others. Candidates are ordered by how suspect their statement is, times how common their kind of fault is, and each further
one of the same statement counts for less, so that the search is broad before it is deep.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from ..patch.region import Region, as_dict
from . import syntax
from .forgotten.mirrored import block_of
from .hints import asks_for_none, evades, inverted, takes_away
from .kinds import KINDS
from .known import Known
from .ranking import stores
from .ranking.arity import misfits
from .ranking.impossible import impossible, of_a_parent
from .ranking.meaning import meant
from .ranking.naming import hides
from .ranking.worth import ranked, risky, suspect
from .source import Edit, Source, diff_of, same
from .standard.typed import among_types
from .statements import alone_gives, idle

if TYPE_CHECKING:
    from ..shapes import Candidate, Suspect

SHOWN = 60
"""Characters of code that a claim quotes."""
LONGEST = 400_000


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
    said: set[tuple[int, Hashable]] = set()
    for edit, score in ranked(parsed, scores, order, message, line, others):
        key = _key(parsed, edit)
        if (said_now := meant(parsed, edit)) is None or said_now[:2] in said:
            continue
        said.add(said_now[:2])
        if key in old or misfits(parsed, edit):
            continue
        row = _candidate(parsed, path, edit, score, scores, key)
        turned = row["risky"] and inverted(parsed, edit, message, line)
        turned = turned or (edit.kind == "nested" and said_now[2])  # what was never run is run
        turned = turned or (edit.kind == "nested" and _gets_its_names(parsed, edit))
        turned = turned or (edit.kind == "nesting" and alone_gives(parsed, edit.node))
        turned = turned or asks_for_none(parsed, edit, message, line) or _replaces(parsed, edit)
        mends = turned or said_now[2] or _mends(parsed, edit, message)
        evading = evades(edit, message)
        drops = row["risky"] or evading or takes_away(edit, message)
        row |= {"risky": drops and not turned, "mends": mends}
        row |= {"turned": True} if turned else {}
        row |= {"evades": True} if evading else {}
        row |= {"turns_default": True} if _turns_default(parsed, edit) else {}
        gives = mends and edit.kind == "name" and hides(parsed, edit.node)
        stored = isinstance(getattr(edit.node, "ctx", None), ast.Store)
        row |= {"rebinds": True} if stored and not gives else {}
        row |= {"stands": True} if parsed.lines.stands(edit.new) else {}
        likelier = parsed.lines.likelier(edit.pieces) + bool(parsed.copies(edit.node, edit.pieces))
        if isinstance(edit.node, ast.Constant) and isinstance(edit.node.value, str):
            likelier += parsed.lines.spelled(edit.old, edit.new)
        found.append({**row, "score": score, "likelier": likelier + gives})
        if len(found) == limit:
            break
    return found


def _turns_default(source: Source, edit: Edit) -> bool:
    """True for the other truth value as a parameter's default: whoever does not give it gets another behaviour."""
    turned = edit.kind == "constant" and {edit.old, edit.new} == {"True", "False"}
    return turned and isinstance(source.parents.get(edit.node), ast.arguments)


def _gets_its_names(source: Known, edit: Edit) -> bool:
    """True for a statement that goes into the `if` before it, where alone a name is bound that it reads."""
    assert isinstance(edit.node, ast.stmt)
    block, function = block_of(source, edit.node), source.function(edit.node)
    before = block[block.index(edit.node) - 1] if block[:1] != [edit.node] else None
    if function is None or not isinstance(before, ast.If):
        return False
    there, every = (
        Counter(
            part.id for one in body for part in ast.walk(one) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        )
        for body in (before.body, function.body)
    )  # fmt: skip
    taken = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    return any(
        0 < there[name] == every[name] for name in source.needs(edit.node) if name not in taken
    )


def _replaces(source: Known, edit: Edit) -> bool:
    """True for an edit that puts something else in the place of what can never be meant."""
    whole = (source.start(edit.node), source.end(edit.node)) if impossible(source, edit.node) else None  # fmt: skip
    return whole == edit.pieces[0][:2]


def _mends(source: Known, edit: Edit, message: str) -> bool:
    """True for an edit that uses a name that its function binds and nothing reads, or that the error misses, or that puts
    another name in the place of that one; for one that
    stores what is overwritten at once where the value says; for one that gives back what a statement only computes; for
    `type` where something is compared with types, and `super` where a method calls its own name; and for one that takes the
    `not` from `not x != y`."""
    if edit.kind == "callee":
        if edit.new == "type" and among_types(source, source.parents[edit.node]):
            return True
        if edit.new == "super" and of_a_parent(source, edit.node):
            return True
    if edit.kind == "negation" and isinstance(edit.node, ast.UnaryOp):
        asked = getattr(edit.node.operand, "ops", [None])[0]
        return isinstance(asked, ast.NotEq) and source.oddly_negated(edit.node)
    if edit.kind == "wrapped" and edit.new == f"type({edit.old})":
        return among_types(source, edit.node)
    if isinstance(edit.node, ast.Expr) and edit.kind in ("return", "assignment"):
        return idle(edit.node)
    stored = isinstance(getattr(edit.node, "ctx", None), ast.Store)
    if stored and source.statement(edit.node) in source.overwritten:
        return edit.new.rpartition(".")[2] == source.across(edit.node)
    lost = source.unused(edit.node)
    if edit.kind in ("narrowed", "widened"):  # a condition more
        lost = lost.difference(*map(stores.unpacked, source.around(edit.node)))
        method = source.function(edit.node) if source.owner(edit.node) else None
        if method is not None:  # it may take what only others of its name need
            lost = lost - {one.arg for one in ast.walk(method.args) if isinstance(one, ast.arg)}
    missed = set(_MISSED.findall(message))
    if edit.kind == "name" and isinstance(edit.node, ast.Name) and edit.node.id in missed:
        return True
    lost = lost | missed
    return not lost.isdisjoint(set(_WORDS.findall(edit.new)) - set(_WORDS.findall(edit.old)))


_MISSED = re.compile(r"(?:NameError|UnboundLocalError): .*?'(\w+)'")
_WORDS = re.compile(r"[^\W\d]\w*")


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
    measured = suspect(source, statement, scores) if statement is not None else 0.0
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
