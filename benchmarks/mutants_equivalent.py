"""Changes that `benchmarks.mutants` does not count, because every finding is as before, each with the reason."""

from __future__ import annotations

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("rules/solver/files/log.py", "if entry.rest is SAME:", "0: if ... -> if False"):
        "quicker only: what changes nothing is joined with the others, and changes nothing",
    ("rules/solver/files/log.py", "if start == len(self.entries):", "0: if ... -> if False"):
        "quicker only: where no entry follows, what is joined below is what was found",
    ("rules/solver/files/log.py", "if by_commands:", "0: if ... -> if False"):
        "quicker only: the entries one by one come to what their blocks come to (tests/unit/test_file_log.py)",
    ("rules/solver/files/step_paths.py", "if found is None:", "0: if ... -> if True"):
        "a cache: the names of a plan are found anew, and are the same",
    ("rules/solver/files/called.py", "if self._before is not None:", "0: if ... -> if False"):
        "quicker only: a call that is not passed over is looked at, and says the same (tests/property/test_called_again.py)",
    ("rules/solver/files/guard.py", "self._above[folder] = found", "0: left out: self._above[folder] = found"):
        "a cache: the way to the folder is looked at again, and is the same",
    ("linking/graph.py", "descended = True", "0: left out: descended = True"):
        "the height of a plan is computed once more when all that it calls is known, and only grows",
}  # fmt: skip
"""By file, line, and column in the line with the change: why no test can notice it. A line that is gone ends the run."""

SURVIVORS: dict[tuple[str, str, str], str] = {
    ('rules/solver/flow/file_taint.py', 'begins = _RUNS',
     '0: left out: begins = _RUNS'):
        'found since by tests/unit/test_flow_marks.py',
    ('rules/solver/files/path_language.py', 'return [((_VISIBLE, False), *rest)]',
     '20: False -> True'):
        'found since by tests/property/test_patterns.py',
    ('rules/solver/files/texts.py', 'if not self.only_code or (key[1] and key not in self.walked_for):',
     '0: if ... -> if True'):
        'equivalent: quicker only, a called plan is looked at again',
    ('rules/places/given.py', 'if call is not None and len(self._seen) > MOST_VISITS:',
     '0: if ... -> if False'):
        'found since by tests/unit/test_given_places.py',
    ('rules/solver/counterexample.py', 'worst = min(bad, key=lambda item: item[:2], default=None)',
     '40: 2 -> 3'):
        'only which of two equally short runs is shown',
    ('rules/solver/types/views.py', 'self.uses.some -= node.known is None',
     '0: left out: self.uses.some -= node.known is None'):
        'found since by tests/unit/test_type_rule.py',
    ('rules/solver/words.py', 'rest = mask ^ out',
     '7: BitXor -> BitOr'):
        'equivalent: what is refused already stays refused',
    ('rules/solver/files/command_causes.py', 'bits |= ((bits << 1 & others) + others ^ others) & others',
     '0: left out: bits |= ((bits << 1 & others) + others ^ others) & others'):
        'only how steps are put together in an assumption',
    ('automata/declare.py', 'return 0 if b else 1 if a else state',
     '7: 0 -> 1'):
        'tests/unit/test_declare_ltlf.py finds it; the table is made once, so that the run missed who uses it',
    ('rules/solver/files/fork_conflicts.py', 'if bits & COMMANDS:',
     '0: if ... -> if False'):
        'found since by tests/unit/test_shared_things.py',
    ('linking/graph.py', 'if len(self._instances) >= MOST_INSTANCES + len(self.units):',
     '0: if ... -> if False'):
        'found since by tests/unit/test_graph.py',
    ('rules/solver/flow/plan_flow.py', 'outer, result, fails = self.choices, self.result, self.fails | over | self.choices',
     '50: BitOr -> BitAnd'):
        'perhaps equivalent: what may stop a loop is told beside it; six ways to see it gave the same findings',
    ('rules/names.py', 'self.clock += 1',
     '0: left out: self.clock += 1'):
        'only a warning of names that nobody uses',
    ('rules/automaton.py', 'action: f"{action} ({\', \'.join(names if len(names) <= _NAMED else (names[0], \'...\'))})"',
     '40: LtE -> Lt'):
        'only the words of a finding',
    ('rules/names.py', 'return Span(self.unit.key, line, column, line, column + len(node.bind))  # type: ignore[attr-defined]',
     '47: Add -> Sub'):
        'only the place of a finding',
    ('rules/merges.py', 'self._within += 1',
     '0: left out: self._within += 1'):
        'quicker only: below zero nothing is kept, and each body is looked at again',
    ('rules/solver/types/views.py', 'if (id(instance), given) not in self._known and self._count.get(',
     '0: if ... -> if False'):
        'quicker only, in plans with very many calls',
    ('rules/files.py', 'probes.add(literal)',
     '0: left out: probes.add(literal)'):
        'perhaps equivalent: what is read there is a fact of its own',
    ('rules/capability.py', 'if kind in ("read", "write"):',
     '3: In -> NotIn'):
        'found since by tests/unit/test_rows_of_own_tools.py',
    ('rules/prompts.py', 'message = (',
     "0: left out: message = f'the schema `{path}` of the tool `{act.step.tool}"):
        'found since by tests/unit/test_rows_of_own_tools.py',
    ('rules/solver/types/views.py', 'self._count[id(instance)] = self._count.get(id(instance), 0) + 1',
     '63: 1 -> 2'):
        'quicker only, in plans with very many calls',
    ('rules/solver/files/path_language.py', 'elif not after and before[-1:] == (_SLASH,):',
     '0: if ... -> if False'):
        'perhaps equivalent: such a path ends with a slash, and each run refuses it',
    ('rules/file_places.py', 'yield from secrets(read_by(act, globs, commands), unit, guard, act.step)',
     '0: left out: yield from secrets(read_by(act, globs, commands), unit, guar'):
        'found since by tests/unit/test_file_places.py',
    ('rules/solver/flow/plan_flow.py', 'brought |= self.disk.exists(pattern)',
     '0: left out: brought |= self.disk.exists(pattern)'):
        'perhaps equivalent: five ways to see it gave the same findings',
    ('rules/solver/files/path_language.py', 'if token == "folders":',
     '0: if ... -> if False'):
        'found since by tests/property/test_patterns.py',
    ('rules/solver/files/plan_effects.py', 'if looks and not changing:',
     '0: if ... -> if True'):
        'found since by tests/unit/test_rows_of_own_tools.py',
    ('rules/solver/flow/labels.py', 'self.given &= kept',
     '0: BitAnd -> BitOr'):
        'found since by tests/unit/test_flow_marks.py',
    ('rules/parallel/shared.py', 'yield from _forks(instance, [*node.then, *node.orelse], known)',
     '0: left out: yield from _forks(instance, [*node.then, *node.orelse], know'):
        'found since by tests/unit/test_shared_things.py',
    ('rules/files.py', 'yield from (findings.of_cut(instance, call) for instance, call in files.cut.values())',
     '0: left out: yield from (findings.of_cut(instance, call) for instance, ca'):
        'tests/spec/test_rules.py finds it, which is too slow for the 45 s',
    ('rules/solver/types/tested.py', 'if "len" in operand:',
     '0: if ... -> if False'):
        'equivalent: such an operand has no reference',
}  # fmt: skip
"""The same for changes that are counted, and that no test noticed: what is known of each."""
