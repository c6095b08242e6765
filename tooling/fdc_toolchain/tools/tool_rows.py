"""Every tool that can run here: the table of the core, and what packs add to it.

To add a tool, write a function and give it a row:

    def my_tool(args: dict, context: Context) -> JSON or Outcome

in a module of this room, and in `TOOLS`

    "my_tool": Row("fdc_toolchain.tools.my_module", "my_tool"),

beside its declaration in a catalogue. A pack gives its own tools and predicates rows in its `pack.toml`, and writes no row here.
Nothing else needs to know. The module is imported when a
plan uses the tool. `args` holds the step's arguments by parameter name, as the plan gives them
(any JSON value; use `context.text` or `context.word`, which refuse what they cannot take);
parameters of the kind `number` arrive as numbers, and what the declaration requires is there.
`context` (`tools.context.Context`) is the world: `root` for files, `key` for idempotency,
`run_folder` for marks, `say` and `ask` for people.

Return any JSON value, or an `Outcome` to report usage (`{"model_calls": 1, "tokens": 812}`) and
remarks for the journal. Raise `ToolFailure(kind, sentence)` when the step did not do what it was
asked; a tool that cannot run here raises that too, and never makes a result up (T-23). Raise
`WorldFailed` for trouble that passes (no space, no network): the run stops and can be resumed.
An OSError becomes one or the other by itself.

The effect class in the catalogue is a promise about the function. `pure` and `read`: harmless to
repeat. `idempotent`: repeated with the same `context.key` it leaves the same world and result.
`once`: neither; it may have a `probe` with the same signature, which finds out after a crash:
it returns the `Outcome` if it happened, "not-done" or "unknown".
"""

from __future__ import annotations

from ..named_tuples import NamedTuple
from ..packs.index import index
from ..packs.model import Function
from ..program.model import ToolRow


class Where(NamedTuple):
    """A need (`what`) of the steps that write one of the `values` out for a parameter."""

    what: str
    parameter: str
    values: tuple[str, ...]


GIT = ("sandbox", "git")


class Row(NamedTuple):
    """Where a tool's function is: a module, its name in it, and that of its probe.

    `needs`: what this machine or its operator has to give for it, by the names of `runs.granted`.
    """

    module: str
    function: str
    probe: str | None = None
    needs: tuple[str | Where, ...] = ()


MCP = Row("fdc_toolchain.mcp_client.calling", "call")
"""What performs the tools of MCP servers; it is given the declaration, too."""

TOOLS: dict[str, Row] = {
    "set_plan": Row("fdc_toolchain.tools.talk_tools", "mark"),
    "plan_step_complete": Row("fdc_toolchain.tools.talk_tools", "mark"),
    "message_user": Row("fdc_toolchain.tools.talk_tools", "message_user", "probe_message"),
    "request_user_input": Row("fdc_toolchain.tools.talk_tools", "ask_user", "probe_question"),
    "record_user_approval_for_plan": Row(
        "fdc_toolchain.tools.talk_tools", "ask_approval", "probe_question"
    ),
    "request_code_review": Row("fdc_toolchain.tools.talk_tools", "ask_review", "probe_question"),
    "reply_to_pr_comments": Row("fdc_toolchain.tools.talk_tools", "unavailable", None, ("nobody",)),
    "pre_commit_instructions": Row("fdc_toolchain.tools.talk_tools", "pre_commit"),
    "initiate_memory_recording": Row("fdc_toolchain.tools.talk_tools", "memory"),
    "hello_world": Row("fdc_toolchain.tools.talk_tools", "hello"),
    "submit": Row("fdc_toolchain.tools.talk_tools", "submit", "probe_submit"),
    "close_task": Row("fdc_toolchain.tools.talk_tools", "close_task"),
    "define_set_of_names": Row("fdc_toolchain.tools.talk_tools", "mark"),
    "define_diagonalization_function": Row("fdc_toolchain.tools.talk_tools", "mark"),
    "reset_all": Row("fdc_toolchain.tools.talk_tools", "forbidden"),
    "google_search": Row(
        "fdc_toolchain.tools.web.web_tools", "google_search", None, ("web", "search")
    ),
    "view_text_website": Row(
        "fdc_toolchain.tools.web.web_tools", "view_text_website", None, ("web", "pages")
    ),
    "search_web": Row("fdc_toolchain.tools.web.web_tools", "search_web", None, ("web", "search")),
    "read_web_page": Row(
        "fdc_toolchain.tools.web.web_tools", "read_web_page", None, ("web", "pages")
    ),
    "research": Row("fdc_toolchain.tools.talk_tools", "unavailable", None, ("nobody",)),
    "run_plan": Row("fdc_toolchain.tools.plans.plan_tools", "run_plan"),
    "approve_plan": Row("fdc_toolchain.tools.plans.plan_tools", "approve_plan", "probe_question"),
    "generate_code": Row("fdc_toolchain.tools.code_tools", "generate_code", "probe"),
    "code.write": Row("fdc_toolchain.tools.code_tools", "write_code", "probe"),
    "code.apply": Row("fdc_toolchain.tools.code_tools", "apply_code"),
    "code.test": Row("fdc_toolchain.tools.code_tools", "test_code"),
    "create_file_with_block": Row("fdc_toolchain.tools.files.file_tools", "create"),
    "overwrite_file_with_block": Row("fdc_toolchain.tools.files.file_tools", "overwrite"),
    "replace_with_git_merge_diff": Row(
        "fdc_toolchain.tools.files.file_tools", "replace", "probe_replace"
    ),
    "restore_file": Row("fdc_toolchain.tools.files.file_tools", "restore", None, GIT),
    "git_add": Row("fdc_toolchain.tools.files.git_tools", "add", None, GIT),
    "git_commit": Row("fdc_toolchain.tools.files.git_tools", "commit", "probe_commit", GIT),
    "delete_file": Row("fdc_toolchain.tools.files.file_tools", "delete"),
    "rename_file": Row("fdc_toolchain.tools.files.file_tools", "rename", "probe_rename"),
    "read_file": Row("fdc_toolchain.tools.files.file_tools", "read"),
    "view_image": Row("fdc_toolchain.tools.files.file_tools", "view_image"),
    "list_files": Row("fdc_toolchain.tools.files.find_tools", "listing"),
    "grep": Row("fdc_toolchain.tools.files.find_tools", "grep"),
    "read_lines": Row("fdc_toolchain.tools.files.file_tools", "read_lines"),
    "among": Row("fdc_toolchain.tools.calls.list_tools", "among"),
    "append": Row("fdc_toolchain.tools.calls.list_tools", "append"),
    "run_in_bash_session": Row(
        "fdc_toolchain.tools.shell", "run_in_bash_session", None, ("sandbox", "bash")
    ),
}


def tool(name: str) -> Row | None:
    """What performs a tool, of the core or of a pack. A pack takes no name of the core's."""
    row = TOOLS.get(name)
    return row if row is not None else _of_pack(index().tools.get(name))


def predicate(name: str) -> Row | None:
    """What answers a predicate. The core has none; packs have."""
    return _of_pack(index().predicates.get(name))


def _of_pack(found: Function | None) -> Row | None:
    if found is None:
        return None
    needed = (need if isinstance(need, str) else Where(*need) for need in found.needs)
    return Row(found.module, found.function, found.probe, tuple(needed))


def can_tell(name: str, declared: ToolRow | None) -> bool:
    """Whether an attempt of a `once` tool without an outcome is settled by itself, as far as its declaration tells."""
    row = tool(name)
    return bool(declared and (declared.get("repeatable") or "creates" in declared)) or (
        row is not None and row.probe is not None
    )
