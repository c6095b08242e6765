"""Where computed pieces stand in a command, checked against the shell itself (security.md G-SH)."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.syntax.shell_text import places, quoted

HOSTILE = (
    "$(touch pwned)", ";touch pwned;", "`touch pwned`", "' ;touch pwned; '", '" ;touch pwned; "', "\ntouch pwned\n", "\\", "'",
    '"', "a[$(touch pwned)]", ")touch pwned(", "\nX\ntouch pwned\n", "}; touch pwned; {", "*",
    "&touch pwned&", "", "plain", "$x",
)  # fmt: skip


def template(text: str) -> tuple[str | None, ...]:
    return tuple(None if part == "@" else part for part in re.split("(@)", text) if part)


def written(text: str, values: list[str]) -> str:
    """The command with the values quoted in."""
    found, value = iter(places(template(text))), iter(values)
    return "".join(
        quoted(next(value), next(found).quote) if part is None else part for part in template(text)
    )


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("echo @ b", ["word"]),
        ('grep "a @" f', ["double"]),
        ("grep 'a @' f", ["single"]),
        ('echo "$(cat @) @"', ["word", "double"]),
        ("(cd @ && ls '@') > @", ["word", "single", "word"]),
        ('echo "a $(f() { echo 1; }; ls @)" @', ["word", "word"]),
        ("python3 -m pytest @ | sed -e s/a/b/", ["word"]),
        ("sed -i s/a/b/ @", ["word"]),
        ("x=@ sh -c 'echo \"$x\"'", ["word"]),
        ("case a in b) ls @;; esac", ["word"]),
        ("cat <<< @", ["word"]),
        ("read -r x <<< @", ["word"]),
        ("mapfile -t x < @", ["word"]),
        ("while read -r x; do ls @; done < @", ["word", "word"]),
        ("printf -v x %s @", ["word"]),
        ("[ -f @ ] && test -n @", ["word", "word"]),
        ("grep read @", ["word"]),
        ("git config unset @", ["word"]),
        ("f() { local x=@; }", ["word"]),
    ],
)
def test_data_is_quoted_where_it_stands(text: str, quotes: list[str]) -> None:
    found = places(template(text))
    assert [place.quote for place in found] == quotes
    assert not any(place.leads or place.wrong for place in found)


LEADS = [
    "@ a",
    "X=1 @",
    "a && @",
    "ls | @",
    "if @; then",
    "sudo -n @",
    "env A=1 @",
    "$(@)",
    "! @",
    "{ @; }",
]


@pytest.mark.parametrize("text", LEADS)
def test_data_that_names_a_program_is_said_to(text: str) -> None:
    assert [place.leads for place in places(template(text))] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "bash -c @", "sh -c 'echo @'", 'timeout 5 bash -lc "@"', "eval @", "eval echo @", "python3 -c @", "perl -ne @",
        "node --eval=@", "sed s/a/@/ f", "awk @ f", "sed -e @ f", "`ls @`", "${@}", "${x:-@}", "$((@))",
        "((@))", "[[ @ -eq 1 ]]", "cat <<X\n@\nX",
        "ls # @", "echo \\@", "echo $@", "$'@'", "$(case a in a) ls @;; esac)", "ssh host @", "find . -exec sh -c @ ;",
        "trap @ EXIT", "declare -i x=@", "xargs -I% sh -c '@'", "vim -c @ f",
        "read @", "while read -r @; do ls; done", "IFS=, builtin read a @ <<< b", "unset '@'", "printf -v @ x", "printf -v@ x",
        "test -v @", '[ ! -v "@" ]', "if test a -a -v @; then ls; fi", "wait -n -p @", "f() { local '@'; }",
        "f() { local -i x=@; }", "compgen -W @", "mapfile -C @ -c 1 x", "PS4=@; set -x", "BASH_ENV=@ sh a.sh", "export ENV=@",
    ],
)  # fmt: skip
def test_where_no_quoting_is_safe_it_says_so(text: str) -> None:
    assert all(place.wrong for place in places(template(text)))


class _Commands:
    """Commands over most of the shell's constructs, by seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def command(self, depth: int = 0) -> str:
        forms = [
            "true {w}", "true {w} {w}", "x={w} true {w}", "true {w} > /dev/null", "x={w}; true \"$x\"", "true <<< {w}",
            "true {w} # {w}\ntrue", "for i in {w} {w}; do {c}; done", "if true {w}; then {c}; else {c}; fi", "({c})",
            "{{ {c}; }}", "{c}; {c}", "{c} && {c}", "{c} | {c}", "case {w} in b) {c};; *) {c};; esac",
            "f() {{ {c}; }}; f {w}", "true $(({w}))",
            "[[ {w} == {w} ]]", "eval true {w}", "sh -c {w}", "cat <<X >/dev/null\n{w}\nX\n{c}", "test {w} = {w}", "! {c}",
            "read x <<< {w}", "printf -v x %s {w}", "mapfile -t x <<< {w}", "f() {{ local x={w}; }}; f",
        ]  # fmt: skip
        chosen = self.rng.choice(forms if depth < 3 else forms[:5])
        made = re.sub(
            "{w}|{c}",
            lambda found: self.word(depth) if found[0] == "{w}" else self.command(depth + 1),
            chosen,
        )
        return made.replace("{{", "{").replace("}}", "}")

    def word(self, depth: int) -> str:
        return "".join(self.piece(depth) for _ in range(self.rng.randint(1, 3)))

    def piece(self, depth: int) -> str:
        kinds = [
            "lit",
            "@",
            "@",
            '"lit @"',
            "'lit @'",
            '"@@"',
            "\\ ",
            '"\\""',
            "'\"'",
            '"\'"',
            "$x",
            '"$x @"',
        ]
        kinds += ["${x:-@}", "`true @`"]
        if depth < 3 and self.rng.random() < 0.3:
            inner = self.command(depth + 1)
            return self.rng.choice((f"$({inner}\n)", f'"a $({inner}\n) @"', f"<({inner}\n)"))
        return self.rng.choice(kinds)


def test_no_value_ever_becomes_code(tmp_path: Path) -> None:
    """Random commands with hostile values, put to bash: what is said to be safe does nothing but what it says."""
    tried = 0
    for seed in range(2500):
        text = _Commands(seed).command()
        found = places(template(text))
        if not found or any(place.wrong or place.leads for place in found):
            continue
        values = random.Random(seed).choices(HOSTILE, k=len(found))
        command = written(text, values)
        quiet: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "capture_output": True,
            "timeout": 300,
            "check": False,
        }
        subprocess.run(["bash", "-c", command], cwd=tmp_path, **quiet)
        assert not (tmp_path / "pwned").exists(), (text, command)
        tried += 1
    assert tried > 250


def test_the_oracle_sees_what_becomes_code(tmp_path: Path) -> None:
    for text in ("true @", 'true "@"', "true '@'"):
        for value in ("$(touch pwned)", "' ;touch pwned; '", '" ;touch pwned; "'):
            subprocess.run(
                ["bash", "-c", text.replace("@", value)],
                cwd=tmp_path,
                capture_output=True,
                check=False,
            )
    assert (tmp_path / "pwned").exists()


@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_arrives_as_it_is(value: str) -> None:
    command = written("printf '%s|%s|%s' @ \"a @\" 'b @'", [value] * 3)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == f"{value}|a {value}|b {value}"
