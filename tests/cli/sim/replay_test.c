/*
 * cli/sim/replay_test.c - a trace replayed: what happens when, and what is
 * counted.
 */
#include "traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct engine_kind *const kinds[] = {&engine_wheel, &engine_pool};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const struct tkw_geometry hashed = {.sizes = {512},
                                           .beyond = TKW_ROUNDS};

/* Replay, on an engine that must keep its promises. */
static struct replay_outcome run(const struct engine_kind *kind,
                                 const struct trace *trace,
                                 const struct tkw_geometry *geometry)
{
    struct replay_outcome outcome = run_on(kind, trace, geometry);
    assert_true(outcome.is_sound);
    return outcome;
}

static void a_timer_falls_from_level_to_level(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(0, 0, 445));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        assert_int_equal(o.operations, 1);
        assert_int_equal(o.work.armed, 1);
        assert_int_equal(o.work.fired, 1);
        assert_int_equal(o.work.falls, 2);
        assert_int_equal(o.work.visits, 3);
        assert_int_equal(o.wakeups, 3);
        assert_int_equal(o.wakeups_empty, 2);
        assert_int_equal(o.levels, 3);
        assert_int_equal(o.start, 0);
        assert_int_equal(o.end, 445);
        assert_int_equal(o.last, 445);
    }
}

/* Or a program that arms late would be told that nothing ever happened. */
static void a_deadline_in_the_past_is_popped_at_once(void **state)
{
    (void)state;
    struct trace trace =
        TRACE(5, ARM(100, 0, 7), ARM(100, 1, 100), ADVANCE(5000));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        assert_int_equal(o.work.fired, 2);
        assert_int_equal(o.wakeups, 1);
        assert_int_equal(o.wakeups_empty, 0);
        assert_int_equal(o.levels, 0);
    }
}

static void nobody_wakes_up_between_operations_of_a_tick(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(9, 0, 3), CANCEL(9, 0));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        assert_int_equal(o.work.cancelled, 1);
        assert_int_equal(o.work.fired, 0);
        assert_int_equal(o.ignored, 0);
    }
}

/* Who watches sees operations one by one, and that must be all. */
static void to_be_watched_changes_nothing(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(9, 0, 3), CANCEL(9, 0), ARM(9, 1, 2));
    struct replay_watcher nobody = {NULL, NULL, NULL};
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o;
        assert_int_equal(
            replay(&trace, kinds[i], &twenty, &nobody, NULL, NULL, &o), 0);
        assert_true(o.is_sound);
        assert_int_equal(o.work.cancelled, 1);
        assert_int_equal(o.work.fired, 1);
    }
}

static void an_operation_finds_what_is_due_by_then_popped(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(0, 0, 10), ARM(0, 1, 11), CANCEL(10, 0),
                               CANCEL(10, 1), POSTPONE(10, 2, 30));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        assert_int_equal(o.work.fired, 1);
        assert_int_equal(o.work.cancelled, 1);
        assert_int_equal(o.ignored, 2);
        assert_int_equal(o.pending_max, 2);
    }
}

static void a_postponed_timer_fires_on_its_last_deadline(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(0, 0, 10), POSTPONE(5, 0, 445),
                               POSTPONE(6, 0, 440), ARM(7, 1, 9));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        assert_int_equal(o.work.armed, 2);
        assert_int_equal(o.work.fired, 2);
        assert_int_equal(o.levels, 3);
    }
}

static void what_never_comes_due_stays_pending(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(0, 0, TKW_NEVER), ARM(0, 1, 30),
                               POSTPONE(1, 1, TKW_NEVER));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        assert_int_equal(o.work.armed, 2);
        assert_int_equal(o.work.fired, 0);
        assert_int_equal(o.end, 30);
        assert_int_equal(o.last, 1);
    }
}

/* What is cancelled is not waited for, nor is a slot that was all it was in. */
static void time_ends_with_what_happens_last(void **state)
{
    (void)state;
    struct trace cancelled =
        TRACE(5, ARM(5, 0, 445), ARM(5, 1, 9), CANCEL(7, 0));
    struct trace late = TRACE(5, ARM(5, 0, 445), CANCEL(7, 0), ADVANCE(500));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &cancelled, &twenty);
        assert_int_equal(o.end, 445);
        assert_int_equal(o.last, 9);
        o = run(kinds[i], &late, &twenty);
        assert_int_equal(o.last, 500);
    }
}

/* No loop over ticks: this would take for ever. */
static void far_jumps_cost_nothing(void **state)
{
    (void)state;
    struct trace trace =
        TRACE(7, ARM(7, 0, TKW_NEVER - 1), ADVANCE(TKW_NEVER - 2));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        assert_int_equal(o.work.fired, 1);
        assert_true(o.end == TKW_NEVER - 1);
    }
}

static void time_can_come_to_its_end(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(3, 0, 445), ARM(TKW_NEVER, 1, 5));
    for (unsigned i = 0; i < KINDS; i++)
        assert_int_equal(run(kinds[i], &trace, &twenty).work.fired, 2);
}

static void a_wheel_with_rounds_passes_over(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(0, 0, 1112));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &hashed);
        assert_int_equal(o.work.passes, 2);
        assert_int_equal(o.wakeups, 3);
        assert_int_equal(o.levels, 1);
    }
}

/* Ten timers fall together at 400, nine of them by two levels, which a pool
 * does one by one; no more than two are due together. */
static void the_worst_step_is_reported_with_its_time(void **state)
{
    (void)state;
    struct trace trace =
        TRACE(0, ARM(0, 0, 401), ARM(0, 1, 401), ARM(0, 2, 403), ARM(0, 3, 405),
              ARM(0, 4, 406), ARM(0, 5, 407), ARM(0, 6, 408), ARM(0, 7, 409),
              ARM(0, 8, 410), ARM(0, 9, 479));
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        uint64_t worst = kinds[i] == &engine_wheel ? 10 : 19;
        assert_int_equal(o.worst_moved, worst);
        assert_int_equal(o.worst_at, 400);
        assert_int_equal(o.bins[400 * REPLAY_BINS / 480], worst);
        assert_int_equal(o.bins[REPLAY_BINS - 1], 1);
        assert_int_equal(o.bins[0], 0);
    }
}

static void memory_is_that_of_the_most_pending(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(0, 0, 30), ARM(1, 1, 30), ARM(2, 2, 30),
                               CANCEL(3, 0), CANCEL(3, 1), ARM(4, 3, 30));
    struct replay_outcome o = run(&engine_wheel, &trace, &twenty);
    assert_int_equal(o.pending_max, 3);
    assert_int_equal(o.bytes_max,
                     tkw_wheel_bytes(&twenty) + 3 * sizeof(struct tkw_timer));
    o = run(&engine_pool, &trace, &twenty);
    assert_true(o.bytes_max > 3 * 32);
}

static void the_span_is_to_the_last_time_or_deadline(void **state)
{
    (void)state;
    struct trace by_time = TRACE(100, ARM(100, 0, 105), ADVANCE(300));
    struct trace by_deadline =
        TRACE(100, ARM(100, 0, 105), ARM(101, 0, TKW_NEVER), ARM(102, 1, 500));
    struct trace nothing = {.start = 9};
    assert_int_equal(replay_span(&by_time), 200);
    assert_int_equal(replay_span(&by_deadline), 400);
    assert_int_equal(replay_span(&nothing), 0);
}

static void a_trace_of_nothing_is_fine(void **state)
{
    (void)state;
    struct trace trace = {.start = 9};
    for (unsigned i = 0; i < KINDS; i++) {
        struct replay_outcome o = run(kinds[i], &trace, &twenty);
        assert_int_equal(o.operations, 0);
        assert_int_equal(o.wakeups, 0);
        assert_true(o.bytes_max > 0);
    }
}

/* Progress that is given up after so many times. */
struct patience {
    unsigned left;
    unsigned asked;
    double part;
};

static bool be_patient(void *context, double part)
{
    struct patience *patience = context;
    assert_true(part >= patience->part && part <= 1);
    patience->part = part;
    patience->asked++;
    return patience->left-- > 0;
}

/* Turns of a small ring until the end of time: only asking can end them. */
static void turns_without_end_can_be_interrupted(void **state)
{
    (void)state;
    struct trace trace = TRACE(0, ARM(0, 0, TKW_NEVER - 1));
    struct tkw_geometry tiny = {.sizes = {2}, .beyond = TKW_ROUNDS};
    for (unsigned i = 0; i < KINDS; i++) {
        struct patience patience = {.left = 3};
        struct replay_outcome outcome;
        assert_int_equal(replay(&trace, kinds[i], &tiny, NULL, be_patient,
                                &patience, &outcome),
                         -EINTR);
        assert_int_equal(patience.asked, 4);
    }
}

/* What a watcher saw, in letters. */
struct diary {
    char text[64];
    size_t length;
    tkw_tick now;
};

static void write_down(struct diary *diary, char letter)
{
    assert_true(diary->length + 1 < sizeof diary->text);
    diary->text[diary->length++] = letter;
}

static void see_step(void *context, const struct engine *engine, tkw_tick now)
{
    struct diary *diary = context;
    assert_true(now >= diary->now);
    assert_true(engine_wheel.next(engine) > now);
    diary->now = now;
    write_down(diary, 's');
}

static void see_operation(void *context, const struct engine *engine,
                          const struct trace_op *op)
{
    static const char letters[] = {'a', 'p', 'c', '.'};
    struct diary *diary = context;
    if (op->kind == TRACE_ARM) /* it is told before the next is done */
        assert_int_equal(engine_wheel.count(engine), op->key + 1);
    write_down(diary, letters[op->kind]);
}

static void a_watcher_is_called_for_everything_in_order(void **state)
{
    (void)state;
    struct diary diary = {.now = 0};
    struct replay_watcher watcher = {&diary, see_step, see_operation};
    struct trace trace =
        TRACE(0, ARM(0, 0, 25), ARM(0, 1, 30), CANCEL(2, 1), ADVANCE(2));
    struct replay_outcome outcome;
    assert_int_equal(
        replay(&trace, &engine_wheel, &twenty, &watcher, NULL, NULL, &outcome),
        0);
    assert_string_equal(diary.text, "aasc.ss");
    assert_int_equal(diary.now, 25);
}

/* A film shows timers where the dial says they are. */
static void a_census_finds_each_timer_in_its_slot(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {1,   19,  20,   39,        400, 445,
                                         799, 800, 7999, TKW_NEVER, 0,   21};
    enum { N = sizeof deadlines / sizeof deadlines[0] };
    for (unsigned k = 0; k < KINDS; k++) {
        struct engine *engine = kinds[k]->open(&twenty, 0, N);
        for (uint32_t i = 0; i < N; i++)
            assert_true(kinds[k]->arm(engine, i, deadlines[i]));
        assert_true(kinds[k]->cancel(engine, N - 1)); /* 21: dead */

        const struct tkw_dial *dial = kinds[k]->dial(engine);
        uint32_t places[N], *slots;
        slots = malloc(dial->slot_count * sizeof *slots);
        memset(slots, 0xff, dial->slot_count * sizeof *slots);
        struct engine_census census = {slots, places};
        kinds[k]->take_census(engine, &census);

        size_t sum = 0;
        for (uint32_t i = 0; i < dial->slot_count; i++)
            sum += slots[i];
        assert_int_equal(sum, N - 3);
        for (uint32_t i = 0; i < N - 3; i++) {
            struct tkw_spot spot = tkw_dial_where(dial, deadlines[i]);
            uint32_t place = dial->levels[spot.level - 1].first + spot.slot;
            assert_int_equal(places[i], place);
            assert_true(slots[place] > 0);
        }
        for (uint32_t i = N - 3; i < N; i++)
            assert_int_equal(places[i], ENGINE_NOWHERE);
        free(slots);
        kinds[k]->close(engine);
    }
}

enum { RANDOM_OPS = 20000, RANDOM_KEYS = 500 };

static uint64_t draw(uint64_t *random, uint64_t below)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*random >> 33) % below;
}

static void make_random(struct trace *trace, uint64_t seed)
{
    tkw_tick now = trace->start;
    for (size_t i = 0; i < RANDOM_OPS; i++) {
        now += draw(&seed, 4) == 0 ? draw(&seed, 300) : 0;
        tkw_tick ahead = draw(&seed, (uint64_t)1 << draw(&seed, 20));
        trace->ops[i] = (struct trace_op){
            .time = now,
            .deadline = now - draw(&seed, 3) + ahead,
            .key = (uint32_t)draw(&seed, RANDOM_KEYS),
            .kind = (enum trace_kind)draw(&seed, 4),
        };
    }
}

/* What becomes of timers does not depend on the engine or the geometry. */
static void all_geometries_agree_on_the_outcome(void **state)
{
    (void)state;
    static struct trace_op ops[RANDOM_OPS];
    static const struct tkw_geometry geometries[] = {
        {.sizes = {128, 512, 64}},
        {.sizes = {2}},
        {.sizes = {60, 60, 24}},
        {.sizes = {512}, .beyond = TKW_ROUNDS},
        {.sizes = {5, 7}, .beyond = TKW_ROUNDS},
    };
    struct trace trace = {.ops = ops,
                          .op_count = RANDOM_OPS,
                          .key_count = RANDOM_KEYS,
                          .start = 1000};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        make_random(&trace, seed);
        struct replay_outcome first = run(&engine_wheel, &trace, &twenty);
        for (unsigned i = 0; i < 2 * 5; i++) {
            struct replay_outcome o =
                run(kinds[i % 2], &trace, &geometries[i / 2]);
            assert_int_equal(o.work.armed, first.work.armed);
            assert_int_equal(o.work.fired, first.work.fired);
            assert_int_equal(o.work.cancelled, first.work.cancelled);
            assert_int_equal(o.ignored, first.ignored);
            assert_int_equal(o.pending_max, first.pending_max);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_falls_from_level_to_level),
        cmocka_unit_test(a_deadline_in_the_past_is_popped_at_once),
        cmocka_unit_test(nobody_wakes_up_between_operations_of_a_tick),
        cmocka_unit_test(to_be_watched_changes_nothing),
        cmocka_unit_test(an_operation_finds_what_is_due_by_then_popped),
        cmocka_unit_test(a_postponed_timer_fires_on_its_last_deadline),
        cmocka_unit_test(what_never_comes_due_stays_pending),
        cmocka_unit_test(time_ends_with_what_happens_last),
        cmocka_unit_test(far_jumps_cost_nothing),
        cmocka_unit_test(time_can_come_to_its_end),
        cmocka_unit_test(a_wheel_with_rounds_passes_over),
        cmocka_unit_test(the_worst_step_is_reported_with_its_time),
        cmocka_unit_test(memory_is_that_of_the_most_pending),
        cmocka_unit_test(the_span_is_to_the_last_time_or_deadline),
        cmocka_unit_test(a_trace_of_nothing_is_fine),
        cmocka_unit_test(turns_without_end_can_be_interrupted),
        cmocka_unit_test(a_watcher_is_called_for_everything_in_order),
        cmocka_unit_test(a_census_finds_each_timer_in_its_slot),
        cmocka_unit_test(all_geometries_agree_on_the_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
