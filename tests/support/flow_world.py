"""A small world in which plans run with different texts from outside, and what tells two such runs apart.

The engine is the real one. The tools are functions of what they are asked and of the files that are there, written
from `docs/language.md` and the catalogue and not from the analysis: a command sees every file but those below
`{run}/outside/` and those of the settings that no step wrote as a whole (a limit that `docs/trust.md` names), and may do
anything with what it sees; a person's answer tells one question from another by its
place; a tool fails where the real one fails.

Two runs agree where a privileged effect that both reach has one request in both, and where one that only one of them
reaches is explained: the other has stopped. A command is asked with all that it can see, because it may execute it.
The workspace lies at `/w`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import combinations
from typing import Any, NamedTuple
from zlib import crc32

from fdc_toolchain.engine.events import Failure, Outcome, Perform
from fdc_toolchain.program.model import Program
from fdc_toolchain.testing import FunctionTools, run

RUN = "runs/r"
HIDDEN = f"{RUN}/outside/"
THERE = ("f1", "f2", "d/f3", "d/gone")
"""The files that every run begins with."""

CHOSEN = {
    "run_in_bash_session": ("command",),
    "read_file": ("path",),
    "view_text_website": ("url",),
    "submit": ("text",),
    "grep": ("path",),
    "list_files": ("path",),
    "for_each_file": ("glob",),
    "overwrite_file_with_block": ("path",),
    "create_file_with_block": ("path",),
    "delete_file": ("path",),
    "rename_file": ("path", "target"),
    "replace_with_git_merge_diff": ("path",),
    "git_add": ("path",),
    "git_commit": ("message",),
}
"""By tool: the arguments in which something is chosen."""

TELLS = ("run_in_bash_session", "submit", "git_commit")
CHANGES = (
    "overwrite_file_with_block",
    "create_file_with_block",
    "delete_file",
    "rename_file",
    "replace_with_git_merge_diff",
)
DATA_COMMANDS = re.compile(r"(cat|wc)( [\w./'-]+)*")


class Around(NamedTuple):
    """What two runs that are compared have in common: the files that they begin with, and what persons answer."""

    files: dict[str, str]
    answer: str


WORLDS = (
    Around(dict.fromkeys(THERE, "file"), "yes"),
    Around(dict.fromkeys((*THERE, "plain", "one", "two", "d/new", "runs/old/x"), "a"), "a"),
)


TEXTS = ("a", "b", "ab", "")
"""What is from outside, in each of the runs that are compared."""


class Seen(NamedTuple):
    """One run: its requests and acts by address, the files that are there in the end, and whether it did all of its plan."""

    requests: dict[str, tuple[str, ...]]
    acts: frozenset[str]
    there: frozenset[str]
    finished: bool


class _World:
    """One run's files, and its tools. `outside`: what every page and search result says."""

    def __init__(self, around: Around, outside: str) -> None:
        self.outside = outside
        self.answer = around.answer
        self.files = dict(around.files)
        self.named = ""
        self.index: dict[str, str] = {}
        self.committed: dict[str, str] = {"mail/m": ""}
        self.requests: dict[str, tuple[str, ...]] = {}
        self.acts: set[str] = set()

    def visible(self) -> str:
        """All that a command can see; what would become too long, as commands write what they see, by its digest."""
        found = repr(
            sorted(
                item
                for item in self.files.items()
                if not item[0].startswith(HIDDEN) and item[0] != self.named
            )
        )
        return found if len(found) < 500 else sha256(found.encode()).hexdigest()

    def perform(self, effect: Perform) -> Any:
        """One effect, noted before it is done."""
        tool, args = effect.tool, {name: _text(value) for name, value in effect.args.items()}
        request = [tool, *(args.get(name, "") for name in CHOSEN.get(tool, ()))]
        if tool == "run_in_bash_session" and not _is_data(args["command"]):
            request.append(self.visible())
        if tool in CHOSEN:
            self.requests[effect.address] = tuple(request)
        if tool in TELLS or tool in CHANGES and not args["path"].startswith(f"{RUN}/"):
            self.acts.add(effect.address)
        for name in ("path", "target"):
            given = args.get(name, "")
            if given.startswith("/") or ".." in given.split("/"):
                return _failed("path", given)
            if given and tool not in ("list_files", "grep") and given.endswith(("/", "/.")):
                return _failed("path", given)
            args |= {name: posixpath.normpath(given)} if given else {}
        brought = _TOOLS[tool](self, effect, args)
        if (
            effect.alone
            and crc32(effect.address.encode()) % 3 == 0
            and not isinstance(brought, Outcome)
        ):
            return _failed("lost", f"{effect.args} {brought}")
        return brought

    def command(self, effect: Perform, args: dict[str, str]) -> Any:
        command, seen = args["command"], self.visible()
        if _is_data(command):
            return {
                "output": "".join(
                    self.files.get(posixpath.normpath(posixpath.join("/w", word))[3:], "")
                    for word in command.replace("'", "").split()
                ),
                "exit_code": 0,
            }
        number = crc32((command + seen).encode()) % 4
        if number == 0:
            self.files["d/made"] = seen
        elif number == 1:
            self.files.pop("f2", None)
        return {"output": command + seen, "exit_code": number % 2}

    def read(self, effect: Perform, args: dict[str, str]) -> Any:
        path = args["path"]
        return self.files[path] if path in self.files else _failed("missing", path)

    def write(self, effect: Perform, args: dict[str, str]) -> Any:
        self.files[args["path"]] = args["content"]
        if effect.tool != "replace_with_git_merge_diff" and args["path"] == self.named:
            self.named = ""
        return {"path": args["path"], "bytes": len(args["content"])}

    def create(self, effect: Perform, args: dict[str, str]) -> Any:
        if self.files.get(args["path"], args["content"]) != args["content"]:
            return _failed("exists", args["path"])
        return self.write(effect, args)

    def replace(self, effect: Perform, args: dict[str, str]) -> Any:
        held = self.files.get(args["path"])
        if held is None or "a" not in held:
            return _failed("search", args["path"])
        return self.write(effect, {**args, "content": held.replace("a", "c")})

    def add(self, effect: Perform, args: dict[str, str]) -> Any:
        if args["path"] not in self.files:
            return _failed("missing", args["path"])
        self.index[args["path"]] = self.files[args["path"]]
        return {"path": args["path"]}

    def commit(self, effect: Perform, args: dict[str, str]) -> Any:
        tree = {**self.committed, **self.index}
        if tree == self.committed:
            return _failed("git", "nothing was added")
        self.committed = tree
        return {
            "commit": str(crc32(repr(sorted(tree.items())).encode())),
            "message": args["message"],
        }

    def delete(self, effect: Perform, args: dict[str, str]) -> Any:
        return (
            "deleted" if self.files.pop(args["path"], None) is not None else "it was gone already"
        )

    def rename(self, effect: Perform, args: dict[str, str]) -> Any:
        if args["path"] not in self.files:
            return _failed("missing", args["path"])
        if args["target"] in self.files:
            return _failed("exists", args["target"])
        self.files[args["target"]] = self.files.pop(args["path"])
        if self.named in (args["path"], args["target"]):
            self.named = ""
        return "renamed"

    def names(self, glob: str) -> list[str]:
        return sorted(
            path
            for path in self.files
            if glob == "." or fnmatchcase(path, glob) or path.startswith(glob + "/")
        )

    def listed(self, effect: Perform, args: dict[str, str]) -> Any:
        found = self.names(args["path"])
        return found if found or "*" in args["path"] else _failed("missing", args["path"])

    def grep(self, effect: Perform, args: dict[str, str]) -> Any:
        if "b" in args["pattern"]:
            return _failed("argument", args["pattern"])
        return [path for path in self.names(args["path"]) if args["pattern"] in self.files[path]]


def _rows(world: _World, effect: Perform, args: dict[str, str]) -> Any:
    """Things that a service keeps, under numbers of its own, with a text from outside in each."""
    count = 2 if effect.tool == "look_up" else len(world.outside)
    return [{"n": f"{args['query']}{at}", "t": world.outside} for at in range(count)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _failed(kind: str, message: str) -> Outcome:
    return Outcome(failure=Failure(kind, message))


def _is_data(command: str) -> bool:
    return DATA_COMMANDS.fullmatch(command) is not None


_TOOLS: dict[str, Callable[[_World, Perform, dict[str, str]], Any]] = {
    "view_text_website": lambda world, effect, args: world.outside,
    "google_search": lambda world, effect, args: list(world.outside),
    "list_files": _World.listed,
    "for_each_file": lambda world, effect, args: world.names(args["glob"]),
    "grep": _World.grep,
    "read_file": _World.read,
    "overwrite_file_with_block": _World.write,
    "create_file_with_block": _World.create,
    "delete_file": _World.delete,
    "rename_file": _World.rename,
    "replace_with_git_merge_diff": _World.replace,
    "git_add": _World.add,
    "git_commit": _World.commit,
    "run_in_bash_session": _World.command,
    "request_user_input": lambda world, effect, args: f"{world.answer}{effect.address}",
    "submit": lambda world, effect, args: "sent",
    "plan_step_complete": lambda world, effect, args: args.get("text", ""),
    "message_user": lambda world, effect, args: None,
    **dict.fromkeys(("look_up", "look_for"), _rows),
    "look_at": lambda world, effect, args: {"n": args["query"], "t": world.outside},
}

SERVICE = {
    name: {
        "summary": "look at things of a service", "action": "read_op", "effect": "read", "trust": "untrusted", "own": own,
        "parameters": [{"name": "query", "kind": "word", "sink": "data"}], "result": "value",
    }
    for name, own in {"look_up": ["n", "[]"], "look_for": ["n"], "look_at": ["n"]}.items()
}  # fmt: skip
"""Rows of a catalogue for these: what is `n` the service makes, and of `look_up` how many there are."""


def seen(program: Program, around: Around, outside: str) -> Seen:
    """What a run does where all text from outside is `outside`. Branches go one after the other, so that only texts differ."""
    world = _World(around, outside)
    if program.get("untrusted"):
        world.named = "mail/m"
        world.files["mail/m"] = outside
    tools = FunctionTools(dict.fromkeys(_TOOLS, world.perform))
    ending = run(program, tools, inputs={"builtin": {"run": RUN}}, room=1)
    there = frozenset(path for path in world.files if not path.startswith(f"{RUN}/"))
    return Seen(world.requests, frozenset(world.acts), there, ending.status == "finished")


def differ(one: Seen, other: Seen) -> bool:
    """True where two runs do different things, and no stop explains it."""
    if any(other.requests.get(at, request) != request for at, request in one.requests.items()):
        return True
    if other.finished and one.acts - other.acts or one.finished and other.acts - one.acts:
        return True
    return one.finished and other.finished and one.there != other.there


def interferes(program: Program) -> bool:
    """True where text from outside makes a difference to what is done, or to what is chosen for it, in one of the worlds."""
    for around in WORLDS:
        runs = [seen(program, around, outside) for outside in TEXTS]
        if any(differ(one, other) for one, other in combinations(runs, 2)):
            return True
    return False
