#!/usr/bin/env bash
# Each public header compiles alone, as C11 and as C++17.
set -euo pipefail
cd "$SOURCE/include"
case ${CC##*/} in
*clang*) cxx=clang++ ;;
*) cxx=g++ ;;
esac

count=0
for header in tickwheel/*.h; do
    printf "#include <%s>\nextern int declared;\n" "$header" |
        "$CC" -x c -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
            -Werror -fsyntax-only -I. -
    printf "#include <%s>\nextern int declared;\n" "$header" |
        "$cxx" -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Wconversion \
            -Wshadow -Werror -fsyntax-only -I. -
    count=$((count + 1))
done
[ $count -gt 0 ]
echo "$count headers"
