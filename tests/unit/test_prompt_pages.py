"""A prompt is a file of the workspace: one that costs too much, or cannot be filled in, fails its step and does nothing else."""

from __future__ import annotations

import pytest
from fdc_toolchain.tools.model.prompt_tools import rendered, variables
from fdc_toolchain.workspace.failure import ToolFailure

DOUBLED = "{% set x = 'aaaaaaaaaa' %}"
HOSTILE = [
    "{% for i in range(1000000000) %}x{% endfor %}",
    "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
    "{% for i in range(99999) %}{{ range(99999) | sum }}{% endfor %}",
    "{% macro a(n) %}{% if n %}{{ a(n - 1) }}{{ a(n - 1) }}{% endif %}{% endmacro %}{{ a(60) }}",
    "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    DOUBLED + "{% set x %}{{ x }}{{ x }}{% endset %}" * 40 + "{{ x }}",
    DOUBLED + "{% set x = x ~ x %}" * 40 + "{{ x }}",
    DOUBLED + "{% set x = x + x %}" * 40 + "{{ x }}",
    DOUBLED + "{% set x = [x, x] | join %}" * 40 + "{{ x }}",
    DOUBLED + "{% set x = [x, x, x, x, x, x] %}" * 20 + "{{ x }}",
    "{{ lipsum(100000) }}", "{{ 'x' * 10000000000 }}", "{{ '%1000000000d' % 3 }}", "{{ 9 ** 9 ** 9 }}",
    "{{ ('a' * 100000) | replace('a', 'b' * 100000) }}", "{{ 'a'.ljust(10000000000) }}", "{{ 'a' | center(10000000000) }}",
    "{{ '{:10000000000}'.format(3) }}", "{{ '%*d' % (10000000000, 3) }}", "{{ '{:>{w}}'.format(3, w=10000000000) }}",
    "{{ '{:>{}}'.format(3, '10000000000') }}", "{{ '{x:>{w}}'.format_map({'x': 1, 'w': 10000000000}) }}",
    "{{ '{0[a]:>{0[w]}}'.format({'a': 1, 'w': 10000000000}) }}", "{{ ('{:>{}}' | safe).format(3, 10000000000) }}",
    "{{ '%10000000000d' | format(3) }}", "{{ (5).to_bytes(10000000000, 'big') }}", "{{ 'a' | indent(10000000000, true) }}",
    "{{ [1] | map('center', 10000000000) | list }}", "{{ 2.5 | round(10000000000) }}",
    "{% include '/etc/passwd' %}", "{{ t.__class__ }}", "{{ 1 / 0 }}", "{{ t(3) }}", "{{ t | nothing }}", "{{ nope }}",
]  # fmt: skip


@pytest.mark.parametrize("prompt", HOSTILE, ids=range(len(HOSTILE)))
def test_a_prompt_that_is_wrong_or_hostile_is_a_failure_of_its_step(prompt: str) -> None:
    with pytest.raises(ToolFailure, match="the prompt cannot be filled in"):
        rendered(prompt, {"t": "hi"})


def test_what_prompts_use_is_as_before() -> None:
    for prompt, expected in (
        ("*{{ '{:>{w}}|{x}'.format(3, w=4, x=1234567) }} {{ '{a}'.format_map({'a': 12345678}) }}", "*   3|1234567 12345678"),
        ("{{ 'ok ' ~ t }}", "ok hi"),
        ("{% for a in [1, 2] %}{{ loop.index }}/{{ loop.length }}{{ loop.last }} {% endfor %}", "1/2False 2/2True"),
        ("{{ range(3) | map('string') | join(',') }} {{ t | upper }} {{ [3, 1] | sort }}", "0,1,2 HI [1, 3]"),
        ("{{ 250000 | round | int }} {{ '%d' | format(1234567) }} {{ nope | default(9999999) }} {{ '{}'.format(10000000) }}",
         "250000 1234567 9999999 10000000"),
        ("{% set n = namespace(left=5000000) %}{{ n.left - 1 }} {{ 2000000 | filesizeformat }}", "4999999 2.0 MB"),
        ("{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% else %}none{% endfor %}", "a1"),
        ("{% for x in [[1, [2]]] recursive %}{% if x is iterable %}{{ loop(x) }}{% else %}{{ x }}{% endif %}{% endfor %}", "12"),
        ("{% set x %}{{ t }}{% endset %}{{ x }}{% set y | upper %}{{ t }}{% endset %}{{ y }}", "hiHI"),
        ("{{ '* {:3}{}'.format(1, t) }} {{ '* %3d' % 2 }} {{ '*%s' | format(t) }}", "*   1hi *   2 *hi"),
        ("{% macro a(n, m=2) %}{{ n + m }}{% endmacro %}{{ a(1) }}{{ {'a': [1]} | tojson }}", '3{"a": [1]}'),
    ):  # fmt: skip
        assert ("", expected) == rendered(prompt, {"t": "hi"})
    assert {"a", "b", "c"} == variables("{% for i in a %}{{ b ~ c }}{% endfor %}{{ cache }}")
