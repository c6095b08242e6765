"""A pack that is not installed yet: found in a distribution's folder or wheel, and read without importing it."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from .. import resources
from ..exits import UsageError
from .beside import FILE, GROUP
from .model import Pack, PackError, pack_of
from .read import content, read
from .targets import of_member, of_program, told

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


_OURS = re.compile(r"fdc[-_.]+toolchain\s*(\[[^\]]*\])?\s*(?![\w.-])([^;]*)(;.*)?", re.IGNORECASE)
"""A need of fdc itself: its extras, which have needs of their own, its versions or address, its marker."""
_CLAUSE = re.compile(r"(>=|<=|==|!=|~=|<|>)\s*v?(\d+(?:\.\d+)*)")


def _is_here(need: str) -> bool:
    """Whether pip downloads nothing for it, since it is this fdc."""
    ours = _OURS.fullmatch(need.strip())
    return ours is not None and not ours[1] and not ours[3] and _fits(ours[2])


def other_fdc(path: str) -> str | None:
    """A need for which pip would replace this fdc by another one, of a distribution that `offered` has read."""
    for need in _needs(path):
        ours = _OURS.fullmatch(need.strip())
        if ours is not None and not _fits(ours[2]):
            return need
    return None


def _fits(versions: str) -> bool:
    """Whether this fdc is of the versions that a need names. What cannot be read does not fit, an address neither."""
    have = _numbers(resources.read("VERSION").decode("ascii"))
    for text in versions.strip().removeprefix("(").removesuffix(")").split(","):
        clause = _CLAUSE.fullmatch(text.strip())
        if clause is None:
            if text.strip():
                return False
            continue
        sign, wanted = clause[1], _numbers(clause[2])
        fits = {
            ">=": have >= wanted,
            "<=": have <= wanted,
            "==": have == wanted,
            "!=": have != wanted,
            "<": have < wanted,
            ">": have > wanted,
            "~=": have >= wanted and have[: clause[2].count(".")] == wanted[: clause[2].count(".")],
        }
        if not fits[sign]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version; an absent one is 0."""
    found = [int(number) for number in re.findall(r"\d+", version)[:3]]
    return tuple([*found, 0, 0, 0][:3])


def _needs(path: str) -> list[str]:
    if os.path.isdir(path):
        return _texts(_project(path)["project"].get("dependencies"))
    with zipfile.ZipFile(path) as wheel:
        return _About(wheel, path).requires or []


def beside_packs(path: str, packs: Iterable[Pack]) -> Iterator[str]:
    """What else comes with a distribution that `offered` has read, in lines: what it needs, what it puts beside its packs."""
    if os.path.isdir(path):
        document = _project(path)
        yield "builds it first, which runs its build code"
        build = document.get("build-system")
        for one in _texts(build.get("requires") if isinstance(build, dict) else None):
            yield f"downloads for building: {one}"
        dynamic = _texts(document["project"].get("dynamic"))
        if "dependencies" in dynamic:
            yield "downloads the dependencies that its build code names"
        if not {"scripts", "gui-scripts"}.isdisjoint(dynamic):
            yield "installs the programs that its build code names"
    homes = [f"{of_member(pack.package.replace('.', '/'))}/" for pack in packs]
    yield from told(targets(path), homes, distribution(path))
    yield from (f"downloads its dependency: {one}" for one in _needs(path) if not _is_here(one))


def targets(path: str) -> list[str]:
    """Where pip puts the files and programs of a distribution that `offered` has read; of a folder only its programs are known.

    Raises UsageError for a file or program that would be anywhere else.
    """
    if os.path.isdir(path):
        project = _project(path)["project"]
        tables = [project.get(key) for key in ("scripts", "gui-scripts")]
        return [
            of_program(str(name)) for table in tables if isinstance(table, dict) for name in table
        ]
    with zipfile.ZipFile(path) as wheel:
        found = [of_member(name) for name in wheel.namelist() if not name.endswith("/")]
        programs = [
            one.name
            for one in _About(wheel, path).entry_points
            if one.group in ("console_scripts", "gui_scripts")
        ]
    return [*found, *map(of_program, programs)]


def distribution(path: str) -> str:
    """The name of a distribution that `offered` has read, as pip compares it."""
    if os.path.isdir(path):
        names = [str(_project(path)["project"].get("name"))]
    else:
        with zipfile.ZipFile(path) as wheel:
            names = [str(name) for name in _About(wheel, path).metadata.get_all("Name") or ()]
    names += [os.path.basename(path).partition("-")[0]]
    return re.sub(r"[-_.]+", "-", names[0]).lower()


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
    values = [*document.values()] if isinstance(document, dict) else []
    return _named(values, f"{folder}/pyproject.toml")


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


def _of_wheel(wheel: zipfile.ZipFile, path: str) -> list[str]:
    """The packages of a wheel's entry points."""
    return _named(
        [one.value for one in _About(wheel, path).entry_points if one.group == GROUP], path
    )


def folders_of(folder: str) -> list[str]:
    """The folders of the packs in a distribution's folder; the folder itself, if it is a pack or no distribution.

    Raises UsageError, PackError.
    """
    if os.path.lexists(os.path.join(folder, FILE)) or not os.path.isfile(
        os.path.join(folder, "pyproject.toml")
    ):
        return [folder]
    return [_package_of(folder, package) for package in _of_project(folder)]


def _package_of(folder: str, package: str) -> str:
    """The folder of a package in a distribution's folder: at its top, or in `src/`."""
    inside = os.path.join(*package.split("."))
    for above in ("", "src"):
        found = os.path.join(folder, above, inside)
        if os.path.isfile(os.path.join(found, FILE)):
            return found
    raise UsageError(f"`{folder}` has no `{inside}/{FILE}`, neither at its top nor in `src`")


class _About(metadata.Distribution):
    """What a wheel says about itself, read as pip reads it: with Python's own readers of these files."""

    def __init__(self, wheel: zipfile.ZipFile, path: str) -> None:
        self._wheel, self._path = wheel, path

    def read_text(self, filename: str) -> str | None:
        for name in self._wheel.namelist():
            if name.count("/") == 1 and name.endswith(f".dist-info/{filename}"):
                return _content(self._wheel, name, self._path).decode("utf-8", "replace")
        return None

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        return Path(path)


def _named(packages: list[Any], where: str) -> list[str]:
    """The packages, each once. Raises UsageError where there is none, PackError for what is no name of a package."""
    if not packages:
        raise UsageError(f"`{where}` contains no pack: it has no entry point `{GROUP}`")
    for package in packages:
        if not isinstance(package, str) or not all(
            part.isidentifier() for part in package.split(".")
        ):
            raise PackError(f"{where}: the entry point `{package}` does not name a package")
    return sorted(set(packages))


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
        if not name.startswith(begins) or name.endswith("/"):
            continue
        of_member(name)
        parts = name.split("/")
        data = _content(wheel, name, path)
        total += len(data)
        if total > MOST:
            raise UsageError(f"`{path}` unpacks to more than {MOST:,} bytes")
        target = os.path.join(folder, *parts)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
