/*
 * server/engine/tubes_test.c - using, watching and ignoring tubes, which appear
 * when they are referenced and vanish when they are empty and unreferenced.
 */
#include "scene.h"

static void a_client_uses_and_watches_default(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "list-tube-used", "USING default");
    ASK(scene, ANN, "list-tubes-watched", "OK 14\r\n---\n- default\n");
    ASK(scene, ANN, "list-tubes", "OK 14\r\n---\n- default\n");
    EXPECT_TUBE(scene, "default", "current-using", "2");
    EXPECT_TUBE(scene, "default", "current-watching", "2");
    scene_close(scene);
}

static void watching_is_counted_once(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "watch x", "WATCHING 2");
    ASK(scene, ANN, "watch x", "WATCHING 2");
    ASK(scene, ANN, "watch default", "WATCHING 2");
    EXPECT_TUBE(scene, "x", "current-watching", "1");
    ASK(scene, ANN, "ignore y", "WATCHING 2");
    ASK(scene, ANN, "ignore x", "WATCHING 1");
    ASK(scene, ANN, "ignore x", "WATCHING 1");
    ASK(scene, ANN, "ignore default", "NOT_IGNORED");
    ASK(scene, ANN, "list-tubes-watched", "OK 14\r\n---\n- default\n");
    EXPECT_NO_TUBE(scene, "x");
    EXPECT_NO_TUBE(scene, "y");
    scene_close(scene);
}

static void using_a_tube_leaves_the_one_before(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "use x", "USING x");
    ASK(scene, ANN, "use x", "USING x");
    EXPECT_TUBE(scene, "x", "current-using", "1");
    EXPECT_TUBE(scene, "x", "current-watching", "0");
    EXPECT_TUBE(scene, "default", "current-using", "1");
    ASK(scene, ANN, "list-tube-used", "USING x");
    ASK(scene, ANN, "use y", "USING y");
    EXPECT_NO_TUBE(scene, "x");
    EXPECT_STATS(scene, "current-tubes", "2");
    leave(scene, ANN);
    EXPECT_NO_TUBE(scene, "y");
    EXPECT_STATS(scene, "current-tubes", "1");
    scene_close(scene);
}

/* A job keeps its tube in each of its states. */
static void a_tube_lives_as_long_as_its_jobs(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "use x", "USING x");
    ASK(scene, ANN, "put 0 5 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "use default", "USING default");
    EXPECT_TUBE(scene, "x", "current-jobs-delayed", "1");
    turn(scene, 5 * SECOND);
    EXPECT_TUBE(scene, "x", "current-jobs-ready", "1");
    ASK(scene, ANN, "reserve-job 1", "RESERVED 1 1\r\na");
    EXPECT_TUBE(scene, "x", "current-jobs-reserved", "1");
    ASK(scene, ANN, "bury 1 0", "BURIED");
    EXPECT_TUBE(scene, "x", "current-jobs-buried", "1");
    EXPECT_TUBE(scene, "x", "current-using", "0");
    EXPECT_TUBE(scene, "x", "total-jobs", "1");
    ASK(scene, ANN, "delete 1", "DELETED");
    EXPECT_NO_TUBE(scene, "x");
    scene_close(scene);
}

/* A tube that has vanished takes its counters and its pause along. */
static void a_tube_that_comes_back_is_new(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "use x", "USING x");
    ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "delete 1", "DELETED");
    ASK(scene, ANN, "pause-tube x 100", "PAUSED");
    EXPECT_TUBE(scene, "x", "total-jobs", "1");
    EXPECT_TUBE(scene, "x", "cmd-delete", "1");
    EXPECT_TUBE(scene, "x", "cmd-pause-tube", "1");
    EXPECT_TUBE(scene, "x", "pause", "100");
    ASK(scene, ANN, "use default", "USING default");
    EXPECT_NO_TUBE(scene, "x");
    ASK(scene, ANN, "watch x", "WATCHING 2");
    EXPECT_TUBE(scene, "x", "total-jobs", "0");
    EXPECT_TUBE(scene, "x", "cmd-delete", "0");
    EXPECT_TUBE(scene, "x", "cmd-pause-tube", "0");
    EXPECT_TUBE(scene, "x", "pause", "0");
    turn(scene, 200 * SECOND);
    EXPECT_TUBE(scene, "x", "current-watching", "1");
    scene_close(scene);
}

/* A reply that has not been sent yet does not keep its tube. */
static void a_tube_does_not_outlive_its_last_user(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "use x\r\nuse y\r\npause-tube x 1\r\nstats-tube x");
    EXPECT(scene, ANN, "USING x");
    EXPECT(scene, ANN, "USING y");
    EXPECT(scene, ANN, "NOT_FOUND");
    EXPECT(scene, ANN, "NOT_FOUND");
    scene_close(scene);
}

/* Questions about a tube do not make it. */
static void only_use_and_watch_make_a_tube(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    ASK(scene, ANN, "stats-tube x", "NOT_FOUND");
    ASK(scene, ANN, "pause-tube x 1", "NOT_FOUND");
    ASK(scene, ANN, "ignore x", "WATCHING 1");
    EXPECT_STATS(scene, "current-tubes", "1");
    scene_close(scene);
}

static void names_differ_in_every_byte(void **state)
{
    (void)state;
    static char lines[200][TKD_LINE_MAX];
    struct scene *scene = scene_open();
    scene->is_unchecked = true;
    for (size_t i = 0; i < 200; i++) {
        char reply[TKD_LINE_MAX + 8];
        strcpy(lines[i], "use ");
        memset(lines[i] + 4, 'a', i + 1);
        snprintf(reply, sizeof reply, "USING %s", lines[i] + 4);
        ASK(scene, ANN, lines[i], reply);
        snprintf(reply, sizeof reply, "INSERTED %zu", i + 1);
        ASK(scene, ANN, "put 0 0 60 1\r\na", reply);
    }
    for (size_t i = 0; i < 200; i++) {
        EXPECT_TUBE(scene, lines[i] + 4, "current-jobs-ready", "1");
        lines[i][i + 4] = 'b';
        EXPECT_NO_TUBE(scene, lines[i] + 4);
        lines[i][i + 4] = 'A';
        EXPECT_NO_TUBE(scene, lines[i] + 4);
    }
    EXPECT_STATS(scene, "current-tubes", "201");
    scene_close(scene);
}

/* Count the lines of a list, and check its size. */
static size_t length_of_list(const char *reply)
{
    size_t bytes = strtoull(reply + 3, NULL, 10);
    const char *yaml = strstr(reply, "\r\n") + 2;
    assert_int_equal(strlen(yaml), bytes + 2);
    assert_memory_equal(yaml, "---\n", 4);
    size_t count = 0;
    for (const char *line = yaml + 4; *line != '\r'; count++) {
        assert_memory_equal(line, "- ", 2);
        line = strchr(line, '\n') + 1;
    }
    return count;
}

static void lists_have_all_tubes(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    scene->is_unchecked = true;
    for (unsigned i = 0; i < 3000; i++) {
        char line[64], reply[64];
        snprintf(line, sizeof line, "watch some.tube.%u", i);
        snprintf(reply, sizeof reply, "WATCHING %u", i + 2);
        ASK(scene, OBSERVER, line, reply);
    }
    assert_int_equal(length_of_list(observe(scene, "list-tubes")), 3001);
    const char *watched = observe(scene, "list-tubes-watched");
    assert_int_equal(length_of_list(watched), 3001);
    assert_non_null(strstr(watched, "\n- default\n"));
    assert_non_null(strstr(watched, "\n- some.tube.0\n"));
    assert_non_null(strstr(watched, "\n- some.tube.2999\n"));
    for (unsigned i = 0; i < 3000; i++) {
        char line[64];
        snprintf(line, sizeof line, "ignore some.tube.%u", i);
        SEND(scene, OBSERVER, line);
    }
    bytes_clear(&scene->server.connections[OBSERVER].out);
    assert_int_equal(length_of_list(observe(scene, "list-tubes")), 1);
    scene_close(scene);
}

/* One client watches at most TKD_WATCH_MAX tubes. */
static void watching_has_a_limit(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    scene->is_unchecked = true;
    for (unsigned i = 1; i < TKD_WATCH_MAX; i++) {
        char line[64], reply[64];
        snprintf(line, sizeof line, "watch %u", i);
        snprintf(reply, sizeof reply, "WATCHING %u", i + 1);
        ASK(scene, ANN, line, reply);
    }
    ASK(scene, ANN, "watch x", "OUT_OF_MEMORY");
    EXPECT_NO_TUBE(scene, "x");
    ASK(scene, ANN, "watch default", "WATCHING 16384");
    ASK(scene, BOB, "watch x", "WATCHING 2");
    ASK(scene, BOB, "use 16383", "USING 16383");
    ASK(scene, BOB, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    ASK(scene, ANN, "ignore 7", "WATCHING 16383");
    ASK(scene, ANN, "watch x", "WATCHING 16384");
    assert_true(tkd_engine_check(scene->server.engine));
    scene_close(scene);
}

/* A client that waits counts in each tube that it watches, until it is
 * served. */
static void waiting_is_counted_in_every_watched_tube(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    SEND(scene, ANN, "watch x\r\nwatch y\r\nignore default\r\nreserve");
    SEND(scene, BOB, "watch x\r\nreserve-with-timeout 5");
    EXPECT_TUBE(scene, "x", "current-waiting", "2");
    EXPECT_TUBE(scene, "y", "current-waiting", "1");
    EXPECT_TUBE(scene, "default", "current-waiting", "1");
    EXPECT_STATS(scene, "current-waiting", "2");
    turn(scene, 5 * SECOND);
    EXPECT_TUBE(scene, "x", "current-waiting", "1");
    EXPECT_TUBE(scene, "default", "current-waiting", "0");
    ASK(scene, CID, "use y", "USING y");
    ASK(scene, CID, "put 0 0 60 1\r\na", "INSERTED 1");
    EXPECT_TUBE(scene, "x", "current-waiting", "0");
    EXPECT_TUBE(scene, "y", "current-waiting", "0");
    SEND(scene, ANN, "reserve");
    leave(scene, ANN);
    EXPECT_STATS(scene, "current-waiting", "0");
    EXPECT_TUBE(scene, "x", "current-watching", "1");
    bytes_clear(&scene->server.connections[ANN].out);
    bytes_clear(&scene->server.connections[BOB].out);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_uses_and_watches_default),
        cmocka_unit_test(watching_is_counted_once),
        cmocka_unit_test(using_a_tube_leaves_the_one_before),
        cmocka_unit_test(a_tube_lives_as_long_as_its_jobs),
        cmocka_unit_test(a_tube_that_comes_back_is_new),
        cmocka_unit_test(a_tube_does_not_outlive_its_last_user),
        cmocka_unit_test(only_use_and_watch_make_a_tube),
        cmocka_unit_test(names_differ_in_every_byte),
        cmocka_unit_test(lists_have_all_tubes),
        cmocka_unit_test(watching_has_a_limit),
        cmocka_unit_test(waiting_is_counted_in_every_watched_tube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
