/*
 * call.c - a line of C that calls a function of a wheel or a pool.
 *
 * The words are those of tests/model/engine_wheel.c and engine_pool_text.c.
 */
#include "call.h"

/* The functions that are called, and how many numbers they are called with. */
static const struct function {
    const char *name;
    enum verb verb;
    unsigned numbers;
} functions[] = {
    {"tkw_wheel_arm", VERB_ARM, 2},
    {"arm", VERB_ARM, 2},
    {"tkw_wheel_postpone", VERB_POSTPONE, 2},
    {"postpone", VERB_POSTPONE, 2},
    {"tkw_wheel_cancel", VERB_CANCEL, 1},
    {"tkw_pool_cancel", VERB_CANCEL, 1},
    {"tkw_wheel_advance", VERB_ADVANCE, 1},
    {"tkw_pool_advance", VERB_ADVANCE, 1},
    {"tkw_wheel_advance_some", VERB_ADVANCE, 2},
    {"tkw_pool_advance_some", VERB_ADVANCE, 2},
    {"tkw_wheel_pop", VERB_POP, 0},
    {"pop", VERB_POP, 0},
    {"tkw_wheel_drain", VERB_DRAIN, 0},
    {"drain", VERB_DRAIN, 0},
    {"walk", VERB_WALK, 1},
    {"tkw_timer_is_armed", VERB_QUERY, 1},
    {"is_armed", VERB_QUERY, 1},
    {"tkw_wheel_check", VERB_QUERY, 0},
    {"tkw_pool_check", VERB_QUERY, 0},
    {"tkw_wheel_now", VERB_QUERY, 0},
    {"tkw_pool_now", VERB_QUERY, 0},
    {"tkw_wheel_next", VERB_QUERY, 0},
    {"tkw_pool_next", VERB_QUERY, 0},
    {"tkw_wheel_count", VERB_QUERY, 0},
    {"tkw_pool_count", VERB_QUERY, 0},
    {"tkw_wheel_read_stats", VERB_QUERY, 0},
    {"tkw_pool_read_stats", VERB_QUERY, 0},
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Bytes of the name or the number that `text` begins with. */
static size_t word_length(struct text text)
{
    size_t length = 0;
    while (length < text.length &&
           (is_letter(text.at[length]) || text_is_digit(text.at[length])))
        length++;
    return length;
}

bool call_numbers(struct text *text, struct numbers *numbers)
{
    *numbers = (struct numbers){.count = 0};
    for (unsigned depth = 1; depth > 0;) {
        size_t length = word_length(*text);
        struct text word = {text->at, length > 0 ? length : 1};
        if (text->length == 0)
            return false;
        *text = text_after(*text, word.length);
        depth += word.at[0] == '(' || word.at[0] == '{';
        depth -= word.at[0] == ')' || word.at[0] == '}';
        if (!text_is_digit(word.at[0]))
            continue;
        if (numbers->count == TKW_SIZES_MAX ||
            text_number(word, &numbers->at[numbers->count++]) != TEXT_NUMBER)
            return false;
    }
    return true;
}

static const struct function *find_function(struct text name)
{
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        if (text_is(name, functions[i].name))
            return &functions[i];
    }
    return NULL;
}

/* What the call is compared with, if it is: true, NULL, &timers[1], 1. */
static bool read_result(struct text rest, struct call *call)
{
    struct numbers numbers;
    if (!text_begins(rest, "=="))
        return true;
    rest = text_trim(text_after(rest, 2));
    call->is_refused = text_begins(rest, "false");
    if (!call_numbers(&rest, &numbers))
        return false;
    call->has_timer = numbers.count == 1;
    call->timer = numbers.at[0];
    return true;
}

bool call_read(struct text text, struct call *call)
{
    if (text_begins(text, "assert("))
        text = text_trim(text_after(text, strlen("assert(")));
    struct text name = {text.at, word_length(text)};
    text = text_after(text, name.length);

    const struct function *function = find_function(name);
    if (function == NULL || !text_begins(text, "("))
        return false;
    *call = (struct call){.verb = function->verb};
    text = text_after(text, 1);
    if (!call_numbers(&text, &call->numbers) ||
        call->numbers.count != function->numbers)
        return false;
    return call->verb == VERB_QUERY || read_result(text_trim(text), call);
}
