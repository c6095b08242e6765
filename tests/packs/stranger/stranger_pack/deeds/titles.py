"""The title of a meeting: a person confirms it, and the minutes are filed under it."""

from pathlib import Path

from fdc_toolchain.api import JSON, Context, ToolFailure

from .words import slug


def confirm_title(args: dict[str, JSON], context: Context) -> JSON:
    """The title that a person wants: the one that is proposed, or another one. It is remembered for the run."""
    proposed = str(args["title"])
    answer = context.ask(f"Title `{proposed}`? Enter `yes`, or another title.").strip()
    title = proposed if answer in ("yes", "") else answer
    Path(context.run_folder, "title.txt").write_text(title, "utf-8")
    context.say(f"title: {title}")
    return title


def file_minutes(args: dict[str, JSON], context: Context) -> JSON:
    """Writes the minutes; returns the path. A second attempt of the same step finds its own file."""
    remembered = Path(context.run_folder, "title.txt")
    if not remembered.is_file():
        raise ToolFailure("input", "no title was confirmed in this run")
    folder = Path(str(args["folder"]))
    folder.mkdir(exist_ok=True)
    path = folder / f"{slug(remembered.read_text('utf-8'))}.md"
    mark = f"<!-- {context.key} -->\n"
    if path.exists() and not path.read_text("utf-8").startswith(mark):
        raise ToolFailure("exists", f"`{path}` is there already")
    items = args["items"]
    lines = [f"- [ ] {item}" for item in items] if isinstance(items, list) else []
    path.write_text(
        "\n".join(
            [f"{mark}# {remembered.read_text('utf-8')}", "", *lines, "", str(args["people"]), ""]
        ),
        "utf-8",
    )
    return str(path)
