/*
 * server/engine/time_test.c - delays, times to run and pauses: never early, and
 * not late either.
 */
#include "scene.h"

static void a_delayed_job_is_ready_at_its_due_time_and_not_before(void **state)
{
    (void)state;
    static const uint32_t delays[] = {1, 2, 59, 3600, 86400, 4294967295};
    for (size_t i = 0; i < COUNT_OF(delays); i++) {
        struct scene *scene = scene_open();
        char line[64];
        snprintf(line, sizeof line, "put 0 %u 60 1\r\na", delays[i]);
        ASK(scene, ANN, line, "INSERTED 1");
        assert_true(tkd_engine_next(scene->server.engine) <=
                    START + delays[i] * SECOND);
        turn(scene, delays[i] * SECOND - 1);
        EXPECT_JOB(scene, 1, "state", "delayed");
        EXPECT_JOB(scene, 1, "time-left", "0");
        ASK(scene, ANN, "reserve-with-timeout 0", "TIMED_OUT");
        turn(scene, 1);
        EXPECT_JOB(scene, 1, "state", "ready");
        ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
        scene_close(scene);
    }
}

/* An engine that is always advanced to tkd_engine_next() misses nothing. */
static void following_next_reaches_every_due_time(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 100000 60 1\r\na", "INSERTED 1");
    SEND(scene, BOB, "reserve");
    unsigned steps = 0;
    while (scene->server.connections[BOB].out.size == 0) {
        uint64_t next = tkd_engine_next(scene->server.engine);
        assert_true(next > scene->server.now);
        assert_true(next <= START + 100000 * SECOND);
        assert_true(steps++ < 100);
        turn(scene, next - scene->server.now);
    }
    EXPECT(scene, BOB, "RESERVED 1 1\r\na");
    assert_int_equal(scene->server.now, START + 100000 * SECOND);
    ASK(scene, BOB, "delete 1", "DELETED");
    scene_close(scene);
}

static void an_idle_engine_has_nothing_to_wake_up_for(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    assert_true(tkd_engine_next(scene->server.engine) == TKD_NEVER);
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    SEND(scene, BOB, "watch x\r\nignore default\r\nreserve");
    EXPECT(scene, BOB, "WATCHING 2");
    EXPECT(scene, BOB, "WATCHING 1");
    assert_true(tkd_engine_next(scene->server.engine) == TKD_NEVER);
    scene_close(scene);
}

/* Time that goes back is ignored. */
static void time_does_not_go_back(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    turn(scene, 10 * SECOND);
    ASK(scene, ANN, "put 0 5 60 1\r\na", "INSERTED 1");
    assert_true(tkd_engine_advance(scene->server.engine, START, 1000));
    EXPECT_JOB(scene, 1, "age", "0");
    EXPECT_JOB(scene, 1, "time-left", "5");
    turn(scene, 5 * SECOND);
    EXPECT_JOB(scene, 1, "state", "ready");
    scene_close(scene);
}

static void ttr_counts_from_the_reserve_and_not_from_the_put(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 10 1\r\na", "INSERTED 1");
    turn(scene, 100 * SECOND);
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    EXPECT_JOB(scene, 1, "time-left", "10");
    turn(scene, 10 * SECOND - 1);
    EXPECT_JOB(scene, 1, "state", "reserved");
    EXPECT_JOB(scene, 1, "time-left", "0");
    EXPECT_JOB(scene, 1, "timeouts", "0");
    turn(scene, 1);
    EXPECT_JOB(scene, 1, "state", "ready");
    EXPECT_JOB(scene, 1, "timeouts", "1");
    EXPECT_JOB(scene, 1, "releases", "0");
    ASK(scene, ANN, "touch 1", "NOT_FOUND");
    ASK(scene, ANN, "release 1 0 0", "NOT_FOUND");
    ASK(scene, ANN, "bury 1 0", "NOT_FOUND");
    EXPECT_STATS(scene, "job-timeouts", "1");
    scene_close(scene);
}

static void touch_starts_the_ttr_again(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 10 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    for (unsigned i = 0; i < 5; i++) {
        turn(scene, 10 * SECOND - TKD_TICK_NS);
        ASK(scene, ANN, "touch 1", "TOUCHED");
        EXPECT_JOB(scene, 1, "time-left", "10");
    }
    turn(scene, 10 * SECOND - 1);
    EXPECT_JOB(scene, 1, "state", "reserved");
    turn(scene, 1);
    EXPECT_JOB(scene, 1, "state", "ready");
    EXPECT_JOB(scene, 1, "timeouts", "1");
    scene_close(scene);
}

/* No TTR, delay or timeout of an earlier life of the job disturbs it. */
static void what_ended_early_has_no_effect_later(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 5 10 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "kick-job 1", "KICKED");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    turn(scene, 5 * SECOND); /* the delay would be over */
    EXPECT_JOB(scene, 1, "state", "reserved");
    ASK(scene, ANN, "release 1 0 20", "RELEASED");
    turn(scene, 5 * SECOND); /* the TTR would be over */
    EXPECT_JOB(scene, 1, "state", "delayed");
    EXPECT_JOB(scene, 1, "timeouts", "0");
    ASK(scene, ANN, "reserve-job 1", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "bury 1 0", "BURIED");
    turn(scene, 100 * SECOND);
    EXPECT_JOB(scene, 1, "state", "buried");
    EXPECT_JOB(scene, 1, "timeouts", "0");
    scene_close(scene);
}

static void a_release_with_a_delay_counts_from_the_release(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 100 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    turn(scene, 50 * SECOND);
    ASK(scene, ANN, "release 1 3 10", "RELEASED");
    EXPECT_JOB(scene, 1, "delay", "10");
    EXPECT_JOB(scene, 1, "time-left", "10");
    turn(scene, 10 * SECOND - 1);
    EXPECT_JOB(scene, 1, "state", "delayed");
    turn(scene, 1);
    EXPECT_JOB(scene, 1, "state", "ready");
    EXPECT_JOB(scene, 1, "delay", "10");
    EXPECT_JOB(scene, 1, "pri", "3");
    scene_close(scene);
}

/* Times end at the first tick that is not early. */
static void times_are_rounded_up_to_ticks(void **state)
{
    (void)state;
    static const uint64_t odds[] = {1, TKD_TICK_NS / 2, TKD_TICK_NS - 1};
    for (size_t i = 0; i < COUNT_OF(odds); i++) {
        struct scene *scene = scene_open();
        turn(scene, odds[i]);
        ASK(scene, ANN, "put 0 5 60 1\r\na", "INSERTED 1");
        ASK(scene, ANN, "put 0 0 5 1\r\na", "INSERTED 2");
        ASK(scene, ANN, "reserve", "RESERVED 2 1\r\na");
        SEND(scene, BOB,
             "watch x\r\nignore default\r\n"
             "reserve-with-timeout 5");
        EXPECT(scene, BOB, "WATCHING 2");
        EXPECT(scene, BOB, "WATCHING 1");
        turn(scene, 5 * SECOND - 1);
        EXPECT_JOB(scene, 1, "state", "delayed");
        EXPECT_JOB(scene, 2, "state", "reserved");
        EXPECT_NOTHING(scene, BOB);
        turn(scene, TKD_TICK_NS - odds[i] + 1);
        EXPECT_JOB(scene, 1, "state", "ready");
        EXPECT_JOB(scene, 2, "state", "ready");
        EXPECT(scene, BOB, "TIMED_OUT");
        scene_close(scene);
    }
}

/* Each of many jobs has its own time. */
static void many_times_run_out_in_their_order(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    for (unsigned i = 0; i < 100; i++) {
        char line[64], reply[64];
        snprintf(line, sizeof line, "put 0 %u 60 1\r\na", i * 37 % 100 + 1);
        snprintf(reply, sizeof reply, "INSERTED %u", i + 1);
        ASK(scene, ANN, line, reply);
    }
    for (unsigned second = 1; second <= 100; second++) {
        char count[16];
        turn(scene, SECOND - 1);
        snprintf(count, sizeof count, "%u", second - 1);
        EXPECT_STATS(scene, "current-jobs-ready", count);
        turn(scene, 1);
        snprintf(count, sizeof count, "%u", second);
        EXPECT_STATS(scene, "current-jobs-ready", count);
    }
    scene_close(scene);
}

/* Nothing of a paused tube is reserved until the pause is over. */
static void a_pause_ends_at_its_time_and_not_before(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, BOB, "pause-tube default 5", "PAUSED");
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 0 2 60 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "peek-ready", "FOUND 1 1\r\na");
    ASK(scene, ANN, "reserve-with-timeout 0", "TIMED_OUT");
    SEND(scene, ANN, "reserve");
    SEND(scene, BOB, "reserve-with-timeout 4");
    turn(scene, 4 * SECOND);
    EXPECT(scene, BOB, "TIMED_OUT");
    turn(scene, SECOND - 1);
    EXPECT_TUBE(scene, "default", "current-jobs-ready", "2");
    EXPECT_TUBE(scene, "default", "pause", "5");
    EXPECT_TUBE(scene, "default", "pause-time-left", "0");
    EXPECT_NOTHING(scene, ANN);
    turn(scene, 1);
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    EXPECT_TUBE(scene, "default", "pause", "0");
    ASK(scene, BOB, "reserve", "RESERVED 2 1\r\nb");
    scene_close(scene);
}

/* When a pause ends, the clients that have waited longest get the best jobs. */
static void the_end_of_a_pause_serves_all_waiting_clients(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, DAN, "pause-tube default 5", "PAUSED");
    ASK(scene, DAN, "put 2 0 60 1\r\na", "INSERTED 1");
    ASK(scene, DAN, "put 0 0 60 1\r\nb", "INSERTED 2");
    ASK(scene, DAN, "put 1 0 60 1\r\nc", "INSERTED 3");
    SEND(scene, BOB, "reserve");
    SEND(scene, ANN, "reserve");
    turn(scene, 5 * SECOND);
    EXPECT(scene, BOB, "RESERVED 2 1\r\nb");
    EXPECT(scene, ANN, "RESERVED 3 1\r\nc");
    EXPECT_JOB(scene, 1, "state", "ready");
    scene_close(scene);
}

static void a_new_pause_replaces_the_old_one(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "pause-tube default 5", "PAUSED");
    turn(scene, 3 * SECOND);
    ASK(scene, ANN, "pause-tube default 10", "PAUSED");
    EXPECT_TUBE(scene, "default", "pause", "10");
    EXPECT_TUBE(scene, "default", "pause-time-left", "10");
    EXPECT_TUBE(scene, "default", "cmd-pause-tube", "2");
    SEND(scene, ANN, "reserve");
    turn(scene, 9 * SECOND);
    EXPECT_NOTHING(scene, ANN);
    EXPECT_TUBE(scene, "default", "pause-time-left", "1");
    ASK(scene, BOB, "pause-tube default 2", "PAUSED");
    turn(scene, SECOND); /* the pause of 10 s would be over */
    EXPECT_NOTHING(scene, ANN);
    turn(scene, SECOND);
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    scene_close(scene);
}

/* A pause of 0 s ends a pause.  beanstalkd's lasts a nanosecond. */
static void a_pause_of_0_ends_a_pause(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "pause-tube default 0", "PAUSED");
    turn(scene, TKD_TICK_NS);
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "release 1 0 0", "RELEASED");
    ASK(scene, ANN, "pause-tube default 100", "PAUSED");
    SEND(scene, ANN, "reserve");
    EXPECT_NOTHING(scene, ANN);
    ASK(scene, BOB, "pause-tube default 0", "PAUSED");
    turn(scene, TKD_TICK_NS);
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    EXPECT_TUBE(scene, "default", "pause", "0");
    EXPECT_TUBE(scene, "default", "pause-time-left", "0");
    EXPECT_TUBE(scene, "default", "cmd-pause-tube", "3");
    scene_close(scene);
}

/* A pause keeps from reserving only. */
static void a_paused_tube_takes_all_other_commands(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 0 0 60 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "pause-tube default 1000", "PAUSED");
    ASK(scene, ANN, "reserve-job 2", "RESERVED 2 1\r\nb");
    ASK(scene, ANN, "bury 2 0", "BURIED");
    ASK(scene, ANN, "kick 5", "KICKED 1");
    ASK(scene, ANN, "delete 2", "DELETED");
    ASK(scene, ANN, "touch 1", "TOUCHED");
    turn(scene, 60 * SECOND);
    EXPECT_JOB(scene, 1, "timeouts", "1");
    ASK(scene, ANN, "pause-tube x 5", "NOT_FOUND");
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delayed_job_is_ready_at_its_due_time_and_not_before),
        cmocka_unit_test(following_next_reaches_every_due_time),
        cmocka_unit_test(an_idle_engine_has_nothing_to_wake_up_for),
        cmocka_unit_test(time_does_not_go_back),
        cmocka_unit_test(ttr_counts_from_the_reserve_and_not_from_the_put),
        cmocka_unit_test(touch_starts_the_ttr_again),
        cmocka_unit_test(what_ended_early_has_no_effect_later),
        cmocka_unit_test(a_release_with_a_delay_counts_from_the_release),
        cmocka_unit_test(times_are_rounded_up_to_ticks),
        cmocka_unit_test(many_times_run_out_in_their_order),
        cmocka_unit_test(a_pause_ends_at_its_time_and_not_before),
        cmocka_unit_test(the_end_of_a_pause_serves_all_waiting_clients),
        cmocka_unit_test(a_new_pause_replaces_the_old_one),
        cmocka_unit_test(a_pause_of_0_ends_a_pause),
        cmocka_unit_test(a_paused_tube_takes_all_other_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
