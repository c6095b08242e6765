"""git as fdc itself asks it, outside of every sandbox: it starts no other program, whatever the repository's settings say."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping

from .protected import outside_path

OWN_NAMES = ("config", "--name-only", "-z", "--get-regexp", r"^(filter|hook)\.")
"""The git command that lists the settings whose names the repository chooses; `started_nothing` takes what it prints."""
_OFF = {
    "core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.quotePath": "false", "commit.gpgsign": "false", "gc.auto": "0",
    "maintenance.auto": "false", "safe.bareRepository": "explicit", "submodule.recurse": "false",
}  # fmt: skip
_AT_TOP = (".git", ".gitattributes", ".gitignore", ".gitmodules")
_IN_FOLDERS = frozenset((".gitattributes", ".gitignore"))
"""What git reads in each folder of the workspace where it looks at files."""
_BELOW = ("info", "refs", "logs")
_OFF_BY_NAME = {
    "filter": {"clean": "", "smudge": "", "process": "", "required": "false"},
    "hook": {"enabled": "false"},
}


def started_nothing(own_names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with which git starts no program of the repository's settings. `own_names` is what `OWN_NAMES` printed.

    Filters and hooks are turned off by their names, also where a filter is called `unset`. Nothing is fetched, so neither a
    remote's program nor the one for ssh is started where a partial clone lacks an object.
    """
    rows = dict(_OFF)
    for key in own_names:
        section, _, rest = key.partition(".")
        name = rest.rpartition(".")[0]
        rows.update(
            {f"{section}.{name}.{word}": value for word, value in _OFF_BY_NAME[section].items()}
        )
    given = environment.get("GIT_CONFIG_PARAMETERS", "")  # git reads it after all other settings
    own = " ".join(_given(key, value) for key, value in rows.items())
    return {
        "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_PARAMETERS": f"{given} {own}".strip(),
    }  # fmt: skip


def _given(key: str, value: str) -> str:
    """A setting for `GIT_CONFIG_PARAMETERS`. Git before 2.31 knows only the form in one pair of quotes, for keys without `=`."""
    return f"{_quoted(key)}={_quoted(value)}" if "=" in key else _quoted(f"{key}={value}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


OF_A_REPOSITORY = frozenset(
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE"
    " GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE"
    " GIT_WORK_TREE".split()
)  # fmt: skip
"""Variables that name the files of one repository, whatever folder git is asked in. Git sets them for its hooks."""


def in_its_own(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with which git in a folder speaks of the repository around that folder."""
    return {name: value for name, value in environment.items() if name not in OF_A_REPOSITORY}


def ask_git(
    folder: str, *arguments: str, seconds: float = 60, index: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """What git says of the repository around a folder. Raises OSError without git, or where git would wait for a pipe
    (`refuse_pipes`), and subprocess.TimeoutExpired where it takes longer. `index`: an index file instead of the usual one.

    A diff needs `--no-ext-diff --no-textconv` as well, and `--ignore-submodules=all`: those have settings of their own.
    """
    named = {} if index is None else {"GIT_INDEX_FILE": index}

    def asked(words: Iterable[str], own_names: Iterable[str]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", "-C", folder, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=seconds,
            env={**in_its_own(os.environ), "PATH": outside_path(), **named,
                 **started_nothing(own_names, os.environ)},
        )  # fmt: skip

    compares = arguments[:1] == ("diff",) or "--others" in arguments
    refuse_pipes(folder, "" if compares else None)
    listed = asked(OWN_NAMES, ()).stdout.split(b"\0")
    return asked(arguments, [os.fsdecode(name) for name in listed if name])


def why_not(stderr: str) -> str:
    """Why git refused, in its own words: the first line, and the command that lets it read another user's repository."""
    lines = stderr.strip().split("\n")
    safe = [line.strip() for line in lines if line.strip().startswith(_TRUSTS)]
    return lines[0] + (f"; if you trust it: `{safe[0]}`" if safe else "")


_TRUSTS = "git config --global --add safe.directory "


def refuse_pipes(folder: str, looks: str | None = None) -> None:
    """Raises OSError, whose `strerror` names the file, where git would wait for a file of the repository around a folder.

    Looked at are the settings with what they include, and the files of the repository but its objects. `looks`: the path of a
    file in the folder at which git looks, empty for all of them; then the settings in folders count, too.
    """
    root = top(os.path.abspath(folder))
    if root is None:
        return
    for path in (*_read_by_git(root), *_in_folders(root, os.path.abspath(folder), looks)):
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            continue
        if path == os.devnull and stat.S_ISCHR(mode):  # empty settings: `GIT_CONFIG_GLOBAL`
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            name = os.path.relpath(path, root) if path.startswith(root + "/") else path
            raise OSError(
                errno.EINVAL, f"`{name}` is not a regular file, and git would wait for it"
            )


def top(folder: str) -> str | None:
    """The nearest folder with `.git`, from an absolute path upwards."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _read_by_git(root: str) -> Iterator[str]:
    from .obeyed import Leads

    yield from (os.path.join(root, name) for name in _AT_TOP)
    leads = Leads(root, whole=False)
    yield from leads.files
    own = os.path.join(root, ".git")
    for git in {own, *(os.path.dirname(path) for path in leads.files if path.endswith("/config"))}:
        if git == own or os.path.isfile(os.path.join(git, "HEAD")):
            yield from _files(git, deep=False)
            for name in _BELOW:
                yield from _files(os.path.join(git, name), deep=True)


def _in_folders(root: str, folder: str, looks: str | None) -> Iterator[str]:
    """The settings in the folders above a file or, with an empty path, in all folders in and above one; not regular files."""
    if looks is None:
        return
    above = os.path.join(folder, os.path.dirname(looks))
    while len(above) > len(root):
        yield from (os.path.join(above, name) for name in _IN_FOLDERS)
        above = os.path.dirname(above)
    work = [] if looks else [folder]
    while work:
        here = work.pop()
        try:
            with os.scandir(here) as found:
                entries = list(found)
        except OSError:
            continue
        if here != folder and any(entry.name == ".git" for entry in entries):
            continue  # another repository, which has settings of its own
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in (".git", ".fdc"):
                    work.append(entry.path)
            elif entry.name in _IN_FOLDERS and not entry.is_file(follow_symlinks=False):
                yield entry.path


def _files(folder: str, deep: bool) -> Iterator[str]:
    """What is in a folder but regular files and folders, which the listing itself tells: a repository may have many refs."""
    work = [folder]
    while work:
        try:
            with os.scandir(work.pop()) as found:
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        if deep:
                            work.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False):
                        yield entry.path
        except OSError:
            continue  # git does not get into it either
