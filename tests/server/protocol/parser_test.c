/*
 * server/protocol/parser_test.c - commands, their limits and refusals, bodies,
 * and streams that arrive in pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "near_misses.h"
#include "recording.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A string literal as a stream and its size; it may contain a NUL. */
#define STREAM(literal) (literal), sizeof(literal) - 1

#define SECOND UINT64_C(1000000000)

/* The largest body in these tests, so that larger ones are short. */
enum { BODY_MAX = 10 };

/* Record a stream that breaks no promise of the parser. */
static struct recording record(const char *stream, size_t size)
{
    struct recording recording = record_whole(stream, size, BODY_MAX);
    assert_null(recording.fault);
    return recording;
}

/* Return the only event of a line, which is sent with a CRLF. */
static struct recorded event_of(const char *line)
{
    char stream[2 * TKD_LINE_MAX];
    size_t length = strlen(line);
    assert_true(length + 2 <= sizeof stream);
    memcpy(stream, line, length);
    memcpy(stream + length, "\r\n", 2);
    struct recording recording = record(stream, length + 2);
    if (recording.count != 1)
        fail_msg("\"%s\" has %zu events", line, recording.count);
    struct recorded event = recording.events[0];
    recording_close(&recording);
    return event;
}

static struct tkd_command command_of(const char *line)
{
    struct recorded event = event_of(line);
    if (event.kind != TKD_EVENT_COMMAND)
        fail_msg("\"%s\" is no command", line);
    return event.command;
}

static void assert_refused(const char *line, enum tkd_refusal refusal)
{
    struct recorded event = event_of(line);
    if (event.kind != TKD_EVENT_REFUSED || event.refusal != refusal)
        fail_msg("\"%s\" is accepted, or refused for another reason", line);
}

static void assert_kind(const struct recording *recording, size_t i,
                        enum tkd_event_kind kind)
{
    assert_true(i < recording->count);
    assert_int_equal(recording->events[i].kind, kind);
}

static void assert_verb(const struct recording *recording, size_t i,
                        enum tkd_verb verb)
{
    assert_kind(recording, i, TKD_EVENT_COMMAND);
    assert_int_equal(recording->events[i].command.verb, verb);
}

static void assert_refusal(const struct recording *recording, size_t i,
                           enum tkd_refusal refusal, enum tkd_verb counted)
{
    assert_kind(recording, i, TKD_EVENT_REFUSED);
    assert_int_equal(recording->events[i].refusal, refusal);
    assert_int_equal(recording->events[i].counted, counted);
}

static void assert_body(const struct recording *recording, size_t i,
                        size_t size)
{
    assert_kind(recording, i, TKD_EVENT_BODY);
    assert_int_equal(recording->events[i].body_size, size);
}

static void assert_body_end(const struct recording *recording, size_t i,
                            bool has_crlf)
{
    assert_kind(recording, i, TKD_EVENT_BODY_END);
    assert_int_equal(recording->events[i].has_crlf, has_crlf);
}

static void assert_command(const char *line, const struct tkd_command *expected)
{
    struct tkd_command command = command_of(line);
    assert_int_equal(command.verb, expected->verb);
    assert_int_equal(command.pri, expected->pri);
    assert_int_equal(command.id, expected->id);
    assert_int_equal(command.delay_ns, expected->delay_ns);
    assert_int_equal(command.ttr_ns, expected->ttr_ns);
    assert_int_equal(command.bytes, expected->bytes);
    assert_int_equal(command.tube_length, expected->tube_length);
    assert_memory_equal(command.tube, expected->tube, expected->tube_length);
}

static const struct {
    const char *line;
    struct tkd_command command;
} commands[] = {
    {"put 1 2 3 4",
     {.verb = TKD_PUT,
      .pri = 1,
      .delay_ns = 2 * SECOND,
      .ttr_ns = 3 * SECOND,
      .bytes = 4}},
    {"put 0 0 0 0", {.verb = TKD_PUT}},
    {"peek 5", {.verb = TKD_PEEK, .id = 5}},
    {"peek-ready", {.verb = TKD_PEEK_READY}},
    {"peek-delayed", {.verb = TKD_PEEK_DELAYED}},
    {"peek-buried", {.verb = TKD_PEEK_BURIED}},
    {"reserve", {.verb = TKD_RESERVE}},
    {"reserve-with-timeout 7",
     {.verb = TKD_RESERVE_WITH_TIMEOUT, .delay_ns = 7 * SECOND}},
    {"reserve-job 8", {.verb = TKD_RESERVE_JOB, .id = 8}},
    {"delete 9", {.verb = TKD_DELETE, .id = 9}},
    {"release 1 2 3",
     {.verb = TKD_RELEASE, .id = 1, .pri = 2, .delay_ns = 3 * SECOND}},
    {"bury 1 2", {.verb = TKD_BURY, .id = 1, .pri = 2}},
    {"kick 3", {.verb = TKD_KICK, .id = 3}},
    {"kick-job 4", {.verb = TKD_KICK_JOB, .id = 4}},
    {"touch 5", {.verb = TKD_TOUCH, .id = 5}},
    {"stats", {.verb = TKD_STATS}},
    {"stats-job 6", {.verb = TKD_STATS_JOB, .id = 6}},
    {"stats-tube a", {.verb = TKD_STATS_TUBE, .tube = "a", .tube_length = 1}},
    {"use ab", {.verb = TKD_USE, .tube = "ab", .tube_length = 2}},
    {"watch abc", {.verb = TKD_WATCH, .tube = "abc", .tube_length = 3}},
    {"ignore d", {.verb = TKD_IGNORE, .tube = "d", .tube_length = 1}},
    {"list-tubes", {.verb = TKD_LIST_TUBES}},
    {"list-tube-used", {.verb = TKD_LIST_TUBE_USED}},
    {"list-tubes-watched", {.verb = TKD_LIST_TUBES_WATCHED}},
    {"pause-tube e 7",
     {.verb = TKD_PAUSE_TUBE,
      .tube = "e",
      .tube_length = 1,
      .delay_ns = 7 * SECOND}},
    {"quit", {.verb = TKD_QUIT}},
};

/* All fields of all commands, also those that are 0. */
static void every_verb_is_read_with_its_arguments(void **state)
{
    (void)state;
    bool is_tested[TKD_VERBS] = {false};
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        assert_command(commands[i].line, &commands[i].command);
        is_tested[commands[i].command.verb] = true;
    }
    for (size_t verb = 0; verb < TKD_VERBS; verb++)
        assert_true(is_tested[verb]);
}

static void lines_are_refused_for_the_reasons_of_beanstalkd(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(unknown_lines); i++)
        assert_refused(unknown_lines[i], TKD_REFUSED_UNKNOWN);
    for (size_t i = 0; i < COUNT_OF(bad_lines); i++)
        assert_refused(bad_lines[i], TKD_REFUSED_FORMAT);
}

static void lines_are_accepted_that_beanstalkd_accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(accepted_lines); i++)
        assert_int_equal(command_of(accepted_lines[i].line).verb,
                         accepted_lines[i].verb);
}

/* 2^32 - 1 seconds are an exact number of nanoseconds, and ids have 64 bits. */
static void the_largest_numbers_are_exact(void **state)
{
    (void)state;
    const struct tkd_command put = {.verb = TKD_PUT,
                                    .pri = UINT32_MAX,
                                    .delay_ns = UINT32_MAX * SECOND,
                                    .ttr_ns = UINT32_MAX * SECOND,
                                    .bytes = BODY_MAX};
    assert_command("put 4294967295 4294967295 4294967295 10", &put);
    const struct tkd_command release = {.verb = TKD_RELEASE,
                                        .id = UINT64_MAX,
                                        .pri = UINT32_MAX,
                                        .delay_ns = UINT32_MAX * SECOND};
    assert_command("release 18446744073709551615 4294967295 4294967295",
                   &release);
    assert_int_equal(command_of("pause-tube a 4294967295").delay_ns,
                     UINT32_MAX * SECOND);
    assert_int_equal(command_of("peek 0018446744073709551615").id, UINT64_MAX);
}

/* The bound of kick is the number of strtoul() modulo 2^32. */
static void kick_reads_a_loose_number(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint32_t bound;
    } kicks[] = {
        {"kick 0", 0},
        {"kick 12", 12},
        {"kick  12 34", 12},
        {"kick +12x", 12},
        {"kick \t\n\v\f 12", 12},
        {"kick 1.5", 1},
        {"kick 0x10", 0},
        {"kick 4294967295", UINT32_MAX},
        {"kick 4294967296", 0},
        {"kick 4294967298", 2},
        {"kick 18446744073709551615", UINT32_MAX},
        {"kick -1", UINT32_MAX},
        {"kick -4294967294", 2},
        {"kick -18446744073709551614", 2},
    };
    for (size_t i = 0; i < COUNT_OF(kicks); i++)
        assert_int_equal(command_of(kicks[i].line).id, kicks[i].bound);
}

/* The timeout is the number of strtol() modulo 2^32, and 0 without digits. */
static void reserve_with_timeout_reads_a_loose_number(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint32_t seconds;
    } reserves[] = {
        {"reserve-with-timeout ", 0},
        {"reserve-with-timeout x1", 0},
        {"reserve-with-timeout - 1", 0},
        {"reserve-with-timeout +", 0},
        {"reserve-with-timeout 0x1", 0},
        {"reserve-with-timeout 12", 12},
        {"reserve-with-timeout \t+12 34", 12},
        {"reserve-with-timeout 2147483648", UINT32_C(2147483648)},
        {"reserve-with-timeout 4294967295", UINT32_MAX},
        {"reserve-with-timeout 4294967296", 0},
        {"reserve-with-timeout 4294967297", 1},
        {"reserve-with-timeout 9223372036854775807", UINT32_MAX},
        {"reserve-with-timeout -1", UINT32_MAX},
        {"reserve-with-timeout -4294967295", 1},
        {"reserve-with-timeout -9223372036854775808", 0},
    };
    for (size_t i = 0; i < COUNT_OF(reserves); i++)
        assert_int_equal(command_of(reserves[i].line).delay_ns,
                         reserves[i].seconds * SECOND);
}

static bool is_tube_byte(int byte)
{
    return strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                  "0123456789-+/;.$_()",
                  byte) != NULL;
}

/* Every byte, as the first and as the second byte of a tube's name. */
static void a_tube_name_has_the_bytes_of_its_alphabet(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++) {
        char first[] = {'u', 's', 'e', ' ', (char)byte, 'a', '\0'};
        char second[] = {'u', 's', 'e', ' ', 'a', (char)byte, '\0'};
        if (is_tube_byte(byte) && byte != '-')
            assert_memory_equal(command_of(first).tube, first + 4, 2);
        else
            assert_refused(first, TKD_REFUSED_FORMAT);
        if (is_tube_byte(byte))
            assert_memory_equal(command_of(second).tube, second + 4, 2);
        else
            assert_refused(second, TKD_REFUSED_FORMAT);
    }
}

static void a_tube_name_has_at_most_200_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
    } verbs[] = {{"use ", ""},
                 {"watch ", ""},
                 {"ignore ", ""},
                 {"stats-tube ", ""},
                 {"pause-tube ", " 1"}};
    for (size_t i = 0; i < COUNT_OF(verbs); i++) {
        for (size_t length = 1; length <= TKD_TUBE_MAX + 1; length++) {
            char line[TKD_LINE_MAX] = "";
            strcat(line, verbs[i].before);
            memset(line + strlen(line), 'a', length);
            strcat(line, verbs[i].after);
            if (length <= TKD_TUBE_MAX)
                assert_int_equal(command_of(line).tube_length, length);
            else
                assert_refused(line, TKD_REFUSED_FORMAT);
        }
    }
}

/* Record a line of `length` bytes and a CRLF, and a command after it. */
static struct recording record_long(size_t length)
{
    static char stream[5 * TKD_LINE_MAX];
    assert_true(length + 8 <= sizeof stream);
    memset(stream, 'x', length);
    memcpy(stream + length, "\r\nquit\r\n", 8);
    return record(stream, length + 8);
}

/* The limit of 224 bytes includes the CRLF.  A longer line has one refusal,
 * wherever the blocks of 224 bytes end, also between CR and LF. */
static void a_line_has_at_most_224_bytes(void **state)
{
    (void)state;
    for (size_t length = 0; length < 4 * TKD_LINE_MAX; length++) {
        struct recording recording = record_long(length);
        bool is_long = length + 2 > TKD_LINE_MAX;
        assert_int_equal(recording.count, 2);
        assert_refusal(&recording, 0,
                       is_long ? TKD_REFUSED_FORMAT : TKD_REFUSED_UNKNOWN,
                       TKD_VERBS);
        assert_int_equal(recording.events[0].end, length + 2);
        assert_verb(&recording, 1, TKD_QUIT);
        recording_close(&recording);
    }
}

/* A line of the largest length is a command, and a longer one is not. */
static void a_command_can_have_224_bytes(void **state)
{
    (void)state;
    char line[TKD_LINE_MAX] = "peek ";
    memset(line + 5, '0', TKD_LINE_MAX - 8);
    line[TKD_LINE_MAX - 3] = '7';
    line[TKD_LINE_MAX - 2] = '\0';
    assert_int_equal(command_of(line).id, 7);
    line[TKD_LINE_MAX - 2] = '7';
    line[TKD_LINE_MAX - 1] = '\0';
    assert_refused(line, TKD_REFUSED_FORMAT);
}

/* beanstalkd answers nothing to these lines. */
static void a_cr_alone_is_a_byte_of_its_line(void **state)
{
    (void)state;
    struct recording recording =
        record(STREAM("use a\rb\r\n\r\r\nstats\r\r\n\rquit\r\nquit\r\n"));
    assert_int_equal(recording.count, 5);
    assert_refusal(&recording, 0, TKD_REFUSED_FORMAT, TKD_VERBS);
    assert_refusal(&recording, 1, TKD_REFUSED_UNKNOWN, TKD_VERBS);
    assert_refusal(&recording, 2, TKD_REFUSED_FORMAT, TKD_VERBS);
    assert_refusal(&recording, 3, TKD_REFUSED_UNKNOWN, TKD_VERBS);
    assert_verb(&recording, 4, TKD_QUIT);
    recording_close(&recording);
}

static void an_lf_alone_is_a_byte_of_its_line(void **state)
{
    (void)state;
    struct recording recording =
        record(STREAM("stats\nstats\r\n\nstats\r\n\n\r\r\nquit\r\n"));
    assert_int_equal(recording.count, 4);
    assert_refusal(&recording, 0, TKD_REFUSED_FORMAT, TKD_VERBS);
    assert_refusal(&recording, 1, TKD_REFUSED_UNKNOWN, TKD_VERBS);
    assert_refusal(&recording, 2, TKD_REFUSED_UNKNOWN, TKD_VERBS);
    assert_verb(&recording, 3, TKD_QUIT);
    recording_close(&recording);
}

/* A NUL makes the format bad, also of a line that is unknown without it. */
static void a_line_with_a_nul_has_a_bad_format(void **state)
{
    (void)state;
    struct recording recording = record(
        STREAM("\0\r\nx\0\r\nquit\0\r\nuse\0 a\r\nput 1 2 3 99\0\r\nquit\r\n"));
    assert_int_equal(recording.count, 6);
    for (size_t i = 0; i < 5; i++)
        assert_refusal(&recording, i, TKD_REFUSED_FORMAT, TKD_VERBS);
    assert_verb(&recording, 5, TKD_QUIT);
    recording_close(&recording);
}

/* The length alone ends a body: CRLF and commands within it mean nothing. */
static void a_body_can_have_any_bytes(void **state)
{
    (void)state;
    struct recording recording =
        record(STREAM("put 0 0 0 10\r\n\r\nquit\r\n\0\n\r\nquit\r\n"));
    assert_int_equal(recording.count, 4);
    assert_verb(&recording, 0, TKD_PUT);
    assert_body(&recording, 1, 10);
    assert_body_end(&recording, 2, true);
    assert_verb(&recording, 3, TKD_QUIT);
    recording_close(&recording);
}

static void a_body_of_0_bytes_has_an_end_only(void **state)
{
    (void)state;
    struct recording recording = record(STREAM("put 0 0 0 0\r\n\r\nquit\r\n"));
    assert_int_equal(recording.count, 3);
    assert_verb(&recording, 0, TKD_PUT);
    assert_body_end(&recording, 1, true);
    assert_verb(&recording, 2, TKD_QUIT);
    recording_close(&recording);
}

/* The parser takes the two bytes after a body, whatever they are. */
static void two_bytes_after_a_body_must_be_crlf(void **state)
{
    (void)state;
    static const char *const ends[] = {"\r\n", "\n\r", "\r\r", "\n\n",
                                       "ab",   "\ra",  "a\n"};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        char stream[] = "put 0 0 0 1\r\nx??quit\r\n";
        memcpy(strchr(stream, '?'), ends[i], 2);
        struct recording recording = record(STREAM(stream));
        assert_int_equal(recording.count, 4);
        assert_body(&recording, 1, 1);
        assert_body_end(&recording, 2, i == 0);
        assert_verb(&recording, 3, TKD_QUIT);
        recording_close(&recording);
    }
}

/* The refusal comes after the last byte that the parser skips. */
static void a_body_that_is_too_large_is_skipped(void **state)
{
    (void)state;
    static const char *const streams[] = {
        "put 1 2 3 11\r\nquit\r\nquit\r\nquit\r\n",
        "put 1 2 3 11 garbage\r\nquit\r\nquit\r\nquit\r\n",
        "put 1 2 3 11x\r\n12345678901??quit\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        size_t size = strlen(streams[i]);
        struct recording recording = record(streams[i], size);
        assert_refusal(&recording, 0, TKD_REFUSED_SIZE, TKD_PUT);
        size_t line = (size_t)(strchr(streams[i], '\n') + 1 - streams[i]);
        assert_int_equal(recording.events[0].end, line + 13);
        recording_close(&recording);
        recording = record(streams[i], line + 12);
        assert_int_equal(recording.count, 0);
        recording_close(&recording);
    }
}

/* The parser skips 2^32 + 1 bytes, and not one more. */
static void the_largest_body_is_skipped_as_a_whole(void **state)
{
    (void)state;
    static const char zeros[1 << 20];
    static const char line[] = "put 1 2 3 4294967295\r\n";
    struct tkd_parser parser;
    struct tkd_event event;
    tkd_parser_init(&parser, UINT32_MAX - 1);
    tkd_parser_feed(&parser, STREAM(line), &event);
    for (uint64_t i = 0; i < UINT32_MAX / sizeof zeros + 1; i++) {
        assert_int_equal(event.kind, TKD_EVENT_NONE);
        tkd_parser_feed(&parser, zeros, sizeof zeros, &event);
    }
    assert_int_equal(event.kind, TKD_EVENT_NONE);
    assert_int_equal(tkd_parser_feed(&parser, "quit\r\n", 6, &event), 1);
    assert_int_equal(event.kind, TKD_EVENT_REFUSED);
    assert_int_equal(event.refusal, TKD_REFUSED_SIZE);
    assert_int_equal(event.counted, TKD_PUT);
}

/* beanstalkd counts a pause-tube before it checks the name of the tube. */
static void a_refused_pause_is_counted(void **state)
{
    (void)state;
    struct recording recording = record(
        STREAM("pause-tube -x 1\r\npause-tube a 1 x\r\npause-tube -x y\r\n"
               "use -x\r\n"));
    assert_refusal(&recording, 0, TKD_REFUSED_FORMAT, TKD_PAUSE_TUBE);
    assert_refusal(&recording, 1, TKD_REFUSED_FORMAT, TKD_VERBS);
    assert_refusal(&recording, 2, TKD_REFUSED_FORMAT, TKD_VERBS);
    assert_refusal(&recording, 3, TKD_REFUSED_FORMAT, TKD_VERBS);
    recording_close(&recording);
}

/* No body follows a put whose format is bad: its bytes are lines. */
static void garbage_after_an_allowed_size_skips_nothing(void **state)
{
    (void)state;
    struct recording recording =
        record(STREAM("put 1 2 3 4 x\r\nquit\r\nput 1 2 3 10 \r\nput 1 2 3\r\n"
                      "put 1 2 3 4294967296 x\r\nquit\r\n"));
    assert_int_equal(recording.count, 6);
    assert_refusal(&recording, 0, TKD_REFUSED_FORMAT, TKD_PUT);
    assert_verb(&recording, 1, TKD_QUIT);
    assert_refusal(&recording, 2, TKD_REFUSED_FORMAT, TKD_PUT);
    assert_refusal(&recording, 3, TKD_REFUSED_FORMAT, TKD_VERBS);
    assert_refusal(&recording, 4, TKD_REFUSED_FORMAT, TKD_VERBS);
    assert_verb(&recording, 5, TKD_QUIT);
    recording_close(&recording);
}

static void a_size_up_to_body_max_is_allowed(void **state)
{
    (void)state;
    static const uint32_t limits[] = {0, 1, 9, TKD_BODY_MAX_DEFAULT,
                                      UINT32_MAX};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        for (uint64_t bytes = limits[i];
             bytes <= limits[i] + UINT64_C(1) && bytes <= UINT32_MAX; bytes++) {
            char line[64];
            snprintf(line, sizeof line, "put 0 0 0 %u\r\n", (unsigned)bytes);
            struct recording recording =
                record_whole(line, strlen(line), limits[i]);
            assert_null(recording.fault);
            assert_int_equal(recording.count, bytes == limits[i]);
            recording_close(&recording);
        }
    }
}

static void no_bytes_are_no_event(void **state)
{
    (void)state;
    struct tkd_parser parser;
    struct tkd_event event;
    tkd_parser_init(&parser, BODY_MAX);
    assert_int_equal(tkd_parser_feed(&parser, NULL, 0, &event), 0);
    assert_int_equal(event.kind, TKD_EVENT_NONE);
    tkd_parser_feed(&parser, "put 0 0 0 1\r\n", 13, &event);
    assert_int_equal(tkd_parser_feed(&parser, NULL, 0, &event), 0);
    assert_int_equal(event.kind, TKD_EVENT_NONE);
}

static void assert_equal(const struct recording *whole, struct recording *other)
{
    if (other->fault != NULL)
        fail_msg("%s", other->fault);
    assert_true(recordings_are_equal(whole, other));
    recording_close(other);
}

/* Feed a stream one byte at a time, and in two pieces of all sizes. */
static void assert_splits_do_not_matter(const char *stream, size_t size)
{
    struct recording whole = record(stream, size);
    struct recording bytes = record_bytes(stream, size, BODY_MAX);
    assert_equal(&whole, &bytes);
    for (size_t at = 1; at < size; at++) {
        struct recording halves = record_halves(stream, size, BODY_MAX, at);
        assert_equal(&whole, &halves);
    }
    recording_close(&whole);
}

/* Put a command before and after a line, so that the next line shows a parser
 * that ends the line too early or too late. */
static void assert_line_splits(const char *line)
{
    char stream[TKD_LINE_MAX];
    int size =
        snprintf(stream, sizeof stream, "use a\r\n%s\r\nuse b\r\n", line);
    assert_splits_do_not_matter(stream, (size_t)size);
}

static void no_split_of_a_line_matters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        assert_line_splits(commands[i].line);
    for (size_t i = 0; i < COUNT_OF(accepted_lines); i++)
        assert_line_splits(accepted_lines[i].line);
    for (size_t i = 0; i < COUNT_OF(bad_lines); i++)
        assert_line_splits(bad_lines[i]);
    for (size_t i = 0; i < COUNT_OF(unknown_lines); i++)
        assert_line_splits(unknown_lines[i]);
}

static void no_split_of_a_stream_matters(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } streams[] = {
        {STREAM("put 1 2 3 4\r\nbody\r\nreserve\r\ndelete 1\r\nquit\r\n")},
        {STREAM("put 0 0 0 0\r\n\r\nput 0 0 0 0\r\nxyput 0 0 0 1\r\nz\r\r")},
        {STREAM("put 0 0 0 10\r\n\r\n\r\nquit\r\n\r\nwatch a\r\nstats\r\n")},
        {STREAM("put 0 0 0 11 x\r\n\r\n\r\nquit\r\nx\r\nput 0 0 0 3 x\r\nuse"
                " x\r\nuse y\r\n\r\n\r\n")},
        {STREAM("put 0 0 0 12\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\nlist-tubes\r"
                "\n")},
        {STREAM("\r\r\n\n\r\n\r\n\n\r\r\nuse a\r\r\nuse a\n\r\nuse a\r\n\n")},
        {STREAM("\0\r\n\r\0\n\r\nstats\0\r\nstats\r\nput 0 0 0 2\r\n\0\0\r\n")},
    };
    for (size_t i = 0; i < COUNT_OF(streams); i++)
        assert_splits_do_not_matter(streams[i].bytes, streams[i].size);
}

/* Lines around one and two times 224 bytes, which end in CRs. */
static void no_split_of_a_long_line_matters(void **state)
{
    (void)state;
    char stream[3 * TKD_LINE_MAX];
    for (size_t length = TKD_LINE_MAX - 5; length < 2 * TKD_LINE_MAX + 5;
         length += length == TKD_LINE_MAX + 5 ? TKD_LINE_MAX - 10 : 1) {
        memset(stream, 'x', length);
        memcpy(stream + length - 4, "\n\r\r\r", 4);
        memcpy(stream + length, "\r\nuse a\r\n", 9);
        assert_splits_do_not_matter(stream, length + 9);
    }
}

/* Return the distance to the next 1 of the bits in `context`: a cut for each
 * bit. */
static size_t cut_at_bits(void *context, size_t left)
{
    uint32_t *bits = context;
    size_t piece = 1;
    for (; piece < left && (*bits & 1) == 0; piece++)
        *bits >>= 1;
    *bits >>= 1;
    return piece;
}

/* All ways to cut a short stream into pieces. */
static void no_cuts_of_a_short_stream_matter(void **state)
{
    (void)state;
    static const char stream[] = "put 0 0 0 1\r\nx\r\n";
    enum { CUTS = sizeof stream - 2 };
    struct recording whole = record(STREAM(stream));
    for (uint32_t set = 0; set < UINT32_C(1) << CUTS; set++) {
        uint32_t bits = set;
        struct recording cut =
            record_cut(STREAM(stream), BODY_MAX, cut_at_bits, &bits);
        assert_equal(&whole, &cut);
    }
    recording_close(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_is_read_with_its_arguments),
        cmocka_unit_test(lines_are_refused_for_the_reasons_of_beanstalkd),
        cmocka_unit_test(lines_are_accepted_that_beanstalkd_accepts),
        cmocka_unit_test(the_largest_numbers_are_exact),
        cmocka_unit_test(kick_reads_a_loose_number),
        cmocka_unit_test(reserve_with_timeout_reads_a_loose_number),
        cmocka_unit_test(a_tube_name_has_the_bytes_of_its_alphabet),
        cmocka_unit_test(a_tube_name_has_at_most_200_bytes),
        cmocka_unit_test(a_line_has_at_most_224_bytes),
        cmocka_unit_test(a_command_can_have_224_bytes),
        cmocka_unit_test(a_cr_alone_is_a_byte_of_its_line),
        cmocka_unit_test(an_lf_alone_is_a_byte_of_its_line),
        cmocka_unit_test(a_line_with_a_nul_has_a_bad_format),
        cmocka_unit_test(a_body_can_have_any_bytes),
        cmocka_unit_test(a_body_of_0_bytes_has_an_end_only),
        cmocka_unit_test(two_bytes_after_a_body_must_be_crlf),
        cmocka_unit_test(a_body_that_is_too_large_is_skipped),
        cmocka_unit_test(the_largest_body_is_skipped_as_a_whole),
        cmocka_unit_test(a_refused_pause_is_counted),
        cmocka_unit_test(garbage_after_an_allowed_size_skips_nothing),
        cmocka_unit_test(a_size_up_to_body_max_is_allowed),
        cmocka_unit_test(no_bytes_are_no_event),
        cmocka_unit_test(no_split_of_a_line_matters),
        cmocka_unit_test(no_split_of_a_stream_matters),
        cmocka_unit_test(no_split_of_a_long_line_matters),
        cmocka_unit_test(no_cuts_of_a_short_stream_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
