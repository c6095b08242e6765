"""The open items of a meeting: lines that begin with `TODO`."""

from fdc_toolchain.api import JSON, Context, ToolFailure


def open_items(args: dict[str, JSON], context: Context) -> JSON:
    """The open items of the notes, in their order."""
    path = args["path"]
    if not isinstance(path, str):
        raise ToolFailure("argument", "`path` must be text")
    lines = context.read(path).decode("utf-8", "replace").splitlines()
    return [line.removeprefix("TODO").strip(" :") for line in lines if line.startswith("TODO")]


def has_items(args: dict[str, JSON], context: Context) -> JSON:
    """Whether a list of items holds any."""
    values = args["args"]
    return isinstance(values, list) and bool(values[0])
