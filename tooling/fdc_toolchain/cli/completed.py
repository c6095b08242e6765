"""Shell completion of values: names of the plans, runs, rules and tools of this workspace."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

_PLAIN = re.compile(r"[\w./@:+][\w./@:+-]*", re.ASCII)
"""Names without characters that a shell interprets. Other names are not offered, because the shell inserts them unquoted."""

_MOST = 500


def _plans(root: str) -> Iterable[str]:
    from ..linking.link import Linker
    from ..linking.project.discover import find_plans
    from ..linking.project.settings import read_settings

    settings = read_settings(root)
    yield from Linker(root, settings).callable_names()
    for path in find_plans([root], root, settings.exclude):
        yield os.path.relpath(path)


def _runs(root: str) -> Iterable[str]:
    from ..runs.records.open_journal import reading

    yield "last"
    with reading(root) as store:
        if store is not None:
            yield from (row.name for row in reversed(store.runs()))


def _rules(root: str) -> Iterable[str]:
    from ..diagnostics.codes import CODES

    yield from CODES
    yield from (row.name for row in CODES.values())


def _tools(root: str) -> Iterable[str]:
    from ..linking.catalogue import read_catalogue
    from ..linking.project.files import Files
    from ..linking.project.settings import read_settings

    yield from read_catalogue(read_settings(root).catalogues, Files(root).read)[0].tools


Names = Callable[[str], Iterable[str]]

_BY_NAME: dict[str, Names] = {"plan": _plans, "run": _runs, "rules": _rules, "simulate": _runs}
_BY_COMMAND: dict[tuple[str, str], Names] = {
    ("lint", "paths"): _plans, ("fmt", "paths"): _plans, ("migrate", "paths"): _plans, ("graph", "target"): _plans,
    ("fork", "step"): _runs, ("diff", "one"): _runs, ("diff", "other"): _runs, ("fix", "resume"): _runs, ("lgtm", "check"): _runs,
    ("tools", "name"): _tools,
}  # fmt: skip
"""By command and parameter, for parameters whose names have several meanings."""


def complete(command: click.Command, name: str) -> click.Command:
    """Adds completion of values to the parameters of a command, but not to those of its subcommands."""
    for parameter in command.params:
        names = _BY_COMMAND.get((name, parameter.name or "")) or _BY_NAME.get(parameter.name or "")
        if names is not None:
            parameter._custom_shell_complete = _from(names)
    return command


def _from(
    names: Names,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    def items(
        context: click.Context, parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        from ..linking.project.root import find_root

        found: dict[str, None] = {}
        try:
            for name in names(find_root(os.getcwd())):
                if name.startswith(begun) and _PLAIN.fullmatch(name):
                    found[name] = None
                if len(found) == _MOST:
                    break
        except Exception:  # print no message into the shell's completions
            pass
        if not found and names is _plans:
            return [CompletionItem(begun, type="file")]
        return [CompletionItem(name) for name in found]

    return items
