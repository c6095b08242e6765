"""A person's approval of protected files that a run's plans may change (`allow write AGENTS.md`; docs/sandbox.md).

The first step that may change such a path asks: it waits for an approval, which shows what opens and which steps may change it.
It is given for the program, by its digest, and holds for this run of it: the journal has it in the notes of the steps that
made use of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from ...engine.events import Outcome, Perform, Record
from ...engine.reach import reach
from ...engine.values import resolved
from ...linking.project.protected import Protected, named, opened
from ...program.codec import identity
from ...program.model import Program
from ...report.changes import OPENED
from ...workspace.failure import ToolFailure
from ...workspace.files import Opening
from .. import intent_files
from ..talk_tools import verdict
from ..workbench import Workbench

STEPS = 100
"""Maximum number of steps that an approval lists."""

Ask = Callable[[str, dict[str, object]], str]
"""Asks a question with its content; returns an answer of yes or no. Raises Waiting if no person answers."""


class Openings:
    """The protected files that one run may change."""

    def __init__(self, program: Program, bench: Workbench) -> None:
        self._program, self._bench = program, bench
        self._given = bench.opened
        self._asking = threading.Lock()
        self._shows: dict[str, Any] | None = None
        self._used: dict[str, object] = {}

    def gate(self, effect: Perform, ask: Ask) -> Opening:
        """The argument of `Root.granted` for a step."""

        def opening(entries: list[Protected]) -> None:
            with self._asking:
                if not self._given and (
                    effect.address in self._bench.answers or not self._answered()
                ):
                    shows = self.shows()
                    intent_files.write(self._bench.run_folder, _key(effect), {"asking": True})
                    names = "; ".join(f"`{entry.entry}` {entry.what}" for entry in entries[:3])
                    if not verdict(
                        ask(
                            f"May this run change these protected files? {names} (yes or no)", shows
                        )
                    ):
                        raise ToolFailure(
                            "refused",
                            f"the user does not allow the run to change these protected files: {names}",
                        )
                    intent_files.write(self._bench.run_folder, _key(effect), {"asking": False})
                self._given = True
                self._used[effect.address] = self.shows()[OPENED]

        return opening

    def used(self, address: str, outcome: Outcome) -> Outcome:
        """The outcome of a step, with the approval that it made use of."""
        note = self._used.pop(address, None)
        return (
            outcome
            if note is None
            else outcome._replace(notes={**(outcome.notes or {}), OPENED: note})
        )

    def unbegun(self, effect: Perform) -> bool:
        """True for a step that asked for approval and was not begun: the answer is missing, or fdc ended while it asked."""
        if OPENED in self._bench.shown.get(effect.address, ()):
            return True
        return bool((intent_files.read(self._bench.run_folder, _key(effect)) or {}).get("asking"))

    def shows(self) -> dict[str, object]:
        """The content of the approval: the protected files that the plans name, and the steps that may change them."""
        if self._shows is None:
            found = named_by(self._program, self._bench.root.protected, self._bench.root.protect)
            rows: list[dict[str, Any]] = [
                {
                    "plan": path,
                    "what": OPENED,
                    "file": glob,
                    "text": f"`{opened.entry}` {opened.what}",
                }
                for path, glob, opened in found
            ]
            steps = list(_changing(self._program, [opened for _, _, opened in found]))
            rows += steps[:STEPS]
            if len(steps) > STEPS:
                rows.append({"what": "more", "count": len(steps) - STEPS})
            paths = sorted({glob for _, glob, _ in found})
            self._shows = {
                "rows": rows,
                OPENED: {"program": identity(self._program), "paths": paths},
            }
        return self._shows

    def _answered(self) -> bool:
        """Whether a stored answer of any step is yes, and showed what is opened now."""
        answers, shown = self._bench.answers, self._bench.shown
        ready = [address for address, one in shown.items() if OPENED in one and address in answers]
        return any(
            shown[one][OPENED] == self.shows()[OPENED] and verdict(answers[one]) for one in ready
        )


def named_by(
    program: Program, settings: Iterable[str] = (), more: Iterable[str] = ()
) -> list[tuple[str, str, Protected]]:
    """The protected files that the plans of a program name: plan, glob, and opened entry; each glob once."""
    settings, more = tuple(settings), tuple(more)
    out: dict[str, tuple[str, str, Protected]] = {}
    for plan in program["plans"].values():
        for glob in plan.get("allow", {}).get("write", ()):
            found = opened(glob, settings, more)
            if found is not None:
                out.setdefault(glob, (plan["path"], glob, found))
    return list(out.values())


def approved(program: Program, records: Iterable[Record]) -> bool:
    """Whether a run's record has a person's approval of exactly what this program opens."""
    if not named_any(program):
        return False
    digest = identity(program)
    notes = (
        record.body.get("notes") or {}
        for record in records
        if record.kind == "outcome" and "notes" in record.body
    )
    return any(
        note.get(OPENED, {}).get("program") == digest
        for note in notes
        if isinstance(note.get(OPENED), dict)
    )


def named_any(program: Program) -> bool:
    """Whether a plan of a program has an `allow write` at all."""
    return any(plan.get("allow", {}).get("write") for plan in program["plans"].values())


def _changing(program: Program, entries: list[Protected]) -> Iterable[dict[str, object]]:
    """The steps that may change what is opened: commands, tools that write what their row says, and files that a step names."""
    found = reach(program)
    for item in found.steps:
        tool = program["tools"][item["tool"]]
        if tool.get("effect") in ("pure", "read") and not tool.get("access"):
            continue
        written = {name: resolved(template, {}) for name, template in item["args"].items()}
        paths = [
            written.get(parameter["name"], "")
            for parameter in tool.get("parameters", ())
            if parameter.get("access") not in (None, "read")
        ]
        unknown = tool.get("writes") == "unknown" or bool(tool.get("access", {}).get("write"))
        if unknown or any(
            "{" in path or any(named(entry.entry, [(False, path)]) for entry in entries)
            for path in paths
        ):
            at = {"line": item["line"], "plan": found.paths[id(item)]}
            blocks = {
                parameter["name"]
                for parameter in tool.get("parameters", ())
                if parameter.get("kind") == "block"
            }
            said = [item["tool"], *(text for name, text in written.items() if name not in blocks)]
            text = " ".join(" ".join(said).split())
            yield {**at, "what": "command" if unknown else "step", "text": text[:500]}


def _key(effect: Perform) -> str:
    return f"{effect.address} {effect.turn} opened"
