/*
 * server/engine/waiting_test.c - which client gets a job that becomes ready,
 * and when a reserve ends without a job.
 */
#include "scene.h"

/* The client that has waited longest gets the next job of a tube that it
 * watches. */
static void waiting_clients_are_served_in_their_order(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "watch x", "WATCHING 2");
    ASK(scene, CID, "watch x", "WATCHING 2");
    ASK(scene, DAN, "use x", "USING x");
    SEND(scene, BOB, "reserve");
    SEND(scene, CID, "reserve");
    SEND(scene, ANN, "reserve-with-timeout 100");
    EXPECT_STATS(scene, "current-waiting", "3");
    EXPECT_TUBE(scene, "x", "current-waiting", "2");
    ASK(scene, DAN, "put 0 0 60 1\r\na", "INSERTED 1");
    EXPECT(scene, CID, "RESERVED 1 1\r\na");
    SEND(scene, CID, "reserve");
    ASK(scene, DAN, "put 0 0 60 1\r\nb", "INSERTED 2");
    EXPECT(scene, ANN, "RESERVED 2 1\r\nb");
    ASK(scene, DAN, "use default", "USING default");
    ASK(scene, DAN, "put 0 0 60 1\r\nc", "INSERTED 3");
    EXPECT(scene, BOB, "RESERVED 3 1\r\nc");
    ASK(scene, DAN, "put 0 0 60 1\r\nd", "INSERTED 4");
    EXPECT(scene, CID, "RESERVED 4 1\r\nd");
    EXPECT_STATS(scene, "current-waiting", "0");
    scene_close(scene);
}

/* Jobs of two tubes become ready at once.  Ann waits for one of them, and Bob,
 * who began to wait later, for both: the jobs are enough for both clients. */
static void jobs_that_come_together_go_to_the_first_client(void **state)
{
    (void)state;
    static const char *const jobs[][2] = {
        {"put 1 0 60 1\r\na\r\nreserve", "put 9 0 60 1\r\nb\r\nreserve"},
        {"put 1 5 60 1\r\na", "put 9 5 60 1\r\nb"},
        {"put 1 0 5 1\r\na\r\nreserve", "put 9 0 5 1\r\nb\r\nreserve"},
        {"put 1 0 60 1\r\na\r\npause-tube default 5",
         "put 9 0 60 1\r\nb\r\npause-tube x 5"},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(jobs); i++) {
        struct scene *scene = scene_open();
        scene->label = jobs[i / 2][0];
        SEND(scene, DAN, "watch x\r\nuse x");
        if (i % 2 == 1)
            SEND(scene, DAN, jobs[i / 2][1]);
        SEND(scene, DAN, "use default");
        SEND(scene, DAN, jobs[i / 2][0]);
        SEND(scene, DAN, "use x");
        if (i % 2 == 0)
            SEND(scene, DAN, jobs[i / 2][1]);
        bytes_clear(&scene->server.connections[DAN].out);
        SEND(scene, ANN, "reserve");
        SEND(scene, BOB, "watch x\r\nreserve");
        EXPECT(scene, BOB, "WATCHING 2");
        if (i / 2 == 0)
            leave(scene, DAN);
        turn(scene, 5 * SECOND);
        EXPECT(scene, ANN,
               i % 2 == 0 ? "RESERVED 1 1\r\na" : "RESERVED 2 1\r\na");
        EXPECT(scene, BOB,
               i % 2 == 0 ? "RESERVED 2 1\r\nb" : "RESERVED 1 1\r\nb");
        bytes_clear(&scene->server.connections[DAN].out);
        scene_close(scene);
    }
}

/* Each way in which a job becomes ready ends a waiting reserve. */
static void every_ready_job_goes_to_a_waiting_client(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "reserve");
    ASK(scene, BOB, "put 0 1 60 1\r\na", "INSERTED 1");
    EXPECT_NOTHING(scene, ANN);
    turn(scene, SECOND); /* the delay is over */
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    SEND(scene, BOB, "reserve");
    ASK(scene, ANN, "release 1 0 0", "RELEASED");
    EXPECT(scene, BOB, "RESERVED 1 1\r\na");
    SEND(scene, ANN, "reserve");
    turn(scene, 60 * SECOND); /* the TTR is over */
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    SEND(scene, BOB, "reserve");
    leave(scene, ANN);
    EXPECT(scene, BOB, "RESERVED 1 1\r\na");
    ASK(scene, BOB, "bury 1 0", "BURIED");
    SEND(scene, ANN, "reserve");
    ASK(scene, BOB, "kick 1", "KICKED 1");
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    ASK(scene, ANN, "bury 1 0", "BURIED");
    SEND(scene, ANN, "reserve");
    ASK(scene, BOB, "kick-job 1", "KICKED");
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    ASK(scene, ANN, "release 1 0 10", "RELEASED");
    SEND(scene, ANN, "reserve");
    ASK(scene, BOB, "kick-job 1", "KICKED");
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    EXPECT_JOB(scene, 1, "reserves", "7");
    scene_close(scene);
}

/* A job can come back to the client that has released it. */
static void a_client_takes_one_job_for_each_reserve(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "reserve");
    ASK(scene, BOB, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, BOB, "put 0 0 60 1\r\nb", "INSERTED 2");
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    EXPECT_NOTHING(scene, ANN);
    ASK(scene, ANN, "release 1 0 0", "RELEASED");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    scene_close(scene);
}

static void reserve_times_out_at_its_timeout_and_not_before(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "reserve-with-timeout 3");
    SEND(scene, BOB, "reserve");
    SEND(scene, CID, "reserve-with-timeout 1");
    turn(scene, SECOND - 1);
    EXPECT_NOTHING(scene, CID);
    turn(scene, 1);
    EXPECT(scene, CID, "TIMED_OUT");
    turn(scene, 2 * SECOND - 1);
    EXPECT_NOTHING(scene, ANN);
    turn(scene, 1);
    EXPECT(scene, ANN, "TIMED_OUT");
    turn(scene, 4000000 * SECOND);
    EXPECT_NOTHING(scene, BOB);
    EXPECT_STATS(scene, "current-waiting", "1");
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    EXPECT(scene, BOB, "RESERVED 1 1\r\na");
    EXPECT_NOTHING(scene, ANN);
    scene_close(scene);
}

/* A reserve that has got a job leaves no timeout behind. */
static void a_timeout_ends_with_its_reserve(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "reserve-with-timeout 3");
    ASK(scene, BOB, "put 0 0 60 1\r\na", "INSERTED 1");
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    SEND(scene, ANN, "reserve-with-timeout 30");
    turn(scene, 4 * SECOND);
    EXPECT_NOTHING(scene, ANN);
    turn(scene, 26 * SECOND - 1);
    EXPECT_NOTHING(scene, ANN);
    turn(scene, 1);
    EXPECT(scene, ANN, "TIMED_OUT");
    SEND(scene, CID, "reserve-with-timeout 3");
    leave(scene, CID);
    turn(scene, 10 * SECOND);
    scene_close(scene);
}

/* tkd_client_give_up() ends a reserve that waits, and nothing else. */
static void a_client_can_give_up_waiting(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "reserve");
    SEND(scene, BOB, "reserve-with-timeout 9");
    tkd_client_give_up(scene->server.connections[ANN].client);
    tkd_client_give_up(scene->server.connections[BOB].client);
    SETTLE(scene);
    EXPECT(scene, ANN, "TIMED_OUT");
    EXPECT(scene, BOB, "TIMED_OUT");
    EXPECT_STATS(scene, "current-waiting", "0");
    ASK(scene, CID, "put 0 0 60 1\r\na", "INSERTED 1");
    EXPECT_JOB(scene, 1, "state", "ready");
    tkd_client_give_up(scene->server.connections[ANN].client);
    turn(scene, 10 * SECOND);
    EXPECT_NOTHING(scene, ANN);
    EXPECT_NOTHING(scene, BOB);
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    scene_close(scene);
}

/* The replies to what was sent behind a reserve wait for its reply. */
static void commands_behind_a_waiting_reserve_wait(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "reserve\r\nuse x\r\nreserve-with-timeout 0\r\nuse y");
    assert_true(tkd_client_is_waiting(scene->server.connections[ANN].client));
    assert_false(
        tkd_client_is_open_to_commands(scene->server.connections[ANN].client));
    EXPECT_NO_TUBE(scene, "x");
    EXPECT_NOTHING(scene, ANN);
    ASK(scene, BOB, "put 0 0 60 1\r\na", "INSERTED 1");
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    EXPECT(scene, ANN, "USING x");
    EXPECT(scene, ANN, "TIMED_OUT");
    EXPECT(scene, ANN, "USING y");
    assert_false(tkd_client_is_waiting(scene->server.connections[ANN].client));
    assert_true(
        tkd_client_is_open_to_commands(scene->server.connections[ANN].client));
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_clients_are_served_in_their_order),
        cmocka_unit_test(jobs_that_come_together_go_to_the_first_client),
        cmocka_unit_test(every_ready_job_goes_to_a_waiting_client),
        cmocka_unit_test(a_client_takes_one_job_for_each_reserve),
        cmocka_unit_test(reserve_times_out_at_its_timeout_and_not_before),
        cmocka_unit_test(a_timeout_ends_with_its_reserve),
        cmocka_unit_test(a_client_can_give_up_waiting),
        cmocka_unit_test(commands_behind_a_waiting_reserve_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
