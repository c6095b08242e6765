"""Notations with a command a block (D2 to D5): the first line names the tool, the lines below it are its arguments."""

from __future__ import annotations

from ..linking.catalogue import Tool
from . import lines as line_notation
from . import words
from .dialect import BLANK, DIRECTIVE, automaton, colon, known
from .model import Draft, Numbered, Refused, Tools
from .steps import step


def convert(draft: Draft, lines: list[Numbered], notation: str, tools: Tools) -> None:
    """Writes the blocks as statements. Raises Refused where a block could be content of the one above it."""
    writer = _Blocks(draft, tools, notation == BLANK)
    for separator, block in _split(lines, notation):
        writer.block(separator, block)


def _split(lines: list[Numbered], notation: str) -> list[tuple[Numbered | None, list[Numbered]]]:
    """(the line that separates it from the one above, the lines of a block)."""
    out: list[tuple[Numbered | None, list[Numbered]]] = [(None, [])]
    for line in lines:
        if notation == BLANK and not line[1].strip():
            if out[-1][1]:
                out.append((line, []))
        elif notation != BLANK and line[1].rstrip() == "---":
            out.append((line, []))
        else:
            out[-1][1].append(line)
    return out


class _Blocks:
    def __init__(self, draft: Draft, tools: Tools, by_blank_lines: bool) -> None:
        self.draft = draft
        self.tools = tools
        self.by_blank_lines = by_blank_lines
        self.content: Numbered | None = (
            None  # the last step with a content, for doubtful lines below
        )
        self.verified = 0

    def block(self, separator: Numbered | None, lines: list[Numbered]) -> None:
        while lines and not lines[-1][1].strip():
            lines = lines[:-1]
        at = 0
        while at < len(lines) and (not lines[at][1].strip() or lines[at][1].startswith("#")):
            at += 1
        above, rest = [line for line in lines[:at] if line[1].strip()], lines[at:]
        if not rest:
            if separator and not self.by_blank_lines and not above and self.content and lines:
                message = f"the block below this line is empty{self._maybe_content()}"
                raise Refused(*separator, message)
            self._comments(above)
            return
        if self.by_blank_lines and above:
            message = (
                "the older reader dropped this whole block, because a comment stands first in it"
            )
            help_ = "put a blank line below the comment, or delete the block"
            raise Refused(*above[0], message, help_)
        rest, checks = self._directives(rest)
        if self.draft.lines and (above or self.draft.lines[-1].startswith(" ")):
            self.draft.put("")
        self._comments(above)
        self._command(separator, rest)
        for line in checks:
            self._verify(line)

    def _comments(self, lines: list[Numbered]) -> None:
        for number, text in lines:
            if automaton(text):
                message = "`# FSM:` below the first step"
                raise Refused(number, text, message, line_notation.ONE_AUTOMATON)
            if DIRECTIVE.fullmatch(text):
                message = f"`{text}` stands above the step that it should be about"
                raise Refused(number, text, message)
            self.draft.put(text.strip())

    def _command(self, separator: Numbered | None, lines: list[Numbered]) -> None:
        head, below = lines[0], lines[1:]
        text = head[1].strip()
        found = colon(text, self.tools)
        first, _, inline = text.partition(" ")
        if found and not first.startswith("set_plan "):
            first, inline = found
            if first not in self.tools and first not in ("call_plan", "for_each_file"):
                first, inline = line_notation.script(self.draft, head[0], first, inline)
            else:
                self.draft.say(head[0], f"the colon after `{first}` is gone")
        inline = inline.strip()
        if first == "for_each_file":
            return self._loop(head, inline, below)
        if first == "call_plan":
            return self._call(head, inline, below)
        tool = self.tools.get(first)
        if tool is None:
            raise self._no_tool(separator, head)
        if self.by_blank_lines:
            self._certain(tool, head, inline, below)
        if tool.block is None:
            below = self._without_comments(below)
        elif not self.by_blank_lines:
            for number, line in below:
                if line.startswith("#"):
                    what = f"`{line.strip()[:40]}` is part of the text block; the older reader dropped it as a comment"
                    self.draft.say(number, what)
        self.draft.say(head[0], f"the block became the step `{tool.name}`")
        step(self.draft, tool, (head[0], text), inline, below)
        name = inline or (below[0][1].strip() if below else "")
        self.content = (head[0], name[:60] or tool.name) if tool.block is not None else None
        return None

    def _no_tool(self, separator: Numbered | None, head: Numbered) -> Refused:
        text = head[1].strip()[:60]
        message = f"`{text}` names no tool"
        if separator is None:
            return Refused(*head, message, "a block begins with the name of a tool")
        if not self.by_blank_lines:
            message += ", so the `---` above it may be no separator"
        help_ = "indent the content by two spaces below its step, as the language has it"
        return Refused(*head, message + self._maybe_content(), help_)

    def _maybe_content(self) -> str:
        if self.content is None:
            return ""
        line, name = self.content
        return f"; it may belong to the content of `{name}` (line {line})"

    def _certain(self, tool: Tool, head: Numbered, inline: str, below: list[Numbered]) -> None:
        """Between blank lines only: refuses a block that could be read in two ways."""
        if inline and self.content:
            message = f"`{head[1].strip()[:60]}` may be a step{self._maybe_content()}"
            help_ = "write the tool alone on its line, its arguments below it"
            raise Refused(*head, message, help_)
        least = max(1 if tool.need_one_of else 0, sum(item.required for item in tool.inline))
        for number, text in below[0 if inline else least :]:
            first, *more = text.split() or [""]
            begins = known(text, self.tools) and not text.startswith(" ")
            if begins and (not more or "_" in first):
                message = f"`{text.strip()[:60]}` may be a step or an argument of `{tool.name}` (line {head[0]})"
                raise Refused(number, text, message, "put a blank line above a step")

    def _without_comments(self, lines: list[Numbered]) -> list[Numbered]:
        kept = []
        for line in lines:
            if line[1].startswith("#"):
                self._comments([line])
                self.draft.say(line[0], "the comment moved above its step")
            else:
                kept.append(line)
        return kept

    def _call(self, head: Numbered, inline: str, below: list[Numbered]) -> None:
        below = self._without_comments([line for line in below if line[1].strip()])
        texts = [inline] * bool(inline) + [text.strip() for _, text in below]
        if len(texts) != 1:
            count = "no plan" if not texts else "more than one plan"
            raise Refused(*head, f"`call_plan` names {count}")
        self.draft.say(head[0], "the block became a call")
        self.draft.put(f"call_plan {words.quoted(words.argument(self.draft, head[0], texts[0]))}")
        self.content = None

    def _loop(self, head: Numbered, inline: str, below: list[Numbered]) -> None:
        if not inline and below:
            inline, below = below[0][1].strip(), below[1:]
            self.draft.say(head[0], "the pattern moved up to `for_each_file`")
        for number, text in below:
            if text.strip() and not text.startswith(" "):
                raise Refused(number, text, "the body of `for_each_file` is not indented")
        self.draft.say(head[0], "the block became a loop")
        self.draft.put(f"for_each_file {words.argument(self.draft, head[0], inline)}")
        self.draft.loops += 1
        line_notation.convert(self.draft, below, self.tools)
        self.draft.loops -= 1
        self.content = None

    def _directives(self, lines: list[Numbered]) -> tuple[list[Numbered], list[Numbered]]:
        """The lines of the command, and the shell commands that verify it."""
        command: list[Numbered] = []
        checks: list[Numbered] = []
        at = 0
        while at < len(lines):
            number, text = lines[at]
            at += 1
            match = DIRECTIVE.fullmatch(text.strip())
            if match is None:
                command.append((number, text))
                continue
            if match[1] == "ON_FAILURE":
                message = "`# ON_FAILURE:` has no equivalent: whether the run goes on after it is not said"
                help_ = "bind the step's result, and write `if NAME.exit_code != 0`"
                raise Refused(number, text, message, help_)
            shell = [(number, match[2])] if match[2] else []
            while at < len(lines) and not DIRECTIVE.fullmatch(lines[at][1].strip()):
                if lines[at][1].strip():
                    shell.append((lines[at][0], lines[at][1].strip()))
                at += 1
            if len(shell) != 1 or shell[0][1].startswith("#"):
                message = "`# VERIFICATION:` takes one shell command on the line below it"
                raise Refused(number, text, message)
            checks += shell
        return command, checks

    def _verify(self, line: Numbered) -> None:
        self.verified += 1
        name = "verification" if self.verified == 1 else f"verification_{self.verified}"
        number, text = line
        self.draft.say(number, f"the verification became a step bound to `{name}`, and a `require`")
        self.draft.bound.add(name)
        self.draft.put(f"{name} <- run_in_bash_session {words.argument(self.draft, number, text)}")
        self.draft.put(f'require {name}.exit_code == 0 else "the verification failed"')
        self.content = None
