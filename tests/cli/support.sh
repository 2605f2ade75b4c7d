# What the tests of the tickwheel command share: $tool is the command, $work a
# directory that goes when they end, and `fail` says what is wrong and goes on.
# To be read by a test, with its arguments.
# shellcheck shell=bash disable=SC2034 # what the test uses
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}

# fits WHAT FILE: no line of it is wider than a terminal.
fits() {
    ! grep -q '.\{80\}' "$2" || fail "$1: too wide: $(grep '.\{80\}' "$2")"
}

# number NAME FILE: the number that a summary gives under this name.
number() {
    awk -v name="$1" '$1 == name { print $2 }' "$2" | tr -d '\r'
}

# summary_holds WHAT FILE: every arming has an outcome, and none came early.
summary_holds() {
    local armed fired cancelled pending
    armed=$(number armed "$2")
    fired=$(number fired "$2")
    cancelled=$(number cancelled "$2")
    pending=$(number pending "$2")
    if [ -z "$armed" ] || [ -z "$fired" ] || [ -z "$cancelled" ] ||
        [ -z "$pending" ]; then
        fail "$1: the summary is not complete"
        return
    fi
    [ "$armed" -eq $((fired + cancelled + pending)) ] ||
        fail "$1: $armed armed, $fired fired, $cancelled cancelled, $pending pending"
    grep -Eq '^fired .* 0 early, 0 late' "$2" || fail "$1: early or late"
}

# plain ARGUMENT...: a demonstration whose summary adds up.
plain() {
    "$tool" demo --plain "$@" >"$work/out" || fail "demo $*: exit code $?"
    summary_holds "demo $*" "$work/out"
    fits "demo $*" "$work/out"
}
