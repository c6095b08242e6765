"""`fdc lint`: prove plans, show what is wrong, repair what can be repaired."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from ...cache import verdicts
from ...cache.blob_ids import Contents
from ...diagnostics.diagnostic import Diagnostic, Kept, from_plain, ordered, parted, plain
from ...diagnostics.verdict_line import verdict_line
from ...exits import CLEAN, FINDINGS, UsageError, WorldError
from ...workspace.confirmed_settings import settings_of
from ..fast_path import must_be_there
from .lint_options import OPTIONS, Options

Plans = tuple[list[str], "str | None", Contents]
"""The keys to judge, the name of their record in the cache, and the ids of the files."""


def lint(options: Options, root: str, plans: Plans | None) -> int:
    """Proves and reports; returns the exit code. `plans` is None where the cache is not asked."""
    from ...check import key_of
    from ...linking.project.discover import find_plans

    texts: dict[str, bytes] = {}
    if plans is None:
        paths = list(options["paths"] or ["."])  # type: ignore[call-overload]
        keys = []
        if "-" in paths:
            paths = [path for path in paths if path != "-"]
            if sys.stdin is None:
                raise UsageError("`-` reads stdin, which is closed")
            given = options["stdin_filename"]
            key = key_of(str(given), root) if given else "<stdin>"
            texts[key] = sys.stdin.buffer.read()
            keys.append(key)
        must_be_there(paths)
        keys += sorted(
            {
                key_of(path, root)
                for path in (find_plans(paths, root, settings_of(root).exclude) if paths else [])
            }
        )
        name, contents = None, None
    else:
        keys, name, contents = plans
    settings = _settings(options, root)
    if options["fix"] or options["diff"]:
        from .lint_fix import fix

        return fix(options, root, settings, keys, texts)
    if name is not None and contents is not None and not options["model"]:
        return _with_table(options, root, settings, keys, name, contents)
    found, sources, _ = _judge(options, root, settings, keys, texts)
    return report(options, found, sources, len(keys), settings.strict)


def _with_table(
    options: Options, root: str, settings: Any, keys: list[str], name: str, contents: Contents
) -> int:
    """Judges what the table of the workspace has no verdict for, keeps the whole as a record, and reports it."""
    from ...linking.link import Linker
    from . import assumption_packs
    from .incremental import findings

    words = repr([options[word] for word in ("fsm", "profile")] + [settings.trusted])
    for afresh in (False, True):
        try:
            outcome = findings(Linker(root, settings), keys, contents, words, afresh=afresh)
            more = (
                assumption_packs.read(outcome.packed, outcome.fresh)
                if _lists_assumptions(options)
                else []
            )
            break
        except assumption_packs.Lost:
            assert not afresh
    if outcome.kept:
        kept = Kept(tuple(plain(item) for item in outcome.found), outcome.packed, outcome.number)
        verdicts.store(name, contents, kept, len(keys), outcome.files, outcome.probes)
    contents.save()
    return _report_kept(
        options, root, len(keys), outcome.found, more, outcome.number, settings.strict
    )


def _settings(options: Options, root: str) -> Any:
    settings = settings_of(root, trust=bool(options["trust_settings"]))
    if options["fsm"]:
        settings = settings._replace(fsm=str(options["fsm"]))
    if options["profile"]:
        settings = settings._replace(profile=str(options["profile"]))
    if options["strict"]:
        settings = settings._replace(strict=True)
    return settings


def _judge(
    options: Options, root: str, settings: Any, keys: list[str], texts: dict[str, bytes]
) -> Any:
    """(findings, sources, files read) of one look at the plans."""
    from ...check import check
    from ...linking.link import Linker

    linker = Linker(root, settings)
    checked = check(linker, keys, texts, whole=bool(options["model"]))
    found = [*checked.diagnostics, *checked.assumptions, *checked.fragments]
    if options["model"]:
        from .csdc import findings

        found = ordered(found + findings(checked, str(options["model"]), options["complexity"]))  # type: ignore[arg-type]
    disk = _reader(root)
    return (
        found,
        lambda key: checked.sources(key) if key in linker.units else disk(key),
        linker.files,
    )


def _reader(root: str) -> Callable[[str], str | None]:
    """The texts of files as spans count in them."""
    from ...packs import shipped

    def sources(key: str) -> str | None:
        try:
            if key.startswith("fdc:"):
                data = shipped.read(key[4:]) or b""
            else:
                with open(os.path.join(root, key), "rb") as file:
                    data = file.read()
        except OSError:
            return None
        return decoded(data)

    return sources


def show_record(options: Options, root: str, checked: int, kept: tuple[Any, ...]) -> int | None:
    """Reports a verdict of the cache; None where assumptions that are to be listed are not there any more."""
    record = Kept(*kept)
    more: list[Diagnostic] = []
    if record.number and _lists_assumptions(options):
        from . import assumption_packs

        try:
            more = assumption_packs.read(record.packed)
        except assumption_packs.Lost:
            return None
    found = [from_plain(item) for item in record.found]
    strict = bool(options["strict"])
    if not strict and found:
        strict = settings_of(root).strict
    return _report_kept(options, root, checked, found, more, record.number, strict)


def _lists_assumptions(options: Options) -> bool:
    return options["format"] not in (None, "text", "concise") or bool(options["assumptions"])


def _report_kept(
    options: Options,
    root: str,
    checked: int,
    found: list[Diagnostic],
    more: list[Diagnostic],
    number: int,
    strict: bool,
) -> int:
    """Reports `found` and, where they are listed, the `number` assumptions `more`."""
    if not _lists_assumptions(options):
        return report(options, found, _reader(root), checked, strict, uncounted=number)
    parts = parted(ordered(found + more))  # one kind after the other, as where nothing is kept
    return report(
        options,
        [*parts.findings, *parts.assumptions, *parts.fragments],
        _reader(root),
        checked,
        strict,
    )


def decoded(data: bytes) -> str:
    """A file's text as spans count in it."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def report(
    options: Options,
    found: list[Diagnostic],
    sources: Callable[[str], str | None],
    checked: int,
    strict: bool,
    *,
    aside: bool = False,
    uncounted: int = 0,
) -> int:
    """Prints the findings in the form asked for (`aside`: on stderr); returns the exit code.

    `uncounted`: how many assumptions there are besides those in `found`.
    """
    form = str(options["format"] or "text")
    target = options["output_file"]
    findings = parted(found).findings
    listed = bool(options["assumptions"])
    if options["quiet"] and not findings and not listed and form in ("text", "concise"):
        text = ""
    elif not found and not uncounted and form in ("text", "concise"):
        text = verdict_line(checked) + "\n"
    else:
        from ...report.render import render
        from ..shared.terminal import style

        look = style(options["color"], to_file=bool(target))
        text = render(
            form,
            found,
            sources,
            style=look,
            files_checked=checked,
            assumptions=listed,
            uncounted=uncounted,
        )
    if target:
        from ...durable import replace

        try:
            replace(os.path.realpath(str(target)), text.encode("utf-8", "surrogateescape"))
        except OSError as failed:
            raise WorldError(
                f"the report cannot be written to `{target}`: {failed.strerror}"
            ) from failed
    else:
        write(text.encode("utf-8", "replace"), sys.stderr if aside else sys.stdout)
    if options["exit_zero"]:
        return CLEAN
    bad = any(
        item.severity == "error" or (strict and item.severity == "warning") for item in findings
    )
    return FINDINGS if bad else CLEAN


def write(data: bytes, stream: Any) -> None:
    """Writes UTF-8, whatever the terminal claims to speak. A reader who has left changes no verdict."""
    if stream is None:
        return  # closed before we began
    try:
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(data.decode("utf-8", "replace"))
        else:
            buffer.write(data)
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def __getattr__(name: str) -> Any:
    """`command`, built with click when it is asked for, from the same table that the quick reader uses."""
    if name != "command":
        raise AttributeError(name)
    import click

    from ..fast_path import execute

    def callback(paths: tuple[str, ...], **values: Any) -> int:
        return execute({**values, "paths": list(paths)})

    parameters: list[click.Parameter] = [click.Argument(["paths"], nargs=-1, metavar="[PATHS]...")]
    for option, short, takes, text in OPTIONS:
        names = [f"--{option}"] + ([f"-{short}"] if short else [])
        if takes is None:
            parameters.append(click.Option(names, is_flag=True, help=text))
        elif isinstance(takes, tuple):
            parameters.append(click.Option(names, type=click.Choice(takes), help=text))
        else:
            parameters.append(click.Option(names, metavar=str(takes), help=text))
    return click.Command(
        "lint",
        params=parameters,
        callback=callback,
        help="Prove plans: every run ends, obeys its automaton, and uses only what exists.\n\n"
        "PATHS are files, folders (their *.plan and plan.txt files), or `-` for stdin; the current folder otherwise.",
        epilog="Exit codes: 0 clean, 1 findings, 2 wrong usage, 3 the world failed, 4 a bug of ours.",
    )
