/* epoll.c - the snippets of epoll.h: a timer that frees a connection while the
 * connection has an event in the same batch. */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <tickwheel/epoll.h>

#include "harness.h"

struct connection {
    int fd;
    bool is_freed; /* in place of free(), so that serve() can check it */
};

static int served, hung_up, dropped;

static void serve(struct connection *connection)
{
    must(!connection->is_freed);
    served++; /* fd stays readable: every batch has the connection's event */
}

static void hang_up(void *argument, const struct tkw_firing *firing)
{
    struct connection *connection = argument;
    (void)firing;
    close(connection->fd);
    connection->is_freed = true;
    hung_up++;
}

static void drop(void *argument)
{
    (void)argument;
    dropped++;
}

/* Wait until both descriptors are readable. */
static void wait_for_both(int one, int two)
{
    struct pollfd fds[] = {{.fd = one, .events = POLLIN},
                           {.fd = two, .events = POLLIN}};
    must(poll(&fds[0], 1, -1) == 1);
    must(poll(&fds[1], 1, -1) == 1);
}

/* Like epoll_wait(), but the service's event is the first of the batch: the
 * order that the kernel chooses does not matter to the test. */
static int wait_service_first(int epoll, struct epoll_event *events, int max,
                              int timeout_ms, const void *service)
{
    int count = epoll_wait(epoll, events, max, timeout_ms);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == service) {
            struct epoll_event first = events[0];
            events[0] = events[i];
            events[i] = first;
        }
    }
    return count;
}

#define epoll_wait(epoll, events, max, timeout_ms) \
    wait_service_first(epoll, events, max, timeout_ms, service)

int main(void)
{
    struct tkw_service *service;
    struct epoll_event events[64];
    struct connection connection = {.fd = eventfd(1, 0)};
    int error, epoll = epoll_create1(0);
    struct epoll_event readable = {.events = EPOLLIN, .data.ptr = &connection};
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, connection.fd, &readable) == 0);

#include "epoll.1.1"

    must(error == 0);
    error = tkw_service_arm(service, NULL, TKW_MILLISECOND,
                            (struct tkw_task){hang_up, &connection, NULL});
    must(error == 0);
    wait_for_both(tkw_service_fd(service), connection.fd);
    while (served < 1 || hung_up < 1) {
#include "epoll.1.2"
    }

    /* One timer is left.  A copy of the descriptor outlives the service, to
     * see that epoll forgets it, not just that it is closed. */
    int fd = tkw_service_fd(service), copy = dup(fd);
    error = tkw_service_arm(service, NULL, 3600 * TKW_SECOND,
                            (struct tkw_task){hang_up, &connection, drop});
    must(error == 0);

#include "epoll.1.3"

    must(served >= 1 && hung_up == 1 && dropped == 1);
    must(dup2(copy, fd) == fd);
    must(epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL) == -1 && errno == ENOENT);
    close(copy);
    close(fd);
    close(epoll);
    return 0;
}
