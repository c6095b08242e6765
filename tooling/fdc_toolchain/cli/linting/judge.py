"""Checks plans with the options, and prints the findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ...console.process import write
from ...diagnostics.diagnostic import Diagnostic, ordered, parted
from ...diagnostics.formats import COUNTING
from ...diagnostics.verdict_line import verdict_line
from ...exits import CLEAN, FINDINGS, WorldError
from ...linking.project.files import Files
from ...linking.project.places import MAX_FILE, Inside
from ...linking.project.regular_file import read
from ...linking.project.settings import Settings
from ...workspace.confirmed_settings import settings_of
from .options import Options


def settings_for(options: Options, root: str) -> Settings:
    settings = settings_of(root, trust=bool(options["trust_settings"]))
    if options["fsm"]:
        settings = settings._replace(fsm=str(options["fsm"]))
    if options["profile"]:
        settings = settings._replace(profile=str(options["profile"]))
    if options["strict"]:
        settings = settings._replace(strict=True)
    return settings


def judge(
    options: Options, root: str, settings: Settings, keys: list[str], texts: dict[str, bytes]
) -> tuple[list[Diagnostic], Callable[[str], str | None], Files]:
    """The findings, sources and read files of one check of the plans."""
    from ...check import check
    from ...linking.link import Linker

    linker = Linker(root, settings)
    checked = check(linker, keys, texts, whole=bool(options["model"]))
    found = [*checked.diagnostics, *checked.assumptions, *checked.fragments]
    if options["model"]:
        from .csdc_findings import findings

        found = ordered(found + findings(checked, str(options["model"]), options["complexity"]))  # type: ignore[arg-type]
    disk = reader(root)
    return (
        found,
        lambda key: checked.sources(key) if key in linker.units else disk(key),
        linker.files,
    )


def reader(root: str) -> Callable[[str], str | None]:
    """Reads texts of files in the form that spans refer to."""
    inside, more = Inside(root), settings_of(root).secret

    def sources(key: str) -> str | None:
        from ...linking.project.secret_files import withheld

        try:
            if key.startswith("fdc:"):
                from ...packs import shipped

                data = shipped.read(key[4:]) or b""
            elif inside.leads_out(key) or withheld(inside, key, more):
                return None
            else:
                data = read(os.path.join(root, key), MAX_FILE)
        except OSError:
            return None
        return decoded(data)

    return sources


def decoded(data: bytes) -> str:
    """A file's text in the form that spans refer to."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def report(
    options: Options,
    found: list[Diagnostic],
    sources: Callable[[str], str | None],
    checked: int,
    strict: bool,
    *,
    root: str | None = None,
    aside: bool = False,
    uncounted: int = 0,
    others: int = 0,
) -> int:
    """Prints the findings of the workspace `root` in the chosen format (`aside`: on stderr); returns the exit code.

    `uncounted`: number of assumptions besides those in `found`; `others`: number of other tools' plans.
    """
    form = str(options["format"] or "text")
    target = None if options["output"] == "-" else options["output"]
    findings = parted(found).findings
    if options["write_baseline"]:
        return _kept_as_baseline(options, findings, sources)
    known = 0
    if options["baseline"]:
        from . import baseline

        new, known, unproved = baseline.sort(str(options["baseline"]), findings, sources)
        if unproved:  # nothing is said of how many plans are proved
            checked, others = 0, checked + others
        parts = parted(found)
        findings, found = new, [*new, *parts.assumptions, *parts.fragments]
    listed = bool(options["assumptions"])
    if options["quiet"] and not findings and not listed and form in COUNTING:
        text = ""
    elif known and not findings and form in COUNTING:
        from ...report.concise import finding_line

        text = "".join(f"{finding_line(item)}\n" for item in found if listed) + "no new findings\n"
    elif not found and form in COUNTING:
        text = verdict_line(checked, uncounted, listed=listed, others=others) + "\n"
    else:
        from ...console.terminal import style
        from ...report.render import render

        if root is not None and found:
            from ...report.hosts.placed import placed

            found, sources = placed(form, found, sources, root)
        look = style(options["color"], to_file=bool(target))
        text = render(
            form,
            found,
            sources,
            style=look,
            files_checked=checked,
            assumptions=listed,
            uncounted=uncounted,
            others=others,
        )
    if target:
        from ...durable import output

        try:
            output(str(target), text.encode("utf-8", "surrogateescape"))
        except OSError as failed:
            raise WorldError(
                f"the report cannot be written to `{target}`: {failed.strerror}"
            ) from failed
    else:
        write(text.encode("utf-8", "replace"), sys.stderr if aside else sys.stdout)
    if known:
        many = "finding" if known == 1 else "findings"
        print(
            f"fdc: {known} known {many} in {options['baseline']}: a plan with an error is not proved and cannot be run",
            file=sys.stderr,
        )
    if options["exit_zero"]:
        return CLEAN
    bad = any(
        item.severity == "error" or (strict and item.severity == "warning") for item in findings
    )
    return FINDINGS if bad else CLEAN


def _kept_as_baseline(
    options: Options, findings: list[Diagnostic], sources: Callable[[str], str | None]
) -> int:
    from . import baseline

    path = str(options["baseline"] or baseline.NAME)
    count = baseline.write(path, findings, sources)
    write(f"{path} written: {count} known\n".encode("utf-8", "replace"), sys.stdout)
    return CLEAN


def nothing_changed(options: Options) -> int:
    """The report if `--changed` selects no plan: the same formats, without claims about the other plans."""
    if str(options["format"] or "text") in ("text", "concise") and not options["output"]:
        if not options["quiet"]:
            line = f"no plan depends on a change since {options['changed']}\n"
            write(line.encode("utf-8", "replace"), sys.stdout)
        return CLEAN
    return report(options, [], lambda key: None, 0, strict=False)
