#!/bin/bash
# Makes what a release left: a workspace as its users have it, and the user's state folder, as one archive.
#     git archive COMMIT | tar x -C OLD              # 0.1.0.tar.gz is of the commit 4925dcf, the last of 0.1.0
#     tests/golden/left/make.sh OLD PYTHON 0.1.0.tar.gz
# PYTHON has what that fdc needs (`pip install OLD` in an environment of its own, or one of today where that is enough).
set -eu

old=$(realpath "$1") python=$(realpath -s "$2") archive=$(realpath -m "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME="$work/state" XDG_CACHE_HOME="$work/cache" FDC_CACHE_DIR="$work/cache" HOME="$work" NO_COLOR=1 TERM=dumb
unset PYTHONPATH PYTHONHOME FDC_MODEL FDC_DATABASE ANTHROPIC_API_KEY ANTHROPIC_BASE_URL || true
mkdir -p "$work/workspace/knowledge_core" "$work/workspace/plans" "$work/workspace/protocols" "$work/workspace/docs" "$XDG_STATE_HOME"
cd "$work/workspace"
fdc() { "$python" "$old/tooling/fdc_cli.py" "$@"; }
ends() { # CODE COMMAND...: the command ends with this code
    local want=$1 code=0
    shift
    "$@" > "$work/said" 2>&1 || code=$?
    if [ "$code" != "$want" ]; then echo "make.sh: \`$*\` ended with $code:" >&2; cat "$work/said" >&2; exit 1; fi
}
plan() { # NAME, the steps on the standard input
    { echo "set_plan ${1%.plan}"; echo 'plan_step_complete planned'; cat; echo 'close_task'; echo 'submit'; } > "plans/$1"
}

echo 'A house of tea.' > README.md
echo 1.0.0 > VERSION
printf 'green\nblack\n' > docs/teas.md
cat > fdc.toml <<'TOML'
catalogues = ["tea_tools.json"]
ignore = ["FDC414", "FDC451"]
exclude = ["plans/draft-*.plan"]
untrusted = ["inbox/**"]
strict = false
test-command = "make test"
research-seconds = 60
TOML
cat > tea_tools.json <<'JSON'
{"format": 1, "name": "tea", "tools": {"brew": {
  "summary": "brew tea", "action": "step_op", "effect": "once", "trust": "trusted",
  "parameters": [{"name": "kind", "kind": "word"}], "result": "text", "run": {"python": "tea:brew"}}}}
JSON
printf 'import time\n\n\ndef brew(kind):\n    if kind == "slow":\n        time.sleep(120)\n    return f"a cup of {kind}"\n' > tea.py

plan finished.plan <<'PLAN'
overwrite_file_with_block order.txt
    one pot
order <- read_file order.txt
message_user {order}
PLAN
plan waiting.plan <<'PLAN'
overwrite_file_with_block order.txt
    one pot
answer <- request_user_input Sugar?
overwrite_file_with_block order.txt
    one pot, sugar: {answer}
PLAN
plan approval.plan <<'PLAN'
record_user_approval_for_plan Brew it?
overwrite_file_with_block brewed.txt
    yes
PLAN
plan stopped.plan <<'PLAN'
teas <- read_file docs/teas.md
require {teas} == "coffee" else "there is no coffee"
PLAN
plan interrupted.plan <<'PLAN'
overwrite_file_with_block order.txt
    one pot
cup <- run_in_bash_session sleep 120
message_user done
PLAN
plan silenced.plan <<'PLAN'
run_in_bash_session make teapot
# fdc: ignore[FDC414] make has made it
read_file teapot.txt
PLAN
plan own.plan <<'PLAN'
overwrite_file_with_block order.txt
    one pot
answer <- request_user_input Sugar?
brew green
PLAN
plan sub.plan <<'PLAN'
call_plan teas
PLAN
echo 'read_file docs/teas.md' > plans/teas.plan
echo 'no_such_step' > plans/draft-1.plan
"$python" "$old/tooling/plan_manager.py" register teas plans/teas.plan > /dev/null

cat > protocols/10_tea.protocol.json <<'JSON'
{"protocol_id": "tea", "description": "How tea is made.", "rules": [
  {"rule_id": "warm-pot", "description": "The pot is warm.", "enforcement": "advice"}],
 "associated_tools": ["read_file"]}
JSON
printf '# Tea\n\nThe pot is warm.\n' > protocols/10_tea.protocol.md
ends 0 fdc protocols build

echo '{"model_name": "tea", "knowledge_cutoff": "2025-01"}' > knowledge_core/agent_meta.json
ends 0 fdc start --task-id TEA-1 --network off
ends 0 fdc run plans/finished.plan
ends 0 fdc close --task-id TEA-1
ends 0 fdc start --task-id TEA-2 --network off

mv fdc.toml later.toml; grep -v '^ignore' later.toml > fdc.toml
ends 0 fdc run plans/finished.plan
ends 1 fdc run plans/waiting.plan
ends 1 fdc run plans/approval.plan
ends 1 fdc run plans/stopped.plan
ends 1 fdc run plans/own.plan
ends 0 fdc run plans/sub.plan
ends 1 fdc run plans/waiting.plan
ends 0 fdc cancel last
ends 0 fdc fork "$(fdc runs | awk '/finished.plan/ {print $1; exit}')@main/5"
for end in TERM KILL; do
    "$python" "$old/tooling/fdc_cli.py" run plans/interrupted.plan --allow-unsandboxed > "$work/said" 2>&1 &
    until fdc runs --status running | grep -q ' 3 .*interrupted.plan'; do sleep 0.1; done
    sleep 0.5
    kill -$end $!
    wait $! || true
done
mv later.toml fdc.toml
ends 0 fdc lint plans
rm -rf __pycache__
cd "$work"
tar --sort=name --owner=0 --group=0 --numeric-owner -czf "$archive" workspace state
