#!/usr/bin/env bash
# A consumer is built and run in four ways: by find_package, by pkg-config, by
# add_subdirectory and from the single-file distribution.  SOURCE is the tree,
# BINARY a build of it, CC the compiler.
set -euo pipefail
work=$(mktemp -d /tmp/tickwheel.XXXXXX) # what pkg-config says has no quotes
trap 'rm -rf "$work"' EXIT
consumer=$SOURCE/tests/packaging/consumer
version=$(sed -n 's/.*TKW_VERSION "\(.*\)"/\1/p' "$SOURCE/include/tickwheel/version.h")

fail() {
    echo "install_test: $*" >&2
    exit 1
}

# runs HOW PROGRAM: the consumer does what it should.
runs() {
    local said
    said=$("$2") || fail "$1: exits with $?"
    [ "$said" = "tickwheel $version rang 1 time" ] || fail "$1: says '$said'"
    echo "$1: $said"
}

# Moved after it was installed: no path of the build may be in what is found.
cmake --install "$BINARY" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
prefix=$work/prefix
lib=$(dirname "$(find "$prefix" -name libtickwheel.a)")

# A header for each that the tree has; a library under each of its names.
diff -r "$SOURCE/include" "$prefix/include" || fail "headers are missing"
for name in tickwheel tickwheel-core; do
    soname=$(readelf -d "$lib/lib$name.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
    [ "$soname" = "lib$name.so.${version%.*}" ] || fail "the soname is '$soname'"
    [ -e "$lib/$soname" ] || fail "there is no $soname"
done

# Shown is what the headers declare, and nothing else.
declared() {
    sed -z 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/,,g' "$@" |
        awk '/^TKW_(EXPORT|INLINE)/ { on = 1 }
             on && match($0, /tkw_[a-z_]+\(/) {
                 print substr($0, RSTART, RLENGTH - 1); on = 0 }' | sort -u
}
shown() { nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' | sed 's/@@.*//' | sort -u; }
include=$SOURCE/include/tickwheel
declared "$include"/*.h >"$work/declared"
[ "$(wc -l <"$work/declared")" -gt 100 ] || fail "few functions were found in the headers"
shown "$lib/libtickwheel.so" | diff "$work/declared" - || fail "libtickwheel.so shows something else"
declared "$include"/{base,version,dial,wheel,pool,key,idle}.h >"$work/core"
shown "$lib/libtickwheel-core.so" | diff "$work/core" - || fail "libtickwheel-core.so shows something else"
nm -D "$lib/libtickwheel.so" | grep ' T tkw_version@@TICKWHEEL_0.10$' >/dev/null || fail "symbols have no version"
! nm -D --undefined-only "$lib/libtickwheel-core.so" | grep pthread >/dev/null || fail "the core needs threads"
# In the static library all names that can clash with yours are ours; the probes
# share one with everybody else's.
odd=$(nm -g --defined-only "$lib/libtickwheel.a" |
    awk 'NF == 3 && $3 !~ /^tkw_/ && $3 != "_.stapsdt.base" { print $3 }')
[ -z "$odd" ] || fail "the static library defines $odd"

# What they call of themselves cannot be taken from them.
! readelf -rW "$lib/libtickwheel.so" "$lib/libtickwheel-core.so" | grep ' tkw_' >/dev/null ||
    fail "a library calls itself through others"

# find_package, shared and static.
for static in OFF ON; do
    cmake -S "$consumer" -B "$work/found-$static" -DCMAKE_PREFIX_PATH="$prefix" \
        -Dtickwheel_STATIC=$static -DCMAKE_C_COMPILER="$CC" >/dev/null
    cmake --build "$work/found-$static" >/dev/null
    runs "find_package, static $static" "$work/found-$static/consumer"
    "$work/found-$static/core" || fail "find_package: core exits with $?"
done
readelf -d "$work/found-OFF/consumer" | grep "libtickwheel.so.${version%.*}" >/dev/null || fail "not linked shared"
! readelf -d "$work/found-ON/consumer" | grep libtickwheel >/dev/null || fail "not linked statically"

# pkg-config, shared and static.
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$lib/pkgconfig
    read -ra flags <<<"$(pkg-config --cflags --libs tickwheel)"
    "$CC" -std=c11 "$consumer/consumer.c" -o "$work/packaged" "${flags[@]}"
    LD_LIBRARY_PATH=$lib runs "pkg-config" "$work/packaged"
    if echo 'int main(void) { return 0; }' | "$CC" -static -x c - -o "$work/none" 2>/dev/null; then
        read -ra flags <<<"$(pkg-config --static --cflags --libs tickwheel)"
        "$CC" -std=c11 -static "$consumer/consumer.c" -o "$work/static" "${flags[@]}"
        runs "pkg-config --static" "$work/static"
    else
        echo "note: there is no static C library"
    fi
    read -ra flags <<<"$(pkg-config --cflags --libs tickwheel-core)"
    "$CC" -std=c11 "$consumer/core.c" -o "$work/core_alone" "${flags[@]}"
    LD_LIBRARY_PATH=$lib "$work/core_alone" || fail "pkg-config: core exits with $?"
    [ "$(pkg-config --modversion tickwheel)" = "$version" ] || fail "pkg-config: another version"
else
    echo "note: pkg-config is not there"
fi

# add_subdirectory.
cmake -S "$consumer" -B "$work/sub" -DTICKWHEEL_TREE="$SOURCE" -DCMAKE_C_COMPILER="$CC" >/dev/null
cmake --build "$work/sub" -j 2 --target consumer core >/dev/null
runs "add_subdirectory" "$work/sub/consumer"
"$work/sub/core" || fail "add_subdirectory: core exits with $?"

# The single file.
"$SOURCE/scripts/single-file" "$work/single"
"$CC" -std=c11 -O2 -Wall -Wextra -Werror -I"$work/single" "$consumer/consumer.c" \
    "$work/single/tickwheel.c" -pthread -o "$work/single/consumer"
runs "single file" "$work/single/consumer"
"$CC" -std=c11 -O2 -fPIC -shared "$work/single/tickwheel.c" -pthread -o "$work/single/own.so"
! nm -D --defined-only "$work/single/own.so" | grep tkw_ >/dev/null || fail "the single file shows itself"

# The command, and its page if there are pages.
[ "$("$prefix/bin/tickwheel" --version)" = "tickwheel $version" ] || fail "tickwheel --version"
grep -q '^complete ' "$prefix/share/bash-completion/completions/tickwheel" || fail "completion"
if grep 'TICKWHEEL_MAN:BOOL=ON' "$BINARY/CMakeCache.txt" >/dev/null &&
    [ -d "$BINARY/man" ]; then
    find "$prefix" -name tkw_service_arm.3 | grep . >/dev/null || fail "no page for tkw_service_arm"
fi
