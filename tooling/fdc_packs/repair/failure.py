"""What the output of a test command says: the first error with its place, which tests fail, a fingerprint. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shapes import Failure, FirstError

BLOCK = 60
"""Lines of an error that are kept."""

_NAMES = (
    re.compile(
        r"^(?:FAILED|ERROR)\s+(\S+\.\w+(?:::\S+?(?:\[.*?\])?)?)(?:\s+-\s.*)?$", re.MULTILINE
    ),  # pytest's summary
    re.compile(r"^(?:FAIL|ERROR): (\S+ \([^)\n]+\)(?: \[[^]\n]*\])?)", re.MULTILINE),  # unittest
    re.compile(r"^\s*--- FAIL: (\S+)", re.MULTILINE),  # go
    re.compile(r"^test (\S+) \.\.\. FAILED$", re.MULTILINE),  # cargo
    re.compile(r"^not ok \d+ (?:- )?(.+)$", re.MULTILINE),  # TAP
    re.compile(r"^\s*● (.+ › .+)$", re.MULTILINE),  # jest
)
_COMPILED = re.compile(
    r"^(?P<path>[^\s:(][^:(\n]*?)(?::(?P<line>\d+)(?::\d+)?|\((?P<at>\d+),\d+\)): (?:fatal )?error(?: \w+\d+)?: (?P<message>.+)$",
    re.MULTILINE,
)  # gcc, clang, javac, tsc
_GO = re.compile(r"^(?P<path>\S+\.go):(?P<line>\d+):\d+: (?P<message>.+)$", re.MULTILINE)
_RUST = re.compile(
    r"^error(?:\[\w+\])?: (?P<message>.+)\n\s*--> (?P<path>[^:\n]+):(?P<line>\d+):\d+", re.MULTILINE
)
_RAISED = re.compile(
    r"^(?P<path>[^\s:][^:\n]*\.py):(?P<line>\d+): (?:in .+|(?P<kind>[A-Za-z_][\w.]*))?$",
    re.MULTILINE,
)
_EXPLAINED = re.compile(r"^E\s{2,}(?P<message>\S.*)$", re.MULTILINE)
_UNREADABLE = re.compile(
    r'^E\s+File "(?P<path>[^"\n]+)", line (?P<line>\d+)\n(?:E\s.*\n){0,3}?E\s+(?P<message>\w*Error: .+)$',
    re.MULTILINE,
)
"""What pytest says of a file that Python cannot parse, at the line that imports it."""
_FRAME = re.compile(r'^\s*File "(?P<path>[^"\n]+)", line (?P<line>\d+)', re.MULTILINE)
_TRACE = re.compile(
    r"^(?P<in>[ \t|]*)Traceback \(most recent call last\):\n(?:(?P=in)[ \t|+].*\n|[ \t]*\n)+?"
    r"(?P=in)(?P<message>[A-Za-z_][\w.]*(?:: .*)?)$",
    re.MULTILINE,
)
_NOT_OWN = ("/", "<", ".fdc-")
"""How the path of a frame begins that is not of the workspace: fdc's own programs beside the tests among them."""
_SYNTAX = re.compile(
    r'^\s*File "(?P<path>[^"\n]+)", line (?P<line>\d+)\n(?:.*\n){1,3}?\s*(?P<message>\w*Error: .+)$',
    re.MULTILINE,
)
_NODE = re.compile(
    r"^(?:Uncaught )?(?P<message>\w*Error(?: \[\w+\])?(?:: .*)?)\n(?:.*\n){0,40}?(?P<frames>(?:[ \t]+at .+\n?)+)",
    re.MULTILINE,
)
_TAP = re.compile(
    r"^[ \t]+error: (?:'(?P<message>.*)'|\|-\n[ \t]+(?P<first>.+))\n(?:.*\n){0,40}?[ \t]+stack: \|-\n"
    r"(?P<frames>(?:[ \t]+\S.*:\d+:\d+\)?\n?)+)",
    re.MULTILINE,
)
"""What node's own test runner says of a test that failed."""
_AT = re.compile(
    r"^[ \t]+(?:at )?(?:.*\()?(?P<path>[^()\s:][^()\n:]*):(?P<line>\d+):\d+\)?", re.MULTILINE
)
_MARKED = re.compile(r"^(?P<path>[^\s:]+\.[cm]?[jt]sx?):(?P<line>\d+)$", re.MULTILINE)
"""Where node cannot read a file, or ends with an error that nothing catches: the line above the code that it shows."""
_SECTION = re.compile(r"^_{3,} .+ _{3,}$|^={3,} .+ ={3,}$", re.MULTILINE)

_NOISE = (
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|us|ns|s|sec|secs|seconds?|minutes?)\b"), "T"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?\S*"), "WHEN"),
    (
        re.compile(
            r"(?:/private)?/(?:var/)?tmp/[^\s'\":,)]*?(?=/[^\s/'\":,)]*(?:[\s'\":,)]|$)|[\s'\":,)]|$)"
        ),
        "TMP",
    ),
    (re.compile(r"\bpid[= ]\d+\b", re.IGNORECASE), "pid"),
    (re.compile(r"\b(?:random seed|randomly-seed|seed)[:= ]+\d+", re.IGNORECASE), "seed"),
)


def read(done: Mapping[str, object], roots: Sequence[str] = ()) -> Failure:
    """What a test command's end says (HYP-17, 18, 39): message, path, line and block of its first error, the names of
    the tests that fail, the fingerprint (None where it passed). `roots`: folders that stand for the workspace.

    The stream that tells an error counts, stderr first: warnings on stderr are the same whatever the tests say on stdout.
    """
    if done.get("exit_code") == 0:
        return {
            "message": "",
            "path": "",
            "line": 0,
            "block": "",
            "failing": [],
            "fingerprint": None,
        }
    streams = [plain(str(done.get(name) or ""), roots, ()) for name in ("stderr", "stdout")]
    said = [one for one in streams if one.strip()] or [plain(_output(done), roots, ())]
    text = next((one for one in said if first_error(one)), said[0])
    found = first_error(text)
    if found is None:
        last = next(
            (line for line in reversed(text.split("\n")) if line.strip()), "it printed nothing"
        )
        message = f"exit code {done.get('exit_code')}: {' '.join(last.split())[:300]}"
        found = {
            "message": message,
            "path": "",
            "line": 0,
            "block": "\n".join(text.strip().split("\n")[-BLOCK:]),
        }
    return {
        **found,
        "failing": failing(plain(_output(done), roots, ())),
        "fingerprint": fingerprint(text),
    }


def _output(done: Mapping[str, object]) -> str:
    both = "".join(str(done.get(name) or "") for name in ("stdout", "stderr"))
    return str(done.get("output") or both)


def plain(text: str, roots: Sequence[str], noise: Sequence[tuple[re.Pattern[str], str]]) -> str:
    """The text with paths below `roots` made relative, and what differs from run to run taken out."""
    for root in sorted(roots, key=len, reverse=True):
        text = text.replace(root.rstrip("/") + "/", "").replace(root.rstrip("/"), ".")
    for pattern, instead in noise or _NOISE[:1]:
        text = pattern.sub(instead, text)
    return text


def fingerprint(text: str) -> str:
    """SHA-256 of what is said, without white space, times, addresses and temporary names (HYP-18)."""
    same = plain(text, (), _NOISE)
    return hashlib.sha256(" ".join(same.split()).encode("utf-8", "replace")).hexdigest()


def failing(text: str) -> list[str]:
    """The tests that a runner names as failed, in the order of the output; where none is named, compilers' errors."""
    names = [match.group(1).strip() for pattern in _NAMES for match in pattern.finditer(text)]
    if not names:
        names = [
            f"{match['path']}: {match['message'].strip()}" for match in _COMPILED.finditer(text)
        ]
    return list(dict.fromkeys(names))[:500]


def first_error(text: str) -> FirstError | None:
    """The first error of a known form: what it says, where, and its whole block with the lines that point at it."""
    found: list[tuple[int, FirstError]] = []
    for pattern in (_COMPILED, _GO, _RUST):
        match = pattern.search(text)
        if match is not None:
            fields = match.groupdict()
            line = int(fields.get("line") or fields.get("at") or 0)
            found.append(
                (
                    match.start(),
                    _error(match["message"], match["path"], line, _from(text, match.start())),
                )
            )
    for one in (_pytest(text), _traceback(text), _node(text)):
        if one is not None:
            found.append(one)
    return min(found, key=lambda row: row[0])[1] if found else None


def _pytest(text: str) -> tuple[int, FirstError] | None:
    said = _EXPLAINED.search(text)
    if said is None:
        return None
    sections = [match.start() for match in _SECTION.finditer(text)]
    begin = max((at for at in sections if at < said.start()), default=0)
    end = min((at for at in sections if at > said.start()), default=len(text))
    block = "\n".join(text[begin:end].strip().split("\n")[:BLOCK])
    unreadable = _UNREADABLE.match(text, said.start())
    if unreadable is not None:
        at = int(unreadable["line"])
        return begin, _error(unreadable["message"], unreadable["path"], at, block)
    places = [*_RAISED.finditer(text, begin, end), *_FRAME.finditer(text, begin, end)]
    after = [match for match in places if match.start() > said.start()] or places[-1:]
    where = next(
        (match for match in after if match.groupdict().get("kind") or "line" in match.groupdict()),
        None,
    )
    path, line = (where["path"], int(where["line"])) if where is not None else ("", 0)
    return begin, _error(said["message"], path, line, block)


def _traceback(text: str) -> tuple[int, FirstError] | None:
    match = _TRACE.search(text)
    if match is not None:
        frames = list(_FRAME.finditer(text, match.start(), match.end()))
        own = [frame for frame in frames if not frame["path"].startswith(_NOT_OWN)] or frames
        path, line = (own[-1]["path"], int(own[-1]["line"])) if own else ("", 0)
        return match.start(), _error(
            match["message"], path, line, "\n".join(match.group().split("\n")[-BLOCK:])
        )
    match = _SYNTAX.search(text)
    if match is None:
        return None
    return match.start(), _error(match["message"], match["path"], int(match["line"]), match.group())


def _node(text: str) -> tuple[int, FirstError] | None:
    """An error of JavaScript, at the innermost of its own frames."""
    match = _TAP.search(text) or _NODE.search(text)
    if match is None:
        return None
    message = match["message"] or match.groupdict().get("first") or ""
    frames = (one for one in _AT.finditer(match["frames"]) if one["path"] != "node")
    own = [one for one in frames if "node_modules" not in one["path"] and one["path"][:1] != "/"]
    marked = _MARKED.search(text, 0, match.start())
    place = own[0] if own else marked
    path, line = (place["path"], int(place["line"])) if place else ("", 0)
    block = "\n".join(match.group().split("\n")[:BLOCK])
    return match.start(), _error(message, path, line, block)


def _from(text: str, at: int) -> str:
    """The lines of an error: up to the next blank line, or the next error."""
    lines = text[at:].split("\n")
    out = lines[:1]
    for line in lines[1:BLOCK]:
        if not line.strip() or _COMPILED.match(line) or _GO.match(line):
            break
        out.append(line)
    return "\n".join(out)


def _error(message: str, path: str, line: int, block: str) -> FirstError:
    return {
        "message": " ".join(message.split())[:400],
        "path": path.removeprefix("./"),
        "line": line,
        "block": block[:6000],
    }


def progress(before: Failure, after: Failure) -> bool:
    """True where a patch took failures away and brought none: fewer tests fail, and each of them failed before."""
    old, new = set(before.get("failing") or ()), set(after.get("failing") or ())
    return bool(new) and new < old


def unchanged(before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """True where the same is said as before, or the same first error stands at the same place (HYP-17, 19)."""
    if before.get("fingerprint") == after.get("fingerprint"):
        return True
    return bool(after.get("message")) and all(
        before.get(name) == after.get(name) for name in ("message", "path", "line")
    )


def compiled(after: Mapping[str, object]) -> str:
    """The failure reason of a run that fails otherwise than the one before: `compile-<rc>` (HYP-34)."""
    return f"compile-{'null' if after['exit_code'] is None else after['exit_code']}"
