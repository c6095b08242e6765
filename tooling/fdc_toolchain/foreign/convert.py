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
        raise NotConverted(f"{errors[0].span}: {errors[0].message}; repair it first")
    if not found.items or all(item.done is None for item in found.items):
        why = f"there is no list of tasks in it ({found.kind}) that a plan could ask for one by one"
        raise NotConverted(why)
    order = _ordered(found.items)
    open_ = [item for item in order if not item.done and not item.cancelled]
    if not open_:
        raise NotConverted("no task is open: nothing is left for a plan")
    made = f"# Made from {_plain([path])}. Each step waits until its task is done."
    lines = ["# FSM: tooling/fdc_fsm.json", made]
    lines += [f"# done: {_plain([item.id, item.title])}" for item in order if item.done]
    lines += [f"# cancelled: {_plain([item.id, item.title])}" for item in order if item.cancelled]
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
                left = [name.text for name in reversed(item.depends) if name.text not in out]
                work += [(known[name], False) for name in left]
    return list(out.values())


def _plain(words: Iterable[str]) -> str:
    """One line of visible text, in which nothing is a placeholder."""
    text = " ".join(" ".join(words).split())
    text = "".join(one for one in text if one.isprintable()).replace("{", "(").replace("}", ")")
    return text if len(text) <= MOST_TITLE else text[: MOST_TITLE - 3] + "..."
