"""A plan does not start the toolchain that governs it, however its command writes that (FDC-37, finding A16)."""

from __future__ import annotations

import pytest

from tests.support.linting import findings, lint

HIDDEN = [
    'sh -c "fdc start --task-id x"',
    "bash -ec 'cd . && fdc lint a.plan'",
    'bash -c "bash -c \\"fdc run a.plan\\""',
    "env -i PATH=/bin fdc start",
    "exec fdc run a.plan",
    "command fdc run a.plan",
    "eval fdc start",
    'eval "fdc start"',
    "F=fdc; $F start",
    "F=fdc; ${F} start --task-id x",
    'F="fdc start"; $F --task-id x',
    "export F=fdc && $F start",
    "G=/usr/bin; $G/fdc start",
    'F=fdc; sh -c "$F start"',
    "echo $(fdc start)",
    'echo "it is `fdc run a.plan`"',
    "timeout 5 fdc start",
    "echo a | xargs -n 1 fdc run",
    "nohup setsid fdc run a.plan",
    "true && (fdc agent x)",
    "python3 -m fdc_toolchain.cli.main run a.plan",
    "sh -c 'python3 tooling/master_control.py x'",
]
HARMLESS = [
    "echo fdc start",
    "sh -c 'echo fdc start'",
    "grep -n 'fdc start' README.md",
    "F=fdc; echo $F start",
    "fdc close --task-id x",
    "eval echo fdc start",
    "git commit -m 'fdc start'",
    "echo '$(fdc)' start",
    "bash fdc_notes.sh start",
]


@pytest.mark.parametrize("command", HIDDEN)
def test_the_program_that_a_command_runs_is_looked_for_where_the_shell_would_find_it(
    command: str,
) -> None:
    assert findings(lint(f"run_in_bash_session {command}\n"), "FDC307"), command


@pytest.mark.parametrize("command", HARMLESS)
def test_a_word_that_is_no_program_is_none(command: str) -> None:
    assert not findings(lint(f"run_in_bash_session {command}\n"), "FDC307"), command
