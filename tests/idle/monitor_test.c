/*
 * idle/monitor_test.c - the tracker in real time, on a service without a
 * driver, whose clock is turned by hand: who is told to on_silent and when,
 * what may be called from inside, limits, shards, what is woken up for.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/idle.h"

static uint64_t next_after_start(struct stage *stage)
{
    uint64_t next = tkw_service_next(stage->scene.service);
    return next == UINT64_MAX ? UINT64_MAX : next - START;
}

static void a_silent_key_is_reported_once_and_no_longer_held(void **state)
{
    (void)state;
    for (uint32_t key = 0; key < 4; key++) {
        struct stage stage;
        stage_open(&stage, 1);
        stage_add(&stage, key, 1);
        assert_int_equal(stage_go(&stage, LIMIT - 1), 0);
        assert_true(tkw_monitor_query(stage.monitor, mixed_key(key), NULL));
        assert_int_equal(stage_go(&stage, LIMIT), 1);
        assert_int_equal(stage.index[0], key);
        assert_int_equal(stage.reported[0].last_ns, START);
        assert_int_equal(stage.reported[0].limit_ns, LIMIT);
        assert_false(tkw_monitor_query(stage.monitor, mixed_key(key), NULL));
        assert_false(tkw_monitor_forget(stage.monitor, mixed_key(key)));
        assert_int_equal(stage_go(&stage, 5 * LIMIT), 0);
        stage_add(&stage, key, 1);
        assert_int_equal(stage_go(&stage, 6 * LIMIT), 1);
        stage_close(&stage);
    }
}

static void keys_are_reported_less_than_a_tick_late(void **state)
{
    (void)state;
    for (uint64_t at = 0; at < 2 * TICK; at += 13) {
        struct stage stage;
        stage_open(&stage, 1);
        stage_go(&stage, at);
        stage_add(&stage, 0, 1);
        assert_int_equal(stage_go(&stage, at + LIMIT - 1), 0);
        assert_int_equal(stage_go(&stage, at + LIMIT + TICK - 1), 1);
        stage_close(&stage);
    }
}

/* Those that are touched live; and `query` says how they stand, with the very
   key that it was given. */
static void a_touch_refreshes(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 1);
    stage_add(&stage, 0, 2);
    const struct tkw_key name = tkw_key_text("bob");
    for (uint64_t at = 0; at < 10 * LIMIT; at += LIMIT / 2) {
        assert_int_equal(stage_go(&stage, at), at == LIMIT);
        assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(0)), 0);
        assert_int_equal(tkw_monitor_touch(stage.monitor, name), at == 0);
        struct tkw_idle_key silent = {.limit_ns = 0};
        assert_true(tkw_monitor_query(stage.monitor, name, &silent));
        assert_ptr_equal(silent.key.bytes, name.bytes);
        assert_int_equal(silent.key.number, 3);
        assert_int_equal(silent.last_ns, START + at);
        assert_int_equal(silent.limit_ns, LIMIT);
    }
    assert_int_equal(stage.index[0], 1);
    assert_true(tkw_monitor_forget(stage.monitor, name));
    const struct tkw_key too_long = {name.bytes, UINT64_C(1) << 31};
    assert_int_equal(tkw_monitor_touch(stage.monitor, too_long), -EINVAL);
    assert_int_equal(tkw_monitor_touch_limit(stage.monitor, too_long, 1),
                     -EINVAL);
    assert_false(tkw_monitor_query(stage.monitor, too_long, NULL));
    assert_false(tkw_monitor_forget(stage.monitor, too_long));
    stage_close(&stage);
}

static void a_forgotten_key_is_not_reported(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 3);
    stage_add(&stage, 0, 30);
    for (uint32_t i = 0; i < 30; i += 2) {
        assert_true(tkw_monitor_forget(stage.monitor, mixed_key(i)));
        assert_false(tkw_monitor_forget(stage.monitor, mixed_key(i)));
    }
    assert_int_equal(tkw_monitor_count(stage.monitor), 15);
    assert_int_equal(stage_go(&stage, 2 * LIMIT), 15);
    for (size_t i = 0; i < 15; i++)
        assert_int_equal(stage.index[i] % 2, 1);
    stage_close(&stage);
}

/* As many as there are, in batches of 64 at most, each key once. */
static void a_crowd_is_reported_in_batches(void **state)
{
    (void)state;
    const uint32_t crowds[] = {1, 63, 64, 65, 128, 129, 500};
    for (size_t c = 0; c < COUNT_OF(crowds); c++) {
        struct stage stage;
        bool is_met[500] = {false};
        stage_open(&stage, 1);
        stage_add(&stage, 0, crowds[c]);
        assert_int_equal(stage_go(&stage, LIMIT), crowds[c]);
        assert_true(stage.batches >= (crowds[c] + 63) / 64);
        for (size_t i = 0; i < stage.count; i++) {
            assert_false(is_met[stage.index[i]]);
            is_met[stage.index[i]] = true;
        }
        stage_close(&stage);
    }
}

static void touch_all_again(struct stage *stage,
                            const struct tkw_idle_key *silent, size_t count)
{
    for (size_t i = 0; i < count; i++)
        stage->is_wrong |=
            tkw_monitor_touch(stage->monitor, silent[i].key) != 1;
}

static void on_silent_may_add_its_keys_again(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 2);
    stage.act = touch_all_again;
    stage_add(&stage, 0, 150);
    for (uint64_t round = 1; round <= 5; round++) {
        assert_int_equal(stage_go(&stage, round * LIMIT - 1), 0);
        assert_int_equal(stage_go(&stage, round * LIMIT), 150);
        assert_int_equal(tkw_monitor_count(stage.monitor), 150);
    }
    stage_close(&stage);
}

/* All there ever were: those of later batches are still held. */
static void forget_all(struct stage *stage, const struct tkw_idle_key *silent,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        stage->is_wrong |= tkw_monitor_forget(stage->monitor, silent[i].key);
    for (uint32_t i = 0; i < 150; i++)
        stage->answer += tkw_monitor_forget(stage->monitor, mixed_key(i));
}

static void a_key_that_on_silent_forgets_is_not_reported(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 2);
    stage.act = forget_all;
    stage_add(&stage, 0, 150);
    size_t reported = stage_go(&stage, 3 * LIMIT);
    assert_in_range(reported, 1, TKW_SILENT_MAX);
    assert_int_equal(reported + (size_t)stage.answer, 150);
    assert_int_equal(stage.batches, 1);
    stage_close(&stage);
}

/* An earlier limit than all others must be woken up for. */
static void limits_are_kept_each_its_own(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 1);
    struct tkw_monitor *monitor = stage.monitor;
    assert_int_equal(
        tkw_monitor_touch_limit(monitor, mixed_key(0), TKW_NO_LIMIT), 1);
    stage_add(&stage, 1, 3);
    assert_int_equal(tkw_monitor_touch_limit(monitor, mixed_key(4), 300), 1);
    assert_int_equal(tkw_monitor_touch_limit(monitor, mixed_key(1), 200), 0);
    assert_int_equal(tkw_monitor_touch_limit(monitor, mixed_key(2), 5000), 0);
    assert_true(next_after_start(&stage) <= 200);
    const uint64_t ends[][2] = {{200, 1}, {300, 4}, {1000, 3}, {5000, 2}};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        assert_int_equal(stage_go(&stage, ends[i][0] - 1), 0);
        assert_int_equal(stage_go(&stage, ends[i][0]), 1);
        assert_int_equal(stage.index[i], ends[i][1]);
    }
    assert_int_equal(next_after_start(&stage), UINT64_MAX);
    assert_int_equal(tkw_monitor_touch_limit(monitor, mixed_key(0), 0), 0);
    assert_int_equal(stage_go(&stage, 5999), 0);
    assert_int_equal(stage_go(&stage, 6000), 1);
    stage_close(&stage);
}

/* Somebody talks all the time: about one wake-up per limit, and none at all
   when nobody is left who could fall silent. */
static void nothing_wakes_up_but_for_silence(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 2);
    assert_int_equal(next_after_start(&stage), UINT64_MAX);
    assert_int_equal(stage_go(&stage, 100 * LIMIT), 0);
    assert_int_equal(tkw_service_read_stats(stage.scene.service).fired, 0);
    stage_add(&stage, 0, 1);
    for (uint64_t at = 100 * LIMIT; at < 200 * LIMIT; at += 10) {
        assert_int_equal(stage_go(&stage, at), 0);
        assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(0)), 0);
    }
    assert_in_range(tkw_service_read_stats(stage.scene.service).fired, 90, 112);
    assert_true(tkw_monitor_forget(stage.monitor, mixed_key(0)));
    uint64_t fired = tkw_service_read_stats(stage.scene.service).fired;
    assert_int_equal(stage_go(&stage, 300 * LIMIT), 0);
    assert_true(tkw_service_read_stats(stage.scene.service).fired <= fired + 1);
    assert_int_equal(next_after_start(&stage), UINT64_MAX);
    stage_close(&stage);
}

/* However keys fall to shards, the limit is for all together. */
static void so_many_keys_are_held_in_all_shards(void **state)
{
    (void)state;
    const uint32_t shards[] = {0, 1, 2, 7, 16};
    for (size_t s = 0; s < COUNT_OF(shards); s++) {
        struct stage stage;
        stage_set(&stage,
                  (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
        struct tkw_monitor_config config = stage_config(&stage);
        config.idle.keys_max = 40;
        config.shards = shards[s];
        stage_open_monitor(&stage, config);
        stage_add(&stage, 0, 40);
        for (uint32_t i = 40; i < 80; i++)
            assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(i)),
                             -EAGAIN);
        assert_int_equal(tkw_monitor_count(stage.monitor), 40);
        assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(7)), 0);
        assert_true(tkw_monitor_forget(stage.monitor, mixed_key(7)));
        stage_add(&stage, 50, 1);
        assert_int_equal(
            tkw_monitor_touch_limit(stage.monitor, mixed_key(7), 1), -EAGAIN);
        assert_int_equal(stage_go(&stage, LIMIT), 40);
        stage_add(&stage, 100, 40);
        assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(7)),
                         -EAGAIN);
        stage_close(&stage);
    }
}

static void note_and_forget(void *context, const struct tkw_idle_key *silent,
                            size_t count)
{
    struct stage *stage = context;
    stage->is_wrong |= count < 1 || count > TKW_SILENT_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = mixed_index(silent[i].key);
        stage->index[index]++;
        stage->is_wrong |= silent[i].last_ns != START;
        stage->is_wrong |= silent[i].limit_ns != TKW_NO_LIMIT;
        int answer = tkw_monitor_touch(stage->monitor, mixed_key(index));
        bool was_held = tkw_monitor_forget(stage->monitor, mixed_key(index));
        stage->is_wrong |= answer != 0 || !was_held;
        stage->is_wrong |= mixed_index(silent[i].key) != index;
    }
}

/* Add 300 keys and walk over them, so many times. */
static void walk_rounds(struct stage *stage, uint32_t rounds)
{
    memset(stage->index, 0, sizeof stage->index);
    for (uint32_t round = 1; round <= rounds; round++) {
        for (uint32_t i = 0; i < 300; i++)
            assert_int_equal(tkw_monitor_touch_limit(
                                 stage->monitor, mixed_key(i), TKW_NO_LIMIT),
                             1);
        tkw_monitor_walk(stage->monitor, note_and_forget, stage);
        for (size_t i = 0; i < 300; i++)
            assert_int_equal(stage->index[i], round);
        assert_int_equal(tkw_monitor_count(stage->monitor), 0);
    }
}

/* Each key once, in batches; `each` may touch and forget, what it was told of
   stays readable until it returns, and is not kept for ever. */
static void a_walk_visits_every_key(void **state)
{
    (void)state;
    for (uint32_t shards = 1; shards <= 4; shards++) {
        struct stage stage;
        stage_open(&stage, shards);
        tkw_monitor_walk(stage.monitor, note_and_forget, &stage);
        assert_int_equal(stage.index[0], 0);
        walk_rounds(&stage, 100);
        uint64_t bytes = account_bytes(&stage.account);
        walk_rounds(&stage, 100);
        if (shards == 1) /* others are not yet as large as they get */
            assert_true(account_bytes(&stage.account) < bytes + 50000);
        stage_close(&stage);
    }
}

/* One shard, no driver, and a wall clock. */
static void stage_open_wall(struct stage *stage)
{
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, START), 0);
    tkw_manual_clock_set_wall(manual, true);
    stage_set(stage, (struct tkw_service_config){
                         .clock = tkw_manual_clock_source(manual),
                         .driver = TKW_DRIVER_NONE});
    stage->scene.manual = manual;
    stage_open_monitor(stage, stage_config(stage));
}

/* The clock was right, and is set back: nobody is early, nobody is lost. */
static void a_wall_clock_set_back_makes_no_key_early(void **state)
{
    (void)state;
    struct stage stage;
    stage_open_wall(&stage);
    stage_go(&stage, 600);
    stage_add(&stage, 0, 1);
    assert_int_equal(stage_go(&stage, 100), 0);
    assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(0)), 0);
    stage_add(&stage, 1, 1);
    assert_int_equal(stage_go(&stage, 100 + LIMIT - 1), 0);
    assert_int_equal(stage_go(&stage, 600 + LIMIT - 1), 1);
    assert_int_equal(stage_go(&stage, 600 + LIMIT), 1);
    assert_int_equal(stage.index[1], 0);
    assert_int_equal(stage.reported[1].last_ns, START + 600);
    stage_close(&stage);
}

/* Nor is who is heard of all the time since then. */
static void keys_touched_behind_the_time_are_not_silent(void **state)
{
    (void)state;
    struct stage stage;
    stage_open_wall(&stage);
    stage_add(&stage, 9, 1);
    assert_int_equal(stage_go(&stage, 10 * LIMIT), 1); /* it has looked */
    stage_go(&stage, LIMIT);
    stage_add(&stage, 0, 2);
    for (uint64_t now = LIMIT; now < 20 * LIMIT; now += LIMIT / 4) {
        assert_int_equal(stage_go(&stage, now), 0);
        assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(0)), 0);
        assert_true(tkw_monitor_refresh(stage.monitor, mixed_key(1)));
        assert_int_equal(
            tkw_monitor_touch_limit(stage.monitor, mixed_key(2), LIMIT / 2),
            now == LIMIT);
    }
    assert_int_equal(stage_go(&stage, 22 * LIMIT), 3);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_key_is_reported_once_and_no_longer_held),
        cmocka_unit_test(keys_are_reported_less_than_a_tick_late),
        cmocka_unit_test(a_touch_refreshes),
        cmocka_unit_test(a_forgotten_key_is_not_reported),
        cmocka_unit_test(a_crowd_is_reported_in_batches),
        cmocka_unit_test(on_silent_may_add_its_keys_again),
        cmocka_unit_test(a_key_that_on_silent_forgets_is_not_reported),
        cmocka_unit_test(limits_are_kept_each_its_own),
        cmocka_unit_test(nothing_wakes_up_but_for_silence),
        cmocka_unit_test(so_many_keys_are_held_in_all_shards),
        cmocka_unit_test(a_walk_visits_every_key),
        cmocka_unit_test(a_wall_clock_set_back_makes_no_key_early),
        cmocka_unit_test(keys_touched_behind_the_time_are_not_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
