"""Compiles protocol sources into AGENTS.md and the other files that agents read: text in, text out (FDC-94 to FDC-98)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

from ..diagnostics.diagnostic import Diagnostic, ordered
from ..diagnostics.span import Span
from ..linking.registry import shown
from ..named_tuples import NamedTuple
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


class BuildOptions(NamedTuple):
    """What a build writes. `profile`: `full`, `compact` without the documentation of tools, or `original`: the
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


class WorkspaceView(NamedTuple):
    """What a build needs of the workspace besides its sources.

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
    """Files to write beside the outputs, with what the next build must know about this one."""

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
    options: BuildOptions | None = None,
    around: WorkspaceView | None = None,
) -> Build:
    """Compiles the sources in `files` (path to bytes); `read` gives the text of a tool's file, `version` is VERSION.

    The same inputs give the same bytes. Any finding that is an error leaves no outputs: FDC501 and
    FDC502 for a source, FDC503 for VERSION, FDC505 for more bytes than agents read, FDC507 for damaged
    marks of a region, FDC508 for a file that fdc did not write, FDC509 for a scope that is not a folder.
    A tool's file that is absent is a warning, in the findings (FDC506) and in the text; so is a file
    that agents read in place of a compiled one (FDC510).
    """
    options, around = options or BuildOptions(), around or WorkspaceView()
    laid = posixpath.normpath(posixpath.join(options.source, layout.NAME))
    if laid in files and (imported := _from_layout(files, laid, read, options, around)) is not None:
        return imported
    sources, findings = load(files)
    if options.profile == "original":
        return _as_original(sources, findings, options, around)
    number = _version(version, around.version_file, findings)
    findings += _scopes(sources, around)
    docs: dict[str, str] = {}
    for protocol in sources.protocols:
        for path, span in protocol.scripts:
            text = document(path, read)
            if text is None:
                findings.append(Diagnostic(span, "FDC506", f"the tool `{path}` does not exist"))
                text = f"Warning: no documentation exists, because `{path}` does not exist."
            docs[path] = text
    used = {path: data for path, data in files.items() if path.endswith(SOURCES)}
    if _stops(findings):
        return Build((), ordered(findings), len(used))
    digests = {path: digest(data.replace(b"\r\n", b"\n")) for path, data in used.items()}
    digests.update((path, digest(text.encode("utf-8", "replace"))) for path, text in docs.items())
    digests[around.version_file] = digest(number.encode())
    inputs = _Inputs(sources, docs, digests, number)
    outputs = _outputs(inputs, options, around, findings)
    plan = _plan(outputs, options, around, findings)
    over = [chain for chain in plan if chain.size > options.max_bytes]
    if over and not _stops(findings):
        help_ = _ways_out(inputs, options, around, max(over, key=lambda chain: chain.size))
        findings += [
            _oversized(chain, options, help_ if chain is over[0] else None) for chain in over
        ]
    return Build(() if _stops(findings) else outputs, ordered(findings), len(used), plan)


def _as_original(
    sources: Sources, findings: list[Diagnostic], options: BuildOptions, around: WorkspaceView
) -> Build:
    """AGENTS.md in the original form. It has no seal: a file that begins with its notice counts as built before."""
    text, present = original(sources), around.present(options.output)
    known = present is not None and present.startswith(ORIGINAL_NOTICE.encode())
    text = _with_regions(
        options.output, text, present, options._replace(force=options.force or known), findings
    )
    row = Row(options.output, "(original form)", len(text.encode("utf-8")))
    used = len(sources.prose) + len(sources.protocols)
    outputs = () if _stops(findings) else (Output(options.output, text, (row,)),)
    return Build(outputs, ordered(findings), used, (Chain("", (row,), row.size),))


def _from_layout(
    files: Mapping[str, bytes],
    path: str,
    read: Callable[[str], str | None],
    options: BuildOptions,
    around: WorkspaceView,
) -> Build | None:
    """AGENTS.md by the layout that was imported with its sources; None where the sources have changed.

    Nothing is added to it, so it needs no VERSION; it may have as many bytes as it had when it was imported.
    """
    findings: list[Diagnostic] = []
    used = sum(name.endswith(SOURCES) for name in files)
    known = layout.read(path, files[path], findings)
    if known is None:
        return Build((), findings, used)
    text, findings = layout.assemble(known, options.source, files, read)
    if text is None:
        return Build((), findings, used) if findings else None
    present = around.present(options.output)
    if present != text.encode("utf-8") and (
        isinstance(known, layout.Whole) or not layout.knows(known, options.output, present)
    ):
        text = _with_regions(options.output, text, present, options, findings)
    row = Row(options.output, f"(laid out by {path})", len(text.encode("utf-8")))
    limit = max(options.max_bytes, known.size)
    chain = Chain("", (row,), limit)
    if row.size > limit:
        help_ = "shorten a source, or state another limit with `--max-bytes`"
        findings = [*findings, _oversized(chain, options._replace(max_bytes=limit), help_)]
    outputs = (Output(options.output, text, (row,)),)
    if _stops(findings):
        return Build((), ordered(findings), used, (chain,))
    memory = layout.remembering(files[path], known, options.output, present, text)
    return Build(outputs, ordered(findings), used, (chain,), ((path, memory),))


def _stops(findings: list[Diagnostic]) -> bool:
    return any(item.severity == "error" for item in findings)


def _scopes(sources: Sources, around: WorkspaceView) -> list[Diagnostic]:
    return [
        Diagnostic(item.scope_at, "FDC509", f"$.scope: the folder `{item.scope}` does not exist")
        for item in sources.protocols
        if item.scope_at is not None and not around.is_folder(item.scope)
    ]


def _outputs(
    inputs: _Inputs, options: BuildOptions, around: WorkspaceView, findings: list[Diagnostic]
) -> tuple[Output, ...]:
    """Every file, AGENTS.md of the repository first. Faults of existing files are added to `findings`."""
    outputs = []
    pages = documents(
        inputs.sources, inputs.docs if options.profile == "full" else None, options.split
    )
    main = named(options.output)
    for target in (main, *(TARGETS[name] for name in options.targets)):
        for item in pages:
            path = target.path(item.folder)
            if target is main or not around.same(path, main.path(item.folder)):
                outputs.append(_output(path, target, item, inputs, options, around, findings))
    return tuple(outputs)


def _output(
    path: str,
    target: Target,
    item: Document,
    inputs: _Inputs,
    options: BuildOptions,
    around: WorkspaceView,
    findings: list[Diagnostic],
) -> Output:
    used = {*(section.path for section in item.sections), *item.tools, around.version_file}
    agents = named(options.output).path(item.folder)
    body = page(
        target.template,
        front=_fenced(target.front(item.folder)),
        source=options.source,
        version=inputs.version,
        of=f", for {item.folder}/" if item.folder else "",
        about=_about(item.folder),
        sections=[section.text for section in item.sections],
        inputs=sorted((name, inputs.digests[name]) for name in used),
        agents=posixpath.basename(agents),
    )
    text = f"{body}{seal(body)}\n"
    sections = [(section.path, section.text) for section in item.sections]
    woven = _with_regions(path, text, around.present(path), options, findings)
    return Output(
        path,
        woven,
        measure(path, text, sections if target.template != "import.md.j2" else [], woven),
    )


def _fenced(front: list[str]) -> list[str]:
    return ["---", *front, "---", ""] if front else []


def _about(folder: str) -> list[str]:
    """The lines in a folder's file about what it is for."""
    if not folder:
        return []
    return [
        "",
        f"These rules are for `{folder}/`; those of the whole repository hold there as well.",
    ]


def _with_regions(
    path: str, text: str, data: bytes | None, options: BuildOptions, findings: list[Diagnostic]
) -> str:
    """The text with the regions of the file that it replaces, if fdc wrote that file and its marks are valid."""
    if data is None:
        return text
    old = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if not is_ours(old) and old != text and not options.force:
        help_ = "`fdc protocols import` takes it apart into sources, `fdc protocols build --force` writes over it"
        findings.append(
            Diagnostic(
                Span(path, 1, 1, 1, 2), "FDC508", f"`{path}` was not written by fdc", help=help_
            )
        )
        return text
    regions = take(old)
    known = {marker for _, marker in take(text).fenced}
    lost = [
        (line, f"`{marker}` stands inside of a code block")
        for line, marker in regions.fenced
        if marker not in known
    ]
    for line, wrong in sorted([*regions.damaged, *lost]):
        help_ = "repair the marks in the file, then build again: what is between them would be lost"
        findings.append(Diagnostic(Span(path, line, 1, line, 2), "FDC507", wrong, help=help_))
    return put(text, regions.regions, regions.rest)


def _plan(
    outputs: tuple[Output, ...],
    options: BuildOptions,
    around: WorkspaceView,
    findings: list[Diagnostic],
) -> tuple[Chain, ...]:
    """The chains of all folders. A file of another name than AGENTS.md is a chain of its own."""
    name = posixpath.basename(options.output)
    rows = {item.path: item.rows for item in outputs if posixpath.basename(item.path) == name}
    if options.output != "AGENTS.md":
        return tuple(
            chains(
                {posixpath.basename(path): parts for path, parts in rows.items()},
                (),
                options.max_bytes,
            )
        )
    for path, size in sorted(around.others.items()):
        beside = posixpath.join(posixpath.dirname(path), name)
        if posixpath.basename(path) != name:
            if beside in rows:
                message = f"agents read `{path}` in place of `{beside}`"
                findings.append(Diagnostic(Span(path, 1, 1, 1, 2), "FDC510", message))
            rows.pop(beside, None)
        if path not in rows:
            rows[path] = (Row(path, "(not written by fdc)", size),)
    return tuple(chains(rows, around.above, options.max_bytes))


def _oversized(chain: Chain, options: BuildOptions, help_: str | None) -> Diagnostic:
    files = dict.fromkeys(row.file for row in chain.rows)
    path = [*files][-1]
    place = (
        f", read in `{chain.folder}/` with " + ", ".join(f"`{file}`" for file in [*files][:-1])
        if len(files) > 1
        else ""
    )
    message = f"{chain.size} bytes{place}, more than the {options.max_bytes} that agents read; they would cut off the rest"
    return Diagnostic(Span(path, 1, 1, 1, 2), "FDC505", message, help=help_)


def _ways_out(inputs: _Inputs, options: BuildOptions, around: WorkspaceView, chain: Chain) -> str:
    """Suggestions for a chain that is too long, each with the bytes that would remain."""

    def worst(other: BuildOptions) -> int:
        return max(
            part.size for part in _plan(_outputs(inputs, other, around, []), other, around, [])
        )

    ways = []
    if options.profile == "full" and inputs.docs:
        ways.append(
            (
                worst(options._replace(profile="compact")),
                "--profile compact",
                "no tool documentation",
            )
        )
    if not options.split and any(item.scope for item in inputs.sources.protocols):
        ways.append(
            (
                worst(options._replace(split=True)),
                "--split",
                "rules with a scope go to their folders",
            )
        )
    hints = [f"`{option}` leaves {size} ({why})" for size, option, why in ways if size < chain.size]
    longest = sorted(
        (row for row in chain.rows if row.what not in (HEAD, TAIL)),
        key=lambda row: (-row.size, row.what),
    )[:3]
    hints += (
        ["shorten the longest: " + ", ".join(f"{row.what} ({row.size})" for row in longest)]
        if longest
        else []
    )
    return "; ".join([*hints, "or state another limit with `--max-bytes`"])


def _version(data: bytes | None, path: str, findings: list[Diagnostic]) -> str:
    """FDC-95: VERSION holds one semantic version."""
    text = "" if data is None else data.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    if _SEMVER.fullmatch(text) is None:
        fault = (
            "does not exist"
            if data is None
            else f"holds `{shown(text, 40)}`"
            if text
            else "is empty"
        )
        message = f"{path} {fault}; expected a semantic version such as `1.0.0`"
        findings.append(Diagnostic(Span(path, 1, 1, 1, 2), "FDC503", message))
    return text
