"""Which places an answer shows: options by what describes them, code before declarations, plans and CI, twins once."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.research.answering.found import Found, find_places
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.mapped import searched
from fdc_toolchain.tools.files.documents import scan

from tests.support.process import fdc

POOL = '''class {kind}Pool:
    """Connections to one host."""

    def __init__(self, host, uds=None, limit=10):
        """
        Parameters:
            host: The name of the host.
            uds: A path of a socket file, in place of TCP.
        """
        self.host = host
        self.uds = uds
        self.limit = limit

    {wait}def close_idle(self):
        """Closes the connections that are idle."""
        for connection in list(self.connections):
            if connection.idle:
                {also}connection.{a}close()
                self.connections.remove(connection)
'''


def ask(folder: Path, question: str, files: dict[str, str]) -> Found:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    scanned = scan(str(folder), code=True)
    tree = Tree(scanned, scanned.documents)
    return find_places(tree, searched(tree, question), question)


@pytest.fixture
def pools() -> dict[str, str]:
    waiting = {"kind": "Async", "wait": "async ", "also": "await ", "a": "a"}
    return {
        "net/waiting.py": POOL.format(**waiting),
        "net/plain.py": POOL.format(kind="", wait="", also="", a=""),
        "net/other.py": "def close(connection):\n    connection.idle = False\n",
    }


@pytest.mark.parametrize("question", ["What does `uds` do?", "What does the `uds` option do?"])
def test_an_option_that_stands_there_is_found_by_the_line_that_describes_it(
    tmp_path: Path, pools: dict[str, str], question: str
) -> None:
    """It was refused: no function or type has that name."""
    found = ask(tmp_path, question, pools)
    assert found.sure == "Moderate" and found.why == "`uds` stands there"
    shown = [text.strip() for _, text in found.places[0].code]
    assert shown[:2] == [
        "def __init__(self, host, uds=None, limit=10):",
        "uds: A path of a socket file, in place of TCP.",
    ]


def test_more_than_a_name_is_measured(tmp_path: Path, pools: dict[str, str]) -> None:
    found = ask(tmp_path, "Which compression does `uds` negotiate with a proxy?", pools)
    assert found.sure == "None"


def test_what_is_written_twice_is_one_place(tmp_path: Path, pools: dict[str, str]) -> None:
    """A library for callers that wait and others showed each place twice, and half as many places."""
    found = ask(tmp_path, "Where are idle connections closed?", pools)
    first = found.places[0]
    files = {first.path, first.twins[0].rpartition(":")[0]}
    assert first.name.endswith("Pool.close_idle") and files == {"net/plain.py", "net/waiting.py"}
    assert [one.name.endswith("close_idle") for one in found.places].count(True) == 1
    done = fdc("explore", "Where are idle connections closed?", cwd=tmp_path)
    assert f"\n        likewise {first.twins[0]}\n" in done.stdout


def test_a_word_in_capitals_is_a_name(tmp_path: Path) -> None:
    """`any` is no word to look for; `ANY` is a constant."""
    files = {
        "s.py": "def connect(sender=None):\n    # for any sender\n    pass\n\n\nANY = object()\n"
    }
    for question in ("What is ANY for?", "What does ANY mean for a sender?"):
        found = ask(tmp_path, question, files)
        assert (found.places[0].name, found.sure) == ("ANY", "High"), question


def test_two_of_one_class_are_two_places(tmp_path: Path) -> None:
    body = "        for receiver in self.receivers:\n            {}receiver(message)\n        self.sent += 1\n"
    text = f"class Signal:\n    def send(self, message):\n{body.format('')}\n"
    text += f"    async def send_async(self, message):\n{body.format('await ')}"
    found = ask(tmp_path, "Which receivers get the message of a signal?", {"signal.py": text})
    assert {one.name for one in found.places[:2]} == {"Signal.send", "Signal.send_async"}
    assert all(one.twins == () for one in found.places)


def test_definitions_of_one_name_that_differ_are_two_places(tmp_path: Path) -> None:
    files = {
        "a.py": "def brew_tea(pot):\n    heat(pot)\n    return pour(pot)\n",
        "b.py": "def brew_tea(leaves, water):\n    mix(leaves, water)\n    wait(3)\n    return leaves\n",
    }
    found = ask(tmp_path, "Where is `brew_tea`?", files)
    assert [one.path for one in found.places] == ["a.py", "b.py"]


def test_code_comes_before_what_only_declares_it(tmp_path: Path) -> None:
    said = "the timeout of a connection"
    declared = (
        f"/** {said}, 120000 by default */\nexport declare const CONNECTION_TIMEOUT: number;\n"
    )
    made = f"// {said}\nexport const CONNECTION_TIMEOUT = 120 * 1000; // the default\n"
    files = {"lib/smtp.d.ts": declared, "lib/smtp.js": made}
    where = ask(tmp_path, "Where is the default connection timeout set?", files)
    assert where.places[0].path == "lib/smtp.js"
    types = ask(tmp_path, "Which type is declared for the connection timeout?", files)
    assert types.places[0].path == "lib/smtp.d.ts"
    alone = ask(
        tmp_path / "alone", "Where is the default connection timeout set?", {"smtp.d.ts": declared}
    )
    both = ask(
        tmp_path / "both", "Where is the default connection timeout set?", {"smtp.ts": declared}
    )
    assert alone.places[0].score == both.places[0].score  # nothing else is there to be preferred


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What happens when a request times out?", "on_timeout"),
        ("How does the server shut down?", "shutdown_server"),
        ("When is a request tried again?", "retry_request"),
    ],
)
def test_a_verb_of_two_words_is_one_in_code(tmp_path: Path, question: str, name: str) -> None:
    code = "".join(
        f"def {one}(request, server):\n    return {two}(request)\n\n\n"
        for one, two in (
            ("tally_request", "clock"), ("on_timeout", "fail"), ("server_request", "serve"),
            ("shutdown_server", "halt"), ("retry_request", "send"),
        )
    )  # fmt: skip
    assert ask(tmp_path, question, {"app.py": code}).places[0].name == name


def test_plans_are_shown_after_the_code_that_they_are_about(tmp_path: Path) -> None:
    files = {
        "price.plan": "# FSM: tooling/fdc_fsm.json\nset_plan Correct the price of oolong tea in the price list\n",
        "price.py": "def price_of(tea):\n    # the price list has oolong, too\n    return PRICES[tea]\n",
    }
    code = ask(tmp_path, "Where is the price of oolong in the price list?", files)
    assert [one.path for one in code.places] == ["price.py", "price.plan"]
    plan = ask(tmp_path, "Which plan corrects the price of oolong in the price list?", files)
    assert plan.places[0].path == "price.plan"


PROJECT = {
    "pyproject.toml": """\
[project]
name = "kettle"
requires-python = ">=3.11"

[tool.release]
# after the tag was pushed the steps are run in the background
run = ["build", "publish after the tag was pushed"]
""",
    ".github/workflows/main.yml": """\
name: main
jobs:
  run:
    steps:
      # steps that run in the background, after the others
      - run: scripts/background
""",
    "kettle/later.py": """\
class Background:
    def __call__(self):
        for step in self.steps:
            step()


def respond(answer, background):
    answer.send()
    background()
""",
}


def test_code_comes_before_what_tells_tools_how_it_is_built(tmp_path: Path) -> None:
    """The workflow has every word of the question, and runs nothing of the code."""
    found = ask(tmp_path, "How are steps run in the background after the answer was sent?", PROJECT)
    assert "kettle/later.py" == found.places[0].path


def test_a_question_about_the_project_is_answered_by_its_settings(tmp_path: Path) -> None:
    found = ask(tmp_path, "Which version of Python is required?", PROJECT)
    (place, *_) = found.places
    assert "pyproject.toml" == place.path
    assert 'requires-python = ">=3.11"' in [text for _, text in place.code]
