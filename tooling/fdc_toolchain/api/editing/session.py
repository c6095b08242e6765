"""Checks plans of one workspace again after every keystroke."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING

from ...recursion import uncollected
from ..errors import calling
from ..figures import bounds_of
from ..plan_calls import Path, catalogue_of, checked, result_of, root_of, text_of
from ..values import Bounds, Catalogue, CheckResult
from .values import PlanView

if TYPE_CHECKING:
    from ...check import Checked
    from ...linking.kept import Kept

_NO_TEXTS: Mapping[str, str] = {}
_Asked = tuple[str, str | None, tuple[tuple[str, str], ...]]


class Session:
    """A workspace in a long-lived process: parts that an edit does not change are not checked again.

    The results are those of `api.check`. Its methods can be called from any thread; they wait for each other.
    """

    def __init__(self, *, workspace: Path) -> None:
        with calling():
            self._root = root_of(workspace)
            self._lock = RLock()
            self._kept: Kept | None = None
            self._last: tuple[_Asked, Checked] | None = None

    @property
    def workspace(self) -> str:
        """The absolute path of the workspace."""
        return self._root

    def check(
        self, plan: Path, *, text: str | None = None, unsaved: Mapping[str, str] = _NO_TEXTS
    ) -> CheckResult:
        """As `api.check`; the assumptions come without labels, of which a long plan has very many."""
        with calling(), self._lock, uncollected():
            return result_of(self._checked(plan, text, unsaved), labelled=False)

    def view(
        self, plan: Path, *, text: str | None = None, unsaved: Mapping[str, str] = _NO_TEXTS
    ) -> PlanView:
        """The plan as an editor shows it: names, calls, tokens, states. Raises as `check`."""
        with calling(), self._lock, uncollected():
            from .states import states_of
            from .symbols import Names, calls_of, tokens_of

            current = self._again(plan, text, unsaved)
            result = result_of(current, labelled=False)
            unit = current.context.linker.units[result.plan]
            symbols = Names(unit).symbols()
            calls = calls_of(unit, result.calls)
            machine, states = states_of(current, result.plan)
            return PlanView(
                result=result,
                parameters={name: param.default for name, param in unit.params.items()},
                symbols=symbols,
                calls=calls,
                tokens=tokens_of(unit, symbols, calls),
                states=states,
                machine=machine,
                actions={act.step.line: act.bound.action for act in unit.acts if act.bound.action},
            )

    def bounds(
        self, plan: Path, *, text: str | None = None, unsaved: Mapping[str, str] = _NO_TEXTS
    ) -> Bounds:
        """As `api.bounds`, but for a plan with errors too: as far as they let its steps be counted. Raises as `check`."""
        with calling(), self._lock:
            return bounds_of(self._again(plan, text, unsaved), self._root)

    def catalogue(
        self, *, packs: Sequence[str] = (), unsaved: Mapping[str, str] = _NO_TEXTS
    ) -> Catalogue:
        """As `api.catalogue`, with the contents of files that are not saved."""
        with calling(), self._lock:
            return catalogue_of(self._root, unsaved, packs)

    def plans(self) -> tuple[str, ...]:
        """The paths of the plans that `fdc lint` finds in the workspace, sorted."""
        with calling(), self._lock:
            from ...linking.project.discover import find_plans
            from ...workspace.confirmed_settings import settings_of

            paths = find_plans([self._root], self._root, settings_of(self._root).exclude)
            return tuple(sorted(os.path.relpath(path, self._root) for path in paths))

    def _again(self, plan: Path, text: str | None, unsaved: Mapping[str, str]) -> Checked:
        """The last result if the arguments are the same, else a new check."""
        if self._last is not None and self._last[0] == _asked(plan, text, unsaved):
            return self._last[1]
        return self._checked(plan, text, unsaved)

    def _checked(self, plan: Path, text: str | None, unsaved: Mapping[str, str]) -> Checked:
        from ...linking.kept import Kept

        if self._kept is None:
            self._kept = Kept()
        request = _asked(plan, text, unsaved)
        self._last = None
        fresh = checked(self._root, plan, text, unsaved, False, self._kept)
        self._last = request, fresh
        return fresh


def _asked(plan: Path, text: str | None, unsaved: Mapping[str, str]) -> _Asked:
    return text_of(plan), text, tuple(sorted(unsaved.items()))
