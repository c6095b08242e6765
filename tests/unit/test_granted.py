"""What a program needs of this machine, by the rows of its tools: each need that is not met is one sentence."""

import os
from importlib import util

import pytest
from fdc_toolchain.engine.reach import reach
from fdc_toolchain.packs.index import index
from fdc_toolchain.runs import granted
from fdc_toolchain.tools import tool_rows
from fdc_toolchain.workspace.operator import Operator

from tests.support.programs import program, step


def lacks(*body, operator=None, **rows):
    made = program(*body)
    names = [item["tool"] for item in reach(made).steps]
    made["tools"] = {
        name: {"effect": "read", "parameters": [], **rows.get(name, {})} for name in names
    }
    return granted.absent(made, "/nowhere", operator or Operator(tiers=()), reach(made))


@pytest.fixture
def bare(monkeypatch):
    """A machine without programs, packages and settings."""
    monkeypatch.setattr(os, "environ", {"PATH": "/void"})
    monkeypatch.setattr(util, "find_spec", lambda name: None)


NEEDY = [name for name, row in (*tool_rows.TOOLS.items(), *index().tools.items()) if row.needs]


@pytest.mark.parametrize("tool", NEEDY)
def test_every_need_of_every_row_is_looked_at(bare, tool):
    needs = tool_rows.tool(tool).needs
    plain = [need for need in needs if isinstance(need, str)]
    assert len(lacks(step(tool))) == len(plain)
    for need in needs:
        if not isinstance(need, str):
            for value in need.values:
                assert len(lacks(step(tool, **{need.parameter: value}))) > len(plain)
    assert all(f"`{tool}`" in sentence for sentence in lacks(step(tool)))


def test_a_failure_that_is_a_value_needs_nothing(bare):
    assert lacks(step("search_web", query="tea"), search_web={"failure": "value"}) == []
    assert len(lacks(step("search_web", query="tea"))) == 2


@pytest.mark.parametrize(
    ("row", "model", "says"),
    [
        ({}, "", "a model, for `judge`"),
        ({"embedded": "fdc_packs.research.claims:quoted"}, "", None),
        ({"embedded": "own:quoted"}, "", "a sandbox, for `judge`"),
        (
            {"embedded": "fdc_packs.research.claims:quoted"},
            "claude-sonnet-5",
            "`anthropic` package",
        ),
        ({}, "openai:small", "`anthropic` package"),
    ],
)
def test_what_a_prompt_needs(bare, monkeypatch, row, model, says):
    monkeypatch.setattr(
        granted,
        "_without_key",
        lambda model, environment: "the `anthropic` package is not installed",
    )
    found = lacks(
        step("judge"),
        operator=Operator(model=model, tiers=()),
        judge={"run": {"prompt": "x", **row}},
    )
    assert len(found) == (says is not None) and all(says in sentence for sentence in found)


def test_a_model_of_openais_api_needs_an_address_or_a_key(bare, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    asked = {
        "operator": Operator(model="openai:small", tiers=()),
        "judge": {"run": {"prompt": "x"}},
    }
    [said] = lacks(step("judge"), **asked)
    assert "set OPENAI_API_KEY or OPENAI_BASE_URL" in said
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    assert lacks(step("judge"), **asked) == []


def test_a_python_tool_of_the_workspace_needs_a_sandbox_and_the_network_that_its_row_names(bare):
    own = {"run": {"python": "own:fetch"}, "access": {"net": True}}
    assert [sentence.split(",")[0] for sentence in lacks(step("fetch"), fetch=own)] == [
        "a sandbox",
        "the network",
    ]
    assert len(lacks(step("fetch"), fetch=own, operator=Operator(tiers=(), network=True))) == 1


def test_programs_of_commands_are_looked_up_unless_the_run_itself_may_install_them(
    bare, monkeypatch
):
    body = step("run_in_bash_session", command="FOO=1 unheard-of --all && cd x")
    assert lacks(body) == lacks(
        step("run_in_bash_session", command="true")
    )  # not simple enough to be certain
    body = step("run_in_bash_session", command="unheard-of --all && unseen")
    assert [one for one in lacks(body) if "which a command names" in one] == [
        f"the program `{name}`, which a command names: it is not on the PATH of this machine; install it"
        for name in ("unheard-of", "unseen")
    ]
    own = {"run": {"command": ["unheard-of", "{x}"]}}
    assert any("`unheard-of`, which a command names" in one for one in lacks(step("t"), t=own))
    monkeypatch.setattr(os, "environ", {"PATH": "/nowhere/bin"})
    assert not [one for one in lacks(body) if "which a command names" in one]


def test_the_network_of_commands_is_asked_for_where_nothing_else_can_want_it(bare, monkeypatch):
    from fdc_toolchain.sandbox import sandbox

    monkeypatch.setattr(sandbox, "chosen", lambda operator, root: "bubblewrap")
    command = step("run_in_bash_session", command="true")

    def asked(*body, allow, operator=None, trust="workspace"):
        made = program(*body)
        made["plans"][made["root"]]["allow"] = allow
        made["tools"] = {
            item["tool"]: {"effect": "read", "parameters": [], "trust": trust}
            for item in reach(made).steps
        }
        found = granted.absent(made, "/nowhere", operator or Operator(), reach(made))
        return any(one.startswith("the network") for one in found)

    assert asked(command, allow={"run": ["*"], "net": ["*"]})
    assert not asked(command, allow={"run": ["*"], "net": ["*"]}, operator=Operator(network=True))
    assert not asked(command, allow={"run": ["*"]}) and not asked(command, allow={})
    assert not asked(command, allow={"run": ["*"], "net": ["*"]}, trust="untrusted")
