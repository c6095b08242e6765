"""Rows of tests/property/test_mutants.py whose text is not in its module exactly once (run in the repository)."""
import ast, os, re, sys
t = open("tests/property/test_mutants.py").read(); tree = ast.parse(t)
rows = next(ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.AnnAssign) and n.target.id == "MUTANTS")
bad = 0
for name, old, new in rows:
    p = "tooling/" + name.replace(".", "/") + ".py"
    if not os.path.exists(p): p = f"tooling/fdc_toolchain/analyses/{name}.py"
    n = open(p).read().count(old)
    if n != 1: bad += 1; print(n, name, repr(old)[:110])
print(bad, "of", len(rows))
