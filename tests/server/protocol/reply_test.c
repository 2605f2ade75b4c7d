/*
 * server/protocol/reply_test.c - the lines of all replies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include <protocol/reply.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void assert_line(const struct tkd_reply *reply, const char *expected)
{
    char line[TKD_REPLY_LINE_MAX + 1];
    memset(line, '#', sizeof line);
    size_t length = tkd_reply_format(reply, line);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(line, expected, length);
    assert_int_equal(line[length], '#');
}

/* The fields that a reply does not have are set, too: they are not written. */
static void every_reply_has_its_line(void **state)
{
    (void)state;
    static const struct {
        enum tkd_reply_kind kind;
        const char *line;
    } replies[] = {
        {TKD_REPLY_INSERTED, "INSERTED 12\r\n"},
        {TKD_REPLY_USING, "USING tube\r\n"},
        {TKD_REPLY_RESERVED, "RESERVED 12 345\r\n"},
        {TKD_REPLY_FOUND, "FOUND 12 345\r\n"},
        {TKD_REPLY_OK, "OK 345\r\n"},
        {TKD_REPLY_WATCHING, "WATCHING 345\r\n"},
        {TKD_REPLY_KICKED, "KICKED 345\r\n"},
        {TKD_REPLY_KICKED_JOB, "KICKED\r\n"},
        {TKD_REPLY_DEADLINE_SOON, "DEADLINE_SOON\r\n"},
        {TKD_REPLY_TIMED_OUT, "TIMED_OUT\r\n"},
        {TKD_REPLY_DELETED, "DELETED\r\n"},
        {TKD_REPLY_RELEASED, "RELEASED\r\n"},
        {TKD_REPLY_BURIED, "BURIED\r\n"},
        {TKD_REPLY_TOUCHED, "TOUCHED\r\n"},
        {TKD_REPLY_NOT_FOUND, "NOT_FOUND\r\n"},
        {TKD_REPLY_NOT_IGNORED, "NOT_IGNORED\r\n"},
        {TKD_REPLY_PAUSED, "PAUSED\r\n"},
        {TKD_REPLY_DRAINING, "DRAINING\r\n"},
        {TKD_REPLY_EXPECTED_CRLF, "EXPECTED_CRLF\r\n"},
        {TKD_REPLY_JOB_TOO_BIG, "JOB_TOO_BIG\r\n"},
        {TKD_REPLY_BAD_FORMAT, "BAD_FORMAT\r\n"},
        {TKD_REPLY_UNKNOWN_COMMAND, "UNKNOWN_COMMAND\r\n"},
        {TKD_REPLY_OUT_OF_MEMORY, "OUT_OF_MEMORY\r\n"},
        {TKD_REPLY_INTERNAL_ERROR, "INTERNAL_ERROR\r\n"},
    };
    bool is_tested[TKD_REPLY_KINDS] = {false};
    for (size_t i = 0; i < COUNT_OF(replies); i++) {
        struct tkd_reply reply = {.kind = replies[i].kind,
                                  .id = 12,
                                  .number = 345,
                                  .tube = "tubes",
                                  .tube_length = 4};
        assert_line(&reply, replies[i].line);
        is_tested[replies[i].kind] = true;
    }
    for (size_t kind = 0; kind < TKD_REPLY_KINDS; kind++)
        assert_true(is_tested[kind]);
}

static void numbers_have_as_many_digits_as_they_need(void **state)
{
    (void)state;
    struct tkd_reply reply = {.kind = TKD_REPLY_FOUND};
    assert_line(&reply, "FOUND 0 0\r\n");
    reply.id = 9;
    reply.number = 10;
    assert_line(&reply, "FOUND 9 10\r\n");
    reply.id = UINT64_C(10000000000000000000);
    reply.number = UINT64_C(9999999999999999999);
    assert_line(&reply, "FOUND 10000000000000000000 9999999999999999999\r\n");
    reply.kind = TKD_REPLY_RESERVED;
    reply.id = UINT64_MAX;
    reply.number = UINT64_MAX;
    assert_line(&reply,
                "RESERVED 18446744073709551615 18446744073709551615\r\n");
}

static void a_tube_of_200_bytes_fits(void **state)
{
    (void)state;
    char tube[TKD_TUBE_MAX];
    char expected[TKD_REPLY_LINE_MAX] = "USING ";
    memset(tube, 'a', sizeof tube);
    memset(expected + 6, 'a', sizeof tube);
    strcat(expected, "\r\n");
    struct tkd_reply reply = {
        .kind = TKD_REPLY_USING, .tube = tube, .tube_length = sizeof tube};
    assert_line(&reply, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reply_has_its_line),
        cmocka_unit_test(numbers_have_as_many_digits_as_they_need),
        cmocka_unit_test(a_tube_of_200_bytes_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
