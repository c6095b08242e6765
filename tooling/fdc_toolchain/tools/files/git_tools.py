"""`git_add` and `git_commit`: change git's records without starting the programs that git may start.

A command cannot write `.git` (`sandbox.views`). These two write it, in the same sandbox, with nothing else writable, and by
git's plumbing: no hook, no filter, no signing program, no alias and no editor is run, whatever the settings of the
repository say. The author is who git says that the user is.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from ...engine.events import Outcome
from ...linking.project.protected import folded_name, outside_path
from ...linking.project.quiet_git import OWN_NAMES, in_its_own, refuse_pipes, started_nothing
from ...workspace.failure import ToolFailure
from ...workspace.files import parts_of
from .. import intent_files
from ..context import Context, text, word
from . import git_index

_NOTHING = "0" * 40
_LITERAL = ("--literal-pathspecs",)


def add(args: Mapping[str, object], context: Context) -> object:
    """`git_add`: the next commit has the file as it is now, or does not have it, if it is gone. Raises ToolFailure for one that
    git would send through a program, and for one that holds secrets and that the plans do not name (`allow read`)."""
    parts = parts_of(word(args, "path"))
    path = "/".join(parts)
    if any(folded_name(part) in (".git", ".fdc") for part in parts):
        raise ToolFailure("protected", f"`{path}` is not a file that belongs to the workspace")
    if wrong := context.root.withheld(path):
        raise ToolFailure("protected", wrong)
    if len(parts) > 2 and parts[0] == "runs" and parts[2] == "outside":
        raise ToolFailure("git", f"`{path}` is for text from outside, which git must not use")
    gone = not os.path.lexists(os.path.join(context.root.path, path))
    if not gone and context.root.kind(path) != "file":
        raise ToolFailure("missing", f"`{path}` is not a file")
    own = _repository(context)
    if gone and not _knows(path, _git(context, *_LITERAL, "ls-files", "-s", "-z", "--", path)):
        head = _head(context)
        if head != _NOTHING and _knows(
            path, _git(context, *_LITERAL, "ls-tree", "-z", head, "--", path)
        ):
            return {"path": path}  # it was added before: the next commit does not have it
        raise ToolFailure("missing", f"`{path}` is not a file, and git does not know it as one")
    folder = os.path.dirname(path)
    while folder:
        if os.path.lexists(os.path.join(context.root.path, folder, ".git")):
            raise ToolFailure(
                "git", f"`{path}` belongs to the repository in `{folder}`, not to this one"
            )
        folder = os.path.dirname(folder)
    told = _git(context, "check-attr", "-z", "filter", "--", path, looks=path).split("\0")
    if len(told) > 2 and told[2] not in ("unspecified", "unset"):
        raise ToolFailure(
            "git",
            f"`{path}` goes through the filter `{told[2]}`, which is a program; `git add` it by hand",
        )
    # Writing the index, git compares what was added a moment ago with it once more, through its attributes.
    own_names = _own_names(context)
    with git_index.changed(own, context.key) as index:
        _git(context, *_LITERAL, "add", "--", path, own_names=own_names, index=index, looks="")
    return {"path": path}


def _knows(path: str, listed: str) -> bool:
    """Whether what git lists at a path is that one file or link: no folder, no other repository, no conflict."""
    return re.fullmatch(rf"1[02]0\d+ [^\t\0]*(?<! [123])\t{re.escape(path)}\0", listed) is not None


def commit(args: Mapping[str, object], context: Context) -> object:
    """`git_commit`: commits the added files on the current branch."""
    message = text(args, "message").strip()
    if not message or "\0" in message:
        raise ToolFailure(
            "argument" if not message else "input",
            "the commit needs a message" if not message else "the message contains a NUL byte",
        )
    own = _repository(context)
    if os.path.exists(os.path.join(own, "MERGE_HEAD")):
        raise ToolFailure("git", "a merge is in progress; complete it by hand")
    who = _author(context)
    old = _head(context)
    own_names = _own_names(context)
    # As above, through its filter.
    with git_index.copied(own, context.key) as index:
        tree = _git(context, "write-tree", own_names=own_names, index=index, looks="").strip()
    if (
        _git(context, "rev-parse", f"{old}^{{tree}}").strip() == tree
        if old != _NOTHING
        else not _git(context, "ls-files", own_names=own_names).strip()
    ):
        raise ToolFailure(
            "git",
            "no file was added since the last commit: a step `git_add FILE` comes before `git_commit`",
        )
    parents = () if old == _NOTHING else ("-p", old)
    new = _git(context, "commit-tree", tree, *parents, "-m", message, environment=who).strip()
    result = {"commit": new, "message": message}
    intent_files.write(context.run_folder, context.key, {"old": old, "new": new, "result": result})
    subject = message.splitlines()[0]
    _git(
        context, "update-ref", "-m", f"commit: {subject}", "HEAD", new, old, own_names=own_names, environment=who
    )  # fmt: skip
    return result


def probe_commit(args: Mapping[str, object], context: Context) -> object:
    """Whether an announced commit was made: the branch contains it, or is unchanged."""
    mark = intent_files.read(context.run_folder, context.key)
    if mark is None:
        return "not-done"  # the mark comes before the branch moves
    now = _head(context)
    if now == mark["new"]:
        return Outcome(mark["result"])
    return "not-done" if now == mark["old"] else "unknown"


def _repository(context: Context) -> str:
    own = os.path.join(context.root.path, ".git")
    if os.path.islink(own) or os.path.isfile(own):
        raise ToolFailure(
            "git",
            "the records of git are not in the workspace (its `.git` leads elsewhere, as in a worktree or a submodule), "
            "and no step writes there; `git add` and `git commit` by hand",
        )
    if not os.path.isdir(own):
        raise ToolFailure("git", "the workspace is not the top of a git repository")
    if os.path.lexists(os.path.join(own, "objects/info/alternates")):
        raise ToolFailure(
            "git",
            "objects of the repository are not in the workspace (`.git/objects/info/alternates` names another, as in a shared "
            "clone), and no step reads there; `git add` and `git commit` by hand",
        )
    return own


def _own_names(context: Context) -> list[str]:
    """The settings of the repository that enable a filter or a hook; git fails if there are none."""
    try:
        return [name for name in _git(context, *OWN_NAMES).split("\0") if name]
    except ToolFailure as failure:
        if failure.kind == "git":
            return []
        raise


def _head(context: Context) -> str:
    """The commit that is checked out; zeros where there is none yet."""
    try:
        return _git(context, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
    except ToolFailure as failure:
        if failure.kind == "git":
            return _NOTHING
        raise


def _git(
    context: Context,
    *arguments: str,
    own_names: Sequence[str] = (),
    environment: dict[str, str] | None = None,
    index: str | None = None,
    looks: str | None = None,
) -> str:
    """What a git command says that can write `.git` and nothing else. Raises ToolFailure (`git`) where it fails.

    `own_names`: the filters and hooks that are turned off besides (`_own_names`). `index`: the copy of the index that it uses.
    `looks`: the file at which it looks, empty for any files.
    """
    from .. import shell

    root = context.root.path
    inside = {
        "GIT_DIR": os.path.join(root, ".git"), "GIT_WORK_TREE": root, "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C", **started_nothing(own_names, {}), **(environment or {}), **({"GIT_INDEX_FILE": index} if index else {}),
    }  # fmt: skip
    done = shell.run_git(
        ["-c", f"core.attributesFile={os.devnull}", *arguments], context, inside, looks
    )
    said = done.output.decode("utf-8", "replace")
    if done.exit_code != 0:
        if (lock := re.search(r"'([^']*\.lock)': File exists", said)) is not None:
            raise git_index.lock_exists(os.path.relpath(lock[1], root))
        lines = [
            line for line in said.splitlines() if line.strip() and not line.startswith("hint:")
        ]
        last = lines[-1] if lines else f"exit code {done.exit_code}"
        if len(lines) > 1 and lines[-2].endswith(":"):  # it speaks of the file below
            last = f"{lines[-2]} {last.strip()}"
        named = next(word for word in arguments if not word.startswith("-"))
        raise ToolFailure(
            "git",
            f"git {named}: {last.removeprefix('fatal: ').removeprefix('error: ')[:300]}",
        )
    return said


def _author(context: Context) -> dict[str, str]:
    """Who makes the commit, by git's settings of the user and of the repository. Raises ToolFailure where they do not say."""
    found = []
    for name in ("user.name", "user.email"):
        try:
            refuse_pipes(context.root.path)
            done = subprocess.run(
                ["git", "config", "--get", name], cwd=context.root.path, capture_output=True, text=True, timeout=60, check=False,
                stdin=subprocess.DEVNULL, env={**in_its_own(os.environ), "PATH": outside_path()},
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as failed:
            why = getattr(failed, "strerror", None) or failed
            raise ToolFailure("git", f"git failed to return your name: {why}") from failed
        found.append(done.stdout.strip())
    if not all(found):
        raise ToolFailure(
            "git",
            "git has no user name: run `git config --global user.name NAME`, and user.email",
        )
    return {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in zip(("NAME", "EMAIL"), found)
    }
