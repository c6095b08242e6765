"""What no command and no file tool writes unless a plan names it, and what becomes of it where one does (findings B1, B2, B9)."""

import contextlib
import os
import signal
import threading
from pathlib import Path

import pytest
from fdc_toolchain.console.progress import Lines
from fdc_toolchain.engine.events import Perform
from fdc_toolchain.linking.project.obeyed import Leads, of_environment
from fdc_toolchain.linking.project.protected import named, protected
from fdc_toolchain.linking.project.secret_files import secret
from fdc_toolchain.sandbox import programs, sandbox
from fdc_toolchain.tools import shell
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root

from tests.fault.test_sandbox import UPPER, only, run
from tests.support.background import wait_for
from tests.support.process import fdc, working_in


@pytest.fixture(params=[("bubblewrap", None), ("landlock", True), ("landlock", False)], ids=str)
def tier(request, monkeypatch):
    """A tier; Landlock also as where fdc may make no mounts, which is an ordinary user's."""
    name, mounts = request.param
    if not sandbox.offered(name):
        pytest.skip(f"{name}: {sandbox.reason(name)}")
    if mounts and not sandbox.mounting():
        pytest.skip("no mounts can be made here")
    if mounts is False:
        monkeypatch.setattr(sandbox, "mounting", lambda: False)
    return name


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    (folder / "src").mkdir(parents=True)
    opened = Root(str(folder))
    yield opened
    opened.close()


def grant(*globs):
    return {"write": tuple(((False, glob),) for glob in globs), "run": (((False, "*"),),)}


def refused(root):
    folder = Path(root.path, ".fdc/runs/run/refused")
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_no_command_makes_a_repository_of_the_workspace(root, tier):
    """B1: where `.git` does not exist, there is none afterwards, and there was none to be used meanwhile."""
    outcome = run(
        root, "mkdir .git; git init -q; echo x > .git/config; mv src .git; exit 0", only(tier)
    )
    assert outcome.failure is None, outcome
    assert sorted(os.listdir(root.path)) == ["src"]


def test_a_repository_below_is_taken_away_and_the_step_fails(root, tier):
    outcome = run(
        root,
        "git init -q src/lib && echo '[core]' > src/lib/.git/config; touch src/kept",
        only(tier),
    )
    assert outcome.failure is not None and outcome.failure.kind == "protected", outcome
    assert "`src/lib/.git`" in outcome.failure.message and outcome.notes["refused"] == [
        "src/lib/.git"
    ]
    assert not Path(root.path, "src/lib/.git").exists() and Path(root.path, "src/kept").exists()
    assert refused(root) == ["0-.git"]
    assert outcome.failure.message.endswith("; no plan can allow it")


def test_a_step_that_made_what_a_plan_may_open_says_which_line_does(root, tier):
    outcome = run(root, "mkdir src/.fdc; touch src/.envrc", only(tier))
    assert outcome.notes["refused"] == ["src/.envrc", "src/.fdc"]
    assert outcome.failure.message.endswith(
        "; a plan can allow it by name (`allow write src/.envrc`)"
    )


def test_a_list_of_endings_holds_for_commands_as_for_file_tools(root, tier):
    """A name that the list gives by its ending (`*.code-workspace`): an old file is kept, a new one and a link are taken away."""
    old = Path(root.path, "src/old.code-workspace")
    old.write_text("was\n")
    new = Path(root.path, "new")
    new.mkdir()
    made = "cd new; echo > a.code-workspace; ln -s b Link.Code-Workspace"
    outcome = run(root, f"echo is > {old}; rm -f {old}; {made}; exit 0", only(tier))
    assert old.read_text() == "was\n"
    assert outcome.failure is not None and outcome.failure.kind == "protected", outcome
    assert sorted(outcome.notes["refused"]) == ["new/Link.Code-Workspace", "new/a.code-workspace"]
    assert os.listdir(new) == []


def test_no_folder_opens_by_looking_like_an_environment(root, tier):
    """What a command can write makes no folder one that is not searched, neither for what is protected nor for secrets."""
    folder = Path(root.path, "src")
    for path, text in (
        ("CLAUDE.md", "rules"),
        ("deep/.env", "TOKEN=hunter2hunter2"),
        ("bin/x", ""),
    ):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    made = "mkdir -p lib/python3.11/site-packages node_modules; touch pyvenv.cfg bin/python bin/activate"
    assert run(root, f"cd src; {made}; exit 0", only(tier)).failure is None
    outcome = run(
        root,
        "cd src; echo evil > CLAUDE.md; cat deep/.env; echo evil > deep/AGENTS.md; exit 0",
        only(tier),
    )
    assert "rules" == (folder / "CLAUDE.md").read_text()
    assert not (folder / "deep/AGENTS.md").exists()
    assert "hunter2" not in str(outcome.value or outcome.failure)


def test_no_command_sees_the_records_of_fdc(root, tier):
    """What runs heard from outside stands in them, as in `runs/NAME/outside`."""
    for path in (".fdc/runs/other/messages.jsonl", "deep/.fdc/runs.sqlite"):
        Path(root.path, path).parent.mkdir(parents=True)
        Path(root.path, path).write_text("echo from outside\n")
    outcome = run(
        root,
        "cat .fdc/runs/other/messages.jsonl deep/.fdc/runs.sqlite; echo x > src/new; exit 0",
        only(tier),
    )
    assert outcome.failure is None and "from outside" not in outcome.value["output"], outcome
    assert Path(root.path, "src/new").exists()


def test_what_links_and_the_settings_of_git_lead_to_is_obeyed_too(root, tier):
    """`AGENTS.md` may be a link to another file, and git runs hooks where `core.hooksPath` says."""
    top = Path(root.path)
    (top / ".git").mkdir()
    (top / ".git/config").write_text(
        '[user]\n\tname = x\n[core] hooksPath = "tools/hooks" # ours\n[include]\n\tpath = ../git.inc\n'
    )
    (top / "src/rules.md").write_text("rules")
    (top / "tools/hooks").mkdir(parents=True)
    (top / "AGENTS.md").symlink_to("src/rules.md")
    found = tuple(Leads(root.path, whole=True).protect)
    assert {"src/rules.md", "tools/hooks", "git.inc"} <= set(found)
    held = Root(root.path, protect=found)
    run(
        held,
        "echo evil > src/rules.md; echo evil > tools/hooks/pre-commit; echo evil > git.inc; exit 0",
        only(tier),
    )
    assert "rules" == (top / "src/rules.md").read_text()
    assert not (top / "tools/hooks/pre-commit").exists() and not (top / "git.inc").exists()
    with pytest.raises(ToolFailure, match="is protected"):
        held.write("src/rules.md", b"evil", "write", "k")
    held.close()


@pytest.mark.parametrize(
    "text",
    [
        "[core\n",
        "[core]\nhooksPath",
        "[core]\nhooksPath =",
        "[core]\nhooksPath = /etc",
        "\0[core]\nhooksPath=..",
    ],
)
def test_settings_of_git_that_name_nothing_of_the_workspace_protect_nothing(
    tmp_path, text, monkeypatch
):
    monkeypatch.setenv("HOME", f"{tmp_path}-none")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(text)
    assert {} == Leads(str(tmp_path), whole=True).protect


@pytest.mark.parametrize(
    "value",
    [
        "tools/hooks;x", "tools/hooks # x", '"tools"/hooks', 'tools/"hooks";"', "too\\\nls/hooks", "too\\\r\nls/hooks",
        "tools/other # \\\n\thooksPath = tools/hooks", '"tools/hooks" ; a " b',
    ],
)  # fmt: skip
def test_settings_of_git_are_read_as_git_reads_them(tmp_path, value, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(f"[core]\n\thooksPath = {value}\n", newline="")
    assert "tools/hooks" in Leads(str(tmp_path), whole=True).protect


def test_a_folder_of_the_path_is_an_environment_s_only_with_its_own_python(tmp_path):
    for path in ("tools/bin/tool", "tools/pyvenv.cfg", ".venv/pyvenv.cfg", ".venv/bin/python"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    path = os.pathsep.join(str(tmp_path / one) for one in ("tools/bin", ".venv/bin"))
    found = of_environment(str(tmp_path), path)
    assert "tools/bin" == found[0] and {".venv/bin/fdc", ".venv/bin/git"} < set(found)
    assert not {".venv/bin", ".venv/bin/python", ".venv/bin/pytest"} & set(found)


@pytest.mark.long
def test_it_is_taken_away_from_a_command_that_did_not_end_by_itself_too(root, tier):
    outcome = run(
        root, "mkdir -m 500 src/.claude; touch src/done; sleep 600", only(tier), seconds=5.0
    )
    assert outcome.failure is not None and outcome.failure.kind == "timeout"
    assert Path(root.path, "src/done").exists() and not Path(root.path, "src/.claude").exists()
    assert refused(root) == ["0-.claude"] and outcome.notes["refused"] == ["src/.claude"]


@pytest.mark.parametrize(
    "path", [".envrc", "CLAUDE.md", ".github/workflows/x.yml", ".vscode/tasks.json"]
)
def test_what_a_command_puts_at_the_top_does_not_stay(root, tier, path):
    outcome = run(root, f"mkdir -p $(dirname {path}); echo x > {path}; exit 0", only(tier))
    assert not Path(root.path, path).exists()
    assert outcome.failure is not None or not sandbox.mounting() and tier == "landlock"


def test_a_link_to_the_rules_leads_where_it_led(root, tier):
    """A link cannot have a mount on it: what a command puts in its place is taken away."""
    Path(root.path, "AGENTS.md").write_text("rules\n")
    Path(root.path, "CLAUDE.md").symlink_to("AGENTS.md")
    run(root, "rm -f CLAUDE.md; echo mine > CLAUDE.md; exit 0", only(tier))
    assert (
        os.readlink(Path(root.path, "CLAUDE.md")) == "AGENTS.md"
        and Path(root.path, "CLAUDE.md").read_text() == "rules\n"
    )


def test_a_link_in_the_place_of_a_folder_while_a_sandbox_is_made_opens_nothing(
    root, tier, monkeypatch
):
    """Another command of the run can put it there: mounts are of what fdc found, or nothing is started."""
    for path in (".git/config", "out/a/CLAUDE.md"):
        Path(root.path, path).parent.mkdir(parents=True)
        Path(root.path, path).write_text("was\n")
    folder, start = Path(root.path, "out/a"), shell.started

    def swapped(*words, **more):
        if not folder.is_symlink():
            folder.rename(folder.with_name("b"))
            folder.symlink_to("../.git")
        return start(*words, **more)

    monkeypatch.setattr(shell, "started", swapped)
    outcome = run(
        root, "touch src/ran; echo is > .git/config; echo is > out/a/config; exit 0", only(tier)
    )
    assert "was\n" == Path(root.path, ".git/config").read_text(), outcome
    assert Path(root.path, "src/ran").exists() or "sandbox" == outcome.failure.kind


def test_more_protected_files_than_bubblewrap_mounts_are_refused_as_that(root, tier):
    for number in range(1_600):
        folder = Path(root.path, f"src/{number}")
        folder.mkdir()
        (folder / "CLAUDE.md").write_text("was\n")
    outcome = run(root, "echo is > src/7/CLAUDE.md; echo is > src/new", only(tier))
    assert "was\n" == Path(root.path, "src/7/CLAUDE.md").read_text()
    if tier == "bubblewrap":
        assert "sandbox" == outcome.failure.kind and "bubblewrap can mount" in str(outcome.failure)


def test_no_command_gives_a_protected_or_secret_file_a_second_name(root, tier):
    names = ("AGENTS.md", ".env", "src/CLAUDE.md")
    for name in names:
        Path(root.path, name).write_text("PASSWORD=precious\n")
    Path(root.path, "out").mkdir()
    links = "; ".join(f"ln {name} out/twin" for name in names)
    outcome = run(root, f"{links}; touch out/free; ln out/free out/second", only(tier))
    assert sorted(os.listdir(Path(root.path, "out"))) == ["free", "second"], outcome


@pytest.mark.parametrize(
    ("globs", "writes"),
    [
        (["**"], set()),
        (["*"], set()),
        (["*.md", "sub/**"], set()),
        (["AGENTS.md"], {"AGENTS.md"}),
        (["**", "AGENTS.md"], {"AGENTS.md"}),
        (["sub/AGENTS.md"], {"sub/AGENTS.md"}),
        (["sub/**", "sub/AGENTS.md"], {"sub/AGENTS.md"}),
        ([".github/**"], {".github/ci.yml"}),
        (["**", ".github/*.yml"], {".github/ci.yml"}),
        ([".git/**", ".git/config"], set()),
        ([".fdc/**", "fdc.toml"], set()),
        (["protocols/*.json"], {"protocols/a.json"}),
    ],
)
def test_what_is_protected_is_written_by_a_plan_that_names_it(root, tier, globs, writes):
    paths = [
        "AGENTS.md",
        "sub/AGENTS.md",
        ".github/ci.yml",
        ".git/config",
        ".fdc/runs.sqlite",
        "fdc.toml",
        "protocols/a.json",
    ]
    for path in paths:
        Path(root.path, path).parent.mkdir(parents=True, exist_ok=True)
        Path(root.path, path).write_text("was\n")
    tried = "; ".join(f"(echo is > {path}) 2> /dev/null" for path in paths)
    run(root, f"{tried}; exit 0", only(tier), grants=(grant(*globs),))
    assert {path for path in paths if Path(root.path, path).read_text() != "was\n"} == writes
    seen = root.granted((grant(*globs),))
    for path in paths:  # the file tools obey the same list
        try:
            seen.write(path, b"tool\n", "edit", "k")
        except ToolFailure as failure:
            assert failure.kind == "protected" and path not in writes
        else:
            assert path in writes


def test_every_plan_of_the_stack_must_name_it(root, tier):
    Path(root.path, "AGENTS.md").write_text("was\n")
    run(root, "echo is > AGENTS.md; exit 0", only(tier), grants=(grant("**"), grant("AGENTS.md")))
    assert Path(root.path, "AGENTS.md").read_text() == "was\n"


@pytest.mark.parametrize(
    ("path", "entry", "never"),
    [
        ("a/.git", "a/.git", True), ("a/.GIT/config", "a/.GIT", True), (".github", ".github", False),
        ("AGENTS.MD", "AGENTS.MD", False), ("x/agents.md", "x/agents.md", False),
        ("x/.gitattributes", "x/.gitattributes", False),
        ("x/.github/a", "", False), ("x/fdc.toml", "x/fdc.toml", False),
        ("FDC.toml", "FDC.toml", True), ("src/Makefile", "", False),
        ("protocols/deep/a.md", "protocols", False), ("knowledge_core/a.md", "", False), ("policy.json", "policy.json", True),
        ("law/x.md", "law/x.md", False), ("law/x.txt", "", False),
        ("x/flake.nix", "x/flake.nix", False), (".config/mise/config.toml", ".config/mise", False),
        (".lintstagedrc.js", ".lintstagedrc.js", False), ("opencode.json", "opencode.json", False),
        (".config/x", "", False), (".config/fish/config.fish", ".config/fish", False), ("x/.config/fish", "", False),
        ("x/Some.code-workspace", "x/Some.code-workspace", False), ("./.github//Hooks/a.json", ".github", False),
    ],
)  # fmt: skip
def test_the_list_says_what_is_protected_and_why(path, entry, never):
    found = protected(path, ("policy.json",), ("law/*.md",))
    assert (
        ("", False) == (entry, never)
        if found is None
        else (found.entry, found.never) == (entry, never) and found.what
    )


def test_a_value_of_the_run_names_nothing():
    assert named("AGENTS.md", [(False, "AGENTS.md")]) and named(
        ".github", [(False, ".github/work"), (False, "flows/**")]
    )
    assert not named("AGENTS.md", [(True, "AGENTS.md")]) and not named(
        "AGENTS.md", [(False, "AGENTS.m?")]
    )
    assert not named("AGENTS.md", [(False, "AGENTS.md.txt")])


def test_a_dry_run_says_what_a_plan_may_write_because_it_names_it(workspace):
    lines = [
        "allow write AGENTS.md .github/** notes/**",
        "set_plan Write the rules",
        "plan_step_complete ready",
    ]
    (workspace / "p.plan").write_text("\n".join([*lines, "close_task", "submit", ""]))
    done = fdc("run", "p.plan", "--dry-run", cwd=workspace)
    assert [line for line in done.stdout.splitlines() if line.startswith("may write")] == [
        "may write `AGENTS.md`, after an approval: `AGENTS.md` is obeyed by agents",
        "may write `.github/**`, after an approval: `.github` is run by the CI",
    ]


def test_text_from_outside_that_comes_while_a_command_runs_is_not_seen(root, tier):
    """The folder is there before the first command, empty, and gone again where nothing came."""
    folder = Path(root.path, "runs/run/outside")

    def bring():
        wait_for(Path(root.path, "src/ready").exists)
        (folder / "page.txt").write_text("from outside")
        Path(root.path, "src/go").touch()

    worker = threading.Thread(target=bring)
    worker.start()
    command = "touch src/ready; until [ -e src/go ]; do :; done; cat runs/run/outside/page.txt; grep -r 'from out' . ; exit 0"
    outcome = run(root, command, only(tier))
    worker.join()
    assert outcome.failure is None and "from outside" not in outcome.value["output"]
    assert folder.joinpath("page.txt").read_text() == "from outside"
    folder.joinpath("page.txt").unlink()
    run(root, "rm src/*", only(tier))
    assert sorted(os.listdir(root.path)) == ["src"]


def test_without_mounts_a_command_makes_new_files_in_folders_that_the_plan_names(
    root, monkeypatch, capsys
):
    """B2: Landlock has no rule that takes away, so the top of the workspace is not given as a whole."""
    if not sandbox.offered("landlock"):
        pytest.skip(sandbox.reason("landlock"))
    monkeypatch.setattr(sandbox, "mounting", lambda: False)
    Path(root.path, "top.txt").write_text("was\n")
    outcome = run(
        root, "echo is > top.txt; echo x > src/new; echo x > new; exit 0", only("landlock")
    )
    assert Path(root.path, "top.txt").read_text() == "is\n" and Path(root.path, "src/new").exists()
    assert not Path(root.path, "new").exists() and outcome.notes["no new files in"] == ["."]
    assert "`allow write build/**`" in outcome.notes["hint"]
    Lines().done(
        Perform("main/1", "tool", "run_in_bash_session", {}, "", "once", "p", 1, True), outcome, 0.0
    )
    assert "`allow write build/**`" in capsys.readouterr().out
    failed = run(root, "echo x > new", only("landlock"), bound=False)
    assert failed.failure is not None and "`allow write build/**`" in failed.failure.message
    outcome = run(root, "echo x > build/new; exit 0", only("landlock"), grants=(grant("build/**"),))
    assert Path(root.path, "build/new").exists() and "no new files in" not in outcome.notes
    assert "hint" not in run(root, "cat top.txt", only("landlock")).notes


def watcher(root):
    """The process that watches a command: the parent of the oldest process that works in the workspace."""
    above = {}
    for pid in working_in(Path(root.path)):
        with contextlib.suppress(OSError):  # `touch` has just ended
            above[pid] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return next(parent for parent in above.values() if parent not in above)


@pytest.mark.parametrize("which", ["watcher", "guard"])
def test_nothing_outlives_a_command_when_what_started_it_is_killed(root, tier, which):
    """B5: what a command began is ended, and the step is not a success."""
    killed = []

    def kill():
        wait_for(Path(root.path, "src/ready").exists)
        pid = watcher(root)
        if which == "guard":
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    worker = threading.Thread(target=kill)
    worker.start()
    outcome = run(root, "setsid sh -c 'touch src/ready; sleep 600' & sleep 600", only(tier))
    worker.join()
    assert (
        killed
        and outcome.failure is not None
        and outcome.failure.kind == "sandbox"
        and "killed" in outcome.failure.message
    )
    wait_for(lambda: not working_in(Path(root.path)))


def test_of_a_folder_of_programs_only_what_they_need_is_seen(tmp_path, monkeypatch):
    """B7: keys and settings of tools lie beside their programs."""
    there = (
        ".cargo/bin/cargo",
        ".cargo/credentials.toml",
        ".tool/bin/x",
        ".tool/lib/y",
        "bin/z",
        ".local/bin/w",
    )
    for path in there:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    path = os.pathsep.join(
        str(tmp_path / one) for one in (".cargo/bin", ".tool/bin", "bin", ".local/bin")
    )
    found = {
        os.path.relpath(one, tmp_path)
        for one in programs.program_folders({"PATH": path})
        if one.startswith(str(tmp_path))
    }
    assert found == {".cargo/bin", ".tool/bin", ".tool/lib", "bin", ".local/bin"}


def test_the_tiers_are_all_tried():
    assert UPPER == ["bubblewrap", "landlock"]


@pytest.mark.parametrize(
    "glob",
    ["docs/rules.md", "./docs/rules.md", "docs//rules.md", "Docs/Rules.md", "docs/", "./docs/**", "*/RULES.md"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["docs/rules.md", "./docs//rules.md", "docs/Rules.md"])
def test_a_glob_of_the_settings_holds_however_it_is_spelled(glob, path):
    assert protected(path, (), (glob,)) is not None
    assert secret(path, (glob,)) is not None
    assert protected("docs2/rules.txt", (), (glob,)) is secret("docs2/rules.txt", (glob,)) is None
