"""Scripts that try to start agents past their bound: each is refused, or its bound holds in a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.foreign.launch import refusal
from fdc_toolchain.foreign.workflow.bound import Bound, bound_of
from fdc_toolchain.foreign.workflow.script import NotJavaScript

from tests.support.workflow_scripts import runtime

FORMS = Path(runtime.__file__).with_name("forms.txt").read_text("utf-8").splitlines()
"""Scripts of one line: forms that people write, and such that hide a list or a call of `agent`."""

TRICKS = [
    "const f = agent; for (const n of [1, 2, 3]) await f(n)",
    "// one\rawait agent('x')",
    "/* one */ // two\u2028await agent('x')",
    "await [1, 2, 3].reduce(async (p, n) => { await p; return agent(n) }, null)",
    "await agent.call(null, 'x')",
    "await agent['call'](null, 'x')",
    "await (0, agent)('x')",
    "const { agent: f = agent } = {}; await f('x')",
    "const [f] = [agent]; await f('x')",
    "const o = {}; o.go = () => agent('x'); await o.go()",
    "const o = { go() { return agent('x') } }; await o.go()",
    "const o = { get go() { return agent('x') } }; await o.go; await o.go",
    "const o = { toString() { agent('x'); return '' } }; `${o}${o}`",
    "const o = { map: (f) => { f(1); f(2) } }; o.map(() => agent('x'))",
    "const l = [1]; l.map = (f) => { f(1); f(2) }; l.map(() => agent('x'))",
    "const l = [1]; l['map'] = (f) => { f(1); f(2) }; l.map(() => agent('x'))",
    "const k = 'map'; const o = { [k]: (f) => { f(1); f(2) } }; o.map(() => agent('x'))",
    "const o = Object.fromEntries([['map', (f) => { f(1); f(2) }]]); o.map(() => agent('x'))",
    "Object.defineProperty([], 'x', { get: () => agent('x') })",
    "Array.prototype.map = function (f) { f(1); f(2); f(3) }; [1].map(() => agent('x'))",
    "[].__proto__.map = function (f) { f(1); f(2); f(3) }; [1].map(() => agent('x'))",
    "const list = ['a']; list.push('b', 'c'); for (const x of list) await agent(x)",
    "const list = ['a']; const other = list; other.push('b', 'c'); for (const x of list) await agent(x)",
    "const list = ['a']; [list][0].push('b', 'c'); for (const x of list) await agent(x)",
    "const list = ['a']; const o = { list }; o.list.push('b', 'c'); for (const x of list) await agent(x)",
    "const list = ['a']; list.map((x, i, all) => { if (i < 3) all.push(x) }); for (const x of list) await agent(x)",
    "const list = ['a']; list.length = 5; for (const x of list) await agent('x')",
    "const list = ['a']; list[7] = 1; for (const x of list) await agent('x')",
    "const list = ['a']; const grow = (l) => { l.push(1, 2) }; grow(list); for (const x of list) await agent('x')",
    "const list = ['a']; list.sort().push(1, 2); for (const x of list) await agent('x')",
    "const list = [, , ,]; for (const x of list) await agent('x')",
    "const list = ['a', 'b', 'c']; for (const x of list.slice(-0)) await agent(x)",
    "const n = args.minus; for (const x of ['a', 'b', 'c'].slice(0, Math.min(n, 1))) await agent(x)",
    "for (const x of Array.from({ length: 1, ...{ length: 4 } })) await agent('x')",
    "let i = 0; while (i < 3) { await agent('x'); if (i > 5) i++; i += 0.5 }",
    "let i = 0; for (; i < 3; i++) { await agent('x'); if (args.once-- > 0) i = 0 }",
    "let i = 0; const back = () => { i = 0 }; let n = 0; while (i < 3) { i++; await agent('x'); if (n++ < 2) back() }",
    "const Math = { min: () => 4 }; for (let i = 0; i < Math.min(1, 2); i++) await agent('x')",
    "for (let i = 0; i < 2.5; i++) await agent('x')",
    "for (let i = 0; i <= 5 / 2; i++) await agent('x')",
    "for (let i = 3; i >= 0; i--) await agent('x')",
    "let i = 0; do { i++; await agent('x') } while (i < 1)",
    "let n = 0; do { var i = 0; await agent('x'); i++ } while (i < 2 && n++ < 9)",
    "let n = 0; do { var i = 2; await agent('x'); i-- } while (i > 0 && n++ < 9)",
    "let n = 0; do { var q = [1, 2]; await agent('x'); q.pop() } while (q.length && n++ < 9)",
    "let i = 0, n = 0; while (i < 2) { await agent('x'); i = i++; if (n++ > 9) break }",
    "const f = async (a, b) => { for (let i = 0; i < a - b.length; i++) await agent('x') }; await f(2, { length: -7 })",
    "const thunks = [() => agent('x')]; await parallel(thunks); await parallel(thunks)",
    "const thunks = []; for (const n of [1, 2]) { thunks.push(() => agent('x')); await parallel(thunks) }",
    "const thunks = [() => agent(1)]; thunks.unshift(() => agent(2)); await parallel(thunks)",
    "const thunks = [1, 2, 3].map(() => () => agent('x')); await parallel(thunks.splice(0, 2)); await parallel(thunks)",
    "const thunks = [1, 2, 3].map(() => () => agent('x')); await thunks['map']((t) => t())",
    "let f = () => null; f = () => agent('x'); await f()",
    "var f = () => null; { var f = () => agent('x') } await f()",
    "function f() { return null } await g(); function g() { return agent('x') }",
    "const f = (n) => n > 0 ? agent('x').then(() => f(n - 1)) : null; await f(4)",
    "const even = (n) => n ? odd(n - 1) : 0; const odd = (n) => { agent('x'); return even(n - 1) }; await even(4)",
    "function* go() { yield agent(1); yield agent(2) } for (const x of go()) await x",
    "const twice = (f) => { f(); f() }; twice(() => agent('x')); twice(twice.bind(null, () => agent('x')))",
    "const twice = (f) => () => { f(); return f() }; await twice(twice(() => agent('x')))()",
    "const f = (g = () => agent('x')) => g(); await f(); await f()",
    "const f = (...all) => parallel(all); await f(() => agent(1), () => agent(2))",
    "const f = function g(n) { agent('x'); if (n) g(n - 1) }; f(3)",
    "new Promise((done) => { agent('x'); agent('y'); done() })",
    "setTimeout(() => agent('x'), 0)",
    "await agent`x`",
    "try { throw 1 } catch { await agent('x') } finally { await agent('y') }",
    "outer: for (let i = 0; i < 2; i++) { for (let j = 0; j < 2; j++) { await agent('x'); continue outer } }",
    "let i = 0; outer: while (i < 2) { for (const x of [1]) { await agent('x'); if (args.once-- > 0) continue outer } i++ }",
    "const f = { f: agent }.f; await f('x')",
    "await import('./other.js')",
    "eval(\"agent('x')\")",
    "this.agent && this.agent('x')",
    "const l = [1, 2]; l[Symbol.iterator] = function* () { yield* [1, 2, 3, 4] }; for (const x of l) await agent(x)",
    "const m = new Map([['a', () => agent('x')]]); for (const f of m.values()) await f()",
    "await Promise.all([1, 2].map(agent)); await pipeline([1, 2], agent, agent)",
    "const go = async () => agent('x'); await parallel([go, go, go])",
    "const go = () => agent('x'); const all = [go, ...[go, go]]; await Promise.all(all.map((f) => f()))",
    "for (const [f, n] of [[() => agent('x'), 1]]) await f()",
    "const s = new Set([1]); let n = 0; for (const x of s) { await agent(x); if (n++ < 3) s.add(n) }",
    "for (let i = 0; i < 1e999999999; i++) await agent('x')",
    "for (let i = 0; i < 9e99; i++) for (let j = 0; j < 9e99; j++) await agent('x')",
    "".join(f"for (const x{n} of [...args.a{n}, ...args.b{n}]) " for n in range(60)) + "await agent('x')",
    "const f0 = () => agent('x');" + "".join(f"const f{n + 1} = () => {{ f{n}(); f{n}() }};" for n in range(40)) + "f40()",
    "(" * 500 + "agent('x')" + ")" * 500,
    "f(" * 400 + ")" * 400,
    "const a = " + "[" * 2000 + "]" * 2000,
]  # fmt: skip


def bounds(scripts: list[str]) -> list[tuple[str, Bound]]:
    """The scripts that have a bound."""
    out = []
    for trick in scripts:
        try:
            bound = bound_of(trick, "x.js")
        except NotJavaScript:
            continue
        if isinstance(bound, Bound) and bound.cost is not None:
            out.append((trick, bound))
    return out


@pytest.mark.skipif(runtime.NODE is None, reason="Node is not on the PATH")
def test_no_trick_starts_more_agents_than_its_bound() -> None:
    found = bounds(TRICKS)
    given = {"minus": -1, "once": 2}
    cases = [runtime.Case(runtime.measured(trick, bound), given, 1) for trick, bound in found]
    for (trick, bound), happened in zip(found, runtime.run(cases)):
        assert bound.cost is not None
        sizes = {name: happened.sizes.get(name, 0) for name in bound.sizes}
        assert happened.agents <= bound.cost.agents.value(sizes), (
            trick,
            str(bound.cost.agents),
            happened,
        )


def test_the_first_line_of_a_script_hides_nothing() -> None:
    for end in "\r\u2028\u2029":
        bound = bound_of(f"#!node{end}await agent('x')", "x.js")
        assert isinstance(bound, Bound) and bound.cost is None


def test_most_tricks_are_refused_and_plain_ones_are_not() -> None:
    found = {trick for trick, _ in bounds(TRICKS)}
    assert TRICKS[0] in found and 20 <= len(found) <= 45


@pytest.mark.skipif(runtime.NODE is None, reason="Node is not on the PATH")
def test_no_form_starts_more_than_its_bound_and_none_is_launched_with_less_allowed() -> None:
    found = bounds(FORMS)
    assert len(found) >= 110, len(found)
    cases, rows = [], []
    for text, bound in found:
        for seed in range(5):
            given = {
                "files": [*"abcdefg"[: seed + 1]],
                "n": seed,
                "size": -1,
                "box": {"length": -1},
                "kind": "abcab"[seed],
            }
            cases.append(runtime.Case(runtime.measured(text, bound), given, seed, 300))
            rows.append((text, bound, given))
    for (text, bound, given), happened in zip(rows, runtime.run(cases)):
        assert bound.cost is not None and "SyntaxError" not in happened.failed
        sizes = {name: happened.sizes.get(name, 0) for name in bound.sizes}
        why = text, given, str(bound.cost.agents), happened
        assert happened.agents <= bound.cost.agents.value(sizes) + 1e-6, why
        assert happened.rounds <= bound.cost.rounds.value(sizes) + 1e-6, why
        if happened.agents:
            assert refusal("x.js", text, given, happened.agents - 1) is not None, why


LAUNCHED = [
    ("const { n = 3 } = args; for (let i = 0; i < n; i++) await agent('x')", 2),
    ("const { more: m = 5 } = args ?? {}; for (let i = 0; i < m; i++) await agent('x')", 5),
    ("const o = args || {}; const k = o.box?.n ?? 3; for (let i = 0; i < k; i++) await agent('x')", 4),
    ("const { box: { n = 9 } } = args; for (let i = 0; i < n * 2 + 1; i++) await agent('x')", 9),
    ("const { files = [] } = args; await parallel(files.map((f) => () => agent(f)))", 3),
    ("const { files, n } = args; for (const f of files.slice(0, n)) await agent(f)", 2),
    ("const n = Math.max(1, Number(args.n)); await parallel(Array.from({ length: n }, () => () => agent('x')))", 2),
    ("const n = typeof args.n === 'number' ? args.n : 8; for (let i = 0; i < n; i++) await agent('x')", 2),
    ("const l = Array.isArray(args) ? args : args.files; for (const f of l) await agent(f)", 3),
    ("const o = typeof args === 'string' ? JSON.parse(args) : args; for (const f of o.files) await agent(f)", 3),
    ("let a = args || {}; if (typeof a === 'string') a = JSON.parse(a); for (const f of a.files) await agent(f)", 3),
    ("for (const f of new Set([...args.files, ...args.box.files])) await agent(f)", 4),
    ("for (const name of Object.keys(args.box)) await agent(name)", 2),
    ("const q = [...args.files]; while (q.length > 0) await agent(q.shift())", 3),
    ("const p = []; for (let i = 0; i < 6; i += 2) p.push(args.files.slice(i, i + 2)); for (const x of p) await agent(x)", 3),
]  # fmt: skip


@pytest.mark.parametrize(("script", "most"), LAUNCHED)
def test_what_args_settle_is_known_before_the_launch(script: str, most: int) -> None:
    given = {"n": 2, "files": ["a", "b", "c"], "box": {"n": 4, "files": ["d"]}}
    assert refusal("x.js", script, given, most) is None
    assert refusal("x.js", script, given, most - 1) is not None
