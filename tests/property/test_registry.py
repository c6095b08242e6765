"""Laws of the plan registry: it reads anything, and behaves like a dictionary whatever is done to it."""

from __future__ import annotations

import json
import shutil
import string
import tempfile
from pathlib import Path

from fdc_toolchain.agent.audit import registry as work
from fdc_toolchain.linking.registry import REGISTRY, name_fault, path_fault, read_registry
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
pieces = st.sampled_from(
    list('{}[]:,"\\ \n') + ['"a"', '"x.plan"', "1", "null", "NaN", '"/x"', '"../x"', "\\u0000"]
)


@given(
    st.binary()
    | st.lists(pieces).map("".join).map(str.encode)
    | json_values.map(json.dumps).map(str.encode)
)
@example(b'{"a":"\\ud800"}')
@example(b"[" * 100_000)
def test_any_bytes_give_a_registry_and_findings_inside_the_file(data: bytes) -> None:
    """FDC-40: what is kept is sound; what is not kept is reported at a place that exists."""
    registry, findings = read_registry(data, REGISTRY)
    lines = data.decode("utf-8", "replace").split("\n")
    for item in findings:
        assert item.code == "FDC325" and item.message.isprintable()
        assert (
            1 <= item.span.line <= len(lines)
            and 1 <= item.span.column <= len(lines[item.span.line - 1]) + 2
        )
    for name, path in registry.entries.items():
        assert name.isprintable() and path_fault(path) is None
    if not findings:
        assert json.loads(data.decode("utf-8-sig")) == dict(registry.entries)


names = st.text(min_size=1).filter(str.isprintable)
paths = st.text(min_size=1).filter(lambda path: path_fault(path) is None)


@given(st.dictionaries(names, paths))
def test_what_is_sound_is_read_whole(entries: dict[str, str]) -> None:
    registry, findings = read_registry(json.dumps(entries).encode(), REGISTRY)
    assert (entries, []) == (dict(registry.entries), findings)


@given(st.text(alphabet=string.printable + "äа\u200b\u202e\0", max_size=120))
def test_a_name_that_is_allowed_can_be_said_in_a_plan(name: str) -> None:
    """One word of ASCII without quotes, braces or steps upwards: what `call_plan NAME` can say."""
    if name_fault(name) is None:
        assert name.isascii() and name.split() == [name] and 1 <= len(name) <= 100
        assert not set(name) & set("{}\"'`\\$#=<>|;&") and not {"", ".", ".."} & set(
            name.split("/")
        )


class RegistryMachine(RuleBasedStateMachine):
    """FDC-43 to FDC-45 against a dictionary, on a real folder."""

    names = Bundle("names")
    plans = Bundle("plans")

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.file = self.root / REGISTRY
        self.model: dict[str, str] = {}
        self.damage: bytes | None = None

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(target=names, name=st.text(alphabet="ab/.-_0", min_size=1, max_size=4))
    def name(self, name: str) -> str:
        return name

    @rule(
        target=plans,
        folder=st.sampled_from(["", "plans/", "plans/deep/"]),
        stem=st.sampled_from("abc"),
    )
    def plan(self, folder: str, stem: str) -> str:
        path = self.root / f"{folder}{stem}.plan"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("set_plan x\n", "utf-8")
        return f"{folder}{stem}.plan"

    @rule(path=plans)
    def lose(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)

    @rule(name=names, path=plans, absolute=st.booleans())
    def register(self, name: str, path: str, absolute: bool) -> None:
        allowed = (
            name_fault(name) is None and name not in self.model and (self.root / path).exists()
        )
        outcome = work.register(str(self.root), name, str(self.root / path) if absolute else path)
        assert (allowed and self.damage is None) == outcome.done, outcome
        if outcome.done:
            self.model[name] = path
            assert f"Successfully registered '{name}' -> '{path}'" == outcome.message

    @rule(name=names)
    def deregister(self, name: str) -> None:
        outcome = work.deregister(str(self.root), name)
        assert (name in self.model and self.damage is None) == outcome.done, outcome
        if outcome.done:
            del self.model[name]

    @rule(data=st.sampled_from([b"", b"{", b'{"a": 1}', b'{"a": "/x"}', b"[]", b"\xff"]))
    def break_it(self, data: bytes) -> None:
        if self.damage is None:
            self.damage = data
            self.file.parent.mkdir(exist_ok=True)
            self.file.write_bytes(data)

    @rule()
    def repair_it(self) -> None:
        if self.damage is not None:
            self.damage = None
            self.file.write_text(json.dumps(self.model), "utf-8")

    @invariant()
    def it_is_the_dictionary(self) -> None:
        if self.damage is not None:
            assert self.damage == self.file.read_bytes()
            assert work.load(str(self.root))[1]
            return
        registry, findings = work.load(str(self.root))
        assert (self.model, []) == (dict(registry.entries), findings)

    @invariant()
    def the_audit_names_exactly_the_dead(self) -> None:
        if self.damage is None and self.file.exists():
            dead = {name for name, path in self.model.items() if not (self.root / path).exists()}
            found = [item for item in work.audit(str(self.root)) if item.code == "FDC328"]
            assert dead == {
                name for name in self.model for item in found if f"`{name}` leads" in item.message
            }


TestRegistry = RegistryMachine.TestCase
TestRegistry.settings = settings(max_examples=30, stateful_step_count=25)
