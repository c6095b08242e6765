"""What stands in the words of a task: files, globs, addresses, commands, what is to be searched for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..grammar_export.steps import LOOKS
from ..syntax.keyword_hints import COMMANDS, OTHERS
from .code_names import ENDINGS, defined
from .details import APPROVED, FIRST, answering, message, question, span
from .edits import edits, spelled
from .naming import named, outside, words
from .unplanned import Unplanned, unplanned

if TYPE_CHECKING:
    from ..linking.catalogue import Tool

_QUOTED = re.compile(r"[\"“]([^\"“”\n]+)[\"”]|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_CONTENT = re.compile(
    r"(?<!after the )(?<!before the )(?<!below the )(?<!above the )(?<!after )(?<!before )(?<!below )(?<!above )"
    r"\b(?:contain(?:s|ing)|contents?|line|message|say(?:s|ing)|text|user|us|me):?\s+[\"“]([^\"“”\n]+)[\"”]"
)
_NAMES = re.compile(r"\S*[/.*]\w\S*?(?=[.,;:!?)]*(?:\s|$))|\"[^\"]*\"|“[^”]*”|`[^`]*`")
"""What is no word of English: files, globs, addresses, what stands between quotes."""
_TOOLS = "|".join(name.replace("_", " ") for name in OTHERS)
_COMMAND = (
    rf"((?:(?:{'|'.join(sorted(COMMANDS))})\b|[a-z][\w-]+ --?[a-z])(?:(?! on )[\w ./=-])*?)"
    r"(?=\s+(?:and|if|in case|then|to|twice|unless|until|while|\w+ times)\b|,|[.;:](?<=\w.)(?:\s|$)|[.;:]?$)"
)
_BARE = re.compile(rf"(?i:\b(?:run|execute|with)\s+)(?!{_TOOLS}){_COMMAND}")
"""A command without backticks."""
_CHAINED = re.compile(rf"(?:,\s*|\s+)(?:(?:and|then)\s+)+(?:run\s+)?(?!{_TOOLS}){_COMMAND}")
"""One behind another."""
_RUN = re.compile(r"\b(?:run|execute)\b", re.IGNORECASE)
_TESTS = re.compile(r"\b(?:run|execute)\b[^.,;]*\btests?\b")
_SOUGHT = re.compile(
    r"\bwords?\s+(\w+)|\b(?i:search|grep|look)\b[^.,;]*\bfor\s+(\w+)(?=\s*(?:[.,;]|$|(?:and|in)\b))"
    r"|\b([A-Z][A-Z0-9_]{2,}|\w*[a-z0-9]_\w+|[a-z]+[A-Z]\w*|\w+(?=\(\)))"
)
"""What a search is for where nothing stands between quotes: a word that the task says it of, or a name in code."""
_FOUND = re.compile(
    r"\b(?:find(?:\s+(?:out\s+)?where)?|where\s+is)\s+(?:the\s+(?:word|text|name)\s+)?(\w+)\s+(?:is\s+)?"
    r"(?:(?:(?:called|created|defined|mentioned|raised|used)\s+)?in\b|(?:called|mentioned|raised|used)(?=\W*$))"
    r"|\b(?:which|what)\s+(?:file|page|module|line)s?\s+(?:mention|contain|use|have)s?\s+(?:the\s+(?:word|text|name)\s+)?(\w+)",
    re.IGNORECASE,
)
"""A search that does not say so; what it is for."""
_SEARCHES = re.compile(r"\b(?:find|grep|list|search|where|which)\b", re.IGNORECASE)
"""A task that does not know the place of something."""
_SEES = re.compile(
    r"(?:^|[.,;:!?(]|\b(?:to|and|then|please|me|you)\b)\s*"
    r"(browse|display|explore|get|give|inspect|look\s+(?:at|into|through)|open|print|see|show|view)\b"
    r"|\b(what(?:'s|\s+is|\s+are)?\s+in(?:side)?|what\s+(?:does|do)"
    r"|what(?!\s+(?:file|page|module|line)\b)(?=\s+(?:\S+\s+)?(?:contains|holds)\b))\b"
)
"""A look at something, whatever it is."""
_READS = re.compile(r"\bread\b")
_COUNTS = re.compile(
    r"\b(?:(which|what|how\s+many|count)\b(?:\s+\w+){0,3}?|(show|see|give)\b(?:\s+(?:me|us|the|all|of))*)\s+(?:files|documents)\b"
)
"""A question for the files themselves."""
_WORD = re.compile(r"\w*")
_PATH = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*/?")
_INSIDE = frozenset(
    "below browse check directory explore folder from in inside list ls me of read review scan search show summarise summarize"
    " through under view within".split()
)
"""Words behind which a word can be the name of a folder."""
_SOURCE = frozenset("about against for from like of than using with".split())
"""Words behind which a file is one to take something from."""
_COPIED = re.compile(r"\b(?:copy|duplicate|save|write)\b")
_KINDS = {
    "markdown": "md", "python": "py", "javascript": "js", "typescript": "ts", "text": "txt", "rust": "rs", "ruby": "rb",
}  # fmt: skip
_PART = re.compile(
    r"\b(?:rename|move|delete|remove|create|copy)(?=\s+(?:(?:the|a|an|this|that|all|each|every|unused|old|new|dead)\s+){0,2}"
    r"(?:argument|attribute|class(?:es)?|comment|constant|dependency|docstring|field|function|heading|import|key|line|method"
    r"|option|paragraph|parameter|property|section|sentence|test|type|value|variable|word)s?\b(?!\s+(?:director|document|file|folder|module|page|script)))"
)
"""A verb for what is done to a part of a file; the file itself is edited, not moved or deleted."""
_INSIDE_OF = re.compile(
    r"\b(?:delete|move|remove|rename)(?=(?: (?!(?:at|director(?:y|ies)|documents?|files?|folders?|from|images?|in|inside|into"
    r"|modules?|of|out|packages?|pages?|scripts?|to|within)\b)[a-z'-]+){1,6} (?:at|from|in|inside|of|out of|within)\b)"
)
"""The same where what is deleted or moved is no file at all, but stands in one: `remove the dead code in a.py`."""
_TAKEN_OUT = re.compile(
    r"\b(?:delete|extract|move|remove)\b[^.,;]*\sfrom\s+[\"'`“]?$", re.IGNORECASE
)
"""Before a file that something is taken out of."""
IMAGE = re.compile(r"\.(?:bmp|gif|jpe?g|png|svg|webp)$", re.IGNORECASE)
_KIND = re.compile(
    rf"(?:(?<!\S)\.(\w+)|\b({'|'.join([*_KINDS, *_KINDS.values(), 'json', 'yaml', 'yml', 'toml', 'html', 'css', 'csv'])})"
    r"\s+(?:files?|pages?|modules?|scripts?|documents?|sources?))\b"
)
"""Files of a kind."""


class Task:
    """`files` and `new` (which do not exist) have the place where they stand; `sources` are files to take something from,
    `targets` new ones to put something into; `each`: the globs whose files the task is about; `content`: what a file or a
    message is to be; `kept`: whether a file is to have a page; `meant`: verbs for what it says in other words; `message`:
    that of a commit; `question`: what a person is asked; `span`: lines of a file; `edits`: by file, the sections of a
    change that it spells out; `unfit`: the files in which such a change would change nothing; `measured`: files that only a
    command looks at; `tested`: whether a command of the settings runs after a change; `moves`: whether its one new file is
    what another becomes; `outside`: paths that leave the workspace; `asides`: files that are only to be read, as a
    condition speaks of them; `unplanned`: what a skeleton has no form for."""

    def __init__(self, root: str, task: str, tests: str = "") -> None:
        self.text = " ".join(task.replace("{", "(").replace("}", ")").split())
        given = message(self.text)
        self.message = given[0] if given else ""
        changes = edits(self.text)
        said = _without(self.text, [given[1]] if given else [])
        bare = _without(said, [one[:2] for one in changes])
        if changes and any(named(root, one.text) for one in words(root, bare)):
            said = bare
        else:
            changes = []
        bare = _NAMES.sub(_blank, said)
        found = _QUOTED.findall(said)
        self.commands = [one for _, one, _ in found if one]
        if not self.commands and _RUN.search(bare):
            bare = self._take_commands(said, bare)
        things = _NAMES.sub(_blank, _QUOTED.sub(_thing, said)).lower()
        self.plain = _edited(_edited(bare.lower(), bare.lower(), _PART), things, _INSIDE_OF)
        self.unplanned: list[Unplanned] = unplanned(self.plain, self.text)
        self.plain = _without(self.plain, [one[:2] for one in self.unplanned])
        self.tested, self.moves = bool(tests), False
        self.tests = bool(_TESTS.search(self.plain))
        if self.tests and tests and not self.commands:
            self.commands = [tests]
        self.files: dict[str, int] = {}
        self.new: dict[str, int] = {}
        self.targets: list[str] = []
        self.sources: set[str] = set()
        self.pages: list[str] = []
        self.globs: list[str] = []
        self.folders: list[str] = []
        self.outside: list[str] = []
        before = ""
        code = {} if _SEARCHES.search(bare) else defined(root, said)
        for part in words(root, said):
            word = part.text.removeprefix("./")
            if word.startswith(("http://", "https://")):
                self.pages.append(word)
            elif "*" in word:
                self.globs.append(word)
            elif word in code:
                self.files.setdefault(code[word], part.start)
            elif outside(word):
                self.outside.append(word)
            elif part.said and not os.path.exists(os.path.join(root, word)):
                pass  # a word of a text is no file to make
            elif part.whole or _PATH.fullmatch(word):
                after = said[part.end :].lower()
                self._path(root, word, part.start, before, after)
            before = word.lower()
        asides = {one for one in [*self.files, *self.new] if self._is_aside(one, said)}
        self.asides = [one for one in self.files if one in asides]
        self.files = {one: at for one, at in self.files.items() if one not in asides}
        self.new = {one: at for one, at in self.new.items() if one not in asides}
        names = {*self.files, *self.new, *self.folders}
        self.commands = [one for one in self.commands if one not in names]
        self.quoted = [one for pair in found if (one := pair[0] or pair[2]) and one not in names]
        self.content = [one for one in _CONTENT.findall(self.text) if one not in names]
        sought = ["".join(one) for one in (*_SOUGHT.findall(bare), *_FOUND.findall(bare))]
        ran = {one for one in self.commands if one.split()[0] in COMMANDS or one not in said}
        self.sought = [*self.quoted, *(one for one in self.commands if one not in ran), *sought]
        kinds = [
            dotted or _KINDS.get(kind, kind) for dotted, kind in _KIND.findall(self.text.lower())
        ]
        places = [f"{folder}/" for folder in self.folders] or [""] * bool(kinds)
        self.each = self.globs or [
            f"{place}**/*.{kind}" if kind else f"{place}**" for place in places for kind in kinds or [""]
        ]  # fmt: skip
        self.kept = any(
            re.search(
                rf"{re.escape(page)}\W*\s(?:as|in|into|to)\s[\"'`“]?{re.escape(file)}", self.text
            )
            for page in self.pages
            for file in self.targets
        )
        self.question = question(bare, self.text)
        self.span = span(self.plain)
        self.edits = {file: spelled(root, file, changes) for file in self.files} if changes else {}
        self.unfit = [file for file, lines in self.edits.items() if not lines]
        self.edited_at = min((one.start for one in changes), default=0)
        ready = not self.new and (not self.commands or self.commands == [tests])
        self._answering = answering(self.plain, [*self.files]) if ready else None
        self.measured = [*self.files] if self._answering else []
        if self._answering:
            self.commands.insert(0, self._answering.command)
            self.plain = _without(self.plain, [self._answering[:2]])
        self.meant = self._meant(bool(kinds))
        if kinds:
            self.globs = self.each

    def word_at(self, at: int) -> str:
        """The word as the task has it at a place of `plain`."""
        found = _WORD.match(self.text, at)
        return found[0] if found else ""

    def _meant(self, kinds: bool) -> dict[int, str]:
        """The verbs that name tools, for what the task says in other words, by its place: what it wants to see is a file, or
        files of a kind, whose texts are read, a page, which is fetched, a folder, which is listed, or what a search finds."""
        out: dict[int, str] = {}
        if self._answering:
            out[self._before_telling(self._answering.start)] = "run"
        names = {
            **dict.fromkeys([*self.folders, *self.globs], "list"),
            **dict.fromkeys((one for one in self.files if one not in self.measured), "read"),
            **dict.fromkeys(self.pages, "fetch"),
        }
        for found in _SEES.finditer(self.plain):
            at = max(found.start(1), found.start(2))
            places = {self.text.find(name, at): verb for name, verb in names.items()}
            after = [place for place in places if place >= 0]
            if kinds or after:
                out[self._before_telling(at) if found[2] else at] = (
                    "read" if kinds else places[min(after)]
                )
        for found in _READS.finditer(self.plain if self.pages else ""):
            after = [place for place in map(self.text.find, names) if place > found.start()]
            if after and min(after) in map(self.text.find, self.pages):
                out[found.start()] = "fetch"
        for found in _COUNTS.finditer("" if self.files else self.plain):
            out[self._before_telling(max(found.start(1), found.start(2)))] = "list"
        for found in [*APPROVED.finditer(self.plain)][:1]:
            out[-1 if FIRST.match(self.plain, found.start()) else found.start()] = "record"
        return out | {found.start(): "grep" for found in _FOUND.finditer(self.plain)}

    def _is_aside(self, file: str, said: str) -> bool:
        """Whether a file is only named where a skeleton has no form for what is said: in a condition."""
        at = self.files.get(file, self.new.get(file, 0))
        places = [found.start() for found in re.finditer(re.escape(file), said)] or [at]
        return all(any(one.start <= at < one.end for one in self.unplanned) for at in places)

    def _take_commands(self, said: str, bare: str) -> str:
        """Takes the commands that stand without backticks behind an order to run them, and what follows them; gives `bare`
        without them."""
        at = 0
        while (found := _BARE.search(said, at)) is not None:
            while found is not None:
                self.commands.append(found[1].strip())
                bare = _without(bare, [found.span(1)])
                at = found.end()
                found = _CHAINED.match(said, at)
        return bare

    def _before_telling(self, at: int) -> int:
        """The place of a question, or that before the word by which its answer is to be told."""
        telling = self.plain.rfind("tell", 0, at)
        return at if telling < 0 else telling - 1

    def _path(self, root: str, word: str, at: int, before: str, after: str) -> None:
        """Takes a word as a file or a folder, where it is one. A file that goes to a folder is a new one there."""
        path = word.rstrip("/")
        if ".." in path.split("/"):
            return
        there = os.path.join(root, path)
        if os.path.isfile(there):
            known = [*self.files]
            self.files.setdefault(path, at)
            if before in ("onto", "over") or (
                before in ("into", "to") and _COPIED.search(self.plain)
            ):
                self.sources.update(known)  # what is written is the file behind it
            if before in _SOURCE and not _TAKEN_OUT.search(self.text[:at]):
                self.sources.add(path)
        elif os.path.isdir(there):
            if before in ("to", "into") and self.files:
                self.new[f"{path}/{os.path.basename([*self.files][-1])}"] = at
            elif (
                "/" in word
                or before in _INSIDE
                or re.match(r"\W*(?:folder|directory|contains|holds)\b", after)
            ):
                self.folders.append(path)
        elif word.isupper() and len(word) > 3 and before in ("into", "to"):
            self.new.setdefault(path, at)
            self.targets.append(path)
        elif re.search(r"\w\.[a-z]\w*$", word) and (
            "/" in word
            or word.rpartition(".")[2] in ENDINGS
            or before in ("as", "called", "file", "into", "named", "to")
        ):
            self.new.setdefault(path, at)
            if before in ("as", "in", "into", "to"):
                self.targets.append(path)
        elif before == "the" or word.isupper():
            if file := named(root, path):
                self.files.setdefault(file, at)

    def takes(self, tool: Tool, file: str) -> bool:
        """Whether a step of the tool can be about a file that exists."""
        if tool.name == LOOKS and not IMAGE.search(file):
            return False
        uses = {
            item.access or "read" for item in tool.inline if item.kind == "path" and item.required
        }
        return (
            bool(uses - {"create", "write"})
            or "write" in uses
            and not (self.new and not self.moves or file in self.sources)
        )

    def goals(self, tool: Tool) -> list[str]:
        """What each needs a step of its own: new files for a tool that writes a file, addresses for one that fetches a page,
        folders and globs for one that looks into them."""
        needs = [item for item in tool.inline if item.required]
        if [item.access for item in needs] in (["create"], ["write"]):
            return [] if self.moves else [*self.new]
        if any(item.kind == "glob" for item in tool.inline):
            return self.globs or self.folders
        sinks = [item.sink for item in needs]
        if sinks == ["command"]:
            several = [one for one in self.commands if " " in one or one in COMMANDS]
            return several if len(several) > 1 else []
        return self.pages if sinks == ["url"] else []

    def gives(self, tool: Tool) -> bool:
        """Whether it has something that the tool takes."""
        return (
            self.speaks_for(tool) > 0
            or any(self.takes(tool, file) for file in self.files)
            or bool(self.files or self.each) and puts(tool)
            or bool(self.each) and (reads(tool) or any(item.kind == "glob" for item in tool.inline))
            or self.tests and any(item.sink == "command" for item in tool.inline)
        )  # fmt: skip

    def speaks_for(self, tool: Tool) -> float:
        """Whether it has what the tool takes and few others do."""
        sinks = {item.sink for item in tool.inline}
        forms = {item.form for item in tool.inline}
        return float(
            bool(self.commands and "command" in sinks)
            + bool(self.pages and "url" in sinks)
            + bool(self.sought and "pattern" in forms)
            + bool(self.new and {"create", "write"} & {item.access for item in tool.inline})
        )


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with white space in the place of some parts."""
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _thing(match: re.Match[str]) -> str:
    """A quotation as one word, unless it may be a file."""
    return match[0] if re.search(r"[/.*]\w", match[0]) else "x" * len(match[0])


def _edited(plain: str, said: str, verb: re.Pattern[str]) -> str:
    """A task with `edit` in place of each such verb of what it `said`."""
    for found in verb.finditer(said):
        plain = f"{plain[: found.start()]}{'edit'.ljust(len(found[0]))}{plain[found.end() :]}"
    return plain


def reads(tool: Tool) -> bool:
    """Whether a tool looks at a file, and needs nothing else."""
    needs = [item.access for item in tool.inline if item.required]
    return tool.effect == "read" and needs == ["read"]


def fetches(tool: Tool) -> bool:
    """Whether a tool looks at the page of an address, and needs nothing else."""
    needs = [item.sink for item in tool.inline if item.required]
    return tool.effect == "read" and needs == ["url"]


def puts(tool: Tool) -> bool:
    """Whether a tool writes its text block into a file, new or not."""
    return tool.block is not None and any(item.access == "write" for item in tool.inline)


def merges(tool: Tool) -> bool:
    """Whether a tool replaces parts of a file by sections."""
    return any(item.form == "sections" for item in tool.parameters)


def tells(tool: Tool) -> bool:
    """Whether all that a tool does is to show the user something, which no automaton reads."""
    return tool.action is None and any(item.sink == "user" for item in tool.inline)
