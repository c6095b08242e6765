"""What `fdc explore` prints first, and that no claim gets into it that its line does not say."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fdc_packs.research.answering.found import FAR, _stretch, find_places
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.mapped import searched
from fdc_toolchain.tools.files.documents import scan

from tests.support.database import Workers, database, needs_database
from tests.support.explored import QUESTION, aggregated, data, documented, shop, thinking
from tests.support.process import fdc
from tests.support.research import write


def test_the_first_lines_answer_and_fit_a_terminal(tmp_path: Path) -> None:
    """At most 25 lines of 80 columns, with the deciding code and its place; they say that no one claimed anything."""
    done = fdc("explore", QUESTION, cwd=shop(tmp_path))
    rows = done.stdout.rstrip("\n").split("\n")
    assert 0 == done.returncode and len(rows) <= 25 and max(map(len, rows)) <= 80
    assert rows[0].startswith("shop/orders.py:10  place_order")
    assert any("release(basket)" in row and row.split()[0] == "14" for row in rows)
    assert "Quotations only: no model was asked." in done.stdout


def test_a_resumed_exploration_ends_with_the_answer_as_one_that_was_not_interrupted(
    tmp_path: Path,
) -> None:
    """It printed the result as JSON, and ended with 0 where the question must be changed."""
    for question, code in ((QUESTION, 0), ("Where is the Zanzibar quota of flamingos?", 5)):
        done = fdc("explore", question, cwd=shop(tmp_path))
        resumed = fdc("resume", "last", cwd=tmp_path)
        assert (code, code) == (done.returncode, resumed.returncode)
        assert done.stdout == resumed.stdout.partition("explore, going on\n")[2]
    said = json.loads(fdc("resume", "last", "--format", "json", cwd=tmp_path).stdout)
    assert "finished" == said["status"] and isinstance(said["result"], dict)


def test_an_exploration_that_is_run_as_a_plan_ends_with_the_answer(tmp_path: Path) -> None:
    """It printed 120 lines of JSON, and then the answer three times over."""
    for question, code in ((QUESTION, 0), ("Where is the Zanzibar quota of flamingos?", 5)):
        done = fdc("explore", question, cwd=shop(tmp_path))
        ran = fdc("run", "explore", f"question={question}", cwd=tmp_path)
        assert (code, code) == (done.returncode, ran.returncode), ran
        assert ran.stdout.endswith(f" close_task\n{done.stdout}")
    said = json.loads(fdc("run", "explore", "question=x", "--format", "json", cwd=tmp_path).stdout)
    assert "finished" == said["status"] and isinstance(said["result"], dict)


def test_a_plan_of_the_workspace_with_the_name_of_one_of_a_pack_ends_as_a_plan(
    tmp_path: Path,
) -> None:
    """`fdc resume` of its run was a bug of fdc: the pack looked for its own result."""
    (tmp_path / "mine.plan").write_text("set_plan x\nplan_step_complete y\nclose_task\nsubmit\n")
    assert fdc("registry", "register", "explore", "mine.plan", cwd=tmp_path).returncode == 0
    for words in (("run", "explore"), ("resume", "last")):
        done = fdc(*words, cwd=tmp_path)
        assert 0 == done.returncode and "finished: 4 steps" in done.stdout, done
    assert "mine.plan" in fdc("runs", cwd=tmp_path).stdout


@needs_database
@pytest.mark.long
def test_an_exploration_of_a_database_ends_as_its_own_command_does(tmp_path: Path) -> None:
    """`fdc resume` printed the result as JSON there."""
    done = fdc("explore", QUESTION, cwd=shop(tmp_path))
    with database() as url, Workers(url, tmp_path) as workers:
        workers.start()
        begun = fdc("run", "explore", f"question={QUESTION}", "--database", url, cwd=tmp_path)
        resumed = fdc("resume", "last", "--database", url, cwd=tmp_path)
    assert (0, 0, 0) == (done.returncode, begun.returncode, resumed.returncode), resumed
    assert done.stdout == resumed.stdout.partition("explore, going on\n")[2]
    assert begun.stdout.endswith(done.stdout)


@pytest.mark.parametrize("far", [True, False])
def test_the_head_of_a_definition_is_shown_where_it_is_near_what_decides(
    tmp_path: Path, far: bool
) -> None:
    filler = "".join(f"    step({at})\n" for at in range(FAR if far else 2))
    text = f"def settle(order):\n{filler}    refund(order.deposit)\n    book()\n"
    (tmp_path / "shop.py").write_text(text)
    scanned = scan(str(tmp_path), code=True)
    tree = Tree(scanned, scanned.documents)
    question = "Where is the deposit of an order given back as a refund?"
    (place, *_) = find_places(tree, searched(tree, question), question).places
    shown = {line for line, _ in place.code}
    assert (place.line, place.name) == (1, "settle")
    assert (1 in shown) is not far and text.split("\n").index("    book()") in shown


def test_a_name_that_nothing_defines_makes_no_answer_sure(tmp_path: Path) -> None:
    """`WebSocket` stands in a remark only; what comes nearest is shown as an answer is, and is said to be none."""
    (tmp_path / "a.md").write_text("Some words.\n\nNo WebSocket is spoken here.\n")
    (tmp_path / "b.py").write_text("class TeaPot:\n    pass\n")
    scanned = scan(str(tmp_path), code=True)
    tree = Tree(scanned, scanned.documents)
    asked = {"How are frames of a WebSocket masked by a key?": "None", "What is a TeaPot?": "High"}
    for question, sure in asked.items():
        found = find_places(tree, searched(tree, question), question)
        assert sure == found.sure
        if sure == "None":
            assert (3, "No WebSocket is spoken here.") in found.places[0].code


def test_where_it_finds_nothing_the_deciding_code_of_the_nearest_is_shown(tmp_path: Path) -> None:
    """It showed a line each, most often the head of a definition, and a reader lost what decides."""
    source = (
        "def settle(order):\n    ring(order)\n    if order.late:\n        raise Late(order.fee)\n"
    )
    write(tmp_path, {"shop.py": source, "bell.py": "def ring(order):\n    return order.bell\n"})
    done = fdc("explore", "Which walrus pays a late fee of a hovercraft?", cwd=tmp_path)
    rows = done.stdout.rstrip("\n").split("\n")
    assert 7 == done.returncode and "Nearest, not the answer:" in rows, done.stdout
    assert len(rows) <= 25 and max(map(len, rows)) <= 80
    assert (
        "shop.py:1  settle (function)" in rows and "     4          raise Late(order.fee)" in rows
    )


FALSE = [
    "It sends each order to a neural network.", "The stock is kept in Redis.", "A refused order is tried again.",
    "The purse is encrypted.", "place_order runs in a thread.", "It writes a log file.", "The basket is copied first.",
    "A refund is booked at night.", "The price comes from a web service.", "Every order is mailed to the owner.",
]  # fmt: skip


def test_no_false_claim_with_a_real_citation_gets_into_an_answer(tmp_path: Path) -> None:
    """E9: ten lies, each with a line that is there; the judge is asked apart, sees claim and line only, and is honest."""
    seen: list[Any] = []

    def lying(body: dict[str, Any]) -> dict[str, Any]:
        said = documented(body)
        cited = said["findings"][0]["citations"]
        lies = [{"claim": claim, "citations": cited} for claim in FALSE]
        return {"findings": [*said["findings"], *lies], "conclusions": FALSE[0], "gaps": []}

    def lying_too(body: dict[str, Any]) -> dict[str, Any]:
        said = aggregated(body)
        cited = said["unified"][0]["citations"]
        rows = [{"claim": claim, "citations": cited} for claim in FALSE]
        nuances = [{**row, "explanation": "so it is"} for row in rows[5:]]
        return {
            "unified": [said["unified"][0], *rows[:5]],
            "nuances": nuances,
            "open_questions": [],
        }

    def honest(body: dict[str, Any]) -> dict[str, Any]:
        seen.extend(data(body)[0])
        verdicts = [
            {"number": row["number"], "says_so": "says it" in row["claim"], "why": "no"}
            for row in data(body)[0]
        ]
        return {"verdicts": verdicts}

    with thinking(document=lying, aggregate=lying_too, judge=honest) as (_, env):
        done = fdc("explore", QUESTION, "--full", cwd=shop(tmp_path), env=env)
    assert 0 == done.returncode and "says it" in done.stdout, done.stdout + done.stderr
    assert not [claim for claim in FALSE if claim in done.stdout]
    assert "Confidence: Low" in done.stdout and 11 == len(seen)
    assert all(row.keys() == {"number", "claim", "lines"} for row in seen)


def test_of_lines_with_the_same_words_the_first_decide() -> None:
    """Rounding depends on the order of a sum (0.1 + 0.2 + 0.3): it must not skip the condition above a message."""
    search: Any = SimpleNamespace(weights=[0.1, 0.2, 0.3])
    hits = {4: {2: 1.0, 1: 1.0, 0: 1.0}, 8: {0: 1.0, 1: 1.0, 2: 1.0}}
    assert [4, 5] == _stretch(search, hits, list(range(1, 10)), 2)[1]


DEEP = "src/github.com/fsnotify/fsnotify/internal/backends/platform/linux/inotify"


def test_a_long_path_does_not_hide_the_name_of_what_it_has(tmp_path: Path) -> None:
    """A path and a definition's name are shown whole: one opens the file by the one and looks for the other."""
    write(
        tmp_path,
        {
            f"{DEEP}/queue.py": "def drain_queue(events):\n    '''Drains the queue.'''\n    return events\n"
        },
    )
    done = fdc("explore", "What does `drain_queue` do?", cwd=tmp_path)
    assert f"{DEEP}/queue.py:1  drain_queue" == done.stdout.split("\n")[0]


def test_what_nothing_raises_is_shown_where_it_is_used(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.py": "class Full(Exception):\n    pass\n\n\ndef send(queue):\n    queue.put(Full)\n"},
    )
    done = fdc("explore", "Who raises `Full`?", cwd=tmp_path)
    assert 7 == done.returncode
    near = "\n\nNearest, not the answer:\na.py:6  in send: queue.put(Full)"
    assert f"nothing here raises `Full`.{near}" in done.stdout


def test_which_error_it_is_is_answered_with_the_class_of_errors(tmp_path: Path) -> None:
    """Code that speaks of redirects more often than the class does is no answer to this question."""
    client = """\
def send_redirects(redirects, many):
    '''Sends redirects, until there are too many.'''
    if len(redirects) > many:
        raise errors.TooManyRedirects(redirects)
    return redirects
"""
    errors = "class TooManyRedirects(Exception):\n    '''Gave up.'''\n\n\nclass Closed(Exception):\n    pass\n"
    write(tmp_path, {"client.py": client, "errors.py": errors})
    ask = "Which exception is raised when there are too many redirects?"
    done = fdc("explore", ask, cwd=tmp_path)
    assert done.stdout.startswith("errors.py:1  TooManyRedirects (class)"), done.stdout
    other = fdc("explore", "Where are redirects sent, but not too many?", cwd=tmp_path)
    assert other.stdout.startswith("client.py:1  send_redirects (function)"), other.stdout


def test_where_a_value_is_set_is_answered_with_the_value(tmp_path: Path) -> None:
    """Also where its name is in small letters; a question after what is done with it is answered with the code."""
    source = """\
retry_delay = 30


def wait(seconds=retry_delay):
    '''Waits for the delay before a retry: the retry delay, or another delay.'''
    time.sleep(seconds)
"""
    write(tmp_path, {"net.py": source})
    done = fdc("explore", "Where is the delay of a retry set?", cwd=tmp_path)
    assert done.stdout.startswith("net.py:1  retry_delay (variable)"), done.stdout
    other = fdc("explore", "How is the delay before a retry waited for?", cwd=tmp_path)
    assert other.stdout.startswith("net.py:4  wait (function)"), other.stdout


def test_the_files_of_fdc_do_not_come_before_the_code(tmp_path: Path) -> None:
    """`fdc init` writes instructions for agents: they have the words of tasks, and say nothing of this code."""
    source = "def again(steps):\n    '''Begins after a stop.'''\n    return steps[:1]\n"
    write(tmp_path, {"work.py": source})
    assert 0 == fdc("init", "--agent", "codex", cwd=tmp_path).returncode
    found = scan(str(tmp_path), True)
    tree = Tree(found, found.documents)
    ask = "Which step is repeated after a stop?"
    assert "work.py" == find_places(tree, searched(tree, ask), ask).places[0].path


@pytest.mark.parametrize(
    ("ask", "first"),
    [
        ("What limits the size of a batch?", "batch.py"),
        ("When is the size of a batch the limit?", "batch.py"),
        ("What is the limit of the size of a batch?", "README.md"),
    ],
)
def test_what_code_does_is_answered_by_code_before_documents(
    tmp_path: Path, ask: str, first: str
) -> None:
    source = "def cut(batch, limit):\n    '''Cuts a batch to the size of the limit.'''\n    return batch[:limit]\n"
    text = "# Batches\n\n## The size limit of a batch\n\nA batch has a size, and the limit of the size of a batch is 9.\n"
    write(tmp_path, {"batch.py": source, "README.md": text})
    done = fdc("explore", ask, cwd=tmp_path)
    assert done.stdout.startswith(f"{first}:"), done.stdout


def test_code_comes_before_a_test_that_repeats_its_words(tmp_path: Path) -> None:
    """A test says the words of the function in each of its lines."""
    source = "def rotate(path, keep):\n    '''Renames old logs.'''\n    for number in range(keep):\n        move(path, number)\n"
    lines = "".join(
        f"    assert rotate('file.{at}.log', {at}) == 'a rotated log file'\n" for at in range(9)
    )
    test = f"def test_rotate_log_file():\n    '''A log file is rotated.'''\n{lines}"
    write(tmp_path, {"files.py": source, "tests/test_files.py": test})
    found = scan(str(tmp_path), True)
    tree = Tree(found, found.documents)
    ask = "How are log files rotated?"
    assert "files.py" == find_places(tree, searched(tree, ask), ask).places[0].path
    ask = "Which test rotates log files?"
    assert "tests/test_files.py" == find_places(tree, searched(tree, ask), ask).places[0].path
