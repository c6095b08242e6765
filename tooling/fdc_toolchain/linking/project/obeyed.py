"""Paths that are protected or secret too, because a link or the settings of git lead there.

The names are those of `linking.project.protected` and `linking.project.secret_files`.

Where `AGENTS.md` is a link to `docs/rules.md`, that file is what agents obey. Where `core.hooksPath` is `tools/hooks`, git
runs what lies there. Read without git: no process is started, and what cannot be read leads nowhere.
"""

from __future__ import annotations

import os
import re
import shlex
import site
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import all_suffixes

from ... import cachedir
from .protected import Protection, own_environment, packages
from .secret_files import of_name, secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .settings import Settings

_SECTION = re.compile(r'\s*\[\s*([\w-]+)(?:\.[^\]\s]*)?(?:\s+"(?:\\.|[^"\\])*")?\s*\]')
_ROW = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_PIECE = re.compile(r'\\.?|["#;]|[^\\"#;]+')
_ESCAPED = {"\\n": "\n", "\\t": "\t", "\\b": "\b"}
_WORD = re.compile(r"[^\s\"'\\;|&()<>=!$,:]+")
_COMPUTED = re.compile(r"\$\([^()]*\)|`[^`]*`|\$\{[^{}]*\}|\$\w+")
_PARAMETER = re.compile(r"'((?:[^']|'\\'')*)'(?:='((?:[^']|'\\'')*)')?")
_INCLUDED = frozenset(("include.path", "includeif.path"))
_PATHS = re.compile(
    r"core\.(?:hookspath|attributesfile)|init\.templatedir|gpg\.(?:allowedsigners|revocation)file"
)
_PROGRAMS = re.compile(
    r"pager\..*|submodule\.update|(?:browser|difftool|man|mergetool)\.path|.*(?:command|cmd|program|hook|editor|pager|helper|askpass"
    r"|driver|clean|smudge|process|external|textconv|difffilter|gitproxy|fsmonitor|uploadpack|receivepack|smtpserver|httpd|tunnel)"
)
"""Settings whose value is a program that git starts by itself, with the section's own name left out (`filter.clean`)."""
_VARIABLES = (
    r"GIT_(?:ASKPASS|COMMON_DIR|DIR|EDITOR|EXEC_PATH|EXTERNAL_DIFF|PAGER|PROXY_COMMAND|SEQUENCE_EDITOR|SSH|SSH_COMMAND|TEMPLATE_DIR)"
    r"|(?:LD|DYLD)_\w+|BASH_ENV|ENV|ZDOTDIR|PROMPT_COMMAND|PYTHONSTARTUP|PYTHONHOME|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN"
    r"|LESSCLOSE|SSH_ASKPASS|SUDO_ASKPASS|NODE_OPTIONS|PERL5(?:OPT|DB)|RUBYOPT|(?:JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS|GCONV_PATH"
    r"|MAKEFILES|INPUTRC|OPENSSL_(?:CONF|ENGINES|MODULES)|RUSTC(?:_WRAPPER)?|DOTNET_STARTUP_HOOKS|LUA_INIT\w*|(?:CVS|RSYNC)_RSH"
    r"|SVN_SSH|(?i:npm_config_(?:global|user)config)"
)
"""Variables that name what programs run or load by themselves, fdc's own Python and git among them."""
_OF_PATHS = (
    r"GIT_(?:COMMON_DIR|DIR|EXEC_PATH|TEMPLATE_DIR)|\w+_LIBRARY_PATH|BASH_ENV|ZDOTDIR|PYTHON(?:STARTUP|HOME)|GCONV_PATH|MAKEFILES"
    r"|INPUTRC|OPENSSL_(?:CONF|ENGINES|MODULES)|(?i:npm_config_(?:global|user)config)"
)
"""Those of them in which a word without `/` is a path; in others it is a program of PATH, a library, or no path (`ENV=dev`)."""
_BY_NAME = ("fdc", "git", "sh", "bash", "env", "ssh", "gpg")
"""Programs that hooks of git and of agents' programs start by their names, wherever PATH has them first."""
_EARLY = (
    "sitecustomize", "usercustomize", "fdc_toolchain", "re", "types", "operator", "keyword", "reprlib",
    "collections", "functools", "enum", "copyreg", "encodings", "__future__", "_distutils_hack",
)  # fmt: skip
"""Modules that are imported before fdc leaves the workspace out of its import path (`console.process`)."""
_ENDS = ("", *all_suffixes())
_OF_GIT = ("hooks", "info")
"""The folders of a `.git` in which, beside itself, a link leads to what git obeys."""
_MOST, _MOST_LINKS = 1 << 20, 40


class Leads:
    """Where the links of a workspace and the settings of git lead. `protect` and `secret` are paths below the root.

    `whole`: links in every folder count, and repositories without a `.git` of their own; else the links at the top and in
    protected folders there. `globs` and `secrets` are those of the settings. `folders` and `files` are what was looked at.
    `other_names` False: other names of one file (hard links) are not searched, which takes most of the time in a large folder.
    """

    def __init__(
        self,
        root: str,
        globs: Iterable[str] = (),
        secrets: Iterable[str] = (),
        *,
        whole: bool,
        other_names: bool = True,
    ) -> None:
        self.root = os.path.realpath(root)
        self.protect: dict[str, None] = {}
        self.secret: dict[str, None] = {}
        self.folders: dict[str, None] = {}
        self.files: list[str] = []
        self._list, self._secrets, self._whole = Protection((), globs), tuple(secrets), whole
        self._files = whole and other_names
        self._work = [(self.root, False, False)]
        for path in self._of_git(self.root):
            self._lead(path, self.protect)
        self._twice: dict[tuple[int, int], list[dict[str, None]]] = {}
        seen: set[tuple[str, bool, bool]] = set()
        while self._work:
            row = self._work.pop()
            if row not in seen:
                seen.add(row)
                self._folder(*row)
        if self._twice:
            self._other_names()

    def _folder(self, folder: str, obeyed: bool, hidden: bool) -> None:
        """Looks at the links in a folder; `obeyed` and `hidden`: a link led here, so that it is protected, or secret."""
        self.folders[folder] = None
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
                links = [entry.name for entry in entries if entry.is_symlink()]
                folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return
        start = folder[len(self.root) + 1 :] + "/" if folder != self.root else ""
        names = {entry.name for entry in entries}
        of_git = "/.git/" in f"/{start}"
        is_bare = {"HEAD", "objects", "refs"} <= names
        is_git_folder = is_bare or f"/{start}".endswith("/.git/")
        if self._whole and start and ".git" in names:
            for path in self._of_git(folder):
                self._lead(path, self.protect)
        for name in links:
            path, below = start + name, os.path.join(folder, name)
            if obeyed or self._list.of(path) is not None:
                self._lead(below, self.protect)
            if hidden or secret(path, self._secrets) is not None:
                self._lead(below, self.secret)
        for name in folders:
            path, below = start + name, os.path.join(folder, name)
            if name == ".fdc":
                continue
            elif of_git or is_git_folder:
                if name in _OF_GIT or self._whole and not (is_git_folder and name == "objects"):
                    self._work.append((below, obeyed, hidden))
            elif self._whole or obeyed or hidden or self._list.of(path) is not None:
                if not packages(below):
                    self._work.append((below, obeyed, hidden))
        if self._files:
            known = {*links, *folders}
            self._plain_files(start, [name for name in names if name not in known], obeyed, hidden)
        if self._whole and start and not of_git and is_bare:
            self.protect[start[:-1]] = None

    def _plain_files(self, start: str, names: list[str], obeyed: bool, hidden: bool) -> None:
        """Looks at the files in the folder `start` for more names."""
        inside = self._list.of(start) is not None
        hides = hidden or secret(start, self._secrets) is not None
        for name in names:
            self._file(start, name, obeyed, inside, hides)

    def _file(self, start: str, name: str, obeyed: bool, inside: bool, hides: bool) -> None:
        """Looks at a file in the folder `start`, which is protected (`inside`) or secret (`hides`) itself, for more names."""
        path = start + name
        near = inside or self._list.may_name(name)
        if obeyed or near and self._list.of(path) is not None:
            self._named_twice(path, self.protect)
        if hides or of_name(name) or self._secrets and secret(path, self._secrets) is not None:
            self._named_twice(path, self.secret)

    def _named_twice(self, path: str, into: dict[str, None]) -> None:
        """Remembers a protected or secret file that has more than one name: who comes to one of them comes to the file."""
        try:
            found = os.lstat(os.path.join(self.root, path))
        except OSError:
            return
        if found.st_nlink > 1:
            self._twice.setdefault((found.st_dev, found.st_ino), []).append(into)

    def _other_names(self) -> None:
        """Notes all names in the workspace of the files that `_named_twice` remembers."""
        for here, folders, names in os.walk(self.root):
            if here == self.root:
                folders[:] = [name for name in folders if name != ".fdc"]
            for path in (os.path.join(here, name) for name in names):
                with suppress(OSError):
                    found = os.lstat(path)
                    for into in self._twice.get((found.st_dev, found.st_ino), ()):
                        self._note(path, into)

    def _lead(self, path: str, into: dict[str, None]) -> None:
        """Notes each link on the way from a path, and where it ends, as far as that lies in the workspace."""
        at, left, links = self.root, path[len(self.root) :].split("/")[::-1], 0
        if not path.startswith(self.root + "/"):
            at, left = "/", path.split("/")[::-1]
        while left:
            name = left.pop()
            if name == "..":
                at = os.path.dirname(at)
            if name in ("", ".", ".."):
                continue
            at = os.path.join(at, name)
            try:
                text = os.readlink(at)
            except (OSError, ValueError):
                continue
            links += 1
            if links > _MOST_LINKS:
                return
            self._note(at, into)
            left += text.split("/")[::-1]
            at = "/" if text.startswith("/") else os.path.dirname(at)
        self._note(at, into)
        if at.startswith(self.root + "/") and os.path.isdir(at):
            self._work.append((at, into is self.protect, into is self.secret))

    def _note(self, path: str, into: dict[str, None]) -> None:
        if path.startswith(self.root + "/"):
            into[path[len(self.root) + 1 :]] = None

    def _of_git(self, top: str) -> Iterator[str]:
        """What the settings of git name, of the repository in the folder `top` and of the user: paths, which may not be there."""
        dot_git = os.path.join(top, ".git")
        if not os.path.isdir(dot_git):  # that it is a folder is known from `folders`
            self.files.append(dot_git)
        if not os.path.lexists(dot_git):
            return
        folder = dot_git
        if os.path.isfile(dot_git):  # a work tree of a repository elsewhere
            folder = _path(_text(dot_git).removeprefix("gitdir:").strip(), top)
            yield folder
        common = self._read(os.path.join(folder, "commondir")).strip()
        folders = [folder, *([_path(common, folder)] if common else [])]
        yield from folders[1:]
        home = os.path.expanduser("~")
        config_home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        configs = [
            *(
                os.path.join(git_folder, name)
                for git_folder in folders
                for name in ("config", "config.worktree")
            ),
            os.path.join(home, ".gitconfig"),
            os.path.join(config_home, "git", "config"),
            *(
                os.path.join(top, named)
                for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
                if (named := os.environ.get(name))
            ),
            "/etc/gitconfig",
        ]
        yield from self._led_by(_of_variables(), top, top, configs)
        for at, config in enumerate(configs):  # it grows by what they include
            if at >= 2 * len(folders):
                yield config
            yield from self._led_by(
                _rows(self._read(config)), top, os.path.dirname(config), configs
            )

    def _led_by(
        self, rows: Iterable[tuple[str, str]], top: str, beside: str, configs: list[str]
    ) -> Iterator[str]:
        """What settings of git name, of the repository in `top`; what they include, from `beside`, is added to `configs`."""
        for key, value in rows:
            if key in _INCLUDED:
                path = _path(value, beside)
                if path not in configs and len(configs) < _MOST_LINKS:
                    configs.append(path)
            elif _PATHS.fullmatch(key):
                yield _path(value.removeprefix(":(optional)"), top)
            else:
                whole = [value] if key.endswith((".path", ".program")) else []
                words = [(word, _path(word, top)) for word in (*_words(value), *whole)]
                # the first word is a program of PATH where it is no path, and others may be files that are not there yet
                yield from (
                    path
                    for at, (word, path) in enumerate(words)
                    if "/" in word or at and "." in word or os.path.isfile(path)
                )
                self.files += [path for _, path in words if path.startswith(self.root + "/")]

    def _read(self, path: str) -> str:
        self.files.append(path)
        return _text(path)


def _path(value: str, start: str) -> str:
    """A path of git's settings, as it stands from the folder `start`."""
    return os.path.join(start, os.path.expanduser(value))


def _words(value: str) -> list[str]:
    """What may be paths in a command, without its options. What a shell would put in is the folder in which git starts it."""
    value = re.sub(r"\$HOME\b|\$\{HOME\}", "~", value)
    while _COMPUTED.search(value):
        value = _COMPUTED.sub(".", value)
    words = _WORD.findall(value)
    with suppress(ValueError):
        words += [word for word in shlex.split(value) if not word.startswith("-")]
    words += [word[1:] for word in words if word.startswith("@")]
    return [word for word in dict.fromkeys(words) if word.strip("./")]


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """The settings that lead somewhere, as git reads them."""
    section = ""
    lines = iter(text.replace("\r\n", "\n").split("\n"))
    for line in lines:
        while (head := _SECTION.match(line)) is not None:
            section, line = head[1].lower(), line[head.end() :]
        row = _ROW.match(line)
        key = f"{section}.{row[1].lower()}" if row is not None else ""
        if row is not None:
            value = _value(row[2], lines)
            if _leads(key):
                yield key, value


def _leads(key: str) -> bool:
    found = key in _INCLUDED or _PATHS.fullmatch(key) or _PROGRAMS.fullmatch(key)
    return bool(found)


def _of_variables() -> Iterator[tuple[str, str]]:
    """The settings of git that stand in variables, as those of a file in `_rows`."""
    count = os.environ.get("GIT_CONFIG_COUNT", "")[:4]
    rows = [
        (os.environ.get(f"GIT_CONFIG_KEY_{at}", ""), os.environ.get(f"GIT_CONFIG_VALUE_{at}", ""))
        for at in range(int(count) if count.isdecimal() else 0)
    ]
    for found in _PARAMETER.finditer(os.environ.get("GIT_CONFIG_PARAMETERS", "")):
        one, two = (text and text.replace("'\\''", "'") for text in found.groups())
        rows.append(one.partition("=")[::2] if two is None else (one, two))
    for name, value in rows:
        section, _, rest = name.lower().partition(".")
        key = f"{section}.{rest.rpartition('.')[2]}"
        if _leads(key):
            yield key, value


def _value(text: str, lines: Iterator[str]) -> str:
    """A value: quotes anywhere, escapes, a comment after it; `\\` at the end of a line goes on in the next of `lines`."""
    out, quoted, left = "", False, iter(_PIECE.findall(text))
    while (piece := next(left, "")) != "":
        if piece == '"':
            quoted = not quoted
        elif piece in ("#", ";") and not quoted:
            break
        elif piece == "\\":
            left = iter(_PIECE.findall(next(lines, "")))
        else:
            out += _ESCAPED.get(piece, piece.removeprefix("\\"))
    return out.strip()


def _text(path: str) -> str:
    """The beginning of a regular file, empty where there is none to be read."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            return file.read(_MOST)
    except (OSError, ValueError):
        return ""


def of_workspace(
    leads: Iterable[str], settings: Settings, plans: Iterable[str], folders: Iterable[str] = ()
) -> tuple[str, ...]:
    """Globs of what is protected in this workspace beside the list: what its settings say, what they obey (automaton, protocols),
    its registered `plans`, `leads` (of links and the settings of git), and `folders` of programs (`of_environment`)."""
    globs = [*settings.protect, settings.fsm, settings.protocols, *plans, *leads, *folders]
    return tuple(dict.fromkeys(glob for glob in globs if glob))


def of_environment(root: str, path: str) -> list[str]:
    """The folders of the workspace that hold programs which this process or the user starts: those of `path` (a PATH) that do
    not belong to the workspace's own environment, of this what hooks start by name, and the environment that fdc runs in; also
    fdc's cache and state, the names of modules that Python or fdc imports first, in folders of PYTHONPATH, and `_VARIABLES`."""
    inside = [
        os.path.realpath(folder) for folder in path.split(os.pathsep) if os.path.isabs(folder)
    ]
    own = [folder for folder in inside if own_environment(folder)]
    program_folders = [
        *(folder for folder in inside if folder not in own),
        *(f"{folder}/{name}" for folder in own for name in _BY_NAME),
    ]
    user_site = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    folders = [*program_folders, sys.prefix, *user_site, cachedir.cache_dir(), cachedir.state_dir()]
    imports = map(
        os.path.realpath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    )
    early = [f"{folder}/{name}{end}" for folder in imports for name in _EARLY for end in _ENDS]
    loaded = [
        word
        for variable, value in os.environ.items()
        if re.fullmatch(_VARIABLES, variable)
        for word in _words(value)
        if "/" in word or re.fullmatch(_OF_PATHS, variable)
    ]
    return below(root, [*folders, *early, *map(os.path.expanduser, loaded)])


def below(root: str, paths: Iterable[str]) -> list[str]:
    """Those of some folders that lie in the workspace, by their paths in it."""
    root = os.path.realpath(root)
    real = [os.path.realpath(path) for path in paths]
    return [os.path.relpath(path, root) for path in real if path.startswith(root + os.sep)]
