#!/usr/bin/env bash
# What scripts/results reads in the logs of ./check is what they say, a log that
# lacks a figure is refused, and docs/internals/testing.md is what it would write.
#
# results/STEP.log is a shortened log of each step, results/STEP.json what must
# be read in it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"

fail() {
    echo "results_test: $*" >&2
    exit 1
}

# record STEP LOG: into a directory of our own, as of a day and a commit.
record() {
    scripts/results --results "$work/results" record "$1" "$2" 1234 \
        --date 2001-02-03 --commit c0ffee0
}

# refused STEP LOG: exit status 1, what is missing, and nothing written.
refused() {
    cp "$work/results/$1.json" "$work/before.json"
    status=0
    record "$1" "$2" 2>"$work/said" || status=$?
    [ $status -eq 1 ] || fail "$1: status $status for a log that lacks a figure"
    grep -q "^results: $1: .* lacks: ." "$work/said" ||
        fail "$1: did not say what is missing: $(cat "$work/said")"
    cmp "$work/before.json" "$work/results/$1.json" ||
        fail "$1: was written in spite of what is missing"
}

steps=0
for log in tests/packaging/results/*.log; do
    step=$(basename "$log" .log)
    record "$step" "$log" || fail "$step: its log was refused"
    python3 - "$work/results/$step.json" "tests/packaging/results/$step.json" <<'PYTHON' ||
import json, sys
result, expected = (json.load(open(name)) for name in sys.argv[1:])
said = {key: result[key] for key in ("command", "date", "commit", "seconds")}
assert said == {"command": "./check " + result["step"], "date": "2001-02-03",
                "commit": "c0ffee0", "seconds": 1234}, said
assert result["machine"]["processors"] > 0
assert result["machine"]["cpu"] and result["compilers"]["gcc"]
if result["figures"] != expected:
    sys.exit(f"read: {json.dumps(result['figures'], indent=2)}")
PYTHON
        fail "$step: other figures than those of tests/packaging/results/$step.json"
    : >"$work/empty.log"
    refused "$step" "$work/empty.log"
    steps=$((steps + 1))
done
[ $steps -ge 15 ] || fail "only $steps steps have a sample"

# Each of these lines is needed: STEP, and what sed does to the log.
while IFS='|' read -r step edit; do
    sed -E "$edit" "tests/packaging/results/$step.log" >"$work/$step.log"
    cmp -s "tests/packaging/results/$step.log" "$work/$step.log" &&
        fail "$step: nothing to edit: $edit"
    refused "$step" "$work/$step.log"
done <<'EDITS'
release|/tests failed out of/d
release|/^pool-oom: all laws held/d
release|/^model --engine wheel/d
release|s/(Testing: )exhaustive_sweep$/\1something/
release|s/ schedules / /
release|s/13$/14/
asan|s/-fsanitize//
asan|s/, 0 tests failed/, 1 tests failed/
clang|/^pool-tiny: all laws held/d
tsan|s/, 0 tests failed/, 1 tests failed/
coverage|/^lines:/d
coverage|/^functions:/d
coverage|/^branches:/d
instructions|s/^pool.*/note: no baseline/
tidy|/Build files/d
tidy|$s/.*/a.c:1:2: error: it is so [bugprone-x,-warnings-as-errors]/
model-long|/^pool: all laws held/d
model-long|/^model_tiny --engine pool-tiny-oom/d
model-long|s/ stops,//
model-long|s/ years of 1 ms ticks//
exhaustive-long|$d
exhaustive-long|0,/closed/s//NOT CLOSED: too many states/
exhaustive-long|s/ transitions,//
exhaustive-long|1,/all laws held/{/timers:/d}
exhaustive-long|$a 2r 1 timers: and no more
schedules|$d
schedules|1d
schedules|1s/fine.*/FAILED/
soak|/^soak: fine/d
soak|/^operations/d
soak|/^  ms altogether/d
soak|/^  at the end/d
soak|1d
churn|s/ chunks swept//
fuzz|0,/^Done/s///
fuzz|/Seed: 2270819415/d
mutation|/^all /d
mutation|/did not compile/d
mutation|/not listed/d
qemu|s/passed/failed/
qemu|/^s390x/d
qemu|/^note/d
EDITS

# A run of scenarios that says its options: they are kept.
sed -e '1i build/release/tests/service_races --bound 3 --first 100' \
    -e '6i service_races --random 20 --seed 77' \
    -e '11i purgatory_races --bound 3 --first 100' \
    -e '16i purgatory_races --random 20 --seed 78' \
    tests/packaging/results/schedules.log >"$work/schedules.log"
record schedules "$work/schedules.log"
page=$work/page.md
cp docs/internals/testing.md "$page"
scripts/results --results "$work/results" write --page "$page"
for words in 'with at most 3 preemptions' '(seed 77)' '(seed 78)' \
    'all of 2 scenarios, the first 100 of the other 3'; do
    grep -qF "$words" "$page" || fail "the page lacks: $words"
done

# The page: the results, what was not run, and when it is out of date.
grep -q '^| ../check tidy. .* | c0ffee0, 2001-02-03 | 1,234 |$' "$page" ||
    fail "the page lacks the result of tidy"
scripts/results --results "$work/results" check --page "$page" ||
    fail "what was just written is not up to date"
rm "$work/results/tidy.json"
scripts/results --results "$work/results" check --page "$page" >"$work/diff" &&
    fail "a page that is out of date is accepted"
grep -q '^+| ../check tidy. .* | not run | | |$' "$work/diff" ||
    fail "a step without a result is not said to be not run"

# Steps without figures are passed over; others must be known.
record format "$work/empty.log"
[ ! -e "$work/results/format.json" ] || fail "format has no figures"
record no-such-step "$work/empty.log" 2>/dev/null && fail "an unknown step"

scripts/results check || fail "run scripts/results write, and commit docs"
echo "$steps steps"
