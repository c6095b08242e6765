"""The fast path of `fdc lint`: prints a verdict that is in the cache, with few imports.

All slow imports are in `cli.linting.lint`, which is loaded only when there is something
to prove, to fix or to show.
"""

from __future__ import annotations

import gc
import os
import sys
import time

from ...console.process import (
    flushed,
    leave_working_folder,
    our_bug,
    refusal,
    silence_stdout,
    write,
)
from ...diagnostics.formats import COUNTING
from ...diagnostics.verdict_line import verdict_line
from .options import Options, must_be_there, quick

ASSUMED, FRAGMENT = "FDC414", "FDC700"
"""The only code of an assumption outside FDC702 to FDC799, and that of a fragment."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...cache.blob_ids import Contents
    from ...linking.project import stat_cache


def main(arguments: list[str]) -> int | None:
    """Runs `fdc lint ARGUMENTS`. None: click must parse the arguments."""
    leave_working_folder()
    options = quick(arguments)
    if options is None:
        return None
    if options["format"] != "json":
        return answered(options)
    from ...console.refused import in_json

    return flushed(in_json(arguments, lambda: answered(options)), "fdc")


def answered(options: Options) -> int:
    """Lints with the options. Prints a failure as one sentence on stderr; returns the exit code."""
    try:
        code = execute(options)
        if sys.stdout is not None:
            sys.stdout.flush()  # here, so that a failure becomes a message
        return code
    except KeyboardInterrupt:
        print("fdc: interrupted", file=sys.stderr)
        from ...exits import INTERRUPTED

        return INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        from ...exits import CLEAN

        return CLEAN
    except OSError as failed:
        silence_stdout()
        print(f"fdc: {refusal(failed)}", file=sys.stderr)
        from ...exits import WORLD

        return WORLD
    except Exception as trouble:
        from ...exits import BUG, Exit
        from ...report.terminal.terminal_text import visible

        if isinstance(trouble, Exit):
            print(f"fdc: {visible(str(trouble))}", file=sys.stderr)
            return trouble.code
        return our_bug(trouble, "fdc", BUG)


def execute(options: Options) -> int:
    """Lints with the options. Raises `exits.Exit` for wrong usage and environment failures."""
    collects = gc.isenabled()
    gc.disable()  # a process that ends with this command gains more by it than garbage takes
    try:
        return _executed(options)
    finally:
        if collects:
            gc.enable()


def _executed(options: Options) -> int:
    from ...linking.project import stat_cache
    from ...linking.project.root import find_root, inside, there

    workspace = options["workspace"]
    if workspace is not None and not os.path.isdir(str(workspace)):
        from ...exits import UsageError

        raise UsageError(f"the workspace `{workspace}` is not a folder")
    root = os.path.abspath(str(workspace)) if workspace else find_root(os.getcwd())
    if options["staged"]:
        from .staged import lint_staged

        return lint_staged(options, root, execute)
    paths = options["paths"] or [inside(root)]
    assert isinstance(paths, list)
    paths = [path if path == "-" else there(root, path) for path in paths]
    options = {**options, "paths": paths}
    if options["watch"]:
        from .watching import watch

        return watch(options, root, answered)
    if "-" in paths or any(options[name] for name in ("fix", "diff", "no_cache", "changed")):
        from ...linking.project.discover import find_keys
        from .lint import lint

        sight = stat_cache.Seen()
        must_be_there([path for path in paths if path != "-"])
        named = [path for path in paths if path != "-"]
        keys = find_keys(named, root, _excluded(paths, root), sight)
        if sight.of_others:
            from .plans_of_others import look

            done = lint(options, root, None, look(sight.of_others, options, root))
        else:
            done = lint(options, root, None)
        return _asides(sight, options, root, keys, done)[0]
    words = repr(
        [options[name] for name in ("fsm", "profile", "model", "complexity", "trust_settings")]
        + [_confirmed(root)]
    )
    memory = stat_cache.name_of(root, paths, words)
    began = time.time_ns()
    looked: dict[str, stat_cache.Stamp] = {}
    kept = stat_cache.recall(memory, looked)
    if kept is not None:
        code = (
            _after_edits(options, root, memory, kept, began)
            if kept.changed or kept.moved
            else _show(options, root, *kept.value[:2])
        )
        if code is not None:
            return code
    must_be_there(paths)
    from ...cache import verdicts
    from ...cache.blob_ids import Contents
    from ...linking.project.discover import find_keys

    sight = stat_cache.Seen(began)
    keys = find_keys(paths, root, _excluded(paths, root), sight)
    contents = Contents(root, began, looked)
    if sight.of_others:
        return _with_others(sight, options, root, keys, contents, words)
    name = verdicts.digest(keys, contents, words)
    record = verdicts.load(name, contents) if name else None
    code = None if record is None else _show(options, root, record.checked, record.kept)
    if code is not None:
        contents.save()
    else:
        from .lint import lint

        code = lint(options, root, (keys, name, contents))
        record = (
            verdicts.load(name, contents)
            if name and stat_cache.lasting(contents.stamps, began)
            else None
        )
    code, said = _asides(sight, options, root, keys, code)
    if record is not None and not said:  # its findings must be printed again, so check it again
        verdicts.remember_seen(memory, sight, contents, record)
    return code


def _after_edits(
    options: Options, root: str, memory: str, recalled: stat_cache.Recalled, began: int
) -> int | None:
    """Answers from a remembered lint of which a few plans were edited; None if it is not of use for that."""
    from ...cache.blob_ids import Contents
    from ...cache.edited import Edited, Outdated
    from ...linking.project.stat_cache import Seen

    sight, keys = Seen(began), []
    try:
        edited = Edited(memory, recalled, Contents(root, began, few=True))
        if recalled.moved:
            from ...linking.project.discover import find_keys

            paths = options["paths"]
            assert isinstance(paths, list)
            keys = find_keys(paths, root, _excluded(paths, root), sight)
            if sight.of_others or not edited.still_lists(keys):
                return None
        found = known = edited.known()
        if found is None:
            from ...linking.link import Linker
            from .incremental import after_edits
            from .judge import settings_for

            found = after_edits(Linker(root, settings_for(options, root)), edited)
    except (Outdated, OSError):  # of a file that cannot be read, the message comes later
        return None
    code = _show(options, root, edited.checked, found)
    if code is None:
        return None
    code, said = _asides(sight, options, root, keys, code) if recalled.moved else (code, False)
    if known is not None and not said:
        edited.renew(sight)
    return code


def _with_others(
    sight: stat_cache.Seen,
    options: Options,
    root: str,
    keys: list[str],
    contents: Contents,
    words: str,
) -> int:
    """Lints where plans of other tools may exist: checks those each time, and takes our plans from the cache."""
    from ...cache import verdicts
    from .lint import lint
    from .plans_of_others import look

    more = look(sight.of_others, options, root)
    keys = sorted({*keys, *more.ours})
    code = lint(options, root, (keys, verdicts.digest(keys, contents, words), contents), more)
    return _asides(sight, options, root, keys, code)[0]


def _asides(
    sight: stat_cache.Seen, options: Options, root: str, keys: list[str], code: int
) -> tuple[int, bool]:
    """The exit code, and whether stderr names files that look like plans but were not checked, or plans of other workspaces."""
    said = False
    if not options["quiet"] and any("/" in key for key in keys):
        from . import other_workspaces

        said = other_workspaces.say(sight, keys, root)
    if not sight.others:
        return code, said
    from .look_alikes import say

    code, more = say(sight, options, root, code)
    return code, said or more


def _show(options: Options, root: str, checked: int, kept: tuple[Any, ...]) -> int | None:
    """Reports the cached verdict; returns the exit code, or None if a part of it is lost."""
    found, _, number = kept
    plain = (
        options["format"] in (None, *COUNTING)
        and not options["output"]
        and not options["assumptions"]
        and not options["baseline"]
        and not options["write_baseline"]
    )
    fragments = [item for item in found if item[1] == FRAGMENT and item[7] is None]
    assumed = sum(map(_is_assumption, found))
    if plain and len(fragments) + assumed == len(found):
        if options["quiet"]:
            return os.EX_OK  # `exits.CLEAN`, without loading that module
        said = verdict_line(checked, number + assumed, len(fragments), listed=False) + "\n"
        if not fragments:
            write(said.encode(), sys.stdout)
            return os.EX_OK
        if options["format"] in (None, "text"):
            from ...console.terminal import width
            from ...report.terminal.terminal_text import fragment_lines

            lines = fragment_lines(((item[0][0], item[2]) for item in fragments), width())
            write(f"{lines}\n{said}".encode("utf-8", "replace"), sys.stdout)
            return os.EX_OK
    from .lint import Kept, show_record

    return show_record(options, root, checked, Kept(*kept))


def _is_assumption(item: tuple[Any, ...]) -> bool:
    """Whether a cached finding is an assumption that the settings do not turn into an error."""
    code, grade = item[1], item[7]
    return grade is None and (code == ASSUMED or (code.startswith("FDC7") and code != FRAGMENT))


def _confirmed(root: str) -> str:
    """The stored confirmations of this user for this workspace (`fdc trust`)."""
    from ...workspace.allowances import stored

    return stored(root)


def _excluded(paths: list[object], root: str) -> tuple[str, ...]:
    """The globs that the settings exclude from searches. Reads settings only if they can contain such globs."""
    if not any(os.path.isdir(str(path)) for path in paths):
        return ()
    from ...linking.project.regular_file import read

    for name in ("fdc.toml", "pyproject.toml"):
        try:
            data = read(os.path.join(root, name))
        except OSError:
            continue
        if b"exclude" in data and (name == "fdc.toml" or b"tool.fdc" in data):
            from ...workspace.confirmed_settings import settings_of

            return settings_of(root).exclude
    return ()
