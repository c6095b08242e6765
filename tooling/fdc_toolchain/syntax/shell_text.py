"""Finds how to quote the computed pieces of a command, so that their values stay data (security.md G-SH).

A command is a template of the shell's text. Its literal pieces are written by the plan's author; the
shell must read a piece that a run fills in as one word, or a part of one, and never as anything else.
`places` parses the literal pieces as the shell does and finds for each computed one how it has to be
quoted there, or why no quoting is safe. What it cannot parse counts as unsafe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from ..named_tuples import NamedTuple
from ..text.later_regex import later
from .conditions import Ref

WORD, DOUBLE, SINGLE = "word", "double", "single"

_KEYWORDS = frozenset(
    "! { } if then elif else fi while until do done for in case esac time".split()
)
_WRAPPERS = frozenset("env sudo exec command nohup nice time timeout stdbuf setsid builtin".split())
_READS_CODE = frozenset(
    "eval trap let declare typeset alias complete bind coproc ssh watch parallel su script expect".split()
)
"""Programs to which every word may be code."""

_READS_NAMES = frozenset("read unset local compgen mapfile readarray".split())
"""Builtins whose words are names, or texts that are expanded: in `a[$(x)]` the shell runs `x`."""

_NAME_AFTER = {"printf": "-v", "test": "-v", "[": "-v", "wait": "-p"}
"""Builtins that read a name after an option."""

_RUN_BY_SHELLS = ("PS4=", "BASH_ENV=", "ENV=", "PROMPT_COMMAND=")
"""Variables whose values a shell expands by itself, and with them what they hold."""

_RUNS_CODE = frozenset(
    "sh bash dash zsh ksh fish busybox python pypy perl ruby node nodejs deno bun php lua awk gawk mawk nawk sed psql sqlite"
    " mysql vim vi ex emacs julia R Rscript tclsh pwsh find env".split()
)
"""Programs that take code by an option."""

_SCRIPT_FIRST = frozenset("awk gawk mawk nawk sed".split())
"""Programs whose first word is code."""

_CODE_OPTION = later(
    r"-[A-Za-z]*[ceErRS]|--(eval|exec|command|execute|expression|split-string|print|init-file|rcfile)(=.*)?|-(exec|execdir|ok|okdir)",
    re.DOTALL,
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_MARK = "\0"
"""Stands for a computed piece in a word."""


class Place(NamedTuple):
    """One computed piece. `quote`: word, double or single. `leads`: it names the program. `wrong`: why it cannot stay data."""

    quote: str
    leads: bool
    wrong: str | None


def quoted(value: str, quote: str) -> str:
    """A text as one word of the shell, quoted for its place (`quote`)."""
    import shlex  # loaded where a value is put into a command

    word = shlex.quote(value)
    return word if quote == WORD else f'"{word}"' if quote == DOUBLE else f"'{word}'"


@lru_cache(maxsize=1 << 12)
def places(parts: tuple[str | None, ...]) -> list[Place]:
    """The places of a command's computed pieces (None), in order; the other parts are its literal text."""
    reader = _Reader()
    for part in parts:
        if part is None:
            reader.computed()
        else:
            reader.literal(part)
    return reader.places


def _program(word: str) -> str:
    return word.rsplit("/", 1)[-1].rstrip("0123456789.")


def data_places(parts: Sequence[str | Ref], data: Callable[[Ref], bool]) -> list[tuple[Ref, Place]]:
    """The places of those references in a command's template that are data; the others are text that the author gives."""
    pieces: list[str | None] = []
    refs: list[Ref] = []
    for part in parts:
        if isinstance(part, Ref) and data(part):
            pieces.append(None)
            refs.append(part)
            continue
        text = "NAME" if isinstance(part, Ref) else part
        if pieces and pieces[-1] is not None:
            pieces[-1] += text
        else:
            pieces.append(text)
    return list(zip(refs, places(tuple(pieces)), strict=True))


class _Reader:
    """Reads shell text from left to right. `stack`: the quotes and substitutions that are open."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.stack = ["shell"]
        self.words: list[str] = []
        self.word = ""
        self.begun = False
        self.outer: list[tuple[list[str], str, bool]] = []
        self.documents = False
        self.carry = ""

    # ---- a computed piece --------------------------------------------------------------

    def computed(self) -> None:
        """Adds the place of a computed piece."""
        top = self.stack[-1]
        wrong = self._wrong(top)
        quote = {"double": DOUBLE, "single": SINGLE}.get(top, WORD)
        self.places.append(Place(quote, wrong is None and self._leads(), wrong))
        self.carry = ""
        self.word += _MARK
        self.begun = True

    def _wrong(self, top: str) -> str | None:
        if self.carry:
            return f"after `{self.carry}` it would be read as code"
        if top not in ("shell", "double", "single"):
            return f"inside {top} nothing quotes it"
        if any(construct not in ("shell", "double", "single") for construct in self.stack):
            return "inside this construct nothing quotes it"
        return self._code() or self._name() or self._expression()

    def _code(self) -> str | None:
        """Why the program that gets the piece may execute it as code, or None."""
        known = [(_program(word), at) for at, word in enumerate(self.words)]
        for name, at in known:
            if name in _READS_CODE:
                return f"`{name}` reads its words as code"
            if name not in _RUNS_CODE:
                continue
            since = self.words[at + 1 :]
            option = next((word for word in since if _CODE_OPTION.fullmatch(word)), None)
            begun = self.word.partition(_MARK)[0]
            if option is None and begun.startswith("-") and _CODE_OPTION.match(begun):
                option = begun
            if option is not None:
                return f"`{name}` reads what follows `{option}` as code"
            if (
                name in _SCRIPT_FIRST
                and all(word.startswith("-") for word in since)
                and not self._redirected()
            ):
                return f"`{name}` reads its first word as code"
        return None

    def _name(self) -> str | None:
        """Why the shell may run a part of the piece, though it is one word, or None."""
        variable = next((one for one in _RUN_BY_SHELLS if self.word.startswith(one)), None)
        if variable is not None:
            return f"a shell expands what `{variable[:-1]}` holds"
        at = self._leader()
        if at is None or self._redirected():
            return None
        name, since = self.words[at], self.words[at + 1 :]
        if name in _READS_NAMES and not (
            name == "local" and not since and _ASSIGNMENT.match(self.word)
        ):
            return f"`{name}` reads its words as names, and runs what is in their brackets"
        option = _NAME_AFTER.get(name)
        if option is not None and (
            since[-1:] == [option] or name == "printf" and self.word.startswith(option)
        ):
            return f"`{name} {option}` reads a name, and runs what is in its brackets"
        return None

    def _leader(self) -> int | None:
        """Where the words of the command have its name."""
        for at, word in enumerate(self.words):
            # `$` stands for brackets before it: those of a function that begins here
            passed = word in _KEYWORDS or word in _WRAPPERS or word == "$" or word.startswith("-")
            if not passed and not _ASSIGNMENT.match(word):
                return at
        return None

    def _expression(self) -> str | None:
        if "[[" in self.words and "]]" not in self.words:
            return "inside `[[` numbers are read as expressions"
        return None

    def _leads(self) -> bool:
        if _ASSIGNMENT.match(self.word):
            return False
        names = [
            word for word in self.words if word not in _KEYWORDS and not _ASSIGNMENT.match(word)
        ]
        return (
            all(word in _WRAPPERS or word.startswith("-") for word in names)
            and not self._redirected()
        )

    def _redirected(self) -> bool:
        return bool(self.words) and self.words[-1] in ("<", ">")

    # ---- literal text ------------------------------------------------------------------

    def literal(self, text: str) -> None:
        """Reads on; two literal pieces never follow each other."""
        readers = {"shell": self._shell, "double": self._double, "single": self._single}
        at = 0
        while at < len(text):
            at = readers.get(self.stack[-1], self._other)(text, at)

    def _single(self, text: str, at: int) -> int:
        end = text.find("'", at)
        if end < 0:
            self.word += text[at:]
            return len(text)
        self.word += text[at:end]
        self.stack.pop()
        return end + 1

    def _double(self, text: str, at: int) -> int:
        letter = text[at]
        if letter == '"':
            self.stack.pop()
            return at + 1
        if letter == "\\":
            return self._escape(text, at)
        if letter in "$`":
            return self._dollar(text, at)
        self.word += letter
        return at + 1

    def _escape(self, text: str, at: int) -> int:
        if at + 1 >= len(text):
            self.carry = "\\"
            return at + 1
        self.word += text[at + 1]
        self.begun = True
        return at + 2

    def _shell(self, text: str, at: int) -> int:
        letter = text[at]
        if letter in " \t":
            self._end_word()
        elif letter == "\n":
            self._end_command()
            if self.documents:
                self.stack.append("a here-document")
        elif letter == "#" and not self.begun:
            self.stack.append("a comment")
        elif letter == "'":
            self.stack.append("single")
            self.begun = True
        elif letter == '"':
            self.stack.append("double")
            self.begun = True
        elif letter == "\\":
            return self._escape(text, at)
        elif letter in "$`":
            return self._dollar(text, at)
        elif text.startswith(("<<", "<(", ">("), at):
            return self._angle(text, at)
        elif letter in "<>":
            return self._redirect(text, at)
        elif text.startswith("((", at) and not self.begun:
            self.stack.append("an arithmetic expression")
            return at + 2
        elif letter in ";&|(){":
            return self._operator(text, at)
        else:
            self.word += letter
            self.begun = True
        return at + 1

    def _operator(self, text: str, at: int) -> int:
        letter = text[at]
        if letter == "{" or letter == "&" and text[at + 1 : at + 2] == ">":
            self.word += letter
            self.begun = True
            return at + 1
        if letter == "(":
            self._end_command()
            self._open()
        elif letter == ")" and self.outer:
            self.stack.pop()
            self.words, self.word, self.begun = self.outer.pop()
            self.word += "$"
        else:
            self._end_command()
        return at + 1

    def _angle(self, text: str, at: int) -> int:
        if text.startswith("<<<", at):
            self._end_word()
            self.words.append("<")
            return at + 3
        if text.startswith("<<", at):
            self._end_word()
            self.documents = True
            return at + 2
        self._open()
        return at + 2

    def _redirect(self, text: str, at: int) -> int:
        if self.word.isdigit():
            self.word, self.begun = "", False
        self._end_word()
        end = at + 1
        while end < len(text) and text[end] in ">|&":
            end += 1
        self.words.append(">" if text[at] == ">" else "<")
        return end

    def _dollar(self, text: str, at: int) -> int:
        self.begun = True
        if text[at] == "`":
            self.stack.append("backquotes")
            return at + 1
        following = text[at + 1 : at + 3]
        if following == "((":
            self.stack.append("an arithmetic expression")
            return at + 3
        if following[:1] == "(":
            self._open()
            return at + 2
        if following[:1] == "{":
            self.stack.append("`${`")
            return at + 2
        if following[:1] in "'[" and following and self.stack[-1] == "shell":
            self.stack.append("`$" + following[0] + "`")
            return at + 2
        if not following:
            self.carry = "$"
        self.word += "$"
        return at + 1

    def _open(self) -> None:
        self.outer.append((self.words, self.word, self.begun))
        self.words, self.word, self.begun = [], "", False
        self.stack.append("shell")

    def _other(self, text: str, at: int) -> int:
        top = self.stack[-1]
        if top == "a comment":
            end = text.find("\n", at)
            if end < 0:
                return len(text)
            self.stack.pop()
            return end
        if top == "a here-document":
            return len(text)  # it is not looked for its end: nothing computed may follow
        if text[at] == "\\":
            return at + 2
        closing = {
            "backquotes": "`",
            "`${`": "}",
            "`$'`": "'",
            "`$[`": "]",
            "an arithmetic expression": "))",
        }.get(top)
        if closing is not None and text.startswith(closing, at):
            self.stack.pop()
            return at + len(closing)
        return at + 1

    # ---- words and commands ------------------------------------------------------------

    def _end_word(self) -> None:
        if self.begun or self.word:
            if self.words and self.words[-1] in ("<", ">"):
                self.words.pop()  # the file of a redirection is not a word of the command
            else:
                self.words.append(self.word)
        if self.word == "case" and len(self.stack) > 1:
            self.stack.append("`case` in a substitution")  # its brackets do not come in pairs
        self.word, self.begun = "", False

    def _end_command(self) -> None:
        self._end_word()
        self.words = []
