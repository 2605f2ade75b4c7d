/*
 * servers/connection.h - commands to the server, and its answers.
 *
 * Functions that send a command append it to a buffer and return at once.
 * connection_flush() sends the buffer; the loop calls it after the handlers of
 * a connection, so a handler needs it for other connections only.
 *
 * A reply that the command does not expect, a closed connection and an error of
 * the network fail the program.
 */
#ifndef SERVERS_CONNECTION_H
#define SERVERS_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "reply.h"

enum verb {
    VERB_PUT,
    VERB_RESERVE,
    VERB_DELETE,
    VERB_RESERVE_BATCH,
    VERB_DELETE_BATCH,
    VERB_USE,
    VERB_WATCH,
    VERB_IGNORE,
    VERB_PEEK_DELAYED,
    VERB_STATS_TUBE,
    VERB_LIST_TUBE_USED,
};

/* A command that was sent. */
struct request {
    enum verb verb;
    uint32_t index;   /* of the job, after put */
    uint64_t sent_ns; /* as the caller gave it */
};

struct answer {
    struct request request;
    struct reply reply;
    uint64_t received_ns;
    uint64_t batch_left; /* RESERVED replies of this batch that follow */
};

struct loop;
struct connection;
typedef void answer_handler(struct connection *connection,
                            const struct answer *answer);

struct connection {
    struct loop *loop;      /* read-only */
    answer_handler *handle; /* public */
    void *owner;            /* public */
    int fd;                 /* private, as all below */
    bool is_blocked;        /* the last send() did not take all bytes */
    uint64_t batch_left;
    struct buffer in;
    struct buffer out;
    struct request *ring; /* pending requests, oldest first */
    size_t ring_size;     /* a power of two */
    size_t ring_first;
    size_t ring_count;
};

/* A body begins with the index of its job, in BODY_MIN digits. */
enum { BODY_MIN = 10, TTR_SECONDS = 600 };

struct put {
    uint32_t index;
    uint32_t delay_ms; /* sent with a fraction unless it is whole seconds */
    uint64_t sent_ns;
};

void connection_put(struct connection *connection, const struct put *put);

/* Returns the index in the body of a RESERVED reply.  Fails the program if the
 * body is not one that connection_put() made. */
uint32_t connection_index(const struct reply *reply);

void connection_reserve(struct connection *connection, uint64_t sent_ns);
void connection_delete(struct connection *connection, uint64_t id,
                       uint64_t sent_ns);

void connection_reserve_batch(struct connection *connection, uint64_t count,
                              uint64_t sent_ns);

/* `ids` are separated by spaces. */
void connection_delete_batch(struct connection *connection,
                             const struct buffer *ids, uint64_t sent_ns);

/* Sends a command that is one line: `line`, and `argument` unless NULL. */
void connection_line(struct connection *connection, enum verb verb,
                     const char *argument, uint64_t sent_ns);

/* Makes `tube` the tube that puts go to and the only one that is watched. */
void connection_enter(struct connection *connection, const char *tube);

void connection_flush(struct connection *connection);

#endif
