#!/usr/bin/env bash
# What `tickwheel sim` writes, how it refuses, and what it leaves behind.
#
# usage: sim_test.sh TICKWHEEL
set -euo pipefail
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/../support.sh"

# refused ARGUMENT...: exit code 2, one line on stderr, nothing on stdout.
refused() {
    local code=0
    "$tool" sim "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code, not 2: $*"
    one_line "$*"
}

# failed ARGUMENT...: the same, but it was not the usage.
failed() {
    local code=0
    "$tool" sim "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    [ "$code" -eq 1 ] || fail "exit code $code, not 1: $*"
    one_line "$*"
}

one_line() {
    [ ! -s "$work/out" ] || fail "output in spite of an error: $1"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line of error: $1"
    grep -q '^tickwheel: .' "$work/err" || fail "no 'tickwheel: ': $1"
}

# says WORDS: that line had these words in it.
says() {
    grep -qF -- "$1" "$work/err" || fail "not '$1': $(cat "$work/err")"
}

# sim ARGUMENT...: a simulation that succeeds, its output in $work/out.
sim() {
    "$tool" sim "$@" >"$work/out" 2>"$work/err" </dev/null ||
        fail "sim $*: exit code $?: $(cat "$work/err")"
    [ ! -s "$work/err" ] || fail "sim $*: wrote to stderr"
}

# column NAME: that column of the CSV in $work/out, a line a geometry.  The
# sizes are in quotes, and their commas are not between columns.
column() {
    sed -E ':a; s/("[^",]*),([^"]*")/\1;\2/; ta' "$work/out" |
        awk -F, -v name="$1" '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
            { print $at }'
}

# columns_are NAME VALUE...: what the geometries have in this column.
columns_are() {
    local name=$1 got
    shift
    got=$(column "$name" | tr '\n' ' ')
    [ "$got" = "$* " ] || fail "$name is $got, not $*"
}

# nothing_is_left WHAT: of what was written before it was complete.
nothing_is_left() {
    local left
    left=$(find "$work" -name '*.part')
    [ -z "$left" ] || fail "$1: $left is left"
}

trace() {
    printf '%s\n' "$@" >"$work/trace.csv"
}

wrong_usage() {
    refused --bogus
    refused -x
    refused --help=3
    refused --csv=1
    refused one two
    says 'one TRACE'
    refused ''
    says 'TRACE is empty; give the name of a file'
    refused --f "$work/film.svg"
    says "'--f' is ambiguous: --film, --frames, --from"
    refused --fr=5
    says "'--fr' is ambiguous: --frames, --from"
    refused --fx
    says "does not take '--fx'"
    for option in load timers delay seed geometry engine tick chart film \
        frames from to write; do
        refused --$option
        refused --$option ''
        says "--$option"
    done
    for option in load timers delay seed geometry engine tick; do
        refused --$option bogus
        refused --$option -1
    done
    refused --timers 0
    refused --timers 100000001
    refused --delay 0
    refused --engine wheels
    says "--engine is 'wheels'; give wheel, pool or both"
    for sizes in 1 ',' '20,' 20x r 99999999999999999999; do
        refused --geometry "$sizes"
    done
    local many=()
    for i in $(seq 17); do
        many+=(--geometry $((i + 1)))
    done
    refused "${many[@]}"
    says 'more than 16 times'
}

contradictions() {
    trace 0,arm,one,10
    for option in load=burst timers=5 delay=5 seed=5; do
        refused --$option "$work/trace.csv"
        says "--${option%=*} needs a generated load"
    done
    refused --tick 5
    says '--tick needs a TRACE'
    refused "$work/trace.csv" --tick 0
    for option in frames=5 from=5 to=5; do
        refused --$option "$work/trace.csv"
        says "--${option%=*} needs --film FILE"
    done
    refused --film "$work/f" --frames 1
    refused --film "$work/f" --frames 61
    refused --film "$work/f" --from 9 --to 8
    says '--to is less than --from'
    refused --film "$work/f" --from 11 "$work/trace.csv"
    says 'give ticks from 0 to 10'
    refused --film "$work/f" --chart "$work/f"
    says "tickwheel: --chart and --film are the same file, $work/f"
    refused --film "$work/f" --chart "$work/../${work##*/}/f"
    says "--chart and --film are the same file, $work/../${work##*/}/f"
    refused --film - "$work/trace.csv"
    cp "$work/trace.csv" "$work/own.csv"
    refused --write "$work/own.csv" "$work/own.csv"
    says "--write and the trace are the same file, $work/own.csv"
    cmp -s "$work/own.csv" "$work/trace.csv" || fail 'the trace was overwritten'
    refused --write "$work/f" --chart "$work/f"
    says "--chart and --write are the same file, $work/f"
    [ ! -e "$work/f" ] || fail "wrong usage made a file"
    nothing_is_left 'wrong usage'
}

help_is_no_error() {
    for option in --help -h; do
        sim $option
        grep -q '^usage: tickwheel sim' "$work/out" || fail "$option: no usage"
    done
    ! grep -q '.\{80\}' "$work/out" || fail "the help is too wide"
}

what_cannot_be_read() {
    failed "$work/absent"
    says "$work/absent: "
    failed "$work"
    trace 0,arm,one,10 1,arm,two,x
    failed "$work/trace.csv"
    says 2
    printf '0,arm,one,10\n5,canc' >"$work/trace.csv"
    failed "$work/trace.csv"
    says 2
}

the_way_of_one_timer() {
    trace time,operation,key,deadline 0,arm,one,445
    sim --csv "$work/trace.csv" --geometry 20 --geometry 512r --geometry 1000
    columns_are engine wheel wheel wheel
    columns_are geometry '"20"' '"512r"' '"1000"'
    columns_are levels 3 1 1
    columns_are falls 2 0 0
    columns_are visits 3 1 1
    columns_are wakeups 3 1 1
    columns_are wakeups_empty 2 0 0
    columns_are fired 1 1 1
    columns_are end 445 445 445
    columns_are is_sound 1 1 1
}

# `sim` has its standard input closed: this one has not.
a_trace_from_standard_input() {
    trace 0,arm,one,445 3,cancel,one,
    "$tool" sim --csv --engine both --geometry 20 - \
        <"$work/trace.csv" >"$work/out" || fail "standard input: $?"
    columns_are engine wheel pool
    columns_are cancelled 1 1
}

a_tick_has_as_many_units_as_it_is_told() {
    trace 0,arm,one,4450
    sim --csv --geometry 20 --tick 10 "$work/trace.csv"
    columns_are end 445
    columns_are falls 2
    trace '# tick 10' 0,arm,one,4450
    sim --csv --geometry 20 "$work/trace.csv"
    columns_are end 445
    sim --csv --geometry 20 --tick 5 "$work/trace.csv"
    columns_are end 890
}

every_load_is_replayed() {
    for load in burst requests idle; do
        sim --csv --load $load --timers 2000 --delay 3000 --engine both
        [ "$(column engine | wc -l)" -eq 12 ] || fail "$load: not 12 lines"
        [ "$(column is_sound | sort -u)" = 1 ] || fail "$load: a broken promise"
        for name in operations armed fired cancelled pending_max end; do
            [ "$(column $name | sort -u | wc -l)" -eq 1 ] ||
                fail "$load: geometries do not agree on $name"
        done
        [ "$(column armed | head -n 1)" -eq 2000 ] || fail "$load: not all armed"
    done
}

# What is written is what is replayed: to replay it again changes nothing.
# What is odd is told, and goes on.
remarks_are_no_errors() {
    echo 0,arm,a,18446744073709551614 >"$work/far.csv"
    "$tool" sim --csv "$work/far.csv" >"$work/out" 2>"$work/err" || fail "far: exit code $?"
    says 'give --tick'
    says '65536r is left out'
    [ "$(wc -l <"$work/out")" -eq 6 ] || fail 'far: not five rows'
    "$tool" sim --csv --tick 1 --geometry 20 "$work/far.csv" >"$work/out" 2>"$work/err" ||
        fail "far, with a tick: exit code $?"
    [ ! -s "$work/err" ] || fail 'a remark on what was said'
    printf '0,arm,a,5\n# 3 operations left out\n' >"$work/holes.csv"
    "$tool" sim --csv "$work/holes.csv" >"$work/out" 2>"$work/err" || fail "holes: exit code $?"
    says 'incomplete: 3 operations were left out'
}

a_load_that_was_written_is_the_same_load() {
    for load in burst requests idle; do
        sim --csv --load $load --timers 1000 --delay 2000 --seed 3 \
            --geometry 60,60,24 --write "$work/load.csv"
        column falls >"$work/one"
        column wakeups >>"$work/one"
        sim --csv --geometry 60,60,24 "$work/load.csv"
        column falls >"$work/two"
        column wakeups >>"$work/two"
        cmp -s "$work/one" "$work/two" || fail "$load: not the same again"
    done
    nothing_is_left --write
}

the_table_answers_the_question() {
    sim --timers 20000 --delay 5000
    grep -q '^20,000 operations in .* at most 20,000 timers pending$' \
        "$work/out" || fail 'no line about the load'
    for name in 128,512,64 20 64 256 60,60,24 65536r; do
        [ "$(grep -c "^wheel $name  " "$work/out")" -eq 1 ] || fail "no row $name"
    done
    [ "$(grep -c '^For this load: wheel ' "$work/out")" -eq 1 ] ||
        fail 'no answer'
    grep -q '\*' "$work/out" || fail 'nothing is marked'
    ! grep -q '.\{80\}' "$work/out" || fail 'the table is too wide'
    tr '\n' ' ' <"$work/out" |
        grep -Eq 'For this load: wheel .* worst step touches [0-9,]+ timers\. (Of the|All others) .*\. $' ||
        fail 'the answer is not complete'
}

# With too little to go by there is no answer, but what can be told.
the_table_does_not_guess() {
    trace 0,arm,one,10 5,cancel,one,
    sim "$work/trace.csv"
    ! grep -q 'For this load' "$work/out" || fail 'a guess'
    tr '\n' ' ' <"$work/out" | grep -q 'Too little .* wheel 20 takes the least memory' ||
        fail 'nothing is said of what was too little'
    trace 0,arm,one,10
    sim "$work/trace.csv"
    grep -q '^For this load: wheel 20, at 1.00 moves ' "$work/out" ||
        fail 'of equals, not the smallest'
}

# What was cancelled long before its deadline was not waited for.
the_table_tells_the_time_that_passed() {
    trace 3,arm,one,445 9,cancel,one,
    sim "$work/trace.csv" --geometry 20
    grep -q '^2 operations in 6 ticks, ' "$work/out" || fail 'not six ticks'
    sim --csv "$work/trace.csv" --geometry 20
    columns_are start 3
    columns_are end 9
}

pictures_are_written() {
    sim --timers 2000 --delay 3000 --chart "$work/chart.svg" \
        --film "$work/film.svg" --frames 4
    for name in chart film; do
        grep -q '<svg' "$work/$name.svg" || fail "$name is no picture"
        grep -q '</svg>' "$work/$name.svg" || fail "$name does not end"
    done
    trace 0,arm,one,445
    sim "$work/trace.csv" --film "$work/film.svg" --from 100 --to 440
    grep -q '</svg>' "$work/film.svg" || fail 'no part of a film'
    nothing_is_left pictures
}

# A link stays one, and what is no file is not replaced by one.
files_keep_their_places() {
    trace 0,arm,one,445
    echo before >"$work/target"
    ln -s target "$work/link"
    sim "$work/trace.csv" --write "$work/link"
    [ -L "$work/link" ] || fail 'the link is gone'
    grep -q arm "$work/target" || fail 'what the link leads to is as before'
    mkfifo "$work/pipe"
    cat "$work/pipe" >"$work/piped" &
    sim "$work/trace.csv" --write "$work/pipe"
    wait $!
    if [ ! -p "$work/pipe" ]; then
        fail 'the pipe is gone'
        exit 1 # or root would lose /dev/full in the next test
    fi
    grep -q arm "$work/piped" || fail 'nothing came through the pipe'
}

what_cannot_be_written() {
    trace 0,arm,one,445
    for option in chart film write; do
        failed "$work/trace.csv" --$option "$work/absent/file"
        says "$work/absent/file"
        failed "$work/trace.csv" --$option "$work"
        failed "$work/trace.csv" --$option /dev/full
        says /dev/full
    done
    echo before >"$work/chart.svg"
    failed "$work/trace.csv" --chart "$work/chart.svg" --film "$work/absent/f"
    grep -qx before "$work/chart.svg" || fail 'replaced in spite of an error'
    nothing_is_left 'what cannot be written'
    local code=0
    "$tool" sim "$work/trace.csv" >/dev/full 2>"$work/err" || code=$?
    [ "$code" -eq 1 ] || fail "exit code $code with a full disk"
}

# endless: arguments of a simulation that would take years.
endless=(--timers 1000 --delay 1000000000000000 --geometry 64r)

a_signal_leaves_nothing_behind() {
    local code signal
    for signal in INT:130 TERM:143; do
        code=0
        echo before >"$work/chart.svg"
        timeout --foreground --preserve-status -s "${signal%:*}" 0.7 \
            "$tool" sim "${endless[@]}" --chart "$work/chart.svg" \
            --film "$work/new.svg" --write "$work/new.csv" \
            >"$work/out" 2>"$work/err" || code=$?
        [ "$code" -eq "${signal#*:}" ] || fail "$signal: exit code $code"
        [ ! -s "$work/out" ] || fail "$signal: half a table"
        [ ! -s "$work/err" ] || fail "$signal: a complaint"
        [ ! -e "$work/new.csv" ] || fail "$signal: a trace is left"
        [ ! -e "$work/new.svg" ] || fail "$signal: a film is left"
        grep -qx before "$work/chart.svg" || fail "$signal: a file is replaced"
        nothing_is_left "$signal"
    done
}

# on_terminal ARGUMENT...: what it writes there goes to a file.
on_terminal() {
    TERM=xterm script -qec "timeout --foreground --preserve-status -s INT 1.5 '$tool' sim $*" \
        /dev/null >"$work/terminal" </dev/null || true
}

a_bar_is_drawn_where_somebody_waits() {
    on_terminal "${endless[*]}"
    grep -aq 'wheel 64r .*\[.*\] .*%' "$work/terminal" || fail 'no bar'
    tail -c 81 "$work/terminal" | grep -aqE $'\r {79}\r' || fail 'it stays'
    on_terminal "${endless[*]}" --quiet
    ! grep -aq '\[' "$work/terminal" || fail '--quiet draws'
    local began
    began=$(date +%s%N)
    on_terminal --timers 100000 --delay 1000 --geometry 128
    if [ $(($(date +%s%N) - began)) -lt 500000000 ]; then
        ! grep -aq '\[' "$work/terminal" || fail 'a bar for what takes no time'
    fi
}

wrong_usage
contradictions
help_is_no_error
what_cannot_be_read
the_way_of_one_timer
a_trace_from_standard_input
a_tick_has_as_many_units_as_it_is_told
every_load_is_replayed
remarks_are_no_errors
a_load_that_was_written_is_the_same_load
the_table_answers_the_question
the_table_does_not_guess
the_table_tells_the_time_that_passed
pictures_are_written
files_keep_their_places
what_cannot_be_written
a_signal_leaves_nothing_behind
a_bar_is_drawn_where_somebody_waits
[ "$failures" -eq 0 ]
