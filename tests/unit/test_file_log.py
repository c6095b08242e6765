"""The log of `rules.solver.files.log` joins commands in blocks; that must be the same as joining them one after the other."""

from __future__ import annotations

from random import Random

from fdc_toolchain.diagnostics.span import Span
from fdc_toolchain.rules.solver.files.bodies import Effects
from fdc_toolchain.rules.solver.files.effects import NOWHERE, SAME, SHELL, Effect, either, then
from fdc_toolchain.rules.solver.files.failures import CauseTable
from fdc_toolchain.rules.solver.files.log import Log


def test_commands_of_every_stretch_are_joined_as_one_by_one():
    rng = Random(7)
    log, causes = Log(), CauseTable()
    for number in range(150):
        where = Span("a.plan", number + 1, 1, number + 1, 5)
        effect = Effect(SHELL, NOWHERE, False, causes.caused("command", where))
        rest = rng.choice((SAME, effect, either(SAME, effect)))
        log.add(Effects({}, rest, {}, {}))
        for start in {0, number // 2, rng.randrange(number + 1), number, number + 1}:
            expected = SAME
            for entry in log.entries[start:]:
                expected = then(expected, entry.rest)
            assert log.commands(start) == expected, (number, start)
