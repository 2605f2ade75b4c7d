#!/usr/bin/env bash
# The adapter in C answers as benchmarks/peers/README.md says, whatever peers it
# was built with; the runner and the reports of ./bench are tried by field/.
set -euo pipefail
peers=$(mktemp)
trap 'rm -f "$peers"' EXIT

fail() {
    echo "field_test: $*" >&2
    exit 1
}

expect() {
    [ "$1" = "$2" ] || fail "'$1', not '$2'"
}

# The dice are known: other languages throw the same.
expect "$("$BENCH_FIELD" dice 20 uniform 7)" "delays 1 26252 45316 28294 27563 42717 17040 38561
order 19 4 12 1 11 2 6 5
sum 8072142"
expect "$("$BENCH_FIELD" dice 20 log-uniform 7 | tail -n 1)" 'sum 146302604'

# refused STATUS WORD...: it ends so, and says something.
refused() {
    local status=0 said
    said=$("$BENCH_FIELD" "${@:2}" 2>&1 >/dev/null) || status=$?
    [ "$status" = "$1" ] || fail "$* ends with $status"
    [ -n "$said" ] || fail "$* says nothing"
}
refused 2
refused 2 dice 0 uniform 1
refused 2 dice 10 often 1
refused 2 run wheel arm 10 uniform
refused 2 run wheel arm -1 uniform 1
refused 1 run nobody arm 10 uniform 1
refused 1 run wheel real-late 10 uniform 1

# Every peer does what it says it can, but for what takes event loops seconds; all timers fire, or it would fail.
"$BENCH_FIELD" describe | python3 -c '
import json, sys
for peer in json.load(sys.stdin)["peers"]:
    assert peer["title"] and "version" in peer and "settings" in peer, peer
    for workload in peer["can"]:
        print(peer["name"], workload)' >"$peers"
slow='glib (fire-jumps|worst-step)$| d2$| real-'
slow+='|^(glib|lib.*) (empty|touch|d1|d3|fire-steps)$'
while read -r peer workload; do
    answer=$("$BENCH_FIELD" run "$peer" "$workload" 1000 uniform 3) ||
        fail "$peer cannot do $workload"
    if grep -qvE '^(ns|bytes) [0-9.e+-]+$' <<<"$answer"; then
        fail "$peer $workload: $answer"
    fi
done < <(grep -vE "$slow" "$peers")
grep -q '^service real-late$' "$peers" || fail "the service cannot be late"
"$BENCH_FIELD" run service real-late 300 uniform 3 | grep -qx 'early 0' ||
    fail "the service is early"
