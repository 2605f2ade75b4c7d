#!/usr/bin/env bash
# The service has the probes that docs/guide/observing.md lists where <sys/sdt.h> is
# installed, and none at all where it is not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"

# probes OPTION...: the names of the probes of a build, one a line.
probes() {
    "$CC" -std=c11 -O2 -Iinclude -Isrc -fPIC -shared "$@" src/*/*.c -o "$work/lib.so"
    readelf -n "$work/lib.so" | sed -n 's/^ *Name: //p' | sort -u
}

[ -z "$(probes -DTKW_NO_PROBES)" ] || {
    echo "there are probes in a build without" >&2
    exit 1
}
if ! echo '#include <sys/sdt.h>' | "$CC" -E - >/dev/null 2>&1; then
    echo "there is no <sys/sdt.h>"
    exit
fi
listed=$(sed -n 's/^| .tickwheel:\([a-z]*\).*/\1/p' docs/guide/observing.md | sort -u)
found=$(probes)
[ "$found" = "$listed" ] || {
    echo "docs/guide/observing.md lists others than these:" >&2
    echo "$found" >&2
    exit 1
}
echo "$listed"
