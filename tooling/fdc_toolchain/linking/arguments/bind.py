"""Binds a step's arguments to its tool's parameters, and finds the step's action type.

The result depends only on the tool and the text of the step, so it is memoised by them;
problems carry offsets, which the linker turns into places.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...named_tuples import NamedTuple, new_tuple
from ...program.operators import as_number, is_number
from ...syntax import values
from ...syntax.values import Malformed, Ref, Value
from ...text.later_regex import later
from ...text.suggest import did_you_mean
from ..catalogue import Parameter, Tool, When


class Problem(NamedTuple):
    """A finding about a tail: code, offsets from the tail's start, message, help."""

    code: str
    start: int
    end: int
    message: str
    help: str | None = None


class Bound(NamedTuple):
    """A step's meaning: its action symbol, its arguments by parameter, the files it names by access."""

    tool: Tool
    action: str | None
    arguments: dict[str, Value]
    files: tuple[tuple[str, Value], ...]
    problems: tuple[Problem, ...]


_INTERPRETERS = frozenset(
    "python python3 bash sh dash zsh ksh env uv poetry exec command nohup time sudo builtin setsid".split()
)
_SHELLS = frozenset("bash sh dash zsh ksh".split())
_WRAPPERS = frozenset("timeout nice ionice stdbuf xargs doas chroot".split())
"""Programs that run what follows their own options and numbers."""
_MOST_DEPTH = 4


@lru_cache(maxsize=1 << 12)
def _programs(command: str, depth: int = 0) -> list[tuple[str, str | None, bool]]:
    """The programs that a shell text runs: (base name, first argument, whether it is the whole text).

    Reads words as the shell does and splits at its operators, so that an argument that merely
    mentions a program does not count (FDC-18, T-12). Looks into what `sh -c` and `eval` run, into command substitutions
    and into variables that the text itself sets; what else hides a program is found when the command runs.
    """
    words = command.split(" ") if _PLAIN(command) else _shell_words(command)
    groups: list[list[str]] = [[]]
    for word in words:
        if word and not word.strip(";&|()\n"):
            groups.append([])
        else:
            groups[-1].append(word)
    groups = [group for group in groups if group]
    programs = []
    known: dict[str, str] = {}
    for group in groups:
        for inner in _nested_commands(group, known) if depth < _MOST_DEPTH else ():
            programs += [(name, first, False) for name, first, _ in _programs(inner, depth + 1)]
        rest = []
        for word in group:
            rest += (
                _substitute(word, known).split()
                if word.startswith("$")
                else [_substitute(word, known)]
            )
        if rest[:1] in (["export"], ["declare"], ["readonly"], ["local"]):
            rest.pop(0)
        while rest and (
            (is_assignment := "=" in rest[0] and rest[0].split("=", 1)[0].isidentifier())
            or _program_name(rest[0]).rstrip("0123456789.") in _INTERPRETERS
            or (rest[0].startswith("-") and len(rest) > 1)
            or rest[0] in ("run",)
        ):
            word = rest.pop(0)
            if is_assignment:
                name, _, value = word.partition("=")
                known[name] = value
        if rest and _program_name(rest[0]) in _WRAPPERS:
            rest.pop(0)
            while rest and (rest[0].startswith("-") or rest[0][:1].isdigit()):
                rest.pop(0)
        if rest:
            first = next((word for word in rest[1:] if not word.startswith("-")), None)
            programs.append((_program_name(rest[0]), first, len(groups) == 1))
    return programs


_VARIABLE = later(r"\$(?:(\w+)|\{(\w+)\})")
_SUBSTITUTION = later(r"\$\(([^()]*)\)|`([^`]*)`")


def _substitute(word: str, known: dict[str, str]) -> str:
    """A word with the variables that the text set before."""
    if "$" not in word or not known:
        return word
    return _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), word)


def _nested_commands(group: list[str], known: dict[str, str]) -> list[str]:
    """The shell texts inside a command: arguments of `sh -c` and `eval`, and command substitutions."""
    texts: list[str] = []
    for at, word in enumerate(group):
        if "$(" in word or "`" in word:
            texts += [match[1] or match[2] or "" for match in _SUBSTITUTION.finditer(word)]
        base = _program_name(word)
        if base == "eval":
            texts.append(" ".join(_substitute(rest, known) for rest in group[at + 1 :]))
        elif base in _SHELLS:
            following = group[at + 1 :]
            for number, option in enumerate(following[:-1]):
                if not option.startswith(("-", "+")):
                    break
                if option.startswith("-") and not option.startswith("--") and "c" in option:
                    texts.append(_substitute(following[number + 1], known))
                    break
    return [text for text in texts if text]


_PLAIN = re.compile(r"[\w./:=@%+,-]+(?: [\w./:=@%+,-]+)*").fullmatch
"""Matches a command whose words the shell takes literally: it can be split at spaces (a test compares both ways)."""


def _shell_words(command: str) -> list[str]:
    import shlex

    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|()\n")
        lexer.whitespace_split = True
        lexer.commenters = ""
        return list(lexer)
    except ValueError:
        return command.split()


def _program_name(word: str) -> str:
    name = word.rsplit("/", 1)[-1]
    if name.startswith("fdc_toolchain.cli"):
        return "fdc"
    return name


def _matches_command(when: When, arguments: dict[str, Value], *, whole: bool) -> bool:
    value = arguments.get(when.parameter)
    if value is None:
        return False
    for name, first, alone in _programs(value.text):
        if when.subcommand in (None, first) and (alone or not whole):
            if name == when.program or name == when.program.removesuffix(".py"):
                return True
    return False


class Binder:
    """Binds the steps of one catalogue, each distinct text once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str | None], Bound] = {}

    def bind(self, tool: Tool, tail: str, block: str | None) -> Bound:
        """The meaning of `tool tail` with a text block (None: there is none)."""
        key = (tool.name, tail, block)
        bound = self._known.get(key)
        if bound is None:
            bound = self._known[key] = (
                _bind_unchecked(tool, tail, block) if tool.broken else _bind_step(tool, tail, block)
            )
        return bound


def _bind_unchecked(tool: Tool, tail: str, block: str | None) -> Bound:
    """Binds a step of a tool whose catalogue row is invalid: its text is kept as it is, and nothing is checked."""
    arguments = {"tail": values.rest(tail)} if tail else {}
    if block is not None:
        arguments["block"] = Value(block, values.template(block), 0, 0)
    return Bound(tool, tool.action, arguments, (), ())


def _bind_step(tool: Tool, tail: str, block: str | None) -> Bound:
    problems: list[Problem] = []
    arguments: dict[str, Value] = {}
    inline = tool.inline
    if inline and inline[-1].kind == "rest":
        _bind_rest(inline, tail, arguments, problems, tool)
    else:
        _bind_words(inline, tail, arguments, problems, tool)
    block_parameter = tool.block
    if block is not None:
        if block_parameter is None:
            message = f"unexpected text block: `{tool.name}` takes none"
            problems.append(
                Problem("FDC107", -1, -1, message, "steps of one body have the same indentation")
            )
        else:
            arguments[block_parameter.name] = Value(block, values.template(block), 0, 0)
    elif block_parameter is not None and block_parameter.required:
        message = f"`{tool.name}` needs a text block; indent it below the step"
        problems.append(Problem("FDC305", -2, -2, message))
    for item in inline:
        if (
            item.name not in arguments
            and item.required
            and not any(p.code == "FDC109" for p in problems)
        ):
            problems.append(
                Problem("FDC302", -2, -2, f"`{tool.name}` needs `{item.name}`", _usage(tool))
            )
    if tool.need_one_of and not any(name in arguments for name in tool.need_one_of):
        choices = " or ".join(f"`{name}`" for name in tool.need_one_of)
        problems.append(Problem("FDC302", -2, -2, f"`{tool.name}` needs {choices}", _usage(tool)))
    if tool.forbidden:
        problems.append(
            Problem("FDC306", -2, -2, f"CRITICAL: `{tool.name}` is forbidden: {tool.forbidden}")
        )
    action = tool.action
    if tool.programs and any(word in tail for word in tool.programs):
        for when, symbol in tool.actions:
            if _matches_command(when, arguments, whole=True):
                action = symbol
                break
        for when, why in tool.refuse:
            if _matches_command(when, arguments, whole=False):
                problems.append(Problem("FDC307", 0, max(1, len(tail)), why))
                break
    files = tuple(
        [
            (item.access, arguments[item.name])
            for item in inline
            if item.access and item.name in arguments
        ]
    )
    return new_tuple(Bound, (tool, action, arguments, files, tuple(problems)))


def _usage(tool: Tool) -> str:
    words = [tool.name]
    for item in tool.parameters:
        if item.kind != "block":
            words.append(item.name.upper() if item.required else f"[{item.name.upper()}]")
    return "usage: " + " ".join(words) + (" and a text block" if tool.block else "")


def _bind_rest(
    inline: tuple[Parameter, ...],
    tail: str,
    arguments: dict[str, Value],
    problems: list[Problem],
    tool: Tool,
) -> None:
    words, last = inline[:-1], inline[-1]
    at = 0
    for item in words:
        stop = tail.find(" ", at)
        stop = len(tail) if stop < 0 else stop
        if stop > at:
            arguments[item.name] = Value(tail[at:stop], values.template(tail[at:stop]), at, stop)
        at = stop + 1
    text = tail[at:] if at else tail
    if not text:
        return
    parts: tuple[str | Ref, ...] = (text,)
    if "{" in text:
        parts = tuple(
            part
            if isinstance(part, str)
            else part._replace(start=part.start + at, end=part.end + at)
            for part in values.template(text)
        )
    arguments[last.name] = new_tuple(Value, (text, parts, at, len(tail)))
    option = _OPTION.fullmatch(text) if last.sink != "command" else None
    if option is not None:
        message = f"`{tool.name}` has no options: `{option[1]}` would be part of its `{last.name}`"
        hint = f"write the text alone: `{tool.name} {option[2]}`"
        problems.append(Problem("FDC303", at, at + len(option[1]), message, hint))


_OPTION = re.compile(r'(--?[A-Za-z][\w-]*)[ =]"([^"]*)"')
"""An option with a quoted value, as on a shell's command line."""


def _bind_words(
    inline: tuple[Parameter, ...],
    tail: str,
    arguments: dict[str, Value],
    problems: list[Problem],
    tool: Tool,
) -> None:
    if not tail:
        return
    parsed = values.arguments(tail)
    if isinstance(parsed, Malformed):
        problems.append(Problem("FDC109", parsed.start, parsed.end, parsed.message, parsed.help))
        return
    names: dict[str, Parameter] = {}
    order = iter(inline)
    for argument in parsed:
        value = argument.value
        if argument.key is not None and not names:
            names = {item.name: item for item in inline}
        if argument.key is None:
            item = next(order, None)
            while item is not None and item.name in arguments:
                item = next(order, None)
            if item is None:
                message = f"`{tool.name}` takes no further argument, found `{value.text}`"
                problems.append(Problem("FDC303", argument.start, value.end, message, _usage(tool)))
                continue
        elif argument.key in names:
            item = names[argument.key]
            if item.name in arguments:
                message = f"`{item.name}` is given twice"
                problems.append(Problem("FDC303", argument.start, value.end, message))
                continue
        else:
            message = f"`{tool.name}` has no parameter `{argument.key}`"
            hint = did_you_mean(argument.key, names) or _usage(tool)
            problems.append(Problem("FDC303", argument.start, value.end, message, hint))
            continue
        from_1 = item.form == "count"
        if (item.kind == "number" or from_1) and (literal := value.literal) is not None:
            number = as_number(literal)
            if not is_number(number) or from_1 and number < 1:
                what = "a number from 1" if from_1 else "a number"
                message = f"`{item.name}` takes {what}, found `{literal}`"
                problems.append(Problem("FDC304", value.start, value.end, message))
        if not value.parts and item.kind in ("path", "glob"):
            problems.append(Problem("FDC304", value.start, value.end, f"`{item.name}` is empty"))
        arguments[item.name] = value
