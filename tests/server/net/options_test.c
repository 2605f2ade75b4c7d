/*
 * server/net/options_test.c - the command line of tickwheeld.
 */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <options.h>
#include <protocol/command.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { WORDS_MAX = 64 };

struct line {
    char name[sizeof "tickwheeld"];
    char text[512];
    char *words[WORDS_MAX];
    struct tkd_options options;
    char fault[TKD_OPTIONS_FAULT_MAX];
};

/* Read a command line; spaces separate words. */
static enum tkd_request read_line(struct line *line, const char *text)
{
    int count = 0;
    char *rest = NULL;
    assert_true(strlen(text) < sizeof line->text);
    memcpy(line->name, "tickwheeld", sizeof line->name);
    memcpy(line->text, text, strlen(text) + 1);
    line->words[count++] = line->name;
    for (char *word = strtok_r(line->text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest))
        line->words[count++] = word;
    line->words[count] = NULL;
    line->fault[0] = '\0';
    return tkd_options_read(&line->options, count, line->words, line->fault);
}

static void defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    struct line line;
    assert_int_equal(read_line(&line, ""), TKD_REQUEST_SERVE);
    assert_int_equal(line.options.listen_count, 1);
    assert_string_equal(line.options.listen[0], "127.0.0.1");
    assert_int_equal(line.options.port, 11300);
    assert_int_equal(line.options.body_max, TKD_BODY_MAX_DEFAULT);
    assert_int_equal(line.options.memory_max, 0);
    assert_int_equal(line.options.connections_max, 0);
    assert_int_equal(line.options.verbosity, 0);
    assert_null(line.options.user);
}

/* The letters of beanstalkd, and the names. */
static void letters_and_names_are_equal(void **state)
{
    static const char *const texts[] = {
        "-l ::1 -l unix:/x -p 0 -u mail -z 0 -VV -f 0 -F -s 1 -c -n",
        "-l::1 -lunix:/x -p0 -umail -z0 -V -V -f50 -cnF",
        "--listen ::1 --listen unix:/x --port 0 --user mail --max-job-size 0 "
        "--verbose --verbose --sync-ms 50 --no-sync",
        "--listen=::1 --listen=unix:/x --port=0 --user=mail --max-job-size=0 "
        "-VV",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct line line;
        assert_int_equal(read_line(&line, texts[i]), TKD_REQUEST_SERVE);
        assert_int_equal(line.options.listen_count, 2);
        assert_string_equal(line.options.listen[0], "::1");
        assert_string_equal(line.options.listen[1], "unix:/x");
        assert_int_equal(line.options.port, 0);
        assert_string_equal(line.options.user, "mail");
        assert_int_equal(line.options.body_max, 0);
        assert_int_equal(line.options.verbosity, 2);
    }
}

static void sizes_have_suffixes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"--memory 1", 1},
        {"--memory 1K", 1024},
        {"--memory=500M", UINT64_C(500) << 20},
        {"--memory 17179869183G", UINT64_C(17179869183) << 30},
        {"--memory 18446744073709551615", UINT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct line line;
        assert_int_equal(read_line(&line, rows[i].text), TKD_REQUEST_SERVE);
        assert_true(line.options.memory_max == rows[i].bytes);
    }
}

static void limits_are_inclusive(void **state)
{
    struct line line;
    (void)state;
    assert_int_equal(read_line(&line, "-p 65535 -z 1073741824 "
                                      "--max-connections 4294967295"),
                     TKD_REQUEST_SERVE);
    assert_int_equal(line.options.port, 65535);
    assert_int_equal(line.options.body_max, 1073741824);
    assert_int_equal(line.options.connections_max, UINT32_MAX);
    assert_int_equal(read_line(&line, "--max-connections 1"),
                     TKD_REQUEST_SERVE);
}

/* Each fault is one line that names the option. */
static void faults_are_one_line_with_a_remedy(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        {"-b", "-b needs a value; see tickwheeld --help"},
        {"--dir=", "-b: the name is empty; give a directory"},
        {"--check=", "--check: the name is empty; give a directory"},
        {"--window-jobs 0", "--window-jobs: '0' is not possible"},
        {"-q", "'-q' is no option; see tickwheeld --help"},
        {"-Vq", "'-q' is no option; see tickwheeld --help"},
        {"--queue", "'--queue' is no option; see tickwheeld --help"},
        {"--version=3", "'--version=3' is no option"},
        {"--ver", "'--ver' is no option"}, /* --verbose or --version */
        {"here", "'here' is no option; see tickwheeld --help"},
        {"-V here -V", "'here' is no option"},
        {"-p", "-p needs a value; see tickwheeld --help"},
        {"--port", "--port needs a value; see tickwheeld --help"},
        {"-p 65536", "-p: '65536' is not possible; give a whole number from 0 "
                     "to 65535"},
        {"-p -1", "-p: '-1' is not possible"},
        {"-p +1", "-p: '+1' is not possible"},
        {"-p 1x", "-p: '1x' is not possible"},
        {"-p=1", "-p: '=1' is not possible"},
        {"-z 1073741825", "-z: '1073741825' is not possible; give a whole "
                          "number from 0 to 1073741824"},
        {"-z 99999999999999999999", "-z: "},
        {"-f x", "-f: 'x'"},
        {"-s x", "-s: 'x'"},
        {"--max-connections 0", "--max-connections: '0'"},
        {"--memory 0", "--memory: '0' is not possible; give a number of bytes"},
        {"--memory M", "--memory: 'M'"},
        {"--memory 1MB", "--memory: '1MB'"},
        {"--memory 1T", "--memory: '1T'"},
        {"--memory 17179869184G", "--memory: '17179869184G'"},
        {"--memory 18446744073709551616", "--memory: "},
        {"--listen=", "-l: the address is empty"},
        {"-l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1 -l1",
         "-l: there are more than 16 addresses"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct line line;
        assert_int_equal(read_line(&line, rows[i].text), TKD_REQUEST_BAD);
        if (strstr(line.fault, rows[i].words) != line.fault)
            fail_msg("\"%s\": \"%s\"", rows[i].text, line.fault);
        assert_null(strchr(line.fault, '\n'));
    }
}

static void help_and_version_are_requests(void **state)
{
    struct line line;
    (void)state;
    assert_int_equal(read_line(&line, "-h"), TKD_REQUEST_HELP);
    assert_int_equal(read_line(&line, "--help -q"), TKD_REQUEST_HELP);
    assert_int_equal(read_line(&line, "-v"), TKD_REQUEST_VERSION);
    assert_int_equal(read_line(&line, "-p 1 --version"), TKD_REQUEST_VERSION);
}

/* A small terminal shows the whole of it. */
static void help_fits_a_screen(void **state)
{
    size_t line_count = 0;
    (void)state;
    for (const char *at = tkd_options_help; *at != '\0'; line_count++) {
        size_t length = strcspn(at, "\n");
        assert_true(length <= 80);
        assert_int_equal(at[length], '\n');
        at += length + 1;
    }
    assert_true(line_count <= 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_manual),
        cmocka_unit_test(letters_and_names_are_equal),
        cmocka_unit_test(sizes_have_suffixes),
        cmocka_unit_test(limits_are_inclusive),
        cmocka_unit_test(faults_are_one_line_with_a_remedy),
        cmocka_unit_test(help_and_version_are_requests),
        cmocka_unit_test(help_fits_a_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
