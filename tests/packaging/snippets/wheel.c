/* wheel.c - the snippets of wheel.h. */
#include <tickwheel/wheel.h>

#include "harness.h"

#include "wheel.1.1"

static const uint64_t ms = 1000000, second = 1000000000;

static uint64_t clock_now, woken_at;
static struct connection *hung_up;

static uint64_t clock_ns(void)
{
    return clock_now;
}

static void hang_up(struct connection *connection)
{
    hung_up = connection;
}

static void sleep_until(tkw_tick tick)
{
    woken_at = tick;
}

/* The connection is hung up on when 30 seconds have passed, not before; and
 * whoever sleeps as long as it is told gets there. */
static void hangs_up_after_30_seconds(void)
{
    struct connection theirs = {.fd = 3}, *connection = &theirs;
    clock_now = 5 * second + 1;

#include "wheel.1.2"

    must(wheel != NULL && tkw_wheel_now(wheel) == 5000);

#include "wheel.1.3"

    must(connection->idle.deadline == 35001); /* rounded up */
    while (hung_up == NULL) {
#include "wheel.1.4"
        must((hung_up != NULL) == (clock_now >= 35 * second + 1));
        clock_now = woken_at * ms; /* slept */
    }
    must(hung_up == connection && woken_at == TKW_NEVER);
    free(wheel);
}

#include "wheel.2.1"

static void static_memory_is_enough(void)
{
    must(TKW_WHEEL_DEFAULT_BYTES == tkw_wheel_bytes(NULL));
    must(tkw_wheel_init(&memory.wheel, sizeof memory, NULL, 0) == 0);
}

static struct tkw_wheel *turning;
static unsigned calls;

static void call_and_arm_again(struct tkw_timer *timer)
{
    calls++;
    tkw_wheel_arm(turning, timer, tkw_wheel_now(turning));
}

/* Each advance lets each of the two timers be called once, though they are
 * armed again for the present tick. */
static void calls_what_was_due_once(void)
{
    struct tkw_wheel *wheel = turning = &memory.wheel;
    struct tkw_timer one = {0}, two = {0};
    clock_now = 7 * second;
    tkw_wheel_init(wheel, sizeof memory, NULL, 0);
    tkw_wheel_arm(wheel, &one, 5);
    tkw_wheel_arm(wheel, &two, 6);
    for (unsigned round = 1; round <= 3; round++) {
#include "wheel.3.1"
        must(calls == 2 * round);
        must(tkw_wheel_next(wheel) == tkw_wheel_now(wheel));
    }
}

#define printf note

static void walks_over_all_that_is_armed(void)
{
    struct tkw_wheel *wheel = &memory.wheel;
    struct tkw_timer near = {0}, far = {0};
    tkw_wheel_init(wheel, sizeof memory, NULL, 0);
    tkw_wheel_arm(wheel, &near, 5);
    tkw_wheel_arm(wheel, &far, 128 * 7);

#include "wheel.4.1"

    must(strstr(noted(), "level 1, slot 5\n") != NULL);
    must(strstr(noted(), "level 2, slot 7\n") != NULL);
    must(strlen(noted()) == 2 * strlen("level 1, slot 5\n"));
}

static uint32_t drawn_five, drawn_seven;

static void draw(uint32_t level, const uint32_t *counts, size_t count)
{
    must(count > 7);
    if (level == 1)
        drawn_five = counts[5];
    if (level == 2)
        drawn_seven = counts[7];
}

/* Both timers are drawn where a walk meets them. */
static void draws_what_each_slot_holds(void)
{
    struct tkw_wheel *wheel = &memory.wheel;
    struct tkw_timer near = {0}, far = {0};
    tkw_wheel_init(wheel, sizeof memory, NULL, 0);
    tkw_wheel_arm(wheel, &near, 5);
    tkw_wheel_arm(wheel, &far, 128 * 7);

#include "wheel.5.1"

    must(drawn_five == 1 && drawn_seven == 1);
}

int main(void)
{
    hangs_up_after_30_seconds();
    static_memory_is_enough();
    calls_what_was_due_once();
    walks_over_all_that_is_armed();
    draws_what_each_slot_holds();
    return 0;
}
