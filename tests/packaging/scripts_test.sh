#!/usr/bin/env bash
# ./run, ./check, ./bench and the small scripts, on a tree of their own and with commands
# that only say what they were asked for: nothing is installed, built or counted.
# SOURCE is the tree that they are from, TOOL the tickwheel command.
set -euo pipefail
: "${SOURCE:?}" "${TOOL:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree away=$work/away
mkdir -p "$tree"/benchmarks/{core,peers} "$tree/docs/pictures" "$work/bin" "$away"
mkdir "$tree"/{cmake,include,src,cli,server}
touch "$tree"/CMake{Lists.txt,Presets.json}
cp -R "$SOURCE/scripts" "$SOURCE/run" "$SOURCE/check" "$SOURCE/bench" "$tree"
cp "$SOURCE/benchmarks/peers/fetch-timeout" "$tree/benchmarks/peers"
export PATH="$work/bin:$PATH" GIT_CEILING_DIRECTORIES=$work
unset GIT_DIR GIT_WORK_TREE

fail() {
    echo "scripts_test: $*" >&2
    exit 1
}

# ends STATUS PATTERN COMMAND...: it ends so, and one line of what it says, on
# either stream, matches.
ends() {
    local status=0
    "${@:3}" >"$work/said" 2>&1 || status=$?
    [ "$status" = "$1" ] || fail "${*:3}: status $status: $(cat "$work/said")"
    grep -qE -e "$2" "$work/said" || fail "${*:3}: says: $(cat "$work/said")"
}

# stub NAME < SCRIPT: a command of ours in the place of the real one.
stub() {
    { echo '#!/bin/sh' && cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

every_script_tells_its_usage() {
    local script
    for script in run check scripts/hygiene scripts/instructions scripts/pictures \
        scripts/manual scripts/results scripts/single-file scripts/mutate \
        scripts/draw-ticks benchmarks/peers/fetch-timeout; do
        ends 0 '^usage: ' "$tree/$script" --help
        ends 2 "$(basename "$script")" "$tree/$script" --no-such-option
    done
    ends 1 'has no lines of late' "$tree/scripts/draw-ticks" /dev/null
}

# What is built says where it runs and with what; packages that are asked for
# are written down, and none is installed.
stub cmake <<'SH'
mkdir -p build/run/cli build/run/benchmarks build/run/server
for program in cli/tickwheel benchmarks/bench_idle server/tickwheeld; do
    printf '#!/bin/sh\necho "in $PWD: $*"\n' >"build/run/$program"
    chmod +x "build/run/$program"
done
SH
stub dpkg-query <<SH
for package; do :; done
echo "\$package" >>"$work/asked"
case \$package in uthash-dev) exit 1 ;; esac
echo installed
SH
stub apt-get <<SH
echo "apt-get \$*" >>"$work/asked"
exit 100
SH
stub sudo <<'SH'
exit 1
SH

what_is_run_is_run_where_you_are() {
    cd "$away"
    ends 0 "^in $away: sim load.csv\$" "$tree/run" sim load.csv
    ends 0 "^in $away: where 0 9\$" "$tree/run" where 0 9
    [ -z "$(ls "$away")" ] || fail "./run has left something: $(ls "$away")"
    cd "$work"
}

building_is_announced_when_there_is_something_to_build() {
    rm -rf "$tree/build"
    ends 0 '^building \.\.\.$' "$tree/run" where 0 9
    "$tree/run" where 0 9 2>&1 | grep building && fail "it is built already"
    touch -d 'now + 1 hour' "$tree/src"
    ends 0 '^building \.\.\.$' "$tree/run" where 0 9
    touch "$tree/src"
}

a_command_that_is_none_is_refused() {
    ends 2 "no command 'nonsense'; see ./run --help" "$tree/run" nonsense
    ends 2 "no command '--nonsense'; see ./run --help" "$tree/run" --nonsense
}

# Every command that the tool has is one of ./run.
every_command_can_be_run() {
    local command commands
    commands=$("$TOOL" --help | sed -n 's/^    \([a-z]*\) .*/\1/p')
    [ -n "$commands" ] || fail "--help tells no commands"
    for command in $commands --version; do
        [ "$command" != bench ] || continue
        ends 0 "^in $work: $command" "$tree/run" "$command"
    done
    ends 2 'use ./bench, see' "$tree/run" bench
}

# The hints name the port that the server listens on, and where the jobs are.
the_server_is_started() {
    local state=$work/state/tickwheel
    export XDG_STATE_HOME=$work/state
    ends 0 "^in $work: -b $state -p 4711 -V\$" "$tree/run" serve -p 4711 -V
    grep -qF "Jobs are kept in $state" "$work/said" || fail "no word of the jobs"
    grep -qF 'nc -q 6 127.0.0.1 4711' "$work/said" || fail "another port is named"
    ends 0 "^in $work: -b $state --port=12\$" "$tree/run" serve --port=12
    grep -qF '("127.0.0.1", 12)' "$work/said" || fail "another port is named"
    ends 0 "^in $work: -b here\$" "$tree/run" serve -b here
    ends 0 "^in $work: --help\$" "$tree/run" serve --help
    ! grep -q nc "$work/said" || fail "hints are in the way of the help"
}

every_benchmark_has_a_name() {
    ends 0 '^usage: ./bench' "$tree/bench" --help
    ends 2 "no benchmark 'nonsense'; see ./bench --help" "$tree/bench" nonsense
    ends 2 'takes no other argument' "$tree/bench" --setup --quick
    ends 0 "^in $work: bench --commit unknown --quick\$" "$tree/bench" core --quick
    ends 0 "^in $work: --quick\$" "$tree/bench" idle --quick
}

nothing_is_installed_for_help() {
    : >"$work/asked"
    ends 0 "^in $work: --help\$" "$tree/bench" idle --help
    ends 0 "^in $work: demo -h\$" "$tree/run" demo -h
    [ ! -s "$work/asked" ] || fail "help asks for $(cat "$work/asked")"
}

what_is_optional_is_left_out() {
    : >"$work/asked"
    ends 0 'cannot install uthash-dev: it is left out$' "$tree/bench" idle
    grep -q "^in $work: \$" "$work/said" || fail "the benchmark was not run"
    grep -qx uthash-dev "$work/asked" || fail "uthash was not asked for"
}

without_git_nothing_passes() {
    local step
    for step in format hygiene shell tidy tidy-rest; do
        ends 1 "no git checkout, and $step checks" "$tree/check" "$step"
    done
    ends 1 'no git checkout' "$tree/check"
    ends 1 'nothing was checked; run it in a git checkout$' "$tree/scripts/hygiene"
}

# One link to a file and one to a heading are fine; three links are broken.
a_link_that_leads_nowhere_is_found() {
    local pages=$work/pages
    mkdir -p "$pages/scripts"
    cp "$SOURCE/scripts/hygiene" "$pages/scripts"
    git init -q "$pages"
    printf '# A page\n\n[a](b.md) [b](b.md#a-heading) [c](#a-page)\n' >"$pages/a.md"
    printf '# A *heading*\n' >"$pages/b.md"
    "$pages/scripts/hygiene" >"$work/said" 2>&1 || fail "hygiene: $(cat "$work/said")"
    printf '[d](none.md) [e](b.md#none)\n\n[f]: ../none.h\n' >>"$pages/a.md"
    ends 1 '^    a\.md:4: none\.md$' "$pages/scripts/hygiene"
    grep -qx '    a\.md:4: b\.md#none' "$work/said" || fail "hygiene: no broken anchor"
    grep -qx '    a\.md:6: \.\./none\.h' "$work/said" || fail "hygiene: no broken reference"
}

# counts COMPILER NUMBER: a tool that says so, and a valgrind that counts so many.
counts() {
    stub tool <<SH
echo '$1'
SH
    stub valgrind <<SH
echo '==1== Collected : $2'
SH
}

what_is_not_counted_is_no_pass() {
    local instructions=$tree/scripts/instructions baseline=$tree/benchmarks/core/instructions.txt
    local row=' \| (wheel|pool) arm'
    : >"$baseline"
    ends 1 'which compiler' "$instructions" /bin/true
    ends 1 'cannot run' "$instructions" /bin/false
    counts 'gcc 1' 500000
    ends 0 '^note: no baseline for gcc 1: nothing is compared$' "$instructions" tool
    ends 0 '^accepted for gcc 1:$' "$instructions" tool --accept
    [ "$(grep -c '^gcc 1 | ' "$baseline")" = 14 ] || fail "14 workloads, not $(cat "$baseline")"
    ends 0 '^wheel arm .* \+0\.0% ok$' "$instructions" tool
    # The count of touch, rounded to 2.30 from 2.27, changes most.
    counts 'gcc 1' 505000
    ends 0 '^figures: \{"workloads": 14, "percent more instructions at most": 1\.3\}$' \
        "$instructions" tool
    counts 'gcc 1' 520000
    ends 1 '^more instructions than .*: wheel arm .* pool empty$' "$instructions" tool
    counts 'gcc 1' ''
    ends 1 'wheel arm: nothing was counted$' "$instructions" tool
    counts 'gcc 1' 0
    ends 1 'wheel arm: nothing was counted$' "$instructions" tool
    counts 'gcc 1' 500000
    grep -vE "$row" "$baseline" >"$work/less"
    cp "$work/less" "$baseline"
    ends 1 '^no baseline: wheel arm pool arm$' "$instructions" tool
}

# A file that is not there is one line, and not where in Python it was missed.
a_missing_file_is_one_line() {
    ends 1 '^results: no-file: No such file' "$tree/scripts/results" record release no-file 1
    ends 1 '^results: .*testing.md: No such file' "$tree/scripts/results" check
    ends 1 '^manual: no-file: No such file' "$tree/scripts/manual" page no-file
    ends 1 '^manual: no-file: No such file' "$tree/scripts/manual" render no-file out
    ends 2 "no option '--nonsense'" "$tree/scripts/manual" --nonsense
    ends 1 '^Give the path of libtickwheel.so' python3 -B \
        "$SOURCE/examples/python_timers.py" ./no-file
    if grep -q Traceback "$work/said"; then fail "python_timers.py: a traceback"; fi
}

the_two_files_are_printed_and_no_parents_made() {
    ends 1 '^single-file: no/such: No such file' "$SOURCE/scripts/single-file" no/such
    [ ! -e no ] || fail "single-file makes parents"
    ends 0 '^one/tickwheel.h$' "$SOURCE/scripts/single-file" one
    grep -qx one/tickwheel.c "$work/said" || fail "single-file: $(cat "$work/said")"
    [ -s one/tickwheel.c ] || fail "single-file does not write what it tells"
}

cd "$work"
every_script_tells_its_usage
what_is_run_is_run_where_you_are
building_is_announced_when_there_is_something_to_build
a_command_that_is_none_is_refused
every_command_can_be_run
the_server_is_started
every_benchmark_has_a_name
nothing_is_installed_for_help
what_is_optional_is_left_out
without_git_nothing_passes
a_link_that_leads_nowhere_is_found
what_is_not_counted_is_no_pass
a_missing_file_is_one_line
the_two_files_are_printed_and_no_parents_made
