"""Parses YAML into the tree of `json_text`, with places; only values that JSON has are read.

Aliases, tags and merges are refused: a protocol or an automaton must state each value in its place.
"""

from __future__ import annotations

from .json_text import MAX_DEPTH, Member, Node, Problem, conflict
from .json_text import parse as parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENDS = (".yaml", ".yml")
_DEPTH = "nesting depth"
"""What newer versions of libyaml say of a text that is nested too deep, before its first token is read."""
_TAG = "tag:yaml.org,2002:"
_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class _Stop(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def parse(path: str, text: str) -> tuple[Node | None, list[Problem]]:
    """The tree of a file's text, YAML or JSON by its name, and all that is wrong with it. Never raises."""
    if not path.endswith(ENDS):
        return parse_json(text)
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    begin = (yaml.BlockMappingStartToken, yaml.BlockSequenceStartToken,
             yaml.FlowMappingStartToken, yaml.FlowSequenceStartToken)  # fmt: skip
    end = (yaml.BlockEndToken, yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)
    problems: list[Problem] = []
    depth = 0
    try:
        for token in yaml.scan(text, loader):
            if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
                raise _stop(token, "an alias is not read here", "write the value itself")
            depth += isinstance(token, begin) - isinstance(token, end)
            if depth > MAX_DEPTH + 1:  # before anything goes down into it
                raise _stop(token, f"nested deeper than {MAX_DEPTH}", limit=True)
        root = yaml.compose(text, loader)
        if root is None:
            return None, [Problem(0, len(text), "the file is empty")]
        return _node(root, problems, 0), problems
    except _Stop as stop:
        return None, [*problems, stop.problem]
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        where = mark.index if mark else 0
        if _DEPTH in str(wrong.problem):
            message = f"nested deeper than {MAX_DEPTH}"
            return None, [Problem(where, where, message, limit=True)]
        message = f"this is not YAML: {wrong.problem or wrong.context}"
        return None, [Problem(where, where, message, conflict(text))]
    except yaml.YAMLError as wrong:
        return None, [Problem(0, 0, f"this is not YAML: {str(wrong).splitlines()[0]}")]
    except (ValueError, OverflowError) as wrong:  # characters and versions that there are not
        return None, [Problem(0, 0, f"this is not YAML: {wrong}")]


def _stop(at: Any, message: str, help_: str | None = None, limit: bool = False) -> _Stop:
    return _Stop(Problem(at.start_mark.index, at.end_mark.index, message, help_, limit))


def _node(yaml_node: Any, problems: list[Problem], depth: int) -> Node:
    import yaml

    start, end = yaml_node.start_mark.index, yaml_node.end_mark.index
    tag = yaml_node.tag.removeprefix(_TAG)
    if depth > MAX_DEPTH:
        raise _stop(yaml_node, f"nested deeper than {MAX_DEPTH}", limit=True)
    if isinstance(yaml_node, yaml.SequenceNode) and tag == "seq":
        items = tuple(_node(item, problems, depth + 1) for item in yaml_node.value)
        return Node("array", items, start, items[-1].end if items else end)
    if isinstance(yaml_node, yaml.MappingNode) and tag == "map":
        return _object(yaml_node, problems, depth)
    if not isinstance(yaml_node, yaml.ScalarNode) or tag not in (
        "str", "int", "float", "bool", "null", "timestamp",
    ):  # fmt: skip
        raise _stop(
            yaml_node, f"`{yaml_node.tag[:80]}` is not read here", "write a text, a list or a table"
        )
    return Node(*_scalar(tag, yaml_node), start, end)


def _object(yaml_node: Any, problems: list[Problem], depth: int) -> Node:
    members: list[Member] = []
    seen: dict[str, Node] = {}
    for name, value in yaml_node.value:
        key = Node("string", str(name.value), name.start_mark.index, name.end_mark.index)
        if not isinstance(name.value, str) or name.tag == f"{_TAG}merge":
            raise _stop(name, "a key is a text")
        if key.value in seen:
            message = f"the key `{key.value[:80]}` twice in one object"
            problems.append(Problem(key.start, key.end, message, earlier=seen[key.value]))
        seen.setdefault(key.value, key)
        members.append(Member(key, _node(value, problems, depth + 1)))
    end = members[-1].value.end if members else yaml_node.end_mark.index
    return Node("object", tuple(members), yaml_node.start_mark.index, end)


def _scalar(tag: str, yaml_node: Any) -> tuple[str, Any]:
    """The kind and the value of a scalar. What is not a number or a word in JSON is a text: dates, `yes`, `0o7`."""
    text = yaml_node.value
    if tag in ("int", "float") and not yaml_node.style:
        root, wrong = parse_json(text)
        if root is not None and not wrong:
            return root.kind, root.value
    if tag == "bool" and text in _WORDS:
        return "boolean", _WORDS[text]
    return ("null", None) if tag == "null" else ("string", text)
