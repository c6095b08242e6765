"""The part of the checker that walks one row: labels along bodies, calls and loops. It imports nothing of fdc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .file_sets import files_of, lasting, text_of
from .labels import KEPT, LEVEL, Name, State, covers, label_of, labels_of, name_of, within
from .plans import Wrong
from .steps import Steps

if TYPE_CHECKING:
    from .forms import Body, DataRow, Instruction, Outcome

OUTCOMES: tuple[Outcome, ...] = ("result", "fails", "stops")


class Flow(Steps):
    """One row: the whole plan, begun as the row says."""

    def check(self) -> None:
        """Raises Wrong."""
        self.body("", self.plan["body"], self.begin())
        claim, where = self.row["gives"], f"plan `{self.row['plan']}`"
        if any(getattr(self, part) & ~label_of(claim[part]) for part in OUTCOMES):
            raise Wrong(f"{where}: its result, or why it fails, may be of more than is claimed")
        if not all(within(self.wrote[kind], labels_of(claim[kind])) for kind in KEPT):
            raise Wrong(f"{where}: more may come into files than is claimed")
        if not within(
            {files: label for files, label in self.wrote["texts"].items() if lasting(files)},
            self.left,
        ):
            raise Wrong(f"{where}: more may be left in files for a later run than is claimed")

    def begin(self) -> State:
        """The state in which the plan begins by its row."""
        names = {param["name"]: Name(label_of(self.row["params"].get(param["name"], ())))
                 for param in self.plan.get("params", ())}  # fmt: skip
        return State(names, labels_of(self.row["texts"]), labels_of(self.row["there"]), 0)

    # ---- the walk ----------------------------------------------------------------------

    def body(self, place: str, body: Body, state: State) -> None:
        """Changes a state to what holds at the end of a body. Raises Wrong."""
        for number, node in enumerate(body, 1):
            op, at = node["op"], f"{place}/{number}"
            if op == "step":
                self.step(state, node)
            elif op == "call":
                self.call(state, node, at)
            elif op == "skip":
                self.bind(state, node["bind"], Name(0))
            elif op == "if":
                self.choice(state, node, at)
            elif op == "require":
                self.condition(state, node["cond"])
            elif op == "yield":
                self.result |= self.label(state, node["value"]) | state.inner
                self.fails |= self.label(state, node["value"])
            elif op in ("each", "for", "fork", "iterate"):
                self.loop(state, node, at)
            else:
                raise Wrong(f"`{op}` is not an instruction of a program")

    def call(self, state: State, node: Instruction, place: str) -> None:
        """A call: it begins as the row claimed for it says, and gives what that row gives."""
        given = {name: self.label(state, value) for name, value in node["args"].items()}
        row = self.callee(state, node, place, given)
        params = {name: label_of(facts) for name, facts in row["params"].items()}
        files = {kind: labels_of(row[kind]) for kind in KEPT}
        if row["plan"] != node["plan"] or row["kept"] is not self.kept:
            raise Wrong(
                f"plan `{self.row['plan']}`, line {node['line']}: the row claimed for the call is for another one"
            )
        held = all(within(getattr(state, kind), files[kind]) for kind in KEPT)
        if (
            not held
            or not within(given, params)
            or (self.outer | state.inner) & ~label_of(row["choices"])
        ):
            raise Wrong(
                f"plan `{self.row['plan']}`, line {node['line']}: the call may begin in another way than is claimed"
            )
        for kind in KEPT:
            for paths, label in labels_of(row["gives"][kind]).items():
                self.note(state, kind, paths, label)
        result, fails, stops = (label_of(row["gives"][part]) for part in OUTCOMES)
        self.fails |= fails
        self.stop(state, stops)
        self.bind(state, node["bind"], Name(result))

    def callee(self, state: State, node: Instruction, place: str, given: dict[str, int]) -> DataRow:
        """The row that is claimed for a call."""
        return self.rows[self.row["calls"][place]]

    def choice(self, state: State, node: Instruction, place: str) -> None:
        """A branch: the condition decides which side a name or a file comes from."""
        before, looked = state.inner, self.condition(state, node["cond"])
        state.inner |= looked
        chosen, names = state.inner, dict(state.names)
        other = state.copy()
        self.body(f"{place}.then", node["then"], state)
        self.body(f"{place}.else", node["else"], other)
        changed = {
            name
            for branch in (state, other)
            for name, value in branch.names.items()
            if value is not names.get(name)
        }
        state.add(other)
        state.names |= {name: state.names[name].under(chosen) for name in changed}
        state.inner = before | (self.stops if self.kept else 0)

    def loop(self, state: State, node: Instruction, place: str) -> None:
        """A loop: what is claimed when a round begins must hold after it, too; its conditions decide how many rounds run."""
        op = node["op"]
        over, item = self.items(
            state, node["in"] if op in ("for", "fork") else node.get("glob", [])
        )
        if op == "each":
            glob = node["glob"]
            self.use(node, self.label(state, glob), "path")
            over |= self.in_files(state.there, files_of(text_of(glob)))
            item = Name(over | LEVEL["workspace"])
        self.stop(state, over)
        before, result, fails = (
            state.inner,
            self.result,
            self.fails | over | self.outer | state.inner,
        )
        kept, stops, keeps, gathers = (
            self.kept,
            self.stops,
            node.get("keep") == "failures",
            node.get("bind"),
        )
        self.result = 0 if gathers else result
        if keeps:
            self.kept, self.fails, self.stops = True, 0, 0
        hidden_names = {
            name: state.names.get(name)
            for name in (node.get("name"), node.get("alias"))
            if name is not None
        }
        state.inner |= over
        self.rounds(state, node, place, item, hidden_names)
        failed = self.fails | self.stops if keeps else 0
        if keeps:
            self.kept, self.stops = kept, stops
        state.inner = before | (self.stops if self.kept else 0)
        if gathers:
            gathered, self.result = self.result, result
            self.bind(state, gathers, Name(gathered | over | failed))
        self.fails = fails | (0 if keeps else self.fails)

    def rounds(
        self, state: State, node: Instruction, place: str, item: Name, names: dict[str, Name | None]
    ) -> None:
        """Changes a state to what holds whenever a round begins, or the loop ends, as claimed. Raises Wrong."""
        head = self.head(state, place)
        if not covers(head, state):
            raise Wrong(
                f"plan `{self.row['plan']}`, line {node['line']}: the loop may begin in another way than is claimed"
            )
        end = self.turn(head.copy(), node, place, item, names)
        if not covers(head, end):
            raise Wrong(
                f"plan `{self.row['plan']}`, line {node['line']}: a round of the loop may bring more than is claimed"
            )
        state.names, state.texts = head.names, head.texts
        state.there, state.inner = head.there, head.inner

    def head(self, state: State, place: str) -> State:
        """What is claimed to hold whenever a round begins; names that are not listed keep their labels."""
        claim = self.row["loops"][place]
        names = {name: name_of(*parts) for name, parts in claim["names"].items()}
        return State(
            state.names | names,
            labels_of(claim["texts"]),
            labels_of(claim["there"]),
            label_of(claim["choices"]),
        )

    def turn(
        self, state: State, node: Instruction, place: str, item: Name, names: dict[str, Name | None]
    ) -> State:
        """What holds after a round."""
        before = dict(state.names)
        for name in names:
            self.bind(state, name, item)
        self.body(place, node["body"], state)
        state.inner |= self.condition(state, node.get("until"))
        for name, value in state.names.items():
            if value is not before.get(name):
                state.names[name] = value.under(state.inner)
        for name, before_loop in names.items():  # they mean afterwards what they meant before
            state.names.pop(name)
            if before_loop is not None:
                state.names[name] = before_loop
        return state
