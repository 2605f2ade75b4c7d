#!/usr/bin/env bash
# Shows of the tickwheel command that run in real time, on a terminal and
# without one.
#
# usage: shows_test.sh TICKWHEEL
set -euo pipefail
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

# idle_holds WHAT FILE: whoever fell silent was found, and not early.
idle_holds() {
    local line
    for line in connections packets checks tracker; do
        [ -n "$(number $line "$2")" ] || fail "$1: the summary has no $line"
    done
    grep -Eq '^found .* 0 early, 0 lost, 0 wrong' "$2" || fail "$1: found wrongly"
}

# purgatory_holds WHAT FILE: every request has an outcome, and none came early.
purgatory_holds() {
    local issued completed expired pending
    issued=$(number issued "$2")
    completed=$(number completed "$2")
    expired=$(number expired "$2")
    pending=$(number pending "$2")
    if [ -z "$issued" ] || [ -z "$completed" ] || [ -z "$expired" ] ||
        [ -z "$pending" ]; then
        fail "$1: the summary is not complete"
        return
    fi
    [ "$issued" -eq $((completed + expired + pending)) ] ||
        fail "$1: $issued issued, $completed completed, $expired expired, $pending pending"
    grep -Eq '^expired .* 0 early' "$2" || fail "$1: early"
    grep -Eq '^wrong +0 ' "$2" || fail "$1: wrong"
}

# lines_are COUNT WHAT: so many lines of a show, and if there are any, heads
# above them.
lines_are() {
    local lines heads
    lines=$(grep -c '^[0-9]*:[0-9][0-9]:[0-9]' "$work/out" || true)
    [ "$lines" -eq "$1" ] || fail "$2: $lines lines, not $1"
    heads=$(grep -c '^time  *armed  *fired ' "$work/out" || true)
    [ "$heads" -eq $(($1 > 0)) ] || fail "$2: $heads lines of heads"
}

a_paced_plain_show_writes_lines() {
    plain --timers 1000 --seconds 2.5
    lines_are 2 '2.5 seconds'
    plain --timers 1000 --seconds 0.5 --speed 1
    [ "$(number pending "$work/out")" -gt 0 ] || fail "not cut short"
    plain --timers 1000 --delay 1000000000000000 --seconds 1.5
    lines_are 1 'the longest delay'
    plain --timers 1000 --seconds 1.5 --speed 1000
    lines_are 1 '1.5 seconds at a speed'
    plain --timers 1000
    lines_are 0 'no pace'
    plain --timers 1000 --speed 0
    lines_are 0 'as fast as possible'
    # The same where there is no terminal, as --help says.
    "$tool" demo --timers 1000 --seconds 1.5 >"$work/out" || fail "no terminal: $?"
    lines_are 1 'no terminal'
    "$tool" demo --timers 1000 >"$work/out" || fail "no terminal, no pace: $?"
    lines_are 0 'no terminal, no pace'
}

# live COMMAND ARGUMENT...: a live demonstration whose summary adds up.  Scripts
# know its lines by their names, with which no other may begin.
live() {
    local twice
    "$tool" "$@" >"$work/out" || fail "$*: exit code $?"
    twice=$(awk '/^ *[a-z]/ { print $1 }' "$work/out" | sort | uniq -d)
    [ -z "$twice" ] || fail "$*: two lines begin with $twice"
    "$1_holds" "$*" "$work/out"
    fits "$*" "$work/out"
}

the_silent_are_found() {
    live idle --quiet --connections 10000 --limit 1 --tick 10 --seconds 1.5
    [ "$(number connections "$work/out")" -eq 10000 ] || fail "not all are held"
    [ "$(number packets "$work/out")" -gt 5000 ] || fail "few packets"
    [ "$(number found "$work/out")" -gt 5 ] || fail "nobody was found"
    live idle --quiet --connections 1000 --silent 0 --limit 0.5 --seconds 1
    [ "$(number found "$work/out")" -eq 0 ] || fail "somebody live was found"
    live idle --quiet --connections 1 --silent 100000 --limit 0.1 --tick 1 --seconds 1
    [ "$(number found "$work/out")" -gt 1 ] || fail "not found again"
}

requests_are_completed() {
    live purgatory --quiet --requests 5000 --keys 500 --timeout 1 --round 0.3 --seconds 1
    [ "$(number completed "$work/out")" -gt 5000 ] || fail "few are completed"
    live purgatory --quiet --requests 1000 --keys 100 --timeout 0.2 --never 1 --round 0.1 --seconds 1
    [ "$(number expired "$work/out")" -gt 500 ] || fail "few expired"
    [ "$(number completed "$work/out")" -eq 0 ] || fail "never came"
    live purgatory --quiet --requests 1 --keys 2 --timeout 0.1 --round 0.1 --seconds 0.5
}

a_live_show_writes_lines() {
    local lines
    for command in 'idle --connections 100' 'purgatory --requests 100 --keys 10'; do
        # shellcheck disable=SC2086 # these are words
        live $command --seconds 1.5
        lines=$(grep -c '^ *[0-9]* s  ' "$work/out" || true)
        [ "$lines" -eq 1 ] || fail "$command: $lines lines in 1.5 seconds, not 1"
        [ "$(grep -c '^  time  ' "$work/out")" -eq 1 ] || fail "$command: no heads"
        # shellcheck disable=SC2086
        live $command --seconds 1.2 --quiet
        ! grep -Eq '^ *([0-9]* s|time)  ' "$work/out" || fail "$command: --quiet writes"
    done
}

# on_terminal COMMAND: run it on a terminal, what it writes goes to a file.
on_terminal() {
    TERM=xterm LC_ALL=C.UTF-8 script -qec "$1" /dev/null \
        >"$work/terminal" </dev/null
}

# terminal_is_restored WHAT [HOLDS]: the last thing said about the cursor and
# about the page is to restore them.
terminal_is_restored() {
    local cursor page holds=${2-summary_holds}
    cursor=$(grep -ao $'\033''\[?25[hl]' "$work/terminal" | tail -n 1)
    page=$(grep -ao $'\033''\[?1049[hl]' "$work/terminal" | tail -n 1)
    [ "$cursor" = $'\033[?25h' ] || fail "$1: the cursor stays hidden"
    [ "$page" = $'\033[?1049l' ] || fail "$1: the other page stays"

    # What follows them is the summary, on the page it belongs to.
    sed $'s/.*\033\\[?1049l//' "$work/terminal" >"$work/after"
    "$holds" "$1" "$work/after"
}

a_show_on_a_terminal() {
    for load in burst requests idle; do
        on_terminal "stty rows 24 cols 80; '$tool' demo --timers 10000 --seconds 1 --load $load" ||
            fail "$load on a terminal: exit code $?"
        terminal_is_restored "$load on a terminal"
        grep -aq $'\033''\[?25l' "$work/terminal" || fail "$load: no show"
        grep -aq 'level 3' "$work/terminal" || fail "$load: no levels"
    done
    for size in '1 1' '2 300' '100 3' '60 250' '0 0'; do
        on_terminal "stty rows ${size% *} cols ${size#* }; '$tool' demo --timers 1000 --seconds 0.3 --geometry 2" ||
            fail "a terminal of $size: exit code $?"
        terminal_is_restored "a terminal of $size"
    done
    on_terminal "'$tool' demo --plain --timers 1000" || fail "--plain: $?"
    ! grep -aq $'\033' "$work/terminal" || fail "--plain draws"
    on_terminal "TERM=dumb '$tool' demo --timers 1000" || fail "dumb: $?"
    ! grep -aq $'\033' "$work/terminal" || fail "a dumb terminal is drawn on"
}

a_live_show_on_a_terminal() {
    local command code
    for name in idle purgatory; do
        command="idle --connections 1000"
        [ $name = idle ] || command="purgatory --requests 1000 --keys 100"
        for size in '24 80' '1 1' '2 300' '100 3' '60 250' '0 0'; do
            on_terminal "stty rows ${size% *} cols ${size#* }; '$tool' $command --seconds 0.3" ||
                fail "$name on a terminal of $size: exit code $?"
            terminal_is_restored "$name on a terminal of $size" ${name}_holds
        done
        on_terminal "'$tool' $command --seconds 0.2 --plain" || fail "--plain: $?"
        ! grep -aq $'\033' "$work/terminal" || fail "$name: --plain draws"
        code=0
        on_terminal "timeout --foreground --preserve-status -s INT 0.5 '$tool' $command" || code=$?
        [ "$code" -eq 130 ] || fail "$name, ended by a signal: exit code $code"
        terminal_is_restored "$name, ended by a signal" ${name}_holds
    done
}

# Asked to end, the show puts the terminal right and tells what was so far.
a_signal_ends_the_show() {
    local code
    for signal in INT:130 TERM:143; do
        code=0
        on_terminal "timeout --foreground --preserve-status -s ${signal%:*} 0.5 '$tool' demo --timers 10000" || code=$?
        [ "$code" -eq "${signal#*:}" ] || fail "$signal: exit code $code"
        terminal_is_restored "$signal"

        code=0
        timeout --foreground --preserve-status -s "${signal%:*}" 0.5 \
            "$tool" demo --timers 10000 --seconds 20 >"$work/out" || code=$?
        [ "$code" -eq "${signal#*:}" ] || fail "$signal, plain: exit code $code"
        summary_holds "$signal, plain" "$work/out"
    done
}

a_paced_plain_show_writes_lines
a_show_on_a_terminal
a_signal_ends_the_show
the_silent_are_found
requests_are_completed
a_live_show_writes_lines
a_live_show_on_a_terminal
[ "$failures" -eq 0 ]
