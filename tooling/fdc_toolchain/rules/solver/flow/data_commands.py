"""Commands that only look at data: whatever the files hold that they are given, none of it is executed.

Such a command is one program of a short list with its arguments, and nothing that a shell would read as anything
else: no quotes, no globs, no redirection, no second command. Options that write a file, start a program, wait for
more, or open the files that another one names are not among those that are taken.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ....syntax.values import Ref, Value, rest
from ....text.later_regex import later
from .file_taint import SEEN, Pattern, pattern_of, tree_of

_ANY_OPTION = later(r"--?[\w.,=-]*")
_OPTIONS = {
    "cat": _ANY_OPTION,
    "cmp": _ANY_OPTION,
    "head": _ANY_OPTION,
    "tail": later(r"-[a-eg-zA-EG-Z0-9]*|--(?!f)[\w.,=-]+"),  # `-f`, `-F`, `--follow` wait
    "wc": later(r"-[A-Za-z]*|--(?!f)[\w=-]+"),  # `--files0-from` opens what a file names
    "sha256sum": later(r"-[abd-zA-Z]*|--(?!c)[\w-]+"),  # so does `-c`
    "diff": later(r"-[abBdeEiNqrstuUwyZ0-9]*|--(brief|unified(=\d+)?)"),  # `-l` starts `pr`
    "sort": later(r"-[bcdfghiMmnrRsuVzkt0-9.,]*"),  # `-o` writes, `--compress-program` starts one
}
"""By program: the options that read no more than the arguments. GNU programs take the beginning of a long option for it."""
_OTHER = ("diff", "sort")
"""Programs with options that write or start something. An argument from elsewhere may be any option."""

_PLAIN = later(r"[\w./:@%+,= -]*", re.ASCII)
_COMPUTED = "\0"


def is_data_command(value: Value) -> bool:
    """True where a command can only look at the files that it names, whatever is computed in it."""
    pieces = []
    for part in value.parts:
        if isinstance(part, Ref):
            pieces.append("RUN" if part.path == ("run",) else _COMPUTED)
        else:
            pieces.append(part)
    return _looks("".join(pieces))


@lru_cache(maxsize=1 << 10)
def _looks(text: str) -> bool:
    words = text.split(" ")
    options = _OPTIONS.get(words[0])
    if options is None or not _PLAIN.fullmatch(text.replace(_COMPUTED, "")):
        return False
    for word in words[1:]:
        if word.startswith(_COMPUTED):  # it may be any option
            if words[0] in _OTHER:
                return False
        elif word.startswith("-") and not options.fullmatch(
            word.replace(_COMPUTED, "") if options is _ANY_OPTION else word
        ):
            return False  # what is computed could be the rest of any other option
    return True


def files_of(value: Value) -> list[Pattern]:
    """The files that a data command looks at: its arguments."""
    program, *words = value.text.split(" ")
    found = []
    for word in words:
        argument = rest(word)
        if _anywhere(argument):
            return [SEEN]
        found.append(tree_of(argument) if program == "diff" else pattern_of(argument))
    return found


def _anywhere(argument: Value) -> bool:
    """True where a word may be an option, or lead to any file that a command sees: commands follow `..`, other steps do not."""
    first, *more = argument.parts or ("",)
    in_run = isinstance(first, Ref) and first.path == ("run",)
    if any(isinstance(part, Ref) for part in (more if in_run else argument.parts)):
        return True
    return argument.text.startswith("/") or ".." in argument.text.split("/")
