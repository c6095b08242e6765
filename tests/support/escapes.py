"""Tries to get out of a sandbox in every way it knows; run by tests as `python escapes.py JSON`.

Standard library only: it is copied into the workspace and runs inside. Prints one JSON object:
probe to True where it got through. What it needs of the outside (paths, ports) is in its argument.
"""

import ctypes
import json
import os
import socket
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
    return True


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
        "memory of the controller": lambda: reads(f"/proc/{given['pid']}/mem") or reads(f"/proc/{given['pid']}/maps"),
        "files of the controller": lambda: reads_through(f"/proc/{given['pid']}/fd"),
        "inherited descriptor": lambda: sees_open_files("precious"),
        "TCP": lambda: connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port)),
        "UDP": lambda: connects(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", udp)) and given["udp_counts"],
        "raw packets": lambda: bool(socket.socket(socket.AF_PACKET, socket.SOCK_RAW)) and given["udp_counts"],
        "abstract unix socket": lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + given["abstract"]),
        "unix socket by path": lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, given["unix"]),
        "signal the controller": lambda: signals(given["pid"]),
        "trace the controller": lambda: libc.ptrace(0x4206, given["pid"], 0, 0) == 0,
        "new user namespace": lambda: new_user_namespace(None),
        "mount": lambda: mounts(None),
        "io_uring": lambda: call(425, 8, ctypes.create_string_buffer(120)),
        "bpf": lambda: call(321 if os.uname().machine == "x86_64" else 280, 0, ctypes.create_string_buffer(128), 128),
        "kernel keys": lambda: call(250 if os.uname().machine == "x86_64" else 219, 0, -3, 0),
        "journal of fdc": lambda: writes(".fdc/runs.sqlite"),
        "new file in .fdc": lambda: writes(".fdc/new"),
        "move .fdc away": lambda: moves_protected(".fdc"),
        "settings of fdc": lambda: can_append("fdc.toml"),
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
