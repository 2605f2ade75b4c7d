/*
 * benchmarks/servers/reply_test.c - replies, whole, in pieces, and malformed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/servers/reply.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct sample {
    const char *text;
    enum reply_word word;
    uint64_t number;
    const char *body; /* NULL: none */
};

static const struct sample samples[] = {
    {"INSERTED 42\r\n", REPLY_INSERTED, 42, NULL},
    {"INSERTED 9999999999999999999\r\n", REPLY_INSERTED,
     UINT64_C(9999999999999999999), NULL},
    {"RESERVED 7 5\r\nhello\r\n", REPLY_RESERVED, 7, "hello"},
    {"RESERVED 7 0\r\n\r\n", REPLY_RESERVED, 7, ""},
    {"RESERVED 7 4\r\n\r\n\r\n\r\n", REPLY_RESERVED, 7, "\r\n\r\n"},
    {"FOUND 8 1\r\nx\r\n", REPLY_FOUND, 8, "x"},
    {"OK 4\r\n---\n\r\n", REPLY_OK, 4, "---\n"},
    {"DELETED\r\n", REPLY_DELETED, 0, NULL},
    {"DELETED 100\r\n", REPLY_DELETED, 100, NULL},
    {"BATCH 0\r\n", REPLY_BATCH, 0, NULL},
    {"BATCH 3\r\n", REPLY_BATCH, 3, NULL},
    {"USING default\r\n", REPLY_USING, 0, NULL},
    {"WATCHING 2\r\n", REPLY_WATCHING, 2, NULL},
    {"NOT_FOUND\r\n", REPLY_NOT_FOUND, 0, NULL},
};

/* The text is copied to memory of its exact size, so that the address
 * sanitizer finds a read behind it. */
static size_t parse(struct reply *reply, const char *text, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    size_t used = reply_parse(reply, copy, size);
    free(copy);
    return used;
}

static void every_reply_is_parsed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        const struct sample *sample = &samples[i];
        size_t size = strlen(sample->text);
        struct reply reply;
        assert_int_equal(reply_parse(&reply, sample->text, size), size);
        assert_int_equal(reply.word, sample->word);
        assert_int_equal(reply.number, sample->number);
        if (sample->body != NULL) {
            assert_int_equal(reply.body_size, strlen(sample->body));
            assert_memory_equal(reply.body, sample->body, reply.body_size);
        }
    }
}

/* recv() may return any part of a reply. */
static void a_part_of_a_reply_is_no_reply(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        for (size_t size = 0; size < strlen(samples[i].text); size++) {
            struct reply reply;
            assert_int_equal(parse(&reply, samples[i].text, size), 0);
        }
}

static void the_next_reply_is_left_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        char text[100];
        size_t size = strlen(samples[i].text);
        snprintf(text, sizeof text, "%sINSERTED", samples[i].text);
        struct reply reply;
        assert_int_equal(parse(&reply, text, size + 8), size);
    }
}

/* The line stays readable, because the message of the failure shows it. */
static void anything_else_is_an_error_with_its_line(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "OUT_OF_MEMORY",
        "INSERTED",
        "INSERTED x",
        "INSERTED 1 2",
        "INSERTED 1x",
        "INSERTED  1",
        "INSERTED -1",
        "INSERTEDX 1",
        "RESERVED 1",
        "RESERVED 1 2 3",
        "DELETED 1 2",
        "WATCHING",
        "OK",
        "",
        "USINGx",
        "not found",
        "OK 999999999999",
        "INSERTED 1000000000000000000000000",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char text[100];
        size_t size = strlen(lines[i]);
        snprintf(text, sizeof text, "%s\r\n", lines[i]);
        struct reply reply;
        assert_int_equal(reply_parse(&reply, text, size + 2), size + 2);
        assert_int_equal(reply.word, REPLY_ERROR);
        assert_int_equal(reply.line_size, size);
        assert_memory_equal(reply.line, lines[i], size);
    }
}

static void a_body_without_its_line_end_is_an_error(void **state)
{
    (void)state;
    struct reply reply;
    assert_int_equal(parse(&reply, "OK 2\r\nabcd", 10), 10);
    assert_int_equal(reply.word, REPLY_ERROR);
}

static void a_line_without_carriage_return_is_an_error(void **state)
{
    (void)state;
    struct reply reply;
    assert_int_equal(parse(&reply, "DELETED\n", 8), 8);
    assert_int_equal(reply.word, REPLY_ERROR);
}

/* Otherwise the client would wait for ever for the end of such a line. */
static void an_endless_line_is_an_error(void **state)
{
    (void)state;
    char text[2000];
    memset(text, 'x', sizeof text);
    struct reply reply;
    assert_int_equal(parse(&reply, text, 1023), 0);
    assert_int_equal(parse(&reply, text, 1024), 1024);
    assert_int_equal(parse(&reply, text, sizeof text), sizeof text);
    assert_int_equal(reply.word, REPLY_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reply_is_parsed),
        cmocka_unit_test(a_part_of_a_reply_is_no_reply),
        cmocka_unit_test(the_next_reply_is_left_alone),
        cmocka_unit_test(anything_else_is_an_error_with_its_line),
        cmocka_unit_test(a_body_without_its_line_end_is_an_error),
        cmocka_unit_test(a_line_without_carriage_return_is_an_error),
        cmocka_unit_test(an_endless_line_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
