/*
 * server/net/clock_test.c - server time, and the timer that is aimed at it.
 */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <net/clock.h>
#include <poll.h>
#include <stdbool.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

/* Return whether the timer is readable, after waiting for at most `ms`. */
static bool fires(const struct tkd_clock *clock, int ms)
{
    struct pollfd timer = {.fd = clock->timer, .events = POLLIN};
    return poll(&timer, 1, ms) == 1;
}

static void time_begins_at_the_wall_clock(void **state)
{
    struct tkd_clock clock;
    (void)state;
    time_t before = time(NULL);
    assert_int_equal(tkd_clock_open(&clock), 0);
    uint64_t now = tkd_clock_now(&clock);
    assert_true(now / SECOND + 2 >= (uint64_t)before);
    assert_true(now / SECOND <= (uint64_t)time(NULL) + 2);
    assert_true(tkd_clock_now(&clock) >= now);
    tkd_clock_close(&clock);
}

/* Never early, and not a whole millisecond off as libuv's timers are. */
static void the_timer_fires_at_its_time_and_not_before(void **state)
{
    struct tkd_clock clock;
    (void)state;
    assert_int_equal(tkd_clock_open(&clock), 0);
    for (uint64_t delay = 1; delay < SECOND / 10; delay *= 3) {
        uint64_t due = tkd_clock_now(&clock) + delay;
        tkd_clock_aim(&clock, due);
        assert_true(fires(&clock, -1));
        assert_true(tkd_clock_now(&clock) >= due);
    }
    tkd_clock_close(&clock);
}

static void past_times_fire_at_once(void **state)
{
    struct tkd_clock clock;
    (void)state;
    assert_int_equal(tkd_clock_open(&clock), 0);
    tkd_clock_aim(&clock, 0);
    assert_true(fires(&clock, -1));
    tkd_clock_aim(&clock, UINT64_MAX);
    assert_false(fires(&clock, 0));
    tkd_clock_aim(&clock, tkd_clock_now(&clock));
    assert_true(fires(&clock, -1));
    tkd_clock_close(&clock);
}

/* Aiming anew also takes back that the timer is readable. */
static void times_to_come_do_not_fire(void **state)
{
    const uint64_t day = 86400 * SECOND;
    struct tkd_clock clock;
    (void)state;
    assert_int_equal(tkd_clock_open(&clock), 0);
    assert_false(fires(&clock, 0));
    const uint64_t times[] = {tkd_clock_now(&clock) + day,
                              tkd_clock_now(&clock) + 365 * 200 * day,
                              UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        tkd_clock_aim(&clock, 0);
        assert_true(fires(&clock, -1));
        tkd_clock_aim(&clock, times[i]);
        assert_false(fires(&clock, 0));
    }
    tkd_clock_close(&clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_begins_at_the_wall_clock),
        cmocka_unit_test(the_timer_fires_at_its_time_and_not_before),
        cmocka_unit_test(past_times_fire_at_once),
        cmocka_unit_test(times_to_come_do_not_fire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
