"""check.py [REPO]: is every file in the plan, once; sizes and widths of target folders; room arrows after each step."""
import sys, os, collections, subprocess, fnmatch
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from graph import modules, edges_of, sccs
from spec import STEPS, STAY, INITS, DROP
def mapping(mods):
    """old module -> (step index, new module); raises on unknown, twice, missing"""
    out = {}; wrong = []
    P = "fdc_toolchain."
    def new_module(folder, name):
        if folder == ".": return "fdc_toolchain." + name
        return (folder if folder.startswith("fdc_packs") else "fdc_toolchain/" + folder).replace("/", ".") + "." + name
    for k, (step, rooms) in enumerate(STEPS):
        for folder, words in rooms.items():
            for w in words.split():
                old, _, new = w.partition(">")
                hits = [m for m in mods if fnmatch.fnmatchcase(m, P + old)] if "*" in old else ([P + old] if P + old in mods else [])
                if "*" in old and P + old[:-2] in mods: hits.append(P + old[:-2])
                if not hits: wrong.append(f"plan names {old}, which is gone")
                for h in hits:
                    if h in out: wrong.append(f"{h} is in the plan twice")
                    if h == P + old.removesuffix(".*"): 
                        out[h] = (k, new_module(folder, "")[:-1] if "*" in old else new_module(folder, new or h.rpartition(".")[2]))
                    else: out[h] = (k, new_module(folder, new or h.rpartition(".")[2]))
    return out, wrong
def stays(m):
    s = m.removeprefix("fdc_toolchain.")
    return m == "fdc_toolchain" or not m.startswith("fdc_toolchain") or any(fnmatch.fnmatchcase(s, x) or s == x.removesuffix(".*") for x in STAY)
def room_of(mod, is_pkg): return mod if is_pkg else mod.rpartition(".")[0]
def main():
    mods = modules(); mp, wrong = mapping(mods)
    pkgs = {m for m, f in mods.items() if f.endswith("__init__.py")}
    for m in mods:
        if m in mp or stays(m) or m in pkgs: continue
        wrong.append(f"{m} is not in the plan")
    print(*wrong, sep="\n")
    target = collections.Counter(v for _, v in mp.values())
    for v, n in target.items():
        if n > 1: print("two files become", v, [m for m in mp if mp[m][1] == v])
    lines = {m: sum(1 for _ in open(f)) for m, f in mods.items()}
    per = collections.defaultdict(lambda: [0, 0])
    for m in mods:
        if m in pkgs: continue
        n = mp[m][1] if m in mp else m
        r = n.rpartition(".")[0]; per[r][0] += 1; per[r][1] += lines[m]
    tot = collections.Counter()
    for r, (n, l) in sorted(per.items()):
        print(f"{n:4} {l:6} {r}", "  <-- WIDE" if n > 16 else ""); tot["packs" if r.startswith("fdc_packs") else "core"] += l
    print(dict(tot))
    e = edges_of(mods)
    def show(upto, fine):
        def room(m):
            n = mp[m][1] if m in mp and mp[m][0] <= upto else m
            if n in pkgs or m in pkgs: r = n
            else: r = n.rpartition(".")[0] if n.count(".") > 1 or not n.startswith("fdc_toolchain.") else n
            if not r: r = n
            if not fine:
                p = r.split("."); r = ".".join(p[:2])
            return r
        adj = collections.defaultdict(set); why = collections.defaultdict(list)
        for (a, b), l in e.items():
            if all(k != "import" for *_, k in l): continue
            ra, rb = room(a), room(b)
            if ra != rb: adj[ra].add(rb); why[ra, rb].append((a, b, l))
        cs = sccs(sorted(set(adj) | {x for v in adj.values() for x in v}), adj)
        return cs, adj, why
    if "--prefix" in sys.argv:
        for k in range(len(STEPS)):
            cs, adj, why = show(k, False); print("after", STEPS[k][0], [[x.removeprefix("fdc_toolchain.") for x in c] for c in cs])
    S = lambda x: x.removeprefix("fdc_toolchain.")
    for fine in (False, True):
        cs, adj, why = show(len(STEPS), fine)
        print("== room cycles at the end, fine" if fine else "== top rooms cycles at the end")
        for c in cs:
            s = set(c); print("CYCLE", [S(x) for x in c])
            w = sorted(((len(why[a, b]), a, b) for a in c for b in adj[a] & s))
            for n, a, b in w:
                print(f"  {n:3} {S(a)} -> {S(b)}:", "; ".join(f"{S(x)}>{S(y)}{'' if any(not q[1] for q in l) else '~'}" for x, y, l in why[a, b][: (12 if n <= 12 else 4)]), "..." if n > 12 else "")
    if "--core-to-pack" in sys.argv:
        for (a, b), l in sorted(e.items()):
            if any(k == "import" for *_, k in l):
                na = mp.get(a, (0, a))[1]; nb = mp.get(b, (0, b))[1]
                if nb.startswith("fdc_packs") and not na.startswith("fdc_packs"): print("CORE>PACK", S(na), "->", S(nb), [(x[0], x[2]) for x in l])
if __name__ == "__main__": main()
