"""What the maker of plan sets draws from: files, globs, commands, and automata of its own."""

from __future__ import annotations

PATHS = ("docs/a.md", "docs/b.md", "docs/sub/c.md", "README.md", "out/x.md", "out/y.md")
NESTED = ("out", "new", "new/a.md", "new/a.md/b.md", "out/x.md/z.md", "docs/new", "out/deep/z.md")
COMPUTED_GLOBS = (
    "{}",
    "{}",
    "{}*",
    "{}/*.md",
    "docs/{}",
    "d*/{}",
    "out/{}*",
    "docs/{}/*.md",
    "*/{}",
)
BESIDE = (
    "{0}.bak", "docs/{0}", "out/{0}/x.md", "{0}/x.md", "new{0}",
    "{0}/{1}", "out/{0}/{1}/x.md", "out/{0}{1}/x.md", "docs/{0}{1}a.md", "{0}/{1}/README.md",
)  # fmt: skip
"""Paths of one value, or of two."""
ODD = (
    "docs",
    "docs/a.md/z.md",
    '""',
    "README.md/",
    "../x.md",
    "/x.md",
    ".",
    "fdc.toml",
    "docs/*.md",
)
SPELLED = ("./{}", "docs/../{}", "docs/./../{}", ".//{}")
GLOBS = ("docs/*.md", "docs/**", "**/*.md", "out/*", "*.md", "docs/?.md", "none/*.md")
FOLDERS = ("docs", "out", ".", "docs/sub")
COMMANDS = ("make test", "make build", "true", "tidy up")
CODES = ("FDC401", "FDC402", "FDC404", "FDC411", "FDC412", "FDC413", "FDC441", "FDC312", "FDC451")

OWN = {
    # A write is looked at before the next one.
    "tooling/looks_fsm.json": {
        "start": "OPEN",
        "accept": ["OPEN"],
        "ways": {
            "OPEN": {
                "read_op": "OPEN",
                "step_op": "OPEN",
                "tool_exec": "OPEN",
                "write_op": "WROTE",
            },
            "WROTE": {"read_op": "OPEN", "step_op": "WROTE"},
        },
    },
    # Anything but closing, in any order.
    "tooling/free_fsm.json": {
        "start": "ANY",
        "accept": ["ANY"],
        "ways": {
            "ANY": dict.fromkeys(
                ("read_op", "write_op", "delete_op", "move_op", "step_op", "tool_exec", "plan_op"),
                "ANY",
            )
        },
    },
    # Reads, then writes, then deletes; ends after a write.
    "tooling/order_fsm.json": {
        "start": "READING",
        "accept": ["WRITING", "DELETING"],
        "ways": {
            "READING": {"read_op": "READING", "step_op": "READING", "write_op": "WRITING"},
            "WRITING": {
                "write_op": "WRITING",
                "step_op": "WRITING",
                "delete_op": "DELETING",
                "tool_exec": "WRITING",
            },
            "DELETING": {"delete_op": "DELETING", "step_op": "DELETING"},
        },
    },
}
FDC = "tooling/fdc_fsm.json"
