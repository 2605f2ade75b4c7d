/*
 * support/core.c - see core.h.
 */
#include "core.h"

const struct tkw_geometry shapes[11] = {
    {.sizes = {0}},
    {.sizes = {20}},
    {.sizes = {10}},
    {.sizes = {60, 60, 12}},
    {.sizes = {2, 2, 2}},
    {.sizes = {3, 5, 7}},
    {.sizes = {100, 4096, 65}},
    {.sizes = {512}, .beyond = TKW_ROUNDS},
    {.sizes = {32}, .beyond = TKW_ROUNDS},
    {.sizes = {2}, .beyond = TKW_ROUNDS},
    {.sizes = {4, 6}, .beyond = TKW_ROUNDS},
};

const struct tkw_geometry kafka = {.sizes = {20}};

unsigned bits_of_reach(const struct tkw_geometry *geometry)
{
    return geometry->beyond == TKW_ROUNDS ? 13 : 64;
}

struct tkw_wheel *wheel_of(const struct tkw_geometry *geometry, tkw_tick start)
{
    size_t bytes = tkw_wheel_bytes(geometry);
    assert_int_not_equal(bytes, 0);
    struct tkw_wheel *wheel = malloc(bytes);
    assert_non_null(wheel);
    assert_int_equal(tkw_wheel_init(wheel, bytes, geometry, start), 0);
    return wheel;
}

size_t walked_count(const struct tkw_wheel *wheel)
{
    struct tkw_wheel_cursor walk = {0};
    size_t count = 0;
    while (tkw_wheel_walk(wheel, &walk) != NULL)
        count++;
    return count;
}

void assert_sound(const struct tkw_wheel *wheel)
{
    struct tkw_wheel_stats c = tkw_wheel_read_stats(wheel);
    assert_true(tkw_wheel_check(wheel));
    assert_true(tkw_dial_check(tkw_wheel_dial(wheel)));
    assert_int_equal(c.armed, c.fired + c.cancelled + c.drained +
                                  tkw_wheel_count(wheel));
    assert_int_equal(walked_count(wheel), tkw_wheel_count(wheel));
}

void wheel_done(struct tkw_wheel *wheel)
{
    assert_sound(wheel);
    while (tkw_wheel_drain(wheel) != NULL)
        continue;
    assert_int_equal(tkw_wheel_count(wheel), 0);
    tkw_wheel_advance(wheel, TKW_NEVER); /* finish what a budget stopped */
    assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
    assert_sound(wheel);
    free(wheel);
}

struct tkw_wheel_cursor place_of(const struct tkw_wheel *wheel,
                                 const struct tkw_timer *timer)
{
    struct tkw_wheel_cursor walk = {0}, place = {0};
    size_t met = 0;
    for (struct tkw_timer *t; (t = tkw_wheel_walk(wheel, &walk)) != NULL;) {
        if (t != timer)
            continue;
        place = walk;
        met++;
    }
    assert_int_equal(met, 1);
    return place;
}

void assert_place(const struct tkw_wheel *wheel, const struct tkw_timer *timer,
                  uint32_t level, uint32_t slot)
{
    struct tkw_wheel_cursor place = place_of(wheel, timer);
    assert_int_equal(place.level, level);
    if (level == 0)
        return;
    assert_int_equal(place.slot, slot);
    assert_true(tkw_dial_is_occupied(tkw_wheel_dial(wheel), level, slot));
}

void assert_pops(struct tkw_wheel *wheel, const struct tkw_timer *timer)
{
    assert_ptr_equal(tkw_wheel_pop(wheel), timer);
    assert_false(tkw_timer_is_armed(timer));
}

void advance_surely(struct tkw_wheel *wheel, tkw_tick now)
{
    assert_true(tkw_wheel_advance_some(wheel, now, 1 << 20));
}

void assert_fires_on_time(struct tkw_wheel *wheel,
                          const struct tkw_timer *timer)
{
    if (tkw_wheel_now(wheel) < timer->deadline) {
        advance_surely(wheel, timer->deadline - 1);
        assert_null(tkw_wheel_pop(wheel));
        assert_true(tkw_timer_is_armed(timer));
    }
    advance_surely(wheel, timer->deadline);
    assert_pops(wheel, timer);
}

size_t wakes_until_ready(struct tkw_wheel *wheel)
{
    size_t wakes = 0;
    for (; tkw_wheel_next(wheel) > tkw_wheel_now(wheel); wakes++) {
        advance_surely(wheel, tkw_wheel_next(wheel));
        assert_true(wakes < 10000);
    }
    return wakes;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

uint64_t random_magnitude(uint64_t *state, unsigned bits)
{
    unsigned length = (unsigned)random_below(state, bits + 1);
    return length == 0 ? 0 : random_next(state) >> (64 - length);
}

uint64_t random_seed(void)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): tests have one thread. */
    const char *given = getenv("TKW_SEED");
    uint64_t seed = given == NULL ? 1 : strtoull(given, NULL, 10);
    print_message("seed %llu; replay with TKW_SEED=%llu\n",
                  (unsigned long long)seed, (unsigned long long)seed);
    return seed;
}
