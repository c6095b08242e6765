"""A readable report made of quoted sentences, each followed by the file and line it stands on. Pure.

Nothing here writes a sentence about the subject: what is said is quoted, what is not quoted says
where things are and what is missing. The same input gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fdc_toolchain.api.files import MARK

from .outline.sentences import HIDDEN
from .retrieval.citations import Citation

ANSWER_GROUPS = 5
ANSWER_FLOOR = 0.6
"""What the short answer quotes has at least this part of the best sentence's score."""
WHOLE = 0.6
"""A sentence that says at least this part of what the question asks speaks of the whole of it."""
_CODE = re.compile(r"(?<![`\\])(`+)(?!`)(?:.*?[^`])\1(?!`)")
"""A code span as Markdown has it: closed by as many marks as it was opened with."""
_OPENS_BLOCK = re.compile(r">|(?:#{1,6}|[+*-]|\d+[.)])(?=\s|$)|\[(?=[^\]]*\]:)|~(?=~~)")
_MARK = re.compile(r"(\\*)([<`])")
_LINK = re.compile(r"\]\((?!(?:https?://)?[\w./#?=&%~+,-]*\))")
"""A link to anything but a page or a file: what a scheme of its own would do is up to the view that shows the report."""


@dataclass(frozen=True, slots=True)
class Report:
    """`markdown` is the whole report, `answer` its short answer as plain text; `note` says where it is less than one.
    `findings` are the answer's rows one by one: text, whose words they are (`quotation`, `model`), and the lines cited."""

    markdown: str
    answer: str
    note: str
    findings: tuple[dict[str, Any], ...] = ()


def synthesise(
    question: str,
    citations: Sequence[Citation],
    found: Mapping[str, float],
    respelled: Mapping[str, str],
    facts: Sequence[str],
    failures: Sequence[str] = (),
    skipped: Sequence[str] = (),
    claims: Sequence[Mapping[str, object]] = (),
    open_questions: Sequence[str] = (),
) -> Report:
    """The report on `question` from citations that hold. `claims`: a model's, whose citations hold; they are the answer then.

    `found` says of each thing asked how much it tells (0: no one wrote of it), `respelled` what
    was looked for instead; `facts`, `failures` and `skipped` are sentences for the closing sections.
    """
    groups = [list(group) for _, group in groupby(citations, key=lambda one: one.group)]
    groups = [group for group in groups if any(one.role == "answer" for one in group)]
    best = _best(groups)
    lines = [MARK, f"# {_heading(question)}", ""]
    if claims:
        note = ""
        lines += ["## Answer", ""] + [row for claim in claims for row in _claim(claim)] + [""]
    else:
        note = _note(best, found)
        lines += ["## Short answer", ""] + ([note, ""] if note else []) + _themes(best, True)
    if groups:
        lines += ["## Evidence", ""]
        for path, inside in _by(groups, lambda group: group[0].path):
            lines += [f"### {_inline(path)}", ""] + _themes(inside, False)
    lines += (
        ["## What was not found", ""]
        + [f"- {one}" for one in _missing(groups, found, respelled, skipped)]
        + [""]
    )
    if open_questions:
        lines += (
            ["## What stays open", ""] + [f"- {quotation(one)}" for one in open_questions] + [""]
        )
    lines += ["## How this was made", ""] + [f"- {one}" for one in facts]
    lines += [f"- Left out, because it does not hold: {one}" for one in failures]
    answer = "\n".join(map(_plain_claim, claims)) if claims else _plain_answer(best)
    findings = (
        tuple(map(_claimed, claims)) if claims else tuple(_quoted(one) for one in _answering(best))
    )
    return Report("\n".join(lines).rstrip("\n") + "\n", answer, note, findings)


def _claim(claim: Mapping[str, Any]) -> list[str]:
    """A model's claim, and below it the lines that it rests on."""
    out = [f"- {quotation(str(claim['claim']))}"]
    for one in claim["citations"]:
        place = f"{one['path']}:{one['line']}"
        fence = "``" if "`" in place else "`"
        out.append(f"  - {quotation(str(one['quote']))} {fence}{place}{fence}")
    return out


def _plain_claim(claim: Mapping[str, Any]) -> str:
    places = ", ".join(f"{one['path']}:{one['line']}" for one in claim["citations"])
    return f"{' '.join(str(claim['claim']).split())} [{places}]"


def _claimed(claim: Mapping[str, Any]) -> dict[str, Any]:
    cited = [{"path": one["path"], "line": one["line"]} for one in claim["citations"]]
    return {"text": " ".join(str(claim["claim"]).split()), "by": "model", "citations": cited}


def _quoted(one: Citation) -> dict[str, Any]:
    return {
        "text": " ".join(one.text.split()),
        "by": "quotation",
        "citations": [{"path": one.path, "line": one.line}],
    }


def _best(groups: Sequence[list[Citation]]) -> list[list[Citation]]:
    """The groups of the short answer: the best ones, preferring those that speak of something new."""
    if not groups:
        return []
    top = _score(groups[0])
    left = [group for group in groups if _score(group) >= ANSWER_FLOOR * top]
    chosen: list[list[Citation]] = []
    spoken: set[str] = set()
    while left and len(chosen) < ANSWER_GROUPS:
        nearest = max(
            left, key=lambda group: _score(group) * (1.1 if _has(group) - spoken else 1.0)
        )
        left.remove(nearest)
        chosen.append(nearest)
        spoken |= _has(nearest)
    return chosen


def _score(group: list[Citation]) -> float:
    return max(one.score for one in group)


def _has(group: list[Citation]) -> set[str]:
    return {word for one in group for word in one.has}


def _by(
    groups: Iterable[list[Citation]], key: Callable[[list[Citation]], Any]
) -> list[tuple[Any, list[list[Citation]]]]:
    """Groups by a key, in the order in which the best of each comes."""
    out: dict[Any, list[list[Citation]]] = {}
    for group in groups:
        out.setdefault(key(group), []).append(group)
    return list(out.items())


def _note(best: list[list[Citation]], found: Mapping[str, float]) -> str:
    if not best:
        return "The documents do not answer this: no sentence speaks of it."
    said = sum(found.get(word, 0.0) for word in _has(best[0]))
    return (
        ""
        if said >= WHOLE * sum(found.values())
        else "No sentence speaks of the whole question; these come nearest."
    )


def _themes(groups: list[list[Citation]], named: bool) -> list[str]:
    """Quotations under the section that they come from, in the order of the text; `named` says whose section it is."""
    lines = []
    for (path, section), inside in _by(groups, lambda group: (group[0].path, group[0].section)):
        title = _inline(section[-1]) if section else ""
        where = (
            (f"**{title}**, {_inline(path)}:" if title else f"{_inline(path)}:")
            if named
            else (f"*{title}*" if title else "")
        )
        if where:
            lines += [where, ""]
        for group in sorted(inside, key=lambda group: (group[0].line, group[0].column)):
            lines += _quotes(group)
        lines.append("")
    return lines


def _quotes(group: list[Citation]) -> list[str]:
    out = []
    for one in group:
        if one.role == "code":
            out += _code(one)
            continue
        indent = "  " if one.role == "example" else ""
        label = f"*{_inline(one.label)}*: " if one.label and one.role == "answer" else ""
        out.append(f"{indent}- {label}{quotation(one.text)} {place(one)}")
    return out


def _code(one: Citation) -> list[str]:
    rows = one.text.split("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", one.text)), default=0))
    margin = min((len(row) - len(row.lstrip()) for row in rows if row.strip()), default=0)
    return (
        ["", f"  {place(one)}", "", f"  {fence}"]
        + [f"  {row[margin:]}".rstrip() for row in rows]
        + [f"  {fence}", ""]
    )


def place(one: Citation) -> str:
    """`path:line` or `path:line-line`, as code."""
    span = str(one.line) if one.line == one.end_line else f"{one.line}-{one.end_line}"
    return f"`` {one.path}:{span} ``" if "`" in one.path else f"`{one.path}:{span}`"


def quotation(text: str) -> str:
    """A quoted text on one line, safe to stand in Markdown: no tag, image or stray mark of it takes effect; nothing hidden."""
    folded = " ".join(HIDDEN.sub(" ", text).split())
    out = []
    at = 0
    for span in _CODE.finditer(folded):
        out += [_inert(folded[at : span.start()]), span.group()]
        at = span.end()
    out.append(_inert(folded[at:]))
    escaped = "".join(out)
    opens = _OPENS_BLOCK.match(escaped)
    return (
        escaped if opens is None else escaped[: opens.end() - 1] + "\\" + escaped[opens.end() - 1 :]
    )


def _inert(text: str) -> str:
    """Without tags, images, code spans and odd links; a mark that is escaped already stays so."""
    escaped = _MARK.sub(
        lambda found: found[1] + ("" if len(found[1]) % 2 else "\\") + found[2], text
    )
    return _LINK.sub("]\\(", escaped.replace("![", "!\\["))


def _inline(text: str) -> str:
    return " ".join(_inert(text).split())


def _heading(question: str) -> str:
    text = _inline(question)
    return (text if len(text) <= 200 else text[:199].rstrip() + "…") or "(no question)"


def _plain_answer(best: list[list[Citation]]) -> str:
    lines = []
    for one in _answering(best):
        span = str(one.line) if one.line == one.end_line else f"{one.line}-{one.end_line}"
        lines.append(f"{' '.join(one.text.split())} [{one.path}:{span}]")
    return "\n".join(lines)


def _answering(best: list[list[Citation]]) -> list[Citation]:
    """The sentences of the short answer."""
    return [one for group in best for one in group if one.role in ("answer", "context")]


def _missing(
    groups: list[list[Citation]],
    found: Mapping[str, float],
    respelled: Mapping[str, str],
    skipped: Sequence[str],
) -> list[str]:
    out = []
    absent = [word for word, weight in found.items() if not weight]
    spoken = {word for group in groups for word in _has(group)}
    unsaid = [word for word, weight in found.items() if weight and word not in spoken]
    if absent:
        out.append(f"No document has: {_list(absent)}.")
    for word, instead in respelled.items():
        out.append(f"No document has `{_word(word)}`; `{_word(instead)}` was looked for instead.")
    if unsaid:
        out.append(f"In the documents, but in none of the sentences quoted here: {_list(unsaid)}.")
    if not groups:
        out.append("No sentence was found that speaks of the question.")
    out += skipped
    return out or ["Every word of the question that tells something is in the sentences quoted."]


def _list(words: list[str]) -> str:
    shown = ", ".join(f"`{_word(word)}`" for word in words[:12])
    return shown + (f" and {len(words) - 12} more" if len(words) > 12 else "")


def _word(word: str) -> str:
    return word.replace("`", "'")[:60]
