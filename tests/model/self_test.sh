#!/bin/sh
# Tests the model test: every planted bug must be found, and come down to a few
# operations in a program that compiles.  The library itself is sound, so that
# program must run well on it: its assertions say what is right.
#
# Usage: self_test.sh MODEL SOURCE_DIR
#   MODEL       the model program
#   SOURCE_DIR  the root of the source tree
# Environment: CC (default: cc)
set -eu

if [ $# -ne 2 ]; then
    echo "usage: self_test.sh MODEL SOURCE_DIR" >&2
    exit 2
fi
model=$(realpath "$1")
tree=$(realpath "$2")
ops_max=8

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "self_test: $*" >&2
    [ ! -f output ] || cat output >&2
    exit 1
}

# Run the model with arguments; the first one is the exit status it must have.
expect() {
    wanted=$1
    shift
    status=0
    "$model" "$@" >output 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] ||
        fail "model $* exits with $status instead of $wanted"
}

expect 0 --help
expect 0 --seed 1 --ops 100000
expect 0 --seed 1 --ops 100000 --jobs 2
expect 0 --seed 1 --case 5
expect 0 --seed 1 --ops 100000 --engine pool
expect 0 --seed 1 --ops 100000 --engine pool-oom
expect 0 --seed 1 --ops 100000 --engine pool-payload
for bad in --nonsense --ops '--ops x' '--ops -1' '--engine none' '--jobs 0'; do
    # shellcheck disable=SC2086 # an option and its value are two words
    expect 2 $bad
    [ "$(wc -l <output)" -eq 1 ] || fail "more than one line about $bad"
done

for bug in order early rearm next advance work check crash hang pool-order \
    pool-stale; do
    rm -f model-failure.c
    expect 1 --engine "broken-$bug" --seed 1 --patience 1

    count=$(sed -n 's/^\([0-9]*\) operations, written.*/\1/p' output)
    [ -n "$count" ] || fail "$bug: no reproducer"
    [ "$count" -le $ops_max ] || fail "$bug: shrunk to $count operations only"

    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$tree/include" \
        -I"$tree/src" -o reproducer model-failure.c "$tree"/src/*/*.c ||
        fail "$bug: the reproducer does not compile"
    ./reproducer || fail "$bug: the reproducer asserts what is not so"

    # A broken invariant is described.
    [ "$bug" != check ] ||
        grep -q ': level 2, slot 17: planted number is 3, expected 0$' output ||
        fail "$bug: the broken invariant is not described"

    echo "$bug: found, $count operations"

    # The line that says how to replay it must do so.  (Hanging takes long.)
    [ "$bug" != hang ] || continue
    line=$(sed -n 's/^replay: model //p' output)
    # shellcheck disable=SC2086 # arguments, to be split
    expect 1 $line
done
