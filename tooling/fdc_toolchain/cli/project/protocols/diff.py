"""`fdc protocols diff`: compares two sets of protocols by meaning."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from typing import Any

import click

from .... import durable
from ....console.options import format_option, text_option
from ....console.terminal import say_json
from ....exits import CLEAN, FINDINGS, UsageError, WorldError
from ....linking.project.quiet_git import ask_git
from ....linking.project.root import find_root
from ....named_tuples import NamedTuple
from ....protocols import build as work
from ....protocols.compare.diff import Difference, Side, differences, lines, side
from ....protocols.imports.agents_md import take_apart
from ....protocols.load import SOURCES
from ....protocols.options import how_of
from ....report.terminal.terminal_text import cut, visible
from ...shared.findings import show

_WIDTH = 200
_SECONDS = 60


class _Place(NamedTuple):
    """The origin of a set: its name in messages, and its files by path: one compiled file, or sources."""

    name: str
    files: Mapping[str, bytes]
    compiled: bool


@click.command(
    "diff",
    epilog="Exit codes: 0 no difference, 1 some, 2 wrong usage or sources that cannot be read, 3 the environment failed.",
)
@click.argument("one", metavar="[A]", type=click.Path(), required=False)
@click.argument("other", metavar="[B]", type=click.Path(), required=False)
@text_option("--since", "REV", "Compare with the git revision REV; nothing is checked out.")
@format_option
def command(one: str | None, other: str | None, since: str | None, form: str) -> int:
    """Compare the protocols in A with those in B: a folder of sources, or a compiled file.

    Default of B: the sources in protocols/. Default of A: AGENTS.md. With --since, A (default:
    protocols/) at the revision REV is compared with A now. Formatting, file names and the documentation of
    tools are ignored. For a check, the output says whether it requires more of runs now, or less.
    """
    if since is not None and other is not None:
        raise UsageError("--since compares one path with its older revision; give at most one path")
    if since is not None:
        path = one or _default("source")
        now = _there(path)
        pair = _revision(since, path, now), now
    else:
        second = _there(other or _default("source"))
        pair = _there(one or _default("output")), second
    found = differences(*map(_read, pair))
    if form == "json":
        rows = [item.plain() for item in found]
        say_json({"one": pair[0].name, "other": pair[1].name, "differences": rows})
    else:
        click.echo(f"- {visible(pair[0].name)}\n+ {visible(pair[1].name)}")
        for item in found:
            click.echo("\n".join(_text(item)))
        click.echo(_summary(found))
    return FINDINGS if found else CLEAN


def _default(what: str) -> str:
    """The workspace's own path, from its settings."""
    root, how = how_of()
    return os.path.relpath(os.path.join(root, getattr(how, what)))


def _there(path: str) -> _Place:
    """A folder of sources or a compiled file on disk. Raises UsageError if neither exists."""
    name = path.replace(os.sep, "/").rstrip("/") or path
    if os.path.isdir(path):
        return _Place(name, work.source_files(path, path), False)
    data = durable.read(path)
    if data is None:
        raise UsageError(f"the file or folder `{path}` does not exist")
    return _Place(name, {os.path.basename(path): data}, True)


def _read(place: _Place) -> Side:
    """The set at a place. Raises UsageError after showing findings if it cannot be read."""
    files = place.files
    if place.compiled:
        data, root = next(iter(place.files.values())), find_root(os.curdir)
        made = take_apart(data, place.name, lambda path: work.tool(root, path))
        show(made.findings)
        files = made.files
        if data and not files:
            raise UsageError(f"`{place.name}` cannot be compared")
    read, found = side(files)
    if found:
        show(
            item._replace(span=item.span._replace(path=f"{place.name}/{item.span.path}"))
            for item in found
        )
        raise UsageError(f"`{place.name}` cannot be compared: its sources have errors")
    return read


def _revision(since: str, path: str, now: _Place) -> _Place:
    """The content of `path` in the revision; empty if it did not exist. Raises UsageError, WorldError."""
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    prefix = os.fsdecode(_git(folder, "rev-parse", "--show-prefix")).rstrip("\n")
    inside = prefix.rstrip("/") if not now.compiled else prefix + os.path.basename(path)
    top = _git(
        folder,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{since}^{{tree}}",
        may_fail=True,
    )
    if not top:
        raise UsageError(f"the revision `{since}` does not exist in this repository")
    tree = top.decode("ascii").strip()
    found = _git(
        folder,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{tree}:{inside}",
        may_fail=True,
    )
    name = f"{since}:{inside}"
    if not found:
        return _Place(name, {}, False)
    thing = found.decode("ascii").strip()
    kind = _git(folder, "cat-file", "-t", thing).strip()
    if (kind == b"blob") is not now.compiled:
        raise UsageError(
            f"`{inside}` was {'a file' if kind == b'blob' else 'a folder'} in `{since}`, but is not now"
        )
    if now.compiled:
        return _Place(name, {os.path.basename(path): _git(folder, "cat-file", "blob", thing)}, True)
    files = {}
    for row in _git(folder, "ls-tree", "-r", "-z", "--full-tree", thing).split(b"\0"):
        about, _, raw = row.partition(b"\t")
        entry = os.fsdecode(raw)
        if about.startswith(b"100") and entry.endswith(SOURCES):
            files[entry] = _git(folder, "cat-file", "blob", about.split()[2].decode("ascii"))
    return _Place(name, files, False)


def _git(folder: str, *arguments: str, may_fail: bool = False) -> bytes:
    """The output of git. Raises WorldError if git fails or is missing; with `may_fail`, b"" instead."""
    try:
        done = ask_git(folder, *arguments, seconds=_SECONDS)
    except FileNotFoundError:
        raise WorldError("--since needs the program `git`, which is not installed") from None
    except subprocess.TimeoutExpired:
        raise WorldError(f"git did not answer in {_SECONDS} seconds") from None
    except OSError as failed:
        raise WorldError(f"git: {failed.strerror}") from failed
    if done.returncode and not may_fail:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        raise WorldError(visible(f"git: {said.removeprefix('fatal: ')}"))
    return b"" if done.returncode else done.stdout


def _text(item: Difference) -> list[str]:
    """The difference as lines: kind and place, then the old and the new text."""
    where = f"{item.protocol}/{item.rule}" if item.rule else item.protocol
    if not item.protocol:
        head = f"prose {item.what}: {item.field}"
    elif not item.field:
        head = f"{'rule' if item.rule else 'protocol'} {item.what}{' with its check' if item.effect else ''}: {where}"
    elif item.field == "check":
        head = f"check {item.effect if item.what == 'changed' and item.effect != 'changed' else item.what}: {where}"
    else:
        head = f"{item.field} {item.what}: {where}"
    sides = [("-", item.one), ("+", item.other)]
    if not item.protocol and item.what == "changed":
        rows = [(row[0], row[1:]) for row in lines(item.one, item.other)]
    elif not item.protocol or not item.field:
        rows = [(sign, _named(value, item)) for sign, value in sides if value is not None]
    else:
        rows = [(sign, _shown(value)) for sign, value in sides if value is not None]
    return [
        cut(visible(head), _WIDTH),
        *(f"  {sign} {cut(visible(text), _WIDTH)}".rstrip() for sign, text in rows),
    ]


def _named(value: Any, item: Difference) -> str:
    """The name of an added or removed item, in one line."""
    if not item.protocol:
        return f"{value.count(chr(10)) + 1} lines"
    return str(value["description"]).split("\n")[0]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _summary(found: list[Difference]) -> str:
    if not found:
        return "no difference"
    effects = [
        sum(item.effect == effect for item in found) for effect in ("strengthened", "weakened")
    ]
    said = [
        f"{number} {word}" for number, word in zip(effects, ("strengthened", "weakened")) if number
    ]
    return f"{len(found)} difference{'s' if len(found) > 1 else ''}" + (
        f"; of checks {', '.join(said)}" if said else ""
    )
