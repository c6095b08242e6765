"""What the workspace's own files of secrets hold, so that it can be kept out of what a run writes down."""

from __future__ import annotations

import codecs
import os
import re
from urllib.parse import unquote

from ...linking.project.obeyed import Leads
from ...linking.project.protected import packages
from ...linking.project.secret_files import secret, variable
from ...linking.project.settings import SettingsError, read_settings
from .rows import rows
from .scrubber import LEAST

MOST_FILES, MOST_BYTES, MOST_VALUES = 200, 64 * 1024, 500
"""Files that are read, bytes of each, values that are taken in all."""

_LOGIN = re.compile(
    r"\bpassword\s+(\S{8,})|^[^:\n]*:(?:\d+|\*):[^:\n]*:[^:\n]*:(\S{8,})$", re.MULTILINE
)
"""A password in `.netrc`, or in `.pgpass`."""
_BODY = re.compile(r"^[A-Za-z0-9+/=]{32,}\s*$", re.MULTILINE)
_USER = re.compile(r"://[^/\s:@]*:([^/\s@]{8,})@")
_HEADER = re.compile(r"\bauthorization:\s*\w+\s+([^\s\"]{8,})", re.IGNORECASE)
_GIT = ".git/config"
"""Settings of a repository, which commands see: an address in it may have a password, as may a header that the CI put there."""
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")
_RANDOM = 20


def values_of(root: str) -> dict[str, str]:
    """The secret values in the files of secrets of a workspace, each with the name of its file (and of its row)."""
    out: dict[str, str] = {}
    for path in files_of(root):
        try:
            handle = os.open(
                os.path.join(root, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            )
            with open(handle, "rb") as file:
                data = file.read(MOST_BYTES)
        except OSError:
            continue
        held = _in_git if f"/{path}".endswith(f"/{_GIT}") else _in
        for value, name in (row for text in _texts(data) for row in held(text)):
            if len(out) < MOST_VALUES and len(value) >= LEAST:
                out.setdefault(value, f"{path} {name}".strip())
    return out


def _texts(data: bytes) -> list[str]:
    """What a file says, in each encoding that it may have: UTF-16 where it has NUL bytes, else UTF-8 or Windows-1252."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return [data.decode("utf-16", "replace")]
    if b"\0" in data:
        return [data.decode(one, "replace") for one in ("utf-16-le", "utf-16-be")]
    try:
        return [data.decode("utf-8")]
    except UnicodeDecodeError:  # also where the last character is cut
        return [data.decode(one, "replace") for one in ("utf-8", "cp1252")]


def files_of(root: str) -> list[str]:
    """The files of secrets, by path; installed packages are not searched."""
    try:
        more = read_settings(root).secret
    except SettingsError:
        more = ()
    more = (*more, *Leads(root, (), more, whole=True).secret)
    found: list[str] = []
    work = [("", False)]
    while work and len(found) < MOST_FILES:
        folder, inside = work.pop()
        try:
            with os.scandir(os.path.join(root, folder) if folder else root) as entries:
                rows = sorted(
                    (one.name, one.is_dir(follow_symlinks=False))
                    for one in entries
                    if not one.is_symlink()
                )
        except OSError:
            continue
        for name, is_folder in rows:
            path = folder + name
            hit = inside or secret(path, more) is not None
            if hit and not is_folder:
                found.append(path)
            elif is_folder and name == ".git":
                found.append(folder + _GIT)
            elif is_folder and name != ".fdc" and not packages(os.path.join(root, path)):
                work.append((path + "/", hit))
    return sorted(found)[:MOST_FILES]


def _in_git(text: str) -> list[tuple[str, str]]:
    return [(match[1], "") for form in (_USER, _HEADER) for match in form.finditer(text)]


def _in(text: str) -> list[tuple[str, str]]:
    found = [(one, "") for match in _USER.finditer(text) for one in (match[1], unquote(match[1]))]
    found += [(match[1] or match[2], "password") for match in _LOGIN.finditer(text)]
    if "PRIVATE KEY-----" in text:
        found += [(match[0].strip(), "") for match in _BODY.finditer(text)]
    for name, value, loose in rows(text):
        if len(value) < LEAST or os.path.isabs(value):
            continue
        if variable(name) == "value" or not loose and _is_random(value):
            found.append((value, name.rsplit(":", 1)[-1]))
    return found


def _is_random(value: str) -> bool:
    """True for what no person would choose as a plain setting: long, of letters and digits, without a space."""
    if len(value) < _RANDOM or " " in value or "://" in value:
        return False
    return bool(_LETTER.search(value) and _DIGIT.search(value))
