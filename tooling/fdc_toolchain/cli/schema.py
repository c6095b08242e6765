"""`fdc schema`: prints the JSON Schemas of fdc's input and output files."""

from __future__ import annotations

import click

from .. import resources
from ..exits import CLEAN, UsageError
from ..text.suggest import did_you_mean

SCHEMAS: dict[str, tuple[str, str]] = {
    # name: (shipped file, one line)
    "activity-log": ("grammar/activity_log.schema.json", "one line of logs/activity.log.jsonl"),
    "catalogue": ("grammar/catalogue.schema.json", "tools of a workspace: fdc_tools.json"),
    "diagnostics": ("grammar/diagnostics.schema.json", "output of `fdc lint --format json`"),
    "fsm": ("tooling/fsm.schema.json", "an automaton"),
    "lessons": ("grammar/lessons.schema.json", "one line of knowledge_core/lessons.jsonl"),
    "protocol": ("protocols/protocol.schema.json", "rules: protocols/NAME.protocol.json"),
    "settings": ("grammar/settings.schema.json", "fdc.toml, and [tool.fdc] in pyproject.toml"),
}
ID = "urn:fdc:schema:"
"""The prefix of each `$id`, followed by name and version. Within a version, keys are only added."""


@click.command(epilog="Exit codes: 0 done, 2 unknown schema.")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print the JSON Schema called NAME, or the one with NAME as its `$id`; without NAME, list them."""
    if name is None:
        width = max(map(len, SCHEMAS))
        for key, (_, what) in SCHEMAS.items():
            click.echo(f"{key:<{width}}  {ID}{key}:1  {what}")
        return CLEAN
    wanted = name.removeprefix(ID).removesuffix(":1") if name.startswith(ID) else name
    row = SCHEMAS.get(wanted)
    if row is None:
        hint = did_you_mean(wanted, SCHEMAS)
        raise UsageError(
            f"the schema `{name}` does not exist; " + (hint or "`fdc schema` lists them")
        )
    click.echo(resources.read(row[0]).decode("utf-8"), nl=False)
    return CLEAN
