"""What a step chooses, looks at and changes, as its tool's declaration says: the flow analysis asks it of every step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ....linking.catalogue import Parameter, Tool, reads_at_large, runs_plan
from ....linking.model import Act
from ....linking.own_row import programs, reads_all, sandboxed
from ....syntax.values import Value
from .data_commands import files_of, is_data_command
from .file_taint import ANY, RUN, SEEN, Pattern, pattern_of, pattern_of_glob, tree_of

_HARMLESS = ("data", "user")
ACTING = frozenset(("command", "message", "change", "anything", "plan"))
"""What a step chooses that acts, so that text from outside must not decide whether it runs."""


def sinks(tool: Tool) -> tuple[str | None, ...]:
    """What the text of each parameter chooses; None: nothing. What is not declared may choose anything, but for a pure
    function, which only makes a result of it, and for a prompt, which a model is shown."""
    return _sinks(
        tool.name, tool.effect == "pure" or "prompt" in (tool.row.get("run") or ()), tool.parameters
    )


@lru_cache(maxsize=1 << 10)
def _sinks(name: str, only_text: bool, parameters: tuple[Parameter, ...]) -> tuple[str | None, ...]:
    unsaid = None if only_text else "anything"
    return tuple(
        unsaid if item.sink is None else None if item.sink in _HARMLESS else item.sink
        for item in parameters
    )


def chosen(node: Act, sink: str) -> Iterator[Value]:
    """The arguments that choose something of one kind."""
    arguments = node.bound.arguments
    for parameter in node.bound.tool.parameters:
        if parameter.sink == sink and parameter.name in arguments:
            yield arguments[parameter.name]


def executes(node: Act) -> bool:
    """True for a step that runs a command which may execute what it sees."""
    return any(not is_data_command(value) for value in chosen(node, "command"))


def acts(node: Act) -> bool:
    """True for a step that changes something outside of the run's own folder, tells somebody else, or asks for an approval:
    who decides whether a person is asked decides what is done without being asked."""
    tool = node.bound.tool
    if tool.row.get("approves") or tool.row.get("access", {}).get("write"):
        return True
    given = [
        (item, sink)
        for item, sink in zip(tool.parameters, sinks(tool), strict=True)
        if item.name in node.bound.arguments
    ]
    if tool.writes_unknown or any(sink in ACTING for _, sink in given):
        return True
    changed = [item for item, _ in given if item.access and item.access != "read"]
    if any(
        not pattern_of(node.bound.arguments[item.name]).begins.startswith(RUN) for item in changed
    ):
        return True
    talks = bool(tool.parameters) and all(item.sink == "user" for item in tool.parameters)
    lasts = tool.effect in ("once", "idempotent") and (sandboxed(tool.row) or not changed)
    return lasts and not talks


def started(node: Act) -> Iterator[Pattern]:
    """The files that a command of the catalogue may execute: those that its row names."""
    yield from (Pattern(path, path, True) for path in programs(node.bound.tool.row))


def adds(node: Act) -> Iterator[Value]:
    """The paths of what git is given for the next commit. What stands in its index is not followed."""
    if node.bound.tool.row.get("shares") == "git":
        yield from (value for how, value in node.bound.files if how == "read")


def reads(node: Act) -> Iterator[tuple[Pattern, bool, bool]]:
    """The files that a step looks at: whether at their texts, and whether at which of them there are.

    A step that reads one file by its name fails where the file is missing, and so says nothing of it by its result,
    unless its failure is a value.
    """
    tool, arguments = node.bound.tool, node.bound.arguments
    commands = list(chosen(node, "command"))
    if commands and not executes(node):
        for pattern in (pattern for command in commands for pattern in files_of(command)):
            yield pattern, True, True
    elif tool.row.get("writes") == "unknown":
        # a plan that is run is proved by itself, with what files hold, and gives nothing on that is from outside
        yield (SEEN if commands else ANY), not runs_plan(tool.row), True
    elif tool.trust in ("workspace", "model") and tool.effect != "pure":
        # A model's text has the labels of what the model was shown; a prompt is shown what it is given.
        named = tool.trust == "model" and not reads_at_large(tool.row)
        for item in tool.parameters:
            if item.sink == "path" and item.name in arguments:
                value, named = arguments[item.name], True
                if item.kind == "path":
                    yield pattern_of(value), True, False
                else:
                    yield tree_of(value), tool.row.get("reads") != "names", True
        if not named:
            yield ANY, tool.row.get("reads") != "names", True
    yield from _opens(node)


def _opens(node: Act) -> Iterator[tuple[Pattern, bool, bool]]:
    """The same for files that code of the workspace or git opens by itself, and for those that a step changes, but `opened`."""
    tool, files = node.bound.tool, node.bound.files
    git, told, code = tool.row.get("shares") == "git", _tells(tool), _is_code(tool)
    if code:
        for glob in ("**",) if reads_all(tool.row) else tool.row["access"]["read"]:
            yield pattern_of_glob(glob), True, True
    if not any(stays for *_, stays in opened(node)):
        for how, value in files:
            texts = git or code or how == "edit" or told and how == "read"
            if texts or told or how == "delete":
                yield pattern_of(value), texts, told or how not in ("read", "edit")
    if git and not files:
        yield SEEN, True, True  # a commit is made of all files that are tracked


def _tells(tool: Tool) -> bool:
    return tool.row.get("failure") == "value"


def _is_code(tool: Tool) -> bool:
    return tool.effect != "pure" and sandboxed(tool.row)


def opened(node: Act) -> Iterator[tuple[Pattern, bool, bool]]:
    """The files that a step can open because it can change them: whether its result may say which there are, and whether what
    they hold stays where it is: that of the one file that a step changes. Code of the workspace may read what it may write.
    A step that is given nothing to write takes it from the file, or from an older one."""
    tool, files, code = node.bound.tool, node.bound.files, _is_code(node.bound.tool)
    globs = tool.row.get("access", {}).get("write", ())
    if code:
        yield from ((pattern_of_glob(glob), True, False) for glob in globs)
    if len(files) != 1 or tool.writes_unknown or globs:
        return
    (how, value), alone = files[0], len(tool.parameters) == 1
    if how == "edit" or how in ("write", "create") and (code or how == "write" and alone):
        yield pattern_of(value), how != "edit" or _tells(tool), True


def changes(node: Act) -> Iterator[tuple[Pattern, str]]:
    """The files that a step changes, each with how: `unknown`, or what the declaration says."""
    for glob in node.bound.tool.row.get("access", {}).get("write", ()):
        yield pattern_of_glob(glob), "unknown"
    if node.bound.tool.row.get("writes") == "unknown" and (
        executes(node) or not any(chosen(node, "command"))
    ):
        yield (SEEN if any(chosen(node, "command")) else ANY), "unknown"
    for access, value in node.bound.files:
        if access != "read":
            yield pattern_of(value), access
