"""Whether a command that failed ran a test at all: what test runners and shells say where they did not begin. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shapes import Failure

_SAID = re.compile(
    r"^(?:"
    r"INTERNALERROR> +(?P<last>[A-Za-z_][\w.]*(?:Error|Exception|Warning)\b.*)"  # pytest: the configuration, a plugin
    r"|.*\berror: (?:unrecognized arguments|argument |the following arguments are required).*"
    r"|ERROR: (?:file or directory not found|not found|usage): .*"
    r"|(?:=+ )?(?:no tests ran|\d+ deselected) in \d.*|collected 0 items.*|NO TESTS RAN|Ran 0 tests in .*"
    r"|\S*python[\d.]*(?:\.exe)?: (?:No module named \S+|can't open file .*|Error while finding module specification .*)"
    r"|g?make(?:\[\d+\])?: (?:\*\*\* )?(?:No rule to make target|No targets|.*: No such file or directory|.*not found).*"
    r"|(?:\S*sh|env): (?:line )?(?:\d+: )?.*: (?:command )?not found|\S*sh: \d+: .*: not found"
    r"|npm (?:error|ERR!) Missing script: .*|error: no such (?:sub)?command.*|error: could not find `Cargo\.toml`.*"
    r"|no Go files in .*|go: (?:no packages|cannot find main module|warning: .* matched no packages).*"
    r")$",
    re.MULTILINE,
)  # fmt: skip
_OURS = re.compile(r'^INTERNALERROR> +File "(?![/<])[^"\n]+", line \d+', re.MULTILINE)
"""A plugin of the workspace that fails within pytest."""


def why_none_ran(measured: Mapping[str, object], failure: Failure) -> str:
    """What a failed command said where it ran no test, and names no file of the workspace in which something fails; else "".

    Of an error within pytest it is the error.
    """
    text = f"{measured.get('stdout') or ''}\n{measured.get('stderr') or ''}"
    found = list(_SAID.finditer(text))
    if failure["path"] or failure["failing"] or not found or _OURS.search(text):
        return ""
    inside = [one for one in found if one["last"]]
    return " ".join((inside or found)[-1][0].removeprefix("INTERNALERROR>").split())[:300]
