"""The tools that read, write, rename and delete files of the workspace."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.events import Outcome
from ...linking.project.quiet_git import started_nothing
from ...text.image_kind import NO_IMAGE, image_kind
from ...workspace import merge_diff
from ...workspace.failure import ToolFailure
from ...workspace.files import Mode, parts_of
from ...workspace.shown_files import digest
from .. import intent_files
from ..context import Context, text, whole, word

MOST_LINES = 1_000


def create(args: Mapping[str, object], context: Context) -> object:
    """`create_file_with_block`: the file must not exist; one with exactly this content is a repetition."""
    return _write(args, context, "create")


def overwrite(args: Mapping[str, object], context: Context) -> object:
    """`overwrite_file_with_block`: whether it exists or not."""
    return _write(args, context, "write")


def _write(args: Mapping[str, object], context: Context, mode: Mode) -> object:
    path = word(args, "path")
    data = _bytes(
        text(args, "content", None if "content" in args else ""), "content"
    )  # a step without a block: empty
    context.root.write(path, data, mode, context.key)
    return {"path": path, "bytes": len(data)}


def replace(args: Mapping[str, object], context: Context) -> object:
    """`replace_with_git_merge_diff` (FDC-85): every section exactly once, or the file stays as it is."""
    path = word(args, "path")
    before = context.root.read(path)
    after, replaced = merge_diff.apply(_text(before, path), text(args, "diff"))
    data = _bytes(after, "diff")
    result = {"path": path, "bytes": len(data), "replaced": replaced}
    # After a crash the file's content tells which side of the replacement it is on.
    mark = {
        "before": digest(before),
        "after": digest(data),
        "result": result,
    }
    intent_files.write(context.run_folder, context.key, mark)
    context.root.write(path, data, "edit", context.key)
    return result


def probe_replace(args: Mapping[str, object], context: Context) -> object:
    """Whether an announced replacement was made."""
    mark = intent_files.read(context.run_folder, context.key)
    if mark is None:
        return "not-done"  # the mark comes first
    found = context.root.find(word(args, "path"))
    now = None if found is None else digest(found)
    if now == mark["after"]:
        return Outcome(mark["result"])
    return "not-done" if now == mark["before"] else "unknown"


def restore(args: Mapping[str, object], context: Context) -> object:
    """`restore_file`: the content that the last commit has."""
    from .. import shell

    path = word(args, "path")
    name = "HEAD:./" + "/".join(parts_of(path))
    # else git would start a program of the settings to fetch what a partial clone lacks
    done = shell.run_git(["cat-file", "blob", name], context, started_nothing((), {}))
    if done.exit_code != 0:
        reason = done.output.decode("utf-8", "replace").strip().split("\n")[-1]
        raise ToolFailure("git", f"`{path}` cannot be restored: {reason.removeprefix('fatal: ')}")
    context.root.write(path, done.output, "write", context.key)
    return {"path": path, "bytes": len(done.output)}


def delete(args: Mapping[str, object], context: Context) -> object:
    """`delete_file`: succeeds if the file is already deleted, and says so in the result."""
    path = word(args, "path")
    return f"deleted {path}" if context.root.delete(path) else f"{path} was already deleted"


def rename(args: Mapping[str, object], context: Context) -> object:
    """`rename_file`: the new name must not exist."""
    path, target = word(args, "path"), word(args, "target")
    context.root.rename(path, target)
    return _renamed(path, target)


def probe_rename(args: Mapping[str, object], context: Context) -> object:
    """Whether an announced renaming was made; completes an interrupted one."""
    path, target = word(args, "path"), word(args, "target")
    root = context.root
    here, there = root.kind(path), root.kind(target)
    if here == "file" and there == "file" and root.same(path, target):
        root.forget(path)
        here = "missing"
    if here == "missing" and there == "file":
        return Outcome(_renamed(path, target))
    return "not-done" if here == "file" and there == "missing" else "unknown"


def _renamed(path: str, target: str) -> str:
    return f"renamed {path} to {target}"


def read(args: Mapping[str, object], context: Context) -> object:
    """`read_file`: its text."""
    path = word(args, "path")
    return _text(context.root.read(path), path)


def read_lines(args: Mapping[str, object], context: Context) -> object:
    """`read_lines`: the existing lines in the requested range."""
    path = word(args, "path")
    lines = _text(context.root.read(path), path).removesuffix("\n").split("\n")
    first = whole(args, "first", 1)
    last = min(len(lines), first + MOST_LINES - 1, whole(args, "last", len(lines)))
    text = "\n".join(lines[first - 1 : last])
    return {"text": text, "first": first, "last": last, "lines": len(lines)}


def view_image(args: Mapping[str, object], context: Context) -> object:
    """`view_image`: the format and size in the file's header; the image itself is not analysed."""
    path = word(args, "path")
    data = context.root.read(path)
    kind = image_kind(data)
    if kind is None:
        raise ToolFailure("unreadable", f"`{path}` is {NO_IMAGE}")
    width, height = _SIZES[kind](data) if kind in _SIZES else (0, 0)
    pixels = f", {width} x {height} pixels" if width else ""
    return f"{path}: {kind} image{pixels}, {len(data)} bytes; its content was not examined"


def _png(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _gif(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _jpeg(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(
                data[at + 5 : at + 7], "big"
            )
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0, 0


_SIZES = {"PNG": _png, "GIF": _gif, "JPEG": _jpeg}
"""How width and height are read, by format; those of the others are not."""


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise ToolFailure("encoding", f"`{path}` is not UTF-8 text (byte {wrong.start})") from None


def _bytes(content: str, name: str) -> bytes:
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolFailure(
            "encoding", f"`{name}` contains a lone surrogate, which UTF-8 cannot encode"
        ) from None
