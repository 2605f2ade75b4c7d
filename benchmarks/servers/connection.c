/*
 * servers/connection.c - a socket, its buffers, and the requests that wait for
 * a reply.
 *
 *     commands ----> out ----> send()        recv() ----> in ----> replies
 *         |                                                           |
 *         +----> ring of requests, oldest first ----------------------+
 */
#define _POSIX_C_SOURCE 200809L

#include "connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection_private.h"
#include "loop.h"
#include "support.h"

enum { RECEIVE_BYTES = 1 << 14, RING_MIN = 16, SHOWN_MAX = 100 };

static void watch_socket(struct connection *connection, int operation)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (connection->is_blocked)
        event.events |= EPOLLOUT;
    if (epoll_ctl(connection->loop->epoll_fd, operation, connection->fd,
                  &event) != 0)
        fail("cannot watch a socket: %s", strerror(errno));
}

struct connection *connection_open(struct loop *loop, int fd)
{
    struct connection *connection = must_allocate(1, sizeof *connection);
    connection->loop = loop;
    connection->fd = fd;
    connection->ring_size = RING_MIN;
    connection->ring = must_allocate(RING_MIN, sizeof *connection->ring);
    watch_socket(connection, EPOLL_CTL_ADD);
    return connection;
}

void connection_close(struct connection *connection)
{
    close(connection->fd);
    buffer_close(&connection->in);
    buffer_close(&connection->out);
    free(connection->ring);
    free(connection);
}

static struct request *ring_at(const struct connection *connection, size_t i)
{
    size_t place = connection->ring_first + i;
    return &connection->ring[place & (connection->ring_size - 1)];
}

static void grow_ring(struct connection *connection)
{
    size_t size = 2 * connection->ring_size;
    struct request *ring = must_allocate(size, sizeof *ring);
    for (size_t i = 0; i < connection->ring_count; i++)
        ring[i] = *ring_at(connection, i);
    free(connection->ring);
    connection->ring = ring;
    connection->ring_size = size;
    connection->ring_first = 0;
}

void connection_expect(struct connection *connection,
                       const struct request *request)
{
    if (connection->ring_count == connection->ring_size)
        grow_ring(connection);
    *ring_at(connection, connection->ring_count) = *request;
    connection->ring_count++;
    connection->loop->pending_count++;
}

static void pop_request(struct connection *connection)
{
    connection->ring_first++;
    connection->ring_count--;
    connection->loop->pending_count--;
}

static bool is_expected(const struct connection *connection, enum verb verb,
                        enum reply_word word)
{
    switch (verb) {
    case VERB_PUT:
        return word == REPLY_INSERTED;
    case VERB_RESERVE:
        return word == REPLY_RESERVED;
    case VERB_DELETE:
    case VERB_DELETE_BATCH:
        return word == REPLY_DELETED;
    case VERB_RESERVE_BATCH:
        return word ==
               (connection->batch_left > 0 ? REPLY_RESERVED : REPLY_BATCH);
    case VERB_USE:
    case VERB_LIST_TUBE_USED:
        return word == REPLY_USING;
    case VERB_WATCH:
    case VERB_IGNORE:
        return word == REPLY_WATCHING;
    case VERB_PEEK_DELAYED:
        return word == REPLY_FOUND || word == REPLY_NOT_FOUND;
    case VERB_STATS_TUBE:
        return word == REPLY_OK;
    }
    return false;
}

/* Fails the program because of a reply that `to` does not expect.  Bytes that a
 * terminal may not show as they are get replaced. */
static _Noreturn void fail_unexpected(const struct connection *connection,
                                      const struct reply *reply, const char *to)
{
    char shown[SHOWN_MAX + 1] = "";
    for (size_t i = 0; i < SHOWN_MAX && i < reply->line_size; i++) {
        bool is_text = reply->line[i] >= ' ' && reply->line[i] <= '~';
        shown[i] = is_text ? reply->line[i] : '?';
    }
    fail("the server at %s answered '%s' to %s", connection->loop->address.text,
         shown, to);
}

/* Matches `answer->reply` with the oldest request.  A request for a batch stays
 * until the last reply of the batch. */
static void match(struct connection *connection, struct answer *answer)
{
    const struct reply *reply = &answer->reply;
    if (connection->ring_count == 0)
        fail_unexpected(connection, reply, "no command");
    answer->request = *ring_at(connection, 0);
    if (!is_expected(connection, answer->request.verb, reply->word))
        fail_unexpected(connection, reply, verb_text(answer->request.verb));

    if (reply->word == REPLY_BATCH)
        connection->batch_left = reply->number;
    else if (connection->batch_left > 0)
        connection->batch_left--;
    answer->batch_left = connection->batch_left;
    if (connection->batch_left == 0)
        pop_request(connection);
}

void connection_receive(struct connection *connection)
{
    char *room = buffer_room(&connection->in, RECEIVE_BYTES);
    ssize_t count = recv(connection->fd, room, RECEIVE_BYTES, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count < 0)
        fail("cannot receive from the server at %s: %s",
             connection->loop->address.text, strerror(errno));
    if (count == 0)
        fail("the server at %s closed the connection",
             connection->loop->address.text);
    buffer_fill(&connection->in, (size_t)count);

    struct answer answer = {.received_ns = now_ns()};
    size_t used;
    while ((used = reply_parse(&answer.reply, buffer_bytes(&connection->in),
                               buffer_count(&connection->in))) > 0) {
        match(connection, &answer);
        if (connection->handle != NULL)
            connection->handle(connection, &answer);
        buffer_drop(&connection->in, used);
    }
}

void connection_flush(struct connection *connection)
{
    bool was_blocked = connection->is_blocked;
    connection->is_blocked = false;
    while (buffer_count(&connection->out) > 0 && !connection->is_blocked) {
        ssize_t count = send(connection->fd, buffer_bytes(&connection->out),
                             buffer_count(&connection->out), MSG_NOSIGNAL);
        if (count >= 0)
            buffer_drop(&connection->out, (size_t)count);
        else if (errno == EAGAIN)
            connection->is_blocked = true;
        else if (errno != EINTR)
            fail("cannot send to the server at %s: %s",
                 connection->loop->address.text, strerror(errno));
    }
    if (connection->is_blocked != was_blocked)
        watch_socket(connection, EPOLL_CTL_MOD);
}
