"""What is obeyed, or secret, because a link, git's settings or the shape of a folder lead there: no one changes or reads it."""

import os
import shlex
from pathlib import Path

import pytest
from fdc_toolchain import api
from fdc_toolchain.linking.project.obeyed import Leads, of_environment
from fdc_toolchain.linking.project.protected import protected
from fdc_toolchain.runs.tool_runtime import opened
from fdc_toolchain.sandbox import sandbox
from fdc_toolchain.tools.plans.plan_text import proved
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.secrets.values import values_of

from tests.fault.test_protected import refused, tier
from tests.fault.test_sandbox import only, run
from tests.support.process import fdc

__all__ = ["tier"]

LINKS = {
    ".git/hooks/pre-commit": ("tools/pre-commit", "../../tools/pre-commit"),
    ".github/workflows/ci.yml": ("ci/ci.yml", "../../ci/ci.yml"),
    "sub/AGENTS.md": ("docs/rules.md", "../docs/rules.md"),
    "sub/deep/.claude": ("common/claude/settings.json", "../../common/claude"),
    "protocols/p.md": ("docs/p.md", "../docs/p.md"),
    "CLAUDE.md": ("conf/v1/r.md", "conf/cur/r.md"),
    "conf/cur": ("", "v1"),
    "common/claude/agents/a.md": ("docs/a.md", "../../../docs/a.md"),
}
"""A link, by the file that it leads to (empty: a link on another one's way), and its text."""
LED = sorted(path for path, _ in LINKS.values() if path)


@pytest.fixture
def top(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "workspace"
    for link, (target, text) in LINKS.items():
        for path in (link, target or "conf/v2/r.md"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if target:
            (folder / target).write_text("was\n")
        (folder / link).symlink_to(text)
    (folder / "conf/v2/r.md").write_text("was\n")
    return folder


@pytest.fixture
def root(top):
    held = opened(str(top))
    yield held
    held.close()


def test_what_links_below_the_top_lead_to_is_written_by_nobody(root, top, tier):
    """Also through the link, through another one, and by moving a folder or a link on the way."""
    tried = "; ".join(f"(echo evil > {path}) 2> /dev/null" for path in (*LED, *LINKS))
    moved = "rm conf/cur && ln -s v2 conf/cur; mv conf conf2; mv docs docs2 && mkdir docs; mv sub/deep/.claude x; mv sub sub2"
    run(root, f"{tried}; {moved}; exit 0", only(tier))
    assert [] == [path for path in LED if Path(top, path).read_text() != "was\n"]
    assert {link: text for link, (_, text) in LINKS.items()} == {
        link: os.readlink(top / link) for link in LINKS
    }
    for path in LED:
        with pytest.raises(ToolFailure, match="is protected"):
            root.write(path, b"evil", "edit", "k")


def test_what_a_secret_link_leads_to_is_secret(top, tier):
    (top / "vault").mkdir()
    (top / "conf/dev.txt").write_text("TOKEN=hunter2hunter2\n")
    (top / "vault/a").write_text("SECRET=swordfish99\n")
    (top / "sub/.env").symlink_to("../conf/dev.txt")
    (top / ".aws").symlink_to("vault")
    held = opened(str(top))
    outcome = run(held, "cat sub/.env conf/dev.txt vault/a .aws/a; exit 0", only(tier))
    assert "hunter2" not in str(outcome) and "swordfish" not in str(outcome)
    for path in ("conf/dev.txt", "vault/a"):
        with pytest.raises(ToolFailure, match="is secret"):
            held.read(path)
    held.close()
    assert {"hunter2hunter2", "swordfish99"} == set(values_of(str(top)))


def test_another_name_of_a_protected_or_secret_file_is_one_too(top, tier):
    """Hard links that were there before: a command could write through the name that no list has."""
    for path, other in (
        ("AGENTS.md", "notes/a.txt"),
        (".git/hooks/post-merge", "b.sh"),
        ("common/claude/x.md", "c.md"),
    ):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / other).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("was\n")
        os.link(top / path, top / other)
    (top / "d.txt").write_text("was\n")
    os.link(top / "d.txt", top / "e.txt")
    for path, other in (("sub/.env", "f.txt"), (".aws/config", "g.txt")):
        (top / path).parent.mkdir(exist_ok=True)
        (top / path).write_text("TOKEN=hunter2hunter2\n")
        os.link(top / path, top / other)
    held = opened(str(top))
    assert "hunter2" not in str(run(held, "cat f.txt g.txt; exit 0", only(tier)))
    with pytest.raises(ToolFailure, match="is secret"):
        held.read("f.txt")
    names = ("notes/a.txt", "b.sh", "c.md", "d.txt")
    run(
        held,
        "; ".join(f"(echo evil > {name}) 2> /dev/null" for name in names) + "; exit 0",
        only(tier),
    )
    assert ["was\n", "was\n", "was\n", "evil\n"] == [(top / name).read_text() for name in names]
    with pytest.raises(ToolFailure, match="is protected"):
        held.write("b.sh", b"evil", "edit", "k")
    held.close()


def test_a_folder_that_git_takes_for_a_repository_is_none(root, top, tier):
    """Git needs no `.git`: a folder with HEAD, objects and refs will do, and a shell's prompt may ask git about it."""
    (top / "lib").mkdir()
    made = "cd lib; mkdir objects refs; echo ref: refs/heads/main > HEAD; echo '[core]' > config; exit 0"
    outcome = run(root, made, only(tier))
    assert outcome.failure is not None and outcome.failure.kind == "protected"
    assert not (top / "lib/HEAD").exists() and refused(root) == ["0-HEAD"]
    with pytest.raises(ToolFailure, match="makes a folder a repository"):
        root.write("docs/HEAD", b"ref: refs/heads/main\n", "create", "k")
    assert protected("src/head") is None and protected("src/HEAD/a.py") is None


def test_the_settings_of_a_repository_without_git_are_protected(top, tier):
    bare = top / "data/x.git"
    for name in ("HEAD", "config", "objects/o", "refs/r"):
        (bare / name).parent.mkdir(parents=True, exist_ok=True)
        (bare / name).write_text("was\n")
    held = opened(str(top))
    run(held, "echo evil > data/x.git/config; mv data/x.git data/y; exit 0", only(tier))
    assert (bare / "config").read_text() == "was\n"
    with pytest.raises(ToolFailure, match="is protected"):
        held.write("data/x.git/config", b"evil", "edit", "k")
    held.close()


def test_repositories_below_the_top_lead_somewhere_too(top, tier):
    """A clone in a folder, a submodule, and a link in a folder of `.git`: a person commits in each of them."""
    files = {
        "vendor/x/.git/config": "[core]\nhooksPath = ../hooks\n", "vendor/hooks/pre-commit": "was\n",
        ".git/config": "", ".git/modules/lib/config": "[core]\nhooksPath = hooks\n[include]\npath = ../../../more.ini\n",
        ".git/modules/lib/HEAD": "", ".git/modules/lib/objects/o": "", ".git/modules/lib/refs/r": "",
        "lib/.git": "gitdir: ../.git/modules/lib\n", "lib/hooks/pre-commit": "was\n", "more.ini": "was\n",
        "tools/info/attributes": "was\n", "led/main": "was\n", "free/a": "was\n",
    }  # fmt: skip
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    (top / ".git/modules/lib/info").symlink_to("../../../tools/info")
    (top / ".git/refs").mkdir()
    (top / ".git/refs/heads").symlink_to("../../led")
    led = [path for path, text in files.items() if text == "was\n"]
    held = opened(str(top))
    run(
        held,
        "; ".join(f"(echo evil > {path}) 2> /dev/null" for path in led) + "; exit 0",
        only(tier),
    )
    assert ["free/a"] == [path for path in led if Path(top, path).read_text() != "was\n"]
    held.close()


@pytest.mark.parametrize(
    "setting",
    [
        '[filter "x"]\n\tclean = "sh tools/x.sh %f"', "[core]\n\tsshCommand = tools/x.sh -v", "[diff]\n\texternal=tools/x.sh",
        '[filter "a\\"b"]\n\tsmudge = tools/x.sh', "[filter.x]\n\tprocess = tools/x.sh", "[pager]\n\tlog = tools/x.sh",
        "[gc]\n\trecentObjectsHook = tools/x.sh", "[core]\n\talternateRefsCommand = tools/x.sh",
        '[hook "x"]\n\tcommand = tools/x.sh', '[remote "o"]\n\tuploadpack = tools/x.sh', '[credential "a"]\n\thelper=!tools/x.sh',
        '[submodule "s"]\n\tupdate = !tools/x.sh', '[gpg "ssh"]\n\tdefaultKeyCommand = tools/x.sh',
        '[core]\n\tfsmonitor = "$PWD/tools/x.sh" -v', '[filter "x"]\n\tclean = ${PWD}/tools/x.sh',
        '[filter "x"]\n\tclean = "$(cd \\"$(git rev-parse --show-toplevel)\\" && pwd)/tools/x.sh"',
        "[diff]\n\texternal = `pwd`/tools/x.sh",
        "[user] [diff] external = tools/x.sh", "\ufeff[core]\n\thooksPath = :(optional)tools/x.sh",
        "[init]\n\ttemplateDir = tools/x.sh", '[gpg "ssh"]\n\tallowedSignersFile = tools/x.sh',
    ],
)  # fmt: skip
@pytest.mark.parametrize("there", [True, False])
def test_programs_that_git_starts_by_its_settings_are_protected(top, setting, there):
    """Also one that is not there yet: a step would make it, and git start it."""
    (top / ".git/config").write_text("[include]\n\tpath = ../git.inc\n")
    (top / "git.inc").write_text(setting)
    if there:
        (top / "tools/x.sh").write_text("")
    assert {"tools/x.sh", "git.inc"} <= set(Leads(str(top), whole=False).protect)


@pytest.mark.parametrize("path", ["tools/a b.sh", "tools/a,b.sh", "tools/a=b.sh", "tools/a'b.sh"])
@pytest.mark.parametrize("asks_a_shell", [True, False])
def test_programs_of_git_s_settings_are_protected_whatever_they_are_called(top, asks_a_shell, path):
    """Where git asks a shell, quotes hold the name together; a signing program is started by its name as it stands."""
    row = f"external = {shlex.quote(path)} -v" if asks_a_shell else f"program = {path}"
    section = "diff" if asks_a_shell else "gpg"
    text = row.replace('"', r"\"")
    (top / ".git/config").write_text(f"[{section}]\n\t{text}\n")
    assert path in Leads(str(top), whole=False).protect


@pytest.mark.parametrize(
    "given",
    [
        "'core.fsmonitor=tools/x.sh'",
        "'user.name'='a' 'filter.a=b.clean'='tools/x.sh %f'",
        "'include.path'='{top}/tools/x.sh'",
    ],
)
def test_settings_that_git_hands_to_a_command_are_obeyed(top, monkeypatch, given):
    """`git -c core.fsmonitor=... commit` starts hooks with them, and a hook starts fdc."""
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", given.format(top=top))
    (top / ".git").mkdir(exist_ok=True)
    assert "tools/x.sh" in Leads(str(top), whole=False).protect


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BASH_ENV", "tools/x.sh"), ("EDITOR", "$PWD/tools/x.sh"), ("MAKEFILES", "{top}/tools/x.sh"), ("INPUTRC", "tools/x.sh"),
        ("npm_config_userconfig", "tools/x.sh"), ("JDK_JAVA_OPTIONS", "@tools/x.sh"),
        ("LD_PRELOAD", "/lib/none.so {top}/tools/x.sh"), ("EDITOR", "env A=1 {top}/tools/x.sh -w"),
        ("LD_LIBRARY_PATH", "/usr/lib:{top}/tools/x.sh:"), ("NODE_OPTIONS", "--require=./tools/x.sh"),
        ("GIT_EXEC_PATH", "{top}/tools/x.sh"), ("GIT_COMMON_DIR", "{top}/tools/x.sh"),
        ("GIT_SSH_COMMAND", "'{top}/tools/x.sh' -F none"),
    ],
)  # fmt: skip
def test_what_variables_make_programs_run_by_themselves_is_protected(top, monkeypatch, name, value):
    """They are those of the user, whose editor, shell and git obey them; fdc's own Python and git load libraries by them."""
    assert [] == of_environment(str(top), "")
    monkeypatch.chdir(top)
    monkeypatch.setenv(name, value.format(top=top))
    found = of_environment(str(top), "")
    assert ["tools/x.sh"] == [path for path in found if "@" not in path]


@pytest.mark.parametrize(
    "name", ["BASH_ENV", "PYTHONSTARTUP", "GIT_DIR", "LD_LIBRARY_PATH", "PYTHONHOME"]
)
def test_a_variable_that_is_a_path_needs_no_slash(top, monkeypatch, name):
    monkeypatch.chdir(top)
    monkeypatch.setenv(name, "start")
    assert ["start"] == of_environment(str(top), "")
    monkeypatch.delenv(name)
    monkeypatch.setenv("EDITOR", "start")
    monkeypatch.setenv("ENV", "dev")
    assert [] == of_environment(str(top), "")


@pytest.mark.parametrize("start", ["{top}/", ""])
def test_settings_of_git_that_a_variable_names_are_obeyed(top, monkeypatch, start):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", f"{start.format(top=top)}tools/gitconfig")
    (top / "tools/gitconfig").write_text("[core]\n\thooksPath = tools/hooks\n")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "Diff.X.textConv")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "tools/conv")
    found = Leads(str(top), whole=False).protect
    assert {"tools/gitconfig", "tools/hooks", "tools/conv"} <= set(found)


def test_a_program_of_a_setting_is_protected_before_it_is_there(top):
    """Also one at the top, whose name has no slash; `python3` there is the system's."""
    (top / ".git").mkdir(exist_ok=True)
    (top / ".git/config").write_text(
        "[core]\n\tfsmonitor = python3 watch.py\n[sendemail]\n\tsmtpServer = tools/send\n"
    )
    found = Leads(str(top), whole=False).protect
    assert {"watch.py", "tools/send"} <= set(found) and "python3" not in found


def test_the_environment_that_fdc_runs_in_is_protected(top, monkeypatch):
    """The author who writes there is run by the next fdc: a `.pth` will do."""
    monkeypatch.setattr("sys.prefix", str(top / ".venv"))
    (top / ".venv/lib").mkdir(parents=True)
    assert of_environment(str(top), "") == [".venv"]
    held = opened(str(top))
    with pytest.raises(ToolFailure, match="is protected"):
        held.write(".venv/lib/evil.pth", b"import os", "create", "k")
    held.close()


def test_what_python_imports_before_fdc_can_look_is_not_made_by_a_step(top, monkeypatch, tier):
    """A PYTHONPATH that names sources of the workspace, and the user's own packages where the home is the workspace."""
    monkeypatch.setenv("PYTHONPATH", f"{top}/src:")
    monkeypatch.setattr("site.getusersitepackages", lambda: str(top / ".local/lib/x"))
    monkeypatch.setattr("site.ENABLE_USER_SITE", True)
    (top / "src").mkdir()
    (top / ".local/lib/x").mkdir(parents=True)
    held = opened(str(top))
    made = "mkdir src/re; touch src/re/__init__.py src/sitecustomize.py src/enum.so src/shop.py .local/lib/x/a.pth"
    assert run(held, f"{made}; exit 0", only(tier)).failure.kind == "protected"
    assert ["shop.py"] == os.listdir(top / "src") and [] == os.listdir(top / ".local/lib/x")
    for path in ("src/fdc_toolchain.py", "src/usercustomize.py", ".local/lib/x/a.pth"):
        with pytest.raises(ToolFailure, match="is protected"):
            held.write(path, b"import os", "create", "k")
    held.close()


def test_the_key_and_the_verdicts_of_the_user_are_closed_in_a_home_that_is_the_workspace(
    top, monkeypatch, tier
):
    monkeypatch.setenv("HOME", str(top))
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "FDC_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for path in (".local/state/fdc/key", ".cache/fdc/lint/x", ".bashrc", ".ssh/authorized_keys"):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("was hunter2\n")
    held = opened(str(top))
    names = ".local/state/fdc/key .cache/fdc/lint/x .bashrc .ssh/authorized_keys"
    outcome = run(held, f"for f in {names}; do cat $f; echo evil > $f; done; exit 0", only(tier))
    assert (
        "hunter2" not in run(held, "cat .local/state/fdc/key; exit 0", only(tier)).value["output"]
    )
    assert {"was hunter2\n"} == {(top / path).read_text() for path in names.split()}, outcome
    held.close()


def test_a_verdict_that_is_kept_does_not_outlive_a_link(workspace):
    """Warm lint: by times, by content, and after git's settings changed."""
    text = "set_plan x\nplan_step_complete ready\nread_file {0}\n{1}close_task\nsubmit\n"
    write = "overwrite_file_with_block docs/a.md\n    x\n"
    (workspace / "docs").mkdir()
    (workspace / "docs/a.md").write_text("x")
    (workspace / ".git").mkdir()
    (workspace / "p.plan").write_text(text.format("docs/a.md", write))

    def codes():
        said = fdc("lint", "--format", "concise", "p.plan", cwd=workspace).stdout
        return [code for code in ("FDC417", "FDC418") if code in said]

    assert codes() == codes() == []
    (workspace / "AGENTS.md").symlink_to("docs/a.md")
    assert codes() == codes() == ["FDC417"]
    (workspace / "AGENTS.md").unlink()
    assert codes() == []
    (workspace / ".git/config").write_text("[core]\nhooksPath = docs\n")
    assert codes() == ["FDC417"]
    (workspace / ".git/config").unlink()
    (workspace / ".env").symlink_to("docs/a.md")
    assert codes() == ["FDC418"]


def test_a_plan_that_is_a_link_out_of_the_workspace_is_not_quoted(workspace, tmp_path):
    """A change that somebody offers must not make a CI's log say what lies on its machine; plans of other tools as our own."""
    (tmp_path / "key").write_text("- [ ] T001 hunter2\n- [ ] T001 hunter2\n")
    for path in ("x.plan", "tasks.md", ".claude/workflows/w.js", "calls.plan"):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).symlink_to(tmp_path / "key")
    (workspace / "calls.plan").unlink()
    (workspace / "calls.plan").write_text("set_plan x\ncall_plan x.plan\nsubmit\n")
    for words in ([], [], ["x.plan"], ["tasks.md"]):
        done = fdc("lint", *words, cwd=workspace)
        assert 1 == done.returncode and "hunter2" not in done.stdout + done.stderr, done
        assert "is a link that leads out of the workspace: it is not read" in done.stdout
    assert "hunter2" not in fdc("run", "x.plan", cwd=workspace).stdout
    assert "hunter2" in fdc("lint", str(tmp_path / "key"), cwd=workspace).stdout


def test_a_run_does_not_begin_where_a_link_below_the_top_protects_what_lint_let_pass(
    workspace, monkeypatch
):
    """Lint looks at the top and assumes the rest (`obeyed`); a run looks at all folders, and at PATH, before its first step.

    So do all that begin runs: the command, the API (and `fdc mcp` by it), `run_plan`, and `fdc agent`, which proves like it.
    """
    (workspace / "docs").mkdir()
    (workspace / "src").mkdir()
    for name in ("rules.md", "values.txt"):
        (workspace / "docs" / name).write_text("was\n")
    (workspace / "src/AGENTS.md").symlink_to("../docs/rules.md")
    (workspace / "src/.env").symlink_to("../docs/values.txt")
    (workspace / "programs").mkdir()
    path = f"{workspace}/programs:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    steps = {
        "overwrite_file_with_block docs/rules.md\n    x": "FDC417",
        "overwrite_file_with_block programs/make\n    x": "FDC417",
        "read_file docs/values.txt": "FDC418",
    }
    for step, code in steps.items():
        text = f"set_plan x\nplan_step_complete ready\n{step}\nclose_task\nsubmit\n"
        (workspace / "a.plan").write_text(text)
        assert 0 == fdc("lint", "a.plan", cwd=workspace).returncode, step
        done = fdc("run", "a.plan", cwd=workspace)
        assert 1 == done.returncode and f"error[{code}]" in done.stderr, (step, done)
        with pytest.raises(api.PlanRefused) as refused:
            api.begin("a.plan", workspace=workspace)
        assert code in {found.code for found in refused.value.result.errors}
        assert code in {found.code for found in proved(str(workspace), "within.plan", text).errors}
    assert not (workspace / ".fdc/runs.sqlite").exists()
    outer = "set_plan x\nplan_step_complete y\ntext <- read_file a.plan\nrun_plan {text}\nclose_task\nsubmit\n"
    (workspace / "outer.plan").write_text(outer)
    done = fdc("run", "outer.plan", cwd=workspace)
    assert 1 == done.returncode and "[secret-file]" in done.stdout, done


def test_settings_below_the_top_make_nothing_looser_and_are_not_made_by_a_step(workspace, tier):
    """A nested fdc.toml is another workspace's: from the top its settings mean nothing, and no command writes one."""
    for name in ("sub", "other"):
        (workspace / name).mkdir()
    (workspace / "fdc.toml").write_text('secret = ["vault.txt"]\n')
    (workspace / "vault.txt").write_text("x")
    (workspace / "sub/fdc.toml").write_text('ignore = ["FDC411"]\nsecret = []\n')
    (workspace / "sub/a.plan").write_text(
        "set_plan x\nplan_step_complete ready\nread_file vault.txt\nread_file none.md\nclose_task\nsubmit\n"
    )
    found = fdc("lint", "sub/a.plan", cwd=workspace)
    assert 1 == found.returncode and "FDC418" in found.stdout and "FDC411" in found.stdout
    held = opened(str(workspace))
    done = run(held, "echo > other/fdc.toml; echo >> sub/fdc.toml; exit 0", only(tier))
    assert done.failure is not None and "protected" == done.failure.kind
    assert not (workspace / "other/fdc.toml").exists()
    assert 'ignore = ["FDC411"]\nsecret = []\n' == (workspace / "sub/fdc.toml").read_text()
    for path in ("sub/fdc.toml", "new/fdc_tools.json", "sub/pyproject.toml"):
        with pytest.raises(
            ToolFailure, match=r"steps must not change|protected|a workspace of fdc"
        ):
            held.write(path, b"[tool.fdc]\nignore = []\n", "write", "k")
    held.close()


TABLE = '[tool.fdc]\nsecret = ["vault.txt"]\n'
PLAIN = '[project]\nname = "x"\n'


@pytest.mark.parametrize(
    ("was", "made"),
    [
        (None, "printf '[tool.fdc]\\nuntrusted = []\\n' > pyproject.toml"),
        (PLAIN, "printf '[tool]\\nfdc.secret = []\\n' >> pyproject.toml; sleep 20"),
        (TABLE, "rm pyproject.toml; mkdir src/.vscode"),
        (TABLE, "ln -sf src/x.toml pyproject.toml"),
        (None, "ln -s src/x.toml pyproject.toml"),
    ],
)
def test_settings_that_a_command_changes_in_a_pyproject_are_as_before(workspace, tier, was, made):
    """However the command ended: also where it takes too long, or makes something else that is protected."""
    project = workspace / "pyproject.toml"
    (workspace / "src").mkdir(exist_ok=True)
    (workspace / "src/x.toml").write_text("[tool.fdc]\nsecret = []\n")
    if was is not None:
        project.write_text(was)
    held = opened(str(workspace))
    done = run(held, f"{made}; exit 0", only(tier), seconds=1.0)
    held.close()
    if tier == "bubblewrap" or sandbox.mounting() or was == PLAIN:  # else it makes no file there
        assert done.failure is not None and done.failure.kind in ("protected", "timeout"), done
    assert not project.is_symlink() and (project.read_text() if project.exists() else None) == was
