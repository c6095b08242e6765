"""What is inside an argument of an older notation: placeholders of then, and braces that were only text."""

from __future__ import annotations

import re

from ..syntax import values
from .model import Draft, Refused

_ANGLED = re.compile(r"<([a-z][a-z0-9]*(?:_[a-z0-9]+)+)>")
_FILE = re.compile(r"\{file([0-9]*)\}")


def argument(draft: Draft, line: int, text: str, *, content: bool = False) -> str:
    """The template that means what `text` meant. `content`: a line of a file or message, where braces are text.

    Raises Refused where `{file}` could mean several files.
    """
    out: list[str] = []
    last = 0
    for match in values.placeholder().finditer(text):
        out.append(text[last : match.start()])
        out.append(_braced(draft, line, match.group(), text, content))
        last = match.end()
    out.append(text[last:])
    return _angled(draft, line, "".join(out), text)


def _braced(draft: Draft, line: int, found: str, text: str, content: bool) -> str:
    file = _FILE.fullmatch(found)
    if file and (draft.loops or not content):
        if file[1]:
            return found
        if draft.loops > 1:
            message = f"`{{file}}` inside {draft.loops} loops may mean any of their files"
            help_ = (
                f"write `{{file1}}` for the outermost loop's file, up to `{{file{draft.loops}}}`"
            )
            raise Refused(line, text, message, help_)
        if not draft.loops:
            message = "`{file}` stands outside every loop"
            raise Refused(line, text, message, "write the path, or put the step into the loop")
        draft.say(line, "`{file}` is written `{file1}`")
        return "{file1}"
    if not found.startswith("{{") and found[1:-1].split(".")[0] in draft.bound:
        return found
    draft.say(line, f"`{found}` was only text: it is written `{values.escape(found)}`")
    return values.escape(found)


def _angled(draft: Draft, line: int, text: str, original: str) -> str:
    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        if f"</{name}>" in original:  # markup, not a placeholder
            return match.group()
        draft.params.setdefault(name, line)
        draft.bound.add(name)
        draft.say(line, f"`<{name}>` is the parameter `{{{name}}}`")
        return f"{{{name}}}"

    return _ANGLED.sub(replaced, text)


def quoted(text: str) -> str:
    """`text`, a template, as one argument of a step: bare where that reads back as it stands, else quoted."""
    found = values.arguments(text)
    if isinstance(found, tuple) and len(found) == 1 and found[0].key is None:
        if found[0].value.text == text:
            return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def placeholders(text: str) -> bool:
    """True where a line has `{file}` or `<some_name>` in it: notations of older plans."""
    return "{file}" in text or any(f"</{name}>" not in text for name in _ANGLED.findall(text))
