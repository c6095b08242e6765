"""The plan by hand: steps of one room each. `old` or `old>new` ; old is a module below fdc_toolchain (dots), new its new file name.
`python spec.py` writes plan.toml. A folder starting with fdc_packs/ is beside fdc_toolchain."""
STEPS = [
("text-diagnostics", {
  "text": "text.fence text.glob_match text.json_text text.merge_diff text.patterns text.record>slots text.suggest",
  "diagnostics": "text.codes text.diagnostic text.edits text.source text.span text.verdict_line",
}),
("automata", {"automata": "machines.declare machines.load machines.model machines.shape machines.wellformed"}),
("syntax", {"syntax": "syntax.compile>compile_tables syntax.complaint>syntax_errors syntax.conditions syntax.drive>lalr syntax.evidence syntax.foreign>keyword_hints "
   "syntax.lines syntax.parse syntax.shell_text syntax.suppress>suppressions syntax.tables syntax.tails syntax.tree syntax.values syntax.write"}),
("linking", {
  "linking": "resolve.bind resolve.bound resolve.catalogue resolve.catalogue_check resolve.commands resolve.constants resolve.graph resolve.link resolve.model "
     "resolve.types resolve.registry resolve.own_row resolve.obligations>protocol_rules",
  "linking/project": "resolve.discover resolve.files resolve.places resolve.protected resolve.obeyed resolve.regular>regular_file resolve.secret_files resolve.settings "
     "resolve.workspace>root resolve.outside>outside_files resolve.own_modules resolve.seen>stat_cache",
}),
("rules", {
  "rules": "analyses.arguments analyses.automaton analyses.bounds analyses.calls analyses.capability analyses.closure analyses.csdc analyses.file_places analyses.files "
     "analyses.flow analyses.merges analyses.names analyses.prompts analyses.type_findings analyses.verify",
  "rules/solver": "analyses.rule analyses.words analyses.rounds analyses.values analyses.shortest>counterexample analyses.events "
     "analyses.refusals analyses.fragment analyses.known analyses.tested analyses.types",
  "rules/protocol_rules": "analyses.obligations>proved analyses.each_value>per_value analyses.broken>rule_violations",
  "rules/solver/files": "analyses.file_bodies>bodies analyses.file_effects>effects analyses.file_findings>findings analyses.file_log>log analyses.file_texts>texts analyses.path_language analyses.paths",
  "rules/solver/flow": "analyses.data_commands analyses.earlier analyses.heard analyses.labels analyses.need analyses.programs analyses.stored>file_taint analyses.summary analyses.touched",
}),
("report", {
  "report": "report.amounts report.changes report.concise report.diff report.exit_codes report.explained report.explanations report.github "
     "report.json_ report.junit report.render report.rules_page report.sarif report.run_page",
  "report/drawing": "report.draw>drawing report.draw_automaton>automaton report.draw_dot>dot report.draw_mermaid>mermaid report.draw_plan>plan report.draw_svg>svg report.frames report.layers report.layout report.svg_style",
  "report/terminal": "report.human report.excerpt report.cells>terminal_text report.style report.trace report.summary report.texts",
}),
("program-engine", {
  "program": "program.causes program.codec program.model program.operators program.shape program.write_set",
  "engine": "engine.ahead engine.decide engine.drive engine.events engine.fold engine.machine engine.pool engine.ports engine.reach engine.released engine.replay engine.rules engine.state engine.values",
}),
("certificate", {
  "certificate": "certificate.check certificate.control certificate.data certificate.known certificate.labels certificate.paths certificate.places certificate.plans "
     "certificate.readers certificate.rounds certificate.steps certificate.touches certificate.uses",
  "certificate/making": "certificate.make>make_control certificate.make_data certificate.make_files",
}),
("journal", {
  "journal": "effects.journal>sqlite effects.pg_journal>postgres effects.pg_prepare>postgres_setup effects.schema>tables effects.row_shape effects.chain>hash_chain effects.counter "
     "effects.trust>user_key effects.private>private_file",
}),
("cache", {
  "cache": "effects.verdicts effects.contents>blob_ids effects.git_index",
}),
("workspace", {"workspace": "effects.failure effects.files effects.globs effects.preview effects.capability effects.merge_diff effects.outside_table effects.runs>run_folders effects.operator effects.ignored effects.records>fdc_records "
   "effects.secrets effects.secret_values effects.limits effects.allowances"}),
("sandbox", {
  "sandbox": "effects.sandbox effects.confine>sandbox_launcher effects.confine_answers>launcher_answers effects.seccomp effects.scratch effects.views effects.writable effects.own_access "
     "effects.python_process",
}),
("tools", {
  "tools": "effects.tools>runtime effects.context effects.marks>intent_files effects.needs effects.results effects.talk_tools "
     "effects.python_tools effects.shell effects.under_way effects.own_code effects.own_code_inside effects.simulate effects.approvals effects.openings effects.code_tools",
  "tools/files": "effects.file_tools effects.find_tools effects.git_tools effects.patches effects.documents "
     "effects.readable effects.text_reader",
  "tools/web": "effects.web_fetch>fetch effects.web_http>http effects.web_packages>packages effects.web_pages effects.web_search>search effects.web_tools",
  "tools/model": "effects.model>messages_api effects.model_prices>prices effects.prompt_tools",
}),
("exits", {".": "cli.exits"}),
("runs", {
  "runs/records": "effects.claims effects.answers effects.run_view effects.prune effects.spans effects.identity cli.asked>questions cli.closing>run_outcome cli.stored>open_journal cli.spanning>tracing",
  "tasks": "effects.activity_log knowledge.activity effects.run_log workflows.lifecycle knowledge.capabilities knowledge.unfilled knowledge.symbols "
     "knowledge.task_context knowledge.usage effects.probe",
  "runs/cost": "cli.money>pricing cli.worst>cost_bound cli.worst_files>created_files cli.models",
  "runs": "cli.observer cli.notices cli.certified cli.nested>nested_run effects.lgtm_pipeline>nested_plan cli.bench>tool_runtime cli.wiring>run_driver cli.interrupt cli.beginning>create_run cli.simulation cli.dryrun>dry_run effects.granted",
  "runs/workers": "effects.dispatch effects.liveness effects.pieces>fork_shards cli.fleet>worker_loop cli.worker_signals>signals cli.remote cli.forking>fork",
}),
("protocols", {
  "protocols": "protocols.budget protocols.build protocols.checks protocols.compile protocols.drift protocols.load protocols.regions protocols.render protocols.sanitise "
     "protocols.seal protocols.targets protocols.update protocols.markdown protocols.layout protocols.reader",
  "protocols/tool_docs": "protocols.injected protocols.tooldoc",
  "protocols/imports": "protocols.importer>agents_md protocols.recover",
  "protocols/compare": "protocols.diff protocols.graph protocols.graph_forms protocols.strength",
}),
("agent", {
  "agent": "workflows.agent_state>state workflows.agent_world>world workflows.coding workflows.master_control workflows.model_port workflows.orchestrator workflows.plan_source "
     "workflows.planning workflows.prompts workflows.provenance workflows.research_cycle workflows.retrospect workflows.stepping workflows.turn",
  "agent/host": "cli.agent_world>real_world cli.agent_model>model cli.agent_people>people effects.agent_files>files effects.agent_purse>budget effects.background workflows.agent_log",
  "agent/lessons": "knowledge.lessons knowledge.code_change knowledge.research_plan workflows.lessons>lessons_file workflows.self_correction "
     "workflows.code_suggester workflows.protocol_updater cli.lessons_wiring>host",
  "agent/audit": "workflows.audit workflows.audit_report>report workflows.registry",
}),
("server", {"server": "server.guard server.pages server.port server.web"}),
("cli-names", {"cli": "cli.run>run_plan"}),
("cli", {
  "cli": "cli.main cli.completion cli.hot>fast_path",
  "cli/shared": "cli.terminal cli.compiling cli.findings cli.progress cli.agent_progress cli.live cli.run_options cli.unread>parse_errors cli.lifecycle>lifecycle_options",
  "cli/plan": "cli.lint cli.lint_fix cli.lint_options cli.look_alikes cli.incremental cli.fmt cli.migrate cli.explain cli.rules cli.graph cli.analyze cli.validate cli.expand cli.certify cli.csdc cli.packs>assumption_packs",
  "cli/run": "cli.run_plan cli.ending>run_summary cli.resume cli.answer cli.runs cli.pruning>prune cli.show cli.report cli.cancel cli.fork cli.replay cli.verify cli.diff cli.worker cli.ui",
  "cli/project": "cli.agent cli.start cli.close cli.knowledge cli.probe cli.doctor cli.registry cli.lessons cli.trust cli.audit cli.cache",
  "cli/project/protocols": "cli.protocols>build cli.protocols_diff>diff cli.protocols_graph>graph cli.protocols_import>imports",
  "cli/scripts": "cli.code_suggester cli.knowledge_compiler cli.master_control cli.plan_manager cli.protocol_compiler cli.protocol_updater cli.self_correction",
  "doctor": "effects.doctor>machine effects.doctor_fleet>workers",
}),
("pack-research", {
  "fdc_packs/research": "packs.research.claims packs.research.queries effects.research_tools>tools effects.research_web>web effects.research_protocol effects.research_code>code cli.research_protocol>gather_script cli.research_planner>planner_script "
     "workflows.research_planner effects.cite effects.synthesise effects.knowledge_graph cli.research>command",
  "fdc_packs/research/explore": "packs.explore.findings packs.explore.synthesis packs.explore.tracks effects.explore_tools>tools effects.code_strategies>strategies cli.explore>command effects.code_outline effects.code_trees effects.code_search effects.rerank",
  "fdc_packs/research/retrieval": "effects.retrieve effects.library effects.narrow>prefilter effects.extract effects.question effects.cues>answer_cues effects.kinds effects.spelling "
     "effects.stems effects.words>stop_words",
  "fdc_packs/research/outline": "effects.outline effects.blocks effects.comments effects.notation effects.sentences",
}),
("pack-lgtm", {
  "fdc_packs/lgtm": "packs.lgtm.artifacts packs.lgtm.challenge packs.lgtm.document packs.lgtm.folder packs.lgtm.hypotheses packs.lgtm.knowledge packs.lgtm.names packs.lgtm.search "
     "packs.lgtm.synthesis packs.lgtm.worldview knowledge.statements",
  "fdc_packs/lgtm/tools": "effects.lgtm_tools>tools effects.lgtm_against>against effects.lgtm_changes>changes",
  "fdc_packs/lgtm/command": "cli.lgtm>command cli.lgtm_check>check",
}),
("pack-repair", {
  "fdc_packs/repair": "packs.repair.context packs.repair.embedded packs.repair.failure packs.repair.gates packs.repair.hypotheses packs.repair.localise packs.repair.loop "
     "packs.repair.trace",
  "fdc_packs/repair/mutate": "packs.repair.mutate>mutate packs.repair.mutate_donor>donor packs.repair.mutate_expr>expr packs.repair.mutate_gone>gone packs.repair.mutate_hints>hints "
     "packs.repair.mutate_scope>scope packs.repair.mutate_source>source packs.repair.mutate_stmt>stmt packs.repair.mutate_words>kinds",
  "fdc_packs/repair/patch": "packs.repair.region packs.repair.patch>patch packs.repair.patch_merge>merge packs.repair.patch_place>place packs.repair.patch_read>read packs.repair.patch_text>text",
  "fdc_packs/repair/tools": "effects.repair_copy effects.repair_patch effects.repair_probe effects.repair_probe_inside effects.repair_tools effects.spectrum effects.spectrum_recorder",
  "fdc_packs/repair/command": "cli.fix>command cli.fix_trace>trace cli.fix_watch>watch report.case_page",
}),
("pack-alphabet", {
  "fdc_packs/alphabet": "packs.alphabet.config packs.alphabet.layout packs.alphabet.model packs.alphabet.schemas packs.alphabet.state packs.alphabet.yamltext "
     "packs.alphabet.markers packs.alphabet.wordlists effects.alphabet_store>store effects.alphabet_tools>tools",
  "fdc_packs/alphabet/iteration": "packs.alphabet.archive packs.alphabet.scaffold packs.alphabet.audit packs.alphabet.closing packs.alphabet.context packs.alphabet.critic packs.alphabet.expansion "
     "packs.alphabet.integrate packs.alphabet.phases packs.alphabet.proposer packs.alphabet.reflection packs.alphabet.replies packs.alphabet.steps packs.alphabet.verdicts packs.alphabet.work",
  "fdc_packs/alphabet/drawing": "packs.alphabet.charts packs.alphabet.charts_page packs.alphabet.charts_svg packs.alphabet.comparisons packs.alphabet.drawn effects.raster",
  "fdc_packs/alphabet/lexicon": "effects.lexicon effects.lexicon_strategies>strategies effects.lexicon_tools>tools effects.wordnet",
  "fdc_packs/alphabet/calculus": "packs.alphabet.calculus.* packs.alphabet.metrics packs.alphabet.consistency",
  "fdc_packs/alphabet/command": "cli.alphabet>alphabet cli.alphabet_introspect>introspect cli.alphabet_report>report cli.alphabet_run>run cli.alphabet_schema>schema",
}),
]
# stay as they are: top-level modules and rooms that keep name and content
STAY = "cli.scripts.* cli.shared.* tasks.actions tasks.postmortem tools.model.embedder certificate.* workspace.confirmed_settings protocols.options text.file_name __init__ __main__ cachedir check durable lower resources testing migrate.*".split()
# __init__ files of rooms that go: a new room's own docstring; old ones are removed when their room is empty
INITS = {
  "analyses.__init__": "rules/__init__.py", "certificate.__init__": "certificate/__init__.py",
  "packs.alphabet.calculus.__init__": "fdc_packs/alphabet/calculus/__init__.py", "packs.alphabet.__init__": "fdc_packs/alphabet/__init__.py", "packs.lgtm.__init__": "fdc_packs/lgtm/__init__.py",
  "packs.repair.__init__": "fdc_packs/repair/__init__.py", "packs.research.__init__": "fdc_packs/research/__init__.py",
  "packs.explore.__init__": "fdc_packs/research/explore/__init__.py",
}
DROP = "text.__init__ machines.__init__ resolve.__init__ effects.__init__ knowledge.__init__ workflows.__init__ packs.__init__".split()
# data beside code: folder or file -> new place, moved in the step
DATA = {
  "runs": [("tooling/fdc_toolchain/tasks/templates/postmortem.md.j2", "tooling/fdc_toolchain/tasks/templates/postmortem.md.j2")],
  "agent": [("tooling/fdc_toolchain/agent/templates/coder.md.j2", "tooling/fdc_toolchain/agent/templates/coder.md.j2"), ("tooling/fdc_toolchain/agent/templates/coder_rules.md.j2", "tooling/fdc_toolchain/agent/templates/coder_rules.md.j2"), ("tooling/fdc_toolchain/agent/templates/planner.md.j2", "tooling/fdc_toolchain/agent/templates/planner.md.j2"),
    ("tooling/fdc_toolchain/agent/audit/templates/audit_report.md.j2", "tooling/fdc_toolchain/agent/audit/templates/audit_report.md.j2")],
  "pack-research": [("tooling/fdc_packs/research/templates/research_plan.md", "tooling/fdc_packs/research/templates/research_plan.md")],
}
PACKDATA = {
  "runs": [("tooling/fdc_toolchain/tasks/templates/postmortem.md.j2", "tooling/fdc_toolchain/tasks/templates/postmortem.md.j2")],
 "pack-research": [
   ("grammar/research_tools.json","tooling/fdc_packs/research/catalogue.json"),("grammar/explore_tools.json","tooling/fdc_packs/research/explore_catalogue.json"),
   ("tooling/research_fsm.json","tooling/fdc_packs/research/research_fsm.json"),("tooling/explore_fsm.json","tooling/fdc_packs/research/explore_fsm.json"),
   ("plans/library/deep_research.plan","tooling/fdc_packs/research/plans/deep_research.plan"),
   ("plans/library/explore*.plan","tooling/fdc_packs/research/plans/"),("plans/library/explore/","tooling/fdc_packs/research/prompts/explore/"),
   ("plans/library/research/","tooling/fdc_packs/research/prompts/research/")],
 "pack-lgtm": [
   ("grammar/lgtm_tools.json","tooling/fdc_packs/lgtm/catalogue.json"),("tooling/lgtm_fsm.json","tooling/fdc_packs/lgtm/lgtm_fsm.json"),
   ("tooling/lgtm_pipeline_fsm.json","tooling/fdc_packs/lgtm/lgtm_pipeline_fsm.json"),
   ("plans/library/lgtm*.plan","tooling/fdc_packs/lgtm/plans/"),("plans/library/lgtm/","tooling/fdc_packs/lgtm/prompts/lgtm/")],
 "pack-repair": [
   ("grammar/repair_tools.json","tooling/fdc_packs/repair/catalogue.json"),("tooling/repair_fsm.json","tooling/fdc_packs/repair/repair_fsm.json"),
   ("tooling/repair_plain_fsm.json","tooling/fdc_packs/repair/repair_plain_fsm.json"),("tooling/repair_write_fsm.json","tooling/fdc_packs/repair/repair_write_fsm.json"),
   ("plans/library/fix*.plan","tooling/fdc_packs/repair/plans/"),("plans/library/fix/","tooling/fdc_packs/repair/prompts/fix/"),
   ("tooling/fdc_toolchain/report/templates/case_page.css","tooling/fdc_packs/repair/command/case_page.css"),
   ("tooling/fdc_toolchain/report/templates/case_page.html.j2","tooling/fdc_packs/repair/command/case_page.html.j2")],
 "pack-alphabet": [
   ("grammar/alphabet_tools.json","tooling/fdc_packs/alphabet/catalogue.json"),("tooling/alphabet_fsm.json","tooling/fdc_packs/alphabet/alphabet_fsm.json"),
   ("plans/library/alphabet*.plan","tooling/fdc_packs/alphabet/plans/"),("plans/library/alphabet/","tooling/fdc_packs/alphabet/data/")],
}

# Docstrings of new folders (anything not here is an error)
ROOMS = {
  "text": "Small tools for text: globs, JSON with places, merge sections. Imports nothing of fdc.",
  "diagnostics": "Source texts, places in them, findings and their codes.",
  "automata": "Automata: read, checked and normalised.",
  "linking": "Names, calls, tools and settings of plans, looked up.",
  "linking/project": "What a workspace is: its root, settings, files, and what is protected in it.",
  "rules": "The lint rules, in execution order. Order does not affect results.",
  "rules/solver": "The analyses that lint rules ask.", "rules/solver/files": "What steps do to files.",
  "rules/solver/flow": "Information flow: which text can reach which step.",
  "rules/protocol_rules": "Rules of protocols, proved over all runs.",
  "report/terminal": "The report for people.", "report/drawing": "Drawings of automata and plans.",
  "certificate/making": "Makes certificates. Nothing here is trusted.",
  "journal": "The record of runs, in SQLite or PostgreSQL.", "cache": "Verdicts kept under the content that they were found in.",
  "workspace": "Files of a workspace, and what may touch them.", "sandbox": "Starts commands fenced in.",
  "tools": "The tool runtime, and the core tools.", "tools/files": "Tools that read, write and find files.", "tools/web": "Tools that reach the web.",
  "tools/model": "Language models, and tools that are prompts.",
  "runs": "The run service.", "runs/records": "What is kept of runs.", "runs/cost": "What runs cost at worst.",
  "runs/workers": "Runs on many machines.",
  "protocols/imports": "AGENTS.md files taken apart into sources.", "protocols/compare": "Protocols compared and drawn.", "protocols/tool_docs": "Documentation of tools in protocols.",
  "agent": "The master controller.", "agent/host": "The controller's real world.", "agent/lessons": "Lessons of post-mortems.", "agent/audit": "The audit of a workspace.", "tasks": "Tasks: the activity log, and how they begin and end.",
  "cli/shared": "What several commands share.", "cli/plan": "Commands about plans.", "cli/run": "Commands about runs.", "cli/project": "Commands about workspaces.",
  "cli/project/protocols": "`fdc protocols`.", "cli/scripts": "The scripts that the seeds name.", "doctor": "What of this machine fdc can use.",
}
# Exact edits in a step: (path before the step, old text, new text); each must be found exactly once.
T = "tooling/fdc_toolchain/"
EDITS = {
  "automata": [("tests/repo/test_arrows.py", '"from .. import machines\\n", "imports sideways: machines"', '"from .. import automata\\n", "imports sideways: automata"')],
  "report": [("tests/unit/test_report.py", 'from fdc_toolchain.report import concise, human\\n', 'from fdc_toolchain.report import concise; from fdc_toolchain.report.terminal import human\\n'), (T+"cli/plan/graph.py", 'f"..report.draw_{form}"', 'f"..report.drawing.{form}"')],
  "runs": [("tests/unit/test_lessons.py", '"workflows" / "templates"', '"tasks" / "templates"')],
  "pack-research": [(T+"tools/own_code.py", 'target.startswith("fdc_toolchain.packs.")', 'target.startswith(("fdc_toolchain.packs.", "fdc_packs."))'), ("pyproject.toml", 'only-include = ["tooling/fdc_toolchain", ', 'only-include = ["tooling/fdc_toolchain", "tooling/fdc_packs", '),
     ("pyproject.toml", '"tooling/fdc_toolchain" = "fdc_toolchain"', '"tooling/fdc_toolchain" = "fdc_toolchain"\n"tooling/fdc_packs" = "fdc_packs"'),
     ("pyproject.toml", 'files = ["tooling/fdc_toolchain"]', 'files = ["tooling/fdc_toolchain", "tooling/fdc_packs"]'),
     ("tests/repo/test_layout.py", 'assert {"fdc_toolchain"} ==', 'assert {"fdc_packs", "fdc_toolchain"} =='),
     ("tests/repo/test_layout.py", 'name for name in inside - {"fdc_toolchain"} if', 'name for name in inside - {"fdc_packs", "fdc_toolchain"} if')],
  "rules": [("benchmarks/mutants.py", '"rules/*.py"', '"rules/**/*.py"')],
  "sandbox": [(T+"sandbox/sandbox_launcher.py", '"confine_answers.py"', '"launcher_answers.py"'), (T+"sandbox/sandbox.py", '"confine.py"', '"sandbox_launcher.py"')],
}
FILE_OK = {"resolve.seen", "effects.python_process", "effects.own_code", "effects.readable", "workflows.prompts", "workflows.lifecycle", "workflows.audit_report", "workflows.research_planner", "cli.hot", "effects.repair_probe", "effects.repair_probe_inside", "effects.spectrum"}
# A room that is gone under its old name -> what prose calls it
ROOMNAMES = {"machines": "automata", "resolve": "linking", "analyses": "rules", "workflows": "agent"}
# Floors of tests/repo/test_arrows.py, old rooms and new: those that exist after a step are written into the table.
FLOORS = {
  "diagnostics": 0, "resources": 0, "cachedir": 0, "durable": 0, "certificate": 0, "exits": 0,
  "text": 1,
  "syntax": 2, "machines": 2, "automata": 2, "program": 2,
  "resolve": 3, "linking": 3, "engine": 3, "report": 3,
  "analyses": 4, "rules": 4, "lower": 4, "migrate": 4,
  "check": 5, "protocols": 5, "knowledge": 5,
  "journal": 6, "workspace": 7, "cache": 8,
  "sandbox": 9, "tools": 10, "tasks": 11, "runs": 12,
  "agent": 13, "doctor": 13,
  "effects": 14, "packs": 14, "workflows": 14, "testing": 15, "server": 16, "cli": 17, "__main__": 18,
}
