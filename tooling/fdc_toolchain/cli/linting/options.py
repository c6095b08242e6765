"""The options of `fdc lint`: one table for the quick reader and for click. Imports next to nothing."""

import os

from ...diagnostics.formats import FORMATS

JOBS = range(1, 257)

# name, short form, takes (None: a flag; a tuple: one of these; a range: a number in it; a text: anything), help
OPTIONS: tuple[tuple[str, str, object, str], ...] = (
    ("format", "f", FORMATS, "How findings are shown."),
    ("output", "o", "FILE", "Write the report there instead of stdout."),
    ("fix", "", None, "Apply safe fixes."),
    (
        "unsafe-fixes",
        "",
        None,
        "With --fix: also apply fixes that may change what a plan does. Check the result.",
    ),
    ("diff", "", None, "Print what --fix would change, without changing files."),
    (
        "assumptions",
        "",
        None,
        "List the assumptions of the proofs, and how to remove each.",
    ),
    ("trust-settings", "", None, "Treat what the settings allow as confirmed (for CI)."),
    (
        "changed",
        "",
        "[REF]",
        "Only plans whose verdict depends on files that changed since a git revision (default: HEAD).",
    ),
    ("staged", "", None, "Lint what is in git's index, which `git commit` commits (for hooks)."),
    ("baseline", "", "FILE", "Do not report the findings in this file. Verdicts do not change."),
    (
        "write-baseline",
        "",
        None,
        "Write the findings to the file of --baseline (fdc-baseline.json).",
    ),
    ("watch", "", None, "Lint again after each file change, until Ctrl-C."),
    ("strict", "", None, "Exit 1 on warnings too."),
    ("exit-zero", "", None, "Exit 0 even if there are findings."),
    ("quiet", "q", None, "Print only findings."),
    (
        "jobs",
        "j",
        JOBS,
        "Maximum number of processes. [default: one per processor]",
    ),
    ("no-cache", "", None, "Neither read nor write the verdict cache."),
    (
        "color",
        "",
        ("auto", "always", "never"),
        "Use colours: auto (in a terminal), always or never.",
    ),
    ("workspace", "", "DIR", "The workspace. [default: the nearest above the current folder]"),
    ("stdin-filename", "", "PATH", "The file name to show for stdin (`-`)."),
    ("fsm", "", "PATH", "The automaton of root plans that do not name one."),
    ("profile", "", ("default", "fdc"), "With `fdc`: allow only calls of `deep-research`."),
    ("model", "", ("A", "B"), "Check against CSDC model A or B too."),
    ("complexity", "", ("P", "EXP"), "With --model: the complexity class that the plan must have."),
)

OLD = {"--output-file": "--output"}
"""Deprecated spellings of 0.1.0. Help does not show them."""

Options = dict[str, object]


def defaults() -> Options:
    """Every option unset, and no path."""
    options: Options = {
        name.replace("-", "_"): (False if takes is None else None) for name, _, takes, _ in OPTIONS
    }
    options["paths"] = []
    return options


def quick(arguments: list[str]) -> Options | None:
    """The options of a simple command line. None: click must parse it (help, mistakes, rare forms)."""
    takes_of = {f"--{name}": (name.replace("-", "_"), takes) for name, _, takes, _ in OPTIONS}
    takes_of |= {f"-{short}": takes_of[f"--{name}"] for name, short, _, _ in OPTIONS if short}
    takes_of |= {old: takes_of[name] for old, name in OLD.items()}
    options = defaults()
    paths: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if not word.startswith("-") or word == "-":
            paths.append(word)
            continue
        name, equals, value = word.partition("=")
        row = takes_of.get(name)
        if row is None or (equals and not name.startswith("--")):
            return None
        key, takes = row
        if takes == "[REF]":
            return None  # click decides whether the next word is its value
        if takes is None:
            if equals:
                return None
            options[key] = True
            continue
        if not equals:
            found = next(rest, None)
            if found is None or found.startswith("-"):
                return None
            value = found
        if isinstance(takes, tuple) and value not in takes:
            return None
        if isinstance(takes, range) and not (value.isdecimal() and int(value[:9]) in takes):
            return None
        options[key] = value
    options["paths"] = paths
    return options


def must_be_there(paths: list[str]) -> None:
    """Raises UsageError for a path that is missing, or is not a file or folder (a pipe, a device)."""
    for path in paths:
        if not os.path.isfile(path) and not os.path.isdir(path):
            from ...exits import UsageError

            if os.path.exists(path):
                raise UsageError(f"`{path}` is not a regular file; use `-` to read stdin")
            raise UsageError(f"Could not find file `{path}`")
