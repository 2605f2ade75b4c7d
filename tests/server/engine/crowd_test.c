/*
 * server/engine/crowd_test.c - a million of something at one instant: each call
 * handles a bounded part, and other clients are served between the calls.
 */
#include "scene.h"

enum { MILLION = 1000000, BATCH = 1000 };

/* Open a scene with room for these many clients. */
static struct scene *crowd_scene(unsigned connection_max)
{
    struct scene *scene = scene_prepare();
    scene->is_unchecked = true;
    scene->store = tkd_memory_open(&scene->memory.allocator);
    assert_non_null(scene->store);
    struct tkd_engine_config config = scene_config(scene);
    scene_begin(scene, &config, connection_max);
    return scene;
}

/* Send a command, but do not advance: another step of the crowd would be
 * done. */
static void send_now(struct scene *scene, unsigned client, const char *text)
{
    join(scene, client);
    server_queue(&scene->server, client, text, strlen(text));
    server_queue(&scene->server, client, "\r\n", 2);
    server_feed(&scene->server, client);
    server_collect(&scene->server);
}

#define ASK_NOW(scene, client, text, reply)                   \
    do {                                                      \
        send_now(scene, client, text);                        \
        expect_at(scene, client, reply, __FILE__, __LINE__);  \
        expect_nothing_at(scene, client, __FILE__, __LINE__); \
    } while (0)

/* Return the number of ready jobs in "default". */
static uint64_t ready_count(struct scene *scene)
{
    struct bytes *out = &scene->server.connections[OBSERVER].out;
    send_now(scene, OBSERVER, "stats-tube default");
    const char *line = strstr(out->data, "current-jobs-ready: ");
    assert_non_null(line);
    uint64_t count = strtoull(line + strlen("current-jobs-ready: "), NULL, 10);
    bytes_clear(out);
    return count;
}

/* Send a command many times, and drop the replies. */
static void repeat(struct scene *scene, unsigned client, const char *text,
                   unsigned count)
{
    struct bytes batch = {0};
    for (unsigned i = 0; i < BATCH; i++) {
        bytes_append(&batch, text, strlen(text));
        bytes_append(&batch, "\r\n", 2);
    }
    join(scene, client);
    for (unsigned i = 0; i < count; i += BATCH) {
        server_queue(&scene->server, client, batch.data, batch.size);
        server_feed(&scene->server, client);
        server_collect(&scene->server);
        bytes_clear(&scene->server.connections[client].out);
    }
    bytes_free(&batch);
}

/* A client of another tube puts, reserves and deletes a job. */
static void work_in_another_tube(struct scene *scene)
{
    send_now(scene, DAN, "put 0 0 60 1\r\nd\r\nreserve");
    struct bytes *out = &scene->server.connections[DAN].out;
    const char *reserved = strstr(out->data, "RESERVED ");
    assert_non_null(reserved);
    char line[64];
    snprintf(line, sizeof line, "delete %llu",
             strtoull(reserved + 9, NULL, 10));
    bytes_clear(out);
    ASK_NOW(scene, DAN, line, "DELETED");
}

/* Advance until all is done.  No call makes more than a step of the jobs of
 * "default" ready, and other clients are served between the calls. */
static void advance_in_steps(struct scene *scene, uint64_t now, unsigned count)
{
    struct tkd_engine *engine = scene->server.engine;
    uint64_t before = ready_count(scene);
    unsigned calls = 0;
    bool is_done = false;
    scene->server.now = now;
    while (!is_done) {
        is_done = tkd_engine_advance(engine, now, TKD_STEP);
        uint64_t ready = ready_count(scene);
        assert_true(ready >= before);
        assert_true(ready - before <= TKD_STEP);
        if (!is_done)
            assert_true(tkd_engine_next(engine) == now);
        before = ready;
        if (calls % 16 == 0)
            work_in_another_tube(scene);
        assert_true(++calls <= 4 * (count / TKD_STEP) + 100);
    }
    assert_true(tkd_engine_next(engine) > now);
}

static struct scene *scene_with_another_tube(void)
{
    struct scene *scene = crowd_scene(CONNECTIONS);
    ready_count(scene);
    send_now(scene, DAN, "use other\r\nwatch other\r\nignore default");
    bytes_clear(&scene->server.connections[DAN].out);
    return scene;
}

static void a_million_due_jobs_become_ready_in_steps(void **state)
{
    (void)state;
    struct scene *scene = scene_with_another_tube();
    repeat(scene, ANN, "put 0 10 60 1\r\na", MILLION);
    send_now(scene, BOB, "reserve");
    advance_in_steps(scene, START + 10 * SECOND - 1, MILLION);
    assert_int_equal(ready_count(scene), 0);
    EXPECT_NOTHING(scene, BOB);
    advance_in_steps(scene, START + 10 * SECOND, MILLION);
    assert_int_equal(ready_count(scene), MILLION - 1);
    SETTLE(scene);
    assert_memory_equal(scene->server.connections[BOB].out.data, "RESERVED ",
                        9);
    bytes_clear(&scene->server.connections[BOB].out);
    assert_true(tkd_engine_check(scene->server.engine));
    scene_close(scene);
}

/* A kick answers when its last job is kicked. */
static void a_kick_of_a_million_is_done_in_steps(void **state)
{
    (void)state;
    struct scene *scene = scene_with_another_tube();
    repeat(scene, ANN, "put 0 1000 60 1\r\na", MILLION);
    send_now(scene, BOB, "kick 999999\r\nlist-tube-used");
    EXPECT_NOTHING(scene, BOB);
    assert_true(ready_count(scene) <= TKD_STEP);
    advance_in_steps(scene, scene->server.now, MILLION);
    assert_int_equal(ready_count(scene), MILLION - 1);
    SETTLE(scene);
    EXPECT(scene, BOB, "KICKED 999999");
    EXPECT(scene, BOB, "USING default");
    assert_true(tkd_engine_check(scene->server.engine));
    scene_close(scene);
}

static void a_kick_of_many_buried_jobs_is_done_in_steps(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct scene *scene = scene_with_another_tube();
    repeat(scene, ANN, "put 0 0 1000 1\r\na\r\nreserve", COUNT);
    for (unsigned id = 1; id <= COUNT; id++) {
        char line[64];
        snprintf(line, sizeof line, "bury %u 0", id);
        ASK_NOW(scene, ANN, line, "BURIED");
    }
    send_now(scene, BOB, "kick 4294967295");
    assert_true(ready_count(scene) <= TKD_STEP);
    advance_in_steps(scene, scene->server.now, COUNT);
    EXPECT(scene, BOB, "KICKED 20000");
    scene_close(scene);
}

/* A client leaves before its kick has ended: each job is kicked or is not. */
static void a_client_can_leave_during_its_kick(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    struct scene *scene = scene_with_another_tube();
    repeat(scene, ANN, "put 0 1000 60 1\r\na", COUNT);
    send_now(scene, BOB, "kick 50000");
    tkd_engine_advance(scene->server.engine, scene->server.now, TKD_STEP);
    server_disconnect(&scene->server, BOB);
    advance_in_steps(scene, scene->server.now, COUNT);
    assert_true(tkd_engine_check(scene->server.engine));
    uint64_t ready = ready_count(scene);
    assert_true(ready > 0);
    char count[32];
    snprintf(count, sizeof count, "%llu", (unsigned long long)(COUNT - ready));
    EXPECT_TUBE(scene, "default", "current-jobs-delayed", count);
    scene_close(scene);
}

static void a_hundred_thousand_held_jobs_come_back_in_steps(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct scene *scene = scene_with_another_tube();
    repeat(scene, ANN, "put 0 0 1000 1\r\na\r\nreserve", COUNT);
    assert_int_equal(ready_count(scene), 0);
    server_disconnect(&scene->server, ANN);
    assert_true(ready_count(scene) <= TKD_STEP);
    advance_in_steps(scene, scene->server.now, COUNT);
    assert_int_equal(ready_count(scene), COUNT);
    EXPECT_TUBE(scene, "default", "current-jobs-reserved", "0");
    assert_true(tkd_engine_check(scene->server.engine));
    scene_close(scene);
}

static void a_hundred_thousand_times_to_run_end_in_steps(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct scene *scene = scene_with_another_tube();
    repeat(scene, ANN, "put 0 0 10 1\r\na\r\nreserve", COUNT);
    advance_in_steps(scene, START + 10 * SECOND, COUNT);
    assert_int_equal(ready_count(scene), COUNT);
    EXPECT_STATS(scene, "job-timeouts", "100000");
    scene_close(scene);
}

/* Count the clients from `first` on that have received something, which
 * begins with a word. */
static unsigned count_served(struct scene *scene, unsigned first,
                             const char *word)
{
    unsigned count = 0;
    for (unsigned n = first; n < scene->server.connection_max; n++) {
        const struct bytes *out = &scene->server.connections[n].out;
        if (out->size == 0)
            continue;
        assert_memory_equal(out->data, word, strlen(word));
        count++;
    }
    return count;
}

/* Advance, and count the replies of each step. */
static void expect_steps(struct scene *scene, uint64_t now, const char *word)
{
    unsigned before = 0;
    bool is_done = false;
    while (!is_done) {
        is_done = tkd_engine_advance(scene->server.engine, now, TKD_STEP);
        server_collect(&scene->server);
        unsigned count = count_served(scene, CONNECTIONS, word);
        assert_true(count - before <= TKD_STEP);
        before = count;
    }
    assert_int_equal(before, scene->server.connection_max - CONNECTIONS);
    for (unsigned n = CONNECTIONS; n < scene->server.connection_max; n++)
        bytes_clear(&scene->server.connections[n].out);
}

static void ten_thousand_reserves_time_out_in_steps(void **state)
{
    (void)state;
    struct scene *scene = crowd_scene(CONNECTIONS + 10000);
    for (unsigned n = CONNECTIONS; n < CONNECTIONS + 10000; n++)
        send_now(scene, n, "reserve-with-timeout 10");
    EXPECT_STATS(scene, "current-waiting", "10000");
    expect_steps(scene, START + 10 * SECOND, "TIMED_OUT");
    EXPECT_STATS(scene, "current-waiting", "0");
    scene_close(scene);
}

/* The end of a pause, for which ten thousand clients and jobs wait. */
static void the_end_of_a_pause_serves_ten_thousand_in_steps(void **state)
{
    (void)state;
    struct scene *scene = crowd_scene(CONNECTIONS + 10000);
    ASK_NOW(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
    ASK_NOW(scene, ANN, "pause-tube default 10", "PAUSED");
    repeat(scene, ANN, "put 0 0 60 1\r\na", 10000);
    for (unsigned n = CONNECTIONS; n < CONNECTIONS + 10000; n++)
        send_now(scene, n, "reserve");
    expect_steps(scene, START + 10 * SECOND, "RESERVED ");
    assert_int_equal(ready_count(scene), 1);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_due_jobs_become_ready_in_steps),
        cmocka_unit_test(a_kick_of_a_million_is_done_in_steps),
        cmocka_unit_test(a_kick_of_many_buried_jobs_is_done_in_steps),
        cmocka_unit_test(a_client_can_leave_during_its_kick),
        cmocka_unit_test(a_hundred_thousand_held_jobs_come_back_in_steps),
        cmocka_unit_test(a_hundred_thousand_times_to_run_end_in_steps),
        cmocka_unit_test(ten_thousand_reserves_time_out_in_steps),
        cmocka_unit_test(the_end_of_a_pause_serves_ten_thousand_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
