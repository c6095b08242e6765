"""What a person sees of a repair on stderr: the failure, each hypothesis that is tried, what came of it."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click
from fdc_toolchain.api.commands import Aside
from fdc_toolchain.api.text import cut, visible

if TYPE_CHECKING:
    from fdc_toolchain.api.tools import Outcome, Perform

    from ..shapes import Failure


class Watching(Aside):
    """A line for each thing that was learned; stdout belongs to the diff."""

    def __init__(self) -> None:
        super().__init__()
        self._anew = True

    def say(self, text: str) -> None:
        """Port `Progress`: the plan's own words."""
        self._tell(text)

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Port `Progress`."""
        super().done(effect, outcome, took)
        value = outcome.value
        tell = _TELL.get(effect.tool)
        if effect.tool == "rank_context" and isinstance(value, dict):
            tell = _suspects if self._anew else None
            self._anew = False
        elif effect.tool == "hold_interpretation" or effect.tool == "open_repair":
            self._anew = effect.tool == "open_repair"
        if effect.kind == "tool" and tell is not None and isinstance(value, dict):
            line = tell(value)
            if line:
                self._tell(line)

    def _tell(self, text: str) -> None:
        width = shutil.get_terminal_size().columns if sys.stderr.isatty() else 200
        for line in text.rstrip("\n").split("\n"):
            click.echo(cut(visible(line.rstrip("\r")), width), err=True)


def _case(value: dict[str, Any]) -> str:
    files = f"{value['count']} file{'' if value['count'] == 1 else 's'} may be changed"
    without = value.get("without") or []
    more = (
        f"\nnot copied, as git ignores it and the workspace is large: {', '.join(map(visible, without))}"
        if without
        else ""
    )
    return f"copied; {files}; the test command runs{more}"


def _opened(value: dict[str, Any]) -> str:
    return "" if value["ended"] else f"fails: {failing(value['failure'])}"


def _suspects(value: dict[str, Any]) -> str:
    lines = Counter(row["path"] for row in value["suspects"])
    if not lines:
        return f"no suspects: {value['why']}"
    more = f" and {len(lines) - 4} more files" if len(lines) > 4 else ""
    said = ", ".join(
        f"{visible(path)} ({count} line{'' if count == 1 else 's'})"
        for path, count in [*lines.items()][:4]
    )
    return f"suspects: {said}{more}" + ("" if value["executed"] else "; without coverage")


def failing(failure: Failure) -> str:
    """A failure in a few words."""
    where = f" ({visible(failure['path'])}:{failure['line']})" if failure.get("path") else ""
    tests = failure.get("failing") or []
    count = f", {len(tests)} failures" if len(tests) > 1 else ""
    return f"{failure.get('message') or 'passes'}{where}{count}"


def _read(value: dict[str, Any]) -> str:
    return f"interpretation: {value['interpretation']}" if value.get("interpretation") else ""


def _probed(value: dict[str, Any]) -> str:
    count = Counter(value["verdicts"].values())
    if not count:
        return f"no edit was tried in memory: {value['why']}" if value["why"] else ""
    tried = f"{value['tried']} small edits tried in memory"
    return f"{tried}: with {count['passes']} the tests pass, with {count['helps']} fewer fail"


def _admitted(value: dict[str, Any]) -> str:
    made = [event["id"] for event in value["events"] if event["what"] == "hypothesis created"]
    if made:
        rows = [row for row in value["store"]["rows"] if row["id"] in made]
        tried = ", each tried in memory" if all(row.get("probe") for row in rows) else ""
        span = f"{made[0]} to {made[-1]}" if len(made) > 1 else made[0]
        return f"{len(made)} hypothes{'e' if len(made) > 1 else 'i'}s{tried}: {span}"
    return (
        f"no hypotheses: {'; '.join(value['refused'][:2])}"
        if value["refused"] and not value["ended"]
        else ""
    )


_ENDED = {"hypothesis falsified": "falsified", "hypothesis rejected": "set aside"}


def _weighed(value: dict[str, Any]) -> str:
    gone = [event for event in value["events"] if event["what"] in _ENDED]
    said = [f"{event['id']} is {_ENDED[event['what']]}: {event['why']}" for event in gone]
    if value["viable"] and value["hypothesis"]:
        row = value["hypothesis"]
        region = row["affected_region"]
        place = (
            ""
            if row["claim"].startswith(region["path"])
            else f"{region['path']}:{region['first']}  "
        )
        said.append(f"{value['iteration'] + 1:>3}  {row['id']} {place}{row['claim']}")
    return "\n".join(said)


def _concluded(value: dict[str, Any]) -> str:
    last = value["attempts"][-1] if value["attempts"] else None
    if last is None or not last["hypothesis"]:
        return ""
    if value["ended"] == "fixed":
        return "     -> passes"
    if last["accepted"]:
        return f"     -> fewer failures; now first: {failing(value['failure'])}"
    return f"     -> {last['reason']}" + (
        f": {last['current']['message']}" if last["applied"] and not last["unchanged"] else ""
    )


def _guessed(value: dict[str, Any]) -> str:
    return f"{value['iteration']:>3}  {value['history'][-1].partition(': ')[2]}"


_TELL = {
    "open_case": _case, "probe_edits": _probed, "open_repair": _opened,
    "hold_interpretation": _read, "admit_hypotheses": _admitted,
    "weigh_challenge": _weighed, "conclude_iteration": _concluded, "conclude_guess": _guessed,
}  # fmt: skip
