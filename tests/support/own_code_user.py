"""What a Python tool of a workspace reaches, in each tier that whoever runs this is offered: `python own_code_user.py FOLDER`.

It needs the package and Python only, so that a test can run it as another user. Prints `{TIER: {through, read, written}}`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys

from fdc_toolchain.sandbox import sandbox
from fdc_toolchain.tools import own_code
from fdc_toolchain.tools.context import Context, Leaving
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.operator import Operator

TOOL = """
import os, socket

def tried(what, *given):
    try:
        return bool(what(*given))
    except OSError:
        return False

def read(path):
    with open(path, "rb") as file:
        return file.read(1)

def write(path):
    with open(path, "a") as file:
        return file.write("x")

def connect(port):
    socket.create_connection(("127.0.0.1", port), 5).close()
    return True

def tool(home, pid, port):
    outside = [f"{home}/precious", "/etc/passwd", f"/proc/{pid}/environ", f"/proc/{pid}/maps", ".env", ".git/config", "AGENTS.md"]
    through = [path for path in outside if tried(read, path)] + [path for path in outside if tried(write, path)]
    through += [path for path in (".git/hooks/x", "own.py", "new", "data.txt", f"{home}/new") if tried(write, path)]
    through += ["tcp"] * tried(connect, port) + ["secret"] * ("hunter2" in repr(dict(os.environ)))
    return {"through": through, "read": ["data.txt"] * tried(read, "data.txt"), "written": ["out/a"] * tried(write, "out/a")}
"""
ROW = {
    "effect": "once",
    "run": {"python": "own:tool"},
    "parameters": [],
    "access": {"write": ["out/**"]},
}


def main() -> None:
    import socket

    home = sys.argv[1]
    top = os.path.join(home, "workspace")
    for path, text in (("own.py", TOOL), ("data.txt", "x"), (".env", "x"), (".git/config", "x"), (".git/hooks/y", ""),
                       ("AGENTS.md", "x")):  # fmt: skip
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "w") as file:
            file.write(text)
    known = {"own.py": hashlib.blake2b(TOOL.encode(), digest_size=32).hexdigest()}
    root = Root(top)
    found = {}
    with socket.create_server(("127.0.0.1", 0)) as server:
        for tier in ("bubblewrap", "landlock"):
            if not sandbox.offered(tier):
                continue
            where = Context(
                root=root, key="run:main/1", run="run", run_folder="", say=print, ask=str, bound=True, cancelled=Leaving(),
                shell_seconds=120.0, tool={}, operator=Operator(tiers=(tier,)),
            )  # fmt: skip
            given = {"home": home, "pid": os.getpid(), "port": server.getsockname()[1]}
            found[tier] = own_code.call("own:tool", ROW, where, known, [], given).value
            if (
                tier == "bubblewrap"
            ):  # there a folder that no one sees is an empty one, which is gone afterwards
                with open(f"{home}/precious") as file:
                    unchanged = file.read() == "x" and not os.path.exists(f"{home}/new")
                harmless = [f"{home}/precious", f"{home}/new"] if unchanged else []
                found[tier]["through"] = [
                    path for path in found[tier]["through"] if path not in harmless
                ]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
