"""Findings to render: a few that show every feature, and any at all from Hypothesis."""

from __future__ import annotations

from fdc_toolchain.diagnostics.codes import CODES
from fdc_toolchain.diagnostics.diagnostic import Diagnostic, Edit, Fix, Label
from fdc_toolchain.diagnostics.span import Span
from hypothesis import strategies as st

HOSTILE = (
    "\x1b[31m", "\x1b]8;;http://evil\x07", "\r", "\n", "\t", "\0", "\x7f", "\x9b",
    "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\ud800", "\udcff", "\ufffe", "\ufffd",
    "e\u0301", "\u0301" * 9, "日本", "😀", "\u2764\ufe0f", "\u3164",
    "::error::x", "##[error]x", "%0A", "]]>", "<!--", "&amp;", "{0}", "}", "](http://evil)",
    "`", "|", '"', "'", "\\", ",", ":",
)  # fmt: skip
"""What has broken a terminal, a parser or a CI log before."""

_pieces = st.sampled_from((*HOSTILE, " ", "  ", "a", "word ", "ä"))
texts = st.one_of(st.lists(_pieces, max_size=7).map("".join), st.text(max_size=6))
"""Any text, hostile more often than not."""

PATHS = (
    "a.plan", "plans/ä b#%?.plan", "/abs/x.plan", "./b.plan", "-", "<stdin>", "c:d.plan", "::x::", "\udcff", "n\n", "",
)  # fmt: skip
"""Names that files can have, and one that they cannot."""


_PLACES = (
    (1, 1, 1, 1), (1, 1, 1, 3), (1, 3, 1, 9), (2, 1, 2, 40), (1, 2, 3, 2), (1, 1, 9, 1), (12, 5, 3, 1), (0, 0, 0, 0),
    (-1, -5, -1, 10**9), (10**9, 1, 10**9, 2), (3, 30, 3, 2), (2, 1, 10**9, 10**9),
)  # fmt: skip
spans = st.builds(
    lambda path, place: Span(path, *place), st.sampled_from(PATHS), st.sampled_from(_PLACES)
)
"""Places inside and outside of any text, upside down too."""

labels = st.builds(Label, spans, texts)
fixes = st.builds(
    Fix, texts, st.lists(st.builds(Edit, spans, texts), max_size=3).map(tuple), st.booleans()
)
diagnostics = st.builds(
    Diagnostic,
    spans,
    st.sampled_from(sorted(CODES)),
    texts,
    st.lists(labels, max_size=2).map(tuple),
    st.lists(labels, max_size=3).map(tuple),
    st.none() | texts,
    st.none() | fixes,
)
sources = st.dictionaries(
    st.sampled_from(PATHS), st.lists(texts, max_size=5).map("\n".join), max_size=3
)


DEMO = "plans/demo.plan"
TRACK = "plans/track.plan"
SAMPLE_TEXTS = {
    DEMO: """\
# FSM: tooling/fdc_fsm.json
param question
set_plan Explore the question
plan_step_complete ready
notes <- read_fil README.md
for_each_file docs/**/*.md max 20
\toverwrite_file_with_block out/日本語/{file1}.md
        hello
call_plan track topic={question}
notes <- read_file \u202eevil\x1b[31m.md e\u0301x
close_task
""",
    TRACK: "read_file {topic}\nif 1 == 2\n    read_file a\n    read_file b\n    read_file c\nelse\n    read_file d\n"
    f"    read_file e\nrun_in_bash_session {'echo ' * 60} rm -rf / {'y ' * 200}\n",
}


def _at(path: str, line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span(path, line, column, end_line, end_column)


SAMPLE = [
    Diagnostic(
        _at(DEMO, 5, 10, 5, 18), "FDC301",
        "no catalogue declares a tool `read_fil`; a plan may use the tools of the shipped catalogue"
        " and the workspace's own",
        help="did you mean `read_file`?",
        fix=Fix("write `read_file`", (Edit(_at(DEMO, 5, 10, 5, 18), "read_file"),), True),
    ),
    Diagnostic(_at(DEMO, 7, 28, 7, 34), "FDC411", "a run uses `out/日本語` before it exists"),
    Diagnostic(
        _at(DEMO, 10, 1, 10, 6), "FDC314", "`notes` is bound over another of the same name",
        labels=(
            Label(_at(DEMO, 5, 1, 5, 6), "first bound here"),
            Label(_at(DEMO, 10, 20, 10, 25), "from this \x07"),
            Label(_at("gone.plan", 3, 1, 3, 2), "and there, in a file that is gone"),
        ),
    ),
    Diagnostic(_at(DEMO, 10, 20, 10, 21), "FDC103", "U+202E cannot be seen, and can change how the line is read"),
    Diagnostic(
        _at(TRACK, 2, 1, 8, 16), "FDC326", "a whole branch", labels=(Label(_at(DEMO, 6, 15, 8, 14), "and this body"),)
    ),
    Diagnostic(
        _at(TRACK, 9, 325, 9, 331), "FDC306", "a tool that no plan may use",
        labels=(Label(_at(TRACK, 9, 1, 9, 20), "here"),),
    ),
    Diagnostic(
        _at(DEMO, 11, 1, 11, 11), "FDC401",
        "a run reaches `close_task` in the state EXECUTING, where `close_op` is not allowed; expected `step_op`",
        trace=(
            Label(_at(DEMO, 3, 1, 3, 20), "plan_op: IDLE -> PLANNING"),
            Label(_at(DEMO, 4, 1, 4, 20), "step_op: PLANNING -> EXECUTING"),
            Label(_at(DEMO, 9, 1, 9, 20), "calls `track`"),
            Label(_at(TRACK, 1, 1, 1, 9), "read_op: EXECUTING -> EXECUTING"),
            Label(_at(TRACK, 9, 1, 9, 9), "tool_exec: EXECUTING -> EXECUTING"),
            Label(_at(DEMO, 11, 1, 11, 11), "close_op: refused in EXECUTING"),
        ),
        help="put a step such as `plan_step_complete` before it\n`fdc graph tooling/fdc_fsm.json` draws the automaton",
    ),
    Diagnostic(_at(DEMO, 99, 1, 99, 2), "FDC121", "a place beyond the text"),
]  # fmt: skip
