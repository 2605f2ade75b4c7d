/*
 * server/engine/store_writes_test.c - what the engine writes for each row of
 * the state table, and that a command that finds no memory changes nothing.
 */
#include "store_scene.h"

#define NONE TKD_ORDER_NONE
#define DUE TKD_ORDER_DUE
#define BURIED TKD_ORDER_BURIED

/* The time of the commands, after START. */
#define LATER (5 * SECOND)

struct row {
    const char *before; /* what makes job 1, at START */
    const char *command;
    const char *reply;
    size_t writes;
    enum tkd_order from;
    enum tkd_order to;
    uint64_t delay; /* of `to`, after LATER, if it is DUE */
};

#define READY_JOB "put 7 0 60 2\r\nab"
#define DELAYED_JOB "put 7 30 60 2\r\nab"
#define HELD_JOB READY_JOB "\r\nreserve-job 1"
#define BURIED_JOB HELD_JOB "\r\nbury 1 7"
#define RESERVED "RESERVED 1 2\r\nab"
#define FOUND "FOUND 1 2\r\nab"
#define NO "NOT_FOUND"

static const struct row rows[] = {
    {"use x", "put 7 0 60 2\r\nab", "INSERTED 1", 1, NONE, DUE, 0},
    {"use x", "put 7 9 60 2\r\nab", "INSERTED 1", 1, NONE, DUE, 9 * SECOND},
    {"use x", "put 7 0 60 1\r\nabc", "EXPECTED_CRLF\r\nUNKNOWN_COMMAND", 0,
     NONE, NONE, 0},
    {"use x", "put 7 0 60 1 1", "BAD_FORMAT", 0, NONE, NONE, 0},

    {READY_JOB, "reserve", RESERVED, 0, NONE, NONE, 0},
    {READY_JOB, "reserve-job 1", RESERVED, 0, NONE, NONE, 0},
    {DELAYED_JOB, "reserve-job 1", RESERVED, 1, DUE, DUE, 0},
    {BURIED_JOB, "reserve-job 1", RESERVED, 1, BURIED, DUE, 0},
    {HELD_JOB, "reserve-job 1", NO, 0, NONE, NONE, 0},

    {READY_JOB, "delete 1", "DELETED", 1, DUE, NONE, 0},
    {DELAYED_JOB, "delete 1", "DELETED", 1, DUE, NONE, 0},
    {BURIED_JOB, "delete 1", "DELETED", 1, BURIED, NONE, 0},
    {HELD_JOB, "delete 1", "DELETED", 1, DUE, NONE, 0},

    {HELD_JOB, "release 1 5 0", "RELEASED", 1, DUE, DUE, 0},
    {HELD_JOB, "release 1 5 9", "RELEASED", 1, DUE, DUE, 9 * SECOND},
    {READY_JOB, "release 1 5 9", NO, 0, NONE, NONE, 0},
    {HELD_JOB, "bury 1 5", "BURIED", 1, DUE, BURIED, 0},
    {READY_JOB, "bury 1 5", NO, 0, NONE, NONE, 0},
    {HELD_JOB, "touch 1", "TOUCHED", 0, NONE, NONE, 0},

    {DELAYED_JOB, "kick-job 1", "KICKED", 1, DUE, DUE, 0},
    {BURIED_JOB, "kick-job 1", "KICKED", 1, BURIED, DUE, 0},
    {HELD_JOB, "kick-job 1", NO, 0, NONE, NONE, 0},
    {DELAYED_JOB, "kick 9", "KICKED 1", 1, DUE, DUE, 0},
    {BURIED_JOB, "kick 9", "KICKED 1", 1, BURIED, DUE, 0},

    {BURIED_JOB, "peek 1", FOUND, 0, NONE, NONE, 0},
    {BURIED_JOB, "peek-buried", FOUND, 0, NONE, NONE, 0},
    {DELAYED_JOB, "peek-delayed", FOUND, 0, NONE, NONE, 0},
    {DELAYED_JOB, "pause-tube default 5", "PAUSED", 0, NONE, NONE, 0},
};

/* Open a scene with an automatic store, job 1, and the time of the commands. */
static struct scene *scene_with(const char *before)
{
    struct scene *scene = store_scene_open(0);
    set_automatic(scene, true);
    prepare(scene, ANN, before);
    turn(scene, LATER);
    return scene;
}

/* Each change is written once, with the place before it and that after it.  The
 * store checks more of each write. */
static void commands_write_what_the_state_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct scene *scene = scene_with(row->before);
        scene->label = row->command;
        struct fake_store *fake = fake_of(scene);
        size_t before = fake->write_count;
        ASK(scene, ANN, row->command, row->reply);
        assert_int_equal(fake->write_count - before, row->writes);
        assert_int_equal(fake->submitted, fake->write_count);
        if (row->writes > 0) {
            const struct tkd_write *write = fake_last(fake, 0);
            assert_int_equal(write->id, 1);
            assert_int_equal(write->before.order, row->from);
            assert_int_equal(write->after.order, row->to);
            if (row->to == DUE)
                assert_int_equal(write->after.at, START + LATER + row->delay);
        }
        store_scene_close(scene);
    }
}

/* The engine writes nothing when time passes or a client disconnects. */
static void time_and_disconnections_write_nothing(void **state)
{
    (void)state;
    struct scene *scene = scene_with(READY_JOB "\r\n" DELAYED_JOB);
    struct fake_store *fake = fake_of(scene);
    SEND(scene, ANN, "reserve");
    turn(scene, 100 * SECOND); /* the TTR and the delay are over */
    EXPECT_JOB(scene, 1, "timeouts", "1");
    EXPECT_JOB(scene, 2, "state", "ready");
    SEND(scene, ANN, "reserve\r\nreserve\r\ntouch 1");
    leave(scene, ANN);
    bytes_clear(&scene->server.connections[ANN].out);
    EXPECT_JOB(scene, 1, "state", "ready");
    assert_int_equal(fake->write_count, 2);
    store_scene_close(scene);
}

/* The body of a job is written with the put, and not again. */
static void a_body_is_written_once(void **state)
{
    (void)state;
    struct scene *scene = scene_with(BURIED_JOB);
    struct fake_store *fake = fake_of(scene);
    assert_int_equal(fake->bodies, 1);
    assert_int_equal(fake_find(fake, 1)->body->size, 2);
    assert_memory_equal(fake_find(fake, 1)->body->bytes, "ab", 2);
    prepare(scene, ANN,
            "kick 1\r\nreserve\r\nrelease 1 0 9\r\nkick 1\r\nreserve\r\n"
            "release 1 0 0\r\nreserve\r\nbury 1 0");
    assert_int_equal(fake->bodies, 1);
    assert_memory_equal(fake_find(fake, 1)->body->bytes, "ab", 2);
    store_scene_close(scene);
}

/* The sequence numbers of buried jobs grow, also over kicks. */
static void sequence_numbers_grow_in_the_order_of_burying(void **state)
{
    (void)state;
    struct scene *scene = scene_with(BURIED_JOB);
    struct fake_store *fake = fake_of(scene);
    uint64_t last = fake_find(fake, 1)->place.at;
    for (uint64_t id = 2; id < 10; id++) {
        char text[64];
        snprintf(text, sizeof text, "%s\r\nreserve-job %u\r\nbury %u 0",
                 READY_JOB, (unsigned)id, (unsigned)id);
        prepare(scene, ANN, text);
        assert_int_equal(fake_find(fake, id)->place.order, BURIED);
        assert_true(fake_find(fake, id)->place.at > last);
        last = fake_find(fake, id)->place.at;
        if (id % 3 == 0)
            prepare(scene, ANN, "kick 1");
    }
    store_scene_close(scene);
}

/* Jobs of a tube have its number, and those of other tubes have others. */
static void tubes_have_numbers_of_their_own(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    prepare(scene, ANN,
            READY_JOB "\r\nuse x\r\n" READY_JOB "\r\n" READY_JOB "\r\nuse y\r\n"
                      "use x\r\n" READY_JOB "\r\nuse default\r\n" READY_JOB);
    struct fake_store *fake = fake_of(scene);
    uint32_t of_default = fake_find(fake, 1)->place.tube;
    uint32_t of_x = fake_find(fake, 2)->place.tube;
    assert_int_not_equal(of_default, of_x);
    assert_int_equal(fake_find(fake, 3)->place.tube, of_x);
    assert_int_equal(fake_find(fake, 4)->place.tube, of_x);
    assert_int_equal(fake_find(fake, 5)->place.tube, of_default);
    store_scene_close(scene);
}

/* A kick of many writes each of them. */
static void a_kick_writes_every_job(void **state)
{
    (void)state;
    struct scene *scene = store_scene_open(0);
    for (unsigned i = 0; i < 20; i++)
        prepare(scene, ANN, DELAYED_JOB);
    struct fake_store *fake = fake_of(scene);
    SEND(scene, ANN, "kick 15");
    EXPECT_NOTHING(scene, ANN);
    while (fake->is_busy)
        commit(scene);
    EXPECT(scene, ANN, "KICKED 15");
    assert_int_equal(fake->write_count, 35);
    for (uint64_t id = 1; id <= 20; id++)
        assert_int_equal(fake_find(fake, id)->place.at,
                         id <= 15 ? START : START + 30 * SECOND);
    store_scene_close(scene);
}

/* Where the store has no memory for a write, the command changes nothing. */
static void a_command_that_cannot_write_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        if (row->writes == 0)
            continue;
        struct scene *scene = scene_with(row->before);
        scene->label = row->command;
        struct fake_store *fake = fake_of(scene);
        size_t before = fake->write_count;
        char stats[1024];
        snprintf(stats, sizeof stats, "%s", observe(scene, "stats-job 1"));
        fake->refuses_writes = true;
        fake->room = 0;
        ASK(scene, ANN, row->command, "OUT_OF_MEMORY");
        assert_int_equal(fake->write_count, before);
        fake->refuses_writes = false;
        assert_string_equal(observe(scene, "stats-job 1"), stats);
        SEND(scene, ANN, row->command);
        struct bytes *out = &scene->server.connections[ANN].out;
        size_t word = strcspn(row->reply, " \r");
        assert_memory_equal(out->data, row->reply, word);
        assert_int_equal(fake->write_count, before + 1);
        bytes_clear(out);
        store_scene_close(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_write_what_the_state_table_says),
        cmocka_unit_test(time_and_disconnections_write_nothing),
        cmocka_unit_test(a_body_is_written_once),
        cmocka_unit_test(sequence_numbers_grow_in_the_order_of_burying),
        cmocka_unit_test(tubes_have_numbers_of_their_own),
        cmocka_unit_test(a_kick_writes_every_job),
        cmocka_unit_test(a_command_that_cannot_write_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
