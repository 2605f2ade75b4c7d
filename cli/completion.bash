# Completion of the tickwheel command for bash.
#
# What there is to say is asked of the command itself, by its --help, so that it
# cannot be out of date.
# shellcheck shell=bash

# Its commands, one a line.
_tickwheel_commands() {
    "$1" --help 2>/dev/null | sed -nE 's/^    ([a-z]+) .*/\1/p'
}

# _tickwheel_options TOOL COMMAND: its options, and what of a value each takes.
_tickwheel_options() {
    "$1" "$2" --help 2>/dev/null |
        sed -nE 's/^ +(--[a-z][a-z-]*)( [A-Z]+)?( .*)?$/\1\2/p'
}

# What may stand behind an option that takes a value.
_tickwheel_values() {
    case $1 in
    --load) compgen -W 'burst requests idle' -- "$2" ;;
    --engine) compgen -W 'wheel pool both' -- "$2" ;;
    --geometry) compgen -W '128,512,64 20 64 256 60,60,24 512r 65536r' -- "$2" ;;
    --structures) compgen -W 'floor wheel pool pool_cold pool_ahead heap list' -- "$2" ;;
    --delays) compgen -W 'uniform log-uniform' -- "$2" ;;
    --chart | --film | --write | --json) compgen -f -- "$2" ;;
    esac
}

_tickwheel() {
    local tool=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} options

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W \
            "$(_tickwheel_commands "$tool") --help --version" -- "$word")
        return
    fi
    options=$(_tickwheel_options "$tool" "${COMP_WORDS[1]}")
    if grep -q "^$before [A-Z]" <<<"$options"; then
        mapfile -t COMPREPLY < <(_tickwheel_values "$before" "$word")
    elif [ "${COMP_WORDS[1]}" = sim ] && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W \
            "$(cut -d ' ' -f 1 <<<"$options")" -- "$word")
    fi
}

complete -o filenames -F _tickwheel tickwheel
