"""Task lists, workflows and Markdown of other tools: what is found in them, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.foreign.convert import NotConverted, converted
from fdc_toolchain.foreign.kinds import kind_of
from fdc_toolchain.foreign.model import Found
from fdc_toolchain.foreign.read import read
from fdc_toolchain.linking.project.settings import read_settings

TASKS = "specs/001-tea/tasks.md"
WORKFLOW = ".specify/workflows/tea/workflow.yml"
HEAD = "workflow:\n  id: tea\nsteps:\n"
ASK = "- id: a\n  type: prompt\n  prompt: x\n"
FAN = "- id: a\n  type: fan-out\n  items: '{{ inputs.list }}'\n  step:\n"
MAYBE = "- id: i\n  type: if\n  then:\n  - id: g\n    type: gate\n"
LOOP = (
    "- id: a\n  type: while\n  condition: '{{ steps.b.output.exit_code != 0 }}'\n"
    "  steps:\n  - id: b\n    type: shell\n    run: make test\n"
)
MASTER = ".taskmaster/tasks/tasks.json"


def look(root: Path, path: str, text: str | bytes) -> Found | None:
    """What is found in a file of that path."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    return read(path, data, str(root), read_settings(str(root)))


def rows(found: Found | None) -> list[tuple[int, int, str]]:
    """(line, column, code) of the findings."""
    assert found is not None
    return [(item.span.line, item.span.column, item.code) for item in found.findings]


def _master(*tasks: dict[str, object]) -> str:
    return json.dumps({"tasks": tasks})


@pytest.mark.parametrize(
    ("path", "text", "codes"),
    [
        (MASTER, _master(*({"id": i, "dependencies": [*range(i)]} for i in range(1, 400))), {"FDC811"}),
        (MASTER, _master(*({"id": f"{i}" + "ab" * 40, "dependencies": [f"{i}" + "b" * 80]} for i in range(500))), {"FDC811"}),
        (MASTER, _master({"id": "a" * 200_000, "dependencies": ["b" * 200_000]}), {"FDC811"}),
        (TASKS, "".join(f"- [ ] T{i:05} do (depends on T{i + 9000:05})\n" for i in range(2000)), {"FDC811"}),
        (WORKFLOW, f"{HEAD}- id: a\n  type: shell\n  run: '{'{{ ' * 300_000}'\n", set()),
        (WORKFLOW, HEAD + "".join(f"- id: a{i}\n  prompt: '{{{{ steps.b{i} }}}}'\n" for i in range(700)), {"FDC811"}),
        (WORKFLOW, f"{HEAD}- id: a\n  type: shell\n  run: '{'curl ' * 4000}'\n", set()),
        (WORKFLOW, "workflow: {id: a}\nsteps: [", {"FDC801"}),
        (WORKFLOW, "", {"FDC801"}),
    ],
    ids=["dense", "similar", "long", "unknown", "open", "steps", "curl", "cut", "empty"],
)  # fmt: skip
def test_a_hostile_file_is_checked_at_once(
    tmp_path: Path, path: str, text: str, codes: set[str]
) -> None:
    """Each of these took between ten seconds and hours while the whole text was looked at again at every place of it."""
    found = rows(look(tmp_path, path, text))
    assert {code for _, _, code in found} == codes and len(found) <= 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [ ] T001 a\n- [ ] T002 b\n", []),
        ("- [ ] T001 a\n- [ ] T001 b\n", [(2, 7, "FDC813")]),
        ("- [ ] T001 a (depends on T009)\n", [(1, 26, "FDC811")]),
        ("- [ ] T001 a, after T002 and T003\n- [ ] T002 b\n", [(1, 30, "FDC811")]),
        ("- [ ] T001 a (depends on T001)\n", [(1, 26, "FDC812")]),
        (
            "- [ ] T001 a after T003\n- [ ] T002 b after T001\n- [ ] T003 c after T002\n",
            [(2, 20, "FDC812")],
        ),
        ("- [ ] T001 a\n- [x] T002 b (depends on T001)\n", [(2, 7, "FDC814")]),
        ("- [x] T001 Write src/a.py and docs/there.md\n", [(1, 18, "FDC816")]),
        (
            "- [x] T001 Remove src/a.py\n- [x] T002 See https://example.org/a/b.html and a/*.py\n",
            [],
        ),
        ("- [x] T001 Speak HTTP/1.1, read $HOME/a.py and application/vnd.a+json\n", []),
        (
            "- [x] T001 a/b.ts -> docs/there.md\n- [x] T002 Tidy\n  up, a/b.py is removed\n",
            [],
        ),
        ("- [ ] T001 a (depends on T003-T005)\n- [ ] T003 b\n- [ ] T005 d\n", [(1, 26, "FDC811")]),
        ("- [ ] T001 a\n- [x] T002 b\n\n- T001 blocks T002\n", [(2, 7, "FDC814")]),
        ("- [ ] T001 a\n- [ ] T002 b\n\n- T001 blocks T002, T003\n", [(4, 21, "FDC811")]),
        ("- [ ] T001 a\n\n* T009 blocks T001\n", [(3, 3, "FDC811")]),
        (
            "- [ ] T001 a\n\n```\n- [ ] T001 in a block\n```\n\n<!-- - [ ] T001 in a comment -->\n",
            [],
        ),
        ("1. [ ] T001 a\n   - [ ] T001 b\n", [(2, 10, "FDC813")]),
    ],
)
def test_tasks_of_spec_kit(tmp_path: Path, text: str, expected: list[tuple[int, int, str]]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "there.md").write_text("", "utf-8")
    found = look(tmp_path, TASKS, text)
    assert found is not None and found.kind == "Spec Kit tasks"
    assert expected == rows(found)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("- id: a\n  command: speckit.plan\n", []),
        ("- id: a\n  type: prompt\n  prompt: x\n- id: a\n  type: gate\n", [(7, 7, "FDC813")]),
        ("- id: a\n  type: prompt\n  prompt: '{{ steps.b.output }}'\n", [(6, 11, "FDC811")]),
        ("- id: a\n  type: fan-in\n  wait_for: [b]\n", [(6, 14, "FDC811")]),
        ("- id: a\n  type: prompt\n  prompt: '{{ steps.b.output }}'\n- id: b\n  type: gate\n", [(6, 11, "FDC811")]),
        (LOOP, []),
        (ASK + "- id: b\n  type: shell\n  run: 'echo {{ steps.a.output.text }}'\n", [(9, 8, "FDC818")]),
        (ASK + "- id: b\n  type: shell\n  run: 'exit {{ steps.a.output.exit_code }}'\n", []),
        (FAN + "    id: b\n    type: shell\n    run: 'rmdir {{ item }}'\n", [(10, 10, "FDC818")]),
        ("- id: a\n  type: shell\n  run: git push\n", [(6, 8, "FDC817")]),
        ("- id: g\n  type: gate\n- id: a\n  type: shell\n  run: git push\n", []),
        (MAYBE + "- id: a\n  type: shell\n  run: npm publish\n", [(11, 8, "FDC817")]),
        ("- id: g\n  type: gate\n- id: i\n  type: if\n  then:\n  - id: a\n    type: shell\n    run: curl -X POST x\n", []),
    ],
)  # fmt: skip
def test_workflows_of_spec_kit(
    tmp_path: Path, steps: str, expected: list[tuple[int, int, str]]
) -> None:
    found = look(tmp_path, WORKFLOW, HEAD + steps)
    assert found is not None and found.kind == "Spec Kit workflow"
    assert expected == rows(found)


def test_a_change_of_openspec_that_is_done_is_to_be_archived(tmp_path: Path) -> None:
    text = "## 1. Kettle\n\n- [x] 1.1 Boil\n- [x] 1.2 Brew\n"
    assert [(4, 7, "FDC815")] == rows(look(tmp_path, "openspec/changes/tea/tasks.md", text))
    assert [] == rows(look(tmp_path, "openspec/changes/archive/2026-01-01-tea/tasks.md", text))
    assert [] == rows(look(tmp_path, "openspec/changes/tea/tasks.md", text + "- [ ] 1.3 Serve\n"))
    text = "- [ ] 1.2 Retry after 1.2 s\n- [x] 1.3 Requires 3.11, needs 1.2 GB\n- [x] 1.4 after 1.2\n- [ ] 1.5 depends on 3.11\n"
    assert [(3, 7, "FDC814"), (4, 22, "FDC811")] == sorted(
        rows(look(tmp_path, "openspec/changes/tea/tasks.md", text))
    )


def test_a_number_without_a_point_is_a_task_where_it_is_one(tmp_path: Path) -> None:
    text = (
        "- [ ] 1. Boil (depends on 2)\n- [ ] 2. Pour, depends on 3 and 1\n"
        "- [ ] 3. Needs 2, after 2. Depends on 2-minute tea; blocked by 1% of 2.5.\n"
        "- [ ] 4. Serve, blocked by 30, and after task 30, depends on task 30\n"
    )
    for path in (".kiro/specs/tea/tasks.md", "openspec/changes/tea/tasks.md"):
        found = look(tmp_path, path, text)
        assert found is not None
        assert [["2"], ["3", "1"], [], ["30"]] == [
            [name.text for name in item.depends] for item in found.items
        ]
        assert {(2, 33, "FDC812"), (4, 67, "FDC811")} == set(rows(found))


def test_what_is_said_below_a_task_counts_for_it(tmp_path: Path) -> None:
    text = "- [x] T001 a\n  - notes\n    - Depends on: T002\n\n  It needs T003,\n  too.\n"
    text += "- [ ] T002 b\n- [ ] T003 c\n\nT004 depends on T009\n"
    found = look(tmp_path, TASKS, text)
    assert found is not None
    assert [["T002", "T003"], [], []] == [
        [name.text for name in item.depends] for item in found.items
    ]
    assert [(3, 19), (5, 12)] == [
        (name.span.line, name.span.column) for name in found.items[0].depends
    ]
    text = "- [x] 1.1 a\n  - [ ] 1.2 b\n    - Depends on 7.7\n"
    assert [(3, 18, "FDC811")] == rows(look(tmp_path, "openspec/changes/tea/tasks.md", text))


def test_the_parts_and_requirements_of_kiro(tmp_path: Path) -> None:
    folder = tmp_path / ".kiro" / "specs" / "tea"
    folder.mkdir(parents=True)
    (folder / "requirements.md").write_text("### Requirement 1\n\n1. WHEN x THEN y\n", "utf-8")
    text = "- [x] 1. Boil\n  - [x] 1.1 Fill\n    - _Requirements: 1.1, 3.2, NFR-7_\n  - [ ] 1.2 Heat\n  - [ ]* 1.3 Test\n"
    found = look(tmp_path, ".kiro/specs/tea/tasks.md", text)
    assert [(1, 7, "FDC814"), (3, 27, "FDC811")] == sorted(rows(found))


def test_tasks_of_task_master(tmp_path: Path) -> None:
    tasks = [
        {"id": 1, "title": "a", "status": "done", "dependencies": [2]},
        {"id": 2, "title": "b", "status": "pending", "dependencies": [9]},
        {"id": 3, "title": "\U0001f375 c", "dependencies": [4]},
        {
            "id": 4,
            "title": "d",
            "dependencies": [3],
            "subtasks": [
                {"id": 1, "dependencies": [2]},
                {"id": 1},
                {"id": "4.3", "dependencies": ["1", "4.1", "3"]},
            ],
        },
        {"id": 5, "status": "cancelled"},
        {"id": 6, "status": "done", "dependencies": ["5"]},
    ]
    for document in ({"tasks": tasks}, {"master": {"tasks": tasks}, "other": {"tasks": []}}):
        found = look(tmp_path, MASTER, json.dumps(document, indent=1))
        assert ["FDC811", "FDC811", "FDC812", "FDC813", "FDC814"] == sorted(
            code for _, _, code in rows(found)
        )
    place = look(tmp_path, MASTER, '{"tasks": [\n  {"id": 1, "dependencies": [\n    7]}]}')
    assert [(3, 5, "FDC811")] == rows(place)


def test_an_exec_plan_names_files_of_what_is_done(tmp_path: Path) -> None:
    text = "# Tea\n\n## Progress\n\n- [x] (2026-01-01) Write src/tea/brew.py\n- [ ] Serve\n\n## Decision Log\n\nNone.\n"
    numbered = text.replace("## Progress", "## 2. Progress (living)").replace("## Dec", "## 3. Dec")
    for plan in (text, numbered):
        found = look(tmp_path, "plans/tea.md", plan)
        assert found is not None and found.kind == "ExecPlan" and [(5, 26, "FDC816")] == rows(found)
    assert kind_of("a.md", text.replace("Progress", "Progress bar")) == "Markdown"


def test_an_optional_task_of_kiro_may_stay_open_where_the_one_above_it_is_done(
    tmp_path: Path,
) -> None:
    for line, codes in (
        ("- [ ]* 1.1 Test", []),
        ("- [ ] 1.1* Test", []),
        ("- [ ] **1.1** Test", ["FDC814"]),
    ):
        found = look(
            tmp_path, ".kiro/specs/x/tasks.md", f"- [x] 1. Brew\n  {line}\n- [ ] 2. Serve\n"
        )
        assert codes == [code for _, _, code in rows(found)], line


def test_plans_in_markdown_have_their_places(tmp_path: Path) -> None:
    body = "set_plan x\nplan_step_complete y\nraed_file a\nclose_task\nsubmit\n"
    text = (
        f"# a\n\n```plan\n{body}```\n\n- b\n\n  ```plan\n"
        + "".join(f"  {row}\n" for row in body.splitlines())
        + "  ```\n"
    )
    found = look(tmp_path, "a.md", text)
    assert found is not None and found.plans == 2
    assert [(6, 1, "FDC301"), (16, 3, "FDC301")] == [
        row for row in rows(found) if row[2] == "FDC301"
    ]
    assert all(item.fix is None for item in found.findings)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (TASKS, b"\xff\xfe- [ ] T001 a\n"),
        (WORKFLOW, b"workflow:\nsteps:\n- id: [\n"),
        (WORKFLOW, b"workflow:\nsteps:\n- id: &a a\n  x: *b\n"),
        (WORKFLOW, b"workflow:\nsteps:\n"),
        (WORKFLOW, b"steps:\n" + b"- " * 2000 + b"a\n"),
        (WORKFLOW, b"steps:\n- &a\n  id: b\n  x: *a\n"),
        (MASTER, b'{"tasks": [{"dependencies": [}]}'),
        (MASTER, b'{"tasks": ' + b"[" * 100_000),
        (MASTER, b'{"tasks": {"id": 1' + b"0" * 5000 + b"}}"),
        (MASTER, b'{"tasks": [1, null, {"id": {}, "dependencies": {}, "subtasks": 3}], "x": {"tasks": "y"}}'),
        (".claude/workflows/a.js", b"export const meta = {}\nconst a: string = 1\n"),
        (".claude/workflows/a.js", b"\x00\x01\x02"),
        (".claude/workflows/a.js", b"//" + b"a" * (1 << 20)),
        (".claude/workflows/a.js", b"[" * 5000),
        (".kiro/specs/a/tasks.md", b"- [x] 1. a\n" * 3000),
        (TASKS, b"- [ ] T001 (depends on " + b"T001, " * 5000 + b")\n"),
        ("a.md", b"```plan\n" * 500),
        ("a.md", b"> " * 3000 + b"- [ ] T001 plan\n"),
    ],
)  # fmt: skip
def test_hostile_files_get_findings(tmp_path: Path, path: str, data: bytes) -> None:
    found = look(tmp_path, path, data)
    assert found is None or all(item.span.line >= 1 and item.message for item in found.findings)


def test_a_return_in_the_middle_of_a_line_moves_no_place(tmp_path: Path) -> None:
    text = "a\rb\r\rc\n- [x] T001 depends on T009\n\n```plan\n# FSM: tooling/fdc_fsm.json\nset_plan x\rraed_file y\n```\n"
    found = rows(look(tmp_path, TASKS, text))
    assert (2, 23, "FDC811") in found and (6, 11, "FDC104") in found
    lines = text.count("\n")
    for path, end in ((TASKS, "x" * 40), ("a.md", "\r" * 40), (WORKFLOW, "\r" * 9)):
        found = look(
            tmp_path, path, f"{end}\r\n{HEAD}{ASK}{ASK}" if path == WORKFLOW else text + end
        )
        assert found is not None and found.findings
        assert all(item.span.line <= lines + 8 for item in found.findings)
    assert (8, 7, "FDC813") in rows(look(tmp_path, WORKFLOW, f"#\r\r\n{HEAD}{ASK}{ASK}"))


def test_what_is_no_plan_is_none(tmp_path: Path) -> None:
    for path in ("package.json", "a.js", "a.yml"):
        assert look(tmp_path, path, "{}") is None
    found = look(tmp_path, "AGENTS.md", "# Rules\n\n- [ ] not a plan\n")
    assert found is not None and found.kind == "Markdown" and not found.findings and not found.plans


def test_a_task_list_becomes_a_plan_in_an_order_that_it_allows(tmp_path: Path) -> None:
    found = look(
        tmp_path, TASKS, "- [x] T001 a\n- [ ] T003 {c} (depends on T002)\n- [ ] T002 b\x07\n"
    )
    assert found is not None
    text = converted(found, TASKS)
    plan = look(tmp_path, "a.md", f"```plan\n{text}```\n")
    assert plan is not None and plan.plans == 1
    assert ["T002", "T003"] == [
        row.split()[1] for row in text.splitlines() if row.startswith("request")
    ]
    for wrong in ("- [ ] T001 a (depends on T001)\n", "- [x] T001 a\n"):
        again = look(tmp_path, TASKS, wrong)
        assert again is not None
        with pytest.raises(NotConverted):
            converted(again, TASKS)


def test_a_plan_of_several_tags_asks_for_the_open_tasks_of_each(tmp_path: Path) -> None:
    tags = {
        "master": {"tasks": [{"id": 2, "status": "pending", "dependencies": [1]}, {"id": 1, "status": "review"},
                             {"id": 3, "title": "c", "status": "cancelled"}]},
        "tea": {"tasks": [{"id": 1, "status": "pending"}, {"id": 2, "status": "done"}]},
    }  # fmt: skip
    found = look(tmp_path, MASTER, json.dumps(tags))
    assert found is not None and not found.findings
    text = converted(found, MASTER)
    assert ["master:1", "master:2", "tea:1"] == [
        row.split()[1] for row in text.splitlines() if row.startswith("request")
    ]
    assert "# cancelled: master:3 c" in text and "# done: tea:2" in text


def test_a_task_that_was_put_between_two_others_is_a_task_of_its_own(tmp_path: Path) -> None:
    text = "- [ ] T009 a\n- [x] T009a b\n- [x] T010 c (depends on T009a, T008)\n- [x] T008 d\n"
    found = look(tmp_path, TASKS, text)
    assert found is not None and not found.findings
    assert ["T009", "T009a", "T010", "T008"] == [item.id for item in found.items]
    assert ["T009a", "T008"] == [name.text for name in found.items[2].depends]
