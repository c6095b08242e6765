"""Calls one function of a workspace, in a process of its own: a program, not a module of fdc's.

    python -I own_code_inside.py < CALL > RESULT

`CALL` is a JSON object that `own_code` wrote: the function (`target`), its arguments (`positional`, `named`, and `key` where it
asks for one), the sources of the workspace's modules (`modules`: path to text in Latin-1, so that bytes stay what they are),
the workspace (`root`), and the folder of fdc's own package (`package`). A function of a pack (`context`) gets its call over a
socket, as one line, and asks over it (`sandboxed.conversation`). `RESULT` is one JSON object: `value`, or what was
raised. What the function prints goes to stderr.

A module of the workspace is made of the source that was handed over, never of a file: it is what the program was made of.
Standard library only, and little of it: what is imported here is paid by every call.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import json
import os
import stat
import sys
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

PLACES = ("", "src/")
"""Where a workspace keeps its modules, as in `linking.project.own_modules`."""
_LONGEST = 500
_RAISES = {
    "fdc_toolchain.workspace.failure.ToolFailure": "failure", "fdc_toolchain.engine.ports.Waiting": "waiting",
    "fdc_toolchain.engine.ports.WorldFailed": "world",
}  # fmt: skip
"""What fdc has a meaning for, by the name of the class: a function may raise it where fdc can be imported."""
_OUTCOME = "fdc_toolchain.engine.events.Outcome"


class Toolchain:
    """Finds fdc's own package, before everything that is installed."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "fdc_toolchain":
            return None
        import importlib.util

        first = os.path.join(self.package, "__init__.py")
        return importlib.util.spec_from_file_location(
            name, first, submodule_search_locations=[self.package]
        )


class Installed:
    """Finds what is installed, on the import path as it is then; no file of the workspace, whatever is put on that path."""

    def __init__(self, root: str, package: str) -> None:
        self.root, self.package = root, package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        places = [one for one in (sys.path if path is None else path) if self._holds(one)]
        return importlib.machinery.PathFinder.find_spec(name, places, target) if places else None

    def _holds(self, path: str) -> bool:
        inside = os.path.realpath(path)
        if not os.path.isabs(path) or not f"{inside}/".startswith(f"{self.root}/"):
            return os.path.isabs(path)
        ours = (os.path.realpath(sys.base_prefix) + "/lib/", self.package + "/")
        return f"{inside}/".startswith(ours) or any(
            part in ("site-packages", "dist-packages") for part in inside.split("/")
        )


class Modules:
    """Finds modules in the sources that were handed over, behind everything that is installed."""

    def __init__(self, root: str, sources: dict) -> None:
        self.root, self.sources = root, sources

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] == "fdc_toolchain":
            return None
        folders = [place + name.replace(".", "/") for place in PLACES]
        for where in folders:
            for key, folder in ((f"{where}/__init__.py", where), (f"{where}.py", None)):
                if key in self.sources:
                    return self._spec(name, key, folder)
                if os.path.lexists(os.path.join(self.root, key)):
                    raise ImportError(
                        f"`{key}` is not among the files that the plan was compiled with: it was not there, or is imported by "
                        "a name that only the run knows"
                    )
        for where in folders:
            if any(key.startswith(where + "/") for key in self.sources):
                spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [os.path.join(self.root, where)]
                return spec
        return None

    def _spec(self, name: str, key: str, folder: str | None) -> ModuleSpec:
        whole = os.path.join(self.root, key)
        loader: Any = self
        spec = importlib.machinery.ModuleSpec(
            name, loader, origin=whole, is_package=folder is not None
        )
        spec.has_location = True
        spec.loader_state = key
        if folder is not None:
            spec.submodule_search_locations = [os.path.join(self.root, folder)]
        return spec

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        key = module.__spec__.loader_state
        exec(
            compile(
                self.sources[key].encode("latin-1"),
                os.path.join(self.root, key),
                "exec",
                dont_inherit=True,
            ),
            vars(module),
        )

    def get_data(self, path: str) -> bytes:
        """A file in the folder of a module, in its current state."""
        with open(path, "rb") as file:
            return file.read()

    def get_source(self, name: str) -> str | None:
        """The source of a module, for messages."""
        import importlib.util

        keys = [
            f"{place}{name.replace('.', '/')}{end}"
            for place in PLACES
            for end in ("/__init__.py", ".py")
        ]
        found = next((self.sources[key] for key in keys if key in self.sources), None)
        return None if found is None else importlib.util.decode_source(found.encode("latin-1"))


class Surroundings:
    """What a function of a pack is given beside its arguments (`fdc_toolchain.api.Context`)."""

    def __init__(self, given: dict, line: int) -> None:
        self.key: str = given["key"]
        self.run: str = given["run"]
        self.run_folder = os.path.join(os.environ["TMPDIR"], "fdc-run")
        self._line = line
        self._turn = allocate_lock()

    def read(self, path: str) -> bytes:
        """The bytes of a file of the workspace. The sandbox says which it lets be read."""
        if path.startswith("/") or ".." in path.split("/"):
            raise PermissionError(1, "leaves the workspace", path)
        with open(path, "rb") as file:
            return file.read()

    def say(self, text: str) -> None:
        """Shows the user a text."""
        self._asked({"say": text})

    def ask(self, question: str, unfit: Callable[[str], str] | None = None) -> str:
        """What a person answers. Where no person is there, the run waits: this process ends, and the step is done again."""
        answer = str(self._asked({"ask": question}))
        while unfit is not None and (wrong := unfit(answer)):
            answer = str(self._asked({"ask": question, "refused": [answer, str(wrong)]}))
        return answer

    def _asked(self, request: dict) -> Any:
        data = json.dumps(request).encode() + b"\n"
        with self._turn:  # a function may have threads: each gets the answer to its own request
            while data:
                data = data[os.write(self._line, data) :]
            reply = _line(self._line)
        if not reply:
            raise ConnectionAbortedError(103, "fdc ended while the tool was running")
        return json.loads(reply)["value"]


def _line(descriptor: int) -> bytes:
    """Reads a line without its end; empty if the connection closes first."""
    found = bytearray()
    while not found.endswith(b"\n"):
        data = os.read(descriptor, 65536)
        if not data:
            return b""
        found += data
    return bytes(found[:-1])


def called(given: dict, surroundings: object = None) -> dict:
    """The result of the call, as a JSON object with one key."""
    module, _, name = given["target"].partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as raised:
        return {"unavailable": f"cannot be imported: {type(raised).__name__}: {raised}"}
    if not callable(function):
        return {"unavailable": "is not a function"}
    named = given["named"]
    positional = given["positional"]
    if given.get("context"):
        positional = [named, surroundings]
        named = {}
    elif given["key"] and _takes(function, "idempotency_key"):
        named = {**named, "idempotency_key": given["key"]}
    try:
        return _result(function(*positional, **named))
    except (Exception, SystemExit) as raised:
        return _raised(raised)


def _takes(function: Any, name: str) -> bool:
    code = getattr(function, "__code__", None)
    if code is not None and not hasattr(function, "__wrapped__"):
        return name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    import inspect

    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False  # a function in C that does not say what it takes


def _result(value: Any) -> dict:
    if _name(type(value)) == _OUTCOME:
        failed = value.failure
        if failed is not None:
            return {"failure": [failed.kind, failed.message], "usage": value.usage}
        return {"value": value.value, "usage": value.usage}
    return {"value": value}


def _raised(raised: Any) -> dict:
    for one in type(raised).__mro__:
        kind = _RAISES.get(_name(one))
        if kind == "failure":
            return {"failure": [raised.kind, str(raised)], "usage": raised.usage}
        if kind is not None:
            return {kind: str(raised)}
    if isinstance(raised, OSError):
        how = (
            "timeout"
            if isinstance(raised, TimeoutError)
            else "net"
            if isinstance(raised, ConnectionError)
            else ""
        )
        name = raised.filename if isinstance(raised.filename, (str, bytes)) else None
        shown = os.fsdecode(name) if name else ""
        return {"os": [raised.errno, raised.strerror or str(raised), shown, how]}
    return {"raised": [type(raised).__name__, str(raised)[:_LONGEST]]}


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def main() -> None:
    """Reads the call, makes it, and writes its result."""
    talks = stat.S_ISSOCK(os.fstat(0).st_mode)
    line = os.dup(0) if talks else -1
    given = json.loads(_line(line) if talks else sys.stdin.buffer.read())
    told = os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.argv[:] = [given["target"]]
    plain: list[Any] = [importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter]
    installed = Installed(given["root"], given["package"])
    sys.meta_path[:] = [
        Toolchain(given["package"]),
        *plain,
        installed,
        Modules(given["root"], given["modules"]),
    ]
    said = called(given, Surroundings(given["context"], line) if talks else None)
    try:
        text = json.dumps(said, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as wrong:
        text = json.dumps({"unsaid": str(wrong)[:_LONGEST]})
    with open(told, "wb") as out:
        out.write(text.encode("ascii"))


if __name__ == "__main__":
    main()
