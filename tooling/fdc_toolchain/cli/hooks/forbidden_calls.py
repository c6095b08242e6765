"""Finds calls that a workspace's protocols forbid at every point: rules of the template `absence`.

A single step breaks such a rule, so no history is needed. A shell command counts as `run_in_bash_session`, an edit as the
tool that writes the file. Rules of other templates depend on earlier or later steps, which a hook does not know;
they apply to runs of plans only, as do rules that name plans or automata.
"""

from __future__ import annotations

import os

from .hook_answer import Event

_SHELL, _WRITES, _CREATES = (
    "run_in_bash_session",
    "overwrite_file_with_block",
    "create_file_with_block",
)


def of_command(root: str, command: str) -> str | None:
    """The reason why a protocol forbids a command; None: it is allowed."""
    return _broken(root, _SHELL, {"command": command})


def of_edit(root: str, path: str) -> str | None:
    """The reason why a protocol forbids writing the file at a path of the workspace; None: it is allowed."""
    why = _broken(root, _WRITES, {"path": path})
    return (
        why
        if why or os.path.exists(os.path.join(root, path))
        else _broken(root, _CREATES, {"path": path})
    )


def _broken(root: str, tool: str, arguments: Event) -> str | None:
    """The rule that a step would break; None: it breaks none."""
    from ...linking.project.settings import Settings, SettingsError, read_settings

    try:
        settings = read_settings(root)
    except SettingsError:
        settings = Settings()
    if not settings.protocols or not os.path.isdir(os.path.join(root, settings.protocols)):
        return None
    from ...engine.events import Perform
    from ...engine.rules import Monitor, paths_of
    from ...linking.link import Linker

    linker = Linker(root, settings)
    row = linker.catalogue.tools.get(tool)
    if row is None:
        return None
    step = Perform("main/1", "tool", tool, arguments, "", row.effect, "", 0)
    paths = paths_of(row.row)
    for rule in linker.obligations:
        if rule.template != "absence" or rule.n != 1 or rule.automata or rule.plans:
            continue
        monitor = Monitor(rule.plain(), rule.same in paths)
        seen = monitor.read(step, row.action, paths)
        if seen is not None and monitor.after(*seen) < 0:
            return f"the rule {monitor.name} forbids it: {rule.description}"
    return None
