/*
 * idle/ring_test.c - the ring that everybody writes for idle connections, as a
 * geometry of the tracker: a slot a second, a limit of 30 seconds.
 *
 * The classic one has 31 slots and hangs up after 29 to 30 seconds of silence.
 * Ours is never early, for which a ring needs 32; with fewer slots keys go
 * round once more, and are not early either.
 */
#include "support/idle.h"

#define SILENCE (30 * TKW_SECOND)

static struct tkw_idle *ring_of(struct ledger *ledger, uint32_t slots)
{
    return idle_of(ledger,
                   (struct tkw_idle_config){
                       .limit_ns = SILENCE,
                       .tick_ns = TKW_SECOND,
                       .geometry = {.sizes = {slots}, .beyond = TKW_ROUNDS}});
}

/* Ask every second until the key is handed out.  Returns when that was. */
static uint64_t second_of_silence(struct tkw_idle *idle, uint64_t second)
{
    struct tkw_idle_key silent[1];
    while (idle_take(idle, second * TKW_SECOND, silent, 1) == 0) {
        second++;
        assert_true(second < 1000);
    }
    return second * TKW_SECOND;
}

/* Wherever in a second it was last heard of, and wherever the hand stood. */
static void the_ring_is_never_early_and_at_most_a_tick_late(void **state)
{
    (void)state;
    const uint64_t parts[] = {0, 1, TKW_SECOND / 2, TKW_SECOND - 1};
    const uint32_t sizes[] = {32, 31, 30, 29, 2, 3, 64};
    for (size_t i = 0; i < COUNT_OF(parts) * COUNT_OF(sizes); i++) {
        struct ledger ledger;
        struct tkw_idle *idle = ring_of(&ledger, sizes[i % COUNT_OF(sizes)]);
        for (uint64_t second = 0; second < 70; second++) {
            uint64_t last = second * TKW_SECOND + parts[i / COUNT_OF(sizes)];
            assert_none_silent(idle, last);
            idle_add(idle, tkw_key_number(1), last);
            uint64_t end = second_of_silence(idle, second);
            assert_true(end - last >= SILENCE);
            assert_true(end - last < SILENCE + TKW_SECOND);
            second = end / TKW_SECOND;
        }
        idle_done(&ledger, idle);
    }
}

/* To the nanosecond, when it is asked in the middle of a second. */
static void the_ring_is_not_early_between_two_ticks(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = ring_of(&ledger, 32);
    uint64_t last = 7 * TKW_SECOND / 2;
    idle_add(idle, tkw_key_number(1), last);
    for (uint64_t now = last; now < last + SILENCE; now += TKW_SECOND / 4)
        assert_none_silent(idle, now);
    assert_none_silent(idle, last + SILENCE - 1);
    assert_one_silent(idle, last + SILENCE + TKW_SECOND - 1, 1);
    idle_done(&ledger, idle);
}

/* Half an hour of somebody who is heard of so many times a second.  Returns how
   often the tracker looked. */
static uint64_t checks_of_a_talker(uint32_t slots, unsigned touches)
{
    struct ledger ledger;
    struct tkw_idle *idle = ring_of(&ledger, slots);
    idle_add(idle, tkw_key_number(1), 0);
    for (uint64_t second = 0; second < 1800; second++) {
        for (unsigned i = 0; i < touches; i++)
            idle_refresh(idle, tkw_key_number(1),
                         second * TKW_SECOND + i * TKW_SECOND / touches);
        assert_none_silent(idle, (second + 1) * TKW_SECOND);
    }
    uint64_t checks = tkw_idle_read_stats(idle).checks;
    assert_int_equal(tkw_idle_read_stats(idle).refiles, checks);
    idle_done(&ledger, idle);
    return checks;
}

/* Once a second or a hundred times: it is looked at once per limit. */
static void to_touch_again_in_the_same_second_is_free(void **state)
{
    (void)state;
    const uint32_t sizes[] = {32, 31, 64, 512};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        uint64_t checks = checks_of_a_talker(sizes[i], 1);
        assert_in_range(checks, 1800 / 31, 1800 / 29 + 1);
        assert_true(checks_of_a_talker(sizes[i], 2) <= checks);
        assert_true(checks_of_a_talker(sizes[i], 100) <= checks);
    }
}

/* A shorter tick costs wake-ups, not checks. */
static void a_shorter_tick_costs_no_checks(void **state)
{
    (void)state;
    for (uint64_t tick = TKW_SECOND; tick >= TKW_MILLISECOND; tick /= 10) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_with(&ledger, tick, SILENCE);
        idle_add(idle, tkw_key_number(1), 0);
        for (uint64_t now = 0; now < 600 * TKW_SECOND; now += TKW_SECOND / 4) {
            idle_refresh(idle, tkw_key_number(1), now);
            assert_none_silent(idle, now);
        }
        assert_in_range(tkw_idle_read_stats(idle).checks, 18, 22);
        idle_done(&ledger, idle);
    }
}

enum { CONNECTIONS = 5000 };

/* Connections, each heard of every 20 to 25 seconds. */
struct server {
    struct tkw_idle *idle;
    uint64_t seed;
    uint64_t packets;
    uint64_t speaks_at[CONNECTIONS];
    uint64_t last[CONNECTIONS];
};

/* All packets that have come in by now. */
static void receive(struct server *server, uint64_t now)
{
    for (size_t i = 0; i < CONNECTIONS; i++) {
        if (server->speaks_at[i] > now)
            continue;
        uint64_t time = server->speaks_at[i];
        int answer = tkw_idle_touch(server->idle, tkw_key_number(i), time);
        assert_int_equal(answer, server->last[i] == 0);
        server->last[i] = time;
        server->speaks_at[i] +=
            20 * TKW_SECOND + random_below(&server->seed, 5 * TKW_SECOND);
        server->packets++;
    }
}

/* Nobody is hung up on who talks, and there is at most one look for each
   packet.  When all fall silent, all are found. */
static void a_server_of_talkers_loses_none_and_finds_all(void **state)
{
    (void)state;
    const struct tkw_geometry tried[] = {
        {.sizes = {32}, .beyond = TKW_ROUNDS}, {.sizes = {0}}, {.sizes = {20}}};
    static struct server server;
    static struct tkw_idle_key silent[CONNECTIONS];
    for (size_t s = 0; s < COUNT_OF(tried); s++) {
        struct ledger ledger;
        struct tkw_idle *idle =
            idle_of(&ledger, (struct tkw_idle_config){.limit_ns = SILENCE,
                                                      .tick_ns = TKW_SECOND,
                                                      .geometry = tried[s]});
        server = (struct server){.idle = idle, .seed = 1};
        for (size_t i = 0; i < CONNECTIONS; i++)
            server.speaks_at[i] =
                1 + random_below(&server.seed, 20 * TKW_SECOND);
        uint64_t now = 0;
        for (; now <= 120 * TKW_SECOND; now += TKW_SECOND) {
            receive(&server, now);
            assert_none_silent(idle, now);
        }
        assert_int_equal(tkw_idle_count(idle), CONNECTIONS);
        assert_true(tkw_idle_read_stats(idle).checks <= server.packets);
        assert_int_equal(idle_take(idle, now + SILENCE, silent, CONNECTIONS),
                         CONNECTIONS);
        for (size_t i = 0; i < CONNECTIONS; i++)
            assert_int_equal(silent[i].last_ns,
                             server.last[silent[i].key.number]);
        idle_done(&ledger, idle);
    }
}

enum { KEYS = 200 };

/* A story of 200 seconds: keys come, are heard of, and fall silent, at times
   that go to `ends`.  Returns how many did. */
static size_t run_story(struct tkw_idle *idle, uint64_t *ends)
{
    uint64_t seed = 5;
    size_t found = 0;
    for (uint64_t second = 0; second < 200; second++) {
        struct tkw_idle_key silent[KEYS];
        uint64_t now = second * TKW_SECOND;
        size_t count = idle_take(idle, now, silent, KEYS);
        for (size_t i = 0; i < count; i++)
            ends[silent[i].key.number] = now;
        for (uint64_t i = second; i < KEYS; i += 9)
            tkw_idle_touch(idle, tkw_key_number(i),
                           now + random_below(&seed, TKW_SECOND));
        found += count;
    }
    return found;
}

/* The same story on every geometry has the same end, at the same tick. */
static void the_geometry_does_not_matter(void **state)
{
    (void)state;
    static uint64_t ends[COUNT_OF(pool_shapes)][KEYS];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_of(
            &ledger, (struct tkw_idle_config){.limit_ns = SILENCE,
                                              .tick_ns = TKW_SECOND,
                                              .geometry = pool_shapes[s]});
        assert_in_range(run_story(idle, ends[s]), KEYS / 2, KEYS);
        assert_memory_equal(ends[s], ends[0], sizeof ends[0]);
        idle_done(&ledger, idle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ring_is_never_early_and_at_most_a_tick_late),
        cmocka_unit_test(the_ring_is_not_early_between_two_ticks),
        cmocka_unit_test(to_touch_again_in_the_same_second_is_free),
        cmocka_unit_test(a_shorter_tick_costs_no_checks),
        cmocka_unit_test(a_server_of_talkers_loses_none_and_finds_all),
        cmocka_unit_test(the_geometry_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
