/*
 * server/engine/states_test.c - the state table of engine.h: every command in
 * every state of a job.
 */
#include "scene.h"

#include <inttypes.h>

/* The states of job 1 in which a row begins and ends.  Ann sends the
 * commands. */
enum standing { GONE, READY, DELAYED, BURIED, HELD, TAKEN, STANDINGS };

static const char *const names[STANDINGS] = {
    [GONE] = "gone",     [READY] = "ready", [DELAYED] = "delayed",
    [BURIED] = "buried", [HELD] = "held",   [TAKEN] = "held by Bob"};

/* What a row adds to the counters of the job. */
enum effect {
    RESERVES = 1,
    RELEASES = 2,
    BURIES = 4,
    KICKS = 8,
    CHANGES_PRI = 16, /* the command sets the priority to 5 */
};

struct row {
    enum standing before;
    const char *command;
    const char *reply;
    enum standing after;
    unsigned effects;
};

#define BODY "\r\nab"
#define NO "NOT_FOUND"

static const struct row rows[] = {
    {GONE, "reserve-with-timeout 0", "TIMED_OUT", GONE, 0},
    {READY, "reserve-with-timeout 0", "RESERVED 1 2" BODY, HELD, RESERVES},
    {DELAYED, "reserve-with-timeout 0", "TIMED_OUT", DELAYED, 0},
    {BURIED, "reserve-with-timeout 0", "TIMED_OUT", BURIED, 0},
    {HELD, "reserve-with-timeout 0", "TIMED_OUT", HELD, 0},
    {TAKEN, "reserve-with-timeout 0", "TIMED_OUT", TAKEN, 0},

    {GONE, "reserve-job 1", NO, GONE, 0},
    {READY, "reserve-job 1", "RESERVED 1 2" BODY, HELD, RESERVES},
    {DELAYED, "reserve-job 1", "RESERVED 1 2" BODY, HELD, RESERVES},
    {BURIED, "reserve-job 1", "RESERVED 1 2" BODY, HELD, RESERVES},
    {HELD, "reserve-job 1", NO, HELD, 0},
    {TAKEN, "reserve-job 1", NO, TAKEN, 0},

    {GONE, "delete 1", NO, GONE, 0},
    {READY, "delete 1", "DELETED", GONE, 0},
    {DELAYED, "delete 1", "DELETED", GONE, 0},
    {BURIED, "delete 1", "DELETED", GONE, 0},
    {HELD, "delete 1", "DELETED", GONE, 0},
    {TAKEN, "delete 1", NO, TAKEN, 0},

    {GONE, "release 1 5 0", NO, GONE, 0},
    {READY, "release 1 5 0", NO, READY, 0},
    {DELAYED, "release 1 5 0", NO, DELAYED, 0},
    {BURIED, "release 1 5 0", NO, BURIED, 0},
    {HELD, "release 1 5 0", "RELEASED", READY, RELEASES | CHANGES_PRI},
    {TAKEN, "release 1 5 0", NO, TAKEN, 0},

    {GONE, "release 1 5 9", NO, GONE, 0},
    {READY, "release 1 5 9", NO, READY, 0},
    {DELAYED, "release 1 5 9", NO, DELAYED, 0},
    {BURIED, "release 1 5 9", NO, BURIED, 0},
    {HELD, "release 1 5 9", "RELEASED", DELAYED, RELEASES | CHANGES_PRI},
    {TAKEN, "release 1 5 9", NO, TAKEN, 0},

    {GONE, "bury 1 5", NO, GONE, 0},
    {READY, "bury 1 5", NO, READY, 0},
    {DELAYED, "bury 1 5", NO, DELAYED, 0},
    {BURIED, "bury 1 5", NO, BURIED, 0},
    {HELD, "bury 1 5", "BURIED", BURIED, BURIES | CHANGES_PRI},
    {TAKEN, "bury 1 5", NO, TAKEN, 0},

    {GONE, "touch 1", NO, GONE, 0},
    {READY, "touch 1", NO, READY, 0},
    {DELAYED, "touch 1", NO, DELAYED, 0},
    {BURIED, "touch 1", NO, BURIED, 0},
    {HELD, "touch 1", "TOUCHED", HELD, 0},
    {TAKEN, "touch 1", NO, TAKEN, 0},

    {GONE, "kick-job 1", NO, GONE, 0},
    {READY, "kick-job 1", NO, READY, 0},
    {DELAYED, "kick-job 1", "KICKED", READY, KICKS},
    {BURIED, "kick-job 1", "KICKED", READY, KICKS},
    {HELD, "kick-job 1", NO, HELD, 0},
    {TAKEN, "kick-job 1", NO, TAKEN, 0},

    {GONE, "kick 1", "KICKED 0", GONE, 0},
    {READY, "kick 1", "KICKED 0", READY, 0},
    {DELAYED, "kick 1", "KICKED 1", READY, KICKS},
    {BURIED, "kick 1", "KICKED 1", READY, KICKS},
    {HELD, "kick 1", "KICKED 0", HELD, 0},
    {TAKEN, "kick 1", "KICKED 0", TAKEN, 0},

    {GONE, "peek 1", NO, GONE, 0},
    {READY, "peek 1", "FOUND 1 2" BODY, READY, 0},
    {DELAYED, "peek 1", "FOUND 1 2" BODY, DELAYED, 0},
    {BURIED, "peek 1", "FOUND 1 2" BODY, BURIED, 0},
    {HELD, "peek 1", "FOUND 1 2" BODY, HELD, 0},
    {TAKEN, "peek 1", "FOUND 1 2" BODY, TAKEN, 0},

    {GONE, "peek-ready", NO, GONE, 0},
    {READY, "peek-ready", "FOUND 1 2" BODY, READY, 0},
    {DELAYED, "peek-ready", NO, DELAYED, 0},
    {BURIED, "peek-ready", NO, BURIED, 0},
    {HELD, "peek-ready", NO, HELD, 0},
    {TAKEN, "peek-ready", NO, TAKEN, 0},

    {GONE, "peek-delayed", NO, GONE, 0},
    {READY, "peek-delayed", NO, READY, 0},
    {DELAYED, "peek-delayed", "FOUND 1 2" BODY, DELAYED, 0},
    {BURIED, "peek-delayed", NO, BURIED, 0},
    {HELD, "peek-delayed", NO, HELD, 0},
    {TAKEN, "peek-delayed", NO, TAKEN, 0},

    {GONE, "peek-buried", NO, GONE, 0},
    {READY, "peek-buried", NO, READY, 0},
    {DELAYED, "peek-buried", NO, DELAYED, 0},
    {BURIED, "peek-buried", "FOUND 1 2" BODY, BURIED, 0},
    {HELD, "peek-buried", NO, HELD, 0},
    {TAKEN, "peek-buried", NO, TAKEN, 0},

    {GONE, "stats-job 1", NO, GONE, 0},
};

/* Create job 1 with priority 7 and a TTR of 60 s.  Return the effects that the
 * way to the state has had. */
static unsigned bring_about(struct scene *scene, enum standing standing)
{
    if (standing == DELAYED) {
        ASK(scene, CID, "put 7 30 60 2" BODY, "INSERTED 1");
        return 0;
    }
    ASK(scene, CID, "put 7 0 60 2" BODY, "INSERTED 1");
    if (standing == READY)
        return 0;
    ASK(scene, standing == TAKEN ? BOB : ANN, "reserve", "RESERVED 1 2" BODY);
    if (standing == GONE)
        ASK(scene, ANN, "delete 1", "DELETED");
    if (standing != BURIED)
        return RESERVES;
    ASK(scene, ANN, "bury 1 7", "BURIED");
    return RESERVES | BURIES;
}

static void expect_counter(struct scene *scene, const char *key, unsigned bit,
                           unsigned first, unsigned second)
{
    char value[16];
    unsigned count = (first & bit ? 1U : 0U) + (second & bit ? 1U : 0U);
    snprintf(value, sizeof value, "%u", count);
    EXPECT_JOB(scene, 1, key, value);
}

/* Fail unless job 1 is in a state.  The job is not held afterwards. */
static void expect_standing(struct scene *scene, enum standing standing)
{
    static const char *const words[STANDINGS] = {
        NULL, "ready", "delayed", "buried", "reserved", "reserved"};
    EXPECT_JOB(scene, 1, "state", words[standing]);
    EXPECT_TUBE(scene, "default", "current-jobs-ready",
                standing == READY ? "1" : "0");
    EXPECT_TUBE(scene, "default", "current-jobs-delayed",
                standing == DELAYED ? "1" : "0");
    EXPECT_TUBE(scene, "default", "current-jobs-buried",
                standing == BURIED ? "1" : "0");
    bool is_reserved = standing == HELD || standing == TAKEN;
    EXPECT_TUBE(scene, "default", "current-jobs-reserved",
                is_reserved ? "1" : "0");
    ASK(scene, ANN, "touch 1", standing == HELD ? "TOUCHED" : NO);
    ASK(scene, BOB, "touch 1", standing == TAKEN ? "TOUCHED" : NO);
}

static void walk(const struct row *row)
{
    struct scene *scene = scene_open();
    char label[64];
    snprintf(label, sizeof label, "%s job, %s", names[row->before],
             row->command);
    scene->label = label;
    unsigned past = bring_about(scene, row->before);
    ASK(scene, ANN, row->command, row->reply);
    if (row->after == GONE) {
        EXPECT_NO_JOB(scene, 1);
        ASK(scene, BOB, "peek 1", NO);
        EXPECT_TUBE(scene, "default", "current-jobs-ready", "0");
        EXPECT_TUBE(scene, "default", "current-jobs-delayed", "0");
        EXPECT_TUBE(scene, "default", "current-jobs-buried", "0");
        EXPECT_TUBE(scene, "default", "current-jobs-reserved", "0");
    } else {
        expect_counter(scene, "reserves", RESERVES, past, row->effects);
        expect_counter(scene, "releases", RELEASES, past, row->effects);
        expect_counter(scene, "buries", BURIES, past, row->effects);
        expect_counter(scene, "kicks", KICKS, past, row->effects);
        EXPECT_JOB(scene, 1, "timeouts", "0");
        EXPECT_JOB(scene, 1, "pri", row->effects & CHANGES_PRI ? "5" : "7");
        expect_standing(scene, row->after);
        ASK(scene, BOB, "peek 1", "FOUND 1 2" BODY);
    }
    EXPECT_TUBE(scene, "default", "total-jobs", "1");
    scene_close(scene);
}

/* Every row of the table: the reply, the new state, and what is counted. */
static void commands_do_what_the_state_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        walk(&rows[i]);
}

/* The rows that time and disconnections write: (due), (TTR over) and
 * (disconnect). */
static void time_and_disconnections_make_jobs_ready(void **state)
{
    (void)state;
    for (enum standing before = READY; before < STANDINGS; before++) {
        struct scene *scene = scene_open();
        bring_about(scene, before);
        turn(scene, 60 * SECOND);
        bool is_over = before == HELD || before == TAKEN;
        EXPECT_JOB(scene, 1, "state", before == BURIED ? "buried" : "ready");
        EXPECT_JOB(scene, 1, "timeouts", is_over ? "1" : "0");
        EXPECT_STATS(scene, "job-timeouts", is_over ? "1" : "0");
        scene_close(scene);

        scene = scene_open();
        bring_about(scene, before);
        join(scene, ANN);
        leave(scene, ANN);
        static const char *const words[STANDINGS] = {
            NULL, "ready", "delayed", "buried", "ready", "reserved"};
        EXPECT_JOB(scene, 1, "state", words[before]);
        EXPECT_JOB(scene, 1, "timeouts", "0");
        EXPECT_JOB(scene, 1, "releases", "0");
        scene_close(scene);
    }
}

/* A job that never was is like one that is gone, whatever its id. */
static void ids_that_never_were_are_not_found(void **state)
{
    (void)state;
    static const char *const formats[] = {
        "delete %s",      "touch %s",     "kick-job %s",    "peek %s",
        "reserve-job %s", "stats-job %s", "release %s 0 0", "bury %s 0"};
    static const char *const ids[] = {"0", "2", "18446744073709551615"};
    struct scene *scene = scene_open();
    ASK(scene, ANN, "put 7 0 60 2" BODY, "INSERTED 1");
    for (size_t i = 0; i < COUNT_OF(formats) * COUNT_OF(ids); i++) {
        const char *format = formats[i / COUNT_OF(ids)];
        int length = (int)(strchr(format, '%') - format);
        char command[64];
        snprintf(command, sizeof command, "%.*s%s%s", length, format,
                 ids[i % COUNT_OF(ids)], format + length + 2);
        ASK(scene, ANN, command, NO);
    }
    EXPECT_JOB(scene, 1, "state", "ready");
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_do_what_the_state_table_says),
        cmocka_unit_test(time_and_disconnections_make_jobs_ready),
        cmocka_unit_test(ids_that_never_were_are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
