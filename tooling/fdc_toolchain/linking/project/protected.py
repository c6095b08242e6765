"""Files that no step may write unless a plan allows it by name: what fdc and agents obey, and what runs automatically.

One list, for the linter's rule about files, the file tools and the sandbox of commands. Paths are relative to the
workspace and written with `/`. A path is judged by its names, whether it exists or not.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence

from ...named_tuples import NamedTuple
from ...text.glob_match import matches


class Protected(NamedTuple):
    """Why a path is protected. `entry`: the part of the path that the list names (`sub/.git` of `sub/.git/config`);
    `what`: what it is, as the end of a sentence. `never`: no `allow write` opens it."""

    entry: str
    what: str
    never: bool


_FDC = "holds settings of fdc"
_BELOW = "makes a folder a workspace of fdc, with settings of its own"
_GIT = "belongs to git, which runs its hooks and obeys its settings"
_BARE = "makes a folder a repository of git, whose settings and hooks are obeyed in it"
_HISTORY = "holds the history of the workspace, whose hooks and settings are obeyed"
_AGENTS = "is obeyed by agents"
_EDITOR = "is obeyed by an editor, which may run what it says"
_SHELL = "is run when somebody enters the folder"
_HOME = "is obeyed in a home folder, by shells, ssh or git"
_CI = "is run by the CI"
_COMMIT = "is run at commits"
_RECORD = "is a record that fdc relies on"
_VSCODE = ".code-workspace"
_OURS = "is protected in this workspace (by its settings, its plans, its PATH, a link or git's settings)"

ANYWHERE: dict[str, tuple[str, bool]] = {
    ".git": (_GIT, True),
    ".fdc": ("belongs to fdc, which keeps its records there", True),
    ".gitattributes": (_GIT, False),
    **dict.fromkeys(("fdc.toml", "fdc_tools.json", "fdc_tools.lock.json"), (_BELOW, False)),
    **dict.fromkeys((".hg", ".svn", ".jj", ".bzr"), (_HISTORY, False)),
    **dict.fromkeys(
        (
            ".envrc", ".autoenv", ".autoenv.leave", ".autoenv.zsh", ".autoenv_leave.zsh", ".mise.toml", "mise.toml",
            ".mise.local.toml", "mise.local.toml", ".mise", ".direnv", ".rvmrc", "flake.nix", "flake.lock", "shell.nix",
            "devenv.nix", "devenv.yaml",
        ),
        (_SHELL, False),
    ),
    **dict.fromkeys(
        (
            ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshenv", ".zshrc",
            ".zprofile", ".zlogin", ".zlogout", ".xprofile", ".xsessionrc", ".xinitrc", ".pam_environment", ".ssh", ".gitconfig",
        ),
        (_HOME, False),
    ),
    **dict.fromkeys(
        (
            ".vscode", ".idea", ".fleet", ".zed", ".nvim.lua", ".exrc", ".nvimrc", ".vimrc", "_vimrc", ".gvimrc", ".lvimrc",
            ".dir-locals.el", ".dir-locals-2.el", ".helix", ".idx", ".theia",
        ),
        (_EDITOR, False),
    ),
    **dict.fromkeys(
        (
            "agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", ".claude", ".cursor", ".codex",
            ".gemini", ".windsurf", ".continue", ".roo", ".clinerules", ".cursorrules", ".windsurfrules",
            ".aider.conf.yml", ".mcp.json", ".opencode", ".amazonq", ".kiro", ".junie", ".goosehints", ".agents",
            ".rules", ".kilocode", ".augment", ".augment-guidelines", ".cline", ".trae", ".qwen", "qwen.md", ".crush", "crush.md",
            "warp.md", ".factory", "agent.md", ".amp", ".openhands", ".openhands_instructions", ".ruler", ".claude-plugin",
            ".codeium", ".devin", ".antigravity", ".pr_agent.toml", ".coderabbit.yaml", ".coderabbit.yml",
            "opencode.json", "opencode.jsonc", "crush.json", ".crush.json", ".zencoder", ".qodo", ".goose", ".specify",
        ),
        (_AGENTS, False),
    ),
}  # fmt: skip
"""Names that are protected in every folder, with all that is below them: name, folded, to (what it is, never)."""

TOP: dict[str, tuple[str, bool]] = {
    "fdc.toml": (_FDC, True),
    "fdc_tools.json": (_FDC, True),
    "fdc_tools.lock.json": (_FDC, True),
    "packs": ("holds packs, whose tools and commands fdc offers", False),
    "protocols": (_AGENTS, False),
    "knowledge_core/plan_registry.json": (_RECORD, False),
    "knowledge_core/lessons.jsonl": (_RECORD, False),
    "knowledge_core/agent_meta.json": (_RECORD, False),
    "logs/activity.log.jsonl": (_RECORD, False),
    "tooling/fdc_fsm.json": ("is an automaton that plans are proved against", False),
    **dict.fromkeys((".gitmodules", ".lfsconfig"), (_GIT, False)),
    **dict.fromkeys((".config/mise", ".config/mise.toml"), (_SHELL, False)),
    **{
        f".config/{name}": (_HOME, False)
        for name in ("autostart", "environment.d", "fish", "git", "systemd")
    },
    **dict.fromkeys(
        (
            ".pre-commit-config.yaml", "prek.toml", ".overcommit.yml", ".husky", ".huskyrc", ".githooks", ".git-hooks",
            ".lefthook", ".lintstagedrc",
        ),
        (_COMMIT, False),
    ),
    **{
        f"{name}.{ending}": (_COMMIT, False)
        for name in (".lintstagedrc", "lint-staged.config", ".simple-git-hooks", "simple-git-hooks")
        for ending in ("json", "yaml", "yml", "js", "cjs", "mjs", "ts")
    },
    **{
        f"{dot}lefthook{local}.{ending}": (_COMMIT, False)
        for dot in ("", ".") for local in ("", "-local") for ending in ("yml", "yaml", "toml", "json")
    },
    **dict.fromkeys(
        (
            ".github", ".gitlab", ".gitlab-ci.yml", ".forgejo", ".gitea", ".circleci", ".travis.yml", ".buildkite", ".woodpecker",
            ".woodpecker.yml", ".woodpecker.yaml", ".drone.yml", ".cirrus.yml", ".cirrus.star", ".appveyor.yml", "appveyor.yml",
            ".teamcity", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".semaphore", ".builds", ".build.yml",
            "azure-pipelines.yaml", ".azure-pipelines", "buildspec.yml", "cloudbuild.yaml", ".tekton", ".zuul.yaml", ".zuul.d",
            "zuul.yaml", "zuul.d", ".readthedocs.yaml", ".readthedocs.yml", "netlify.toml", "vercel.json", ".mergify.yml",
            "renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json", ".pipelines",
        ),
        (_CI, False),
    ),
    ".devcontainer": (_EDITOR, False),
    ".devcontainer.json": (_EDITOR, False),
    ".gitpod.yml": (_EDITOR, False),
    ".replit": (_EDITOR, False),
}  # fmt: skip
"""Paths that are protected from the workspace's top, with all that is below them: path, folded, to (what it is, never)."""

WITHIN: dict[str, str] = dict.fromkeys(
    (
        ".github/copilot-instructions.md", ".github/instructions", ".github/prompts", ".github/chatmodes", ".github/agents",
        ".github/skills", ".github/hooks", ".gitlab/duo", ".vscode/mcp.json",
    ),
    _AGENTS,
)  # fmt: skip
"""What others than the rest of a protected folder obey: path from the folder, folded, to what it is."""

_RUN_BY_OTHERS = frozenset((_EDITOR, _SHELL, _HOME, _CI, _COMMIT))


def obeyed(protection: Protected) -> bool:
    """Whether fdc, git or agents obey it, or the workspace says so; False for what only an editor, a shell or the CI runs."""
    return protection.what not in _RUN_BY_OTHERS


RECORDS = re.compile(r"(?:^|/)\.fdc(?:/|$)", re.IGNORECASE)
"""Names fdc's own records in a path, which may hold text from outside: a step reads them only where its own text says so."""

SETTINGS = tuple(path for path, (_, never) in TOP.items() if never)
"""Files that decide what fdc lets plans do, beside the [tool.fdc] of a pyproject.toml; no step may change them."""


def protected(
    path: str, settings: Iterable[str] = (), more: Iterable[str] = ()
) -> Protected | None:
    """Why nothing may write the file or folder at `path`, or None.

    `settings`: more paths of fdc's own settings, such as its catalogues of tools. `more`: globs of a workspace's own
    (`protect` in its settings). A name counts in every spelling that a file system may take for the same one.
    """
    return Protection(settings, more).of(path)


class Protection:
    """The list, with the additions of `protected`. Answers are cached by entry, because many paths share folders."""

    def __init__(self, settings: Iterable[str], more: Iterable[str]) -> None:
        globs = {folded_path(glob) for glob in more}
        self._ours = {folded_path(path) for path in settings}
        self._plain = {glob for glob in globs if "*" not in glob and "?" not in glob}
        self._globs = [glob for glob in globs if glob not in self._plain]
        self._known: dict[str, tuple[Protected | None, str]] = {}
        self._names = {
            one.rpartition("/")[2] for one in (*TOP, *ANYWHERE, *self._ours, *self._plain, "head")
        }

    def may_name(self, name: str) -> bool:
        """False for a name that no entry of the list has; quick, for walks over all files."""
        folded = folded_name(name)
        return bool(self._globs) or folded in self._names or folded.endswith(_VSCODE)

    def of(self, path: str) -> Protected | None:
        """Why nothing may write the file or folder at `path`, or None."""
        entry = same = ""
        for name in path.split("/"):
            if name in ("", "."):
                continue
            longer = f"{entry}/{name}" if entry else name
            known = self._known.get(longer)
            if known is None:
                folded = folded_name(name)
                same = f"{same}/{folded}" if entry else folded
                known = self._known[longer] = self._alone(longer, same, folded), same
            protection, same = known
            if protection is not None:
                return protection._replace(what=_within(path, longer) or protection.what)
            entry = longer
        return Protected(entry, _BARE, False) if _is_head(entry.rpartition("/")[2]) else None

    def lists(self, path: str, is_folder: bool) -> bool:
        """Whether the list names an entry of a folder in which nothing above it is protected, in a walk over all files."""
        if not self.may_name(path.rpartition("/")[2]):
            return False
        found = self.of(path)
        return found is not None and not (is_folder and found.what == _BARE)

    def _alone(self, entry: str, same: str, folded: str) -> Protected | None:
        """Why an entry is protected itself; `same`: the entry with its names folded, of which `folded` is the last."""
        if same in self._ours:
            return Protected(entry, _FDC, True)
        row = TOP.get(same) or ANYWHERE.get(".vscode" if folded.endswith(_VSCODE) else folded)
        if row is not None:
            return Protected(entry, *row)
        if same in self._plain or any(matches(same, glob) for glob in self._globs):
            return Protected(entry, _OURS, False)
        return None


def _within(path: str, entry: str) -> str:
    """What a path below a protected entry is, where that differs from what the entry is; else an empty text."""
    names = [folded_name(name) for name in path.split("/") if name not in ("", ".")]
    names = names[entry.count("/") :]
    known = (WITHIN.get("/".join(names[:end])) for end in range(2, len(names) + 1))
    return next((what for what in known if what), "")


def _is_head(name: str) -> bool:
    """True for the file by which git knows a repository without a `.git`; where names have a case, `head` is another one."""
    return folded_name(name) == "head" and (
        name != "head" or sys.platform in ("darwin", "win32", "cygwin")
    )


def own_environment(folder: str) -> bool:
    """True for the programs of an environment that a workspace made for itself: `.venv/bin`, `node_modules/.bin`.

    Its own Python has to be there: `pyvenv.cfg` alone, beside a folder of the PATH, is what any command can write.
    """
    above = os.path.dirname(folder)
    if os.path.basename(above) == "node_modules":
        return True
    return os.path.exists(os.path.join(above, "pyvenv.cfg")) and os.path.lexists(
        os.path.join(folder, "python")
    )


def outside_path() -> str:
    """PATH for programs that fdc itself starts outside of the sandbox, or with `.git` to write: without folders in which a
    command may put a program (`own_environment`; the one that fdc runs in is protected), and without relative ones."""
    ours = os.path.realpath(os.path.join(sys.prefix, "bin"))

    def kept(folder: str) -> bool:
        real = os.path.realpath(folder)
        made = own_environment(folder) or own_environment(real)
        return os.path.isabs(folder) and (real == ours or not made)

    found = os.pathsep.join(filter(kept, os.environ.get("PATH", os.defpath).split(os.pathsep)))
    return found or os.defpath  # an empty one means the working folder


def packages(folder: str) -> bool:
    """True for what holds installed packages, which is not searched for protected and secret names: `node_modules`, and the
    `lib/python3.N/site-packages` of an environment. The rest of an environment is searched like any folder: a process that could
    call a folder an environment would open all that is in it."""
    above, name = os.path.split(folder)
    if name != "site-packages":
        return name == "node_modules"
    library, version = os.path.split(above)
    around, lib = os.path.split(library)
    return (
        version.startswith("python")
        and lib in ("lib", "lib64")
        and os.path.exists(os.path.join(around, "pyvenv.cfg"))
    )


def named(entry: str, glob: Sequence[tuple[bool, str]]) -> bool:
    """True where a glob of `allow write` names a protected entry itself, and does not only cover it with its wildcards.

    `glob` is in pieces, as a grant holds it; a piece with True is a value, which names nothing by itself.
    """
    known = ""
    for is_value, text in glob:
        cut = (
            0
            if is_value
            else next((at for at, character in enumerate(text) if character in "*?"), len(text))
        )
        known += text[:cut]
        if cut < len(text) or is_value:
            break
    ours, theirs = folded_path(known), folded_path(entry)
    return ours == theirs or ours.startswith(theirs + "/")


def opened(glob: str, settings: Iterable[str] = (), more: Iterable[str] = ()) -> Protected | None:
    """What a glob of `allow write`, as a plan writes it, opens by naming it; None for a glob that names nothing protected."""
    known = glob[: next((at for at, character in enumerate(glob) if character in "*?{"), len(glob))]
    protection = protected(known, settings, more)
    return (
        protection
        if protection is not None
        and not protection.never
        and named(protection.entry, [(False, glob)])
        else None
    )


def folded_path(path: str) -> str:
    """A path without `.` and empty parts, each name as `folded_name` has it."""
    return "/".join(folded_name(name) for name in path.split("/") if name not in ("", "."))


def folded_name(name: str) -> str:
    """A name as a file system that folds case, or hides characters, may see it."""
    if name.isascii():
        return name.lower()
    import unicodedata

    plain = unicodedata.normalize("NFKC", name)
    return "".join(c for c in plain if unicodedata.category(c) != "Cf").casefold()
