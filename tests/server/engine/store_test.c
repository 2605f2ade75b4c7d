/*
 * server/engine/store_test.c - replies wait for the store, in the order of the
 * commands, and nothing is acknowledged that a power cut could undo.
 */
#include "store_scene.h"

static void a_put_is_acknowledged_when_it_is_durable(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    SEND(scene, ANN, "put 0 0 60 1\r\na");
    turn(scene, SECOND);
    EXPECT_NOTHING(scene, ANN);
    struct tkd_client *client = scene->server.connections[ANN].client;
    assert_true(tkd_client_is_open_to_commands(client));
    assert_int_equal(tkd_client_pending_count(client), 1);
    commit(scene);
    EXPECT(scene, ANN, "INSERTED 1");
    assert_int_equal(tkd_client_pending_count(client), 0);
    store_scene_close(scene);
}

/* While the store is busy, changes gather in one batch. */
static void a_batch_is_submitted_when_the_store_is_free(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    struct fake_store *fake = fake_of(scene);
    SEND(scene, ANN, "put 0 0 60 1\r\na");
    assert_int_equal(fake->batch_count, 1);
    SEND(scene, ANN, "put 0 0 60 1\r\nb");
    SEND(scene, BOB, "put 0 0 60 1\r\nc");
    SEND(scene, BOB, "delete 2");
    assert_int_equal(fake->batch_count, 1);
    assert_int_equal(fake->submitted, 1);
    commit(scene);
    EXPECT(scene, ANN, "INSERTED 1");
    EXPECT_NOTHING(scene, ANN);
    EXPECT_NOTHING(scene, BOB);
    assert_int_equal(fake->batch_count, 2);
    assert_int_equal(fake->submitted, 4);
    commit(scene);
    EXPECT(scene, ANN, "INSERTED 2");
    EXPECT(scene, BOB, "INSERTED 3");
    EXPECT(scene, BOB, "DELETED");
    assert_int_equal(fake->batch_count, 2);
    store_scene_close(scene);
}

struct change {
    const char *before; /* what makes the job */
    const char *command;
    const char *reply;
};

/* Each change, and not only that of put, is durable before its reply. */
static void every_change_is_durable_before_its_reply(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"put 0 0 60 1\r\na", "delete 1", "DELETED"},
        {"put 0 9 60 1\r\na", "delete 1", "DELETED"},
        {"put 0 0 60 1\r\na\r\nreserve", "delete 1", "DELETED"},
        {"put 0 0 60 1\r\na\r\nreserve", "release 1 0 0", "RELEASED"},
        {"put 0 0 60 1\r\na\r\nreserve", "release 1 0 9", "RELEASED"},
        {"put 0 0 60 1\r\na\r\nreserve", "bury 1 0", "BURIED"},
        {"put 0 9 60 1\r\na", "kick-job 1", "KICKED"},
        {"put 0 9 60 1\r\na", "kick 5", "KICKED 1"},
        {"put 0 0 60 1\r\na\r\nreserve\r\nbury 1 0", "kick 5", "KICKED 1"},
        {"put 0 9 60 1\r\na", "reserve-job 1", "RESERVED 1 1\r\na"},
    };
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        struct scene *scene = store_scene_open(0);
        prepare(scene, ANN, changes[i].before);
        SEND(scene, ANN, changes[i].command);
        answer(scene);
        EXPECT_NOTHING(scene, ANN);
        assert_true(fake_of(scene)->is_busy);
        commit(scene);
        answer(scene);
        EXPECT(scene, ANN, changes[i].reply);
        store_scene_close(scene);
    }
}

/* Commands that change nothing durable do not wait. */
static void what_is_not_written_is_not_waited_for(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    prepare(scene, ANN, "put 0 0 60 1\r\na");
    SEND(scene, BOB, "put 0 0 60 1\r\nb"); /* the store is busy */
    SEND(scene, ANN, "reserve");
    answer(scene);
    EXPECT(scene, ANN, "RESERVED 1 1\r\na");
    ASK(scene, ANN, "touch 1", "TOUCHED");
    ASK(scene, ANN, "delete 7", "NOT_FOUND");
    ASK(scene, ANN, "use x", "USING x");
    ASK(scene, ANN, "kick 5", "KICKED 0");
    ASK(scene, ANN, "pause-tube x 5", "PAUSED");
    EXPECT_STATS(scene, "current-jobs-reserved", "1");
    EXPECT_NOTHING(scene, BOB);
    commit(scene);
    EXPECT(scene, BOB, "INSERTED 2");
    store_scene_close(scene);
}

/* A reply that could be sent waits behind one that cannot, but only behind
 * those of its own client. */
static void replies_of_a_client_keep_their_order(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    SEND(scene, ANN, "use x");
    EXPECT(scene, ANN, "USING x");
    SEND(scene, ANN,
         "put 0 0 60 1\r\na\r\nuse y\r\nput 0 0 60 1\r\nbcd\r\nkick 1");
    EXPECT_NOTHING(scene, ANN);
    ASK(scene, BOB, "list-tube-used", "USING default");
    assert_int_equal(
        tkd_client_pending_count(scene->server.connections[ANN].client), 5);
    commit(scene);
    EXPECT(scene, ANN, "INSERTED 1");
    EXPECT(scene, ANN, "USING y");
    EXPECT(scene, ANN, "EXPECTED_CRLF");
    EXPECT(scene, ANN, "UNKNOWN_COMMAND");
    EXPECT(scene, ANN, "KICKED 0");
    store_scene_close(scene);
}

/* No client sees a deletion that could be undone. */
static void not_found_waits_for_the_deletion(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    prepare(scene, ANN, "put 0 0 60 1\r\na");
    SEND(scene, ANN, "delete 1");
    SEND(scene, BOB, "peek 1");
    SEND(scene, CID, "delete 1");
    SEND(scene, DAN, "reserve-job 1");
    answer(scene);
    EXPECT_NOTHING(scene, ANN);
    EXPECT_NOTHING(scene, BOB);
    EXPECT_NOTHING(scene, CID);
    EXPECT_NOTHING(scene, DAN);
    EXPECT_NO_JOB(scene, 1); /* statistics do not wait */
    commit(scene);
    answer(scene);
    EXPECT(scene, ANN, "DELETED");
    EXPECT(scene, BOB, "NOT_FOUND");
    EXPECT(scene, CID, "NOT_FOUND");
    EXPECT(scene, DAN, "NOT_FOUND");
    SEND(scene, BOB, "peek 1");
    answer(scene);
    EXPECT(scene, BOB, "NOT_FOUND");
    store_scene_close(scene);
}

/* A reply that shows a change waits for it. */
static void found_waits_for_the_put(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    SEND(scene, ANN, "put 0 9 60 1\r\na");
    SEND(scene, BOB, "peek 1");
    SEND(scene, CID, "peek-delayed");
    SEND(scene, DAN, "touch 1");
    answer(scene);
    EXPECT_NOTHING(scene, BOB);
    EXPECT_NOTHING(scene, CID);
    EXPECT_NOTHING(scene, DAN);
    EXPECT_JOB(scene, 1, "state", "delayed");
    commit(scene);
    answer(scene);
    EXPECT(scene, ANN, "INSERTED 1");
    EXPECT(scene, BOB, "FOUND 1 1\r\na");
    EXPECT(scene, CID, "FOUND 1 1\r\na");
    EXPECT(scene, DAN, "NOT_FOUND");
    store_scene_close(scene);
}

/* No job is handed out before its put is durable.  Its TTR starts when the
 * client gets it. */
static void reserved_waits_for_the_put_and_starts_the_ttr(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    SEND(scene, BOB, "reserve-with-timeout 3");
    SEND(scene, ANN, "put 0 0 10 1\r\na");
    answer(scene);
    EXPECT_NOTHING(scene, BOB);
    turn(scene, 7 * SECOND); /* chosen: no timeout any more */
    answer(scene);
    EXPECT_NOTHING(scene, BOB);
    commit(scene);
    answer(scene);
    EXPECT(scene, BOB, "RESERVED 1 1\r\na");
    EXPECT(scene, ANN, "INSERTED 1");
    EXPECT_JOB(scene, 1, "time-left", "10");
    EXPECT_JOB(scene, 1, "reserves", "1");
    turn(scene, 10 * SECOND - 1);
    EXPECT_JOB(scene, 1, "state", "reserved");
    ASK(scene, BOB, "touch 1", "TOUCHED");
    turn(scene, 11 * SECOND);
    EXPECT_JOB(scene, 1, "timeouts", "1");
    store_scene_close(scene);
}

/* The last second of a job may begin when its RESERVED is sent, while its
 * client waits for another one. */
static void deadline_soon_comes_for_a_job_that_was_on_its_way(void **state)
{
    (void)state;
    for (unsigned ttr = 1; ttr <= 3; ttr++) {
        struct scene *scene = store_scene_open(0);
        char line[64];
        snprintf(line, sizeof line, "put 0 0 %u 1\r\na", ttr);
        SEND(scene, ANN, line);
        SEND(scene, BOB, "reserve-job 1\r\nreserve-with-timeout 60");
        EXPECT_NOTHING(scene, BOB);
        turn(scene, 10 * SECOND);
        commit(scene);
        answer(scene);
        EXPECT(scene, ANN, "INSERTED 1");
        EXPECT(scene, BOB, "RESERVED 1 1\r\na");
        if (ttr > 1) {
            turn(scene, (ttr - 1) * SECOND - 1);
            EXPECT_NOTHING(scene, BOB);
            turn(scene, 1);
        }
        EXPECT(scene, BOB, "DEADLINE_SOON");
        store_scene_close(scene);
    }
}

/* A job that has come back, too, is handed out when that is durable. */
static void reserved_waits_for_a_release(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    prepare(scene, ANN, "put 0 0 10 1\r\na\r\nreserve");
    SEND(scene, BOB, "reserve");
    SEND(scene, ANN, "release 1 5 0");
    answer(scene);
    EXPECT_NOTHING(scene, ANN);
    EXPECT_NOTHING(scene, BOB);
    turn(scene, 60 * SECOND);
    commit(scene);
    answer(scene);
    EXPECT(scene, ANN, "RELEASED");
    EXPECT(scene, BOB, "RESERVED 1 1\r\na");
    EXPECT_JOB(scene, 1, "timeouts", "0");
    EXPECT_JOB(scene, 1, "reserves", "2");
    store_scene_close(scene);
}

/* A client whose job is on its way does not wait: it cannot give up. */
static void a_chosen_job_cannot_be_given_up(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    SEND(scene, BOB, "reserve");
    SEND(scene, ANN, "put 0 0 10 1\r\na");
    tkd_client_give_up(scene->server.connections[BOB].client);
    SETTLE(scene);
    EXPECT_NOTHING(scene, BOB);
    commit(scene);
    answer(scene);
    EXPECT(scene, ANN, "INSERTED 1");
    EXPECT(scene, BOB, "RESERVED 1 1\r\na");
    store_scene_close(scene);
}

/* A client that leaves before it gets its job has not reserved it. */
static void a_job_comes_back_if_the_client_leaves_too_early(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    SEND(scene, BOB, "reserve");
    SEND(scene, ANN, "put 0 0 10 1\r\na");
    leave(scene, BOB);
    EXPECT_JOB(scene, 1, "state", "ready");
    EXPECT_JOB(scene, 1, "reserves", "0");
    SEND(scene, CID, "reserve");
    commit(scene);
    answer(scene);
    EXPECT(scene, ANN, "INSERTED 1");
    EXPECT(scene, CID, "RESERVED 1 1\r\na");
    EXPECT_JOB(scene, 1, "reserves", "1");
    store_scene_close(scene);
}

static void a_put_outlives_its_client(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    SEND(scene, ANN, "put 0 0 10 1\r\na");
    leave(scene, ANN);
    commit(scene);
    SEND(scene, BOB, "reserve");
    answer(scene);
    EXPECT(scene, BOB, "RESERVED 1 1\r\na");
    store_scene_close(scene);
}

/* After a failure nothing more is acknowledged. */
static void a_failed_store_ends_the_acknowledging(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    prepare(scene, ANN, "put 0 0 10 1\r\na");
    SEND(scene, ANN, "delete 1\r\nput 0 0 10 1\r\na");
    SEND(scene, BOB, "peek 1");
    assert_false(scene->server.has_failed);
    fake_fail(fake_of(scene));
    SETTLE(scene);
    assert_true(scene->server.has_failed);
    SEND(scene, CID, "put 0 0 10 1\r\na");
    SEND(scene, CID, "kick 1");
    turn(scene, 100 * SECOND);
    assert_false(tkd_engine_sync(scene->server.engine));
    EXPECT_NOTHING(scene, ANN);
    EXPECT_NOTHING(scene, BOB);
    EXPECT_NOTHING(scene, CID);
    store_scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_put_is_acknowledged_when_it_is_durable),
        cmocka_unit_test(a_batch_is_submitted_when_the_store_is_free),
        cmocka_unit_test(every_change_is_durable_before_its_reply),
        cmocka_unit_test(what_is_not_written_is_not_waited_for),
        cmocka_unit_test(replies_of_a_client_keep_their_order),
        cmocka_unit_test(not_found_waits_for_the_deletion),
        cmocka_unit_test(found_waits_for_the_put),
        cmocka_unit_test(reserved_waits_for_the_put_and_starts_the_ttr),
        cmocka_unit_test(deadline_soon_comes_for_a_job_that_was_on_its_way),
        cmocka_unit_test(reserved_waits_for_a_release),
        cmocka_unit_test(a_chosen_job_cannot_be_given_up),
        cmocka_unit_test(a_job_comes_back_if_the_client_leaves_too_early),
        cmocka_unit_test(a_put_outlives_its_client),
        cmocka_unit_test(a_failed_store_ends_the_acknowledging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
