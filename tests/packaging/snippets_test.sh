#!/usr/bin/env bash
# Every snippet of C in the public headers, the README and the documentation
# compiles, runs, and does what is said of it.
#
# Whole programs are run as they are, and print what the page shows as their
# output, if it shows any.  Other snippets are cut into pieces, named
# by their page: wheel.1.2 is the second piece of the first snippet of wheel.h,
# and docs_guide_idle.2.1 is of docs/guide/idle.md.  The programs beside this test,
# in snippets, include all pieces where they belong.  extract.awk there says what
# is a snippet.
#
# CC is the compiler and SOURCE the tree; LIBRARY, if given, is a libtickwheel.a
# to use instead of building one.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
mkdir "$work/cut" "$work/made"
faults=0
programs=0

fault() {
    printf 'FAULT: %s\n' "$*"
    faults=$((faults + 1))
}

# cut_page FILE: write its snippets to cut/, and list them.
cut_page() {
    local page=${1#include/}
    page=${page#tickwheel/}
    page=${page%.*}
    awk -v page="${page//\//_}" -v out="$work/cut" -f tests/packaging/snippets/extract.awk "$1"
}

build_library() {
    local file
    (cd "$work/made" &&
        for file in "$SOURCE"/src/*/*.c; do
            "$CC" -std=c11 -I"$SOURCE/include" -I"$SOURCE/src" -c "$file" \
                -o "$(basename "$(dirname "$file")")_$(basename "$file" .c).o" ||
                exit
        done &&
        ar rcs libtickwheel.a ./*.o)
}

# look_for_others PROGRAM: set `missing` to the library that it needs besides
# ours if that is not here, and `options` to what it takes if it is.
look_for_others() {
    local name
    options=()
    missing=''
    for name in libuv libevent; do
        grep -qE "^#include <tickwheel/$name\.h>" "$1" || continue
        if pkg-config --exists $name 2>/dev/null; then
            read -ra options <<<"$(pkg-config --cflags --libs $name)"
        else
            missing=$name
        fi
    done
}

# has_output_of PROGRAM LOG: whether the page of the program shows this log, or
# nothing.
has_output_of() {
    local shown=${1%.c}.output
    [ ! -e "$shown" ] || diff "$shown" "$2"
}

# try PROGRAM: compile and run it.
try() {
    local made options missing code=0
    made=$work/made/$(basename "$1" .c)
    look_for_others "$1"
    if [ -n "$missing" ]; then
        echo "${1##*/}: not compiled, there is no $missing"
        return
    fi
    programs=$((programs + 1))
    if ! "$CC" -std=c11 -Wall -Wextra -Werror -Iinclude -I"$work/cut" "$1" \
        "$library" "${options[@]}" -pthread -o "$made"; then
        fault "${1##*/} does not compile"
        return
    fi
    timeout 10 "$made" >"$made.log" 2>&1 || code=$?
    case $code in
    0)
        has_output_of "$1" "$made.log" && return
        fault "${1##*/} prints something else than its page shows"
        ;;
    124) fault "${1##*/} has not ended after 10 s" ;;
    *) fault "${1##*/} ends with $code" ;;
    esac
    cat "$made.log"
}

for page in include/tickwheel.h include/tickwheel/*.h README.md docs/*/*.md; do
    cut_page "$page"
done >"$work/list"
others=$(sed -n 's/^other //p' "$work/list" | paste -sd' ')
pieces=$(sed -n 's/^piece //p' "$work/list" | sort)
used=$(sed -n 's/^#include "\(.*\.[0-9]*\.[0-9]*\)"$/\1/p' tests/packaging/snippets/*.c | sort -u)

for piece in $(comm -23 <(echo "$pieces") <(echo "$used")); do
    fault "no program in tests/packaging/snippets has $piece:" \
        "$(sed -n '1s/^#line \([0-9]*\) "\(.*\)"/\2:\1/p' "$work/cut/$piece")"
done
for piece in $(comm -13 <(echo "$pieces") <(echo "$used")); do
    fault "$(grep -l "\"$piece\"" tests/packaging/snippets/*.c) has $piece, which is not there"
done

library=${LIBRARY:-$work/made/libtickwheel.a}
[ -n "${LIBRARY:-}" ] || build_library
for program in "$work"/cut/*.c tests/packaging/snippets/*.c; do
    try "$program"
done

snippets=$(sed -n -e 's/^program \(.*\)\.c$/\1/p' \
    -e 's/^piece \(.*\)\.[0-9]*$/\1/p' "$work/list" | sort -u | wc -l)
echo "not C: $others"
outputs=$(find "$work/cut" -name '*.output' | wc -l)
echo "$snippets snippets, $(grep -c ^program "$work/list") of them programs," \
    "$outputs with their output," \
    "$(wc -l <<<"$pieces") pieces of the others; $programs programs run," \
    "$faults faults"
[ "$snippets" -gt 0 ] && [ $faults -eq 0 ]
