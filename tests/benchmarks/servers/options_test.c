/*
 * benchmarks/servers/options_test.c - the command line: what it sets, and what
 * it rejects with status 2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "benchmarks/servers/options.h"
#include "benchmarks/servers/workload.h"

enum { WORDS_MAX = 20, PROCEED = -1 };

static const struct workload push = {
    .name = "push",
    .takes = TAKES(CONNECTIONS) | TAKES(JOBS) | TAKES(DELAY) | TAKES(BODY) |
             TAKES(FRACTIONS),
    .defaults = {[CONNECTIONS] = 3, [JOBS] = 5, [DELAY] = 9},
    .delay_min = 4,
};
static const struct workload pull = {.name = "pull", .takes = TAKES(JOBS)};
static const struct workload *const workloads[] = {&push, &pull, NULL};

/* Reads `line`, whose words are separated by single spaces. */
static int read_line(struct options *options, const char *line)
{
    static char text[200]; /* options keep pointers into it */
    static char program[] = "bench_servers";
    char *words[WORDS_MAX] = {program};
    int count = 1;
    assert_true(strlen(line) < sizeof text);
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL;
         word = strtok(NULL, " ")) {
        assert_true(count + 1 < WORDS_MAX);
        words[count++] = word;
    }
    optind = 0; /* getopt_long() begins anew */
    return options_read(options, count, words, workloads);
}

static void a_workload_brings_its_defaults(void **state)
{
    (void)state;
    struct options options;
    assert_int_equal(read_line(&options, "push"), PROCEED);
    assert_ptr_equal(options.workload, &push);
    assert_int_equal(options.number[CONNECTIONS], 3);
    assert_int_equal(options.number[JOBS], 5);
    assert_int_equal(options.number[DELAY], 9);
    assert_int_equal(options.number[FRACTIONS], 0);
    assert_false(options.is_json);
    assert_string_equal(options.address.text, "127.0.0.1:11300");
    assert_int_equal(options.address.socket.ss_family, AF_INET);
}

static void options_replace_defaults(void **state)
{
    (void)state;
    struct options options;
    assert_int_equal(read_line(&options,
                               "push --jobs 7 --connections=60000 --json "
                               "--fractions --connect unix:/tmp/x --body 10"),
                     PROCEED);
    assert_int_equal(options.number[JOBS], 7);
    assert_int_equal(options.number[CONNECTIONS], 60000);
    assert_int_equal(options.number[FRACTIONS], 1);
    assert_int_equal(options.number[BODY], 10);
    assert_int_equal(options.number[DELAY], 9);
    assert_true(options.is_json);
    assert_string_equal(options.address.text, "unix:/tmp/x");
    assert_int_equal(options.address.socket.ss_family, AF_UNIX);
}

static void addresses_of_both_families_are_read(void **state)
{
    (void)state;
    struct options options;
    assert_int_equal(read_line(&options, "push --connect [::1]:11300"),
                     PROCEED);
    assert_int_equal(options.address.socket.ss_family, AF_INET6);
    assert_int_equal(read_line(&options, "push --connect 127.0.0.2:1"),
                     PROCEED);
    assert_int_equal(options.address.socket.ss_family, AF_INET);
}

static void wrong_lines_end_with_status_2(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "nonsense",
        "--jobs 3",
        "push extra",
        "push --nonsense",
        "push --jobs",
        "push --jobs 0",
        "push --jobs 1000000001",
        "push --jobs 99999999999999999999999",
        "push --jobs -1",
        "push --jobs 1x",
        "push --jobs x",
        "push --jobs 1.5",
        "push --body 9",
        "push --body 65536",
        "push --connections 60001",
        "push --fractions=1",
        "push --span 3",
        "pull --delay 3",
        "push --connect nowhere",
        "push --connect :11300",
        "push --connect 127.0.0.1:",
        "push --connect unix:",
        "push --connect []:11300",
    };
    struct options options;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (read_line(&options, lines[i]) != 2)
            fail_msg("'%s' was accepted", lines[i]);
}

/* crowd needs time before the jobs come due. */
static void a_workload_has_its_least_delay(void **state)
{
    (void)state;
    struct options options;
    assert_int_equal(read_line(&options, "push --delay 3"), 2);
    assert_int_equal(read_line(&options, "push --delay 4"), PROCEED);
    assert_int_equal(read_line(&options, "push --delay 2000000"), PROCEED);
    assert_int_equal(read_line(&options, "push --delay 2000001"), 2);
}

static void a_path_too_long_for_a_unix_socket_is_rejected(void **state)
{
    (void)state;
    char line[190] = "push --connect unix:/";
    memset(line + strlen(line), 'x', 150);
    struct options options;
    assert_int_equal(read_line(&options, line), 2);
}

static void help_ends_with_status_0_wherever_it_stands(void **state)
{
    (void)state;
    struct options options;
    assert_int_equal(read_line(&options, "--help"), 0);
    assert_int_equal(read_line(&options, "push --jobs 3 -h"), 0);
    assert_int_equal(read_line(&options, "nonsense --help"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_workload_brings_its_defaults),
        cmocka_unit_test(options_replace_defaults),
        cmocka_unit_test(addresses_of_both_families_are_read),
        cmocka_unit_test(wrong_lines_end_with_status_2),
        cmocka_unit_test(a_workload_has_its_least_delay),
        cmocka_unit_test(a_path_too_long_for_a_unix_socket_is_rejected),
        cmocka_unit_test(help_ends_with_status_0_wherever_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
