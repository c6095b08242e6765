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
    ("rules/solver/files/called.py", "if before is not None:", "0: if ... -> if False"):
        "quicker only: a call that is not passed over is looked at, and says the same (tests/property/test_called_again.py)",
    ("rules/solver/files/guard.py", "self._above[folder] = found", "0: left out: self._above[folder] = found"):
        "a cache: the way to the folder is looked at again, and is the same",
    ("linking/graph.py", "descended = True", "0: left out: descended = True"):
        "the height of a plan is computed once more when all that it calls is known, and only grows",
    ("rules/solver/flow/plan_flow.py", "self.until[id(node)] = self.choices", "0: left out: self.until[id(node)] = self.choices"):
        "quicker only: what an earlier round of the loop around found is found again, since what is known only grows",
    ("rules/protocol_rules/proved.py", "self._by_bound[id(bound)] = found", "0: left out: self._by_bound[id(bound)] = found"):
        "a cache: the letters of a step are put together again, and are the same",
    ("rules/solver/files/path_language.py",
     "stop = next((at for at, (kind, many) in enumerate(row) if many or len(kind) > 1), len(row))", "78: 1 -> 2"):
        "a kind is one letter, or a word of three letters and more (`_ALL`, `_NAME`, `_VISIBLE`)",
    ("rules/solver/words.py", "rest = mask ^ out", "7: BitXor -> BitOr"):
        "what the machine refused stays refused whatever follows (`Steps`): it is gone through once more, and ends where it was",
    ("rules/solver/counterexample.py", "worst = min(bad, key=lambda item: item[:2], default=None)", "40: 2 -> 3"):
        "the second of each is its state, and no two have the same: the third is never compared",
    ("rules/solver/flow/file_taint.py", "self.changes = 0", "15: 0 -> 1"):
        "the number is only compared with what it was before (`plan_files.changed`)",
    ("rules/solver/words.py", "elif row is not None:", "0: if ... -> if True"):
        "where there is no row nothing is left to go through",
    ("rules/solver/kept_effects.py", "if ground != self._ground or self._first and count > MOST_CAUSES * self._first:",
     "29: And -> Or"):
        "a cache: what was kept is found again, and is the same",
    ("rules/solver/kept_effects.py", "elif not self._first:", "0: if ... -> if False"):
        "a cache: only how much is kept",
    ("rules/solver/flow/bound_names.py", "if before is None:", "0: if ... -> if False"):
        "a name that is bound to nothing is as one that is not bound: all ask with `get`",
    ("rules/solver/files/command_causes.py", "others = (1 << width) - 1 & ~wanted", "10: 1 -> 2"):
        "no wanted number is changed, and of the others only how many turns are taken: 60,000 drawn tables gave the same",
    ("rules/solver/files/command_causes.py", "others = (1 << width) - 1 & ~wanted", "24: 1 -> 2"):
        "no wanted number is changed, and of the others only how many turns are taken: 60,000 drawn tables gave the same",
    ("rules/solver/files/command_causes.py", "bits |= ((bits << 1 & others) + others ^ others) & others", "10: BitAnd -> BitOr"):
        "no wanted number is changed, and of the others only how many turns are taken: 60,000 drawn tables gave the same",
}  # fmt: skip
"""By file, line, and column in the line with the change: why no test can notice it. A line that is gone ends the run."""

SURVIVORS: dict[tuple[str, str, str], str] = {
    ("rules/solver/files/command_causes.py", "bits |= ((bits << 1 & others) + others ^ others) & others", "8: BitAnd -> BitOr"):
        "found since by tests/unit/test_command_causes.py",
    ("rules/solver/files/path_language.py", "inside = tuple((*row, _SLASH, (_NAME, False), _ANY) for row in _variants(path))",
     "38: False -> True"):
        "perhaps equivalent: no path that is compared ends with a slash",
    ("rules/places/given.py", 'return Value("".join(texts), parts, 0, 0)', "36: 0 -> 1"):
        "perhaps equivalent: nothing is known that reads where a value that is given begins",
    ("rules/places/given.py", 'return Value("".join(texts), parts, 0, 0)', "39: 0 -> 1"):
        "perhaps equivalent: nothing is known that reads where a value that is given ends",
    ("rules/flow.py", "changed |= looping and not same(known, summaries[key])", "0: BitOr -> BitAnd"):
        "found since by tests/unit/test_flow_marks.py",
    ("rules/verify.py", "work.append(target)", "0: left out: work.append(target)"):
        "found since by tests/unit/test_habits.py",
    ("rules/solver/flow/made_of.py", "row = rows.get(file) or rows.get(path)", "6: Or -> And"):
        "not known: it wants a test of a file that is reached by a link",
    ("rules/solver/flow/labels.py", "self.atoms(label & self.refusing[sink]), key=lambda atom: -LEVELS.get(atom.source, 0)",
     "83: 0 -> 1"):
        "only which of several sources of a text is named first",
    ("rules/solver/files/step_paths.py", "_MOST_BEFORE = 4", "15: 4 -> 5"):
        "only how far back the values of a name are followed: a bound that no test reaches",
    ("rules/capability.py", 'if kind in ("read", "write"):', "0: if ... -> if True"):
        "found since by tests/unit/test_allow_read.py",
    ("rules/solver/files/findings.py", 'help_ = "name a file"', '0: left out: help_ = \'name a file\''):
        "found since by tests/unit/test_nested_files.py",
    ("rules/solver/files/paths.py", "whole = False", "0: left out: whole = False"):
        "found since by tests/property/test_patterns.py",
    ('rules/solver/files/texts.py', 'if not self.only_code or (key[1] and key not in self.walked_for):',
     '0: if ... -> if True'):
        'equivalent: quicker only, a called plan is looked at again',
    ('rules/solver/files/command_causes.py', 'bits |= ((bits << 1 & others) + others ^ others) & others',
     '0: left out: bits |= ((bits << 1 & others) + others ^ others) & others'):
        'only how steps are put together in an assumption',
    ('rules/solver/flow/plan_flow.py', 'outer, result, fails = self.choices, self.result, self.fails | over | self.choices',
     '50: BitOr -> BitAnd'):
        'perhaps equivalent: what may stop a loop is told beside it; six ways to see it gave the same findings',
    ('rules/merges.py', 'self._within += 1',
     '0: left out: self._within += 1'):
        'quicker only: below zero nothing is kept, and each body is looked at again',
    ('rules/solver/types/views.py', 'if (id(instance), given) not in self._known and self._count.get(',
     '0: if ... -> if False'):
        'quicker only, in plans with very many calls',
    ('rules/files.py', 'probes.add(literal)',
     '0: left out: probes.add(literal)'):
        'perhaps equivalent: what is read there is a fact of its own',
    ('rules/solver/types/views.py', 'self._count[id(instance)] = self._count.get(id(instance), 0) + 1',
     '63: 1 -> 2'):
        'quicker only, in plans with very many calls',
    ('rules/solver/files/path_language.py', 'elif not after and before[-1:] == (_SLASH,):',
     '0: if ... -> if False'):
        'perhaps equivalent: such a path ends with a slash, and each run refuses it',
    ('rules/solver/flow/plan_flow.py', 'brought |= self.disk.exists(pattern)',
     '0: left out: brought |= self.disk.exists(pattern)'):
        'perhaps equivalent: five ways to see it gave the same findings',
    ('linking/types.py', 'while at + 1 < len(tokens) and tokens[at].isidentifier() and tokens[at + 1] == ":":',
     '6: Lt -> LtE'):
        'found since by tests/unit/test_type_rule.py',
    ('rules/solver/files/effects.py', 'if body.exits is THERE and body.failures is NOWHERE:',
     '3: Is -> IsNot'):
        'perhaps equivalent: what never fails does the same in a second round',
    ('rules/solver/flow/plan_flow.py', 'if not told:  # the same call again does the same, until more is written',
     '0: if ... -> if True'):
        'found since by tests/unit/test_flow_marks.py',
    ('rules/bounds.py', 'for sizes, coefficient in sorted(poly.items(), key=lambda item: (-len(item[0]), item[0])):',
     '85: 0 -> 1'):
        'found since by tests/unit/test_bounds.py',
    ('rules/solver/flow/need.py', ('help_ = f"check the file and approve it (`fdc trust --file {'
     'origin.tool.removeprefix(\'the file \')}`), or move it away"'),
     '0: left out: help_ = f"check the file and approve it (`fdc trust --file {'):
        'found since by tests/unit/test_earlier_runs.py',
    ('rules/solver/rounds.py', 'if known is None or length + more < known[0]:', '20: Lt -> LtE'):
        'only which of two equally short runs is shown',
    ("rules/solver/refusals.py", "place = Span(fork.key, fork.line, fork.column, fork.line, fork.column + 1)",
     "58: Add -> Sub"):
        "only where the mark of a fork ends",
    ("rules/solver/types/uses.py", 'return None if is_number(number) and number >= 1 else f"`{text[:80]}` is none"',
     "64: 80 -> 81"):
        "only how much of a long text is shown",
    ("rules/closure.py", "if not instance.context:", "0: if ... -> if True"):
        "perhaps equivalent: what stands behind a submit is found once more in each call, and said once",
    ("rules/solver/files/plan_effects.py", "if changes == unchanged and moves is not None:", "3: And -> Or"):
        "found by a long test, tests/golden/test_generated.py",
    ("rules/solver/flow/plan_flow.py", 'decides = chooses | looks | said | moved & self.labels.refusing["path"]',
     "10: BitOr -> BitAnd"):
        "found by a long test, tests/golden/test_generated.py",
    ("rules/solver/files/guard.py", "if ground != self._ground:", "3: NotEq -> Eq"):
        "found since by tests/unit/test_editor_guard.py",
    ("rules/solver/files/bodies.py", "joined(fixed, other.fixed)", "0: left out: joined(fixed, other.fixed)"):
        "found since by tests/property/test_swapped_branches.py",
    ("rules/file_places.py", 'if kind == "link":', "0: if ... -> if False"):
        "found by tests/cli/test_outside_lasts.py, which starts processes",
}  # fmt: skip
"""The same for changes that are counted, and that no test noticed: what is known of each."""
