/*
 * idle/monitor_walk_test.c - walking through keys that come and go meanwhile,
 * and touching only those that are held.
 */
#include "support/idle.h"

struct walker {
    struct tkw_monitor *monitor;
    uint64_t next; /* the number of a key that is not held */
    size_t visited;
    int answer;
};

/* For each key that is told, add one and forget it. */
static void replace(void *context, const struct tkw_idle_key *silent,
                    size_t count)
{
    struct walker *walker = context;
    for (size_t i = 0; i < count && walker->visited < 100000; i++) {
        walker->visited++;
        tkw_monitor_touch(walker->monitor, tkw_key_number(walker->next++));
        tkw_monitor_forget(walker->monitor, silent[i].key);
    }
}

static void add(void *context, const struct tkw_idle_key *silent, size_t count)
{
    struct walker *walker = context;
    (void)silent;
    for (size_t i = 0; i < count && walker->visited < 100000; i++) {
        walker->visited++;
        tkw_monitor_touch(walker->monitor, tkw_key_number(walker->next++));
    }
}

/* Keys that are added by the walk itself do not keep it going. */
static void a_walk_that_adds_keys_comes_to_its_end(void **state)
{
    (void)state;
    tkw_on_silent *const each[] = {replace, add};
    for (size_t i = 0; i < COUNT_OF(each); i++) {
        struct stage stage;
        stage_open(&stage, 2);
        stage_add(&stage, 0, 1000);
        struct walker walker = {.monitor = stage.monitor, .next = 1 << 20};
        tkw_monitor_walk(stage.monitor, each[i], &walker);
        assert_true(walker.visited >= 1000);
        assert_true(walker.visited <= 20000);
        assert_int_equal(tkw_monitor_count(stage.monitor),
                         i == 0 ? 1000 : 1000 + walker.visited);
        stage_close(&stage);
    }
}

/* The same of a tracker. */
static void a_walk_through_a_tracker_comes_to_its_end(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 1000);
    for (uint64_t i = 0; i < 100; i++)
        idle_add(idle, tkw_key_number(i), 0);
    struct tkw_idle_cursor walk = {0};
    uint64_t visited = 0;
    for (struct tkw_idle_key one; tkw_idle_walk(idle, &walk, &one); visited++)
        idle_add(idle, tkw_key_number(1000 + visited), 0);
    assert_int_equal(visited, 100);
    assert_false(
        tkw_idle_walk(idle, &walk, &(struct tkw_idle_key){.last_ns = 0}));
    idle_done(&ledger, idle);
}

static void try_to_close(void *context, const struct tkw_idle_key *silent,
                         size_t count)
{
    struct walker *walker = context;
    (void)silent;
    (void)count;
    walker->answer = tkw_monitor_close(walker->monitor);
}

/* The walk would go on in memory that is gone. */
static void close_is_refused_inside_a_walk(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 2);
    stage_add(&stage, 0, 10);
    struct walker walker = {.monitor = stage.monitor};
    tkw_monitor_walk(stage.monitor, try_to_close, &walker);
    assert_int_equal(walker.answer, -EDEADLK);
    assert_int_equal(tkw_monitor_count(stage.monitor), 10);
    stage_close(&stage);
}

/* A packet that comes late does not bring a key back. */
static void only_keys_that_are_held_are_refreshed(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 2);
    assert_false(tkw_monitor_refresh(stage.monitor, mixed_key(1)));
    assert_int_equal(tkw_monitor_count(stage.monitor), 0);
    stage_add(&stage, 1, 2);
    assert_int_equal(stage_go(&stage, LIMIT / 2), 0);
    assert_true(tkw_monitor_refresh(stage.monitor, mixed_key(1)));
    assert_int_equal(stage_go(&stage, LIMIT + TICK), 1);
    assert_int_equal(stage.index[0], 2);
    assert_false(tkw_monitor_refresh(stage.monitor, mixed_key(2)));
    assert_int_equal(stage_go(&stage, LIMIT / 2 + LIMIT + TICK), 1);
    assert_int_equal(tkw_monitor_count(stage.monitor), 0);
    stage_close(&stage);
}

static void only_keys_that_a_tracker_holds_are_refreshed(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 1000);
    struct tkw_key key = tkw_key_text("alice");
    assert_false(tkw_idle_refresh(idle, key, 5));
    assert_not_held(idle, key);
    idle_add(idle, key, 5);
    assert_true(tkw_idle_refresh(idle, key, 7));
    assert_stands(idle, key, 7, 1000);
    assert_true(tkw_idle_refresh(idle, key, 6));
    assert_stands(idle, key, 7, 1000);
    assert_true(tkw_idle_forget(idle, key));
    assert_false(tkw_idle_refresh(idle, key, 9));
    assert_false(tkw_idle_refresh(
        idle, tkw_key_bytes("x", (size_t)UINT32_MAX / 2 + 1), 9));
    idle_done(&ledger, idle);
}

/* Text that is handed out ends in a 0, though that is not part of the key. */
static void bytes_that_are_handed_out_are_text(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 1000);
    idle_add(idle, tkw_key_bytes("alice and bob", 5), 0);
    struct tkw_idle_key silent;
    while (tkw_idle_pop_silent(idle, &silent, 1, 2000) == 0)
        continue;
    assert_int_equal(silent.key.number, 5);
    assert_string_equal((const char *)silent.key.bytes, "alice");
    idle_done(&ledger, idle);
}

/* The end of time never comes: what is silent before is found, and nothing
 * else. */
static void at_the_end_of_time_only_the_silent_are_found(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 1000);
    idle_add(idle, tkw_key_number(1), 0);
    idle_add(idle, tkw_key_number(2), UINT64_MAX - 10);
    assert_int_equal(
        tkw_idle_touch_limit(idle, tkw_key_number(3), TKW_NO_LIMIT, 0), 1);
    struct tkw_idle_key silent[4];
    size_t found = 0;
    for (int i = 0; i < 1000; i++)
        found += tkw_idle_pop_silent(idle, silent, 4, UINT64_MAX);
    assert_int_equal(found, 1);
    assert_int_equal(tkw_idle_count(idle), 2);
    idle_done(&ledger, idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_that_adds_keys_comes_to_its_end),
        cmocka_unit_test(a_walk_through_a_tracker_comes_to_its_end),
        cmocka_unit_test(close_is_refused_inside_a_walk),
        cmocka_unit_test(only_keys_that_are_held_are_refreshed),
        cmocka_unit_test(only_keys_that_a_tracker_holds_are_refreshed),
        cmocka_unit_test(bytes_that_are_handed_out_are_text),
        cmocka_unit_test(at_the_end_of_time_only_the_silent_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
