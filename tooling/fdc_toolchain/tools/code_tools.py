"""`generate_code`, and the steps of the plan by which a task has code written: a patch, its edits, the workspace's tests.

Without a master controller, fdc asks a person to confirm that it is done, or for a patch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b

from ..linking.project.settings import SettingsError, read_settings
from ..workspace.failure import ToolFailure
from .context import Context, text, word
from .files import patches

ASKED = ("generate_code: ", "code.write: ")
"""Prefixes of the questions; a controller that writes code answers them instead of a person."""

_FAILED = "failed"


def generate_code(args: Mapping[str, object], context: Context) -> object:
    """`generate_code`: the answer about the written code."""
    what = " ".join(text(args, "what").split())
    answer = context.ask(
        f"{ASKED[0]}change `{word(args, 'files')}` so that the tests pass: {what} (answer done, or failed: why)"
    )
    said = answer.strip()
    head, _, why = said.partition(":")
    if head.strip().lower() == _FAILED:
        raise ToolFailure("tests", why.strip() or "the code could not be written")
    if not said:
        raise ToolFailure("answer", "neither `done` nor `failed: why`")
    return said


def probe(args: Mapping[str, object], context: Context) -> object:
    """Repeats a request without a recorded answer, since asking has no effect."""
    return "not-done"


def write_code(args: Mapping[str, object], context: Context) -> object:
    """`code.write`: the edits of a patch, as JSON from the coder; `failed` says that there will be none."""
    what = " ".join(text(args, "what").split())
    asked = f"{ASKED[1]}a patch for `{word(args, 'files')}`: {what}"
    reply = json.loads(context.ask(f'{asked} (answer {{"edits": [...]}})', _no_patch))
    if _FAILED in reply:
        raise ToolFailure("model", str(reply[_FAILED]))
    return {"edits": reply["edits"], "refused": reply.get("refused")}


def _no_patch(answer: str) -> str:
    """Why an answer is not a patch; empty where it is one."""
    try:
        reply = json.loads(answer)
    except (ValueError, RecursionError):
        return "a patch is JSON"
    if isinstance(reply, dict) and (isinstance(reply.get("edits"), list) or _FAILED in reply):
        return ""
    return 'a patch is an object: {"edits": [{"path": PATH, "diff": SECTIONS or "content": TEXT}]}'


def apply_code(args: Mapping[str, object], context: Context) -> object:
    """`code.apply`: applies all edits to files that match the glob, or none; completes an interrupted attempt."""
    patch = args.get("patch")
    if not isinstance(patch, dict) or not isinstance(patch.get("edits"), list):
        raise ToolFailure("argument", "`patch` is not a patch")
    if patch.get("refused"):
        raise ToolFailure("refused", str(patch["refused"]))
    edits = patch["edits"]
    for edit in edits:
        kinds = edit.keys() & {"diff", "content"} if isinstance(edit, dict) else ()
        if len(kinds) != 1 or not all(isinstance(edit.get(part), str) for part in ("path", *kinds)):
            raise ToolFailure(
                "diff", "the patch does not apply: an edit is a path with a diff or content"
            )
    name = blake2b(context.key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    try:
        paths = patches.finish(context.root, context.run_folder, name)
        if paths is None:
            patches.keep(context.root, context.run_folder, name, edits, word(args, "files"))
            paths = patches.finish(context.root, context.run_folder, name)
    except ToolFailure as failed:
        raise ToolFailure(failed.kind, f"the patch does not apply: {failed}") from failed
    return {"paths": paths}


def test_code(args: Mapping[str, object], context: Context) -> object:
    """`code.test`: runs the workspace's test command, unless the patch before it was not applied."""
    from . import shell

    applied = args.get("applied")
    if isinstance(applied, dict) and _FAILED in applied:
        raise ToolFailure(str(applied[_FAILED]), str(applied.get("why")))
    try:
        settings = read_settings(context.root.path)
    except SettingsError as wrong:
        raise ToolFailure("settings", str(wrong)) from wrong
    if not settings.test_command:
        raise ToolFailure(
            "settings",
            "no test command is configured (`test-command` in fdc.toml), so the code cannot be tested",
        )
    limited = replace(context, shell_seconds=float(settings.test_seconds), bound=True)
    return shell.run_in_bash_session({"command": settings.test_command}, limited)
