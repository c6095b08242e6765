"""A program of somebody else: repairs a plan, proves it, runs it, answers its question. `consumer.py FOLDER`."""

import sys
from pathlib import Path

from fdc_toolchain import api

PLAN = """set_plan Order tea
plan_step_complete ready
sugar <- request_user_input Sugar?
creat_file_with_block order.txt
    sugar: {sugar}
close_task
submit
"""


def main(folder: Path) -> None:
    plan = folder / "order.plan"
    plan.write_text(PLAN, "utf-8")
    bad = api.check(plan, workspace=folder)
    print(bad.verdict, [(item.code, item.span.line, item.span.column) for item in bad.errors])
    fixed = api.fix("order.plan", workspace=folder, unsafe=True)
    plan.write_text(fixed.text, "utf-8")
    print(fixed.result.verdict, [fix.title for fix in fixed.applied])
    program = api.compile_plan(plan, workspace=folder)
    run = api.begin(plan, workspace=folder, budget={"steps": 20})
    waiting = api.drive(run, workspace=folder)
    question = waiting.questions[0]
    print(waiting.status, question.text)
    api.answer(run, "two lumps", workspace=folder, seen=question.seen)
    ended = api.resume(run, workspace=folder)
    state = api.show(run, workspace=folder)
    print(ended.status, state.program == program.hash, [step.tool for step in state.steps])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
