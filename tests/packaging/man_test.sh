#!/usr/bin/env bash
# The man pages are well formed, fit a terminal of 80 columns, and have every
# public function and every line of the headers' comments; docs/internals/threads.md is up
# to date; and tickwheel(1) has every command and option that the command itself
# tells of, with its numbers.
#
# SOURCE is the tree, MAN where the pages were built, TOOL the command, SERVER the
# server if it was built.
# Exits 77 where there is no mandoc.
set -euo pipefail
: "${SOURCE:?}" "${MAN:?}" "${TOOL:?}"
command -v mandoc >/dev/null || {
    echo "not looked at: there is no mandoc"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 count=0

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}

# rendered PAGE: as on a terminal of 80 columns, without bold and underlining.
rendered() {
    mandoc -T ascii -O width=78 "$1" | sed 's/.\x08//g'
}

# section NAME < TEXT: what is between this heading and the next.
section() {
    awk -v name="$1" '/^[^ ]/ { inside = $0 == name; next } inside'
}

# squeezed < TEXT: one line of it, in which only the words matter.
squeezed() {
    tr -s '[:space:]' ' ' | sed 's/( /(/g; s/\* /*/g'
}

# prototypes HEADER: of its public functions, one a line.  Comments get lines of
# their own first, to be taken out; but for those that make a function private.
prototypes() {
    tr '\n' ' ' <"$1" |
        sed -E 's#/\* Private[^*]*\*/ *(static inline|TKW_[A-Z]*)#PRIVATE#g
                s#/\*#\n&#g; s#\*/#&\n#g' |
        grep -v '^/\*' | tr -d '\n' |
        grep -oE '\b(TKW_EXPORT|TKW_INLINE|static inline) [^;{]*[;{]' |
        sed -E 's/^(TKW_EXPORT|TKW_INLINE|static inline) //; s/ *[;{]$/;/; s/ +/ /g
                s/\( /(/g; s/\* /*/g'
}

# words < TEXT: its letters alone, so that what is bold or a list does not matter.
words() {
    tr -c '[:alpha:]\n' ' ' | tr '[:upper:]' '[:lower:]' | tr -s ' ' | sed 's/^ //; s/ $//'
}

# comment_lines HEADER: of its comments that are not inside of a declaration.
# Lines of sentences that mark threads are left out: these go elsewhere.
comment_lines() {
    awk '/^\/\*/ { inside = 1; is_private = is_mark = 0 }
        /^\/\* Private/ { is_private = 1 }
        /\*([Aa]ny|[Oo]wner)|Threads:/ { is_mark = 1; sub(/.*(\*([Aa]ny|[Oo]wner)|Threads:)/, "") }
        inside && !is_private && !is_mark
        is_mark && /\./ { is_mark = 0 }
        /\*\/$/ { inside = 0 }' "$1" |
        sed -E 's#(^|[^[:alnum:]_/])(clock|dial|epoll|idle|key|libevent|libuv)\.h#\1tkw_\2#g
                s#(^|[^[:alnum:]_/])(base|monitor|pool|purgatory|service|version|wheel)\.h#\1tkw_\2#g'
}

# nothing_is_lost HEADER PAGE, which is in $work/page: each line of a comment is
# there, wherever lines end there.
nothing_is_lost() {
    local line
    words <"$work/page" | tr '\n' ' ' | tr -s ' ' >"$work/words"
    comment_lines "$1" | words | grep . >"$work/lines"
    while IFS= read -r line; do
        grep -qF "$line" "$work/words" || fail "$2 has lost: $line"
    done <"$work/lines"
}

a_page_is_well_formed() {
    mandoc -T lint -W warning "$1" >"$work/lint" || true
    [ ! -s "$work/lint" ] || fail "$(cat "$work/lint")"
    rendered "$1" | awk 'length > 80' >"$work/wide"
    [ ! -s "$work/wide" ] || fail "$1: too wide"$'\n'"$(cat "$work/wide")"
}

# a_function_is_told NAME PAGE PROTOTYPE: among the FUNCTIONS of the page, which
# are in $work/functions, there is a part with its name above it, and in that the
# prototype, what it does and who may call it.
a_function_is_told() {
    awk -v name="$1" '/^   [^ ]/ { inside = (", " substr($0, 4) ",") ~ ", " name "," }
        inside' "$work/functions" >"$work/part"
    [ -s "$work/part" ] || fail "$2: no part about $1"
    grep -q '^       Threads: .' "$work/part" || fail "$2: no Threads of $1"
    grep -q '^       In a callback: .' "$work/part" || fail "$2: no callbacks of $1"
    squeezed <"$work/part" | grep -qF "$3" || fail "$2: not with $1: $3"
    grep '^       [^ ]' "$work/part" | grep -qvE '^ *(Threads|In a callback): ' ||
        fail "$2: nothing is said about $1"
    [ "$(cat "$MAN/aliases/$1.3" 2>&1)" = ".so man3/$2.3" ] || [ "$1" = "$2" ] ||
        fail "$1 does not lead to $2"
}

a_header_is_told() {
    local page prototype name
    page=tkw_$(basename "$1" .h)
    [ -s "$MAN/$page.3" ] || {
        fail "$1 has no page"
        return
    }
    rendered "$MAN/$page.3" >"$work/page"
    nothing_is_lost "$1" "$page"
    section FUNCTIONS <"$work/page" >"$work/functions"
    section SYNOPSIS <"$work/page" | squeezed >"$work/synopsis"
    while IFS= read -r prototype; do
        name=${prototype%%(*}
        name=${name##*[ *]}
        grep -qF "$prototype" "$work/synopsis" || fail "$page: no $prototype"
        a_function_is_told "$name" "$page" "$prototype"
        count=$((count + 1))
    done < <(prototypes "$1")
}

every_header_is_told() {
    local header
    for header in "$SOURCE"/include/tickwheel/*.h; do
        [ "${header##*/}" = export.h ] || a_header_is_told "$header"
    done
    [ "$count" -gt 100 ] || fail "only $count functions were looked for"
    # One function has the name of its page, and there no other.
    [ "$(find "$MAN/aliases" -name '*.3' | wc -l)" -eq $((count - 1)) ] ||
        fail "aliases of what is no function"
}

# The programs in pages written by hand.
every_program_compiles() {
    local page programs=0
    for page in "$SOURCE"/docs/man/*.scd; do
        awk -v prefix="$work/${page##*/}" '
            /^```$/ { inside = !inside; n += inside; next }
            inside { gsub(/\\\\/, "\\"); print > (prefix "." n ".c") }' "$page"
    done
    for page in "$work"/*.c; do
        grep -q '^int main' "$page" || continue
        "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -fsyntax-only \
            -I"$SOURCE/include" "$page" || fail "a program does not compile"
        programs=$((programs + 1))
    done
    [ "$programs" -gt 0 ] || fail "no program was found"
}

# about OPTION COLUMN < TEXT: what is said of an option that begins in a column,
# up to the next thing that does.
about() {
    awk -v option="$1" -v column="$2" '
        match($0, /[^ ]/) && RSTART <= column { inside = $1 == option }
        inside'
}

# an_option_is_told COMMAND OPTION: with the numbers that --help has of it, which
# are its range and its default.
an_option_is_told() {
    local number
    about "$2" 8 <"$work/section" | squeezed >"$work/told"
    [ -s "$work/told" ] || fail "tickwheel.1: no $2 of $1"
    [ "$2" != --geometry ] || return 0
    for number in $(about "$2" 5 <"$work/help" | grep -oE '\b[0-9][0-9.^]*'); do
        grep -qwF -e "$number" "$work/told" || fail "tickwheel.1: no $number of $1 $2"
    done
}

the_command_is_told() {
    local command option commands options
    rendered "$MAN/tickwheel.1" >"$work/page"
    "$TOOL" --help >"$work/help"
    options=$(grep -oE -e '--[a-z]+' "$work/help")
    for option in $options; do
        grep -qF -e "$option" "$work/page" || fail "tickwheel.1: no $option"
    done
    commands=$(sed -n 's/^    \([a-z]*\) .*/\1/p' "$work/help")
    [ -n "$commands" ] || fail "--help tells no commands"
    for command in $commands; do
        section "TICKWHEEL ${command^^}" <"$work/page" >"$work/section"
        [ -s "$work/section" ] || fail "tickwheel.1: no $command"
        "$TOOL" "$command" --help >"$work/help"
        options=$(sed -n 's/^    \(--[a-z-]*\).*/\1/p' "$work/help")
        [ -n "$options" ] || fail "$command --help tells no options"
        for option in $options; do
            [ "$option" = --help ] || an_option_is_told "$command" "$option"
        done
    done
    section DESCRIPTION <"$work/page" | grep -qF "$("$TOOL" --version)" ||
        fail "tickwheel.1: another version"
}

# tickwheeld(8) has each option of the server.
the_server_is_described() {
    local option options
    rendered "$MAN/tickwheeld.8" >"$work/page"
    "$SERVER" --help >"$work/help"
    options=$(grep -oE -e '(^| )--?[a-zA-Z][a-z-]*' "$work/help" | sort -u)
    [ -n "$options" ] || fail "tickwheeld --help has no options"
    for option in $options; do
        grep -qwF -e "$option" "$work/page" || fail "tickwheeld.8: no $option"
    done
}

for page in "$MAN"/*.[1378]; do
    a_page_is_well_formed "$page"
done
every_header_is_told
every_program_compiles
the_command_is_told
[ -z "${SERVER-}" ] || the_server_is_described
"$SOURCE/scripts/manual" threads --check || fail "docs/internals/threads.md"
echo "$count functions"
[ "$failures" -eq 0 ]
