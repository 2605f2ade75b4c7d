#!/usr/bin/env bash
# The model runs on the single-file distribution: every header of ours is the
# one that it has.
set -euo pipefail
work=$(mktemp -d)
trap 'wait; rm -rf "$work"' EXIT

"$SOURCE/scripts/single-file" "$work"
mkdir "$work/tickwheel"
for header in "$SOURCE"/include/tickwheel/*.h; do
    echo '#include "../tickwheel.h"' >"$work/tickwheel/$(basename "$header")"
done
for file in "$work/tickwheel.c" "$SOURCE"/tests/model/*.c; do
    # src is for the engine of the pool with payload, which is internal.
    "$CC" -std=c11 -O2 -Wall -Wextra -Werror -I"$work" -I"$SOURCE/src" -c "$file" \
        -o "$work/$(basename "$file" .c).o" &
    if [ "$(jobs -r | wc -l)" -ge 2 ]; then wait -n; fi
done
wait
"$CC" "$work"/*.o -pthread -o "$work/model"
# The step's figures are those of the model on the library.
"$work/model" --ops 500000 | grep -v '^figures: '
"$work/model" --engine pool --ops 500000 | grep -v '^figures: '
