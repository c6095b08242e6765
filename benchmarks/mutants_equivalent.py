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
    ("rules/solver/events.py", "if literal:", "0: if ... -> if False"):
        "found since by tests/property/test_patterns.py",
    ("rules/solver/files/path_language.py", "out = [*out, *((*row, (_VISIBLE, False), _ANY, _SLASH) for row in out)]",
     "33: False -> True"):
        "found since by tests/property/test_patterns.py",
    ("rules/protocol_rules/per_value.py", "tokens = glob_match.compiled(",
     "0: left out: tokens = glob_match.compiled([(literal and (not set('*?[') &"):
        "found since by tests/unit/test_each_value.py (a loop whose glob is computed)",
    ("rules/solver/flow/plan_flow.py", "if not told:  # the same call again does the same, until more is written",
     "0: if ... -> if False"):
        "equivalent: quicker only, the same call is looked at again",
    ("rules/solver/files/guard.py", "if (id(here), some and every) not in seen:", "0: if ... -> if True"):
        "equivalent: quicker only, a plan is looked at again",
    ("rules/solver/flow/labels.py", "if known is None:", "0: if ... -> if True"):
        "equivalent: a cache",
    ("rules/solver/words.py", "elif isinstance(node, Gate):", "0: if ... -> if False"):
        "perhaps equivalent: the steps before a fork have counted as an end already",
    ("rules/names.py", "if name is None:", "0: if ... -> if False"):
        "equivalent: no plan uses the name None",
    ("rules/protocol_rules/rule_violations.py", "if doubt.doubt == SOME_ORDER:", "0: if ... -> if False"):
        "only the words of a finding",
    ("rules/solver/files/nesting.py", "self._of_unit(unit, outer if unit is not root.unit else None)", "29: IsNot -> Is"):
        "only the place of a finding",
    ("rules/solver/refusals.py", 'if type(node).__name__ not in ("Comment", "Header"):', "0: if ... -> if True"):
        "only the place of a finding, where a comment ends the plan",
    ("rules/solver/files/plan_effects.py", "self._paths.causes = self.causes", "0: left out: self._paths.causes = self.causes"):
        "only which steps a finding names",
    ("rules/solver/files/command_causes.py", "bits |= ((bits << 1 & others) + others ^ others) & others",
     "9: BitXor -> BitOr"):
        "only how steps are put together in an assumption",
}  # fmt: skip
"""The same for changes that are counted, and that no test noticed: what is known of each."""
