/*
 * server/engine/reserve_test.c - which job a reserve gets, and DEADLINE_SOON.
 */
#include "scene.h"

static void
the_smallest_priority_comes_first_and_then_the_smallest_id(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 5 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 4294967295 0 60 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "put 5 0 60 1\r\nc", "INSERTED 3");
    ASK(scene, ANN, "put 0 0 60 1\r\nd", "INSERTED 4");
    ASK(scene, ANN, "put 4294967294 0 60 1\r\ne", "INSERTED 5");
    ASK(scene, ANN, "peek-ready", "FOUND 4 1\r\nd");
    ASK(scene, ANN, "reserve", "RESERVED 4 1\r\nd");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, BOB, "reserve", "RESERVED 3 1\r\nc");
    ASK(scene, ANN, "reserve", "RESERVED 5 1\r\ne");
    ASK(scene, ANN, "reserve", "RESERVED 2 1\r\nb");
    ASK(scene, ANN, "reserve-with-timeout 0", "TIMED_OUT");
    scene_close(scene);
}

/* The order is one over all watched tubes, and other tubes are not touched. */
static void selection_is_over_all_watched_tubes(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "use x", "USING x");
    ASK(scene, ANN, "put 3 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 1 0 60 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "use y", "USING y");
    ASK(scene, ANN, "put 2 0 60 1\r\nc", "INSERTED 3");
    ASK(scene, ANN, "use z", "USING z");
    ASK(scene, ANN, "put 0 0 60 1\r\nd", "INSERTED 4");
    ASK(scene, BOB, "watch y", "WATCHING 2");
    ASK(scene, BOB, "watch x", "WATCHING 3");
    ASK(scene, BOB, "ignore default", "WATCHING 2");
    ASK(scene, BOB, "reserve", "RESERVED 2 1\r\nb");
    ASK(scene, BOB, "reserve", "RESERVED 3 1\r\nc");
    ASK(scene, BOB, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, BOB, "reserve-with-timeout 0", "TIMED_OUT");
    EXPECT_JOB(scene, 4, "state", "ready");
    scene_close(scene);
}

static void a_released_job_is_selected_by_its_new_priority(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 1 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 5 0 60 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "release 1 9 0", "RELEASED");
    ASK(scene, ANN, "reserve", "RESERVED 2 1\r\nb");
    ASK(scene, ANN, "bury 2 3", "BURIED");
    ASK(scene, ANN, "kick 1", "KICKED 1");
    ASK(scene, ANN, "reserve", "RESERVED 2 1\r\nb");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    scene_close(scene);
}

/* In the last second of a job that a client holds, its reserve ends at once. */
static void a_new_reserve_gets_deadline_soon_in_the_last_second(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 5 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    turn(scene, 4 * SECOND - 1);
    ASK(scene, ANN, "reserve-with-timeout 0", "TIMED_OUT");
    turn(scene, 1);
    ASK(scene, ANN, "reserve-with-timeout 0", "DEADLINE_SOON");
    ASK(scene, ANN, "reserve", "DEADLINE_SOON");
    ASK(scene, ANN, "reserve-with-timeout 9", "DEADLINE_SOON");
    ASK(scene, BOB, "reserve-with-timeout 0", "TIMED_OUT");
    ASK(scene, BOB, "put 0 0 5 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "reserve", "RESERVED 2 1\r\nb");
    ASK(scene, ANN, "reserve", "DEADLINE_SOON");
    ASK(scene, ANN, "touch 1", "TOUCHED");
    ASK(scene, ANN, "reserve-with-timeout 0", "TIMED_OUT");
    turn(scene, 5 * SECOND - 1);
    ASK(scene, ANN, "reserve", "DEADLINE_SOON");
    ASK(scene, ANN, "delete 1", "DELETED");
    ASK(scene, ANN, "delete 2", "DELETED");
    ASK(scene, ANN, "reserve-with-timeout 0", "TIMED_OUT");
    scene_close(scene);
}

static void
a_waiting_reserve_gets_deadline_soon_in_the_last_second(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 9 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 0 0 5 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "reserve", "RESERVED 2 1\r\nb");
    SEND(scene, ANN, "reserve");
    turn(scene, 4 * SECOND - 1);
    EXPECT_NOTHING(scene, ANN);
    turn(scene, 1);
    EXPECT(scene, ANN, "DEADLINE_SOON");
    EXPECT_JOB(scene, 2, "state", "reserved");
    EXPECT_STATS(scene, "current-waiting", "0");
    ASK(scene, ANN, "delete 2", "DELETED");
    SEND(scene, ANN, "reserve-with-timeout 4");
    turn(scene, 4 * SECOND - 1);
    EXPECT_NOTHING(scene, ANN);
    turn(scene, 2);
    /* Whether the timeout or the last second is first, the reserve ends. */
    bool is_soon = scene->server.connections[ANN].out.data[0] == 'D';
    EXPECT(scene, ANN, is_soon ? "DEADLINE_SOON" : "TIMED_OUT");
    ASK(scene, ANN, "release 1 0 0", "RELEASED");
    scene_close(scene);
}

/* The whole of a TTR of a second is the last second. */
static void a_ttr_of_a_second_is_soon_over(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 1 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 0 0 0 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "reserve", "RESERVED 2 1\r\nb");
    ASK(scene, ANN, "reserve", "DEADLINE_SOON");
    turn(scene, SECOND - 1);
    ASK(scene, ANN, "reserve", "DEADLINE_SOON");
    turn(scene, 1);
    ASK(scene, BOB, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "reserve", "RESERVED 2 1\r\nb");
    EXPECT_JOB(scene, 1, "timeouts", "1");
    scene_close(scene);
}

/* A ready job that the client does not watch, or that is in a paused tube, is
 * not there. */
static void only_a_job_within_reach_averts_deadline_soon(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 1 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, BOB, "use x", "USING x");
    ASK(scene, BOB, "put 0 0 1 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "reserve", "DEADLINE_SOON");
    ASK(scene, ANN, "watch x", "WATCHING 2");
    ASK(scene, BOB, "pause-tube x 100", "PAUSED");
    ASK(scene, ANN, "reserve", "DEADLINE_SOON");
    turn(scene, SECOND);
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    scene_close(scene);
}

/* reserve-job waits for nothing, and DEADLINE_SOON is not one of its
 * replies. */
static void reserve_job_takes_a_job_of_any_tube(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 1 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "use x", "USING x");
    ASK(scene, ANN, "put 9 0 60 1\r\nb", "INSERTED 2");
    ASK(scene, ANN, "put 9 50 60 1\r\nc", "INSERTED 3");
    ASK(scene, ANN, "pause-tube x 100", "PAUSED");
    ASK(scene, BOB, "reserve-job 1", "RESERVED 1 1\r\na");
    ASK(scene, BOB, "reserve-job 2", "RESERVED 2 1\r\nb");
    ASK(scene, BOB, "reserve-job 3", "RESERVED 3 1\r\nc");
    EXPECT_JOB(scene, 3, "time-left", "60");
    ASK(scene, CID, "reserve-job 3", "NOT_FOUND");
    turn(scene, 59 * SECOND);
    EXPECT_JOB(scene, 3, "state", "reserved");
    EXPECT_JOB(scene, 1, "state", "ready");
    turn(scene, SECOND);
    EXPECT_JOB(scene, 3, "state", "ready");
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_smallest_priority_comes_first_and_then_the_smallest_id),
        cmocka_unit_test(selection_is_over_all_watched_tubes),
        cmocka_unit_test(a_released_job_is_selected_by_its_new_priority),
        cmocka_unit_test(a_new_reserve_gets_deadline_soon_in_the_last_second),
        cmocka_unit_test(
            a_waiting_reserve_gets_deadline_soon_in_the_last_second),
        cmocka_unit_test(a_ttr_of_a_second_is_soon_over),
        cmocka_unit_test(only_a_job_within_reach_averts_deadline_soon),
        cmocka_unit_test(reserve_job_takes_a_job_of_any_tube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
