#!/usr/bin/env bash
# The core compiles without a hosted C library and needs of one no more than
# the four functions that a compiler may call by itself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for file in "$SOURCE"/src/{dial,wheel}/*.c; do
    "$CC" -std=c11 -O2 -ffreestanding -fno-builtin -DNDEBUG -Wall -Wextra -Werror \
        -I"$SOURCE/include" -I"$SOURCE/src" -c "$file" \
        -o "$work/$(basename "$(dirname "$file")")_$(basename "$file" .c).o"
done
ld -r "$work"/*.o -o "$work/core"
surplus=$(nm -u "$work/core" | awk '{ print $2 }' |
    grep -vxE 'memcpy|memset|memmove|memcmp|_GLOBAL_OFFSET_TABLE_' || true)
if [ -n "$surplus" ]; then
    echo "the core needs more than memcpy, memset, memmove and memcmp:"
    echo "$surplus"
    exit 1
fi
