/*
 * reproducer.c - a program that the model test has written, as a trace.
 *
 * Such a program is C, but of few forms, a call a line (tests/model/reproduce.c
 * writes it):
 *
 *     struct tkw_geometry geometry = {.sizes = {60, 60, 12}};
 *     assert(tkw_wheel_init(wheel, bytes, &geometry,
 *                           UINT64_C(0)) == 0);
 *     tkw_wheel_arm(wheel, &timers[0], UINT64_C(445));
 *     assert(tkw_wheel_cancel(wheel, &timers[0]) == true);
 *     free(wheel);
 *
 * or the same in the words of the pool.  Each call is told by its name, the
 * numbers in it and the value that it is compared with.  Operations are done at
 * the time that the advances before them reached.
 *
 * Pops are left out: in a replay, what is due is popped at once.  So a timer
 * may be gone that the program still has ready.  To postpone such a one is to
 * arm it anew, and is written so.
 *
 * An advance that ran out of its budget got to a tick that the program does not
 * tell.  Time stays where it was then, until a pop shows that it went on.
 */
#include "reproducer.h"

#include "call.h"
#include "keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* A timer as the program has it, ready ones being armed. */
struct timer {
    uint64_t id;
    tkw_tick deadline;
    bool is_armed;
};

enum stage { BEFORE_MAIN, BEFORE_CALLS, IN_CALLS, AFTER_CALLS };

struct program {
    struct lines *lines;
    struct trace *trace;
    enum stage stage;
    struct keys keys; /* of timers, by the bytes of their numbers */
    struct timer *timers;
    size_t timer_room;
    tkw_tick time;   /* reached for sure */
    tkw_tick target; /* of the last advance */
    bool has_start;
};

/* What is behind the first `word` in `text`; NULL if there is none. */
static struct text text_behind(struct text text, const char *word)
{
    for (; text.length > 0; text = text_after(text, 1)) {
        if (text_begins(text, word))
            return text_after(text, strlen(word));
    }
    return (struct text){NULL, 0};
}

static bool text_ends(struct text text, const char *word)
{
    size_t length = strlen(word);
    return text.length >= length &&
           text_is(text_after(text, text.length - length), word);
}

static int refuse(const struct program *program, struct text line)
{
    return lines_refuse(program->lines, -EINVAL,
                        "%s is not a line that the model test writes",
                        lines_quote(line).text);
}

static int refuse_memory(const struct program *program)
{
    return lines_refuse(program->lines, -ENOMEM, "not enough memory");
}

static int find_timer(struct program *program, uint64_t id, uint32_t *key)
{
    struct keys_name name = keys_name((const char *)&id, sizeof id);
    uint32_t known = program->keys.count;
    if (keys_number(&program->keys, &name, key) != 0)
        return refuse_memory(program);
    if (*key < known)
        return 0;
    if (known == program->timer_room) {
        size_t room = program->timer_room * 2 + 64;
        struct timer *timers = realloc(program->timers, room * sizeof *timers);
        if (timers == NULL)
            return refuse_memory(program);
        program->timers = timers;
        program->timer_room = room;
    }
    program->timers[known] = (struct timer){.id = id};
    return 0;
}

static int emit(struct program *program, enum trace_kind kind, uint32_t key,
                tkw_tick deadline)
{
    uint64_t unit = program->trace->unit;
    struct trace_op op = {
        .time = tkw_tick_now(program->time, unit),
        .deadline = tkw_tick_deadline(deadline, unit),
        .key = key,
        .kind = kind,
    };
    return trace_append(program->trace, op) ? 0 : refuse_memory(program);
}

static int cancel(struct program *program, uint32_t key)
{
    program->timers[key].is_armed = false;
    return emit(program, TRACE_CANCEL, key, 0);
}

/* One that is ready is armed anew; one that is idle stays so. */
static int postpone(struct program *program, uint32_t key, tkw_tick deadline)
{
    struct timer *timer = &program->timers[key];
    bool is_ready = timer->is_armed && timer->deadline <= program->time;

    timer->deadline = deadline;
    return emit(program, is_ready ? TRACE_ARM : TRACE_POSTPONE, key, deadline);
}

/* A timer was popped, so time has come to its deadline. */
static int pop(struct program *program, uint32_t key)
{
    struct timer *timer = &program->timers[key];
    if (timer->deadline > program->time && timer->deadline <= program->target)
        program->time = timer->deadline;
    timer->is_armed = false;
    return 0;
}

static int advance(struct program *program, tkw_tick now, bool is_refused)
{
    if (now < program->time)
        return lines_refuse(program->lines, -EINVAL,
                            "the time goes back from %" PRIu64 " to %" PRIu64,
                            program->time, now);
    program->target = now;
    if (is_refused)
        return 0;
    program->time = now;
    return emit(program, TRACE_ADVANCE, 0, 0);
}

/* Those whose number `divisor` divides are cancelled; 0 divides none. */
static int walk(struct program *program, uint64_t divisor)
{
    int error = 0;
    for (uint32_t key = 0; key < program->keys.count && error == 0; key++) {
        const struct timer *timer = &program->timers[key];
        if (divisor != 0 && timer->is_armed && timer->id % divisor == 0)
            error = cancel(program, key);
    }
    return error;
}

/* Calls that are about a timer, named by the call or by what it returned. */
static int do_timer(struct program *program, const struct call *call)
{
    bool is_named = call->numbers.count > 0;
    uint64_t deadline = call->numbers.at[1];
    uint32_t key = 0;

    if (!is_named && !call->has_timer)
        return 0;
    int error =
        find_timer(program, is_named ? call->numbers.at[0] : call->timer, &key);
    if (error != 0)
        return error;
    if (!is_named && !program->timers[key].is_armed)
        return lines_refuse(program->lines, -EINVAL,
                            "timer %" PRIu64 " is returned but is not armed",
                            call->timer);
    switch (call->verb) {
    case VERB_ARM:
        program->timers[key].deadline = deadline;
        program->timers[key].is_armed = true;
        return emit(program, TRACE_ARM, key, deadline);
    case VERB_POSTPONE:
        return postpone(program, key, deadline);
    case VERB_POP:
        return pop(program, key);
    default: /* cancel or drain */
        return cancel(program, key);
    }
}

static int do_call(struct program *program, const struct call *call)
{
    switch (call->verb) {
    case VERB_QUERY:
        return 0;
    case VERB_ADVANCE:
        return advance(program, call->numbers.at[0], call->is_refused);
    case VERB_WALK:
        return walk(program, call->numbers.at[0]);
    default:
        return do_timer(program, call);
    }
}

/* Plain C that does nothing: a brace, or a comment and nothing behind it. */
static bool is_idle(struct text line)
{
    if (text_begins(line, "/*"))
        return text_behind(line, "*/").length == 0;
    return line.length == 0 || line.at[0] == '*' || text_begins(line, "//") ||
           text_is(line, "{") || text_is(line, "}");
}

static int read_geometry(struct program *program, struct text line)
{
    struct tkw_geometry geometry = {.beyond = TKW_GROW};
    struct text sizes = text_behind(line, ".sizes = {");
    struct numbers numbers;

    if (sizes.at == NULL || !call_numbers(&sizes, &numbers))
        return refuse(program, line);
    for (unsigned i = 0; i < numbers.count; i++)
        geometry.sizes[i] =
            numbers.at[i] < UINT32_MAX ? (uint32_t)numbers.at[i] : UINT32_MAX;
    if (text_behind(line, "TKW_ROUNDS").at != NULL)
        geometry.beyond = TKW_ROUNDS;

    const char *fault = tkw_geometry_fault(&geometry);
    if (fault != NULL)
        return lines_refuse(program->lines, -EINVAL, "%s", fault);
    program->trace->geometry = geometry;
    program->trace->has_geometry = true;
    return 0;
}

static int read_start(struct program *program, struct text line)
{
    struct text rest = text_behind(line, "UINT64_C(");
    struct numbers numbers;

    if (!call_numbers(&rest, &numbers) || numbers.count != 1)
        return refuse(program, line);
    program->time = program->target = numbers.at[0];
    program->trace->start = tkw_tick_now(numbers.at[0], program->trace->unit);
    program->has_start = true;
    return 0;
}

/* What comes before the calls ends when a wheel or a pool is there. */
static int read_making(struct program *program, struct text line)
{
    int error = 0;
    if (text_begins(line, "struct tkw_geometry "))
        error = read_geometry(program, line);
    else if (text_behind(line, "UINT64_C(").at != NULL)
        error = read_start(program, line);
    if (error != 0 || !text_ends(line, ") == 0);"))
        return error;
    if (!program->trace->has_geometry || !program->has_start)
        return lines_refuse(
            program->lines, -EINVAL,
            "the geometry or the start is missing before this line");
    program->stage = IN_CALLS;
    return 0;
}

static int read_line(struct program *program, struct text line)
{
    struct call call = {0};
    switch (program->stage) {
    case BEFORE_MAIN:
        if (text_begins(line, "int main("))
            program->stage = BEFORE_CALLS;
        return 0;
    case BEFORE_CALLS:
        return read_making(program, line);
    case IN_CALLS:
        break;
    default:
        return 0;
    }
    if (is_idle(line))
        return 0;
    if (text_is(line, "free(wheel);") ||
        text_is(line, "tkw_pool_close(pool);")) {
        program->stage = AFTER_CALLS;
        return 0;
    }
    return call_read(line, &call) ? do_call(program, &call)
                                  : refuse(program, line);
}

static int read_lines(struct program *program)
{
    int answer;
    for (struct text line; (answer = lines_next(program->lines, &line)) > 0;) {
        int error = read_line(program, text_trim(line));
        if (error != 0)
            return error;
    }
    if (answer == 0 && program->stage == BEFORE_MAIN)
        return lines_refuse(program->lines, -EINVAL,
                            "the file has no main(): it is neither a trace nor "
                            "a reproducer of the model test");
    if (answer == 0 && program->stage != AFTER_CALLS)
        return lines_refuse(program->lines, -EINVAL,
                            "the file is cut off: main() has no end");
    return answer;
}

int reproducer_read(struct trace *trace, struct lines *lines)
{
    struct program program = {.lines = lines, .trace = trace};
    int error = read_lines(&program);
    keys_close(&program.keys);
    free(program.timers);
    return error;
}
