/*
 * protocol/reply.c - formatting replies.
 *
 * The table `rows` describes the kinds of replies: a word, and the fields after
 * it.  A space precedes each field.
 */
#include "reply.h"

#include <assert.h>
#include <string.h>

enum field { END, ID, NUMBER, TUBE };

enum { DIGITS_MAX = 20 }; /* of a number of 64 bits */

struct row {
    const char *word;
    uint8_t word_length;
    uint8_t fields[3]; /* up to the first END */
};

#define WORD(literal) (literal), sizeof(literal) - 1

static const struct row rows[TKD_REPLY_KINDS] = {
    [TKD_REPLY_INSERTED] = {WORD("INSERTED"), {ID}},
    [TKD_REPLY_USING] = {WORD("USING"), {TUBE}},
    [TKD_REPLY_RESERVED] = {WORD("RESERVED"), {ID, NUMBER}},
    [TKD_REPLY_FOUND] = {WORD("FOUND"), {ID, NUMBER}},
    [TKD_REPLY_OK] = {WORD("OK"), {NUMBER}},
    [TKD_REPLY_WATCHING] = {WORD("WATCHING"), {NUMBER}},
    [TKD_REPLY_KICKED] = {WORD("KICKED"), {NUMBER}},
    [TKD_REPLY_KICKED_JOB] = {WORD("KICKED"), {END}},
    [TKD_REPLY_DEADLINE_SOON] = {WORD("DEADLINE_SOON"), {END}},
    [TKD_REPLY_TIMED_OUT] = {WORD("TIMED_OUT"), {END}},
    [TKD_REPLY_DELETED] = {WORD("DELETED"), {END}},
    [TKD_REPLY_RELEASED] = {WORD("RELEASED"), {END}},
    [TKD_REPLY_BURIED] = {WORD("BURIED"), {END}},
    [TKD_REPLY_TOUCHED] = {WORD("TOUCHED"), {END}},
    [TKD_REPLY_NOT_FOUND] = {WORD("NOT_FOUND"), {END}},
    [TKD_REPLY_NOT_IGNORED] = {WORD("NOT_IGNORED"), {END}},
    [TKD_REPLY_PAUSED] = {WORD("PAUSED"), {END}},
    [TKD_REPLY_DRAINING] = {WORD("DRAINING"), {END}},
    [TKD_REPLY_EXPECTED_CRLF] = {WORD("EXPECTED_CRLF"), {END}},
    [TKD_REPLY_JOB_TOO_BIG] = {WORD("JOB_TOO_BIG"), {END}},
    [TKD_REPLY_BAD_FORMAT] = {WORD("BAD_FORMAT"), {END}},
    [TKD_REPLY_UNKNOWN_COMMAND] = {WORD("UNKNOWN_COMMAND"), {END}},
    [TKD_REPLY_OUT_OF_MEMORY] = {WORD("OUT_OF_MEMORY"), {END}},
    [TKD_REPLY_INTERNAL_ERROR] = {WORD("INTERNAL_ERROR"), {END}},
};

_Static_assert(sizeof "RESERVED" + 2 * (1 + DIGITS_MAX) + 2 <=
                   TKD_REPLY_LINE_MAX,
               "the longest line with numbers fits");
_Static_assert(sizeof "USING" + 1 + TKD_TUBE_MAX + 2 <= TKD_REPLY_LINE_MAX,
               "the longest line with a tube fits");

/* Append bytes at `at`.  Returns the end of them. */
static char *append(char *at, const char *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static char *append_number(char *at, uint64_t number)
{
    char digits[DIGITS_MAX];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return append(at, digits + first, sizeof digits - first);
}

static char *append_field(char *at, enum field field,
                          const struct tkd_reply *reply)
{
    *at++ = ' ';
    if (field == TUBE) {
        assert(reply->tube_length <= TKD_TUBE_MAX);
        return append(at, reply->tube, reply->tube_length);
    }
    return append_number(at, field == ID ? reply->id : reply->number);
}

size_t tkd_reply_format(const struct tkd_reply *reply,
                        char line[TKD_REPLY_LINE_MAX])
{
    assert(reply->kind < TKD_REPLY_KINDS);
    const struct row *row = &rows[reply->kind];
    char *at = append(line, row->word, row->word_length);
    for (size_t i = 0; row->fields[i] != END; i++)
        at = append_field(at, (enum field)row->fields[i], reply);
    at = append(at, "\r\n", 2);
    return (size_t)(at - line);
}
