#!/usr/bin/env bash
# What bash completes behind the tickwheel command.
#
# usage: completion_test.sh TICKWHEEL COMPLETION
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
# shellcheck source=cli/completion.bash
. "$2"

# completes "WANTED" WORD...: what can stand for the last word.
completes() {
    local wanted=$1 got
    shift
    COMP_WORDS=("$tool" "$@")
    COMP_CWORD=$#
    _tickwheel || : # as in a shell that goes on
    got=$(printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort | xargs)
    if [ "$got" != "$wanted" ]; then
        echo "FAILED: tickwheel $*: '$got', not '$wanted'"
        failures=$((failures + 1))
    fi
}

completes 'bench' b
completes '--help --version' --
completes 'purgatory' p
completes '--geometry --help' where --
completes '--geometry' where --g
completes 'burst' demo --load b
completes 'burst idle requests' sim --load ''
completes 'both pool wheel' sim --engine ''
completes '512r' where --geometry 5
completes 'pool pool_ahead pool_cold' bench --structures p
completes '' demo --seed ''
completes '--plain' demo --timers 5 --pl
completes '--seconds --seed --speed' demo --s
completes '--seconds' demo --plain --sec
completes '' nonsense --
touch "$work/trace.csv"
cd "$work"
completes 'trace.csv' sim tr
completes 'trace.csv' sim --film t
completes '' demo tr
[ "$failures" -eq 0 ]
