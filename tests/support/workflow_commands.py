"""How the runner of GitHub Actions reads a log line, written from its documented rules.

A line is a command when it begins (after white space) with `::NAME ...::`, or has `##[NAME ...]`
anywhere. Properties are parted by commas and unescaped, then the data is.
"""

from __future__ import annotations

from typing import NamedTuple

NAMES = {
    "error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "add-matcher", "remove-matcher",
    "stop-commands", "set-output", "save-state", "set-env", "add-path", "echo",
}  # fmt: skip


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    data: str


def read(line: str) -> Command | None:
    """The command that a runner sees in a log line, or None."""
    stripped = line.lstrip()
    if stripped.startswith("::") and (end := stripped.find("::", 2)) >= 0:
        name, _, rest = stripped[2:end].partition(" ")
        if name in NAMES:
            pairs = (part.partition("=") for part in rest.strip().split(",") if part)
            found = {key: _property(value) for key, _, value in pairs if value}
            return Command(name, found, _data(stripped[end + 2 :]))
    at = line.find("##[")
    if (
        at >= 0
        and (end := line.find("]", at)) >= 0
        and line[at + 3 : end].partition(" ")[0] in NAMES
    ):
        return Command(line[at + 3 : end].partition(" ")[0], {}, line[end + 1 :])
    return None


def lines(log: str) -> list[str]:
    """The lines of a log as a runner splits them: at CR, LF and both."""
    return log.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _data(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def _property(text: str) -> str:
    return (
        text.replace("%0D", "\r")
        .replace("%0A", "\n")
        .replace("%3A", ":")
        .replace("%2C", ",")
        .replace("%25", "%")
    )
