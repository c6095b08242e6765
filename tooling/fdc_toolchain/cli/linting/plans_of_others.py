"""Recognises plans of other tools, and Markdown that contains plans, by path and form; checks them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ...diagnostics.diagnostic import Diagnostic
from ...named_tuples import NamedTuple
from .look_alikes import known_tools, looks_like_a_plan
from .options import Options

MOST_NAMED = 5


class OfOthers(NamedTuple):
    """The findings in files that are not plan files of fdc.

    `keys`: those files; `ours`: named files that turned out to be fdc plans. `others`: number of plans of
    other tools; `plans`: number of fdc plans in Markdown. `texts`: texts that were not read from disk.
    """

    found: list[Diagnostic]
    keys: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    others: int = 0
    plans: int = 0
    texts: tuple[tuple[str, str], ...] = ()

    def sources(self, more: Callable[[str], str | None]) -> Callable[[str], str | None]:
        """Reads texts of these files; for all others, `more` does."""
        texts = dict(self.texts)
        return (lambda key: texts[key] if key in texts else more(key)) if texts else more


NONE = OfOthers([])


def look(keys: list[str], options: Options, root: str) -> OfOthers:
    """Checks the files `keys`. Names files that are not plans on stderr. Raises WorldError."""
    from ...exits import WorldError
    from ...linking.link import closed
    from ...linking.project.regular_file import read
    from ...workspace.confirmed_settings import settings_of

    out, secret = NONE, settings_of(root).secret
    named = {os.path.abspath(str(path)) for path in options["paths"] or ()}  # type: ignore[attr-defined]
    unknown = []
    for key in dict.fromkeys(keys):
        if refused := closed(root, key, secret):
            out = _joined(out, OfOthers([refused], (key,), (), 1))
            continue
        try:
            data = read(os.path.join(root, key))
        except OSError as failed:
            raise WorldError(f"`{key}` cannot be read: {failed.strerror or failed}") from failed
        by_name = os.path.join(root, key) in named
        more = _one(key, data, options, root)
        if more is None or more.ours and not by_name:
            unknown += [key] * by_name
            continue
        out = _joined(out, more)
    out = out._replace(keys=tuple(key for key in dict.fromkeys(keys) if key not in out.ours))
    if unknown and not options["quiet"]:
        _say_unknown(unknown)
    return out


def in_text(key: str, texts: dict[str, bytes], root: str, before: OfOthers) -> OfOthers:
    """Does the same for a text from stdin, and removes it from `texts` if it is not an fdc plan."""
    from ...linking.project.discover import may_be_of_others
    from .options import defaults

    if not may_be_of_others(key):
        return before
    more = _one(key, texts[key], defaults(), root)
    if more is None:
        del texts[key]
        _say_unknown([key])
        return before
    if more.ours:
        return before
    text = texts.pop(key).decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    return _joined(before, more)._replace(texts=((key, text),))


def _one(key: str, data: bytes, options: Options, root: str) -> OfOthers | None:
    """The content of one file; None if it is not a known kind of plan."""
    from ...foreign.read import read
    from .judge import settings_for

    found = read(key, data, root, settings_for(options, root))
    if found is not None and not (found.kind == "Markdown" and not found.plans):
        return OfOthers(found.findings, (key,), (), int(found.kind != "Markdown"), found.plans)
    if looks_like_a_plan(data[:4096], known_tools()):
        return OfOthers([], (), (key,))
    return None


def _joined(one: OfOthers, two: OfOthers) -> OfOthers:
    return OfOthers(*(first + second for first, second in zip(one, two)))  # type: ignore[operator]


def _say_unknown(keys: list[str]) -> None:
    from ...report.terminal.terminal_text import visible

    names = ", ".join(visible(key) for key in keys[:MOST_NAMED])
    if len(keys) > MOST_NAMED:
        names += f" and {len(keys) - MOST_NAMED} more"
    many = len(keys) > 1
    print(
        f"fdc: {names} {'have' if many else 'has'} no plan that fdc knows, and {'were' if many else 'was'} not checked",
        file=sys.stderr,
    )
