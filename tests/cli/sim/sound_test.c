/*
 * cli/sim/sound_test.c - whoever breaks a promise during a replay is found out,
 * and who has no memory left says so.
 */
#include "traces.h"

#include <errno.h>

#include "support/fault.h"

static tkw_tick next_but_one(const struct engine *engine)
{
    tkw_tick next = engine_wheel.next(engine);
    return next == TKW_NEVER ? next : next + 1;
}

static tkw_tick next_too_soon(const struct engine *engine)
{
    tkw_tick next = engine_wheel.next(engine);
    return next == TKW_NEVER ? next : next - 1;
}

static void advance_too_far(struct engine *engine, tkw_tick now)
{
    engine_wheel.advance(engine, now + 1);
}

static uint32_t pop_and_lose(struct engine *engine, tkw_tick *deadline)
{
    engine_wheel.pop(engine, deadline);
    return engine_wheel.pop(engine, deadline);
}

static uint32_t pop_another_deadline(struct engine *engine, tkw_tick *deadline)
{
    uint32_t id = engine_wheel.pop(engine, deadline);
    ++*deadline;
    return id;
}

static uint32_t pop_a_stranger(struct engine *engine, tkw_tick *deadline)
{
    uint32_t id = engine_wheel.pop(engine, deadline);
    return id == ENGINE_NOWHERE ? id : id + 1000;
}

static tkw_tick sleep_for_ever(const struct engine *engine)
{
    (void)engine;
    return TKW_NEVER;
}

static bool cancel_nothing(struct engine *engine, uint32_t id)
{
    (void)engine;
    (void)id;
    return true;
}

static bool cancel_and_deny(struct engine *engine, uint32_t id)
{
    engine_wheel.cancel(engine, id);
    return false;
}

static bool find_fault(const struct engine *engine, struct tkw_fault *fault)
{
    (void)engine;
    *fault = (struct tkw_fault){.what = "planted number", .found = 3};
    return true;
}

static struct tkw_wheel_stats count_one_more(const struct engine *engine)
{
    struct tkw_wheel_stats stats = engine_wheel.read_stats(engine);
    stats.fired++;
    return stats;
}

static struct replay_outcome run_some(const struct engine_kind *kind)
{
    struct trace trace =
        TRACE(0, ARM(0, 0, 10), ARM(0, 1, 10), ARM(0, 2, 15), CANCEL(2, 2));
    return run_on(kind, &trace, &twenty);
}

static bool is_found_out(const struct engine_kind *kind)
{
    return !run_some(kind).is_sound;
}

/* An outcome says which invariant is broken, or that none is. */
static void a_broken_invariant_is_described(void **state)
{
    (void)state;
    struct engine_kind kind = engine_wheel;
    assert_null(run_some(&kind).fault.what);
    kind.find_fault = find_fault;
    struct replay_outcome outcome = run_some(&kind);
    ASSERT_FAULT(&outcome.fault, "planted number is 3, expected 0");
}

static void a_broken_promise_is_found_out(void **state)
{
    (void)state;
    assert_false(is_found_out(&engine_wheel));
    struct engine_kind kind = engine_wheel;

    kind.next = next_but_one; /* late */
    assert_true(is_found_out(&kind));
    kind.next = next_too_soon; /* early */
    kind.advance = advance_too_far;
    assert_true(is_found_out(&kind));
    kind = engine_wheel;
    kind.pop = pop_and_lose;
    assert_true(is_found_out(&kind));
    kind.pop = pop_another_deadline;
    assert_true(is_found_out(&kind));
    kind.pop = pop_a_stranger;
    assert_true(is_found_out(&kind));
    kind = engine_wheel;
    kind.next = sleep_for_ever;
    assert_true(is_found_out(&kind));
    kind = engine_wheel;
    kind.cancel = cancel_nothing;
    assert_true(is_found_out(&kind));
    kind.cancel = cancel_and_deny;
    assert_true(is_found_out(&kind));
    kind = engine_wheel;
    kind.find_fault = find_fault;
    assert_true(is_found_out(&kind));
    kind = engine_wheel;
    kind.read_stats = count_one_more;
    assert_true(is_found_out(&kind));
}

static struct engine *open_nothing(const struct tkw_geometry *geometry,
                                   tkw_tick start, uint32_t n)
{
    (void)geometry;
    (void)start;
    (void)n;
    return NULL;
}

static bool arm_nothing(struct engine *engine, uint32_t id, tkw_tick deadline)
{
    (void)engine;
    (void)id;
    (void)deadline;
    return false;
}

static int postpone_nothing(struct engine *engine, uint32_t id,
                            tkw_tick deadline)
{
    (void)engine;
    (void)id;
    (void)deadline;
    return -ENOMEM;
}

static void want_of_memory_ends_a_replay(void **state)
{
    (void)state;
    struct engine_kind poor[] = {engine_wheel, engine_wheel, engine_wheel};
    struct trace trace = TRACE(0, ARM(0, 0, 10), POSTPONE(1, 0, 12));
    poor[0].open = open_nothing;
    poor[1].arm = arm_nothing;
    poor[2].postpone = postpone_nothing;
    for (unsigned i = 0; i < 3; i++) {
        struct replay_outcome outcome;
        assert_int_equal(
            replay(&trace, &poor[i], &twenty, NULL, NULL, NULL, &outcome),
            -ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_promise_is_found_out),
        cmocka_unit_test(a_broken_invariant_is_described),
        cmocka_unit_test(want_of_memory_ends_a_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
