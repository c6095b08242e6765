"""FDC-99: nothing acts in what is left, whoever nests it how, and what does not act stays as it was."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from fdc_toolchain.protocols.markdown.sanitise import active, sanitised
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt


class Page(HTMLParser):
    """What a browser would find in the page that the Markdown is shown as."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.acts: list[str] = []
        self.feed(
            MarkdownIt("commonmark").render(markdown) + "\"'>-->"
        )  # a page goes on, and ends what is open
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.acts += [tag] if tag == "script" else []
        self.acts += [name for name, _ in attrs if name.startswith("on")]


PIECES = [
    "<script>", "</script>", "<script src=a>", "alert(1)", "<b onclick=x>", "<b onclick='x>y' id=\"a&quot;b\">", "</b>",
    "<img src=x", " onerror=y>", "<div>", "<div\nonload=a\n>", "`", "``", "```\n", "\n```\n", "\n", "\n\n", "    ", "> ", "- ",
    "\\", "<!--", "-->", "<scr", "ipt>", "<a href='on'>", "text", "[a](<x>)", "<http://a.example>", "<?x", "?>", "\r\n", "\t",
    "*", "<style>", "</style>", "<textarea>", "<svg/onload=a>", "&lt;script>", "<SCRIPT >", "</SCRIPT\n>", "\x00", "\x0c",
    "<p on\nclick=x onx>", '"', "'", "<div title=\"",
]  # fmt: skip
pages = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(pages)
def test_nothing_in_what_is_left_acts(text: str) -> None:
    try:
        left, count = sanitised(text)
    except ValueError:
        return
    assert [] == Page(left).acts == active(left)
    assert (left, 0) == sanitised(left)
    assert (count == 0) == (left == text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("# A\n\n<script>\nalert(1)\n</script>\n\nx\n", "# A\n\n\n\nx\n"),
        (
            'a <script>x</script> b `<script>` <b onclick="x()" id=a>q</b>\n',
            'a  b `<script>` <b id="a">q</b>\n',
        ),
        (
            "```html\n<script>x</script>\n```\n\n    <b onx>\n",
            "```html\n<script>x</script>\n```\n\n    <b onx>\n",
        ),
        ("<div\n  onload='a'\n>\nx\n</div>\n", "<div>\nx\n</div>\n"),
        ("x \\<script> <script>a</script>\n", "x \\<script> \n"),
        ("> a <img src=x onerror=y>\n> <script>a\n> b</script>\n", '> a <img src="x">\n> \n'),
        (
            "Put the <script> there.\n\nRules.\n\nAnd </script>.\n",
            "Put the  there.\n\nRules.\n\nAnd .\n",
        ),
        ("<script>\nnever ends\n\n# B\n", "\nnever ends\n\n# B\n"),
        ("<scr<script>a</script>ipt>b</script>\n", "b\n"),
        ('<a title="`" onclick=x><script>s</script> `c`\n', '<a title="`"> `c`\n'),
        ("<!-- <script>a</script> onclick -->\n", "<!-- <script>a</script> onclick -->\n"),
        ("1 < 2, a<b and onclick=x\n", "1 < 2, a<b and onclick=x\n"),
    ],
)
def test_what_acts_is_taken_out_and_nothing_else(text: str, left: str) -> None:
    assert left == sanitised(text)[0]
