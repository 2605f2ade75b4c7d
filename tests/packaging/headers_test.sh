#!/usr/bin/env bash
# Each public header compiles alone, as C11 and as C++17; one for another
# library only where that library is installed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE/include"
case ${CC##*/} in
*clang*) cxx=clang++ ;;
*) cxx=g++ ;;
esac

# compile COMPILER OPTION... < SOURCE
compile() {
    "$@" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
        -fsyntax-only -I. -
}

count=0
for header in tickwheel.h tickwheel/*.h; do
    # What of others it cannot do without, and what that wants defined in C.
    theirs='' options=()
    case $header in
    */libuv.h) theirs=uv.h options=(-D_POSIX_C_SOURCE=200809L) ;;
    */libevent.h) theirs=event2/event.h ;;
    esac
    if [ -n "$theirs" ] &&
        ! printf '#include <%s>\n' "$theirs" | "$CC" -E - >/dev/null 2>&1; then
        echo "$header: not compiled, there is no <$theirs>"
        continue
    fi

    printf '#include <%s>\nextern int declared;\n' "$header" |
        compile "$CC" -x c -std=c11 "${options[@]}"
    printf '#include <%s>\nextern int declared;\n' "$header" |
        compile "$cxx" -x c++ -std=c++17
    # After Qt's headers, too; with old rules for inline nothing is defined.
    printf '#define slots\n#define signals public\n#define emit\n#include <%s>\nextern int declared;\n' "$header" |
        compile "$cxx" -x c++ -std=c++17
    printf '#include <%s>\n' "$header" |
        "$CC" -x c -std=gnu11 -fgnu89-inline -I. -c -o "$work/old.o" -
    if nm --defined-only "$work/old.o" | grep ' T '; then
        echo "$header: defines functions with -fgnu89-inline"
        exit 1
    fi
    count=$((count + 1))
done
[ $count -gt 0 ]
echo "$count headers"
