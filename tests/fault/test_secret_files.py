"""Files that hold secrets are read by a plan that names them, and by no other: by no tool, no glob and no command (B8, B13)."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.linking.project.secret_files import secret
from fdc_toolchain.workspace import globs
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root

from tests.fault.test_protected import tier
from tests.fault.test_sandbox import only, run
from tests.support.linting import lint, places
from tests.support.process import fdc

__all__ = ["tier"]
SECRETS = (
    ".env",
    ".env.local",
    "deploy/id_rsa",
    "deploy/server.key",
    "certs/a.pem",
    ".npmrc",
    ".netrc",
    ".aws/credentials",
    ".env~",
    "conf/id_rsa.old",
    "deploy/server.key.bak",
    ".credentials.json.swp",
    "deploy/prod.env",
    "terraform.tfstate.backup",
)
OPEN = (
    ".env.example",
    "keys.md",
    "deploy/key.txt",
    "src/credentials.py",
    "monkey",
    "env",
    "docs/pem.md",
    "example.env",
    "a.bak",
    "~",
)


@pytest.mark.parametrize("path", SECRETS)
def test_what_holds_secrets_is_known_by_its_name(path: str) -> None:
    assert secret(path) is not None and secret(f"sub/{path.upper()}") is not None


@pytest.mark.parametrize("path", OPEN)
def test_other_names_are_no_secrets(path: str) -> None:
    assert secret(path) is None and secret(path, ["other/**"]) is None
    assert secret(path, [path]) is not None


@pytest.fixture
def root(tmp_path: Path):
    folder = tmp_path / "workspace"
    for path in (*SECRETS, "src/a.txt"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"hidden in {path}\n")
    opened = Root(str(folder))
    yield opened
    opened.close()


def grant(*names: str):
    return {"read": tuple(((False, name),) for name in names), "run": (((False, "*"),),)}


def test_the_file_tools_and_globs_know_only_what_every_plan_names(root: Root) -> None:
    for grants in ((), (grant("**"),), (grant("**", ".env"), grant("**")), (grant("**", "*.env"),)):
        with pytest.raises(ToolFailure, match=r"allow read \.env"):
            root.granted(grants).read(".env")
        assert globs.files(root.granted(grants), "**/*") == ["src/a.txt"]
        assert globs.files(root.granted(grants), ".*") == []
    named = root.granted((grant("**", ".env"), grant(".env")))
    assert named.read(".env") == b"hidden in .env\n" and globs.files(named, ".e*") == [".env"]
    with pytest.raises(ToolFailure, match="id_rsa"):
        root.rename("deploy/id_rsa", "deploy/notes.txt")


def test_no_command_sees_them(root: Root, tier: str) -> None:
    tried = "; ".join(
        f"cat {path}; cp {path} src/copy; mv {path} src/moved; cat src/copy src/moved"
        for path in SECRETS
    )
    outcome = run(root, f"{tried}; grep -r hidden . ; cat deploy/*; echo end; exit 0", only(tier))
    assert outcome.failure is None and outcome.value["output"].endswith("end\n"), outcome
    said = outcome.value["output"].replace("hidden in src/a.txt", "")
    assert "hidden in" not in said, said
    for path in SECRETS:
        assert Path(root.path, path).read_text() == f"hidden in {path}\n"


def test_a_command_sees_what_the_plans_name(root: Root, tier: str) -> None:
    outcome = run(root, "cat .env; cat .npmrc; exit 0", only(tier), grants=(grant("**", ".env"),))
    assert (
        "hidden in .env\n" in outcome.value["output"]
        and "hidden in .npmrc" not in outcome.value["output"]
    )


HEAD = "# FSM: any.json\n"


def found(plan: str, **more: str) -> list[tuple[str, int, str]]:
    files = {
        "a.plan": plan,
        **{f"{name}.plan": text for name, text in more.items()},
        ".env": "x",
        "a.pem": "x",
    }
    return places(lint(files, "a.plan"), "FDC418")


READS = (
    "read_file .env", "read_file sub/../.env", "grep x .env", "run_in_bash_session cat .env", "rename_file .env b.txt",
    "git_add .env",
    "for_each_file a.pem\n  message_user {file1}",
)  # fmt: skip


@pytest.mark.parametrize("step", READS)
def test_lint_refuses_a_step_that_reads_one_without_leave(step: str) -> None:
    assert found(f"{HEAD}{step}\n") == [("a.plan", 2, "FDC418")]
    rest = "allow read **\nallow write **\nallow run *\n"
    assert [row[2] for row in found(f"{HEAD}{rest}{step}\n")] == ["FDC418"]
    assert found(f"{HEAD}{rest}allow read .env\nallow read a.pem\n{step}\n") == []


def test_every_plan_on_the_way_must_name_it() -> None:
    sub = "allow read .env\nread_file .env\n"
    assert found(f"{HEAD}call_plan sub.plan\n", sub=sub) == []
    assert [row[0] for row in found(f"{HEAD}allow read **\ncall_plan sub.plan\n", sub=sub)] == [
        "sub.plan"
    ]


def test_a_run_refuses_a_computed_path_to_one(workspace: Path) -> None:
    (workspace / ".env").write_text("TOKEN=abcdefgh12345678\n")
    begun = "param path\nset_plan x\nplan_step_complete x\n"
    (workspace / "a.plan").write_text(
        f"{begun}t <- read_file {{path}}\nmessage_user {{t}}\nclose_task\nsubmit\n"
    )
    done = fdc("run", "a.plan", "path=.env", cwd=workspace)
    assert (
        done.returncode == 1
        and "allow read .env" in done.stdout + done.stderr
        and "abcdefgh" not in done.stdout
    )
    done = fdc("run", "a.plan", "path=a.plan", cwd=workspace)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_settings_name_more(workspace: Path) -> None:
    (workspace / "fdc.toml").write_text('secret = ["vault/**"]\n')
    (workspace / "vault").mkdir()
    (workspace / "vault/a.txt").write_text("hidden\n")
    begun = "set_plan x\nplan_step_complete x\n"
    (workspace / "a.plan").write_text(f"{begun}read_file vault/a.txt\nclose_task\nsubmit\n")
    done = fdc("lint", "a.plan", cwd=workspace)
    assert done.returncode == 1 and "FDC418" in done.stdout
    (workspace / "a.plan").write_text(
        f"{begun}l <- grep hidden\nmessage_user found {{l}}\nclose_task\nsubmit\n"
    )
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 0 and "vault" not in done.stdout and "found [" in done.stdout, (
        done.stdout + done.stderr
    )
