"""Tries to get out of a sandbox in every way it knows; run by tests as `python escapes.py JSON`.

Standard library only: it is copied into the workspace and runs inside. Prints one JSON object:
probe to True where it got through. What it needs of the outside (paths, ports) is in its argument.
"""

import contextlib
import ctypes
import glob
import json
import os
import socket
import stat
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def reads(path):
    with open(path, "rb") as file:
        return bool(file.read(1))


def writes(path):
    with open(path, "ab") as file:
        file.write(b"x")
    return True


def connects(family, kind, address):
    with socket.socket(family, kind) as made:
        made.settimeout(20)
        made.connect(address)
        made.send(b"out")
    return True


def environ_of_others(secret):
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if secret.encode() in file.read():
                        return True
            except OSError:
                continue
    return secret in repr(dict(os.environ))


def sees_open_files(name):
    for fd in os.listdir("/proc/self/fd"):
        try:
            if name in os.readlink(f"/proc/self/fd/{fd}"):
                return True
        except OSError:
            continue
    return False


def reads_through(folder):
    for name in os.listdir(folder):
        try:
            if "precious" in os.readlink(f"{folder}/{name}") and reads(f"{folder}/{name}"):
                return True
        except OSError:
            continue
    return False


def can_append(path):
    with open(path, "ab"):
        return True


def signals(pid):
    os.kill(pid, 0)
    return True


def call(number, *args):
    return libc.syscall(number, *args) >= 0


def links_out(outside):
    os.symlink(outside, "way-out")
    try:
        return writes("way-out/through-a-link")
    finally:
        os.unlink("way-out")


def hard_links_out(outside):
    os.link(f"{outside}/precious", "second-name")
    return writes("second-name")


def types(_):
    import fcntl

    fcntl.ioctl(0, 0x5412, struct.pack("c", b"x"))
    return True


def new_user_namespace(_):
    return libc.unshare(0x10000000) == 0


def mounts(_):
    return libc.mount(b"none", b".", b"tmpfs", 0, None) == 0


def moves_protected(folder):
    os.rename(folder, folder + ".moved")
    os.rename(folder + ".moved", folder)
    return True


def makes_anew(path):
    """What is at a path, as something of ours: moved away, deleted, or a folder above it moved away."""
    for part in (path, os.path.dirname(path)):
        try:
            os.rename(part, part + ".moved")
        except OSError:
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return writes(path)
    os.unlink(path)
    return writes(path)


def limits(pid):
    import resource

    resource.prlimit(pid, resource.RLIMIT_NOFILE, resource.prlimit(pid, resource.RLIMIT_NOFILE))
    return True


def schedules(pid):
    os.sched_setaffinity(pid, os.sched_getaffinity(pid))
    return True


def slows(pid):
    os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))
    return True


def shares_memory(key):
    segment = libc.shmget(key, 0, 0)
    libc.shmat.restype = ctypes.c_void_p
    return segment >= 0 and libc.shmat(segment, None, 0) != ctypes.c_void_p(-1).value


def holds_in_no_process(_):
    os.close(os.memfd_create("x"))
    return True


def holds_in_segment(_):
    segment = libc.shmget(0, 2 << 20, 0o1600)
    return segment >= 0 and libc.shmctl(segment, 0, None) == 0


def changes_mode(path):
    os.chmod(path, os.stat(path).st_mode & 0o777)
    return True


def changes_mode_of_open(path):
    with open(path, "rb") as file:
        os.fchmod(file.fileno(), os.stat(path).st_mode & 0o777)
    return True


def makes_program_of_owner(name):
    """One that anybody runs as its owner."""
    with open(name, "wb") as file:
        for change in (
            lambda: os.chmod(name, 0o4755),
            lambda: os.fchmod(file.fileno(), 0o4755),
            lambda: call(452, -100, name.encode(), 0o4755, 0),
        ):
            with contextlib.suppress(OSError):
                change()
    return bool(os.stat(name).st_mode & 0o4000) or makes_file_with_a_mode(name)


def makes_file_with_a_mode(name):
    """A new file that is its owner's or its group's program from the beginning: a file tool would keep the mode, and fill it."""
    os.umask(0)
    bits = 0o6755

    def of_tmpfile():
        handle = os.open(".", os.O_TMPFILE | os.O_WRONLY, bits)
        os.link(f"/proc/self/fd/{handle}", f"{name}.linked")

    def by_openat2():
        how = struct.pack("=QQQ", os.O_CREAT | os.O_WRONLY, bits, 0)
        call(437, -100, f"{name}.how".encode(), how, len(how))

    for change in (
        lambda: os.open(f"{name}.new", os.O_CREAT | os.O_WRONLY, bits),
        lambda: os.mknod(f"{name}.node", stat.S_IFREG | bits),
        lambda: libc.creat(f"{name}.created".encode(), bits),
        lambda: libc.open(f"{name}.opened".encode(), os.O_CREAT | os.O_WRONLY, bits),
        of_tmpfile,
        by_openat2,
    ):
        with contextlib.suppress(OSError):
            change()
    found = glob.glob(f"{name}.*")
    return any(os.stat(path).st_mode & 0o6000 for path in found)


def changes_mode_behind(path):
    """Names a file of its own, and puts a link in its place while it is judged: 2,000 times, and at 100 different links.

    Which link comes next is drawn by lot: two threads that take turns would see the same one each time.
    """
    import random
    import threading

    stop = []
    put = []
    before = os.stat(path).st_mode

    def swap():
        while not stop:
            os.symlink(random.choice(("mine", path)), "swapped.new")
            os.rename("swapped.new", "swapped")
            put.append(1)

    os.chmod(".", 0o777)
    open("mine", "w").close()
    worker = threading.Thread(target=swap)
    worker.start()
    tries, seen = 0, set()
    while (tries < 2000 or len(seen) < 100) and worker.is_alive():
        seen.add(len(put))
        try:
            os.chmod("swapped", 0o640)
        except FileNotFoundError:
            continue  # nothing is put there yet
        except OSError:
            pass
        tries += 1
    stop.append(1)
    worker.join()
    return os.stat(path).st_mode != before


def changes_times(path):
    os.utime(path, (1, 1))
    return True


def changes_attributes(path):
    os.setxattr(path, "user.probe", b"x")
    return True


def changes_flags(path):
    import fcntl

    with open(path, "rb") as file:
        flags = bytearray(8)
        fcntl.ioctl(file, 0x80086601, flags)
        fcntl.ioctl(file, 0x40086602, flags)
    return True


def sees_command_line(word):
    for name in os.listdir("/proc") if os.access("/proc", os.R_OK) else map(str, range(1, 1 << 16)):
        if name.isdecimal() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    found = file.read()
            except OSError:
                continue
            if word.encode() in found and b"escapes.py" not in found:
                return True
    return False


def reads_moved(folder, name):
    os.rename(folder, folder + ".moved")
    return reads(f"{folder}.moved/{name}")


def probes(given):
    outside, port, udp = given["outside"], given["tcp"], given["udp"]
    return {
        "read a file outside": lambda: reads(f"{outside}/precious"),
        "read the home folder": lambda: reads(given["home_secret"]),
        "write a file outside": lambda: writes(f"{outside}/precious"),
        "make a file outside": lambda: writes(f"{outside}/new"),
        "delete a file outside": lambda: os.unlink(f"{outside}/to-delete") or True,
        "write through a symbolic link": lambda: links_out(outside),
        "write through a hard link": lambda: hard_links_out(outside),
        "secrets in any environment": lambda: environ_of_others(given["secret"]),
        "memory of the controller": lambda: (
            reads(f"/proc/{given['pid']}/mem") or reads(f"/proc/{given['pid']}/maps")
        ),
        "files of the controller": lambda: reads_through(f"/proc/{given['pid']}/fd"),
        "inherited descriptor": lambda: sees_open_files("precious"),
        "TCP": lambda: connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port)),
        "UDP": lambda: (
            connects(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", udp)) and given["udp_counts"]
        ),
        "raw packets": lambda: (
            bool(socket.socket(socket.AF_PACKET, socket.SOCK_RAW)) and given["udp_counts"]
        ),
        "abstract unix socket": lambda: connects(
            socket.AF_UNIX, socket.SOCK_STREAM, "\0" + given["abstract"]
        ),
        "unix socket by path": lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, given["unix"]),
        "signal the controller": lambda: signals(given["pid"]),
        "trace the controller": lambda: libc.ptrace(0x4206, given["pid"], 0, 0) == 0,
        "new user namespace": lambda: new_user_namespace(None),
        "mount": lambda: mounts(None),
        "io_uring": lambda: call(425, 8, ctypes.create_string_buffer(120)),
        "bpf": lambda: call(
            321 if os.uname().machine == "x86_64" else 280, 0, ctypes.create_string_buffer(128), 128
        ),
        "kernel keys": lambda: call(250 if os.uname().machine == "x86_64" else 219, 0, -3, 0),
        "journal of fdc": lambda: writes(".fdc/runs.sqlite"),
        "new file in .fdc": lambda: writes(".fdc/new"),
        "move .fdc away": lambda: moves_protected(".fdc"),
        "settings of fdc": lambda: can_append("fdc.toml"),
        "move .git away": lambda: moves_protected(".git"),
        "another history for git": lambda: writes(".git/commondir"),
        "a file of .git made anew": lambda: makes_anew(".git/config"),
        "attributes of git": lambda: writes(".git/info/attributes"),
        "a nested .git": lambda: (
            writes("sub/deep/.git/config") or makes_anew("sub/deep/.git/config")
        ),
        "settings of agents": lambda: writes("AGENTS.md"),
        "settings of agents below": lambda: writes("sub/deep/AGENTS.md"),
        "settings of agents made anew": lambda: makes_anew("sub/deep/AGENTS.md"),
        "protocols": lambda: writes("protocols/new.protocol.json"),
        "protocols made anew": lambda: makes_anew("protocols/a.protocol.json"),
        "workflows of the CI": lambda: writes(".github/workflows/new.yml"),
        "workflows of the CI made anew": lambda: makes_anew(".github/workflows/ci.yml"),
        "registry of plans": lambda: writes("knowledge_core/plan_registry.json"),
        "registry of plans made anew": lambda: makes_anew("knowledge_core/plan_registry.json"),
        "log of the task": lambda: writes("logs/activity.log.jsonl"),
        "hooks of an agent": lambda: writes(".claude/settings.json"),
        "settings of the shell": lambda: writes(".envrc"),
        "a folder of PATH": lambda: writes("programs/ls"),
        "what the settings protect": lambda: writes("kept/by/settings.txt"),
        "settings of the kernel": lambda: can_append("/proc/sys/kernel/core_pattern"),
        "settings of the kernel, one of IPC": lambda: can_append("/proc/sys/kernel/sem"),
        "limits of the controller": lambda: limits(given["pid"]),
        "processors of the controller": lambda: schedules(given["pid"]),
        "priority of the controller": lambda: slows(given["pid"]),
        "shared memory": lambda: shares_memory(given["memory"]),
        "memory of no process": lambda: holds_in_no_process(None),
        "large memory of no process": lambda: holds_in_segment(None),
        "what a link below leads to": lambda: writes("led/rules.md"),
        "what a link to a hook leads to": lambda: makes_anew("led/hook"),
        "what a link to a hook leads to, moved": lambda: moves_protected("led"),
        "what a secret link leads to": lambda: reads("led/dev.txt"),
        "settings of a repository without .git": lambda: writes("led/bare/config"),
        "mode of a file outside": lambda: changes_mode(f"{outside}/precious"),
        "mode of a kept file": lambda: changes_mode(".git/config"),
        "mode of an open kept file": lambda: changes_mode_of_open(".git/config"),
        "mode of a file outside, by a race": lambda: changes_mode_behind(f"{outside}/precious"),
        "a program that runs as its owner": lambda: makes_program_of_owner("owned"),
        "mode of a program": lambda: changes_mode(os.path.realpath(sys.executable)),
        "times of a file outside": lambda: changes_times(f"{outside}/precious"),
        "times of a kept file": lambda: changes_times(".git/config"),
        "attributes of a file outside": lambda: changes_attributes(f"{outside}/precious"),
        "attributes of a kept file": lambda: changes_attributes(".git/config"),
        "flags of a kept file": lambda: changes_flags(".git/config"),
        "command lines of others": lambda: sees_command_line(given["word"]),
        "keys beside programs": lambda: reads(given["beside"]),
        "text from outside of this run": lambda: reads("runs/run/outside/page.txt"),
        "text from outside of another run": lambda: reads("runs/other/outside/page.txt"),
        "text from outside, moved": lambda: reads_moved("runs/other", "outside/page.txt"),
        "text from outside, written": lambda: writes("runs/run/outside/page.txt"),
        "hooks of git": lambda: writes(".git/hooks/pre-commit"),
        "settings of git": lambda: writes(".git/config"),
        "type into a terminal": lambda: types(None),
    }


def main():
    given = json.loads(sys.argv[1])
    found = {}
    for name, probe in probes(given).items():
        try:
            found[name] = bool(probe())
        except BaseException:
            found[name] = False
    print(json.dumps(found))


if __name__ == "__main__":
    main()
