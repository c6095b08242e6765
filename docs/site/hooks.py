"""Pages of the site that are made from the product: the first page, one for each rule, the tools, the commands, the changes.

MkDocs calls `on_files` and `on_page_markdown` (its "hooks"). Nothing here is written into the checkout.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
RULE = re.compile(r'<a id="([a-z0-9-]+)"></a>\n\n### (FDC\d+) ', re.ASCII)
LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are made here."""
    made = {
        "index.md": _moved((ROOT / "README.md").read_text("utf-8")),
        "changes.md": _moved((ROOT / "CHANGELOG.md").read_text("utf-8")),
        "tools.md": tools(),
        "commands.md": commands(),
        **rules((ROOT / "docs" / "rules.md").read_text("utf-8")),
    }
    for path, text in made.items():
        old = files.get_file_from_path(path)
        if old is not None:
            files.remove(old)
        files.append(File.generated(config, path, content=text))
    reference = next(part["Reference"] for part in config.nav if "Reference" in part)
    at = reference.index({"Rules": "rules.md"})
    pages = sorted(path for path in made if path.startswith("rules/"))
    reference[at] = {"Rules": ["rules.md", *pages]}
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrites links: a rule has a page of its own; what is not a page is shown as its path."""
    here = page.file.src_uri

    def linked(match: re.Match[str]) -> str:
        shown, target = match[1], match[2]
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z][a-z0-9+.-]*:", target) or not path:
            return match[0]
        absolute = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
        if absolute == "rules.md" and anchor:
            absolute = f"rules/{anchor}.md"
            return f"[{shown}]({posixpath.relpath(absolute, posixpath.dirname(here) or '.')})"
        known = files.get_file_from_path(absolute) is not None
        if known or not (ROOT / "docs" / absolute).exists():
            return match[0]  # what leads nowhere is reported by MkDocs
        return shown if shown.startswith("`") else f"{shown} (`{absolute.removeprefix('../')}`)"

    return "".join(
        LINK.sub(linked, part) if prose else part for prose, part in _prose_and_code(markdown)
    )


def _prose_and_code(markdown: str) -> Iterator[tuple[bool, str]]:
    """The text in parts, in order: whether a part is prose (and not a block of code), and the part."""
    part: list[str] = []
    fence = ""
    for line in markdown.splitlines(keepends=True):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and not fence:
            yield True, "".join(part)
            part, fence = [line], mark[1]
        elif fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            yield False, "".join([*part, line])
            part, fence = [], ""
        else:
            part.append(line)
    yield not fence, "".join(part)


def _moved(text: str) -> str:
    """A page of the top folder, as if it lay in docs/."""
    text = text.replace("](CHANGELOG.md", "](docs/changes.md").replace(
        "](README.md", "](docs/index.md"
    )
    text = re.sub(r"\]\((?!docs/|#|[a-z]+:)", "](../", text)
    return re.sub(r"\]\(docs/", "](", text)


def rules(page: str) -> dict[str, str]:
    """The page of all rules, as a table and one page for each rule."""
    starts = list(RULE.finditer(page))
    table = page[: starts[0].start()]
    made = {"rules.md": re.sub(r"\]\(#([a-z0-9-]+)\)", r"](rules/\1.md)", table)}
    for at, found in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(page)
        body = page[found.start() : end].split("\n", 2)[2].replace("### ", "# ", 1)
        made[f"rules/{found[1]}.md"] = re.sub(r"\]\(#([a-z0-9-]+)\)", r"](\1.md)", body)
    return made


def tools() -> str:
    """Every tool that a plan of a workspace without packs may use."""
    from fdc_toolchain import api

    out = ["# Tools", "", "`fdc tools NAME` explains one. Packs and workspaces bring more.", ""]
    for tool in api.catalogue(workspace=str(ROOT / "docs")).tools:
        out += [f"## {tool.name}", "", f"{tool.summary}.", ""]
        out += [f"Kind of step: `{tool.action}`. Effect: {tool.effect}.", ""]
        if tool.parameters:
            out += ["| argument | kind | required | access |", "|---|---|---|---|"]
            for one in tool.parameters:
                required = "yes" if one.required else "no"
                out.append(f"| `{one.name}` | {one.kind} | {required} | {one.access or ''} |")
            out.append("")
    return "\n".join(out)


def commands() -> str:
    """Every command's help."""
    import click
    from fdc_toolchain.cli.main import group

    fdc = group()
    out = ["# Commands", "", "What `fdc help COMMAND` prints."]
    with click.Context(fdc, info_name="fdc") as above:
        for name in fdc.list_commands(above):
            command = fdc.get_command(above, name)
            if command is None or command.hidden:
                continue
            with click.Context(command, info_name=name, parent=above) as context:
                context.formatter_class = click.HelpFormatter
                out += ["", f"## fdc {name}", "", "```text", command.get_help(context), "```"]
    return "\n".join(out) + "\n"
