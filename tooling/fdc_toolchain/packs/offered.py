"""A pack that is not installed yet: found in a distribution's folder or wheel, and read without importing it."""

from __future__ import annotations

import configparser
import hashlib
import os
import re
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import resources
from ..exits import UsageError
from .beside import FILE, GROUP
from .model import Pack, PackError, pack_of
from .read import content, read

MOST = 32_000_000
"""Maximum unpacked bytes of a wheel."""


@contextmanager
def offered(path: str) -> Iterator[list[Pack]]:
    """The packs that a folder (with a `pyproject.toml`) or a wheel brings. Their files can be read inside of the `with`.

    Raises UsageError for a distribution without packs, PackError for a `pack.toml` that is wrong, OSError.
    """
    if os.path.isdir(path):
        yield [_pack(_package_of(path, package), package) for package in _of_project(path)]
        return
    if not path.endswith(".whl"):
        raise UsageError(f"`{path}` is neither a folder nor a wheel (`.whl`)")
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(path) as wheel:
                packages = _of_wheel(wheel, path)
                _unpack(wheel, packages, folder, path)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, UnicodeDecodeError) as wrong:
            raise UsageError(f"`{path}` is not a wheel: {wrong}") from wrong
        yield [_pack(os.path.join(folder, *one.split(".")), one) for one in packages]


_OURS = re.compile(r"fdc[-_.]toolchain\s*\(?(?:>=\s*(\d+(?:\.\d+)*))?\s*\)?", re.IGNORECASE)
"""A need of fdc itself, as packs write it. Extras have needs of their own, and an address is another fdc."""


def _is_here(need: str) -> bool:
    """Whether pip downloads nothing for it, since it is this fdc."""
    ours = _OURS.fullmatch(need.strip())
    if ours is None:
        return False
    have, wanted = (
        tuple(map(int, re.findall(r"\d+", text)[:3]))
        for text in (resources.read("VERSION").decode("ascii"), ours[1] or "0")
    )
    return wanted <= have


def beside_packs(path: str, packs: Iterable[Pack]) -> Iterator[str]:
    """What else comes with a distribution that `offered` has read, in lines: what it needs, what it puts beside its packs."""
    if os.path.isdir(path):
        document = _project(path)
        needs = _texts(document["project"].get("dependencies"))
        yield "builds it first, which runs its build code"
        build = document.get("build-system")
        for one in _texts(build.get("requires") if isinstance(build, dict) else None):
            yield f"downloads for building: {one}"
        if "dependencies" in _texts(document["project"].get("dynamic")):
            yield "downloads the dependencies that its build code names"
    else:
        with zipfile.ZipFile(path) as wheel:
            needs = _metadata(wheel, path, "requires-dist")
            yield from (f"also installs `{name}`" for name in _others(wheel.namelist(), packs))
    yield from (f"downloads its dependency: {one}" for one in needs if not _is_here(one))


def _others(names: Iterable[str], packs: Iterable[Pack]) -> list[str]:
    """What lies beside the packages of a wheel: entries of its top, and files beside a package in a package of others."""
    packages = [f"{pack.package.replace('.', '/')}/" for pack in packs]
    shared = {one.partition("/")[0] for one in packages}
    found = set()
    for name in names:
        top = name.partition("/")[0]
        if not name.startswith(tuple(packages)) and not top.endswith(".dist-info"):
            found.add(name if top in shared else top)
    return sorted(found)


def distribution(path: str) -> str:
    """The name of a distribution that `offered` has read, as pip compares it."""
    if os.path.isdir(path):
        names = [str(_project(path)["project"].get("name"))]
    else:
        with zipfile.ZipFile(path) as wheel:
            names = _metadata(wheel, path, "name")
    names += [os.path.basename(path).partition("-")[0]]
    return re.sub(r"[-_.]+", "-", names[0]).lower()


def _metadata(wheel: zipfile.ZipFile, path: str, key: str) -> list[str]:
    """The values of a field of a wheel's metadata."""
    return [
        line.partition(":")[2].strip()
        for name in wheel.namelist()
        if name.count("/") == 1 and name.endswith(".dist-info/METADATA")
        for line in _content(wheel, name, path).decode("utf-8", "replace").splitlines()
        if line.partition(":")[0].lower() == key
    ]


def digest(path: str) -> str:
    """A hash of a file, or of all names, links and files in a folder; "" for what is neither. Raises OSError."""
    if os.path.isfile(path):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    total, found = hashlib.sha256(), os.path.isdir(path)
    for here, folders, names in os.walk(path):
        folders.sort()
        for name in sorted([*folders, *names]):
            whole = os.path.join(here, name)
            link = os.path.islink(whole)
            text = os.readlink(whole) if link else "" if name in folders else digest(whole)
            total.update(repr((os.path.relpath(whole, path), link, text)).encode())
    return total.hexdigest() if found else ""


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _pack(folder: str, package: str) -> Pack:
    return pack_of(read(folder), folder, package, False)


def _of_project(folder: str) -> list[str]:
    """The packages of the entry points in a `pyproject.toml`."""
    document: Any = _project(folder)
    for key in ("project", "entry-points", GROUP):
        document = document.get(key) if isinstance(document, dict) else None
    return _named(document, f"{folder}/pyproject.toml")


def _project(folder: str) -> dict[str, Any]:
    """What a folder's `pyproject.toml` says."""
    try:
        return tomllib.loads(content(os.path.join(folder, "pyproject.toml")).decode())
    except FileNotFoundError:
        raise UsageError(
            f"`{folder}` has no `pyproject.toml`; create a pack with `fdc pack new`"
        ) from None
    except (ValueError, RecursionError) as wrong:
        raise UsageError(f"`{folder}/pyproject.toml` cannot be read: {wrong}") from wrong


def _package_of(folder: str, package: str) -> str:
    """The folder of a package in a distribution's folder: at its top, or in `src/`."""
    inside = os.path.join(*package.split("."))
    for above in ("", "src"):
        found = os.path.join(folder, above, inside)
        if os.path.isfile(os.path.join(found, FILE)):
            return found
    raise UsageError(f"`{folder}` has no `{inside}/{FILE}`, neither at its top nor in `src`")


def _of_wheel(wheel: zipfile.ZipFile, path: str) -> list[str]:
    for name in wheel.namelist():
        if name.count("/") == 1 and name.endswith(".dist-info/entry_points.txt"):
            parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
            try:
                parser.read_string(_content(wheel, name, path).decode("utf-8"))
            except configparser.Error as wrong:
                raise UsageError(f"`{path}`: {name} cannot be read: {wrong.message}") from wrong
            return _named(dict(parser[GROUP]) if parser.has_section(GROUP) else None, path)
    return _named(None, path)


def _named(table: object, where: str) -> list[str]:
    packages = sorted(set(table.values())) if isinstance(table, dict) else []
    if not packages:
        raise UsageError(f"`{where}` contains no pack: it has no entry point `{GROUP}`")
    for package in packages:
        if not isinstance(package, str) or not all(
            part.isidentifier() for part in package.split(".")
        ):
            raise PackError(f"{where}: the entry point `{package}` does not name a package")
    return packages


def _content(wheel: zipfile.ZipFile, name: str, path: str) -> bytes:
    with wheel.open(name) as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise UsageError(f"`{path}`: {name} is larger than {MOST:,} bytes")
    return data


def _unpack(wheel: zipfile.ZipFile, packages: list[str], folder: str, path: str) -> None:
    """The files of the packages, below a folder; nothing else of the wheel."""
    begins = tuple(f"{package.replace('.', '/')}/" for package in packages)
    total = 0
    for name in wheel.namelist():
        parts = name.split("/")
        if not name.startswith(begins) or name.endswith("/"):
            continue
        if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
            raise UsageError(f"`{path}` is not a wheel: it has a file `{name}`")
        data = _content(wheel, name, path)
        total += len(data)
        if total > MOST:
            raise UsageError(f"`{path}` unpacks to more than {MOST:,} bytes")
        target = os.path.join(folder, *parts)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
