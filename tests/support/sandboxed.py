"""Runs the probes of `escapes.py` in a sandbox, as whoever runs this: `python sandboxed.py FOLDER JSON`.

It needs the package and Python only, so that a test can run it as another user. `FOLDER` is an empty folder of that user;
`JSON` says `tier`, `mounts` (false: as where fdc may make none) and `escapes`, the path of the probes. Prints one JSON object:
`through`, the names of the probes that got through; `harm`, what is different afterwards; `honest`, what an honest command said.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import time

from fdc_toolchain.linking.project.obeyed import Leads
from fdc_toolchain.sandbox import sandbox
from fdc_toolchain.tools import shell
from fdc_toolchain.tools.context import Context, Leaving
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.operator import Operator

FILES = {
    ".fdc/runs.sqlite": "journal", "fdc.toml": "# settings\n", ".git/hooks/pre-commit": "#!/bin/sh\n", ".git/config": "[core]\n",
    ".git/info/attributes": "", "sub/deep/.git/config": "[core]\n", "sub/deep/AGENTS.md": "rules\n", "AGENTS.md": "rules\n",
    "protocols/a.protocol.json": "{}", ".github/workflows/ci.yml": "on: push\n", ".github/ISSUE_TEMPLATE.md": "x\n",
    "knowledge_core/plan_registry.json": "{}", "knowledge_core/notes.md": "x\n", "logs/activity.log.jsonl": "{}\n",
    ".claude/settings.json": "{}", ".envrc": "true\n", "programs/tool": "#!/bin/sh\n", "kept/by/settings.txt": "x\n",
    "led/rules.md": "rules\n", "led/hook": "#!/bin/sh\n", "led/dev.txt": "TOKEN=x\n", "led/bare/HEAD": "ref: refs/heads/x\n",
    "led/bare/config": "[core]\n", "led/bare/objects/x": "", "led/bare/refs/x": "",
    "runs/run/outside/page.txt": "from outside", "runs/other/outside/page.txt": "from outside", "runs/other/report.md": "x\n",
    "src/a.py": "print('a')\n", "data.txt": "b\na\n",
}  # fmt: skip
"""What lies in the workspace; of these, only the last four and notes.md may be changed by a command."""

LINKS = {
    "sub/more/AGENTS.md": "../../led/rules.md",
    ".git/hooks/pre-push": "../../led/hook",
    "sub/more/.env": "../../led/dev.txt",
}

FREE = (
    "src/a.py",
    "data.txt",
    "runs/other/report.md",
    "knowledge_core/notes.md",
    ".github/ISSUE_TEMPLATE.md",
)

HONEST = r"""
set -e
sort data.txt > src/sorted.txt; cat src/sorted.txt; echo more >> data.txt
printf '#!/bin/sh\necho ran\n' > src/x.sh; chmod +x src/x.sh; src/x.sh; chmod 600 data.txt
touch -d @978307200 src/a.py; stat -c %Y src/a.py; cp -p src/a.py src/b.py; stat -c %Y src/b.py; mv src/b.py src/c.py; rm src/c.py
mkdir src/new; touch src/new/f; ln -s f src/new/l; tar cf src/t.tar src/new; rm -r src/new; tar xf src/t.tar; ls src/new
git --version > /dev/null; cat runs/other/report.md; cat <(echo substituted); nice true; mktemp > /dev/null; ls -A > /dev/null
python3 - <<'PYTHON'
import os, subprocess, tempfile
tempfile.NamedTemporaryFile().write(b"x")
os.chmod("src", 0o755)
print(subprocess.run(["echo", "child"], capture_output=True).stdout.decode().strip())
PYTHON
"""
HOGS = r"""
for one in 1 2 3 4 5 6; do
  python3 -c "import ctypes, time; ctypes.CDLL(None).prctl(4, $((one % 2))); x = bytearray(b'x') * (40 << 20); time.sleep(99)" &
done; wait
"""
"""Six processes that hold 40 MiB each; of every second one others may not read what it holds."""

TOLD = "a\nb\nran\n978307200\n978307200\nf\nl\nx\nsubstituted\nchild\n"


def context(root: Root, tier: str) -> Context:
    return Context(
        root=root, key="run:main/1", run="run", run_folder=os.path.join(root.path, ".fdc", "runs", "run"), say=print,
        ask=lambda question: "", bound=True, cancelled=Leaving(), shell_seconds=240.0, tool={},
        operator=Operator(unsandboxed=tier == "none", tiers=(tier,)),
    )  # fmt: skip


@contextlib.contextmanager
def world(folder: str):
    """A world worth stealing from: files, keys beside programs, a secret, sockets, shared memory, another process."""
    outside, home = os.path.join(folder, "outside"), os.path.join(folder, "home")
    for path, text in (("outside/precious", "precious"), ("outside/to-delete", "x"), ("home/id", "key"),
                       ("home/.tool/credentials.toml", "key"), ("home/.tool/bin/tool", "#!/bin/sh\n")):  # fmt: skip
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w") as file:
            file.write(text)
    os.environ["SECRET_TOKEN"] = "sk-hunter2-hunter2"
    os.environ["PATH"] = os.pathsep.join(
        [os.defpath, f"{home}/.tool/bin", os.path.join(folder, "workspace", "programs")]
    )
    libc = ctypes.CDLL(None, use_errno=True)
    key = os.getpid() * 64 + 7
    memory = libc.shmget(key, 4096, 0o1000 | 0o600)
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: libc.shmctl(memory, 0, None))
        held = stack.enter_context(open(f"{outside}/precious"))
        os.set_inheritable(held.fileno(), True)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        abstract, by_path = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        name = f"fdc-{os.getpid()}-{time.monotonic_ns()}"
        for one, address in ((abstract, "\0" + name), (by_path, f"{outside}/socket")):
            one.bind(address)
            one.listen()
        word = f"secret-word-{os.getpid()}"
        other = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)", word])
        stack.callback(lambda: (other.kill(), other.wait()))
        yield {
            "outside": outside, "home_secret": f"{home}/id", "secret": "sk-hunter2-hunter2", "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1], "udp_counts": True, "abstract": name, "unix": f"{outside}/socket", "pid": os.getpid(),
            "memory": key, "word": word, "beside": f"{home}/.tool/credentials.toml",
        }  # fmt: skip


def contents(top: str) -> dict[str, str]:
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                found[os.path.relpath(path, top)] = f"{os.stat(path).st_mode:o} {file.read()}"
    return found


def main() -> None:
    folder, given = sys.argv[1], json.loads(sys.argv[2])
    top = os.path.join(folder, "workspace")
    for path, text in FILES.items():
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "w") as file:
            file.write(text)
    for path, text in LINKS.items():
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        os.symlink(text, os.path.join(top, path))
    if given["mounts"] is not None:
        sandbox.mounting = lambda: given["mounts"]
    tier = given["tier"]
    out: dict = {"reason": sandbox.reason(tier)}
    if not out["reason"]:
        leads = Leads(top, whole=True)
        root = Root(top, (), ("kept/by", "programs", *leads.protect), secret=tuple(leads.secret))
        honest = shell.run_in_bash_session({"command": HONEST}, context(root, tier))
        out["honest"] = honest.value["output"] if honest.failure is None else str(honest.failure)
        sandbox.MEMORY, most = 160 << 20, sandbox.MEMORY
        hogs = shell.run_in_bash_session({"command": HOGS}, context(root, tier))
        out["memory"] = None if hogs.failure is None else hogs.failure.message
        sandbox.MEMORY = most
        with world(folder) as stage:
            shutil.copy(given["escapes"], os.path.join(top, "src", "escapes.py"))
            before = contents(top)
            outside = contents(stage["outside"].replace("outside", "home"))
            command = f"python3 src/escapes.py '{json.dumps(stage)}'"
            done = shell.run_in_bash_session({"command": command}, context(root, tier))
            value = (done.notes or {}).get("output") if done.value is None else done.value["output"]
            out["failure"] = None if done.failure is None else list(done.failure)
            if done.failure is None:
                found = json.loads(value.splitlines()[-1])
                out["through"] = sorted(name for name, through in found.items() if through)
                out["all"] = sorted(found)
            after = contents(top)
            out["harm"] = sorted(
                path
                for path, text in before.items()
                if path not in FREE and after.get(path) != text
            )
            out["home"] = outside == contents(stage["outside"].replace("outside", "home"))
    print(json.dumps(out))


if __name__ == "__main__":
    main()
