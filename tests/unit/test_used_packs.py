"""A plan's catalogue is what it asked for: the core's tools, the workspace's, and those of the packs that it uses."""

from __future__ import annotations

import pytest
from fdc_toolchain.diagnostics.edits import apply
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import Settings

from tests.support.linting import World, findings, lint

STEP = "x <- map_code src\n"
ALONE = Settings(fsm="any.json")
USING = Settings(fsm="any.json", packs=("research",))


def codes(text: str, settings: Settings = ALONE) -> list[tuple[int, str]]:
    return [(one.span.line, one.code) for one in findings(lint(text, settings=settings)) if one.severity == "error"]  # fmt: skip


def test_a_tool_of_a_pack_is_seen_where_the_plan_or_the_settings_name_the_pack() -> None:
    assert [] == codes(f"use pack research\n{STEP}")
    assert [] == codes(STEP, USING)
    assert [(1, "FDC331")] == codes(STEP)
    assert [(2, "FDC331")] == codes(f"use pack lgtm\n{STEP}")
    assert [(1, "FDC331")] == codes("open_case repo=. test=x\n", USING)[:1]


def test_each_pack_is_said_once_and_the_sentence_names_the_line() -> None:
    [first, second] = findings(lint(f"{STEP}{STEP}open_case repo=. test=x\n{STEP}"), "FDC331")
    assert first.message == "`map_code` is of the pack `research`, which this plan does not use"
    assert first.help is not None and "`use pack research`" in first.help
    assert 'packs = ["research"]' in first.help
    assert second.span.line == 3 and "`repair`" in second.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (STEP, f"use pack research\n{STEP}"),
        (f"# FSM: any.json\n# Words.\n\n{STEP}", f"# FSM: any.json\n# Words.\n\nuse pack research\n{STEP}"),
        (f"use fsm any.json\nparam a\n{STEP}", f"use pack research\nuse fsm any.json\nparam a\n{STEP}"),
        (f"# fdc: ignore[FDC313] why\n{STEP}", f"use pack research\n# fdc: ignore[FDC313] why\n{STEP}"),
        (f"use fsm any.json\r\n{STEP}", f"use pack research\r\nuse fsm any.json\r\n{STEP}"),
        (f"\ufeff{STEP}", f"\ufeffuse pack research\n{STEP}"),
    ],
)  # fmt: skip
def test_the_fix_adds_the_header_where_headers_stand(before: str, after: str) -> None:
    [found] = findings(lint(before), "FDC331")
    assert found.fix is not None and found.fix.safe
    assert (after, [found.fix]) == apply(before, [found.fix])
    assert [] == findings(lint(after), "FDC331", "FDC111", "FDC112", "FDC114")


def test_the_nearest_tool_is_one_that_the_plan_sees() -> None:
    [found] = findings(lint("map_cod src\n"), "FDC301")
    assert "map_code" not in (found.help or "") and found.fix is None
    [found] = findings(lint("use pack research\nmap_cod src\n"), "FDC301")
    assert found.help == "did you mean `map_code`?"
    two = {"a.plan": "use pack research\nmap_cod src\n", "b.plan": "map_cod src\n"}
    both = ["did you mean `map_code`?", "`fdc tools` lists the tools"]
    assert both == [one.help for one in findings(lint(two), "FDC301")]


def test_each_plan_names_its_own_packs() -> None:
    """A plan that is called sees what it names itself, not what its caller does; and the other way round."""
    caller, callee = "use pack research\ncall_plan b.plan\n", "use pack research\n" + STEP

    def unused(first: str, second: str) -> list[str]:
        found = lint({"a.plan": first, "b.plan": second}, "a.plan")
        return [one.span.path for one in findings(found, "FDC331")]

    assert ["b.plan"] == unused(caller, STEP)
    assert [] == unused("call_plan b.plan\n", callee)
    assert ["a.plan"] == unused(f"call_plan b.plan\n{STEP}", callee)


@pytest.mark.parametrize("key", ["packs/research/mine.plan", "fdc:packs/lgtm/plans/lgtm_init.plan"])
def test_a_pack_s_own_plans_see_its_tools(key: str) -> None:
    linker = Linker("/nonexistent", Settings(fsm="any.json"), World({key: STEP} if key[0] == "p" else {}))  # fmt: skip
    assert [] == [one for one in linker.link(key).diagnostics if one.code == "FDC331"]


def test_shipped_plans_do_not_depend_on_the_settings_of_a_workspace() -> None:
    linker = Linker("/nonexistent", Settings(packs=("repair",)), World({}))
    assert ["repair"] == linker.packs_of("a.plan")
    assert ["lgtm"] == linker.packs_of("fdc:packs/lgtm/plans/lgtm.plan")


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("use pack reserch\n", "FDC332", "the pack `reserch` does not exist"),
        ("use pack research\nuse pack research\n", "FDC111", "the pack `research` is named twice"),
        ("use pack {x}\n", "FDC109", "the pack must be named literally"),
        ("use pack\n", "FDC109", ""),
        ("use pack research lgtm\n", "FDC109", ""),
        ("use pakc research\n", "FDC109", "`use pakc` is unknown; expected `use fsm`, `use fragment` or `use pack`"),
        ("hello_world\nuse pack research\n", "FDC111", ""),
    ],
)  # fmt: skip
def test_a_header_that_names_no_pack_is_told(text: str, code: str, said: str) -> None:
    found = findings(lint(f"{text}hello_world\n"), code)
    assert found and said in found[0].message


def test_a_pack_of_the_settings_that_is_not_there_is_told() -> None:
    found = findings(lint("hello_world\n", settings=Settings(fsm="any.json", packs=("tea",))))
    assert [("FDC332", "fdc.toml")] == [(one.code, one.span.path) for one in found]


def test_settings_that_name_the_pack_already_do_not_forbid_the_header() -> None:
    assert [] == codes(f"use pack research\n{STEP}", USING)
