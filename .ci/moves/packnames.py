"""What each pack imports from the core today, by the plan: names counted (run in a tree before the moves)."""
import sys, os, collections, io, contextlib
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from graph import modules, edges_of
from move import full_targets
mods = modules(); tg = full_targets(); e = edges_of(mods)
def new(m):
    if m.startswith("fdc_toolchain.packs"): return tg.get(m, (0, "fdc_packs." + m.split(".")[2] if m.count(".") > 1 else "fdc_packs"))[1]
    return tg.get(m, (0, m))[1]
per = collections.defaultdict(lambda: collections.defaultdict(set)); cross = collections.Counter(); sites = collections.Counter()
for (a, b), l in e.items():
    na, nb = new(a), new(b)
    if na.startswith("fdc_packs."):
        pa = na.split(".")[1]
        if nb.startswith("fdc_packs."):
            if nb.split(".")[1] != pa: cross[pa, nb.split(".")[1]] += 1; per[pa]["PACK " + nb.removeprefix("fdc_packs.")] |= {x[2] for x in l}
        else:
            per[pa][nb.removeprefix("fdc_toolchain.")] |= {x[2] for x in l}; sites[pa] += len(l)
for p, rows in sorted(per.items()):
    names = sum(len(v) for v in rows.values()); private = [f"{m}.{x}" for m, v in rows.items() for x in v if x.startswith("_")]
    print(f"## {p}: {len(rows)} modules, {names} names, {sites[p]} import places; private (_): {private}")
    for m, v in sorted(rows.items(), key=lambda x: -len(x[1])): print("   ", m, sorted(v))
print(cross)
