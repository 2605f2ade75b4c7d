#!/usr/bin/env bash
# What the tickwheel command prints, and how it refuses wrong arguments.
#
# usage: commands_test.sh TICKWHEEL
set -euo pipefail
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

# way WHAT "ARGUMENTS" LINE...: `tickwheel where` prints exactly these lines.
way() {
    local what=$1 arguments want got
    read -ra arguments <<<"$2"
    shift 2
    want=$(printf '%s\n' "$@")
    got=$("$tool" where "${arguments[@]}") || fail "$what: exit code $?"
    [ "$got" = "$want" ] ||
        fail "$what: where ${arguments[*]} printed"$'\n'"$got"$'\n'"not"$'\n'"$want"
}

# refused ARGUMENT...: exit code 2, one line on stderr, nothing on stdout.
refused() {
    local code=0
    "$tool" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code, not 2: $*"
    [ ! -s "$work/out" ] || fail "output in spite of an error: $*"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line of error: $*"
    grep -q '^tickwheel: .' "$work/err" || fail "no 'tickwheel: ': $*"
}

# says WORDS: that line had these words in it.
says() {
    grep -qF -- "$1" "$work/err" || fail "not '$1': $(cat "$work/err")"
}

the_way_of_a_deadline() {
    way X1 '--geometry 20 0 445' \
        'level 3, slot 1, until 400' 'level 2, slot 2, until 440' \
        'level 1, slot 5, until 445' 'due at 445'
    way X3 '--geometry 20 0 2' 'level 1, slot 2, until 2' 'due at 2'
    way X5 '--geometry 20 2 21' 'level 1, slot 1, until 21' 'due at 21'
    way X6 '--geometry 20 2 22' \
        'level 2, slot 1, until 20' 'level 1, slot 2, until 22' 'due at 22'
    way X8 '--geometry 20 2 352' \
        'level 2, slot 17, until 340' 'level 1, slot 12, until 352' 'due at 352'
    way X11 '--geometry 20 2 400' 'level 3, slot 1, until 400' 'due at 400'
    way X12 '--geometry 20 2 401' \
        'level 3, slot 1, until 400' 'level 1, slot 1, until 401' 'due at 401'
    way X14 '--geometry 20 0 30000' \
        'level 4, slot 3, until 24000' 'level 3, slot 15, until 30000' \
        'due at 30000'
    way X15 '--geometry 20 0 160000' 'level 5, slot 1, until 160000' \
        'due at 160000'
    way X16 '--geometry 20 104 122' 'level 1, slot 2, until 122' 'due at 122'
    way X16 '--geometry 20 104 123' 'level 1, slot 3, until 123' 'due at 123'
    way X16 '--geometry 20 104 124' \
        'level 2, slot 6, until 120' 'level 1, slot 4, until 124' 'due at 124'
    way X19 '--geometry 10 0 15' \
        'level 2, slot 1, until 10' 'level 1, slot 5, until 15' 'due at 15'
    way X20 '--geometry 5 100 102' 'level 1, slot 2, until 102' 'due at 102'
    way X21 '--geometry 5 100 106' \
        'level 2, slot 1, until 105' 'level 1, slot 1, until 106' 'due at 106'
    way X21 '--geometry 5 100 107' \
        'level 2, slot 1, until 105' 'level 1, slot 2, until 107' 'due at 107'
    way X23 '--geometry 60,60,12 0 43199' \
        'level 3, slot 11, until 39600' 'level 2, slot 59, until 43140' \
        'level 1, slot 59, until 43199' 'due at 43199'
    way X24 '--geometry 20 3600000 3600005' 'level 1, slot 5, until 3600005' \
        'due at 3600005'
    way X25 '--geometry 20 0 400' 'level 3, slot 1, until 400' 'due at 400'
    way 'the hashed wheel' '--geometry 512r 0 600' \
        'level 1, slot 88, passed over once, until 600' 'due at 600'
    way 'the long name of r' '--geometry 512,rounds 0 1112' \
        'level 1, slot 88, passed over 2 times, until 1112' 'due at 1112'
    way 'rounds above a level' '--geometry 20,20r 0 1005' \
        'level 2, slot 10, passed over 2 times, until 1000' \
        'level 1, slot 5, until 1005' 'due at 1005'
    way 'the default' '0 200' 'level 2, slot 1, until 128' \
        'level 1, slot 72, until 200' 'due at 200'
    way now '7 7' 'due now'
    way past '7 3' 'due now'
    way never '0 18446744073709551615' 'never'
    way 'never, at the end' '18446744073709551615 18446744073709551615' 'never'
    way 'the last tick' '18446744073709551613 18446744073709551614' \
        'level 1, slot 126, until 18446744073709551614' \
        'due at 18446744073709551614'
}

wrong_usage() {
    refused
    refused bogus
    refused --bogus
    for command in demo where; do
        refused $command --bogus
        refused $command -x
        refused $command -xh
        refused $command --help=3
        refused $command --geometry
        for sizes in '' 0 1 ',' '20,' ,20 20,,20 20,0,20 20,1 -20 x 20x 20,r r \
            20,rounds,20 20rounds 99999999999999999999 268435457 \
            4294967295,4294967295,4294967295 \
            2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2 \
            2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,1; do
            refused $command --geometry "$sizes" 0 1
        done
    done
    refused where
    says 'needs NOW and DEADLINE'
    refused where 1
    refused where 1 2 3
    for text in '' x 1x 0x10 +1 -1 ' 1' 1.5 18446744073709551616; do
        refused where -- "$text" 5
        refused where -- 5 "$text"
    done
    for text in -1 -12 -5x; do
        refused where $text 2
        says "'$text' is negative"
        refused where 2 $text
        says "'$text' is negative"
    done
    refused where - -3
    says "'-3' is negative"
    refused demo --se 5
    says "'--se' is ambiguous: --seed, --seconds"
    refused demo --seeds 5
    says "does not take '--seeds'"
    refused demo surplus
    for option in timers delay speed seconds seed load; do
        refused demo --$option
        refused demo --$option ''
        refused demo --$option bogus
        refused demo --$option -1
    done
    refused demo --plain=1
    refused demo --timers 0
    says "--timers is '0'; give a whole number from 1 to 100000000"
    refused demo --timers 100000001
    refused demo --timers 1.5
    refused demo --delay 0
    refused demo --delay 1000000000000001
    refused demo --speed nan
    refused demo --speed inf
    refused demo --speed 1e3
    refused demo --speed 1.2.3
    refused demo --speed .
    refused demo --speed 1000000000001
    refused demo --seconds 0
    says "--seconds is '0'; give a number from 0.1 to 86400"
    refused demo --seconds 86401
    refused demo --timers 10 --load burst --bogus
    wrong_usage_of_bench
    wrong_usage_of_live_ones
}

wrong_usage_of_bench() {
    local value
    refused bench --bogus
    refused bench -x
    refused bench --help=3
    refused bench surplus
    refused bench --quick=1
    for option in n workloads structures delays repeats seed core; do
        refused bench --$option
        for value in '' bogus -1 1,bogus; do
            refused bench --$option "$value"
        done
    done
    refused bench --n 99
    refused bench --n 100000001
    refused bench --n 1000,
    refused bench --n 100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116
    refused bench --repeats 0
    refused bench --repeats 65
    refused bench --n 10000000 --structures list
}

benching() {
    "$tool" bench --n 1000 --repeats 2 --structures wheel,floor --workloads arm \
        --delays uniform --json "$work/json" --commit '1234abc' >"$work/out" 2>"$work/err" ||
        fail "bench: exit code $?"
    fits bench "$work/out"
    grep -A 1 '^arm, n = 1000, uniform$' "$work/out" |
        grep -Eq '^  wheel +[0-9.]+ ns +[0-9.]+ +[0-9.]+ +[0-9.]+x +-$' ||
        fail 'bench: no row of the wheel'
    python3 -c 'import json, sys
told = json.load(open(sys.argv[1]))
sys.exit(told["commit"] != "1234abc" or
         not all(len(cell["samples"]) == 2 for cell in told["cells"]))' "$work/json" ||
        fail 'bench: not two samples of each, or another commit'
    [ "$("$tool" bench --compiler | wc -l)" -eq 1 ] || fail 'bench: no compiler'
    local code=0
    "$tool" bench --n 1000 --json "$work/none/json" >"$work/out" 2>"$work/err" ||
        code=$?
    [ "$code" -eq 1 ] || fail "bench: exit code $code, not 1, with no such directory"
    grep -q '^tickwheel: cannot write' "$work/err" || fail 'bench: does not say why'
}

# with_memory KILOBYTES ARGUMENT...: run the command with a limit on its address
# space.  Its exit status is in $code, its output in $work/out and $work/err.
# Small stacks and one arena: threads reserve little of that space.
with_memory() {
    code=0
    (
        ulimit -s 256 && ulimit -v "$1" && shift &&
            MALLOC_ARENA_MAX=1 exec "$tool" "$@"
    ) >"$work/out" 2>"$work/err" || code=$?
}

# Returns whether the command can run with a limit: an AddressSanitizer build
# reserves terabytes of address space.
memory_can_be_limited() {
    local code
    with_memory 100000 --version
    [ "$code" -eq 0 ]
}

# 100,000 kB have room for a million timers of the wheel, not of the pool.
bench_without_memory_fails() {
    local code mode
    if ! memory_can_be_limited; then
        echo 'skipped: bench_without_memory_fails'
        return
    fi
    for mode in '' --in-process; do
        echo before >"$work/json"
        # shellcheck disable=SC2086 # there may be no mode
        with_memory 100000 bench --n 1000000 --repeats 2 --structures wheel,pool \
            --workloads arm --delays uniform --json "$work/json" $mode
        [ "$code" -eq 1 ] || fail "bench $mode without memory: exit code $code"
        [ "$(grep -c 'pool failed at arm, n = 1000000, uniform: not enough memory' \
            "$work/err")" -eq 1 ] || fail "bench $mode: $(cat "$work/err")"
        ! grep -q 'wheel failed' "$work/err" || fail "bench $mode: the wheel failed"
        grep -Eq '^  wheel +[0-9.]+ ns' "$work/out" || fail "bench $mode: no wheel"
        grep -Eq '^  pool +failed$' "$work/out" || fail "bench $mode: no pool"
        grep -qx before "$work/json" || fail "bench $mode: replaced the former file"
        [ -z "$(find "$work" -name '*.part')" ] || fail "bench $mode: left a draft"
    done
}

# out_of_memory KILOBYTES ARGUMENT...: the command says so, and exits with 3.
out_of_memory() {
    local code
    with_memory "$@"
    shift
    [ "$code" -eq 3 ] || fail "$* without memory: exit code $code: $(cat "$work/err")"
    grep -q '^tickwheel: not enough memory for ' "$work/err" ||
        fail "$* without memory: $(cat "$work/err")"
    ! grep -q bug: "$work/err" || fail "$* without memory: a bug is reported"
}

a_lack_of_memory_is_no_bug() {
    if ! memory_can_be_limited; then
        echo 'skipped: a_lack_of_memory_is_no_bug'
        return
    fi
    out_of_memory 200000 demo --timers 50000000
    out_of_memory 200000 idle --quiet --connections 5000000
    out_of_memory 200000 sim --timers 50000000
    out_of_memory 60000 purgatory --quiet --keys 10000000
    # The threads have started, and run out of memory afterwards.
    out_of_memory 40000 purgatory --quiet --requests 10000000 --timeout 3600 \
        --keys 2 --never 1 --round 0.1 --seconds 1
    grep -q '^wrong  *0 ' "$work/out" || fail "purgatory without memory: wrong"
}

wrong_usage_of_live_ones() {
    local value
    for command in idle purgatory; do
        refused $command --bogus
        refused $command -x
        refused $command --help=3
        refused $command surplus
        refused $command --plain=1
        refused $command --quiet=1
        refused $command --seconds 0
        refused $command --seed x
    done
    for value in '' bogus -1 1e3 nan 99999999999; do
        for option in connections limit tick silent seconds; do
            refused idle --$option "$value"
        done
        for option in requests keys timeout round seconds; do
            refused purgatory --$option "$value"
        done
    done
    for option in connections limit tick silent seconds seed; do
        refused idle --$option
    done
    for option in requests keys timeout round never seconds seed; do
        refused purgatory --$option
    done
    refused idle --connections 0
    refused idle --limit 0
    refused idle --tick 0.5
    refused purgatory --requests 0
    refused purgatory --keys 1
    refused purgatory --timeout 0
    refused purgatory --round 0
    refused purgatory --never 0
}

help_is_no_error() {
    for arguments in --help 'demo --help' 'where --help' 'demo -h' \
        'idle --help' 'idle -h' 'purgatory --help' 'purgatory -h' \
        'bench --help' 'bench -h'; do
        # shellcheck disable=SC2086 # these are words
        "$tool" $arguments >"$work/out" 2>"$work/err" || fail "$arguments: $?"
        grep -q '^usage: tickwheel' "$work/out" || fail "$arguments: no usage"
        [ ! -s "$work/err" ] || fail "$arguments: errors"
        fits "$arguments" "$work/out"
    done
}

every_load_adds_up() {
    for load in burst requests idle; do
        plain --timers 10000 --speed 0 --load $load
        plain --timers 1 --speed 0 --load $load
        plain --timers 1000 --delay 1 --load $load
        plain --timers 1000 --delay 1000000000000000 --load $load
        plain --timers 1000 --load $load --geometry 60,60,12
        plain --timers 1000 --delay 2000 --load $load --geometry 512r
        plain --timers 1000 --load $load --geometry 2
    done
    plain --timers 10000 --load burst
    [ "$(number fired "$work/out")" -eq 10000 ] || fail "not all have fired"
    plain --timers 10000 --load requests
    [ "$(number cancelled "$work/out")" -gt 9900 ] || fail "few answers"
    [ "$(number fired "$work/out")" -gt 0 ] || fail "no time limit ran out"
    plain --timers 10000 --load idle
    [ "$(number fired "$work/out")" -gt 0 ] || fail "nobody was hung up on"
    [ "$(number pending "$work/out")" -gt 9000 ] || fail "too many hung up on"
}

# What happens does not depend on how fast one watches, only on the seed.
the_seed_decides() {
    for speed in 0 50000; do
        plain --load requests --timers 20000 --seed 7 --speed $speed
        grep -E '^(armed|fired|cancelled|falls|wake-ups) ' "$work/out" \
            >"$work/speed$speed"
    done
    cmp "$work/speed0" "$work/speed50000" || fail "speed changes what happens"
    plain --load requests --timers 20000 --seed 8 --speed 0
    grep -E '^(armed|fired|cancelled|falls|wake-ups) ' "$work/out" \
        >"$work/other"
    ! cmp -s "$work/speed0" "$work/other" || fail "the seed changes nothing"
}

a_full_disk_is_an_error() {
    local code
    for arguments in 'demo --timers 10' \
        'idle --connections 10 --seconds 0.1 --quiet' \
        'purgatory --requests 10 --keys 10 --seconds 0.1 --quiet'; do
        code=0
        # shellcheck disable=SC2086 # these are words
        "$tool" $arguments >/dev/full 2>"$work/err" || code=$?
        [ "$code" -eq 1 ] || fail "exit code $code with a full disk: $arguments"
    done
}

the_way_of_a_deadline
wrong_usage
help_is_no_error
every_load_adds_up
the_seed_decides
benching
bench_without_memory_fails
a_lack_of_memory_is_no_bug
a_full_disk_is_an_error
[ "$failures" -eq 0 ]
