"""The folders of programs on this machine, and the sibling folders that programs need: what a command may read."""

from __future__ import annotations

import os
import sys

from ..linking.project.protected import own_environment

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/run/current-system",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ssl", "/etc/ca-certificates",
    "/etc/pki", "/etc/crypto-policies", "/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
    "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/services", "/etc/protocols", "/etc/mime.types",
    "/etc/gitconfig", "/etc/magic", "/etc/os-release", "/etc/debian_version", "/etc/python3", "/etc/perl", "/etc/terminfo",
    "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/inputrc", "/etc/bash.bashrc", "/etc/profile", "/etc/locale.alias",
)  # fmt: skip
"""System folders that programs read; they contain no secrets."""

BESIDE = (
    "bin", "lib", "lib32", "lib64", "libexec", "share", "include", "conf", "etc/ssl", "ssl", "jmods", "release", "pyvenv.cfg",
    "version", "versions", "plugins", "pyenv.d", "rbenv.d", "installs", "conda-meta", "gems", "specifications", "extensions",
    "Cellar", "opt",
)  # fmt: skip
"""Folders beside `bin` that programs need. They contain neither settings nor keys."""


def program_folders(environment: dict[str, str]) -> list[str]:
    """Where else programs lie: what PATH names, and the Python that runs fdc, with what such programs need beside them."""
    found: dict[str, None] = {}
    for entry in (sys.prefix, sys.base_prefix, environment.get("VIRTUAL_ENV", "")):
        if entry:
            _installed(os.path.join(os.path.realpath(entry), "bin"), found)
    for entry in environment.get("PATH", "").split(os.pathsep):
        if os.path.isabs(entry) and os.path.isdir(entry):
            _installed(os.path.realpath(entry), found)
    inside = tuple(f"{folder}/" for folder in SYSTEM)
    return [path for path in found if not f"{path}/".startswith(inside)]


def _installed(folder: str, found: dict[str, None]) -> None:
    """Adds a folder of programs and, of the folder above it, what they need; nothing else of a home folder."""
    home = os.path.realpath(os.path.expanduser("~"))
    homes = {home, os.path.dirname(home), "/", "/root", "/home"}
    if folder in homes:
        return
    found[folder] = None
    above, name = os.path.split(folder)
    if name in ("bin", "sbin", "shims", "condabin", ".bin") and above not in (
        *homes,
        os.path.join(home, ".local"),
    ):
        beside = (
            [above]
            if own_environment(folder) and name == ".bin"
            else [os.path.join(above, one) for one in BESIDE]
        )
        found.update(dict.fromkeys(path for path in beside if os.path.exists(path)))
