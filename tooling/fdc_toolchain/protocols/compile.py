"""Compiles protocol sources into AGENTS.md and the other files that agents read: text in, text out (FDC-94 to FDC-98)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..diagnostics.diagnostic import Diagnostic, ordered
from ..diagnostics.span import Span
from ..linking.registry import shown
from . import layout
from .budget import HEAD, MAX_BYTES, TAIL, Chain, Row, chains, measure
from .load import SOURCES, Sources, load
from .regions import put, take
from .render import ORIGINAL_NOTICE, Document, documents, original, page
from .seal import digest, is_ours, seal
from .targets import TARGETS, Target, named
from .tool_docs.tooldoc import document

PROFILES = ("full", "compact", "original")

_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


class How(NamedTuple):
    """What a build is to write. `profile`: `full`, `compact` without the documentation of tools, or `original`: the
    form of the repository that this language comes from, with nothing added. `split`: a file
    in each folder that a protocol is for. `targets`: other agents' files, by their names in `TARGETS`. `force`:
    write over files that fdc did not write.
    """

    source: str = "protocols"
    output: str = "AGENTS.md"
    max_bytes: int = MAX_BYTES
    profile: str = "full"
    split: bool = False
    targets: tuple[str, ...] = ()
    force: bool = False


class Surroundings(NamedTuple):
    """What a build sees of the workspace beside its sources.

    `present`: the bytes of a file that the build may write over, None where there is none. `is_folder`: whether
    a scope exists. `same`: whether a path is a link to another. `others`: instruction files that the build does
    not write but agents read, with their sizes; `above`: the same for those above the workspace. `version_file`: where
    the version was read.
    """

    present: Callable[[str], bytes | None] = lambda path: None
    is_folder: Callable[[str], bool] = lambda path: True
    same: Callable[[str, str], bool] = lambda path, other: False
    others: Mapping[str, int] = {}
    above: tuple[Row, ...] = ()
    version_file: str = "VERSION"


class Output(NamedTuple):
    """One compiled file, and its bytes by section."""

    path: str
    text: str
    rows: tuple[Row, ...]


class Build(NamedTuple):
    """The compiled files, AGENTS.md first (none where an error stops the build), every finding, and the byte plan."""

    outputs: tuple[Output, ...]
    findings: list[Diagnostic]
    sources: int
    chains: tuple[Chain, ...] = ()
    memory: tuple[tuple[str, bytes], ...] = ()
    """Files to write beside the outputs: what the next build must know of this one."""

    @property
    def text(self) -> str | None:
        """AGENTS.md itself, None where an error stops the build."""
        return self.outputs[0].text if self.outputs else None


class _Inputs(NamedTuple):
    sources: Sources
    docs: dict[str, str]
    digests: dict[str, str]
    version: str


def compile_agents(
    files: Mapping[str, bytes],
    version: bytes | None,
    read: Callable[[str], str | None],
    how: How | None = None,
    around: Surroundings | None = None,
) -> Build:
    """Compiles the sources in `files` (path to bytes); `read` gives the text of a tool's file, `version` is VERSION.

    The same inputs give the same bytes. Any finding that is an error leaves no outputs: FDC501 and
    FDC502 for a source, FDC503 for VERSION, FDC505 for more bytes than agents read, FDC507 for damaged
    marks of a region, FDC508 for a file that fdc did not write, FDC509 for a scope that is not a folder.
    A tool's file that is absent is a warning, in the findings (FDC506) and in the text; so is a file
    that agents read in place of a compiled one (FDC510).
    """
    how, around = how or How(), around or Surroundings()
    laid = posixpath.normpath(posixpath.join(how.source, layout.NAME))
    if laid in files and (made := _laid_out(files, laid, read, how, around)) is not None:
        return made
    sources, found = load(files)
    if how.profile == "original":
        return _as_original(sources, found, how, around)
    number = _version(version, around.version_file, found)
    found += _scopes(sources, around)
    docs: dict[str, str] = {}
    for protocol in sources.protocols:
        for path, span in protocol.scripts:
            text = document(path, read)
            if text is None:
                found.append(Diagnostic(span, "FDC506", f"the tool `{path}` does not exist"))
                text = f"Warning: no documentation exists, because `{path}` does not exist."
            docs[path] = text
    used = {path: data for path, data in files.items() if path.endswith(SOURCES)}
    if _stops(found):
        return Build((), ordered(found), len(used))
    digests = {path: digest(data.replace(b"\r\n", b"\n")) for path, data in used.items()}
    digests.update((path, digest(text.encode("utf-8", "replace"))) for path, text in docs.items())
    digests[around.version_file] = digest(number.encode())
    inputs = _Inputs(sources, docs, digests, number)
    outputs = _outputs(inputs, how, around, found)
    plan = _plan(outputs, how, around, found)
    over = [chain for chain in plan if chain.size > how.max_bytes]
    if over and not _stops(found):
        help_ = _ways_out(inputs, how, around, max(over, key=lambda chain: chain.size))
        found += [_oversized(chain, how, help_ if chain is over[0] else None) for chain in over]
    return Build(() if _stops(found) else outputs, ordered(found), len(used), plan)


def _as_original(
    sources: Sources, found: list[Diagnostic], how: How, around: Surroundings
) -> Build:
    """AGENTS.md in the original form. It has no seal: a file that begins with its notice counts as built before."""
    text, present = original(sources), around.present(how.output)
    known = present is not None and present.startswith(ORIGINAL_NOTICE.encode())
    text = _with_regions(how.output, text, present, how._replace(force=how.force or known), found)
    row = Row(how.output, "(original form)", len(text.encode("utf-8")))
    used = len(sources.prose) + len(sources.protocols)
    outputs = () if _stops(found) else (Output(how.output, text, (row,)),)
    return Build(outputs, ordered(found), used, (Chain("", (row,), row.size),))


def _laid_out(
    files: Mapping[str, bytes],
    path: str,
    read: Callable[[str], str | None],
    how: How,
    around: Surroundings,
) -> Build | None:
    """AGENTS.md as the layout says that was imported with its sources, None where they are not those any more.

    Nothing is added to it, so it needs no VERSION; and it may have as many bytes as it had then.
    """
    found: list[Diagnostic] = []
    used = sum(name.endswith(SOURCES) for name in files)
    known = layout.read(path, files[path], found)
    if known is None:
        return Build((), found, used)
    text, found = layout.assemble(known, how.source, files, read)
    if text is None:
        return Build((), found, used) if found else None
    present = around.present(how.output)
    if present != text.encode("utf-8") and (
        isinstance(known, layout.Whole) or not layout.knows(known, how.output, present)
    ):
        text = _with_regions(how.output, text, present, how, found)
    row = Row(how.output, f"(laid out by {path})", len(text.encode("utf-8")))
    limit = max(how.max_bytes, known.size)
    chain = Chain("", (row,), limit)
    if row.size > limit:
        help_ = "shorten a source, or state another limit with `--max-bytes`"
        found = [*found, _oversized(chain, how._replace(max_bytes=limit), help_)]
    outputs = (Output(how.output, text, (row,)),)
    if _stops(found):
        return Build((), ordered(found), used, (chain,))
    memory = layout.remembering(files[path], known, how.output, present, text)
    return Build(outputs, ordered(found), used, (chain,), ((path, memory),))


def _stops(found: list[Diagnostic]) -> bool:
    return any(item.severity == "error" for item in found)


def _scopes(sources: Sources, around: Surroundings) -> list[Diagnostic]:
    return [
        Diagnostic(item.scope_at, "FDC509", f"$.scope: the folder `{item.scope}` does not exist")
        for item in sources.protocols
        if item.scope_at is not None and not around.is_folder(item.scope)
    ]


def _outputs(
    inputs: _Inputs, how: How, around: Surroundings, found: list[Diagnostic]
) -> tuple[Output, ...]:
    """Every file, AGENTS.md of the repository first. What is wrong with files that are there goes to `found`."""
    made = []
    pages = documents(inputs.sources, inputs.docs if how.profile == "full" else None, how.split)
    main = named(how.output)
    for target in (main, *(TARGETS[name] for name in how.targets)):
        for item in pages:
            path = target.path(item.folder)
            if target is main or not around.same(path, main.path(item.folder)):
                made.append(_output(path, target, item, inputs, how, around, found))
    return tuple(made)


def _output(
    path: str,
    target: Target,
    item: Document,
    inputs: _Inputs,
    how: How,
    around: Surroundings,
    found: list[Diagnostic],
) -> Output:
    used = {*(section.path for section in item.sections), *item.tools, around.version_file}
    agents = named(how.output).path(item.folder)
    body = page(
        target.template,
        front=_fenced(target.front(item.folder)),
        source=how.source,
        version=inputs.version,
        of=f", for {item.folder}/" if item.folder else "",
        about=_about(item.folder),
        sections=[section.text for section in item.sections],
        inputs=sorted((name, inputs.digests[name]) for name in used),
        agents=posixpath.basename(agents),
    )
    text = f"{body}{seal(body)}\n"
    sections = [(section.path, section.text) for section in item.sections]
    woven = _with_regions(path, text, around.present(path), how, found)
    return Output(
        path,
        woven,
        measure(path, text, sections if target.template != "import.md.j2" else [], woven),
    )


def _fenced(front: list[str]) -> list[str]:
    return ["---", *front, "---", ""] if front else []


def _about(folder: str) -> list[str]:
    """What the file of a folder says of its place."""
    if not folder:
        return []
    return [
        "",
        f"These rules are for `{folder}/`; those of the whole repository hold there as well.",
    ]


def _with_regions(
    path: str, text: str, data: bytes | None, how: How, found: list[Diagnostic]
) -> str:
    """The text with the regions of the file that it replaces, if that is fdc's and whole."""
    if data is None:
        return text
    old = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if not is_ours(old) and old != text and not how.force:
        help_ = "`fdc protocols import` takes it apart into sources, `fdc protocols build --force` writes over it"
        found.append(
            Diagnostic(
                Span(path, 1, 1, 1, 2), "FDC508", f"`{path}` was not written by fdc", help=help_
            )
        )
        return text
    taken = take(old)
    known = {said for _, said in take(text).fenced}
    lost = [
        (line, f"`{said}` stands inside of a code block")
        for line, said in taken.fenced
        if said not in known
    ]
    for line, wrong in sorted([*taken.damaged, *lost]):
        help_ = "repair the marks in the file, then build again: what is between them would be lost"
        found.append(Diagnostic(Span(path, line, 1, line, 2), "FDC507", wrong, help=help_))
    return put(text, taken.regions, taken.rest)


def _plan(
    outputs: tuple[Output, ...], how: How, around: Surroundings, found: list[Diagnostic]
) -> tuple[Chain, ...]:
    """The chains of all folders. A file of another name than AGENTS.md is a chain of its own."""
    name = posixpath.basename(how.output)
    rows = {item.path: item.rows for item in outputs if posixpath.basename(item.path) == name}
    if how.output != "AGENTS.md":
        return tuple(
            chains(
                {posixpath.basename(path): parts for path, parts in rows.items()}, (), how.max_bytes
            )
        )
    for path, size in sorted(around.others.items()):
        beside = posixpath.join(posixpath.dirname(path), name)
        if posixpath.basename(path) != name:
            if beside in rows:
                message = f"agents read `{path}` in place of `{beside}`"
                found.append(Diagnostic(Span(path, 1, 1, 1, 2), "FDC510", message))
            rows.pop(beside, None)
        if path not in rows:
            rows[path] = (Row(path, "(not written by fdc)", size),)
    return tuple(chains(rows, around.above, how.max_bytes))


def _oversized(chain: Chain, how: How, help_: str | None) -> Diagnostic:
    files = dict.fromkeys(row.file for row in chain.rows)
    path = [*files][-1]
    where = (
        f", read in `{chain.folder}/` with " + ", ".join(f"`{file}`" for file in [*files][:-1])
        if len(files) > 1
        else ""
    )
    message = f"{chain.size} bytes{where}, more than the {how.max_bytes} that agents read; they would cut off the rest"
    return Diagnostic(Span(path, 1, 1, 1, 2), "FDC505", message, help=help_)


def _ways_out(inputs: _Inputs, how: How, around: Surroundings, chain: Chain) -> str:
    """What would help against a chain that is too long, with the bytes that it would leave."""

    def worst(other: How) -> int:
        return max(
            part.size for part in _plan(_outputs(inputs, other, around, []), other, around, [])
        )

    ways = []
    if how.profile == "full" and inputs.docs:
        ways.append(
            (worst(how._replace(profile="compact")), "--profile compact", "no tool documentation")
        )
    if not how.split and any(item.scope for item in inputs.sources.protocols):
        ways.append(
            (worst(how._replace(split=True)), "--split", "rules with a scope go to their folders")
        )
    said = [f"`{option}` leaves {size} ({why})" for size, option, why in ways if size < chain.size]
    longest = sorted(
        (row for row in chain.rows if row.what not in (HEAD, TAIL)),
        key=lambda row: (-row.size, row.what),
    )[:3]
    said += (
        ["shorten the longest: " + ", ".join(f"{row.what} ({row.size})" for row in longest)]
        if longest
        else []
    )
    return "; ".join([*said, "or state another limit with `--max-bytes`"])


def _version(data: bytes | None, path: str, found: list[Diagnostic]) -> str:
    """FDC-95: VERSION holds one semantic version."""
    text = "" if data is None else data.decode("utf-8", "replace").strip()
    if _SEMVER.fullmatch(text) is None:
        what = (
            "does not exist"
            if data is None
            else f"holds `{shown(text, 40)}`"
            if text
            else "is empty"
        )
        message = f"{path} {what}; expected a semantic version such as `1.0.0`"
        found.append(Diagnostic(Span(path, 1, 1, 1, 2), "FDC503", message))
    return text
