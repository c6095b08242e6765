"""`fdc rules`: every rule in a table, as JSON, or as the page docs/rules.md."""

from __future__ import annotations

import click

from ...console.options import choice_option, text_option
from ...console.terminal import say
from ...diagnostics.codes import CODES
from ...exits import CLEAN, FINDINGS, UsageError
from ...linking.project import regular_file


@click.command(
    "rules",
    epilog="Exit codes: 0 done, 1 the file under --check differs, 2 wrong usage, 3 the environment failed.",
)
@choice_option(
    "--format -f form",
    ["text", "json", "markdown"],
    "A table, JSON, or the page with all explanations.",
    default="text",
)
@text_option("--output -o", "FILE", "Write there instead of stdout.")
@text_option("--check", "FILE", "Write nothing; exit 1 if FILE differs from the page.")
def command(form: str, output: str | None, check: str | None) -> int:
    """List every rule: its code, name, severity, and what it finds."""
    if output and check:
        raise UsageError("`--output` and `--check` exclude each other")
    text = {"text": _table, "json": _list, "markdown": _page}[form]()
    if check:
        return _check(check, text.encode("utf-8"))
    if output and output != "-":
        from ... import durable

        durable.output(output, text.encode("utf-8"))
    else:
        from ...console.terminal import width
        from ...report.terminal.terminal_text import folded

        shown = folded(text, width()) if form == "text" else text
        click.echo(shown, nl=False, color=True)
    return CLEAN


def _check(path: str, wanted: bytes) -> int:
    try:
        actual = regular_file.read(path)
    except FileNotFoundError:
        say(f"{path} does not exist; create it with `make docs`", err=True)
        return FINDINGS
    if actual != wanted:
        say(
            f"{path} is out of date; update it with `make docs`",
            err=True,
        )
        return FINDINGS
    click.echo(f"{path} is up to date")
    return CLEAN


def _table() -> str:
    from ...console.terminal import style
    from ...report.rules_page import by_stage

    paint = style().paint
    width = max(len(row.name) for row in CODES.values())
    out: list[str] = []
    for title, codes in by_stage().items():
        out += ["", paint("strong", title)] if out else [paint("strong", title)]
        for code in codes:
            row = CODES[code]
            out.append(
                f"  {code}  {paint(row.severity, f'{row.severity:<7}')}  {row.name:<{width}}  {row.summary}"
            )
    return "\n".join(out) + "\n"


def _list() -> str:
    from ...report.json_ import dumps

    rows = [{"code": code, **CODES[code]._asdict()} for code in sorted(CODES)]
    return dumps({"format": 1, "rules": rows}, indent=1) + "\n"


def _page() -> str:
    from ...report.rules_page import page

    return page()
