# Sourced by ./run, ./check, ./bench and what they call: install what is missing,
# find the generator.
# shellcheck shell=bash

# need PACKAGE...: see to it that these Debian packages are installed, or say
# which are missing and stop.  With everything there, no network is used.
need() {
    local missing=() package as_root=()
    if ! command -v dpkg-query >/dev/null; then
        echo "$0: this is not a Debian system; install the equivalents of: $*" >&2
        return 0
    fi
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
            grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0

    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true; } 2>/dev/null; then
            echo "$0: packages are missing, and this user cannot install them;" \
                "run as root:" >&2
            echo "    apt-get install ${missing[*]}" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    echo "installing: ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    if ! { "${as_root[@]}" apt-get -qq update &&
        "${as_root[@]}" apt-get -qq install -y --no-install-recommends \
            "${missing[@]}"; } >"${TMPDIR:-/tmp}/tickwheel-apt.$$" 2>&1; then
        cat "${TMPDIR:-/tmp}/tickwheel-apt.$$" >&2
        rm -f "${TMPDIR:-/tmp}/tickwheel-apt.$$"
        echo "$0: cannot install ${missing[*]}; apt's messages are above" >&2
        exit 1
    fi
    rm -f "${TMPDIR:-/tmp}/tickwheel-apt.$$"
}

# fetch_source PACKAGE DIRECTORY: put the tar file of a Debian source package
# there.  The lists of source packages are kept apart from apt's own, which is not
# configured anew.
fetch_source() {
    local apt=$2 file options
    mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        case $file in
        *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" ;;
        *.list) sed -n 's/^deb\(-src\)\?\([[:space:]]\)/deb-src\2/p' "$file" ;;
        esac >"$apt/parts/${file##*/}" 2>/dev/null || true
    done
    find "$apt/parts" -empty -type f -delete
    options=(-qq -o Dir::Etc::SourceList=/dev/null
        -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists"
        -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
    # Lists that cannot be had are no matter if that of the package can.
    apt-get "${options[@]}" update || true
    (cd "$apt" && apt-get "${options[@]}" source --tar-only "$1")
}

# build TREE TARGET IS_HELP: build a target of the release preset in build/run,
# and say so if that takes time.  IS_HELP is not empty if nothing was installed,
# because only --help is asked for.
build() {
    local tree=$1 target=$2 built=$1/build/run/$2.built log
    # The stamp is newer than all that it was built from, unless that has changed.
    if [ ! -e "$built" ] || [ -n "$(cd "$tree" && find CMakeLists.txt CMakePresets.json \
        cmake include src cli server benchmarks -newer "$built" -print -quit)" ]; then
        echo "building ..." >&2
    fi
    log=$(mktemp)
    if ! (cd "$tree" && cmake --preset release -B build/run -DTICKWHEEL_TESTS=OFF &&
        cmake --build build/run --target "$target" -j "$(nproc)") >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "$0: the build failed; the compiler's messages are above" >&2
        [ -z "$3" ] || echo "$0: run it without --help to install missing packages" >&2
        exit 1
    fi
    rm -f "$log"
    touch "$built"
}

# What it takes to build, for the scripts that source this.
# shellcheck disable=SC2034
packages_to_build=(gcc libc6-dev cmake make)

# Ninja if it is there; a build directory keeps the generator it has.
if command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=Ninja
fi
