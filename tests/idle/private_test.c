/*
 * idle/private_test.c - trackers seen from inside: that check() sees what is
 * wrong, and what only they themselves can bring about.
 */
#include "support/idle.h"

#include <tickwheel/purgatory.h>

#include "idle/private.h"
#include "idle/tracker.h"

static struct table_slot *slot_in(struct tkw_idle *idle, struct tkw_key key)
{
    return table_find(&idle->table, key, table_hash(&idle->table, key));
}

/* What check() is for: it says no to a tracker that is not as it must be. */
static void check_sees_what_is_wrong(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    assert_int_equal(tkw_idle_touch(idle, tkw_key_number(1), 0), 1);
    assert_int_equal(tkw_idle_touch(idle, tkw_key_number(2), TKW_SECOND), 1);
    struct table_slot *one = slot_in(idle, tkw_key_number(1));
    struct table_slot *two = slot_in(idle, tkw_key_number(2));
    assert_true(tkw_idle_check(idle));

    /* The table. */
    idle->table.count++;
    ASSERT_BROKEN(idle, idle, "number of keys of the table is 3, expected 2");
    idle->table.count--;

    /* Somebody else's timer, or none, or one that comes too late. */
    uint64_t timer = one->value[IDLE_TIMER];
    one->value[IDLE_TIMER] = two->value[IDLE_TIMER];
    ASSERT_BROKEN(idle, idle, "the timer of a key is that of another");
    one->value[IDLE_TIMER] = 0;
    ASSERT_BROKEN(idle, idle, "a key has no armed timer");
    one->value[IDLE_TIMER] = timer;
    uint64_t last = two->value[IDLE_LAST];
    two->value[IDLE_LAST] = 0;
    ASSERT_BROKEN(idle, idle,
                  "deadline of a key's timer is 310, expected at most 300");
    two->value[IDLE_LAST] = last;
    assert_true(tkw_idle_check(idle));

    /* A timer without a key, and then a key without one. */
    tkw_handle spare;
    assert_int_equal(
        tkw_pool_arm(idle->pool, &spare, 1000, (struct tkw_user){.word = 3}),
        0);
    ASSERT_BROKEN(idle, idle,
                  "number of timers of the tracker is 3, expected 2");
    assert_true(tkw_pool_cancel(idle->pool, timer));
    ASSERT_BROKEN(idle, idle, "a key has no armed timer");
    assert_true(tkw_pool_cancel(idle->pool, spare));

    /* The pool. */
    pool_set_broken(idle->pool, true);
    ASSERT_BROKEN(idle, idle, "number of entries is 4, expected 3");
    pool_set_broken(idle->pool, false);
    tkw_idle_close(idle); /* beyond repair, but not beyond closing */
    assert_int_equal(ledger.blocks, 0);
}

/* A key that is due but not yet popped is as it must be. */
static void a_ready_key_is_sound(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    struct tkw_idle_key silent[1];
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(tkw_idle_touch(idle, tkw_key_number(i), 0), 1);
    while (tkw_idle_pop_silent(idle, silent, 1, TKW_SECOND * 31) == 0)
        continue;
    assert_int_equal(tkw_idle_count(idle), 2);
    assert_true(tkw_idle_check(idle));
    idle_done(&ledger, idle);
}

/* Two walks at a time: what is forgotten stays until both are over. */
static void bytes_stay_until_the_last_walk_is_over(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    struct tkw_key key = tkw_key_text("alice");
    assert_int_equal(tkw_idle_touch(idle, key, 0), 1);
    uint64_t blocks = ledger.blocks;
    tkw__idle_begin_walk(idle);
    tkw__idle_begin_walk(idle);
    assert_true(tkw_idle_forget(idle, key));
    assert_int_equal(ledger.blocks, blocks);
    tkw__idle_end_walk(idle);
    assert_int_equal(ledger.blocks, blocks);
    tkw__idle_end_walk(idle);
    assert_int_equal(ledger.blocks, blocks - 1);
    idle_done(&ledger, idle);
}

static void ignore(void *context, const struct tkw_idle_key *silent,
                   size_t count)
{
    (void)context;
    (void)silent;
    (void)count;
}

/* A key too long is refused by every call; its bytes are not read. */
static void a_key_too_long_is_refused_unread(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    struct tkw_monitor_config config = {.on_silent = ignore};
    struct tkw_monitor *monitor;
    assert_int_equal(tkw_monitor_open(&monitor, scene.service, &config), 0);
    struct tkw_key key = tkw_key_bytes("x", (size_t)TABLE_BYTES_MAX);
    assert_int_equal(tkw_monitor_touch(monitor, key), -EINVAL);
    assert_int_equal(tkw_monitor_touch_limit(monitor, key, 1), -EINVAL);
    assert_false(tkw_monitor_refresh(monitor, key));
    assert_false(tkw_monitor_forget(monitor, key));
    assert_false(tkw_monitor_query(monitor, key, NULL));
    assert_int_equal(tkw_monitor_close(monitor), 0);
    scene_close(&scene);
}

/* Shortening a limit takes memory.  If there is none, tkw_idle_touch_limit()
 * returns -ENOMEM and the key keeps its limit. */
static void without_memory_a_limit_is_not_shortened(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    struct tkw_key key = tkw_key_number(0);
    const uint64_t limit = 1000 * TKW_SECOND, longer = 2 * limit;
    assert_int_equal(tkw_idle_touch_limit(idle, key, limit, 5), 1);
    ledger_fail(&ledger, 0, FOR_EVER);
    int answer = 1;
    for (uint64_t i = 1; answer == 1; i++)
        answer = tkw_idle_touch_limit(idle, tkw_key_number(i), longer, 5);
    assert_int_equal(answer, -ENOMEM);
    answer = tkw_idle_touch_limit(idle, key, limit - TKW_SECOND, 5);
    assert_int_equal(answer, -ENOMEM);
    struct tkw_idle_key silent;
    assert_true(tkw_idle_query(idle, key, &silent));
    assert_int_equal(silent.limit_ns, limit);
    assert_true(tkw_idle_check(idle));

    /* And it is found at its time, still without memory. */
    uint64_t due = silent.last_ns + silent.limit_ns;
    size_t found = 0;
    do
        found += tkw_idle_pop_silent(idle, &silent, 1, due - 1);
    while (tkw_idle_next(idle) <= due - 1);
    assert_int_equal(found, 0);
    do
        found += tkw_idle_pop_silent(idle, &silent, 1, due + TKW_SECOND);
    while (tkw_idle_next(idle) <= due + TKW_SECOND);
    assert_int_equal(found, 1);
    ledger_relent(&ledger);
    idle_done(&ledger, idle);
}

/* Forgotten keys leave room for others, though memory is refused and time
 * stands still. */
static void forgotten_keys_make_room_at_the_limit(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    ledger_fail(&ledger, 10, FOR_EVER);
    uint64_t count = 0;
    while (tkw_idle_touch(idle, tkw_key_number(count), 5) == 1)
        count++;
    assert_true(count > 100);
    for (uint64_t i = 0; i < count; i++)
        assert_true(tkw_idle_forget(idle, tkw_key_number(i)));
    for (uint64_t i = 0; i < count / 2; i++)
        assert_int_equal(tkw_idle_touch(idle, tkw_key_number(count + i), 5), 1);
    assert_true(tkw_idle_check(idle));
    ledger_relent(&ledger);
    idle_done(&ledger, idle);
}

struct visit {
    struct probe probe; /* the first member: the callback's argument */
    struct tkw_monitor *monitor;
};

static void close_the_monitor(struct probe *probe)
{
    struct visit *visit = (struct visit *)(void *)probe;
    probe->answer = tkw_monitor_close(visit->monitor);
}

/* Only its own callback is in the way of close, not that of another timer, of
 * the same service or another. */
static void close_is_fine_in_the_callback_of_a_timer(void **state)
{
    (void)state;
    struct scene scenes[2];
    scene_open_tens(&scenes[0], 0, TKW_DRIVER_NONE);
    scene_open_tens(&scenes[1], 0, TKW_DRIVER_NONE);
    struct tkw_monitor_config config = {
        .on_silent = ignore,
        .shards = 2,
        .idle = {.secret = {0, 7}},
    };
    for (int i = 0; i < 2; i++) {
        struct visit visit = {.probe.act = close_the_monitor,
                              .probe.answer = 1};
        assert_int_equal(
            tkw_monitor_open(&visit.monitor, scenes[0].service, &config), 0);
        assert_int_equal(tkw_monitor_touch(visit.monitor, tkw_key_number(1)),
                         1);
        probe_arm(&scenes[i], &visit.probe, 10);
        scene_go(&scenes[i], 10);
        assert_int_equal(ran(&visit.probe), 1);
        assert_int_equal(visit.probe.answer, 0);
    }
    scene_close(&scenes[1]);
    scene_close(&scenes[0]);
}

/* Those who may be left out are not faulty when they are. */
static void no_configuration_is_a_fault_only_for_a_monitor(void **state)
{
    (void)state;
    struct scene scene;
    struct tkw_monitor *monitor = NULL;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_null(tkw_pool_config_fault(NULL));
    assert_null(tkw_service_config_fault(NULL));
    assert_null(tkw_idle_config_fault(NULL));
    assert_null(tkw_purgatory_config_fault(NULL));
    assert_non_null(tkw_monitor_config_fault(NULL));
    assert_int_equal(tkw_monitor_open(&monitor, scene.service, NULL), -EINVAL);
    assert_null(monitor);
    scene_close(&scene);
}

/* A stopped service cannot come sooner: the limit stays what it was. */
static void a_stopped_service_shortens_no_limit(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    struct tkw_monitor_config config = {.on_silent = ignore};
    struct tkw_monitor *monitor;
    struct tkw_key key = tkw_key_number(1);
    assert_int_equal(tkw_monitor_open(&monitor, scene.service, &config), 0);
    assert_int_equal(tkw_monitor_touch_limit(monitor, key, TKW_SECOND), 1);
    tkw_service_stop(scene.service);
    assert_int_equal(tkw_monitor_touch_limit(monitor, key, TKW_SECOND / 2),
                     -ESHUTDOWN);
    assert_int_equal(tkw_monitor_touch_limit(monitor, key, 2 * TKW_SECOND), 0);
    struct tkw_idle_key silent;
    assert_true(tkw_monitor_query(monitor, key, &silent));
    assert_int_equal(silent.limit_ns, 2 * TKW_SECOND);
    assert_int_equal(tkw_monitor_close(monitor), 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_sees_what_is_wrong),
        cmocka_unit_test(a_ready_key_is_sound),
        cmocka_unit_test(bytes_stay_until_the_last_walk_is_over),
        cmocka_unit_test(a_key_too_long_is_refused_unread),
        cmocka_unit_test(without_memory_a_limit_is_not_shortened),
        cmocka_unit_test(forgotten_keys_make_room_at_the_limit),
        cmocka_unit_test(close_is_fine_in_the_callback_of_a_timer),
        cmocka_unit_test(a_stopped_service_shortens_no_limit),
        cmocka_unit_test(no_configuration_is_a_fault_only_for_a_monitor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
