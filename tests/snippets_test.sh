#!/usr/bin/env bash
# Every C program shown in the README and the documentation compiles and runs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"

count=0
for page in README.md docs/*.md; do
    # A fenced block marked c that has a main is a whole program.
    awk -v prefix="$work/${page//\//_}" '
        /^```c$/ { inside = 1; n++; next }
        /^```/ { inside = 0 }
        inside { print > (prefix "." n ".c") }' "$page"
done
for program in "$work"/*.c; do
    grep -q 'int main' "$program" || continue
    "$CC" -std=c11 -Wall -Wextra -Werror -Iinclude "$program" src/*.c \
        -o "$program.out"
    "$program.out"
    count=$((count + 1))
done
[ $count -gt 0 ]
echo "$count programs"
