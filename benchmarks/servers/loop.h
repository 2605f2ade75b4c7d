/*
 * servers/loop.h - one thread, one epoll set, many connections.
 *
 *     struct loop loop;
 *     loop_open(&loop, &address, body_size);
 *     struct connection *connection = loop_connect(&loop, handle, owner);
 *     connection_put(connection, &put);
 *     connection_flush(connection);
 *     while (loop.pending_count > 0)
 *         loop_pass(&loop, limit_ns);
 *     loop_close(&loop);
 *
 * Clock readings.  loop_pass() reads the clock after each recv().  This reading
 * is the time of receipt of all replies that the recv() returned, and it is the
 * time of sending of the commands that their handlers append.  The first is
 * never before the true one, because the bytes had arrived; the second is never
 * after it, because send() is called later.  So measured times are upper
 * bounds: they contain the work of this client.
 */
#ifndef SERVERS_LOOP_H
#define SERVERS_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "connection.h"

struct loop {
    size_t pending_count;     /* read-only: commands without a whole reply */
    uint64_t pass_ns_max;     /* public: the longest pass, waiting excluded */
    size_t body_size;         /* read-only: of the jobs that are put */
    char *filler;             /* private: see bodies in connection.c */
    int epoll_fd;             /* private */
    struct address address;   /* read-only */
    struct connection **list; /* read-only: `count` of them, oldest first */
    size_t count;             /* read-only */
    size_t size;              /* private: room in `list` */
};

/* Jobs get bodies of `body_size` bytes, at least BODY_MIN. */
void loop_open(struct loop *loop, const struct address *address,
               size_t body_size);

/* Closes all connections and frees them. */
void loop_close(struct loop *loop);

/* Opens a connection; loop_close() closes it.  `handle` is called for each
 * reply; NULL ignores the replies. */
struct connection *loop_connect(struct loop *loop, answer_handler *handle,
                                void *owner);

/* Waits until a connection is ready or until `until_ns`, then calls the
 * handlers for all that arrived. */
void loop_pass(struct loop *loop, uint64_t until_ns);

/* Runs passes until no reply is pending.  Fails the program if that takes until
 * `limit_ns`. */
void loop_settle(struct loop *loop, uint64_t limit_ns);

/* Like loop_settle(), with a limit of ten seconds: for setting up. */
void loop_settle_soon(struct loop *loop);

#endif
