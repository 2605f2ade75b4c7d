/*
 * server/engine/store_questions_test.c - jobs that are in the store only, and
 * bodies that arrive late or never.
 */
#include "store_scene.h"

#define NO "NOT_FOUND"

/* The jobs that the first engine makes.  After a restart the engine has those
 * in memory that are ready, buried or due soon.  Job FAR is due in 1,000 s:
 * only the store has it. */
enum { READY = 1, FAR, BURIED, WORN, JOBS = WORN };

static const char script[] =
    "put 7 0 60 2\r\na1\r\n"
    "put 7 1000 60 2\r\na2\r\n"
    "put 7 0 60 2\r\na3\r\nreserve-job 3\r\nbury 3 8\r\n"
    "use some.tube\r\nput 9 0 77 2\r\na4\r\n"
    "reserve-job 4\r\nrelease 4 9 0\r\nreserve-job 4\r\nbury 4 9\r\n"
    "kick 1\r\nreserve-job 4\r\nrelease 4 1024 500";

/* Open an engine on a store that has the jobs above.  `stats` gets
 * what the first engine shows of each, at the same time. */
static struct scene *scene_after_restart(char stats[JOBS + 1][512])
{
    struct scene *first = store_scene_open(0);
    prepare(first, ANN, script);
    turn(first, 3 * SECOND);
    set_automatic(first, true);
    for (unsigned id = 1; id <= JOBS && stats != NULL; id++) {
        char command[64];
        snprintf(command, sizeof command, "stats-job %u", id);
        snprintf(stats[id], sizeof stats[id], "%s", observe(first, command));
    }
    struct scene *second = scene_prepare();
    struct fake_store *fake = fake_open(&second->memory.allocator);
    fake_copy(fake, fake_of(first));
    second->store = &fake->store;
    struct tkd_engine_config config = scene_config(second);
    config.now_ns = first->server.now;
    scene_begin(second, &config, CONNECTIONS);
    set_automatic(second, true);
    SETTLE(second); /* the engine loads what it keeps in memory */
    set_automatic(second, false);
    store_scene_close(first);
    return second;
}

struct row {
    uint32_t id;
    bool is_written;
    const char *command;
    const char *reply;
    const char *after; /* the state; NULL: the job does not exist */
};

static const struct row rows[] = {
    {FAR, true, "delete 2", "DELETED", NULL},
    {FAR, false, "release 2 0 0", NO, "delayed"},
    {FAR, false, "bury 2 0", NO, "delayed"},
    {FAR, false, "touch 2", NO, "delayed"},
    {FAR, true, "kick-job 2", "KICKED", "ready"},
    {FAR, false, "peek 2", "FOUND 2 2\r\na2", "delayed"},
    {FAR, true, "reserve-job 2", "RESERVED 2 2\r\na2", "reserved"},
};

/* Fail unless the command of a client waits for a job of the store, and only
 * that client. */
static void expect_question(struct scene *scene, uint64_t id)
{
    assert_int_equal(fake_of(scene)->question_count, 1);
    assert_int_equal(fake_of(scene)->questions[0].id, id);
    EXPECT_NOTHING(scene, ANN);
    assert_false(
        tkd_client_is_open_to_commands(scene->server.connections[ANN].client));
    ASK(scene, BOB, "use z", "USING z");
}

/* Each command on a job that is in the store only: it waits for the answer, and
 * holds back the later commands of its client, and no others. */
static void commands_work_on_a_job_of_the_store(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct scene *scene = scene_after_restart(NULL);
        scene->label = row->command;
        struct fake_store *fake = fake_of(scene);
        SEND(scene, ANN, row->command);
        SEND(scene, ANN, "use y");
        expect_question(scene, row->id);
        answer(scene);
        assert_int_equal(fake->is_busy, row->is_written);
        if (row->is_written)
            commit(scene);
        answer(scene);
        EXPECT(scene, ANN, row->reply);
        EXPECT(scene, ANN, "USING y");
        set_automatic(scene, true);
        if (row->after == NULL)
            EXPECT_NO_JOB(scene, row->id);
        else
            EXPECT_JOB(scene, row->id, "state", row->after);
        assert_int_equal(fake->write_count, row->is_written);
        store_scene_close(scene);
    }
}

/* A job comes back from the store as it was. */
static void a_job_of_the_store_has_all_it_had(void **state)
{
    (void)state;
    static char stats[JOBS + 1][512];
    struct scene *scene = scene_after_restart(stats);
    set_automatic(scene, true);
    for (unsigned id = 1; id <= JOBS; id++) {
        char command[64];
        snprintf(command, sizeof command, "stats-job %u", id);
        assert_string_equal(observe(scene, command), stats[id]);
    }
    store_scene_close(scene);
}

/* A job that was kicked or released here lives on as others do. */
static void a_job_of_the_store_can_be_used_up(void **state)
{
    (void)state;
    struct scene *scene = scene_after_restart(NULL);
    set_automatic(scene, true);
    ASK(scene, ANN, "delete 1", "DELETED");
    ASK(scene, ANN, "kick-job 2", "KICKED");
    ASK(scene, ANN, "reserve-with-timeout 0", "RESERVED 2 2\r\na2");
    ASK(scene, ANN, "release 2 0 10", "RELEASED");
    turn(scene, 10 * SECOND - 1);
    EXPECT_JOB(scene, 2, "state", "delayed");
    turn(scene, 1);
    ASK(scene, ANN, "reserve-with-timeout 0", "RESERVED 2 2\r\na2");
    turn(scene, 60 * SECOND);
    EXPECT_JOB(scene, 2, "timeouts", "1");
    ASK(scene, ANN, "reserve-job 3", "RESERVED 3 2\r\na3");
    ASK(scene, ANN, "bury 3 0", "BURIED");
    ASK(scene, ANN, "peek-buried", "FOUND 3 2\r\na3");
    ASK(scene, ANN, "delete 3", "DELETED");
    ASK(scene, ANN, "delete 3", NO);
    store_scene_close(scene);
}

/* The commands of two clients on one job run in the order of arrival. */
static void two_clients_ask_for_one_job(void **state)
{
    (void)state;
    static const char *const cases[][4] = {
        {"delete 2", "delete 2", "DELETED", NO},
        {"delete 2", "peek 2", "DELETED", NO},
        {"peek 2", "delete 2", "FOUND 2 2\r\na2", "DELETED"},
        {"reserve-job 2", "reserve-job 2", "RESERVED 2 2\r\na2", NO},
        {"reserve-job 2", "delete 2", "RESERVED 2 2\r\na2", NO},
        {"kick-job 2", "kick-job 2", "KICKED", NO},
        {"peek 2", "peek 2", "FOUND 2 2\r\na2", "FOUND 2 2\r\na2"},
        {"touch 2", "kick-job 2", NO, "KICKED"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scene *scene = scene_after_restart(NULL);
        SEND(scene, ANN, cases[i][0]);
        SEND(scene, BOB, cases[i][1]);
        answer(scene);
        while (fake_of(scene)->is_busy) {
            EXPECT_NOTHING(scene, BOB);
            commit(scene);
        }
        answer(scene);
        EXPECT(scene, ANN, cases[i][2]);
        EXPECT(scene, BOB, cases[i][3]);
        store_scene_close(scene);
    }
}

static void a_job_that_is_in_no_store_is_not_found(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "delete 50", "release 50 0 0", "bury 50 0",    "touch 50",
        "peek 50",   "kick-job 50",    "stats-job 50", "reserve-job 50"};
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        struct scene *scene = scene_after_restart(NULL);
        SEND(scene, ANN, commands[i]);
        SEND(scene, BOB, commands[i]);
        answer(scene);
        EXPECT(scene, ANN, NO);
        EXPECT(scene, BOB, NO);
        assert_int_equal(fake_of(scene)->write_count, 0);
        store_scene_close(scene);
    }
}

/* The engine knows up to which number ids may have been given out, and asks for
 * no larger one. */
static void ids_that_were_not_given_out_are_not_asked_for(void **state)
{
    (void)state;
    struct scene *scene = scene_after_restart(NULL);
    size_t asked = fake_of(scene)->asked;
    ASK(scene, ANN, "peek 0", NO);
    ASK(scene, ANN, "peek 1000000", NO);
    ASK(scene, ANN, "delete 18446744073709551615", NO);
    assert_int_equal(fake_of(scene)->asked, asked);
    store_scene_close(scene);
}

/* A question that the store refuses is OUT_OF_MEMORY, and changes nothing. */
static void a_refused_question_is_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene *scene = scene_after_restart(NULL);
        fake_of(scene)->refuses_questions = true;
        ASK(scene, ANN, rows[i].command, "OUT_OF_MEMORY");
        fake_of(scene)->refuses_questions = false;
        set_automatic(scene, true);
        ASK(scene, ANN, rows[i].command, rows[i].reply);
        store_scene_close(scene);
    }
}

static void a_client_can_leave_before_the_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene *scene = scene_after_restart(NULL);
        scene->label = rows[i].command;
        SEND(scene, ANN, rows[i].command);
        SEND(scene, BOB, "peek 2");
        leave(scene, ANN);
        answer(scene);
        while (fake_of(scene)->is_busy)
            commit(scene);
        bytes_clear(&scene->server.connections[ANN].out);
        bytes_clear(&scene->server.connections[BOB].out);
        set_automatic(scene, true);
        ASK(scene, CID, "use y", "USING y");
        store_scene_close(scene);
    }
}

/* A job is handed out when its body is there, and its TTR starts then.  A
 * client that leaves before has not reserved it. */
static void reserved_waits_for_the_body(void **state)
{
    (void)state;
    struct scene *scene = scene_after_restart(NULL);
    struct fake_store *fake = fake_of(scene);
    set_automatic(scene, true);
    ASK(scene, ANN, "delete 1", "DELETED");
    set_automatic(scene, false);
    SEND(scene, ANN, "kick-job 2");
    answer(scene);
    commit(scene);
    EXPECT(scene, ANN, "KICKED");
    SEND(scene, BOB, "reserve-with-timeout 5");
    size_t questions = fake->question_count;
    if (questions > 0) {
        EXPECT_NOTHING(scene, BOB);
        turn(scene, 30 * SECOND);
        EXPECT_NOTHING(scene, BOB);
        leave(scene, BOB);
        answer(scene);
        EXPECT_JOB(scene, 2, "state", "ready");
        EXPECT_JOB(scene, 2, "reserves", "0");
        SEND(scene, BOB, "reserve-with-timeout 5");
        turn(scene, 30 * SECOND);
        answer(scene);
    }
    EXPECT(scene, BOB, "RESERVED 2 2\r\na2");
    EXPECT_JOB(scene, 2, "time-left", "60");
    EXPECT_JOB(scene, 2, "reserves", "1");
    store_scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_work_on_a_job_of_the_store),
        cmocka_unit_test(a_job_of_the_store_has_all_it_had),
        cmocka_unit_test(a_job_of_the_store_can_be_used_up),
        cmocka_unit_test(two_clients_ask_for_one_job),
        cmocka_unit_test(a_job_that_is_in_no_store_is_not_found),
        cmocka_unit_test(ids_that_were_not_given_out_are_not_asked_for),
        cmocka_unit_test(a_refused_question_is_out_of_memory),
        cmocka_unit_test(a_client_can_leave_before_the_answer),
        cmocka_unit_test(reserved_waits_for_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
