/*
 * server/engine/jobs_test.c - ids and refusals of put, draining, kick and its
 * order, peek, and what a client leaves behind.
 */
#include "scene.h"

/* EXPECTED_CRLF and DRAINING take an id; JOB_TOO_BIG and BAD_FORMAT do not. */
static void ids_are_taken_after_the_checks_of_the_line(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 0 0 60 1\r\nabc", "EXPECTED_CRLF\r\nUNKNOWN_COMMAND");
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 3");
    ASK(scene, ANN, "put 0 0 60 1 1", "BAD_FORMAT");
    ASK(scene, ANN, "put 0 0 x 1", "BAD_FORMAT");
    ASK(scene, ANN, "nonsense", "UNKNOWN_COMMAND");
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 4");
    SEND(scene, ANN, "put 0 0 60 65536");
    char *body = calloc(1, 65537);
    assert_non_null(body);
    memset(body, 'a', 65536);
    ASK(scene, ANN, body, "JOB_TOO_BIG");
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 5");
    tkd_engine_drain(scene->server.engine);
    ASK(scene, ANN, "put 0 0 60 1\r\na", "DRAINING");
    ASK(scene, ANN, "put 0 0 60 1 1", "BAD_FORMAT");
    EXPECT_STATS(scene, "draining", "true");
    EXPECT_STATS(scene, "total-jobs", "4");
    EXPECT_STATS(scene, "cmd-put", "9");
    EXPECT_NO_JOB(scene, 2);
    EXPECT_NO_JOB(scene, 6);
    free(body);
    scene_close(scene);
}

/* A put takes its id before its body arrives. */
static void an_id_is_taken_before_the_body(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "put 0 0 60 5\r\na"); /* "a\r\n" are three bytes of it */
    ASK(scene, BOB, "put 0 0 60 1\r\nb", "INSERTED 2");
    EXPECT_NOTHING(scene, ANN);
    EXPECT_NO_JOB(scene, 1);
    SEND(scene, CID, "put 0 0 60 9\r\nc");
    leave(scene, CID);
    ASK(scene, ANN, "cd", "INSERTED 1");
    ASK(scene, BOB, "peek 1", "FOUND 1 5\r\na\r\ncd");
    ASK(scene, BOB, "put 0 0 60 1\r\nb", "INSERTED 4");
    EXPECT_STATS(scene, "total-jobs", "3");
    scene_close(scene);
}

static void draining_refuses_puts_only(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    EXPECT_STATS(scene, "draining", "false");
    SEND(scene, BOB, "put 0 0 60 5\r\na");
    tkd_engine_drain(scene->server.engine);
    ASK(scene, BOB, "cd", "DRAINING");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "release 1 0 5", "RELEASED");
    ASK(scene, ANN, "kick 1", "KICKED 1");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "bury 1 0", "BURIED");
    ASK(scene, ANN, "delete 1", "DELETED");
    ASK(scene, ANN, "put 0 0 60 1\r\na", "DRAINING");
    scene_close(scene);
}

static void a_put_stores_all_its_numbers(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 4294967295 4294967295 4294967295 0\r\n", "INSERTED 1");
    EXPECT_JOB(scene, 1, "pri", "4294967295");
    EXPECT_JOB(scene, 1, "delay", "4294967295");
    EXPECT_JOB(scene, 1, "ttr", "4294967295");
    EXPECT_JOB(scene, 1, "time-left", "4294967295");
    ASK(scene, ANN, "reserve-job 1", "RESERVED 1 0\r\n");
    EXPECT_JOB(scene, 1, "time-left", "4294967295");
    ASK(scene, ANN, "put 0 0 0 3\r\n\r\n.", "INSERTED 2");
    EXPECT_JOB(scene, 2, "ttr", "1");
    ASK(scene, ANN, "peek 2", "FOUND 2 3\r\n\r\n.");
    ASK(scene, ANN, "release 1 1 4294967295", "RELEASED");
    EXPECT_JOB(scene, 1, "time-left", "4294967295");
    scene_close(scene);
}

static void the_largest_body_is_kept_whole(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    struct bytes put = {0}, found = {0};
    bytes_append(&put, "put 0 0 60 65535\r\n", 18);
    bytes_append(&found, "FOUND 1 65535\r\n", 15);
    for (size_t i = 0; i < TKD_BODY_MAX_DEFAULT; i++) {
        char byte = (char)('!' + i % 93);
        bytes_append(&put, &byte, 1);
        bytes_append(&found, &byte, 1);
    }
    ASK(scene, ANN, put.data, "INSERTED 1");
    ASK(scene, ANN, "peek 1", found.data);
    bytes_free(&put);
    bytes_free(&found);
    scene_close(scene);
}

/* Buried jobs are kicked in the order in which they were buried. */
static void kick_takes_buried_jobs_in_the_order_of_burying(void **state)
{
    (void)state;
    static const char *const order[] = {"3", "1", "4", "2"};
    struct scene *scene = scene_open();
    for (unsigned i = 0; i < 4; i++)
        SEND(scene, ANN, "put 0 0 60 1\r\na");
    SEND(scene, ANN, "put 0 100 60 1\r\na");
    for (unsigned i = 0; i < 4; i++) {
        char line[64];
        snprintf(line, sizeof line, "reserve-job %s\r\nbury %s %u", order[i],
                 order[i], 9 - i);
        SEND(scene, ANN, line);
    }
    bytes_clear(&scene->server.connections[ANN].out);
    for (unsigned i = 0; i < 4; i++) {
        char found[64];
        snprintf(found, sizeof found, "FOUND %s 1\r\na", order[i]);
        ASK(scene, ANN, "peek-buried", found);
        ASK(scene, ANN, "kick 1", "KICKED 1");
        EXPECT_JOB(scene, strtoull(order[i], NULL, 10), "state", "ready");
        EXPECT_JOB(scene, strtoull(order[i], NULL, 10), "kicks", "1");
    }
    EXPECT_JOB(scene, 5, "state", "delayed");
    ASK(scene, ANN, "kick 1", "KICKED 1");
    EXPECT_JOB(scene, 5, "state", "ready");
    EXPECT_JOB(scene, 5, "delay", "100");
    ASK(scene, ANN, "kick 1", "KICKED 0");
    scene_close(scene);
}

/* Delayed jobs are kicked soonest first, and by id where they are equal. */
static void kick_takes_delayed_jobs_soonest_first(void **state)
{
    (void)state;
    static const char *const order[] = {"2", "4", "5", "3", "1"};
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 90 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 9 20 60 1\r\na", "INSERTED 2");
    ASK(scene, ANN, "put 1 80 60 1\r\na", "INSERTED 3");
    ASK(scene, ANN, "put 8 30 60 1\r\na", "INSERTED 4");
    ASK(scene, ANN, "put 7 30 60 1\r\na", "INSERTED 5");
    for (unsigned i = 0; i < 5; i++) {
        char found[64];
        snprintf(found, sizeof found, "FOUND %s 1\r\na", order[i]);
        ASK(scene, ANN, "peek-delayed", found);
        ASK(scene, ANN, "kick 1", "KICKED 1");
        EXPECT_JOB(scene, strtoull(order[i], NULL, 10), "state", "ready");
    }
    scene_close(scene);
}

/* A kick takes buried jobs or delayed ones, of the used tube, up to its
 * bound. */
static void kick_has_a_bound_and_a_tube(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    for (unsigned i = 0; i < 3; i++)
        SEND(scene, ANN, "put 0 0 60 1\r\na\r\nreserve\r\nput 0 9 9 1\r\nb");
    SEND(scene, ANN, "bury 1 0\r\nbury 3 0\r\nbury 5 0");
    bytes_clear(&scene->server.connections[ANN].out);
    ASK(scene, BOB, "use x", "USING x");
    ASK(scene, BOB, "kick 100", "KICKED 0");
    ASK(scene, ANN, "kick 0", "KICKED 0");
    ASK(scene, ANN, "kick 2", "KICKED 2");
    EXPECT_TUBE(scene, "default", "current-jobs-buried", "1");
    EXPECT_TUBE(scene, "default", "current-jobs-delayed", "3");
    ASK(scene, ANN, "kick 4294967295", "KICKED 1");
    EXPECT_TUBE(scene, "default", "current-jobs-delayed", "3");
    ASK(scene, ANN, "kick 2", "KICKED 2");
    ASK(scene, ANN, "kick 2", "KICKED 1");
    EXPECT_TUBE(scene, "default", "current-jobs-ready", "6");
    ASK(scene, BOB, "kick-job 1", "NOT_FOUND");
    scene_close(scene);
}

/* Buried jobs that are deleted or kicked alone leave the others in order. */
static void a_buried_job_can_leave_from_the_middle(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    for (unsigned i = 0; i < 5; i++)
        SEND(scene, ANN, "put 0 0 60 1\r\na\r\nreserve");
    SEND(scene, ANN,
         "bury 1 0\r\nbury 2 0\r\nbury 3 0\r\nbury 4 0\r\n"
         "bury 5 0\r\ndelete 2\r\nkick-job 4\r\nreserve-job 1\r\n"
         "bury 1 0");
    bytes_clear(&scene->server.connections[ANN].out);
    ASK(scene, ANN, "peek-buried", "FOUND 3 1\r\na");
    ASK(scene, ANN, "delete 3", "DELETED");
    ASK(scene, ANN, "peek-buried", "FOUND 5 1\r\na");
    ASK(scene, ANN, "delete 5", "DELETED");
    ASK(scene, ANN, "peek-buried", "FOUND 1 1\r\na");
    EXPECT_JOB(scene, 1, "buries", "2");
    scene_close(scene);
}

/* All jobs that a client holds come back, and none that it only touched. */
static void a_client_leaves_its_jobs_behind(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    for (unsigned i = 0; i < 6; i++)
        SEND(scene, BOB, "put 0 0 60 1\r\na");
    bytes_clear(&scene->server.connections[BOB].out);
    SEND(scene, ANN, "reserve\r\nreserve\r\nreserve-job 5\r\nbury 1 0");
    ASK(scene, BOB, "reserve", "RESERVED 3 1\r\na");
    leave(scene, ANN);
    bytes_clear(&scene->server.connections[ANN].out);
    EXPECT_JOB(scene, 1, "state", "buried");
    EXPECT_JOB(scene, 2, "state", "ready");
    EXPECT_JOB(scene, 2, "reserves", "1");
    EXPECT_JOB(scene, 3, "state", "reserved");
    EXPECT_JOB(scene, 5, "state", "ready");
    EXPECT_JOB(scene, 5, "timeouts", "0");
    EXPECT_STATS(scene, "job-timeouts", "0");
    turn(scene, 60 * SECOND);
    EXPECT_JOB(scene, 2, "timeouts", "0");
    scene_close(scene);
}

/* quit ends a connection like a disconnect does. */
static void quit_returns_the_jobs_too(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    SEND(scene, ANN, "quit");
    EXPECT_JOB(scene, 1, "state", "ready");
    EXPECT_STATS(scene, "current-connections", "1");
    EXPECT_STATS(scene, "total-connections", "2");
    scene_close(scene);
}

/* Above memory_max puts are refused, and deletes make room again. */
static void put_refuses_above_the_memory_limit(void **state)
{
    (void)state;
    struct scene *scene = scene_prepare();
    scene->store = tkd_memory_open(&scene->memory.allocator);
    struct tkd_engine_config config = scene_config(scene);
    config.memory_max = 4000000;
    scene->is_unchecked = true;
    scene_begin(scene, &config, CONNECTIONS);
    unsigned count = 0;
    bool is_full = false;
    while (!is_full) {
        struct bytes *out = &scene->server.connections[ANN].out;
        SEND(scene, ANN, "put 0 0 60 1\r\na");
        is_full = strcmp(out->data, "OUT_OF_MEMORY\r\n") == 0;
        bytes_clear(out);
        assert_true(++count < 100000);
    }
    assert_true(count > 10);
    ASK(scene, ANN, "put 0 0 60 1\r\na", "OUT_OF_MEMORY");
    for (unsigned id = 1; id < count; id++) {
        char line[64];
        snprintf(line, sizeof line, "delete %u", id);
        ASK(scene, ANN, line, "DELETED");
    }
    SEND(scene, ANN, "put 0 0 60 1\r\na");
    assert_memory_equal(scene->server.connections[ANN].out.data, "INSERTED ",
                        9);
    bytes_clear(&scene->server.connections[ANN].out);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_taken_after_the_checks_of_the_line),
        cmocka_unit_test(an_id_is_taken_before_the_body),
        cmocka_unit_test(draining_refuses_puts_only),
        cmocka_unit_test(a_put_stores_all_its_numbers),
        cmocka_unit_test(the_largest_body_is_kept_whole),
        cmocka_unit_test(kick_takes_buried_jobs_in_the_order_of_burying),
        cmocka_unit_test(kick_takes_delayed_jobs_soonest_first),
        cmocka_unit_test(kick_has_a_bound_and_a_tube),
        cmocka_unit_test(a_buried_job_can_leave_from_the_middle),
        cmocka_unit_test(a_client_leaves_its_jobs_behind),
        cmocka_unit_test(quit_returns_the_jobs_too),
        cmocka_unit_test(put_refuses_above_the_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
