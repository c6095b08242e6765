"""A task list of another tool as a plan of ours: one step for each open task, which says the task and waits for it.

What a task means is said in words, and no plan can do what only words say. So a step asks for it, and the run waits until
somebody answers that it is done; the order of the plan is one that the dependencies allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .model import Found, Item

MOST_TITLE = 300


class NotConverted(Exception):
    """Why a file cannot become a plan."""


def converted(found: Found, path: str) -> str:
    """The text of the plan. Raises NotConverted."""
    errors = [item for item in found.findings if item.severity == "error"]
    if errors:
        raise NotConverted(
            f"{errors[0].span}: {errors[0].message}; repair it first (`fdc lint {path}`)"
        )
    if not found.items or all(item.done is None for item in found.items):
        raise NotConverted(
            f"a {found.kind} has no list of tasks that a plan could ask for one by one"
        )
    order = _ordered(found.items)
    open_ = [item for item in order if not item.done]
    if not open_:
        raise NotConverted("every task is done: nothing is left for a plan")
    lines = [
        "# FSM: tooling/fdc_fsm.json",
        f"# Made from {_plain([path])}. Each step waits until its task is done.",
    ]
    lines += [f"# done: {_plain([item.id, item.title])}" for item in order if item.done]
    lines += [f"set_plan The open tasks of {_plain([path])}", "plan_step_complete ready"]
    lines += [f"request_user_input {_plain([item.id, item.title])}" for item in open_]
    return "\n".join([*lines, "close_task", "submit"]) + "\n"


def _ordered(items: Sequence[Item]) -> list[Item]:
    """The tasks so that each comes after what it depends on, otherwise as in the file."""
    known = {item.id: item for item in items}
    out: dict[str, Item] = {}
    for start in items:
        work = [(start, False)]
        while work:
            item, ready = work.pop()
            if item.id in out:
                continue
            if ready:
                out[item.id] = item
            else:
                work.append((item, True))
                work += [
                    (known[name.text], False)
                    for name in reversed(item.depends)
                    if name.text not in out
                ]
    return list(out.values())


def _plain(words: Iterable[str]) -> str:
    """One line of visible text, in which nothing is a placeholder."""
    text = " ".join(" ".join(words).split())
    text = "".join(one for one in text if one.isprintable()).replace("{", "(").replace("}", ")")
    return text if len(text) <= MOST_TITLE else text[: MOST_TITLE - 3] + "..."
