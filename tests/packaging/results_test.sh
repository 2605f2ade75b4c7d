#!/usr/bin/env bash
# Tests the way of a figure from a program through ./check --record to the table of
# docs/internals/testing.md, on a copy of the scripts in a repository of its own.
# SOURCE is the tree, BINARY its build.
set -euo pipefail
: "${SOURCE:?}" "${BINARY:?}"
command -v git >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree log=$work/log
page=docs/internals/testing.md results=docs/reports/results
mkdir -p "$tree/docs/internals" "$tree/$results" "$work/bin"
cp -R "$SOURCE/scripts" "$SOURCE/check" "$tree"
# Without its links: the pages that they lead to are not copied.
sed 's/](\([^)]*\))/]/g' "$SOURCE/$page" >"$tree/$page"
export GIT_CEILING_DIRECTORIES=$work GIT_CONFIG_GLOBAL=/dev/null
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
cd "$tree"
git init -q
git add .
git -c user.name=test -c user.email=test commit -qm 'copy the scripts'

fail() {
    echo "results_test: $*" >&2
    exit 1
}

# ends STATUS PATTERN COMMAND...: the command ends with STATUS, and a line of its
# output matches PATTERN.
ends() {
    local status=0
    "${@:3}" >"$work/said" 2>&1 || status=$?
    [ "$status" = "$1" ] || fail "${*:3}: status $status: $(cat "$work/said")"
    grep -qE -e "$2" "$work/said" || fail "${*:3}: says: $(cat "$work/said")"
}

# has_row ROW: the page has this line.
has_row() { grep -qxF -e "$1" $page || fail "no row '$1' in: $(rows)"; }
rows() { sed -n '/^| `.\/check/p' $page; }

record_and_write() {
    scripts/results record "$1" "$log" 1234 && scripts/results write
}

every_program_prints_figures_that_are_recorded() {
    local of
    {
        "$BINARY/tests/pool_churn" --ops 1000000
        "$BINARY/tests/model" --ops 1000 --seed 18446744073709551615
        "$BINARY/tests/model_tiny" --engine pool-tiny-oom --ops 1000
        "$BINARY/tests/exhaustive" --geometry 2r- --timers 1
        "$BINARY/tests/exhaustive_sweep" --geometry 2r-fd2 --depth 3
        "$BINARY/tests/service_races" --only cancel_against_cancel
        "$BINARY/tests/service_races" --only cancel_against_cancel --first 1
        "$BINARY/tests/purgatory_races" --random 2 --seed 7
        "$BINARY/tests/soak" --seconds 1
    } >"$log"
    record_and_write release
    for of in pool_churn 'model of wheel' 'model of pool-tiny-oom' exhaustive \
        exhaustive_sweep service_races purgatory_races soak; do
        grep -qE "^\| .\./check release. .*[ >]$of: [0-9,]+ " $page ||
            fail "no figures of $of in: $(rows)"
    done
    ends 0 'seed 18446744073709551615' rows
    ends 0 '1 scenarios, 2 preemptions at most, .*, 1 scenarios searched comp' rows
    ends 0 '0 scenarios searched completely, 1 schedules in each of the' rows
    ends 0 '224 random schedules, .*, seed 7<br>' rows
    ends 0 '0 closed toys, 1 toys bounded by depth, 3 operations deep at' rows
}

a_table_row_shows_all_figures() {
    cat >"$log" <<'TEXT'
building, which is no figure
figures: {"of": "pool", "operations": 200000000, "virtual years": 1.24e13, "seed": "12345"}
 figures: {"this line": "starts with a space"}
figures: {"percent": 95.8, "wake-ups": 0}
TEXT
    touch -d 2001-02-03T12:00Z "$log"
    record_and_write tidy
    has_row "| \`./check tidy\` | pool: 200,000,000 operations, 1.2 x 10^13 virtual\
 years, seed 12345<br>95.8 percent, 0 wake-ups | $(git describe --always),\
 2001-02-03 | 1,234 |"
    has_row "| \`./check soak\` | not run | | |"
    python3 - $results/tidy.json <<'PYTHON' || fail "tidy.json: $(cat $results/tidy.json)"
import json, sys
result = json.load(open(sys.argv[1]))
assert result["step"] == "tidy" and result["command"] == "./check tidy"
assert result["seconds"] == 1234
assert result["machine"]["processors"] > 0 and result["machine"]["cpu"]
assert result["compilers"]["gcc"][0].isdigit()
assert result["figures"][0]["seed"] == "12345"
assert result["figures"][1] == {"percent": 95.8, "wake-ups": 0}
PYTHON
}

figures_that_cannot_be_read_are_rejected() {
    local line
    cp $results/tidy.json $page "$work"
    echo 'all is fine' >"$log"
    ends 1 "^results: .*: no line starts with 'figures: '" \
        scripts/results record tidy "$log" 1
    while IFS= read -r line; do
        printf 'figures: {"files": 3}\n%s\n' "$line" >"$log"
        ends 1 '^results: cannot read figures: ' scripts/results record tidy "$log" 1
    done <<'LINES'
figures: {"files": 3
figures: {"files": }
figures: {'files': 3}
figures: files
figures: [3]
figures: 3
figures: {}
figures: {"of": "pool"}
figures: {"files": [3]}
figures: {"files": null}
figures: {"files": NaN}
figures: {"files": 1e999}
LINES
    ends 2 "invalid choice: 'no-such-step'" scripts/results record no-such-step "$log" 1
    cmp "$work/tidy.json" $results/tidy.json || fail "rejected figures were recorded"
    cmp "$work/testing.md" $page || fail "rejected figures changed the page"
}

a_page_that_is_not_as_recorded_is_found() {
    scripts/results check || fail "the page that was just written is out of date"
    cp $page "$work"
    sed -i 's/95.8 percent/95.9 percent/' $page
    ends 1 '^\+\| .*95.8 percent' scripts/results check
    cp "$work/testing.md" $page
    mv $results/tidy.json "$work"
    ends 1 '^\+\| .\./check tidy. \| not run ' scripts/results check
    mv "$work/tidy.json" $results
    sed -i '/^<!-- End of what/d' $page
    ends 1 '^results: .*testing.md lacks the line <!-- End' scripts/results write
    cp "$work/testing.md" $page
}

a_changed_file_makes_the_commit_dirty() {
    local clean
    clean="\"commit\": \"$(git describe --always)"
    echo 'figures: {"files": 3}' >"$log"
    git diff --quiet && fail "nothing was written until here"
    record_and_write tidy
    ends 0 "$clean\"" cat $results/tidy.json
    echo >>scripts/hygiene
    record_and_write tidy
    ends 0 "$clean-dirty\"" cat $results/tidy.json
    git checkout -q scripts/hygiene
}

# stub NAME < SCRIPT: a command that ./check finds instead of the real one.
stub() {
    { echo '#!/bin/sh' && cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

check_records_what_a_step_prints() {
    local PATH=$work/bin:$PATH
    stub dpkg-query <<<'echo installed'
    stub cmake </dev/null
    mkdir -p build/release/tests

    echo 'echo "figures: {\"wake-ups\": 71}"' >build/release/tests/pool_churn
    chmod +x build/release/tests/pool_churn
    ends 0 '^1 passed, 0 failed' ./check churn
    [ ! -e $results/churn.json ] || fail "./check records without --record"
    ends 0 '^1 passed, 0 failed' ./check --record churn
    ends 0 '^\| .\./check churn. \| 71 wake-ups \|' rows
    echo 'echo "wake-ups: 72"' >build/release/tests/pool_churn
    ends 1 "^results: .*churn.log: no line starts with" ./check --record churn
    ends 0 '^\| .\./check churn. \| 71 wake-ups \|' rows
    ends 0 '^1 passed, 0 failed' ./check --record hygiene
    [ ! -e $results/hygiene.json ] || fail "hygiene has no figures"

}

# The real ctest runs tests of every kind that ./check counts: by exit status, by a
# pattern in the output, skipped.
check_counts_the_tests_that_pass() {
    local PATH=$work/bin:$PATH
    rm -rf build/tsan
    mkdir -p build/tsan
    cat >build/tsan/CTestTestfile.cmake <<'CMAKE'
add_test(soak printf "[  PASSED  ] 30 test(s).\\nfigures: {\"of\": \"soak\", \"pauses\": 3}\\n")
add_test(model printf "[  PASSED  ] 5 test(s).\\nfigures: {\"of\": \"model\", \"cases\": 4}\\n")
add_test(example echo "all is fine")
add_test(another_example echo "all is fine")
add_test(skipped sh -c "exit 77")
set_tests_properties(example another_example PROPERTIES PASS_REGULAR_EXPRESSION "is fine")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(soak model example another_example skipped
  PROPERTIES LABELS threads)
CMAKE
    ends 0 '^5 passed, 0 failed' ./check --record tsan
    ends 0 '^\| .\./check tsan. \| 4 tests passed, 35 named situations<br>model: 4 cases<br>soak: 3 pauses \|' \
        rows
    echo 'add_test(broken false)' >>build/tsan/CTestTestfile.cmake
    echo 'set_tests_properties(broken PROPERTIES LABELS threads)' >>build/tsan/CTestTestfile.cmake
    ends 1 '^5 passed, 1 failed' ./check --record tsan
}

every_program_prints_figures_that_are_recorded
a_table_row_shows_all_figures
figures_that_cannot_be_read_are_rejected
a_page_that_is_not_as_recorded_is_found
a_changed_file_makes_the_commit_dirty
check_records_what_a_step_prints
check_counts_the_tests_that_pass

"$SOURCE/scripts/results" check ||
    fail "run scripts/results write, and commit docs"
