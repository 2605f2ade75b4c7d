/*
 * idle/reserve_test.c - looking at keys takes no memory, whatever was done to
 * them before.
 *
 * The pool under the tracker has tiny constants here: what may run out does so
 * soon.
 */
#include "support/idle.h"

enum { KEYS = 300, ROUNDS = 60, BATCH = 7 };

#define NEAR UINT64_C(100)
#define FAR UINT64_C(1000000)

static size_t pop_until(struct tkw_idle *idle, uint64_t now)
{
    struct tkw_idle_key silent[BATCH];
    size_t found = 0;
    do
        found += tkw_idle_pop_silent(idle, silent, BATCH, now);
    while (tkw_idle_next(idle) <= now);
    return found;
}

/* Keys that were once to be found much later, or that others were forgotten
 * beside, are looked at again and again without memory, and none is lost. */
static void survive(struct tkw_idle *idle, struct ledger *ledger,
                    uint64_t *random)
{
    uint64_t now = 0;
    ledger_fail(ledger, 0, FOR_EVER);
    size_t count = tkw_idle_count(idle);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < KEYS; i++)
            if (tkw_idle_query(idle, mixed_key(i), NULL))
                assert_int_equal(
                    tkw_idle_touch(idle, mixed_key(i),
                                   now + random_below(random, NEAR / 2)),
                    0);
        now += NEAR / 2 + random_below(random, NEAR / 2);
        assert_int_equal(pop_until(idle, now), 0);
    }
    assert_true(tkw_idle_check(idle));
    assert_int_equal(pop_until(idle, now + 2 * NEAR), count);
    ledger_relent(ledger);
}

static void checks_take_no_memory(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_of(
            &ledger, (struct tkw_idle_config){.geometry = pool_shapes[s],
                                              .tick_ns = 1,
                                              .limit_ns = NEAR});
        for (uint32_t i = 0; i < KEYS; i++) {
            uint64_t limit = random_below(&random, 2) ? FAR : NEAR;
            assert_int_equal(tkw_idle_touch_limit(idle, mixed_key(i), limit, 0),
                             1);
        }
        for (uint32_t i = 0; i < KEYS; i++) {
            if (random_below(&random, 4) == 0)
                assert_true(tkw_idle_forget(idle, mixed_key(i)));
            else
                assert_int_equal(
                    tkw_idle_touch_limit(idle, mixed_key(i), NEAR, 0), 0);
        }
        survive(idle, &ledger, &random);
        idle_done(&ledger, idle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
