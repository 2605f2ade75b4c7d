/*
 * The engine on RocksDB: what is durable, what survives, and the window.
 */
#include "place.h"

#include <stdio.h>

#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

/* Expect that the observer's command shows a line, or is answered by it. */
static void expect_line(struct place *place, const char *command,
                        const char *line)
{
    struct bytes *out = &place->scene->server.connections[OBSERVER].out;
    SEND(place->scene, OBSERVER, command);
    place_settle(place);
    if (out->data == NULL || strstr(out->data, line) == NULL)
        fail_msg("%s does not show '%s': %s", command, line, out->data);
    bytes_clear(out);
}

/* An acknowledged job is there after a restart, with all that it had. */
static void jobs_survive_a_restart(void **state)
{
    struct place *place = *state;
    struct scene *scene = place->scene;
    TALK(place, ANN, "use mail", "USING mail");
    TALK(place, ANN, "put 7 0 60 2\r\na1", "INSERTED 1");
    TALK(place, ANN, "put 8 90 61 2\r\na2", "INSERTED 2");
    TALK(place, ANN, "put 9 7200 62 2\r\na3", "INSERTED 3");
    scene = place_restart(place);
    TALK(place, ANN, "reserve-job 1", "RESERVED 1 2\r\na1");
    expect_line(place, "stats-job 2", "state: delayed\n");
    expect_line(place, "stats-job 2", "ttr: 61\n");
    expect_line(place, "stats-job 2", "tube: \"mail\"\n");
    TALK(place, ANN, "peek 3", "FOUND 3 2\r\na3");
    EXPECT_TUBE(scene, "mail", "current-jobs-delayed", "2");
    EXPECT_TUBE(scene, "mail", "total-jobs", "3");
}

/* A reserved job is ready after a restart, and a deleted one is gone. */
static void reserved_jobs_are_ready_again(void **state)
{
    struct place *place = *state;
    TALK(place, ANN, "put 1 0 60 1\r\na", "INSERTED 1");
    TALK(place, ANN, "put 1 0 60 1\r\nb", "INSERTED 2");
    TALK(place, BOB, "reserve", "RESERVED 1 1\r\na");
    TALK(place, BOB, "delete 1", "DELETED");
    TALK(place, BOB, "reserve", "RESERVED 2 1\r\nb");
    place_restart(place);
    expect_line(place, "stats-job 1", "NOT_FOUND");
    TALK(place, BOB, "reserve", "RESERVED 2 1\r\nb");
}

/* An id that a client has seen is never given out again. */
static void ids_are_never_used_again(void **state)
{
    struct place *place = *state;
    TALK(place, ANN, "put 1 0 60 1\r\na", "INSERTED 1");
    TALK(place, ANN, "delete 1", "DELETED");
    place_restart(place);
    TALK(place, ANN, "put 1 0 60 1\r\nb", "INSERTED 10001");
    place_restart(place);
    TALK(place, ANN, "put 1 0 60 1\r\nb", "INSERTED 20001");
}

static void buried_jobs_keep_their_order(void **state)
{
    struct place *place = *state;
    for (int i = 1; i <= 3; i++) {
        char put[64], reply[64];
        snprintf(put, sizeof put, "put %d 0 60 1\r\n%d", 10 - i, i);
        snprintf(reply, sizeof reply, "INSERTED %d", i);
        TALK(place, ANN, put, reply);
    }
    TALK(place, ANN, "reserve-job 2", "RESERVED 2 1\r\n2");
    TALK(place, ANN, "bury 2 1", "BURIED");
    TALK(place, ANN, "reserve-job 1", "RESERVED 1 1\r\n1");
    TALK(place, ANN, "bury 1 1", "BURIED");
    struct scene *scene = place_restart(place);
    TALK(place, ANN, "peek-buried", "FOUND 2 1\r\n2");
    TALK(place, ANN, "reserve-job 3", "RESERVED 3 1\r\n3");
    TALK(place, ANN, "bury 3 1", "BURIED");
    TALK(place, ANN, "kick 2", "KICKED 2");
    TALK(place, ANN, "peek-buried", "FOUND 3 1\r\n3");
    expect_line(place, "stats-job 2", "kicks: 1\n");
    EXPECT_TUBE(scene, "default", "current-jobs-buried", "1");
}

/* Tubes without jobs and without clients leave nothing behind. */
static void empty_tubes_vanish(void **state)
{
    struct place *place = *state;
    TALK(place, ANN, "use mail", "USING mail");
    TALK(place, ANN, "put 1 0 60 1\r\na", "INSERTED 1");
    TALK(place, ANN, "delete 1", "DELETED");
    TALK(place, ANN, "use x", "USING x");
    TALK(place, ANN, "put 1 0 60 1\r\na", "INSERTED 2");
    struct scene *scene = place_restart(place);
    EXPECT_NO_TUBE(scene, "mail");
    EXPECT_TUBE(scene, "x", "current-jobs-ready", "1");
}

/* Put jobs with delays, each a second after the one before. */
static void put_many(struct place *place, unsigned first, unsigned count,
                     unsigned delay)
{
    for (unsigned i = 0; i < count; i++) {
        char put[64], reply[64];
        snprintf(put, sizeof put, "put 1 %u 60 1\r\nx", delay + i);
        snprintf(reply, sizeof reply, "INSERTED %u", first + i);
        TALK(place, ANN, put, reply);
    }
}

static void far_jobs_leave_memory_and_come_back(void **state)
{
    struct place *place = *state;
    struct scene *scene = place->scene;
    put_many(place, 1, 20, 3600);
    EXPECT_STATS(scene, "window-jobs-far", "20");
    EXPECT_STATS(scene, "current-jobs-delayed", "20");
    TALK(place, BOB, "peek-delayed", "FOUND 1 1\r\nx");
    for (uint64_t id = 1; id <= 20; id++) {
        char reply[64];
        snprintf(reply, sizeof reply, "RESERVED %u 1\r\nx", (unsigned)id);
        place_turn(place, id == 1 ? HOUR : SECOND);
        TALK(place, BOB, "reserve-with-timeout 0", reply);
        TALK(place, BOB, "reserve-with-timeout 0", "TIMED_OUT");
    }
    EXPECT_STATS(scene, "window-jobs-far", "0");
}

static void commands_find_far_jobs(void **state)
{
    struct place *place = *state;
    struct scene *scene = place->scene;
    put_many(place, 1, 10, 3600);
    TALK(place, ANN, "delete 3", "DELETED");
    TALK(place, ANN, "delete 3", "NOT_FOUND");
    TALK(place, ANN, "kick-job 4", "KICKED");
    TALK(place, ANN, "reserve", "RESERVED 4 1\r\nx");
    TALK(place, ANN, "release 4 1 7200", "RELEASED");
    TALK(place, ANN, "reserve-job 5", "RESERVED 5 1\r\nx");
    TALK(place, ANN, "bury 5 1", "BURIED");
    TALK(place, ANN, "peek 999", "NOT_FOUND");
    expect_line(place, "stats-job 4", "releases: 1\n");
    expect_line(place, "stats-job 4", "kicks: 1\n");
    expect_line(place, "stats-job 6", "state: delayed\n");
    EXPECT_STATS(scene, "window-jobs-far", "8");
    scene = place_restart(place);
    expect_line(place, "stats-job 4", "time-left: 7200\n");
    expect_line(place, "stats-job 5", "state: buried\n");
    expect_line(place, "stats-job 3", "NOT_FOUND");
}

/* Commands on one id take effect in the order in which they came. */
static void commands_on_one_far_job_keep_their_order(void **state)
{
    struct place *place = *state;
    put_many(place, 1, 2, 3600);
    SEND(place->scene, ANN, "peek 1\r\ndelete 1\r\npeek 1\r\npeek 2");
    SEND(place->scene, BOB, "kick-job 1\r\npeek 2");
    place_settle(place);
    EXPECT(place->scene, ANN, "FOUND 1 1\r\nx");
    EXPECT(place->scene, ANN, "DELETED");
    EXPECT(place->scene, ANN, "NOT_FOUND");
    EXPECT(place->scene, ANN, "FOUND 2 1\r\nx");
    bytes_clear(&place->scene->server.connections[BOB].out);
}

static void kick_takes_the_soonest_far_jobs(void **state)
{
    struct place *place = *state;
    struct scene *scene = place->scene;
    put_many(place, 1, 30, 7200);
    put_many(place, 31, 5, 3600);
    TALK(place, BOB, "kick 12", "KICKED 12");
    EXPECT_STATS(scene, "current-jobs-ready", "12");
    expect_line(place, "stats-job 35", "state: ready\n");
    expect_line(place, "stats-job 7", "state: ready\n");
    expect_line(place, "stats-job 8", "state: delayed\n");
    TALK(place, BOB, "kick 1000", "KICKED 23");
    TALK(place, BOB, "kick 1000", "KICKED 0");
}

/* A far job that was put just before a kick becomes durable while the kick
 * reads the other far jobs.  It must not be evicted then: the kick would miss
 * it. */
static void kick_takes_a_far_job_that_was_just_put(void **state)
{
    struct place *place = *state;
    put_many(place, 1, 1, 3600);
    place->counted.holds_lists = true;
    SEND(place->scene, ANN, "put 1 7200 60 1\r\nx\r\nkick 10");
    assert_true(place_hold_list(place));
    place_give_list(place);
    place_settle(place);
    EXPECT(place->scene, ANN, "INSERTED 2");
    EXPECT(place->scene, ANN, "KICKED 2");
}

static void many_far_jobs_are_ready_on_time_after_a_restart(void **state)
{
    struct place *place = *state;
    enum { JOBS = 3000 };
    for (unsigned i = 1; i <= JOBS; i++)
        SEND(place->scene, ANN, "put 1 1000 60 1\r\nx");
    place_settle(place);
    bytes_clear(&place->scene->server.connections[ANN].out);
    struct scene *scene = place_restart(place);
    EXPECT_STATS(scene, "current-jobs-delayed", "3000");
    place_turn(place, 999 * SECOND);
    EXPECT_STATS(scene, "current-jobs-ready", "0");
    place_turn(place, 2 * SECOND);
    EXPECT_STATS(scene, "current-jobs-ready", "3000");
    scene = place_restart(place);
    TALK(place, BOB, "reserve-with-timeout 0", "RESERVED 1 1\r\nx");
    EXPECT_STATS(scene, "current-jobs-ready", "2999");
}

/* Without that, a crowd beyond the limit would need as much memory as it
 * likes. */
static void the_window_shrinks_when_it_is_full(void **state)
{
    struct place *place = *state;
    place->window_jobs = 10;
    struct scene *scene = place_restart(place);
    put_many(place, 1, 100, 60);
    uint64_t far = number_of(scene, "stats", "window-jobs-far");
    assert_true(far >= 80);
    TALK(place, BOB, "peek-delayed", "FOUND 1 1\r\nx");
    for (unsigned i = 0; i < 160; i++)
        place_turn(place, SECOND);
    EXPECT_STATS(scene, "current-jobs-ready", "100");
}

/* A client that leaves while the store is being asked is not written to. */
static void clients_may_leave_while_the_store_is_asked(void **state)
{
    struct place *place = *state;
    put_many(place, 1, 5, 3600);
    static const char *const commands[] = {"peek 1", "peek-delayed", "kick 3",
                                           "reserve-job 2", "delete 3"};
    for (unsigned i = 0; i < COUNT_OF(commands); i++) {
        join(place->scene, CID);
        server_queue(&place->scene->server, CID, commands[i],
                     strlen(commands[i]));
        server_queue(&place->scene->server, CID, "\r\n", 2);
        server_feed(&place->scene->server, CID);
        server_disconnect(&place->scene->server, CID);
        place_settle(place);
        assert_true(tkd_engine_check(place->scene->server.engine));
    }
}

static void a_store_time_is_there_after_a_restart(void **state)
{
    struct place *place = *state;
    TALK(place, ANN, "put 1 0 60 1\r\na", "INSERTED 1");
    uint64_t then = place->scene->server.now;
    place_close_engine(place);
    uint64_t time_ns;
    unsigned char boot[TKD_BOOT_SIZE];
    assert_true(tkd_engine_stored_time(place->store, &time_ns, boot));
    assert_int_equal(time_ns, then);
    assert_int_equal(boot[0], 'b');
    place_open_engine(place);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, place_open, place_close)
    const struct CMUnitTest tests[] = {
        TEST(jobs_survive_a_restart),
        TEST(reserved_jobs_are_ready_again),
        TEST(ids_are_never_used_again),
        TEST(buried_jobs_keep_their_order),
        TEST(empty_tubes_vanish),
        TEST(far_jobs_leave_memory_and_come_back),
        TEST(commands_find_far_jobs),
        TEST(commands_on_one_far_job_keep_their_order),
        TEST(kick_takes_the_soonest_far_jobs),
        TEST(kick_takes_a_far_job_that_was_just_put),
        TEST(many_far_jobs_are_ready_on_time_after_a_restart),
        TEST(the_window_shrinks_when_it_is_full),
        TEST(clients_may_leave_while_the_store_is_asked),
        TEST(a_store_time_is_there_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
