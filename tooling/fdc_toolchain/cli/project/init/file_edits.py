"""The files of `fdc init`, and what it does with each: write, add to, or keep."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from .... import durable
from ....cache.git_index import tracked
from ....linking.project.ignored import Ignored
from ....linking.project.settings import Settings
from ....named_tuples import NamedTuple
from ....protocols.compile import BuildOptions, WorkspaceView, compile_agents
from ....protocols.seal import is_ours
from .merged import ByHand, appended, with_repository

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")

MARK = "fdc init"
"""The marker in every block that is added to a file. A file with the marker is not changed."""

COMPILED_BESIDE = "protocols/AGENTS.md"
"""The output file of the rules in a repository that already has an AGENTS.md."""

IGNORED = (
    "/.fdc/",
    "/.fdc_cache/",
    "/logs/",
    "/reports/",
    "/research/",
    "/runs/",
    "/knowledge_core/.*.lock",
    "/protocols/.*.lock",
    "/plan.txt",
    "/plan.findings.txt",
)

IGNORED_HEAD = f"# {MARK}: what fdc writes while it works"

PRE_COMMIT = """\
- repo: local  # {mark}: the hooks call the `fdc` that is on PATH
  hooks:
  - id: fdc-lint
    name: fdc lint
    entry: fdc lint
    language: system
    pass_filenames: false
    always_run: true
    verbose: true
  - id: fdc-fmt
    name: fdc fmt
    entry: fdc fmt
    language: system
    files: '(^|/)(plan\\.txt|[^/]+\\.plan(\\.txt)?)$'
  - id: fdc-protocols
    name: fdc protocols
    entry: fdc protocols --check
    language: system
    pass_filenames: false
    always_run: true
"""

PRE_COMMIT_BEFORE = (
    PRE_COMMIT.removesuffix("    always_run: true\n")
    + "    files: '(^protocols/|(^|/)AGENTS\\.md$|^fdc\\.toml$)'\n"
)
"""The entry of an older fdc: pre-commit skipped its last hook where a source was deleted."""


FSM = "tooling/fdc_fsm.json"
"""The automaton of the first plan; it comes with fdc."""

_TOOLS = (
    "set_plan", "plan_step_complete", "list_files", "message_user", "run_in_bash_session", "read_file", "grep", "generate_code",
    "execute_research_protocol", "google_search", "view_text_website", "search_passages", "read_web_page", "extract_evidence",
    "close_task", "submit",
)  # fmt: skip
"""The tools of the rules: those of the first plan, and those that a check names."""

VERSION = "0.1.0\n"
"""The first version of the rules."""


class Done(NamedTuple):
    """The action for one file: `word` is write, add, keep or by hand; `why`: the reason; `data`: its new bytes, if it changes."""

    path: str
    word: str
    why: str
    data: bytes | None = None


MOST_BYTES = 1024 * 1024  # only for a file that is added to


class Work:
    """The planned changes. This class does not write: `files` has the bytes by real path."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.done: list[Done] = []
        self.files: dict[str, bytes] = {}
        self.before: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """The planned bytes of a file; None if it does not exist. Raises OSError."""
        real = os.path.realpath(os.path.join(self.root, path))
        return self.files[real] if real in self.files else durable.read(real)

    def new(self, path: str, text: str) -> None:
        """Plans a new file, unless it exists."""
        self._apply(path, lambda old: text.encode("utf-8") if old is None else None)

    def block(self, path: str, text: str, head: str = "") -> None:
        """Plans a block at the end of a file; a new file begins with `head`."""

        def add(old: bytes | None) -> bytes | None:
            if old is not None and (
                f"{MARK}:".encode() in old or old.strip() and not is_foreign(old)
            ):
                return None  # it has the block already, or is compiled from the rules
            return appended(head.encode("utf-8") if old is None else old, text)

        self._apply(path, add, text)

    def add(self, path: str, make: Callable[[bytes], bytes | None], wanted: str) -> None:
        """Plans what `make` adds to a file; if it cannot, the person is shown `wanted`."""
        self._apply(path, lambda old: make(old or b""), wanted)

    def note(self, path: str, word: str, why: str) -> None:
        """Adds a note about a file, unless the file is written."""
        if all(one.path != path for one in self.done):
            self.done.append(Done(path, word, why))

    def _apply(
        self, path: str, make: Callable[[bytes | None], bytes | None], wanted: str = ""
    ) -> None:
        try:
            real = self._real(path)
            old = self.read(path)
            if wanted and old is not None and len(old) > MOST_BYTES:
                raise ByHand(f"it has more than {MOST_BYTES:,} bytes")
            data = make(old)
        except ByHand as wrong:
            self.note(
                path, "by hand", f"{wrong}; add this yourself:\n{wanted}" if wanted else str(wrong)
            )
            return
        if data is None or data == old:
            self.note(path, "keep", "")
            return
        self.before.setdefault(real, old)
        self.files[real] = data
        self.done.append(Done(path, "write" if old is None else "add", "", data))

    def _real(self, path: str) -> str:
        real = os.path.realpath(os.path.join(self.root, path))
        if os.path.commonpath([self.root, real]) != self.root:
            raise ByHand("it is a link out of the workspace")
        if ".git" in os.path.relpath(real, self.root).split(os.sep):
            raise ByHand("it is inside the folder `.git`")
        return real


def template(name: str, test: str = "") -> str:
    """A shipped template, with the test command filled in."""
    with open(os.path.join(TEMPLATES, name), encoding="utf-8") as file:
        return file.read().replace("@TEST@", test)


def wanted(work: Work, settings: Settings, stated: bool, test: str, git: bool) -> str:
    """Plans every file except those of agents; returns the file of the compiled rules, or an empty text.

    `stated`: the workspace has settings. `test`: the command that runs the tests.
    """
    foreign = is_foreign(work.read("AGENTS.md"))
    if stated:
        work.note("settings", "keep", "")
    else:
        if foreign:
            settings = settings._replace(agents=settings.agents._replace(output=COMPILED_BESIDE))
        work.new("fdc.toml", settings_text(test, COMPILED_BESIDE if foreign else ""))
    work.new("knowledge_core/agent_meta.json", identity())
    work.new("knowledge_core/plan_registry.json", "{}\n")
    work.new("plans/first.plan", first_plan(settings))
    rules = _rules(work, settings, test)
    if foreign:
        work.block("AGENTS.md", pointer(rules))
    if git:
        lines = [line for line in IGNORED if not tracked(work.root, line.strip("/"))]
        work.block(".gitignore", "\n".join([IGNORED_HEAD, *lines]))
        entry = PRE_COMMIT.format(mark=MARK)
        work.add(".pre-commit-config.yaml", lambda old: _hooked(old, entry), entry)
    else:
        work.note(".gitignore", "skip", "this is not the top of a git repository")
        work.note(".pre-commit-config.yaml", "skip", "this is not the top of a git repository")
    return rules


def first_plan(settings: Settings) -> str:
    """The first plan; it names its automaton only where the settings have another one."""
    head = "" if settings.fsm == FSM else f"# FSM: {FSM}\n"
    return head + template("first.plan")


def pointer(rules: str, *more: str) -> str:
    """The block for a file of instructions: where the rules are, and `more` lines."""
    said = "Before you change files, write a plan to `plan.txt`, prove it: `fdc lint plan.txt`, and run it: `fdc run plan.txt`."
    where = (
        f"The rules are in `{rules}`: read it first." if rules else "The rules are in `protocols/`."
    )
    mark = f"<!-- {MARK}: a block that you may change; fdc adds it once -->"
    return "\n".join([mark, "", "## Plans", "", said, where, *more])


def _hooked(old: bytes, entry: str) -> bytes | None:
    if b"fdc-lint" in old:
        return None
    return with_repository(old, entry) if old.strip() else b"repos:\n" + entry.encode("utf-8")


def is_foreign(data: bytes | None) -> bool:
    """Whether a file of instructions is there and was not compiled from rules by fdc."""
    return data is not None and not is_ours(data.decode("utf-8", "replace"))


def settings_text(test: str, output: str) -> str:
    """The settings. `output`: the file that the rules are compiled into; empty for the default."""
    text = (
        "# Settings of fdc. `fdc schema settings` has every key.\n\n"
        "# The command that shows whether the code works. The rule in protocols/ asks for it too.\n"
        f"test-command = {json.dumps(test, ensure_ascii=False)}\n"
    )
    if output:
        text += (
            "\n[agents]\n# AGENTS.md was here before: `fdc protocols` compiles the rules into this file.\n"
            f"output = {json.dumps(output)}\n"
        )
    return text


def identity() -> str:
    """The data of the agent before anybody has filled it in."""
    meta = {
        "model_name": "unspecified",
        "knowledge_cutoff": "unspecified",
        "note": "`fdc start` and `fdc agent` read this file first. Say which model works here and what it knows until when.",
    }
    return json.dumps(meta, indent=2) + "\n"


def rule(test: str) -> str:
    """The first rule: `submit` requires a run of the tests after the last change."""
    check = {
        "template": "fresh",
        "a": {"tool": "run_in_bash_session", "arguments": {"command": test}},
        "b": ["write_op", "delete_op", "move_op"],
        "c": "submit_op",
    }
    made = {
        "protocol_id": "house",
        "protocol_name": "House rules",
        "description": "What every plan of this repository keeps.",
        "rules": [
            {
                "rule_id": "tests-before-submit",
                "description": f"After the last change of a file the tests run (`{test}`), before the plan submits.",
                "enforcement": "In every plan that submits. What commands write is not seen."
                " Tests that fail stop the run, unless the plan keeps the result.",
                "check": check,
            },
            *json.loads(template("house.rules.json")),
        ],
        "associated_tools": list(_TOOLS),
    }
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _rules(work: Work, settings: Settings, test: str) -> str:
    """Plans the rules and the file that they are compiled into; returns its path (empty if there is none)."""
    folder = settings.protocols
    source, prose = f"{folder}/house.protocol.json", f"{folder}/house.protocol.md"
    if not folder:
        work.note("protocols/", "skip", "the settings disable protocols")
        return ""
    if (
        os.path.commonpath([work.root, os.path.realpath(os.path.join(work.root, folder))])
        != work.root
    ):
        work.note(f"{folder}/", "skip", "the settings place the protocols outside the workspace")
        return ""
    if _has_sources(os.path.join(work.root, folder)) and work.read(source) is None:
        work.note(f"{folder}/", "keep", "it already contains rules; fdc does not add one")
        return settings.agents.output if work.read(settings.agents.output) is not None else ""
    work.new(source, rule(test))
    work.new(prose, template("house.protocol.md"))
    work.new(f"{folder}/VERSION", VERSION)
    output = settings.agents.output
    if work.read(output) is not None:
        work.note(output, "keep", "")
        return output
    if work.read(source) is None:
        return ""  # the person must place it, and was told
    sources = {path: work.read(path) or b"" for path in (source, prose)}
    text = compiled(settings, output, sources, work.read(f"{folder}/VERSION"))
    if text is None:
        work.note(
            output, "skip", "the rules cannot be compiled; `fdc protocols build` shows the errors"
        )
        return ""
    work.new(output, text)
    return output


def compiled(
    settings: Settings, output: str, sources: dict[str, bytes], version: bytes | None
) -> str | None:
    """The rules of `sources` (bytes by path) as the file `output` has them; None if they cannot be compiled."""
    folder = settings.protocols
    return compile_agents(
        sources,
        version,
        lambda path: None,
        BuildOptions(source=folder, output=output, max_bytes=settings.agents.max_bytes),
        WorkspaceView(version_file=f"{folder}/VERSION"),
    ).text


def hidden(work: Work) -> list[str]:
    """The files of `work` that the repository's .gitignore excludes, so that git does not share them."""
    rules = Ignored(work.root)
    found = []
    for path in (done.path for done in work.done if done.word in ("write", "add", "keep")):
        parts = path.split("/")
        folders = ["/".join(parts[:end]) for end in range(1, len(parts))]
        for folder in folders:
            rules.enter(folder)
        is_ignored = any(rules(folder, True) for folder in folders) or rules(path, False)
        if is_ignored and not tracked(work.root, path):
            found.append(path)
    return found


def _has_sources(folder: str) -> bool:
    for _, _, names in os.walk(folder):
        if any(
            name.endswith((".protocol.json", ".protocol.md")) or name == "layout.json"
            for name in names
        ):
            return True
    return False
