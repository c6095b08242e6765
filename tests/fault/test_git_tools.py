"""`git_add` and `git_commit` (finding C4): what they record, and that nothing of the repository's own is started by them."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from fdc_toolchain.doctor import machine
from fdc_toolchain.linking.project.protected import outside_path, own_environment
from fdc_toolchain.linking.project.quiet_git import ask_git, refuse_pipes
from fdc_toolchain.runs.records import identity
from fdc_toolchain.sandbox import attempts, sandbox
from fdc_toolchain.tools import context as context_room
from fdc_toolchain.tools import intent_files, shell
from fdc_toolchain.tools.files import file_tools, git_tools
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root

from tests.fault.test_sandbox import only


@pytest.fixture(params=[("bubblewrap", None), ("landlock", True), ("landlock", False)], ids=str)
def context(request, monkeypatch, tmp_path):
    """A step in a repository with one commit, whose user has a name; its tier."""
    tier, mounts = request.param
    if not sandbox.offered(tier):
        pytest.skip(f"{tier}: {sandbox.reason(tier)}")
    if mounts is not None:
        if mounts and not sandbox.mounting():
            pytest.skip("no mounts can be made here")
        monkeypatch.setattr(sandbox, "mounting", lambda: mounts)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n")
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_CONFIG"))]:
        monkeypatch.delenv(name)
    folder = tmp_path / "workspace"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", "a.txt")
    git(folder, "commit", "-q", "-m", "first")
    root = Root(str(folder))
    yield context_room.Context(
        root=root, key="run:main/1", run="run", run_folder=str(folder / ".fdc/runs/run"), say=print, ask=str, bound=True,
        cancelled=context_room.Leaving(), shell_seconds=240.0, tool={}, operator=only(tier),
    )  # fmt: skip
    root.close()


def git(folder, *arguments):
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_first_commit_without_files_is_refused(context, tmp_path):
    git(Path(context.root.path), "update-ref", "-d", "HEAD")
    git(Path(context.root.path), "rm", "-q", "--cached", "a.txt")
    with pytest.raises(ToolFailure, match="a step `git_add FILE` comes before"):
        git_tools.commit({"message": "x"}, context)


def test_a_file_that_is_gone_leaves_the_next_commit(context):
    """A file that was deleted or renamed; the step can be repeated, as after a crash."""
    folder = Path(context.root.path)
    (folder / "a.txt").rename(folder / "b.txt")
    for path in ("b.txt", "a.txt", "a.txt"):
        assert {"path": path} == git_tools.add({"path": path}, context)
    git_tools.commit({"message": "renamed"}, context)
    assert "b.txt" == git(folder, "ls-tree", "-r", "--name-only", "HEAD")
    assert "" == git(folder, "status", "--short", "--untracked-files=no")
    (folder / "sub").mkdir()
    (folder / "sub/c.txt").touch()
    git_tools.add({"path": "sub/c.txt"}, context)
    shutil.rmtree(folder / "sub")
    for path in ("a.txt", "[ab].txt", "none/c.txt", "sub"):  # no file that git has
        with pytest.raises(ToolFailure, match="is not a file, and git does not know it as one"):
            git_tools.add({"path": path}, context)


def test_what_was_added_is_committed_by_the_user_and_nothing_is_started(context, tmp_path):
    folder = Path(context.root.path)
    touched = tmp_path / "workspace/started"
    hook = folder / ".git/hooks/pre-commit"
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "prepare-commit-msg",
    ):
        hook = folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {touched} .git/started\n")
        hook.chmod(0o755)
    program = folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {touched} .git/started\ncat\n")
    program.chmod(0o755)
    for name, value in (("commit.gpgsign", "true"), ("gpg.program", str(program)), ("core.fsmonitor", str(program)),
                        ("alias.commit-tree", f"!{program}"), ("alias.add", f"!{program}"), ("core.editor", str(program)),
                        ("filter.f.clean", str(program)), ("filter.f.required", "true"),
                        ("filter.unset.clean", str(program)), ("filter.unspecified.process", str(program)),
                        ("filter.unspecified.required", "true"), ("hook.h.command", str(program)),
                        ("hook.h.event", "reference-transaction")):  # fmt: skip
        git(folder, "config", name, value)
    (folder / ".gitattributes").write_text("a.txt filter=unset\nc*.txt filter=unspecified\n")
    (folder / "a.txt").write_text("b\n")
    (folder / "c*.txt").write_text("star\n")
    (folder / "cx.txt").write_text("not added\n")
    assert git_tools.add({"path": "a.txt"}, context) == {"path": "a.txt"}
    assert git_tools.add({"path": "./c*.txt"}, context) == {"path": "c*.txt"}
    made = git_tools.commit({"message": "second: `$(touch x)`\n\nmore"}, context)
    assert not touched.exists() and not (folder / ".git/started").exists()
    git(folder, "config", "--unset", "core.fsmonitor")
    assert git(folder, "log", "-1", "--format=%H %an %ae %cn %P") == (
        f"{made['commit']} Ada Lovelace ada@example.org Ada Lovelace {git(folder, 'rev-parse', 'main~1')}"
    )
    assert git(folder, "log", "-1", "--format=%B") == "second: `$(touch x)`\n\nmore"
    assert git(folder, "show", "--format=", "--name-only").splitlines() == ["a.txt", "c*.txt"]
    with pytest.raises(ToolFailure, match="no file was added"):
        git_tools.commit({"message": "third"}, context)


def test_a_program_of_the_workspaces_own_environment_is_started_by_commands_only(
    context, tmp_path, monkeypatch
):
    """A command may write `.venv/bin`, which is on the PATH of whoever works in it."""
    folder, own = Path(context.root.path), Path(context.root.path, ".venv/bin")
    own.mkdir(parents=True)
    (own.parent / "pyvenv.cfg").touch()
    (own / "python").symlink_to("/usr/bin/python3")
    monkeypatch.setenv("PATH", f"{own}:.:{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    assert own_environment(str(own)) and str(own) not in outside_path().split(":")
    for name in ("git", "bwrap", "true", "cat"):
        for path in (own / name, folder / name):
            path.write_text(
                f"#!/bin/sh\necho {name} >> {tmp_path}/started\necho {name} >> .git/started\nexit 1\n"
            )
            path.chmod(0o755)
    attempts.look_again()
    assert sandbox.offered(context.operator.tiers[0])
    (folder / "a.txt").write_text("b\n")
    git_tools.add({"path": "a.txt"}, context)
    git_tools.commit({"message": "second"}, context)
    assert (
        identity.commit(str(folder)) is not None and ask_git(str(folder), "status").returncode == 0
    )
    assert machine._git(str(folder)).grade == "ok"
    said = shell.run_in_bash_session({"command": "echo hello; command -v git"}, context)
    assert f"hello\n{own}/git\n" == said.value["output"]
    shutil.copy(own / "cat", own / "bash")
    said = shell.run_in_bash_session({"command": "cat a.txt"}, context)
    assert "b\n" == said.value["output"]  # text from outside may have written these programs
    assert not (tmp_path / "started").exists() and not (folder / ".git/started").exists()


@pytest.mark.parametrize("more", ["", pytest.param(".", marks=pytest.mark.long), "/nonexistent"])
def test_no_git_of_the_workspace_is_started_where_path_has_no_other(context, monkeypatch, more):
    folder, own = Path(context.root.path), Path(context.root.path, ".venv/bin")
    own.mkdir(parents=True)
    (own.parent / "pyvenv.cfg").touch()
    (own / "python").symlink_to("/usr/bin/python3")
    (folder / "a.txt").write_text("b\n")
    for path in (own / "git", folder / "git"):
        path.write_text("#!/bin/sh\necho mine > .git/started\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{own}:{more}")
    monkeypatch.chdir(folder)
    try:
        git_tools.add({"path": "a.txt"}, context)
        git_tools.commit({"message": "second"}, context)
    except ToolFailure as failure:
        assert more == "/nonexistent" and "git is not installed" in str(failure)
    assert not (folder / ".git/started").exists()


def test_a_file_that_goes_through_a_program_is_refused(context):
    folder = Path(context.root.path)
    (folder / ".gitattributes").write_text("*.bin filter=lfs\n")
    (folder / "x.bin").write_text("x")
    with pytest.raises(ToolFailure, match="the filter `lfs`"):
        git_tools.add({"path": "x.bin"}, context)


def test_a_worktree_is_refused_in_words_that_say_why(context, tmp_path):
    folder = Path(context.root.path)
    git(folder, "worktree", "add", "-q", str(tmp_path / "tree"))
    with pytest.raises(ToolFailure, match="as in a worktree or a submodule"):
        git_tools.add({"path": "a.txt"}, replace(context, root=Root(str(tmp_path / "tree"))))


def test_a_clone_that_shares_the_objects_of_another_is_refused_in_words_that_say_why(context):
    folder = Path(context.root.path)
    git(folder.parent, "clone", "-q", "--shared", "workspace", "other")
    with pytest.raises(ToolFailure, match=r"`.git/objects/info/alternates` names another"):
        git_tools.commit(
            {"message": "x"}, replace(context, root=Root(str(folder.parent / "other")))
        )


def test_what_a_partial_clone_lacks_is_not_fetched_by_a_program_of_its_settings(context):
    folder = Path(context.root.path)
    program = folder / "upload"
    program.write_text(
        f'#!/bin/sh\necho ran | tee {folder}/.git/ran {folder}/a.txt\nexec git-upload-pack "$@"\n'
    )
    program.chmod(0o755)
    lost = git(folder, "rev-parse", "HEAD:a.txt")
    (folder / f".git/objects/{lost[:2]}/{lost[2:]}").unlink()
    for name, value in {
        "core.repositoryformatversion": "1", "extensions.partialClone": "origin", "remote.origin.url": str(folder),
        "remote.origin.promisor": "true", "remote.origin.partialclonefilter": "blob:none",
        "remote.origin.uploadpack": str(program),
    }.items():  # fmt: skip
        git(folder, "config", name, value)
    (folder / "a.txt").write_text("b\n")
    with pytest.raises(ToolFailure, match="cannot be restored"):
        file_tools.restore({"path": "a.txt"}, context)
    assert not (folder / ".git/ran").exists()
    assert (folder / "a.txt").read_text() == "b\n"


@pytest.mark.parametrize("path", ["missing", "../a.txt", ".git/config", "folder"])
def test_only_files_of_the_workspace_are_added(context, path):
    Path(context.root.path, "folder").mkdir()
    with pytest.raises(ToolFailure):
        git_tools.add({"path": path}, context)


def test_after_a_crash_a_commit_is_made_once(context):
    """The commit is known before the branch moves, so what it was can be looked up."""
    folder = Path(context.root.path)
    assert git_tools.probe_commit({}, context) == "not-done"
    (folder / "a.txt").write_text("b\n")
    git_tools.add({"path": "a.txt"}, context)
    before = git(folder, "rev-parse", "main")
    made = git_tools.commit({"message": "second"}, context)
    assert git_tools.probe_commit({}, context).value == made
    git(folder, "update-ref", "refs/heads/main", before)
    assert git_tools.probe_commit({}, context) == "not-done"
    git(folder, "commit", "-q", "--allow-empty", "-m", "somebody else's")
    assert git_tools.probe_commit({}, context) == "unknown"
    assert intent_files.read(context.run_folder, context.key)["new"] == made["commit"]


def test_the_first_commit_of_a_repository(context):
    folder = Path(context.root.path)
    git(folder, "checkout", "-q", "--orphan", "fresh")
    made = git_tools.commit({"message": "one"}, context)
    assert git(folder, "rev-list", "fresh") == made["commit"]


def test_without_a_name_or_a_repository_it_says_so(context, tmp_path):
    (tmp_path / "home/.gitconfig").write_text("")
    with pytest.raises(ToolFailure, match="git has no user name"):
        git_tools.commit({"message": "x"}, context)
    os.rename(Path(context.root.path, ".git"), tmp_path / "elsewhere")
    with pytest.raises(ToolFailure, match="not the top of a git repository"):
        git_tools.add({"path": "a.txt"}, context)


@pytest.mark.parametrize("path", [".env", "sub/server.pem", ".aws/credentials"])
def test_what_holds_secrets_goes_into_a_commit_where_the_plans_name_it_only(context, path):
    folder = Path(context.root.path)
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text("KEY=hidden-in-it\n")
    for globs in ((), ("**",)):
        allowed = replace(
            context,
            root=context.root.granted(tuple({"read": (((False, glob),),)} for glob in globs)),
        )
        with pytest.raises(
            ToolFailure, match="a plan that reads it must have `allow read"
        ) as refused:
            git_tools.add({"path": path}, allowed)
        assert (
            refused.value.kind == "protected"
            and git(folder, "status", "--short", "--untracked-files=no") == ""
        )
    named = replace(context, root=context.root.granted(({"read": (((False, path),),)},)))
    assert git_tools.add({"path": path}, named) == {"path": path}
    assert git(folder, "diff", "--cached", "--name-only") == path


def test_a_file_that_git_ignores_is_refused_in_words_that_say_so(context):
    Path(context.root.path, ".gitignore").write_text("*.log\n")
    Path(context.root.path, "a.log").write_text("x")
    with pytest.raises(ToolFailure, match=r"git add: .*are ignored by .*: a\.log"):
        git_tools.add({"path": "a.log"}, context)


def test_a_file_of_a_repository_within_is_refused(context):
    inner = Path(context.root.path, "sub")
    (inner / "deep").mkdir(parents=True)
    git(inner, "init", "-q", ".")
    (inner / "deep/x.md").write_text("x")
    with pytest.raises(ToolFailure, match="belongs to the repository in `sub`"):
        git_tools.add({"path": "sub/deep/x.md"}, context)


@pytest.mark.parametrize(
    "name", ["config", "HEAD", "index", "packed-refs", "info/exclude", "refs/heads/main", "logs/HEAD", "../.gitattributes"]
)  # fmt: skip
@pytest.mark.parametrize("kind", ["pipe", "device", "included"])
def test_a_pipe_where_git_reads_is_refused_and_not_waited_for(context, name, kind):
    folder = Path(context.root.path)
    place = folder / ".git" / name
    place.parent.mkdir(exist_ok=True, parents=True)
    if kind == "included":
        place = folder / "more" / Path(name).name
        place.parent.mkdir()
        git(folder, "config", "include.path", str(place))
    place.unlink(missing_ok=True)
    if kind == "device":
        place.symlink_to("/dev/zero")
    else:
        os.mkfifo(place)
    shown = os.path.relpath(place, folder)
    for tool, args in (
        (git_tools.add, {"path": "a.txt"}),
        (git_tools.commit, {"message": "x"}),
        (file_tools.restore, {"path": "a.txt"}),
    ):
        with pytest.raises(ToolFailure, match=f"`{re.escape(shown)}` is not a regular file"):
            tool(args, replace(context, shell_seconds=5.0))


def test_a_repository_of_many_refs_costs_no_look_at_each(context, monkeypatch):
    """What a listing tells of a file is enough: 20,000 refs with their logs took a third of a second at each git command."""
    looked, real = [], os.stat

    def counted(path, *args, **named):
        looked.append(path)
        return real(path, *args, **named)

    folder = Path(context.root.path, ".git")
    for name in (f"{top}/heads/deep/{number}" for top in ("refs", "logs") for number in range(300)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("0" * 40)
    monkeypatch.setattr(os, "stat", counted)
    refuse_pipes(context.root.path)
    assert len(looked) < 100
    os.mkfifo(folder / "logs/heads/deep/pipe")
    with pytest.raises(OSError, match=r"`\.git/logs/heads/deep/pipe` is not a regular file"):
        refuse_pipes(context.root.path)


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore"])
def test_a_pipe_in_a_folder_where_git_looks_is_refused_too(context, name):
    """git reads both in every folder in which it looks at a file, and it looks at all that was added a moment ago."""
    folder = Path(context.root.path)
    for path in ("sub/deep/b.txt", "other/c.txt"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text("x")
    pipe = folder / "sub" / name
    refusal = re.escape(f"`sub/{name}` is not a regular file")
    soon = replace(context, shell_seconds=5.0)
    git_tools.add({"path": "sub/deep/b.txt"}, context)
    os.mkfifo(pipe)
    for path in ("sub/deep/b.txt", "other/c.txt"):
        with pytest.raises(ToolFailure, match=refusal):
            git_tools.add({"path": path}, soon)
    with pytest.raises(ToolFailure, match=refusal):
        git_tools.commit({"message": "x"}, soon)
    pipe.unlink()
    assert git_tools.commit({"message": "x"}, context)["message"] == "x"
