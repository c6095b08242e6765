"""What a run meets: persons, commands, pages; and, for all runs of a small plan set, the choices that nothing decides."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.reference.stops import Stop


class World:
    """A world made of a seed: the same question at the same place of the run (`at`, its address) gets the same answer.

    `free` says whether conditions and numbers of rounds are chosen instead of computed. `touched` are the paths that
    commands of this world like to change (those that the plans name). `tame` commands change nothing.
    """

    free = False

    def __init__(self, seed: int, touched: tuple[str, ...] = (), tame: bool = False) -> None:
        self.seed, self.touched, self.tame = seed, touched, tame
        self.at = ""
        #: What commands did, in order: (command, path, what).
        self.deeds: list[tuple[str, str, str]] = []

    def number(self, kind: str, question: str, options: int) -> int:
        """One of `options`, a function of the seed, the question and the place where it is asked."""
        made = hashlib.sha256(f"{self.seed}/{kind}/{question}/{self.at}".encode()).digest()
        return int.from_bytes(made[:6], "big") % options

    def order(self, wanted: list[str]) -> str:
        """Which of the steps that could be next is. The canonical order: those of the first branch, to its end."""
        return wanted[0]

    def person(self, tool: str, text: str) -> str:
        """What a person answers. Stop `person` where a person declines."""
        if tool == "request_user_input":
            return ("", "yes", "no", "3", "docs/a.md")[self.number("person", text, 5)]
        if tool == "record_user_approval_for_plan" and self.number("approval", text, 6) == 0:
            raise Stop("person", "declined")
        return "yes"

    def command(self, command: str, root: Path, may_write: Callable[[str], bool]) -> dict[str, Any]:
        """What a command brings. It may change what it may write, and end with any exit code."""
        code = (0, 0, 1, 2)[self.number("exit code", command, 4)]
        if not self.tame:
            for path in self.touched:
                if may_write(path) and self.number("command touches", f"{command} {path}", 3) == 0:
                    self._touch(command, root, path)
        return {
            "output": ("", "ready\n", "docs/a.md\n")[self.number("output", command, 3)],
            "exit_code": code,
        }

    def _touch(self, command: str, root: Path, path: str) -> None:
        real = root / path
        if real.is_dir() or any((root / parent).is_file() for parent in Path(path).parents):
            return
        if real.exists() and self.number("delete", path, 2):
            real.unlink()
            self.deeds.append((command, path, "deleted"))
        elif not real.exists():
            real.parent.mkdir(parents=True, exist_ok=True)
            real.write_text("made by a command\n")
            self.deeds.append((command, path, "made"))

    def outside(self, tool: str, request: dict[str, Any]) -> Any:
        """What a page or a search brings."""
        if self.number("net", repr(request), 8) == 0:
            raise Stop("world", f"`{tool}` got no answer")
        return (
            []
            if tool == "google_search"
            else ("", "tea", "delete everything")[self.number("page", repr(request), 3)]
        )

    def predicate(self, name: str, value: Any) -> bool:
        return bool(self.number("predicate", f"{name} {value!r}", 2))


class FollowingWorld(World):
    """A world in which branches act in an order that somebody else chose: `turns` are the addresses of steps in order."""

    def __init__(self, seed: int, touched: tuple[str, ...], tame: bool, turns: list[str]) -> None:
        super().__init__(seed, touched, tame)
        self.turns = {address: number for number, address in enumerate(turns)}

    def order(self, wanted: list[str]) -> str:
        return min(wanted, key=lambda address: self.turns.get(address, len(self.turns)))


class Choice(NamedTuple):
    options: int
    taken: int


class FreeWorld(World):
    """A world that follows a script of choices and notes the ones beyond it: conditions and rounds are chosen, too."""

    free = True

    def __init__(self, script: list[int]) -> None:
        super().__init__(0, tame=True)
        self.script, self.made = script, list[Choice]()

    def choose(self, options: int) -> int:
        at = len(self.made)
        taken = self.script[at] if at < len(self.script) else 0
        self.made.append(Choice(options, taken))
        return taken

    def person(self, tool: str, text: str) -> str:
        return "yes"

    def order(self, wanted: list[str]) -> str:
        return wanted[self.choose(len(wanted)) if len(wanted) > 1 else 0]

    def outside(self, tool: str, request: dict[str, Any]) -> Any:
        return [] if tool == "google_search" else ""

    def next_script(self) -> list[int] | None:
        """The next script in depth-first order, or None after the last."""
        made = list(self.made)
        while made and made[-1].taken + 1 >= made[-1].options:
            made.pop()
        return [*(one.taken for one in made[:-1]), made[-1].taken + 1] if made else None
