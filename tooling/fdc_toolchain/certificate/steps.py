"""The part of the checker that follows labels through one step, by the rules of `docs/trust.md`. It imports nothing of fdc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .file_sets import ANY, Files, apart, files_of, hidden
from .labels import (
    KEPT,
    LEVEL,
    POWER,
    POWERS,
    Name,
    State,
    cleared,
    deciding,
    described,
    label_of,
    labels_of,
    paths,
    predicates_in,
    sum_of,
)
from .made_of import programs
from .plans import Wrong
from .touches import Step

if TYPE_CHECKING:
    from .forms import Condition, DataRow, DataRows, Instruction, Kind, Program, Template


class Steps:
    """A plan that begins as a row says, one step after the other; the labels of its result and its failures are collected.

    `kept`: a stop of the plan does not stop the run, so it is a condition. `outer`: the conditions that led to the plan.
    """

    def __init__(self, program: Program, certificate: DataRows, row: DataRow) -> None:
        self.program, self.rows, self.row = program, certificate["rows"], row
        self.plan, self.left = program["plans"][row["plan"]], labels_of(certificate["left"])
        self.outside = [files_of(glob) for glob in program.get("untrusted", ())]
        self.kept, self.outer = row["kept"] is True, label_of(row["choices"])
        self.result = self.fails = self.stops = 0
        self.wrote: dict[Kind, dict[Files, int]] = {kind: {} for kind in KEPT}

    # ---- labels ------------------------------------------------------------------------

    def label(self, state: State, value: object, *, bare: bool = True) -> int:
        """The label of all that a template or condition reads; `bare` False: without declared numbers and truth values."""
        label = 0
        for ref in paths(value):
            name = state.names.get(ref[0])
            if name is not None and (bare or len(ref) != 2 or ref[1] not in name.bare):
                label |= name.inner if ref[1:] and ref[1] in name.own else name.label
        return label

    def items(self, state: State, value: Template) -> tuple[int, Name]:
        """The label of which items a list has, and the name for an item."""
        refs, label = list(paths(value)), self.label(state, value)
        alone = len(value) == len(refs) == 1 and len(refs[0]) == 1
        name = state.names.get(refs[0][0]) if alone else None
        if name is None:
            return label, Name(label)
        over = name.inner if "[]" in name.own else name.label
        return over, Name(name.label, frozenset(), name.own - {"[]"}, name.inner | over)

    def in_files(self, kind: dict[Files, int], files: Files) -> int:
        """The label that is recorded for some files."""
        union = 0
        for other, label in kind.items():
            union |= 0 if apart(files, other) else label
        return union

    def of_others(self, files: Files) -> int:
        """The label of files that the settings name as from outside."""
        named = any(not apart(files, other) for other in self.outside)
        return LEVEL["untrusted"] if named else 0

    def holds(self, state: State, files: Files) -> int:
        """The label of all that may stand in files."""
        known = self.in_files(state.texts, files) | self.in_files(self.left, files)
        return known | self.of_others(files)

    def condition(self, state: State, cond: Condition | None) -> int:
        """The label of a condition; evaluating it may fail for some values, which ends the branch."""
        label = self.label(state, cond)
        if cond is not None:
            for name in predicates_in(cond):
                # a Python function of the workspace may look at any file
                if "run" in self.program.get("predicates", {}).get(name, ()):
                    label |= self.in_files(state.there, ANY) | self.holds(state, ANY)
            self.fails |= label | self.outer | state.inner
            self.stop(state, label)
        return label

    def stop(self, state: State, label: int) -> None:
        """Something with this label may end the branch here: it is a condition for what follows."""
        if self.kept:
            self.stops |= label | state.inner
            state.inner |= label

    def use(self, node: Instruction, label: int, power: str) -> None:
        """Raises Wrong where the text may not choose, and no operator allowed it in this line."""
        if label & POWER[power] and not any(
            row["code"] == "FDC712"
            and " allowed FDC47" in row["text"]
            and [self.plan["path"], node["line"]] in row["uses"]
            for row in self.program.get("assumptions", ())
        ):
            fault = f"{described(label & POWER[power])} may choose {POWERS[power]}"
            raise Wrong(f"plan `{self.row['plan']}`, line {node['line']}: {fault}")

    def bind(self, state: State, name: str | None, value: Name) -> None:
        """Binds a name."""
        if name is not None:
            state.names[name] = value

    def step(self, state: State, node: Instruction) -> None:
        """One step: which labels choose in it, what its result is made of, what it does to files."""
        step, given, chooses = Step(self.program, node), 0, 0
        choices = self.outer | state.inner
        for row in step.rows:
            value, power = step.args[row["name"]], step.chooses(row)
            given |= self.label(state, value)
            chooses |= 0 if power is None else self.label(state, value)
            if power == "command":  # a hole is code, or data that is quoted as one word
                for hole in value:
                    if not isinstance(hole, str) and hole["ref"] != ["run"]:
                        coded = "quote" not in hole or hole.get("code") is True
                        what = "command" if coded else "argument"
                        self.use(node, self.label(state, hole), what)
            elif power is not None:
                self.use(node, self.label(state, value, bare=power != "message"), power)
        self.led(state, node, step, choices)
        seen, left = LEVEL["untrusted" if step.recalls() else "trusted"], 0
        for files, texts, names in step.reads():
            if texts:
                seen |= self.in_files(state.texts, files)
                left |= self.in_files(self.left, files)
                seen |= self.of_others(files)
            seen |= self.in_files(state.there, files) if names else 0
        held = moved = 0
        for files, names, stays in step.opened():
            one = self.holds(state, files) | (self.in_files(state.there, files) if names else 0)
            held, moved = held | one, moved | (0 if stays else one)
        said = LEVEL[step.tool["trust"]]
        brought = given | seen | said
        found = brought | left | held
        self.fails |= found | choices
        if step.fails():
            needs = 0
            for row in (row for row in step.rows if "access" in row):
                needs |= self.in_files(state.there, files := step.files(row))
                if row["access"] not in ("write", "delete"):
                    needs |= self.in_files(state.texts, files) | self.of_others(files)
            self.stop(state, found | needs)
        else:
            self.stop(state, 0)
        earlier = 0 if step.tool.get("writes") == "unknown" else left
        told = moved if moved & POWER["path"] else 0
        self.put(state, step, brought | moved, earlier, chooses | seen | said | told)
        fields, clears = step.tool.get("result"), step.tool.get("clears", ())
        kinds = fields.items() if isinstance(fields, dict) else ()
        bare = frozenset(field for field, kind in kinds if kind in ("number", "boolean"))
        own = frozenset(step.tool.get("own", ()))
        label, inner = cleared(found, clears), cleared(given | seen | left, clears)
        self.bind(state, node["bind"], Name(label, bare, own, inner if own else 0))

    def led(self, state: State, node: Instruction, step: Step, choices: int) -> None:
        """Raises Wrong where text may not choose whether the step is done, or stands in what it executes."""
        if step.acts():
            self.use(node, choices, "choice")
        added = sum_of(self.label(state, value) for value in step.adds())
        self.use(node, deciding(added), "choice")
        if step.executes:
            kept = [item for kind in KEPT for item in getattr(state, kind).items()]
            for label in [label for files, label in kept if not hidden(files)]:
                self.use(node, label, "code")
        for path in programs(step.tool):
            self.use(node, self.in_files(state.texts, (path,)), "code")

    def put(self, state: State, step: Step, brought: int, left: int, decides: int) -> None:
        """What a step does to files. A moved file keeps its text, and exists if the first one did. `left`: the label of what
        it found from an earlier run; the sandbox controls what a command finds and keeps. What chose a path decided about
        every file that it may name; `decides`: which of the files that it may write it writes."""
        changes, choices = list(step.changes()), self.outer | state.inner
        choices |= deciding(sum_of(self.label(state, step.args[row["name"]]) for row in step.rows
                                   if row.get("access", "read") != "read"))  # fmt: skip
        moved = left | sum_of(self.holds(state, one) for one, how in changes if how == "delete")
        for files, access in changes:
            there = choices | (deciding(decides) if access == "unknown" else 0)
            self.note(state, "there", files, there)
            if access != "delete":
                self.note(state, "texts", files, brought | moved | there)

    def note(self, state: State, kind: Kind, files: Files, label: int) -> None:
        """Records a label for some files."""
        if label := label & KEPT[kind]:
            for table in (getattr(state, kind), self.wrote[kind]):
                table[files] = table.get(files, 0) | label
