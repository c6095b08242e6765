"""File import graph of tooling/fdc_toolchain: edges (lazy or not), strongly connected components. python graph.py [--json]"""
import ast, os, sys, json, collections
ROOT = "tooling"
def modules(root=ROOT):
    out = {}
    for d, ds, fs in os.walk(root):
        ds[:] = [x for x in ds if x not in ("__pycache__", "_data")]
        for f in fs:
            if f.endswith(".py"):
                p = os.path.join(d, f); out[p[len(root)+1:-3].replace("/", ".").removesuffix(".__init__")] = p
    return out
def resolve(pkg, node):
    base = node.module or ""
    if node.level:
        up = pkg.split("."); up = up[:len(up)-node.level+1]; base = ".".join(up+([node.module] if node.module else []))
    return base
def edges_of(mods):
    """(from, to) -> list of (line, lazy, names, kind)"""
    edges = collections.defaultdict(list)
    for name, f in mods.items():
        pkg = name if f.endswith("__init__.py") else name.rpartition(".")[0]
        tree = ast.parse(open(f).read())
        def visit(n, lazy, typing):
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                lazy = True
            if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test):
                for x in n.body: visit(x, lazy, True)
                for x in n.orelse: visit(x, lazy, typing)
                return
            if isinstance(n, ast.ImportFrom):
                base = resolve(pkg, n)
                for a in n.names:
                    for c in (f"{base}.{a.name}", base):
                        if c in mods:
                            edges[name, c].append((n.lineno, lazy, a.name if c == base else "*", "typing" if typing else "import")); break
            elif isinstance(n, ast.Import):
                for a in n.names:
                    if a.name in mods: edges[name, a.name].append((n.lineno, lazy, "*", "typing" if typing else "import"))
            elif isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value:
                v = n.value.split(":")[0]
                if v.startswith("."):
                    lv = len(v)-len(v.lstrip(".")); up = pkg.split("."); v = ".".join(up[:len(up)-lv+1]+[v.lstrip(".")])
                if v in mods and v != "fdc_toolchain" and v.startswith("fdc_toolchain."):
                    edges[name, v].append((n.lineno, True, "*", "string"))
            for x in ast.iter_child_nodes(n): visit(x, lazy, typing)
        visit(tree, False, False)
    return edges
def sccs(nodes, adj):
    sys.setrecursionlimit(20000); index={};low={};st=[];on=set();k=[0];out=[]
    def go(v):
        index[v]=low[v]=k[0];k[0]+=1;st.append(v);on.add(v)
        for w in adj.get(v,()):
            if w not in index: go(w);low[v]=min(low[v],low[w])
            elif w in on: low[v]=min(low[v],index[w])
        if low[v]==index[v]:
            c=[]
            while True:
                w=st.pop();on.discard(w);c.append(w)
                if w==v:break
            if len(c)>1: out.append(sorted(c))
    for v in nodes:
        if v not in index: go(v)
    return out
if __name__ == "__main__":
    mods = modules(); e = edges_of(mods)
    adj = collections.defaultdict(set); typ = collections.defaultdict(set)
    for (a, b), l in e.items():
        if a == b: continue
        typ[a].add(b)
        if any(k == "import" for *_, k in l): adj[a].add(b)
    lazy = sum(1 for k, l in e.items() if all(x[1] for x in l))
    print("files", len(mods), "edges", len(e), "lazy only", lazy, "typing only", sum(1 for l in e.values() if all(x[3]=="typing" for x in l)), "string", sum(1 for l in e.values() if any(x[3]=="string" for x in l)))
    for title, ad in (("RUN-TIME (as house-size counts)", adj), ("WITH TYPE_CHECKING AND STRINGS", typ)):
        print("==", title)
        for c in sorted(sccs(mods, ad), key=len):
            s = set(c); print(len(c), c)
            for a in c:
                for b in sorted(ad[a] & s):
                    l = e[a, b]
                    print("    ", a.removeprefix("fdc_toolchain."), "->", b.removeprefix("fdc_toolchain."), [(x[0], "lazy" if x[1] else "top", x[2], x[3]) for x in l])
