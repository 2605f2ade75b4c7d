/*
 * servers/command.c - the bytes of each command.
 *
 * A body is the index of its job in ten digits, and then a piece of random
 * text.  Pieces of different jobs begin at different places, so that a server
 * that compresses its files gains as little as it would with real bodies.
 */
#include "connection.h"

#include <string.h>

#include "connection_private.h"
#include "loop.h"
#include "support.h"

/* Longer than the windows of common compressors, and than any body. */
enum { FILLER_BYTES = 1 << 20, FILLER_STEP = 65521 };

static const char *const verb_texts[] = {
    [VERB_PUT] = "put",
    [VERB_RESERVE] = "reserve",
    [VERB_DELETE] = "delete",
    [VERB_RESERVE_BATCH] = "reserve-batch",
    [VERB_DELETE_BATCH] = "delete-batch",
    [VERB_USE] = "use",
    [VERB_WATCH] = "watch",
    [VERB_IGNORE] = "ignore",
    [VERB_PEEK_DELAYED] = "peek-delayed",
    [VERB_STATS_TUBE] = "stats-tube",
    [VERB_LIST_TUBE_USED] = "list-tube-used",
};

const char *verb_text(enum verb verb)
{
    return verb_texts[verb];
}

char *connection_filler(void)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *filler = must_allocate(FILLER_BYTES, 1);
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < FILLER_BYTES; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        filler[i] = letters[state >> 58];
    }
    return filler;
}

static void append_body(struct connection *connection, uint32_t index)
{
    size_t size = connection->loop->body_size;
    char digits[BODY_MIN];
    uint32_t rest = index;
    for (unsigned i = BODY_MIN; i-- > 0; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    buffer_append(&connection->out, digits, BODY_MIN);

    size_t places = FILLER_BYTES - size;
    size_t place = (size_t)((uint64_t)index * FILLER_STEP % places);
    buffer_append(&connection->out, connection->loop->filler + place,
                  size - BODY_MIN);
    buffer_append(&connection->out, "\r\n", 2);
}

static void append_delay(struct buffer *out, uint32_t delay_ms)
{
    buffer_append_number(out, delay_ms / MS_PER_S);
    uint32_t rest = delay_ms % MS_PER_S;
    if (rest == 0)
        return;
    char fraction[] = {'.', (char)('0' + rest / 100),
                       (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    buffer_append(out, fraction, sizeof fraction);
}

void connection_put(struct connection *connection, const struct put *put)
{
    struct buffer *out = &connection->out;
    buffer_append_text(out, "put 0 ");
    append_delay(out, put->delay_ms);
    buffer_append_text(out, " ");
    buffer_append_number(out, TTR_SECONDS);
    buffer_append_text(out, " ");
    buffer_append_number(out, connection->loop->body_size);
    buffer_append_text(out, "\r\n");
    append_body(connection, put->index);
    struct request request = {VERB_PUT, put->index, put->sent_ns};
    connection_expect(connection, &request);
}

uint32_t connection_index(const struct reply *reply)
{
    uint64_t index = 0;
    for (size_t i = 0; i < BODY_MIN; i++) {
        if (i >= reply->body_size || reply->body[i] < '0' ||
            reply->body[i] > '9')
            fail("job %llu has a body that this program did not put",
                 (unsigned long long)reply->number);
        index = index * 10 + (uint64_t)(reply->body[i] - '0');
    }
    if (index > UINT32_MAX)
        fail("job %llu has a body that this program did not put",
             (unsigned long long)reply->number);
    return (uint32_t)index;
}

/* Sends `verb` with one number. */
static void append_numbered(struct connection *connection, enum verb verb,
                            uint64_t number, uint64_t sent_ns)
{
    struct buffer *out = &connection->out;
    buffer_append_text(out, verb_text(verb));
    buffer_append_text(out, " ");
    buffer_append_number(out, number);
    buffer_append_text(out, "\r\n");
    struct request request = {.verb = verb, .sent_ns = sent_ns};
    connection_expect(connection, &request);
}

void connection_reserve(struct connection *connection, uint64_t sent_ns)
{
    connection_line(connection, VERB_RESERVE, NULL, sent_ns);
}

void connection_delete(struct connection *connection, uint64_t id,
                       uint64_t sent_ns)
{
    append_numbered(connection, VERB_DELETE, id, sent_ns);
}

void connection_reserve_batch(struct connection *connection, uint64_t count,
                              uint64_t sent_ns)
{
    append_numbered(connection, VERB_RESERVE_BATCH, count, sent_ns);
}

void connection_delete_batch(struct connection *connection,
                             const struct buffer *ids, uint64_t sent_ns)
{
    append_numbered(connection, VERB_DELETE_BATCH, buffer_count(ids), sent_ns);
    buffer_append(&connection->out, buffer_bytes(ids), buffer_count(ids));
    buffer_append(&connection->out, "\r\n", 2);
}

void connection_line(struct connection *connection, enum verb verb,
                     const char *argument, uint64_t sent_ns)
{
    buffer_append_text(&connection->out, verb_text(verb));
    if (argument != NULL) {
        buffer_append_text(&connection->out, " ");
        buffer_append_text(&connection->out, argument);
    }
    buffer_append_text(&connection->out, "\r\n");
    struct request request = {.verb = verb, .sent_ns = sent_ns};
    connection_expect(connection, &request);
}

void connection_enter(struct connection *connection, const char *tube)
{
    uint64_t now = now_ns();
    connection_line(connection, VERB_USE, tube, now);
    connection_line(connection, VERB_WATCH, tube, now);
    connection_line(connection, VERB_IGNORE, "default", now);
    connection_flush(connection);
}
