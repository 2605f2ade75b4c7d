/*
 * server/engine/stats_test.c - the text of stats, stats-tube and stats-job, in
 * the order and the format of beanstalkd 1.13, and what the counters count.
 */
#include "scene.h"

/* The observer joins first, so that it counts in all tests. */
static struct scene *observed(void)
{
    struct scene *scene = scene_open();
    join(scene, OBSERVER);
    return scene;
}

/* Fail unless `text` is the YAML that `command` shows. */
static void expect_text(struct scene *scene, const char *command,
                        const char *text)
{
    char reply[2048];
    snprintf(reply, sizeof reply, "OK %zu\r\n%s\r\n", strlen(text), text);
    assert_string_equal(observe(scene, command), reply);
}

static void stats_job_has_the_text_of_beanstalkd(void **state)
{
    (void)state;
    struct scene *scene = observed();
    ASK(scene, ANN, "use 1.5", "USING 1.5");
    ASK(scene, ANN, "put 1024 5 120 1\r\na", "INSERTED 1");
    turn(scene, SECOND / 2);
    expect_text(scene, "stats-job 1",
                "---\nid: 1\ntube: \"1.5\"\nstate: delayed\npri: 1024\nage: 0\n"
                "delay: 5\nttr: 120\ntime-left: 4\nfile: 0\nreserves: 0\n"
                "timeouts: 0\nreleases: 0\nburies: 0\nkicks: 0\n");
    turn(scene, 5 * SECOND);
    expect_text(scene, "stats-job 1",
                "---\nid: 1\ntube: \"1.5\"\nstate: ready\npri: 1024\nage: 5\n"
                "delay: 5\nttr: 120\ntime-left: 0\nfile: 0\nreserves: 0\n"
                "timeouts: 0\nreleases: 0\nburies: 0\nkicks: 0\n");
    ASK(scene, ANN, "reserve-job 1", "RESERVED 1 1\r\na");
    turn(scene, 100 * SECOND);
    expect_text(scene, "stats-job 1",
                "---\nid: 1\ntube: \"1.5\"\nstate: reserved\npri: 1024\n"
                "age: 105\ndelay: 5\nttr: 120\ntime-left: 20\nfile: 0\n"
                "reserves: 1\ntimeouts: 0\nreleases: 0\nburies: 0\nkicks: 0\n");
    turn(scene, 100 * SECOND);
    SEND(scene, ANN,
         "reserve-job 1\r\nrelease 1 0 0\r\nreserve-job 1\r\nbury 1 7\r\n"
         "kick 1\r\nreserve-job 1\r\nbury 1 8");
    bytes_clear(&scene->server.connections[ANN].out);
    expect_text(scene, "stats-job 1",
                "---\nid: 1\ntube: \"1.5\"\nstate: buried\npri: 8\nage: 205\n"
                "delay: 0\nttr: 120\ntime-left: 0\nfile: 0\nreserves: 4\n"
                "timeouts: 1\nreleases: 1\nburies: 2\nkicks: 1\n");
    scene_close(scene);
}

static void stats_tube_has_the_text_of_beanstalkd(void **state)
{
    (void)state;
    struct scene *scene = observed();
    SEND(scene, ANN,
         "use 12\r\nwatch 12\r\nignore default\r\n"
         "put 1023 0 60 1\r\na\r\nput 1024 0 60 1\r\na\r\n"
         "put 0 0 60 1\r\na\r\nput 0 0 60 1\r\na\r\nput 0 9 60 1\r\na\r\n"
         "put 0 0 60 1\r\na\r\nreserve-job 3\r\nreserve-job 4\r\nbury 4 0\r\n"
         "delete 6\r\npause-tube 12 77");
    SEND(scene, BOB, "watch 12\r\nreserve");
    turn(scene, SECOND + 1);
    expect_text(scene, "stats-tube 12",
                "---\nname: \"12\"\ncurrent-jobs-urgent: 1\n"
                "current-jobs-ready: 2\ncurrent-jobs-reserved: 1\n"
                "current-jobs-delayed: 1\ncurrent-jobs-buried: 1\n"
                "total-jobs: 6\ncurrent-using: 1\ncurrent-watching: 2\n"
                "current-waiting: 1\ncmd-delete: 1\ncmd-pause-tube: 1\n"
                "pause: 77\npause-time-left: 75\n");
    bytes_clear(&scene->server.connections[ANN].out);
    bytes_clear(&scene->server.connections[BOB].out);
    scene_close(scene);
}

/* What stats shows after send_some_of_everything().  A * is any number. */
static const char *const lines[] = {
    "current-jobs-urgent: 1",
    "current-jobs-ready: 2",
    "current-jobs-reserved: 1",
    "current-jobs-delayed: 1",
    "current-jobs-buried: 1",
    "cmd-put: 6",
    "cmd-peek: 1",
    "cmd-peek-ready: 2",
    "cmd-peek-delayed: 3",
    "cmd-peek-buried: 4",
    "cmd-reserve: 3",
    "cmd-reserve-with-timeout: 1",
    "cmd-delete: 2",
    "cmd-release: 5",
    "cmd-use: 2",
    "cmd-watch: 1",
    "cmd-ignore: 3",
    "cmd-bury: 2",
    "cmd-kick: 2",
    "cmd-touch: 3",
    "cmd-stats: 2",
    "cmd-stats-job: 4",
    "cmd-stats-tube: 3",
    "cmd-list-tubes: 2",
    "cmd-list-tube-used: 3",
    "cmd-list-tubes-watched: 1",
    "cmd-pause-tube: 2",
    "job-timeouts: 1",
    "total-jobs: 5",
    "max-job-size: 65535",
    "current-tubes: 2",
    "current-connections: 4",
    "current-producers: 1",
    "current-workers: 2",
    "current-waiting: 1",
    "total-connections: 5",
    "pid: 4711",
    "version: \"1.2.3\"",
    "rusage-utime: 12.345678",
    "rusage-stime: 9.000001",
    "uptime: 62",
    "binlog-oldest-index: *",
    "binlog-current-index: *",
    "binlog-records-migrated: *",
    "binlog-records-written: *",
    "binlog-max-size: *",
    "draining: false",
    "id: 0123456789abcdef",
    "hostname: \"host\"",
    "os: \"#1 SMP\"",
    "platform: \"x86_64\"",
};

/* Send commands of every kind, each a number of times of its own. */
static void send_some_of_everything(struct scene *scene)
{
    SEND(scene, ANN,
         "use 12\r\nuse 12\r\nput 0 0 1 1\r\na\r\n"
         "put 1023 0 60 1\r\na\r\nput 1024 0 60 1\r\na\r\n"
         "put 0 99 60 1\r\na\r\nput 0 0 60 1\r\na\r\n"
         "put 0 0 60 1 1\r\npause-tube 12 0\r\npause-tube y 1");
    SEND(scene, BOB,
         "watch 12\r\nignore y\r\nignore y\r\nignore y\r\n"
         "peek 9\r\npeek-ready\r\npeek-ready");
    turn(scene, SECOND);
    SEND(scene, BOB, "reserve\r\nreserve-with-timeout 4");
    SEND(scene, CID,
         "peek-delayed\r\npeek-delayed\r\npeek-delayed\r\n"
         "peek-buried\r\npeek-buried\r\npeek-buried\r\n"
         "peek-buried\r\nkick 0\r\nkick 1\r\nkick-job 9\r\n"
         "delete 9\r\ndelete 9\r\ntouch 9\r\ntouch 9\r\n"
         "release 9 0 0\r\nrelease 9 0 0\r\nrelease 9 0 0\r\n"
         "release 9 0 0\r\nrelease 9 0 0\r\nstats\r\n"
         "stats-job 9\r\nstats-job 9\r\nstats-job 9\r\n"
         "stats-job 9\r\nstats-tube y\r\nstats-tube y\r\n"
         "stats-tube y\r\nlist-tubes\r\nlist-tubes\r\n"
         "list-tube-used\r\nlist-tube-used\r\nlist-tube-used\r\n"
         "list-tubes-watched\r\nreserve-job 9\r\nreserve");
    SEND(scene, BOB, "bury 5 0\r\nbury 5 0\r\ntouch 5\r\nreserve-job 2");
    SEND(scene, DAN, "reserve");
    leave(scene, DAN);
}

/* Fail unless a line of stats is as expected.  Returns the next line. */
static const char *expect_line(const char *text, const char *line)
{
    size_t length = strcspn(line, "*");
    if (strncmp(text, line, length) != 0)
        fail_msg("expected %s, received %.40s", line, text);
    text += length;
    if (line[length] == '*')
        text += strspn(text, "0123456789");
    assert_int_equal(*text, '\n');
    return text + 1;
}

static void stats_has_the_text_of_beanstalkd(void **state)
{
    (void)state;
    struct scene *scene = observed();
    turn(scene, 60 * SECOND);
    send_some_of_everything(scene);
    turn(scene, SECOND);
    const char *text = observe(scene, "stats");
    size_t size = strtoull(text + 3, NULL, 10);
    text = strstr(text, "\r\n") + 2;
    assert_int_equal(strlen(text), size + 2);
    text = expect_line(text, "---");
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        text = expect_line(text, lines[i]);
    for (unsigned n = ANN; n <= DAN; n++)
        bytes_clear(&scene->server.connections[n].out);
    scene_close(scene);
}

/* urgent counts ready jobs with a priority below 1024. */
static void urgent_jobs_are_ready_and_below_1024(void **state)
{
    (void)state;
    struct scene *scene = observed();
    ASK(scene, ANN, "put 1023 0 60 1\r\na", "INSERTED 1");
    ASK(scene, ANN, "put 1024 0 60 1\r\na", "INSERTED 2");
    ASK(scene, ANN, "put 0 10 60 1\r\na", "INSERTED 3");
    EXPECT_STATS(scene, "current-jobs-urgent", "1");
    ASK(scene, ANN, "reserve", "RESERVED 1 1\r\na");
    EXPECT_STATS(scene, "current-jobs-urgent", "0");
    EXPECT_TUBE(scene, "default", "current-jobs-urgent", "0");
    ASK(scene, ANN, "release 1 1024 0", "RELEASED");
    EXPECT_STATS(scene, "current-jobs-urgent", "0");
    ASK(scene, ANN, "reserve-job 2", "RESERVED 2 1\r\na");
    ASK(scene, ANN, "release 2 1023 0", "RELEASED");
    EXPECT_STATS(scene, "current-jobs-urgent", "1");
    turn(scene, 10 * SECOND);
    EXPECT_STATS(scene, "current-jobs-urgent", "2");
    EXPECT_TUBE(scene, "default", "current-jobs-urgent", "2");
    ASK(scene, ANN, "delete 3", "DELETED");
    EXPECT_STATS(scene, "current-jobs-urgent", "1");
    scene_close(scene);
}

/* A client that has put is a producer, one that has reserved is a worker, as
 * long as it is connected. */
static void producers_and_workers_are_counted_once_each(void **state)
{
    (void)state;
    struct scene *scene = observed();
    SEND(scene, ANN, "put 0 0 60 1\r\na\r\nput 0 0 60 1\r\na\r\nreserve");
    SEND(scene, BOB, "put 0 0 60 1\r\nabc"); /* EXPECTED_CRLF */
    SEND(scene, CID, "reserve-with-timeout 0\r\nreserve-with-timeout 0");
    SEND(scene, DAN, "reserve-job 3\r\npeek 1\r\ndelete 9\r\nwatch x");
    EXPECT_STATS(scene, "current-producers", "2");
    EXPECT_STATS(scene, "current-workers", "2");
    EXPECT_STATS(scene, "current-connections", "5");
    leave(scene, ANN);
    EXPECT_STATS(scene, "current-producers", "1");
    EXPECT_STATS(scene, "current-workers", "1");
    leave(scene, CID);
    EXPECT_STATS(scene, "current-workers", "0");
    SEND(scene, DAN, "reserve-job 1");
    EXPECT_STATS(scene, "current-workers", "1");
    EXPECT_STATS(scene, "current-connections", "3");
    EXPECT_STATS(scene, "total-connections", "5");
    for (unsigned n = ANN; n <= DAN; n++)
        bytes_clear(&scene->server.connections[n].out);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_job_has_the_text_of_beanstalkd),
        cmocka_unit_test(stats_tube_has_the_text_of_beanstalkd),
        cmocka_unit_test(stats_has_the_text_of_beanstalkd),
        cmocka_unit_test(urgent_jobs_are_ready_and_below_1024),
        cmocka_unit_test(producers_and_workers_are_counted_once_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
