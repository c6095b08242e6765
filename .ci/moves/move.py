"""Moves rooms of the project as `spec.py` says, one step at a time. Development only; Python 3.11, standard library.

    cd REPOSITORY                     # a clean worktree, on top of the commit that ran `ruff format`
    python move.py check              # is the plan complete and true for this tree? (exit 1 and a list if not)
    python move.py prep               # step 0: dynamic module names in tables become absolute; commit it by itself
    python move.py STEP [--commit]    # one step: git mv, imports, names in text, FLOORS, ruff; then leftovers are listed
    python move.py all --commit       # every step up to the first that fails
    python move.py plan               # writes plan.toml: old path -> new path, step by step

It does nothing when a file of the plan is missing, when a file of the tree is not in the plan, when a moved file names its
neighbours by `__file__` and no EDITS entry says what becomes of that, or when an EDITS text is not there exactly once.
"""
from __future__ import annotations
import ast, os, re, subprocess, sys, fnmatch, collections
HERE = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, HERE)
import spec
from graph import modules, resolve, edges_of, sccs
from check import mapping, stays
TOP = "tooling/"; P = "fdc_toolchain"

def git(*a: str) -> str: return subprocess.run(["git", *a], check=True, capture_output=True, text=True).stdout
def die(*lines: str) -> None: print(*lines, sep="\n", file=sys.stderr); sys.exit(1)
def read(p: str) -> str:
    with open(p, encoding="utf-8", newline="") as f: return f.read()
def write(p: str, t: str) -> None:
    os.makedirs(os.path.dirname(p) or ".", exist_ok=True)
    with open(p, "w", encoding="utf-8", newline="") as f: f.write(t)
def path_of(mod: str, pkg: bool) -> str: return TOP + mod.replace(".", "/") + ("/__init__.py" if pkg else ".py")

# ---------------------------------------------------------------- the plan against the tree
def state():
    """(modules of the tree, packages, old->(step,new) for what is still to do, complaints)"""
    mods = modules("tooling"); pkgs = {m for m, f in mods.items() if f.endswith("__init__.py")}
    mp, _ = mapping(mods)
    new_names = {v for _, v in full_targets().values()}
    wrong = []
    for old, (k, new) in full_targets().items():
        if old not in mods and new not in mods and old not in new_names: wrong.append(f"plan: {old} is gone (it was to become {new})")
        if old in mods and new in mods and old != new and new not in full_targets(): wrong.append(f"plan: {new} is there already")
    for m in mods:
        if m in pkgs or stays(m) or m in full_targets() or m in new_names: continue
        wrong.append(f"tree: {m} is not in the plan")
    return mods, pkgs, wrong
def full_targets(_c={}):
    """Every name of the plan, whether it has moved yet or not. Wildcards are taken from the tree."""
    if _c: return _c
    mods = modules("tooling")
    for k, (step, rooms) in enumerate(spec.STEPS):
        for folder, words in rooms.items():
            base = P if folder == "." else (folder if folder.startswith("fdc_packs") else f"{P}/{folder}").replace("/", ".")
            for w in words.split():
                old, _, new = w.partition(">")
                if "*" in old:
                    for m in mods:
                        if fnmatch.fnmatchcase(m, f"{P}.{old}") and not mods[m].endswith("__init__.py"): _c[m] = (k, f"{base}.{m.rpartition('.')[2]}")
                else:
                    if f"{P}.{old}" in _c: die(f"plan: {old} stands twice")
                    _c[f"{P}.{old}"] = (k, f"{base}.{new or old.rpartition('.')[2]}")
    n = collections.Counter(v for _, v in _c.values())
    if twice := [v for v, c in n.items() if c > 1]: die(f"plan: two files become {twice}")
    return _c

# ---------------------------------------------------------------- rewriting one Python file
class Scopes(ast.NodeVisitor):
    """Which Name nodes mean a binding that an import statement makes in a scope."""
    FN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.ClassDef)
    def __init__(self, tree):
        self.parent = {}; self.binds = collections.defaultdict(set); self.scope_of = {}; self.tree = tree; self.globals = collections.defaultdict(set)
        self.walk(tree, tree)
    def walk(self, node, scope):
        for child in ast.iter_child_nodes(node):
            inner = scope
            self.scope_of[child] = scope
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): self.binds[scope].add(child.name)
            if isinstance(child, self.FN):
                inner = child; self.parent[child] = scope
                if not isinstance(child, ast.ClassDef) and hasattr(child, "args"):
                    a = child.args
                    for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, *( [a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])]: self.binds[child].add(x.arg)
            if isinstance(child, ast.Name) and isinstance(child.ctx, (ast.Store, ast.Del)): self.binds[scope].add(child.id)
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                for a in child.names: self.binds[scope].add((a.asname or a.name).split(".")[0])
            if isinstance(child, ast.ExceptHandler) and child.name: self.binds[scope].add(child.name)
            if isinstance(child, (ast.MatchAs, ast.MatchStar)) and child.name: self.binds[scope].add(child.name)
            if isinstance(child, ast.Global): self.globals[scope] |= set(child.names)
            # decorators, defaults and annotations belong to the outer scope
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                outer = [*getattr(child, "decorator_list", []), *child.args.defaults, *[d for d in child.args.kw_defaults if d]]
                ann = [x.annotation for x in [*child.args.posonlyargs, *child.args.args, *child.args.kwonlyargs, child.args.vararg, child.args.kwarg] if x is not None and x.annotation]
                if getattr(child, "returns", None): ann.append(child.returns)
                skip = {id(x) for x in outer + ann}
                for x in outer + ann: self.scope_of[x] = scope; self._name(x, scope); self.walk(x, scope)
                for x in ast.iter_child_nodes(child):
                    if isinstance(x, ast.arguments) or id(x) in skip: continue
                    self.scope_of[x] = inner; self._one(x, inner)
                continue
            self.walk(child, inner)
    def _name(self, x, scope): pass
    def _one(self, x, inner):
        holder = ast.Module(body=[], type_ignores=[]); holder.body = [x]; self.walk(holder, inner)
    def uses(self, name, scope):
        """Name nodes that read `name` as bound in `scope`."""
        out = []
        for n, s in self.scope_of.items():
            if isinstance(n, ast.Name) and n.id == name:
                t = s
                while t is not None and t is not scope and (name not in self.binds[t] or name in self.globals[t]): t = self.parent.get(t)
                if t is scope: out.append(n)
        return out

def imports_of(text, modname, is_pkg, newmod, ren, oldmods, notes, shown):
    """The text with its from-imports as they must be after the step. ren: old module -> new module (this step only)."""
    try: tree = ast.parse(text)
    except SyntaxError: return text
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    pkg = modname if is_pkg else modname.rpartition(".")[0]
    newpkg = newmod if is_pkg else newmod.rpartition(".")[0]
    lines = text.encode().split(b"\n"); starts = [0]
    for l in lines: starts.append(starts[-1] + len(l) + 1)
    raw = text.encode(); edits = []; scopes = None
    idents = None
    for n in nodes:
        base = resolve(pkg, n)
        if base.split(".")[0] not in (P, "fdc_packs"): continue
        out = collections.OrderedDict(); changed = pkg != newpkg and n.level > 0
        for a in n.names:
            full = f"{base}.{a.name}"
            if full in oldmods:
                new = ren.get(full, full); nb, _, nn = new.rpartition("."); local = a.asname
                if new != full: changed = True
                if nn != a.name and not a.asname:
                    if scopes is None: scopes = Scopes(tree); idents = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)} | {x.arg for x in ast.walk(tree) if isinstance(x, ast.arg)} | {x.name for x in ast.walk(tree) if isinstance(x, (ast.FunctionDef, ast.ClassDef))}
                    other = any((al.asname or al.name) == nn for m in nodes for al in m.names if al is not a and not (m is not n and resolve(pkg, m) + "." + al.name == full))
                    import keyword
                    if nn in idents or other or nn in dir(__import__("builtins")) or nn in sys.stdlib_module_names:
                        local = a.name; notes.append(f"{shown}:{n.lineno}: `{nn} as {a.name}` (the new name is taken here)")
                    else:
                        for u in scopes.uses(a.name, scopes.scope_of[n]):
                            s = starts[u.lineno - 1] + u.col_offset; edits.append((s, s + len(a.name.encode()), nn.encode()))
                elif nn == a.asname: local = None
                out.setdefault(nb, []).append(nn + (f" as {local}" if local and local != nn else ""))
            else:
                nb = ren.get(base, base)
                if nb != base: changed = True
                out.setdefault(nb, []).append(a.name + (f" as {a.asname}" if a.asname else ""))
        if not changed: continue
        s = starts[n.lineno - 1] + n.col_offset; e = starts[n.end_lineno - 1] + n.end_col_offset
        if b"#" in raw[s:e]: notes.append(f"{shown}:{n.lineno}: a comment inside an import is lost")
        stm = []
        for nb, names in out.items():
            src = nb
            if n.level:
                a, b = newpkg.split("."), nb.split(".")
                c = 0
                while c < min(len(a), len(b)) and a[c] == b[c]: c += 1
                if c: src = "." * (len(a) - c + 1) + ".".join(b[c:])
            stm.append(f"from {src} import {', '.join(names)}")
        before = raw[starts[n.lineno - 1]:s]
        sep = "; " if before.strip() else "\n" + before.decode()
        tail = raw[e:starts[n.end_lineno]]
        edits.append((s, e, sep.join(stm).encode()))
    if not edits: return text
    for s, e, t in sorted(set(edits), reverse=True): raw = raw[:s] + t + raw[e:]
    return raw.decode()

# ---------------------------------------------------------------- names in text
def alternation(words): return "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
def text_rewriter(ren, pkgren, paths):
    """A function text, is_python -> text: dotted names, paths, and in prose the short forms `room.module` and `room/module.py`."""
    dotted = {o: n for o, n in ren.items()}
    short = {o.removeprefix(P + "."): n.removeprefix(P + ".") for o, n in ren.items() if o.count(".") > 1}
    rx_dot = re.compile(rf"(?<![\w.])({alternation(dotted)})(?!\w)") if dotted else None
    slash = {}
    for o, n in ren.items():
        a, b = o.replace(".", "/") + ".py", n.replace(".", "/") + ".py"; slash[a] = b
        if o.count(".") > 1: slash[a.removeprefix(P + "/")] = b.removeprefix(P + "/") if b.startswith(P) else b
    for o, n in pkgren.items():
        a, b = o.replace(".", "/") + "/__init__.py", n.replace(".", "/") + "/__init__.py"; slash[a] = b
        slash[a.removeprefix(P + "/")] = b.removeprefix(P + "/")
    for a, b in paths.items():
        slash[a.removeprefix("tooling/") if a.startswith("tooling/fdc_toolchain") else a] = b.removeprefix("tooling/") if a.startswith("tooling/fdc_toolchain") else b
    rx_slash = re.compile(rf"(?<![\w.-])(?P<lead>tooling/)?({alternation(slash)})(?![\w-])") if slash else None
    rx_short = re.compile(rf"(?<![\w./])({alternation(short)})(?!\w|\(|\.py)") if short else None
    def prose(t): return rx_short.sub(lambda m: short[m[1]], t) if rx_short else t
    def go(t, python):
        def quoted(m):
            full = f"{m[2]}.{m[3]}"
            if full not in dotted: return m[0]
            base, _, last = dotted[full].rpartition(".")
            return f"{m[1]}from {base} import {last}" + (f" as {m[3]}" if last != m[3] else "")
        t = re.sub(r"((?:^|\\n|[^\w.]))from (fdc_toolchain(?:\.\w+)*) import (\w+)(?![\w,]| as)", quoted, t, flags=re.M)
        if rx_dot: t = rx_dot.sub(lambda m: dotted[m[1]], t)
        if rx_slash: t = rx_slash.sub(lambda m: (m["lead"] or "") + slash[m[2]], t)
        if not rx_short: return t
        if not python: return re.sub(r"(?<!`)`[^`\n]+`(?!`)", lambda m: prose(m[0]), t)
        if not rx_short.search(t): return t
        import io, tokenize
        edits = []; ls = t.split("\n"); st = [0]
        for l in ls: st.append(st[-1] + len(l) + 1)
        try: toks = list(tokenize.generate_tokens(io.StringIO(t).readline))
        except (tokenize.TokenError, IndentationError): return t
        prev = None
        for k in toks:
            doc = k.type == tokenize.STRING and (prev is None or prev in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING))
            if k.type == tokenize.COMMENT or doc:
                s, e = st[k.start[0] - 1] + k.start[1], st[k.end[0] - 1] + k.end[1]
                new = re.sub(r"`[^`\n]+`", lambda m: prose(m[0]), t[s:e])
                if new != t[s:e]: edits.append((s, e, new))
            if k.type not in (tokenize.COMMENT,): prev = k.type
        for s, e, n in reversed(edits): t = t[:s] + n + t[e:]
        return t
    return go

TEXTS = (".py", ".md", ".json", ".toml", ".txt", ".yaml", ".yml", ".lark", ".plan", ".jinja", ".j2", ".cfg", ".ini", ".sh", ".html", ".css", ".js")
def tracked():
    for p in git("ls-files").splitlines():
        if os.path.islink(p) or not os.path.isfile(p): continue
        if p.endswith(TEXTS) or p in ("Makefile", ".pre-commit-hooks.yaml", ".gitignore") or p.startswith(".ci/"): yield p

# ---------------------------------------------------------------- FLOORS of tests/repo/test_arrows.py
def floors():
    """(room -> floor, arrows that run up or sideways), by `spec.FLOORS` and the imports as they are."""
    mods = modules("tooling"); e = edges_of(mods); wrong = []
    def room(m): return m.split(".")[1] if m.startswith(P + ".") else None
    rooms = {room(m) for m in mods} - {None}
    if lost := sorted(r for r in rooms if r not in spec.FLOORS): die(f"FLOORS says nothing of {lost}")
    for (a, b), l in sorted(e.items()):
        x, y = room(a), room(b)
        if x and y and x != y and any(q[3] != "string" for q in l) and spec.FLOORS[y] >= spec.FLOORS[x]: wrong.append(f"ARROW {a} -> {b} {[q[0] for q in l]}")
    return {r: spec.FLOORS[r] for r in rooms}, wrong
def write_floors():
    fl, wrong = floors(); print(*wrong, sep="\n")
    p = "tests/repo/test_arrows.py"; t = read(p); m = re.search(r"FLOORS = \{.*?\n\}", t, re.S)
    rows = collections.defaultdict(list)
    for r in spec.FLOORS:
        if r in fl: rows[fl[r]].append(r)
    body = "".join("    " + ", ".join(f'"{r}": {i}' for r in rows[k]) + ",\n" for i, k in enumerate(sorted(rows)))
    write(p, t[:m.start()] + "FLOORS = {\n" + body + "}" + t[m.end():])

# ---------------------------------------------------------------- commands
def wanted_edits(step): return spec.EDITS.get(step, [])
def run_step(step: str, commit: bool) -> None:
    k = [s for s, _ in spec.STEPS].index(step)
    mods, pkgs, wrong = state()
    if wrong: die(*wrong, "nothing was done")
    if git("status", "--porcelain", "--untracked-files=no").strip(): die("the worktree is not clean; commit or stash first")
    todo = {o: n for o, (j, n) in full_targets().items() if j == k and o in mods and o != n}
    if not todo: die(f"step {step}: nothing left to do")
    if set(todo) & set(todo.values()): die(f"step {step}: a new name is an old one: {set(todo) & set(todo.values())}")
    folders = {n.rpartition(".")[0] for n in todo.values()}
    if clash := folders & {m for m in mods if m not in pkgs}: die(f"step {step}: a new folder has the name of a module: {clash}")
    pkgren = {}
    for o, n in spec.INITS.items():
        old = P + "." + o.removesuffix(".__init__"); new = n.removesuffix("/__init__.py").replace("/", "."); new = new if new.startswith("fdc_packs") else f"{P}.{new}"
        if old in mods and old != new and any(m.rpartition(".")[0] == old for m in todo): pkgren[old] = new
    ren = {**todo, **pkgren}
    # review of __file__
    bad = []
    for o, n in todo.items():
        t = read(mods[o]); names = [m for m in re.findall(r'"([\w]+\.(?:py|js|css|j2|md|html))"|"(templates|explain)"', t)]
        if "__file__" in t and (o.count(".") != n.count(".") or names) and not any(e[0] == mods[o] for e in wanted_edits(step)) and o.removeprefix(P + ".") not in spec.FILE_OK:
            bad.append(f"{mods[o]}: uses __file__ ({[l.strip() for l in t.splitlines() if '__file__' in l]}); say in EDITS or FILE_OK")
    if bad: die(*bad, "nothing was done")
    # exact edits
    for p, a, b in wanted_edits(step):
        t = read(p)
        if t.count(a) != 1: die(f"EDITS {step}: {p}: {a!r} stands {t.count(a)} times", "nothing was done")
    for p, a, b in wanted_edits(step): write(p, read(p).replace(a, b))
    notes: list[str] = []; changed: set[str] = set(p for p, _, _ in wanted_edits(step))
    paths = dict(spec.DATA.get(step, []))
    rewrite = text_rewriter(todo, pkgren, paths)
    moved = {mods[o] for o in ren}
    rx_any = re.compile(rf"\b({alternation({o.rpartition('.')[2] for o in ren})})\b")
    for p in list(tracked()):
        try: t = read(p)
        except UnicodeDecodeError: continue
        new = t
        if p.endswith(".py") and (rx_any.search(t) or p in moved):
            if p.startswith("tooling/"):
                m = p[len(TOP):-3].replace("/", ".").removesuffix(".__init__"); is_pkg = p.endswith("__init__.py")
            else: m, is_pkg = p[:-3].replace("/", "."), False
            new = imports_of(new, m, is_pkg, ren.get(m, m), ren, mods, notes, p)
        if not p.startswith(("CHANGELOG", "docs/decisions/")): new = rewrite(new, p.endswith(".py"))
        if new != t: write(p, new); changed.add(p)
    # move
    for o, n in todo.items():
        dst = path_of(n, False); os.makedirs(os.path.dirname(dst), exist_ok=True); git("mv", mods[o], dst)
        changed.discard(mods[o]); changed.add(dst)
    for o, n in pkgren.items():
        dst = path_of(n, True); os.makedirs(os.path.dirname(dst), exist_ok=True); git("mv", mods[o], dst); changed.discard(mods[o]); changed.add(dst)
    for a, b in paths.items():
        if os.path.exists(a): os.makedirs(os.path.dirname(b.rstrip("/")), exist_ok=True); git("mv", a.rstrip("/"), b.rstrip("/"))
    for n in set(todo.values()):
        d = n.rpartition(".")[0]
        while d and d != P:
            init = path_of(d, True); rel = d.removeprefix(P + ".").replace(".", "/")
            if not os.path.exists(init):
                if d == "fdc_packs": doc = "Packs that come with fdc."
                elif d.startswith("fdc_packs"): doc = spec.ROOMS.get(rel.replace("fdc_packs.", "fdc_packs/"), f"Of the pack {d.split('.')[1]}: {d.split('.')[-1]}.")
                elif rel in spec.ROOMS: doc = spec.ROOMS[rel]
                else: die(f"ROOMS says nothing of {rel}")
                write(init, f'"""{doc}"""\n'); git("add", init); changed.add(init)
            d = d.rpartition(".")[0]
    for x in spec.DROP:
        d = TOP + P + "/" + x.replace(".", "/").removesuffix("/__init__"); init = d + "/__init__.py"
        if os.path.exists(init) and not any(f.endswith(".py") and f != "__init__.py" or os.path.isdir(os.path.join(d, f)) and f != "__pycache__" for f in os.listdir(d)):
            git("rm", "-qf", init); changed.discard(init)
    left = modules("tooling")
    for old, new in spec.ROOMNAMES.items():
        if any(o.startswith(f"{P}.{old}.") for o in todo) and not any(m.startswith(f"{P}.{old}.") for m in left):
            rx = re.compile(rf"(?<![\w/.-])((?:tooling/)?(?:fdc_toolchain/)?){old}/(?=[`\s*,;)\"']|\*)"); dx = re.compile(rf"\bfdc_toolchain\.{old}\b(?!\.\w)")
            for p in list(tracked()):
                if p.startswith(("CHANGELOG", "docs/decisions/", "tests/golden/", "knowledge_core/")): continue
                try: t = read(p)
                except UnicodeDecodeError: continue
                u = dx.sub(f"fdc_toolchain.{new.replace('/', '.')}", rx.sub(rf"\g<1>{new}/", t))
                if u != t: write(p, u); changed.add(p)
    py = sorted(p for p in changed if p.endswith(".py") and os.path.exists(p)); ruff = ".venv/bin/ruff" if os.path.exists(".venv/bin/ruff") else "ruff"
    write_floors()
    for _ in range(2):
        subprocess.run([ruff, "check", "-q", "--force-exclude", "--select", "I,F401", "--fix", *py, "tests/repo/test_arrows.py"]); subprocess.run([ruff, "format", "-q", "--force-exclude", *py, "tests/repo/test_arrows.py"])
    r = subprocess.run([ruff, "check", "--output-format", "concise", "."], capture_output=True, text=True).stdout
    print(*[x for x in r.splitlines() if ".py:" in x], sep="\n")
    print(f"{step}: {len(todo)} files moved, {len(changed)} files changed")
    print(*notes, sep="\n")
    leftovers(todo, pkgren)
    if commit:
        git("add", "-A"); git("commit", "-qm", f"house: move files into {', '.join(list(spec.STEPS[k][1])[:3])}"[:72]); print("committed")
def leftovers(todo, pkgren):
    """Mentions of old names that nothing rewrote: dynamic names, prose, tests that name rooms."""
    gone = {o.rpartition(".")[0] for o in todo}
    mods = modules("tooling"); gone = {g for g in gone if not any(m.startswith(g + ".") for m in mods)}
    for o in [*todo, *gone]:
        if o == P: continue
        s = o.removeprefix(P + ".")
        pat = re.escape(o) + r"\b|" + re.escape("fdc_toolchain/" + s.replace(".", "/")) + r"\b|" + re.escape('"' + s.split(".")[-1] + '.py"')
        r = subprocess.run(["git", "grep", "-nE", pat, "--", ":!CHANGELOG.md", ":!docs/decisions"], capture_output=True, text=True).stdout
        for l in r.splitlines()[:6]: print("LEFT", s, "|", l[:170])
    r = subprocess.run(["git", "grep", "-nE", r"from fdc_\w+(\.\w+)* import \w+", "--", "*.py", "*.md"], capture_output=True, text=True).stdout
    for l in r.splitlines():
        for base, names in re.findall(r"from (fdc_\w+(?:\.\w+)*) import ([\w, ]+)", l):
            if base not in mods: print("DEAD", l[:150])
            elif mods[base].endswith("__init__.py"):
                own = read(mods[base])
                for x in re.findall(r"\w+", names.replace(" as ", " ")):
                    if f"{base}.{x}" not in mods and x not in own and not re.search(rf"as {x}\b", l): print("DEAD", l[:150])
    for g in gone:
        s = g.removeprefix(P + ".").replace(".", "/")
        r = subprocess.run(["git", "grep", "-nE", rf"[\"'`(]{s}(/|[\"'`])|\b{s}/\*", "--", ":!CHANGELOG.md", ":!docs/decisions", ":!tests/golden"], capture_output=True, text=True).stdout
        for l in r.splitlines()[:25]: print("ROOM", s, "|", l[:170])
def prep() -> None:
    """Step 0: names of modules in tables become absolute, so that they are found."""
    def edit(p, pairs):
        t = read(p)
        for a, b, count in pairs:
            n = len(re.findall(a, t)) 
            if (count and n != count) or not n: die(f"prep: {p}: {a} stands {n} times")
            t = re.sub(a, b, t)
        write(p, t)
    F = TOP + P + "/"
    edit(F + "tools/runtime.py", [(r'(?<=: )Row\(\s*"(\w+)"', r'Row("fdc_toolchain.effects.\1"', 0), (r'import_module\(f"\.\{row\.module\}", __package__\)', 'import_module(row.module)', 1),
        (r'row\.module == "file_tools"', 'row.module == "fdc_toolchain.tools.files.file_tools"', 1),
        ('"""Where a tool\'s function is: a module of this room, its name', '"""Where a tool\'s function is: a module, its name', 1)])
    edit(F + "fdc_packs/lgtm/tools/tools.py", [(r'import_module\(f"\.\{row\.module\}", __package__\)', 'import_module(row.module)', 1)])
    t = read(F + "cli/main.py"); a = t.index("COMMANDS:"); b = t.index("\n}\n", a)
    t = t[:a] + re.sub(r'(^\s+"[\w-]+": \(\s*)"(\w+)"', r'\1"fdc_toolchain.cli.\2"', t[a:b], flags=re.M).replace("(module in this room, one line)", "(module, one line)") + t[b:]
    write(F + "cli/main.py", t)
    edit(F + "cli/main.py", [(r'import_module\(f"\{__package__\}\.\{row\[0\]\}"\)', 'import_module(row[0])', 1)])
    t = read(F + "cli/project/protocols/build.py"); a = t.index("ELSEWHERE"); b = t.index("\n}\n", a)
    write(F + "cli/project/protocols/build.py", t[:a] + re.sub(r'(^\s+"[\w-]+": \(\s*)"(\w+)"', r'\1"fdc_toolchain.cli.\2"', t[a:b], flags=re.M) + t[b:])
    edit(F + "cli/project/protocols/build.py", [(r'import_module\(f"\{__package__\}\.\{row\[0\]\}"\)', 'import_module(row[0])', 1)])
    mut = "tests/property/test_mutants.py"; t = read(mut); a = t.index("MUTANTS: list"); b = t.index("\n]", a)
    write(mut, t[:a] + re.sub(r'^(    \(\n?\s*)"(\w+)",', r'\1"fdc_toolchain.rules.\2",', t[a:b], flags=re.M) + t[b:])
    edit(mut, [(r'import_module\(f"fdc_toolchain\.analyses\.\{name\}"\)', 'import_module(name)', 0)])
    kept = "tests/unit/test_kept_failures.py"; t = read(kept)
    write(kept, re.sub(r'^(        \(\n?\s*)"(words|shortest|files|obligations)",', r'\1"fdc_toolchain.rules.\2",', t, flags=re.M))
    subprocess.run([".venv/bin/ruff", "format", "-q", F + "cli", F + "effects", mut, kept])
def plan() -> None:
    mods = modules("tooling"); out = ["# old path -> new path (new module), in ordered steps; written by `move.py plan` from spec.py"]
    for k, (step, rooms) in enumerate(spec.STEPS):
        out.append(f"\n[[step]]\nname = \"{step}\"\nrooms = {list(rooms)!r}\nfiles = [".replace("'", '"'))
        for o, (j, n) in full_targets().items():
            if j == k: out.append(f'  ["{path_of(o, False)}", "{path_of(n, False)}"],')
        for o, n in [*spec.DATA.get(step, []), *spec.PACKDATA.get(step, [])]: out.append(f'  ["{o}", "{n}"],')
        out.append("]")
    out.append("\n[stays]\nmodules = " + repr(spec.STAY).replace("'", '"') + "\n")
    write(os.path.join(HERE, "plan.toml"), "\n".join(out))
def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else die(__doc__ or "")
    if what == "check":
        mods, pkgs, wrong = state()
        if wrong: die(*wrong)
        print("the plan fits the tree:", len(full_targets()), "files in", len(spec.STEPS), "steps")
    elif what == "prep": prep()
    elif what == "plan": plan()
    elif what == "floors": print(floors()); write_floors()
    elif what == "all":
        for s, _ in spec.STEPS:
            if any(o in modules("tooling") for o, (j, n) in full_targets().items() if spec.STEPS[j][0] == s and o != n): run_step(s, True)
    else: run_step(what, "--commit" in sys.argv)
if __name__ == "__main__": main()
