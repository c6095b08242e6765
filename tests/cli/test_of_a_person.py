"""What only a person may give is declared in one place, where the hook of an agent's shell takes it from."""

from __future__ import annotations

from collections import defaultdict

import click
import pytest
from fdc_toolchain.cli.hooks import guarded_calls
from fdc_toolchain.console.of_a_person import COMMANDS, OPTIONS

from tests.cli.test_options import every

OF_AN_AGENT = {
    f"--{name}"
    for name in (
        "action again agent all alone analysis any-commit areas assumptions attempts baseline brief broad budget changed check"
        " code color complexity confidence conflicts database deepen-above denied detach diff digest dismiss docs dry-run"
        " evidence exit-code exit-zero fail-on file files finalize fix folder format from fsm full gate http into iterations"
        " jobs live max-bytes max-iterations max-stalls model most-agents most-steps name names-of network no-cache"
        " no-discipline no-open no-rerank no-split no-web nothing-learned old-workspace older out output output-file pack"
        " passes paths patience pieces plan port prior profile quiet refine-sub-iterations reorient rerank resume retry roots"
        " rounds runs sanitise seconds serve shell-timeout show-bytes simulate since source split staged status stdin-filename"
        " stdio step strict target task-id test test-command test-timeout tools tries unsafe-fixes wait watch withdraw workspace"
        " write write-baseline"
    ).split()
}
"""Options that an agent may give, or of commands that are a person's anyway."""
EXCEPT = {
    ("draft", "--force"): "it overwrites a plan",
    ("protocols build", "--force"): "AGENTS.md as the protocols say it",
    ("protocols import", "--force"): "sources that git keeps; a person sees the change",
    (
        "hook claude-exit-plan",
        "--allow",
    ): "the settings of the agent's program give it; a shell's answer is not heard",
}
"""Options with the name of one that is a person's elsewhere, or that sounds like it, and why an agent may give it here."""


def options() -> dict[str, list[str]]:
    """Each long option, with the commands that have it."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, command in every().items():
        for option in command.params:
            for spelling in (*option.opts, *option.secondary_opts, *getattr(option, "old", ())):
                if isinstance(option, click.Option) and spelling.startswith("--"):
                    found[spelling].append(name)
    return found


def test_every_option_is_a_persons_or_said_to_be_an_agents() -> None:
    for option, commands in options().items():
        for command in commands:
            of_person = option in OPTIONS and (not OPTIONS[option] or command in OPTIONS[option])
            kinds = (of_person, option in OF_AN_AGENT, (command, option) in EXCEPT)
            assert sum(kinds) == 1, f"declare `fdc {command} {option}` in console/of_a_person.py?"


def test_nothing_is_declared_that_does_not_exist() -> None:
    there, commands = options(), every()
    assert {*OPTIONS, *OF_AN_AGENT, *(option for _, option in EXCEPT)} == {*there}
    assert {*COMMANDS, *(name for some in OPTIONS.values() for name in some)} <= {*commands}
    for option, some in OPTIONS.items():
        assert not some or {*some} & {*there[option]}, option


@pytest.mark.parametrize("option", OPTIONS)
def test_the_hook_refuses_each(option: str) -> None:
    commands = [
        name for name in options()[option] if not OPTIONS[option] or name in OPTIONS[option]
    ]
    for command in commands:
        for line in (f"fdc {command} {option} x", f"fdc {command} x {option}=y"):
            assert guarded_calls.refusal_of("Bash", {"command": line}, "/") is not None, line


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("fdc pack  install --yes x", True), ("cd x && fdc 'lessons' settle 12 --dismiss x", True), ("fdc pack install x", False),
        ("fdc pack list; apt install --yes x", False), ("fdc lessons list", False), ("fdc draft x --force", False),
        ("fdc verify last", False), ("fdc research q --no-web", False),
    ],
)  # fmt: skip
def test_the_words_of_a_command_belong_together(command: str, refused: bool) -> None:
    assert (guarded_calls.refusal_of("Bash", {"command": command}, "/") is not None) == refused
