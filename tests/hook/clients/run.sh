#!/usr/bin/env bash
# Live clients at the hook: tools that act on the agent alone pass and start no process, what asks does nothing, stored
# output is read back.
#   CLIENTS=DIR tests/hook/clients/run.sh [SCENARIO...]
# CLIENTS: the directory with `run`, which starts a client with a scripted model on loopback. CLOCHE_BIN: of cloche
# (default build/bin). Needs strace. Each exec of the client is compared with a session without calls.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); bin=$(realpath "${CLOCHE_BIN:-build/bin}"); work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cp -r "${CLIENTS:?}" "$work/clients"; chmod -R u+w "$work/clients"
# A model knows its plan file from the client's words.
python3 - "$work/clients/fakemodel.py" <<'P'
import sys
path = sys.argv[1]; text = open(path).read()
if "PLANFILE" not in text:
    text = text.replace('            c = m["content"]\n', '            c = m["content"]; facts.update({"PLANFILE": f for f in re.findall(r"plan at (\\S+?\\.md)", json.dumps(c))})\n', 1)
    open(path, "w").write(text)
P
mkdir "$work/bin"; printf '#!/bin/sh\nexec %s/cloche "$@"\n' "$bin" >"$work/bin/cloche"
for client in claude codex; do
  printf '#!/bin/sh\nPATH=${PATH#*:}; exec strace -ff -qq -s 300 -e trace=execve -e signal=none -o "$HOME/out/execs" %s "$@"\n' "$client" >"$work/bin/$client"
done
chmod +x "$work/bin/"*
failed=0; say() { echo "$1: $2"; [ "$1" = ok ] || failed=1; }
# What was executed, without process numbers and without the hook's own: the shell that the client starts for it, and Cloche.
execs() { grep -h ' = 0$' "$1"/out/execs.* | sed 's/, 0x[0-9a-f]* .*//' | grep -v cloche | sed -E 's,client-home\.[A-Za-z0-9]*,HOME,g; s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/g; s/[0-9]{6,}/N/g' | sort; }
live() {  # KIND SCENARIO FLAGS...: leaves $out, $home
  local kind=$1 scenario=$2; shift 2
  out=$(PREPARE=$here/prepare KEEP=1 WIDTH=700 LIMIT=${LIMIT:-150} CLOCHE_BIN=$work/bin "$work/clients/run" "$kind" "$here/$scenario.json" "$@" 2>&1) || true
  home=$(sed -n 's/^kept: //p' <<<"$out"); [ -z "${SHOW:-}" ] || echo "$out"
}
has() { if grep -q -- "$2" <<<"$out"; then say ok "$1"; else say FAILED "$1: no '$2'"; fi; }
hasnt() { if grep -q -- "$2" <<<"$out"; then say FAILED "$1: '$2'"; else say ok "$1"; fi; }
same_execs() {
  if ! grep -q "cloche.* hook" "$home"/out/execs.*; then say FAILED "$1: the hook was not seen"; fi
  local more; more=$(comm -13 "$work/baseline" <(execs "$home"))
  if [ -z "$more" ]; then say ok "$1: no process was started"; else say FAILED "$1: started: $more"; fi
}
nothing_ran() { if [ -e "$home/ran" ]; then say FAILED "$1: a definition's command ran"; else say ok "$1: no definition's command ran"; fi; }
baseline() { live "$@"; execs "$home" >"$work/baseline"; rm -rf "$home"; }

for scenario in "${@:-stored_output agent_only asks plan plan_at_terminal codex}"; do for one in $scenario; do case $one in
  stored_output) live claude-hook $one; has $one "19993"; has $one "from-the-background"; has $one "<status>running"; has $one "Successfully stopped task"; has $one "No such file or directory"; has $one "is not in the workspace" ;;
  agent_only) baseline claude-hook nothing; live claude-hook $one; hasnt $one "Cloche:"; has $one "Task #1 created"; has $one "Launching skill: review"; same_execs $one; nothing_ran $one ;;
  asks) baseline claude-hook nothing; live claude-hook $one; hasnt $one "Launching skill"; same_execs $one; nothing_ran $one ;;
  plan) baseline claude-hook nothing --permission-mode plan; live claude-hook $one --permission-mode plan; has $one "File created successfully"; has $one "has been updated"; has $one "the sandbox profile writes nothing"; has $one "steps"; same_execs $one ;;
  plan_at_terminal) sed -i 's/"claude; sleep 600"/"claude --permission-mode plan; sleep 600"/' "$work/clients/run"
    KEYS=$'Enter\nEnter\nEnter' live claude-tui $one; hasnt $one "Cloche:"; has $one "questions have been answered"; has $one "approved your plan" ;;
  codex) baseline codex-hook nothing -s danger-full-access; live codex-hook $one -s danger-full-access; hasnt $one "agent_id"; has $one '"goal"'; has $one '"objective"'; has $one "refused by path"; same_execs $one ;;
  *) say FAILED "there is no scenario $one" ;;
esac; [ -z "${home:-}" ] || rm -rf "$home"; done; done
exit $failed
