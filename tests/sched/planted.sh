# Planting races in a copy of the sources, one at a time: a scenario that is
# there for one must find it.  To be read by a test, which has set
#   test        its name, for complaints
#   scenarios   the sources of its program, in tests/sched, but for those of the
#               scheduler; without .c
#
# Environment: CC (default: cc), SOURCE: the root of the source tree
#
# shellcheck shell=sh disable=SC2154 # what the test has set
tree=$(realpath "$SOURCE")
cc=${CC:-cc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit

fail() {
    echo "$test: $*" >&2
    [ ! -f output ] || cat output >&2
    exit 1
}

# Compile sources into objects in a directory.  Constants are small, so that
# opening takes no time.
compile() {
    into=$1
    shift
    for file; do
        "$cc" -std=c11 -O1 -c -I"$tree/include" -I"$dir/src" -I"$tree/tests" \
            '-DTKW_SYNC="sched/sync_scheduled.h"' -DTKW_PLAN_SEGMENT_BITS=20 \
            -DTKW_STACKS=1 -DTKW_BATCH=2 -DTKW_INTAKE=2 -DTKW_HISTOGRAM_BITS=0 -DTKW_CHUNK_BYTES=32 -DTKW_CROWDED_CHUNKS=2 \
            -DTKW_SEGMENT_BITS=2 -DTKW_INDEX_BITS=6 -DTKW_BLOCK_CHUNKS=8 \
            -DTKW_JOIN_CHUNKS=3 -DTKW_SWEEP_SLACK=4 -DTKW_WAKE_SHARE=2 -DTKW_ARMINGS_PER_POLL=1024 \
            -DTKW_ENTRY_TICK_BITS=4 -DTKW_ENTRY_TAG_BITS=12 \
            -DTKW_TABLE_SLOTS=8 -DTKW_WALK_BATCH=1 \
            -o "$into/$(echo "${file#"$tree/"}" | tr / _).o" "$file" ||
            fail "$file does not compile"
    done
}

# Run a scenario; the first argument is the exit status that it must have.
expect() {
    status=0
    ./races --only "$2" >output 2>&1 || status=$?
    [ "$status" -eq "$1" ] ||
        fail "$name: $2 exits with $status instead of $1"
}

# Plant a race: its name, the file, what to do to it, and who must find it.
plant() {
    name=$1
    cp "$tree/src/$2" "src/$2"
    sed "$3" "src/$2" >changed
    ! cmp -s changed "src/$2" || fail "$name: nothing to change in $2"
    rm -rf planted
    cp -r sound planted
    mv changed "src/$2"
    compile planted "src/$2"
    cp "$tree/src/$2" "src/$2"

    "$cc" -o races sound/*.o
    expect 0 "$4"
    "$cc" -o races planted/*.o
    expect 1 "$4"
    found=$(sed -n "s/^    $4: \(.*\)/\1/p" output)
    [ -n "$found" ] || fail "$name: no reason given"
    echo "$name: found by $4 (${found##*"$tree"/})"
}

cp -r "$tree/src" src
rm src/os/sync.c # the scheduler stands for it
mkdir sound
compile sound src/*/*.c
for part in coroutine crash front sched search $scenarios; do
    compile sound "$tree/tests/sched/$part.c"
done
