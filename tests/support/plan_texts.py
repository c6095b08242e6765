"""Plans as texts, made by Hypothesis: valid ones as people might type them, and ones with something broken."""

from __future__ import annotations

from hypothesis import strategies as st


def pieces(characters: str, *more: str, most: int = 12) -> st.SearchStrategy[str]:
    """Texts put together from single characters and longer pieces."""
    return st.lists(st.sampled_from([*characters, *more]), max_size=most).map("".join)


NAMES = st.sampled_from(["a", "b", "item", "max", "as", "depth", "not_yet", "x9", "_"])
TOOLS = st.sampled_from(
    ["read_file", "message_user", "create_file_with_block", "x-y.z", "forest", "iterated"]
)
GAP = st.sampled_from([" ", " ", "  ", "     "])
TEXT = pieces("ab {}<->=#\"'.:\\é界-", "{a}", "{{a}}", "  ").map(str.strip)
BLOCK_LINE = pieces('ab #{}"\t', "  ", "---", "else", "# fdc", "é")
QUOTED = TEXT.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
FIXED = st.sampled_from(['""', '"why"', '"two  words"', '"a \\"b\\""', '"{{a}}"'])
VALUE = st.one_of(
    st.sampled_from(["{a}", "{a.b}", "12", "1.5", "*.py", "a/b.md", "-3", "{a}/x"]), NAMES, QUOTED
)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> str:
    """A condition, its spaces as they fall."""
    values = ["a", "{a.b}", "a.b", "3", "-1.5", "len(a)", "cited( {a} , b )", "true"]
    operand = st.one_of(st.sampled_from(values), FIXED.filter(lambda text: "{" not in text))
    kind = draw(
        st.sampled_from(
            ["value", "test", "test", "not", "and", "or"] if depth else ["value", "test"]
        )
    )
    gap = draw(GAP)
    if kind == "value":
        return draw(st.sampled_from(["a", "{a}", "true", "len(a)", "cited({a})"]))
    if kind == "test":
        operator = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in"]))
        return f"{draw(operand)}{gap}{operator}{gap}{draw(operand)}"
    inner = draw(conditions(depth - 1))
    if kind == "not":
        return f"not{gap}({inner})"
    return f"({inner}){gap}{kind}{gap}{draw(conditions(depth - 1))}"


@st.composite
def heads(draw: st.DrawFn) -> tuple[str, str]:
    """(kind, line) of a statement: `step`, `body`, `if` or `plain`."""
    gap = draw(GAP)
    bind = draw(st.sampled_from(["", "", "", "r <- ", "r<-", "r  <-  "]))
    others = ["call", "each", "for", "fork", "iterate", "if", "if", "require", "yield"]
    kind = draw(st.sampled_from(["step"] * 6 + others))
    condition = draw(conditions()) if kind in ("iterate", "if", "require") else ""
    if kind == "step":
        tail = draw(TEXT)
        return "step", f"{bind}{draw(TOOLS)}" + (
            f"{gap}{tail}" if tail and not tail.startswith("<-") else ""
        )
    if kind == "call":
        arguments = "".join(
            f"{gap}{draw(NAMES)}={draw(VALUE)}" for _ in range(draw(st.integers(0, 2)))
        )
        return "plain", f"{bind}call_plan{gap}sub/x{arguments}" + draw(
            st.sampled_from(["", " depth 2"])
        )
    if kind == "each":
        glob = draw(st.sampled_from(["*.py", "{a}/**/*.md"]))
        return "body", f"for_each_file{gap}{glob}" + draw(
            st.sampled_from(["", " as f", "  max  4"])
        )
    if kind in ("for", "fork"):
        return "body", f"{bind}{kind}{gap}{draw(NAMES)} in{gap}{draw(VALUE)} max{gap}3"
    if kind == "iterate":
        return "body", f"iterate{gap}max 3" + draw(st.sampled_from(["", f" until{gap}{condition}"]))
    if kind == "if":
        return "if", f"if{gap}{condition}"
    if kind == "require":
        return (
            "plain",
            f"require{gap}{condition}{gap}else{gap}{draw(FIXED.filter(lambda text: '{' not in text))}",
        )
    return "plain", f"yield{gap}{draw(VALUE)}"


@st.composite
def bodies(draw: st.DrawFn, indent: int, depth: int) -> list[str]:
    """The lines of a body: at least one statement, comments and blank lines anywhere."""
    out: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        out += draw(noise(indent))
        kind, line = draw(heads())
        if kind in ("body", "if") and not depth:
            kind, line = "step", "submit"
        out.append(" " * indent + line + draw(st.sampled_from(["", "", " ", "   "])))
        deeper = indent + draw(st.integers(1, 5))
        if kind == "step" and draw(st.booleans()):
            first = draw(st.sampled_from(["text", "# title", "---", "if a"]))
            out += [
                " " * deeper + text for text in [first, *draw(st.lists(BLOCK_LINE, max_size=4))]
            ]
        elif kind in ("body", "if"):
            out += draw(bodies(deeper, depth - 1))
            if kind == "if" and draw(st.booleans()):
                out += draw(noise(indent))
                out.append(" " * indent + "else")
                out += draw(bodies(indent + draw(st.integers(1, 5)), depth - 1))
    return out


@st.composite
def noise(draw: st.DrawFn, indent: int) -> list[str]:
    """Blank lines and comments, at odd indentations too."""
    blank = st.sampled_from(["", "", "  ", "\t"])
    text = st.sampled_from(["", " note", " FSM: x", "\ttab "])
    note = st.builds(lambda at, text: " " * at + "#" + text, st.integers(0, indent), text)
    return draw(st.lists(st.one_of(blank, note), max_size=2))


HEADERS = st.sampled_from(
    [
        "use fsm   explore",
        "param   q",
        'param q="a  b"',
        "param q   =   x",
        "budget llm_calls  60",
        "allow read  **   a",
    ]
)


@st.composite
def plans(draw: st.DrawFn) -> str:
    """A plan that reads cleanly, as a careless person might type it."""
    lines = draw(noise(0)) + draw(st.lists(HEADERS, max_size=2)) + draw(bodies(0, 2))
    ending = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    last = draw(st.sampled_from(["", ending, ending * 3, ending + "  " + ending]))
    return draw(st.sampled_from(["", "", "\ufeff"])) + ending.join(lines) + last


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A plan with a few characters or lines put in, taken out or moved."""
    text = draw(plans())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        to = draw(st.integers(at, min(len(text), at + 12)))
        new = draw(
            st.sampled_from(
                [*" \t\n\r\"'{}=#()é\u202e\0", "", "  ", "\n\n  ", "<-", "else", "---\n"]
            )
        )
        text = text[:at] + new + text[to:]
    return text
