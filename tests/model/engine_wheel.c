/*
 * engine_wheel.c - tickwheel/wheel.h as an engine of the model test.
 */
#include "engine_common.h"

#include <inttypes.h>
#include <stdlib.h>

struct wheel_engine {
    struct tkw_wheel *wheel;
    size_t timer_count;
    struct tkw_timer timers[];
};

static void *make(const struct world *world)
{
    size_t bytes = tkw_wheel_bytes(&world->geometry);
    struct wheel_engine *self =
        calloc(1, sizeof *self + world->timer_count * sizeof self->timers[0]);
    if (self == NULL)
        return NULL;

    self->timer_count = world->timer_count;
    self->wheel = malloc(bytes);
    if (self->wheel == NULL ||
        tkw_wheel_init(self->wheel, bytes, &world->geometry, world->start)) {
        free(self->wheel);
        free(self);
        return NULL;
    }
    return self;
}

static void unmake(void *engine)
{
    struct wheel_engine *self = engine;

    free(self->wheel);
    free(self);
}

static uint64_t number(const struct wheel_engine *self,
                       const struct tkw_timer *timer)
{
    return timer != NULL ? (uint64_t)(timer - self->timers) : NO_TIMER;
}

static void arm(void *engine, uint64_t id, tkw_tick deadline)
{
    struct wheel_engine *self = engine;

    tkw_wheel_arm(self->wheel, &self->timers[id], deadline);
}

static bool postpone(void *engine, uint64_t id, tkw_tick deadline)
{
    struct wheel_engine *self = engine;

    return tkw_wheel_postpone(self->wheel, &self->timers[id], deadline);
}

static bool cancel(void *engine, uint64_t id)
{
    struct wheel_engine *self = engine;

    return tkw_wheel_cancel(self->wheel, &self->timers[id]);
}

static bool is_armed(void *engine, uint64_t id)
{
    struct wheel_engine *self = engine;

    return tkw_timer_is_armed(&self->timers[id]);
}

static bool advance(void *engine, tkw_tick to, size_t budget)
{
    struct wheel_engine *self = engine;

    if (budget != NO_BUDGET)
        return tkw_wheel_advance_some(self->wheel, to, budget);
    tkw_wheel_advance(self->wheel, to);
    return true;
}

static uint64_t pop(void *engine)
{
    struct wheel_engine *self = engine;

    return number(self, tkw_wheel_pop(self->wheel));
}

static uint64_t pop_due(void *engine)
{
    struct wheel_engine *self = engine;

    return number(self, tkw_wheel_pop_due(self->wheel));
}

static uint64_t drain(void *engine)
{
    struct wheel_engine *self = engine;

    return number(self, tkw_wheel_drain(self->wheel));
}

static tkw_tick next(void *engine)
{
    struct wheel_engine *self = engine;

    return tkw_wheel_next(self->wheel);
}

static tkw_tick now(void *engine)
{
    struct wheel_engine *self = engine;

    return tkw_wheel_now(self->wheel);
}

static size_t count(void *engine)
{
    struct wheel_engine *self = engine;

    return tkw_wheel_count(self->wheel);
}

static bool find_fault(void *engine, struct tkw_fault *fault)
{
    struct wheel_engine *self = engine;

    return tkw_wheel_find_fault(self->wheel, fault);
}

static struct work work(void *engine)
{
    struct wheel_engine *self = engine;
    struct tkw_wheel_stats counters = tkw_wheel_read_stats(self->wheel);

    return common_work(&counters);
}

static uint32_t level_count(void *engine)
{
    struct wheel_engine *self = engine;

    return tkw_wheel_dial(self->wheel)->level_count;
}

static uint32_t slot_count(void *engine)
{
    struct wheel_engine *self = engine;

    return tkw_wheel_dial(self->wheel)->slot_count;
}

static size_t walk(void *engine, uint64_t divisor, uint64_t *ids)
{
    struct wheel_engine *self = engine;
    struct tkw_wheel_cursor state = {0};
    size_t visited = 0;

    while (visited <= self->timer_count) {
        struct tkw_timer *timer = tkw_wheel_walk(self->wheel, &state);
        if (timer == NULL)
            break;
        ids[visited] = number(self, timer);
        if (divisor != 0 && ids[visited] % divisor == 0)
            tkw_wheel_cancel(self->wheel, timer);
        visited++;
    }
    return visited;
}

static void write_walk(FILE *out)
{
    fputs("/* Walk all; cancel those whose number `divisor` divides. */\n"
          "static size_t walk(struct tkw_wheel *wheel,\n"
          "                   const struct tkw_timer *timers, size_t divisor)\n"
          "{\n"
          "    struct tkw_wheel_cursor state = {0};\n"
          "    size_t visited = 0;\n"
          "\n"
          "    for (struct tkw_timer *t;\n"
          "         (t = tkw_wheel_walk(wheel, &state)) != NULL; visited++)\n"
          "        if (divisor != 0 && (size_t)(t - timers) % divisor == 0)\n"
          "            tkw_wheel_cancel(wheel, t);\n"
          "    return visited;\n"
          "}\n"
          "\n",
          out);
}

static void write_preamble(FILE *out, const struct world *world, bool has_walks)
{
    fputs("#include <stdlib.h>\n"
          "\n"
          "#include <tickwheel/wheel.h>\n"
          "\n",
          out);
    if (has_walks)
        write_walk(out);
    fputs("int main(void)\n"
          "{\n",
          out);
    common_write_geometry(out, &world->geometry);
    fprintf(out,
            "    struct tkw_timer timers[%zu] = {{.deadline = 0}};\n"
            "    size_t bytes = tkw_wheel_bytes(&geometry);\n"
            "    struct tkw_wheel *wheel = malloc(bytes);\n"
            "    (void)timers;\n"
            "\n"
            "    assert(wheel != NULL);\n"
            "    assert(tkw_wheel_init(wheel, bytes, &geometry,\n"
            "                          UINT64_C(%" PRIu64 ")) == 0);\n"
            "\n",
            world->timer_count, world->start);
}

static void write_timer(FILE *out, uint64_t id)
{
    if (id == NO_TIMER)
        fputs("NULL", out);
    else
        fprintf(out, "&timers[%" PRIu64 "]", id);
}

static void write_call(FILE *out, struct call call)
{
    static const char *const plain[] = {
        [CALL_CHECK] = "tkw_wheel_check", [CALL_POP] = "tkw_wheel_pop",
        [CALL_DRAIN] = "tkw_wheel_drain", [CALL_NOW] = "tkw_wheel_now",
        [CALL_NEXT] = "tkw_wheel_next",   [CALL_COUNT] = "tkw_wheel_count",
    };

    switch (call.kind) {
    case CALL_ARM:
    case CALL_POSTPONE:
        fprintf(out,
                "tkw_wheel_%s(wheel, &timers[%" PRIu64 "], UINT64_C(%" PRIu64
                "))",
                call.kind == CALL_ARM ? "arm" : "postpone", call.id, call.tick);
        break;
    case CALL_ADVANCE:
        fprintf(out, "tkw_wheel_advance(wheel, UINT64_C(%" PRIu64 "))",
                call.tick);
        break;
    case CALL_ADVANCE_SOME:
        fprintf(out,
                "tkw_wheel_advance_some(wheel, UINT64_C(%" PRIu64 "), %zu)",
                call.tick, call.budget);
        break;
    case CALL_CANCEL:
        fprintf(out, "tkw_wheel_cancel(wheel, &timers[%" PRIu64 "])", call.id);
        break;
    case CALL_IS_ARMED:
        fprintf(out, "tkw_timer_is_armed(&timers[%" PRIu64 "])", call.id);
        break;
    case CALL_WALK:
        fprintf(out, "walk(wheel, timers, %" PRIu64 ")", call.id);
        break;
    case CALL_CHECK:
    case CALL_POP:
    case CALL_DRAIN:
    case CALL_NOW:
    case CALL_NEXT:
    case CALL_COUNT:
        fprintf(out, "%s(wheel)", plain[call.kind]);
        break;
    default:
        common_write_counter(out, "tkw_wheel_read_stats(wheel)", call.kind);
        break;
    }
}

static void write_epilogue(FILE *out)
{
    fputs("    free(wheel);\n"
          "    return 0;\n"
          "}\n",
          out);
}

const struct engine_text engine_wheel_text = {
    .write_preamble = write_preamble,
    .write_call = write_call,
    .write_timer = write_timer,
    .write_epilogue = write_epilogue,
};

const struct engine engine_wheel = {
    .name = "wheel",
    .is_exact = true,
    .make = make,
    .free = unmake,
    .arm = arm,
    .postpone = postpone,
    .cancel = cancel,
    .is_armed = is_armed,
    .advance = advance,
    .pop = pop,
    .pop_due = pop_due,
    .drain = drain,
    .next = next,
    .now = now,
    .count = count,
    .find_fault = find_fault,
    .work = work,
    .level_count = level_count,
    .slot_count = slot_count,
    .walk = walk,
    .text = &engine_wheel_text,
};
