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
