#!/usr/bin/env bash
# Each public header compiles alone, as C11 and as C++17; one for another
# library only where that library is installed.
set -euo pipefail
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
    count=$((count + 1))
done
[ $count -gt 0 ]
echo "$count headers"
