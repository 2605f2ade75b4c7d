/*
 * servers/reply.c - from the bytes of a server to replies.
 */
#include "reply.h"

#include <stdbool.h>
#include <string.h>

/* Replies of more bytes, and lines of more, are errors of the server. */
enum { BODY_MAX = 1 << 24, LINE_MAX_BYTES = 1024 };

/* How many numbers follow a word, and whether the last one is a body's size. */
struct shape {
    const char *word;
    unsigned numbers_min;
    unsigned numbers_max;
    bool has_body;
};

static const struct shape shapes[] = {
    [REPLY_INSERTED] = {"INSERTED", 1, 1, false},
    [REPLY_RESERVED] = {"RESERVED", 2, 2, true},
    [REPLY_DELETED] = {"DELETED", 0, 1, false},
    [REPLY_BATCH] = {"BATCH", 1, 1, false},
    [REPLY_USING] = {"USING", 0, 0, false}, /* and a name, which is not read */
    [REPLY_WATCHING] = {"WATCHING", 1, 1, false},
    [REPLY_OK] = {"OK", 1, 1, true},
    [REPLY_FOUND] = {"FOUND", 2, 2, true},
    [REPLY_NOT_FOUND] = {"NOT_FOUND", 0, 0, false},
};

static enum reply_word word_of(const char *line, size_t size)
{
    for (unsigned i = 0; i < REPLY_ERROR; i++) {
        size_t length = strlen(shapes[i].word);
        if (length <= size && memcmp(shapes[i].word, line, length) == 0 &&
            (length == size || line[length] == ' '))
            return (enum reply_word)i;
    }
    return REPLY_ERROR;
}

/* Reads " NUMBER" at `*at`.  Returns false if there is no number of at most 19
 * digits, which cannot overflow. */
static bool read_number(const char **at, const char *end, uint64_t *number)
{
    const char *digit = *at;
    if (digit == end || *digit++ != ' ')
        return false;
    const char *first = digit;
    *number = 0;
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++)
        *number = *number * 10 + (uint64_t)(*digit - '0');
    *at = digit;
    return digit > first && digit - first <= 19;
}

/* Sets word, number and body_size.  A line that does not have the shape of its
 * word gets REPLY_ERROR. */
static void parse_line(struct reply *reply)
{
    reply->word = word_of(reply->line, reply->line_size);
    if (reply->word == REPLY_ERROR || reply->word == REPLY_USING)
        return;
    const struct shape *shape = &shapes[reply->word];
    const char *at = reply->line + strlen(shape->word);
    const char *end = reply->line + reply->line_size;
    uint64_t numbers[2] = {0, 0};
    unsigned count = 0;
    while (count < shape->numbers_max && read_number(&at, end, &numbers[count]))
        count++;

    uint64_t body_size = shape->has_body && count > 0 ? numbers[count - 1] : 0;
    if (at != end || count < shape->numbers_min || body_size > BODY_MAX) {
        reply->word = REPLY_ERROR;
        return;
    }
    reply->number = numbers[0];
    reply->body_size = (size_t)body_size;
}

size_t reply_parse(struct reply *reply, const char *text, size_t size)
{
    const char *end = size == 0 ? NULL : memchr(text, '\n', size);
    if (end == NULL && size < LINE_MAX_BYTES)
        return 0;
    size_t line_size = end == NULL ? size : (size_t)(end - text);
    bool has_return = line_size > 0 && text[line_size - 1] == '\r';
    *reply = (struct reply){.line = text, .line_size = line_size - has_return};
    if (end == NULL || !has_return) {
        reply->word = REPLY_ERROR;
        return line_size + (end != NULL);
    }
    parse_line(reply);
    size_t used = line_size + 1;
    if (reply->word == REPLY_ERROR || !shapes[reply->word].has_body)
        return used;
    if (size - used < reply->body_size + 2)
        return 0;
    reply->body = text + used;
    if (memcmp(reply->body + reply->body_size, "\r\n", 2) != 0)
        reply->word = REPLY_ERROR;
    return used + reply->body_size + 2;
}
