/*
 * servers/loop.c - one thread, one epoll set, many connections.
 */
#define _GNU_SOURCE /* for ppoll() */

#include "loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "connection_private.h"
#include "support.h"

enum { EVENTS_MAX = 256, SETTLE_SECONDS = 10 };

void loop_open(struct loop *loop, const struct address *address,
               size_t body_size)
{
    *loop = (struct loop){.address = *address, .body_size = body_size};
    loop->epoll_fd = epoll_create1(0);
    if (loop->epoll_fd < 0)
        fail("cannot open an epoll set: %s", strerror(errno));
    loop->filler = connection_filler();
}

void loop_close(struct loop *loop)
{
    for (size_t i = 0; i < loop->count; i++)
        connection_close(loop->list[i]);
    free(loop->list);
    free(loop->filler);
    close(loop->epoll_fd);
    *loop = (struct loop){.epoll_fd = -1};
}

struct connection *loop_connect(struct loop *loop, answer_handler *handle,
                                void *owner)
{
    if (loop->count == loop->size) {
        loop->size = 2 * loop->size + 16;
        loop->list = must_reallocate(loop->list, loop->size,
                                     sizeof(struct connection *));
    }
    struct connection *connection =
        connection_open(loop, address_connect(&loop->address));
    connection->handle = handle;
    connection->owner = owner;
    loop->list[loop->count++] = connection;
    return connection;
}

/*
 * epoll_wait() waits for whole milliseconds, which is too coarse for pacing.
 * The last millisecond before `until_ns` is waited for with ppoll().
 */
static int wait_for_events(struct loop *loop, struct epoll_event *events,
                           uint64_t until_ns)
{
    uint64_t now = now_ns();
    uint64_t left = until_ns > now ? until_ns - now : 0;
    int milliseconds = left > NS_PER_S ? MS_PER_S : (int)(left / NS_PER_MS);
    if (milliseconds == 0 && left > 0) {
        struct pollfd set = {.fd = loop->epoll_fd, .events = POLLIN};
        struct timespec span = {.tv_nsec = (long)left};
        ppoll(&set, 1, &span, NULL);
    }
    int count = epoll_wait(loop->epoll_fd, events, EVENTS_MAX, milliseconds);
    if (count < 0 && errno != EINTR)
        fail("cannot wait for the server: %s", strerror(errno));
    return count;
}

void loop_pass(struct loop *loop, uint64_t until_ns)
{
    struct epoll_event events[EVENTS_MAX];
    int count = wait_for_events(loop, events, until_ns);
    if (count <= 0)
        return;
    uint64_t begin = now_ns();
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        if (events[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP))
            connection_receive(connection);
        connection_flush(connection);
    }
    uint64_t pass = now_ns() - begin;
    if (pass > loop->pass_ns_max)
        loop->pass_ns_max = pass;
}

void loop_settle(struct loop *loop, uint64_t limit_ns)
{
    while (loop->pending_count > 0) {
        if (now_ns() >= limit_ns)
            fail("the server at %s does not answer: %zu replies are missing",
                 loop->address.text, loop->pending_count);
        loop_pass(loop, limit_ns);
    }
}

void loop_settle_soon(struct loop *loop)
{
    loop_settle(loop, now_ns() + SETTLE_SECONDS * NS_PER_S);
}
